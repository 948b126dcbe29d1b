! SPDX-License-Identifier: BSD-3-Clause
! Heat in a plate that all nodes share: quire run -n 4 heat [SIZE [STEPS]]. Prints the same on any number of nodes.
program heat
  use, intrinsic :: iso_fortran_env, only: real64
  use quire
  implicit none
  real(real64), pointer :: now(:, :), next(:, :), other(:, :)
  real(real64) :: worst
  integer :: n = 200, steps = 100, low, high, step, i, j
  call argument(1, n)
  call argument(2, steps)

  ! [start]
  call quire_start()
  call quire_shared(now, [n, n], name='plate')  ! all nodes call: one array of zeroes, at the same addresses everywhere
  call quire_shared(next, [n, n])
  if (quire_node() == 0) then
    now(:, 1) = 100
    next(:, 1) = 100
  end if
  call quire_barrier_wait()                     ! now all see it
  ! [/start]
  ! [sweep]
  call quire_block(2, n - 1, low, high)         ! this node's columns, which lie one after the other
  do step = 1, steps
    do j = low, high
      do i = 2, n - 1
        next(i, j) = (now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1)) / 4
      end do
    end do
    worst = maxval(abs(next(2:n - 1, low:high) - now(2:n - 1, low:high)))
    call quire_reduce(worst, QUIRE_MAX)         ! of all nodes; a barrier as well
    other => now
    now => next
    next => other
  end do
  ! [/sweep]
  if (quire_node() == 0) print '(i0,a,f0.6,a,f0.6)', steps, ' steps: the last changed ', worst, ' at most, the sum is ', sum(now)
  call quire_end()

contains

  subroutine argument(number, value)
    integer, intent(in) :: number
    integer, intent(inout) :: value
    character(32) :: text
    integer :: status
    if (command_argument_count() < number) return
    call get_command_argument(number, text)
    read (text, *, iostat=status) value
    if (status /= 0 .or. value < 1) error stop 'usage: heat [SIZE [STEPS]]'
  end subroutine
end program
