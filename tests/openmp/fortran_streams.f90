! SPDX-License-Identifier: BSD-3-Clause
! Units 0, 5 and 6 are streams of all nodes, until one is opened as a file or closed. The first argument says how: `stream`, as what it is already;
! `master`, as a file that only the master uses; `file`, `last` (by the last thread) or `closed`, with a use by all. The second one is the unit.
! `other`: the last thread opens a unit that main() uses; `close`: the other way round, it closes that of main().
program streams
  use omp_lib
  implicit none
  integer :: unit, i, error
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
  case ('file')
    open(unit, file=name, status='replace')
    if (unit == 5) then
      write(unit, '(i0)') (i, i = 1, 8)
      rewind(unit)
    end if
  case ('last')
!$omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) open(unit, file=name, status='replace')
!$omp end parallel
  case ('closed')
    close(unit)
  case ('other', 'close')
    if (how == 'close') open(unit, file=name, status='replace')
!$omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) then
      if (how == 'other') open(unit, file=name, status='replace')
      if (how == 'close') close(unit)
    end if
!$omp end parallel
    if (how == 'other') write(unit, '(a)') 'a line'
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
