! SPDX-License-Identifier: BSD-3-Clause
! Units 0, 5 and 6 are streams of all nodes, until one is opened as a file or closed (fortran_files.f90). The first argument says how: `stream`, as what
! it is already; `master`, as a file that only the master uses. The second one is the unit.
program streams
  use omp_lib
  implicit none
  integer :: unit, error
  character(8) :: how, word
  character(40) :: name
  call get_command_argument(1, how)
  call get_command_argument(2, word)
  read(word, *) unit
  write(name, '(a,i0,a,a)') 'fortran_stream_', unit, trim(how), '.tmp'
  select case (how)
  case ('stream')
    open(unit, file=merge('/dev/stdout', '/dev/stderr', unit == 6))
    open(unit, pad='no')
  case ('master')
    open(unit, file=name, status='replace')
!$omp parallel
!$omp master
    write(unit, '(a)') 'a line'
    rewind(unit)
    read(unit, '(a)') word
    close(unit, status='delete')
!$omp end master
!$omp end parallel
    open(10, file='/dev/stdout')
    write(10, '(a)') word
    stop
  end select
!$omp parallel private(error)
  if (unit == 5) then
    read(5, *, iostat=error) word
  else
    write(unit, '(a,i0)') 'thread ', omp_get_thread_num()
  end if
!$omp end parallel
  if (unit == 0) print '(a)', 'done'
end program
