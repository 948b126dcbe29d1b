! SPDX-License-Identifier: BSD-3-Clause
! A type with output of its own, to a unit that main() has opened, on the thread of a number: of another node it is refused.
module own
  implicit none
  type :: point
    integer :: x = 1, y = 2
  contains
    procedure :: show
    generic :: write(formatted) => show
  end type
contains
  subroutine show(this, unit, iotype, list, status, message)
    class(point), intent(in) :: this
    integer, intent(in) :: unit, list(:)
    character(*), intent(in) :: iotype
    integer, intent(out) :: status
    character(*), intent(inout) :: message
    write(unit, '(a,i0,a,i0)', iostat=status, iomsg=message) 'point ', this%x, ' ', this%y
  end subroutine
end module

program main
  use omp_lib
  use own
  implicit none
  type(point) :: p
  character(32) :: text
  integer :: who
  call get_command_argument(1, text)
  read(text, *) who
  open(20, status='scratch', action='readwrite')
  !$omp parallel
  if (omp_get_thread_num() == who) then
    write(20, '(DT)') p
  end if
  !$omp end parallel
  rewind(20)
  read(20, '(a)') text
  write(*, '(a)') trim(text)
  close(20)
end program
