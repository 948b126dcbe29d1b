! SPDX-License-Identifier: BSD-3-Clause
! Units as files that threads of all nodes use, whichever has opened them. The first argument says how: `file`, opened by main(); `last`, by the last
! thread; `closed`, a stream that main() has closed; `more`, other kinds of statements. The second one is the unit.
program files
  use omp_lib
  implicit none
  integer :: unit, i, error, count, total, wrong
  integer :: values(0:7)
  real(8) :: matrix(4, 4)
  character(8) :: how, word
  character(40) :: name
  logical :: there
  namelist /settings/ count, matrix
  call get_command_argument(1, how)
  call get_command_argument(2, word)
  read(word, *) unit
  write(name, '(a,i0,a,a)') 'fortran_file_', unit, trim(how), '.tmp'
  open(20, file='/dev/stdout')
  if (how == 'more') then
    call more()
    stop
  end if
  if (how == 'file') open(unit, file=name, status='replace')
  if (how == 'closed') close(unit)
!$omp parallel
  if (how == 'last' .and. omp_get_thread_num() == omp_get_num_threads() - 1) open(unit, file=name, status='replace')
!$omp end parallel
!$omp parallel do private(error)
  do i = 1, 100
    write(unit, '(a,i0)', iostat=error) 'line ', i
  end do
!$omp end parallel do
  rewind(unit)
  total = 0
  count = 0
  do
    read(unit, '(5x,i10)', iostat=error) i
    if (error /= 0) exit
    count = count + 1
    total = total + i
  end do
  write(20, '(a,i0,a,i0)') 'lines ', count, ', sum ', total
!$omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) close(unit, status='delete')
!$omp end parallel
  inquire(unit, opened=there)
  write(20, '(a,l1)') 'open ', there
contains
  subroutine more()
    integer :: own, number
    open(newunit=own, status='scratch', form='formatted')
    open(unit, file=name, status='replace', form='unformatted', access='direct', recl=32)
    matrix = 0
    wrong = 0
!$omp parallel do ordered private(values, number, error) reduction(+ : wrong)
    do i = 1, 8
      values = [(i * 10 + number, number = 0, 7)]
      write(unit, rec=i) values
!$omp ordered
      count = i
      matrix(:, 1) = i * 0.5d0
      write(own, nml=settings)
      write(own, *) 'of', i, (values(number), number = 0, 7), .true., (1.0d0, 2.0d0)
!$omp end ordered
      read(unit, rec=1000, iostat=error) number
      if (error == 0) wrong = wrong + 1
      read(unit, rec=i) values
      if (any(values /= [(i * 10 + number, number = 0, 7)])) wrong = wrong + 1
    end do
!$omp end parallel do
    write(20, '(a,i0)') 'wrong ', wrong
    rewind(own)
    do i = 1, 8
      count = 0
!$omp parallel
      if (omp_get_thread_num() == mod(i, omp_get_num_threads())) then
        read(own, nml=settings)
        read(own, '(a)') name
      end if
!$omp end parallel
      write(20, '(i0,f8.3,1x,a)') count, matrix(2, 1), trim(adjustl(name))
    end do
    close(unit, status='delete')
    call implicit()
  end subroutine
  subroutine implicit()
!$omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) write(77, '(a)') 'nobody has opened this'
!$omp end parallel
    rewind(77)
    read(77, '(a)') name
    inquire(77, named=there)
    write(20, '(a,1x,l1)') trim(name), there
    close(77, status='delete')
  end subroutine
end program
