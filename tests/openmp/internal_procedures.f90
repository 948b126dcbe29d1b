! SPDX-License-Identifier: BSD-3-Clause
! Internal procedures that use their host's variables are passed on, as to integrators: they are called by code on the stack.
program internal_procedures
  implicit none
  integer :: base, total, i
  base = 10
  print '(a,i0)', 'main ', sum_of(inside, 100)
  total = 0
!$omp parallel do reduction(+:total)
  do i = 1, 8
    total = total + sum_of(inside, i)
  end do
  print '(a,i0)', 'region ', total
contains
  integer function inside(i)
    integer, intent(in) :: i
    inside = i + base
  end function
  integer function sum_of(f, n)
    interface
      integer function f(i)
        integer, intent(in) :: i
      end function
    end interface
    integer, intent(in) :: n
    integer :: k
    sum_of = 0
    do k = 1, n
      sum_of = sum_of + f(k)
    end do
  end function
end program
