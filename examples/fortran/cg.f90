! SPDX-License-Identifier: BSD-3-Clause
! Conjugate gradients on a matrix that nobody stores (five points, a grid of N x N): quire run -n 4 cg [N]. Checks itself.
program cg
  use, intrinsic :: iso_fortran_env, only: real64
  use quire
  implicit none
  real(real64), pointer :: x(:, :), r(:, :), p(:, :), q(:, :)
  real(real64) :: rho, before, alpha, wrong
  integer :: n = 96, low, high, step
  character(32) :: text
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) n
  end if
  call quire_start()
  ! A border of zeroes lies around the grid.
  call quire_shared(x, [n + 2, n + 2])
  call quire_shared(r, [n + 2, n + 2])
  call quire_shared(p, [n + 2, n + 2])
  call quire_shared(q, [n + 2, n + 2])
  call quire_block(2, n + 1, low, high)
  r(2:n + 1, low:high) = 1
  p(2:n + 1, low:high) = 1
  rho = dot(r, r)
  do step = 1, 10 * n
    call multiply(p, q)
    alpha = rho / dot(p, q)
    x(:, low:high) = x(:, low:high) + alpha * p(:, low:high)
    r(:, low:high) = r(:, low:high) - alpha * q(:, low:high)
    before = rho
    rho = dot(r, r)
    if (rho < 1e-20_real64) exit
    p(:, low:high) = r(:, low:high) + rho / before * p(:, low:high)
    call quire_barrier_wait()  ! neighbours read p
  end do
  call quire_barrier_wait()
  call multiply(x, q)
  wrong = maxval(abs(q(2:n + 1, low:high) - 1))
  call quire_reduce(wrong, QUIRE_MAX)
  if (wrong > 1e-9_real64) error stop 'the result is wrong'
  if (quire_node() == 0) print '(a,i0,a,es9.2)', 'right: ', step, ' steps, the middle is ', x(n / 2 + 1, n / 2 + 1)
  call quire_end()

contains

  ! [dot]
  real(real64) function dot(a, b)
    real(real64), pointer, intent(in) :: a(:, :), b(:, :)
    dot = sum(a(:, low:high) * b(:, low:high))  ! this node's part
    call quire_reduce(dot, QUIRE_SUM)           ! of all nodes, with the same bits on each
  end function
  ! [/dot]

  subroutine multiply(a, b)
    real(real64), pointer, intent(in) :: a(:, :), b(:, :)
    integer :: i, j
    do j = low, high
      do i = 2, n + 1
        b(i, j) = 4 * a(i, j) - a(i - 1, j) - a(i + 1, j) - a(i, j - 1) - a(i, j + 1)
      end do
    end do
  end subroutine
end program
