! SPDX-License-Identifier: BSD-3-Clause
! Locks, names, errors and regions with options: quire run -n 2 counter. Checks itself.
program counter
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use quire
  implicit none
  type(quire_mutex) :: guard
  integer(int64), pointer :: hits(:), same(:)
  real(real64), pointer :: table(:, :)
  integer(int64) :: before
  integer :: ierror
  call quire_start()

  ! [lock]
  if (quire_node() == 0) call quire_mutex_create(guard)
  call quire_broadcast(guard, 0)       ! a handle is a value, and valid on all nodes
  call quire_shared(hits, [1], name='hits')
  call quire_mutex_lock(guard)
  hits(1) = hits(1) + 1
  call quire_mutex_unlock(guard)
  call quire_fetch_add(hits(1), 1_int64, before)  ! the same without a lock
  ! [/lock]
  ! [find]
  call quire_find(same, [1], 'hits', -1)  ! waits until an array has the name; any thread, any time
  ! [/find]
  call quire_barrier_wait()
  if (same(1) /= 2 * quire_nodes()) error stop 'wrong count'
  ! [options]
  call quire_shared(table, [64, 64], options=quire_region_options(consistency=QUIRE_RELEASE, unit_bytes=16384))
  ! [/options]
  table(:, 1 + quire_node()) = 1
  call quire_barrier_wait()
  if (sum(table) < 64 * quire_nodes()) error stop 'wrong table'
  ! [error]
  call quire_find(same, [1], 'nothing', 0, ierror)
  if (ierror /= QUIRE_OK) print *, quire_status_text(ierror)
  ! [/error]
  if (ierror /= QUIRE_NOT_FOUND) error stop 'no error'
  call fill(table)
  call quire_free(table)
  if (quire_node() == 0) print '(i0,a,i0)', quire_nodes(), ' nodes counted ', hits(1)
  call quire_end()

contains

  ! [sync]
  subroutine fill(part)                ! the argument is no POINTER: the compiler takes it that nobody else changes it
    real(real64), intent(inout) :: part(:, :)
    if (quire_node() == 0) part(1, 1) = 42
    call quire_sync_reg(part)          ! what is in registers is written
    call quire_barrier_wait()
    call quire_sync_reg(part)          ! and read again
    if (part(1, 1) /= 42) error stop 'not 42'
  end subroutine
  ! [/sync]
end program
