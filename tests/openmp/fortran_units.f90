! SPDX-License-Identifier: BSD-3-Clause
! Units that threads of all nodes use: libgfortran is part of the executable (-static-libgfortran), so that its units are shared data, and its calls are the program's.
program units
  use omp_lib
  implicit none
  integer, parameter :: threads = 4, lines = 50
  integer :: seen(0:threads - 1) = 0, own(0:threads - 1), i, who, number, error, wrong, length
  character(40) :: text
  logical :: there
  wrong = 0
  open(10, status='scratch', form='formatted')
  open(11, status='scratch', form='unformatted', access='direct', recl=8)
!$omp parallel num_threads(threads) private(i, text, number, error, who)
  who = omp_get_thread_num()
  do i = 1, lines
    write(10, '(a,i0,1x,i0)') 'line ', who, i
    write(11, rec=who * lines + i) 100 * who + i, i
  end do
  open(newunit=own(who), status='scratch')
  write(own(who), '(i0)') 7 * who
!$omp barrier
  rewind(own(mod(who + 1, threads)))
  read(own(mod(who + 1, threads)), *) number
!$omp atomic
  wrong = wrong + merge(0, 1, number == 7 * mod(who + 1, threads))
!$omp barrier
  read(own(who), *, iostat=error) number
!$omp atomic
  wrong = wrong + merge(0, 1, error < 0)
!$omp end parallel
  print '(a,i0)', 'wrong ', wrong
  rewind(10)
  do
    read(10, '(a)', iostat=error) text
    if (error /= 0) exit
    read(text(6:), *) who, number
    if (number == seen(who) + 1) seen(who) = number
  end do
  print '(a,4(1x,i0))', 'lines', seen
  wrong = 0
!$omp parallel do num_threads(threads) private(number, i) reduction(+ : wrong)
  do length = threads * lines, 1, -1
    read(11, rec=length) number, i
    if (number /= 100 * ((length - 1) / lines) + i .or. i /= mod(length - 1, lines) + 1) wrong = wrong + 1
  end do
  print '(a,i0)', 'wrong records ', wrong
  do who = 0, threads - 1
!$omp parallel num_threads(threads) private(text)
    if (omp_get_thread_num() == who) then
      read(5, '(a)') text
      print '(i0,1x,a)', who, trim(text)
      inquire(10, opened=there)
      if (.not. there) print '(a)', 'unit 10 is not open'
      close(own(who))
    end if
!$omp end parallel
  end do
  close(10)
  close(11)
end program
