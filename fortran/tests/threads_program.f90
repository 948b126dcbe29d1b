! SPDX-License-Identifier: BSD-3-Clause
! threads_program: threads of OpenMP on each node use shared arrays, and meet those of other nodes in a group.
program threads_program
  use, intrinsic :: iso_fortran_env, only: int64
  use quire
  implicit none
  integer, parameter :: threads = 3
  type(quire_group) :: group
  type(quire_mutex) :: mutex
  integer(int64), pointer :: count(:)
  integer :: wrong
  call quire_start()
  call quire_shared(count, [1])
  if (quire_node() == 0) call quire_mutex_create(mutex)
  call quire_broadcast(mutex, 0)
  call quire_group_create(threads, group)
  wrong = 0
  !$omp parallel num_threads(threads) reduction(+ : wrong)
  call work(wrong)
  !$omp end parallel
  call quire_reduce(wrong, QUIRE_SUM)
  if (wrong > 0) error stop 'threads have not met'
  call quire_group_destroy(group)
  if (quire_node() == 0) print '(i0,a)', count(1), ' steps of all threads'
  call quire_end_at_exit()  ! the threads of OpenMP are still there

contains

  subroutine work(wrong)
    use omp_lib, only: omp_get_thread_num
    integer, intent(inout) :: wrong
    integer :: step, sums(2)
    call quire_group_join(group, omp_get_thread_num())
    do step = 1, 50
      call quire_mutex_lock(mutex)
      count(1) = count(1) + 1
      call quire_mutex_unlock(mutex)
      call quire_group_wait(group)
      if (count(1) /= step * threads * quire_nodes()) wrong = wrong + 1
      sums = [1, step]
      call quire_reduce(sums, QUIRE_SUM, group)
      if (any(sums /= threads * quire_nodes() * [1, step])) wrong = wrong + 1
    end do
    call quire_group_leave(group)
  end subroutine
end program
