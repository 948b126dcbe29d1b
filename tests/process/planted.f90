! SPDX-License-Identifier: BSD-3-Clause
! Nodes write words of their own on one unit, at lines that the report has to name (report_languages.py).
program planted
  use, intrinsic :: iso_fortran_env, only: int64
  use quire
  implicit none
  integer(int64), pointer :: words(:)
  integer :: step
  call quire_start()
  call quire_shared(words, [128])
  do step = 1, 200
    if (mod(quire_node(), 2) == 0) then
      words(1) = words(1) + step  ! planted: even
    else
      words(65) = words(65) + step  ! planted: odd
    end if
    call quire_barrier_wait()
  end do
  call quire_end()
end program
