! SPDX-License-Identifier: BSD-3-Clause
! Threads on other nodes: quire run -n 2 workers. Checks itself.
module work
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use quire
  implicit none
contains
  type(c_ptr) function square(argument) bind(c)  ! runs where quire_spawn() says; the argument is shared memory
    type(c_ptr), value :: argument
    integer(int64), pointer :: number
    call c_f_pointer(argument, number)
    number = number**2 + quire_node()
    square = argument
  end function
end module

program workers
  use work
  implicit none
  integer(int64), pointer :: numbers(:)
  type(quire_remote_thread), allocatable :: threads(:)
  type(c_ptr) :: answer
  integer :: i, ierror
  call quire_start()
  call quire_shared(numbers, [quire_nodes()], name='numbers')
  if (quire_node() == 0) then
    allocate (threads(quire_nodes()))
    numbers = [(10 + i, i = 1, quire_nodes())]
    do i = 1, quire_nodes()
      call quire_spawn(i - 1, square, c_loc(numbers(i)), threads(i))
    end do
    do i = 1, quire_nodes()
      call quire_join(threads(i), answer)
    end do
    if (any(numbers /= [((10_int64 + i)**2 + i - 1, i = 1, quire_nodes())])) error stop 'not the squares'
    if (.not. c_associated(answer, c_loc(numbers(quire_nodes())))) error stop 'not the answer'
    call quire_join(threads(1), ierror=ierror)
    if (ierror == QUIRE_OK) error stop 'joined twice'
    call quire_spawn(quire_nodes(), square, c_null_ptr, threads(1), ierror)
    if (ierror /= QUIRE_INVALID) error stop 'a node that is not there'
    print '(a,i0,a)', 'threads ran on ', quire_nodes(), ' nodes'
  end if
  call quire_end()
end program
