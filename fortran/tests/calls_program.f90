! SPDX-License-Identifier: BSD-3-Clause
! calls_program: the calls of module quire, on any number of nodes: every type and rank, handles, errors that come back, and memory that does.
! `calls_program fail`: an error that ends the job.
program calls_program
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use, intrinsic :: iso_c_binding, only: c_loc, c_intptr_t
  use quire
  implicit none
  integer :: node, nodes
  call quire_start()
  node = quire_node()
  nodes = quire_nodes()
  if (command_argument_count() > 0) call end_all()
  call arrays_of_all_types()
  call reductions()
  call broadcasts()
  call parts()
  call handles()
  call wrong_arguments()
  call memory_comes_back()
  if (node == 0) print '(a,i0,a)', 'all calls are right on ', nodes, ' nodes'
  call quire_end()

contains

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    print '(a,i0,2a)', 'node ', node, ', wrong: ', what
    error stop 1
  end subroutine

  !> One node makes a mistake; the others wait for it.
  subroutine end_all()
    type(quire_mutex) :: none
    if (node == nodes - 1) call quire_mutex_lock(none)
    call quire_barrier_wait()
  end subroutine

  !> An array of each type and rank is of zeroes, has its shape, and is seen by all, also in another order of bytes: small arrays and regions.
  subroutine arrays_of_all_types()
    real(real32), pointer :: r4(:, :, :, :)
    real(real64), pointer :: r8(:), large(:, :), again(:, :)
    integer(int32), pointer :: i4(:, :)
    integer(int64), pointer :: i8(:, :, :), address(:)
    complex(real64), pointer :: c8(:, :)
    call quire_shared(r4, [2, 3, 4, 5])
    call quire_shared(r8, [7_int64])
    call quire_shared(i4, [3, 5])
    call quire_shared(i8, [2, 2, 2])
    call quire_shared(c8, [2, 2])
    call quire_shared(large, [512, 512], 'large')
    call quire_shared(address, [nodes])
    call expect(all(shape(r4) == [2, 3, 4, 5]) .and. size(r8) == 7 .and. all(shape(i4) == [3, 5]), 'shapes')
    call expect(all(shape(c8) == 2) .and. all(shape(i8) == 2) .and. lbound(i4, 1) == 1, 'more shapes')
    call expect(all(r4 == 0) .and. all(r8 == 0) .and. all(i4 == 0) .and. all(i8 == 0) .and. all(c8 == 0), 'zeroes')
    call expect(all(large == 0), 'zeroes of a region')
    call quire_barrier_wait()
    address(node + 1) = transfer(c_loc(large), 0_c_intptr_t)
    if (node == nodes - 1) then
      r4(2, 3, 4, 5) = 1.5
      r8 = 2.5
      i4(:, 5) = [1, 2, 3]
      i8(2, 1, 2) = -9
      c8(2, 2) = (1, -2)
      large(512, :) = 3
    end if
    call quire_barrier_wait()
    call expect(r4(2, 3, 4, 5) == 1.5 .and. all(r8 == 2.5) .and. all(i4(:, 5) == [1, 2, 3]), 'small arrays')
    call expect(i8(2, 1, 2) == -9 .and. c8(2, 2) == (1, -2), 'more small arrays')
    call expect(all(large(512, :) == 3) .and. all(large(:511, :) == 0) .and. all(address == address(1)), 'a large array')
    call quire_find(again, [512, 512], 'large', -1)
    call expect(associated(again, large), 'the array of a name')
    call quire_barrier_wait()
    call quire_free(large)
    call expect(.not. associated(large), 'a pointer to what is gone')
    call quire_free(r4)
    call quire_free(r8)
    call quire_free(i4)
    call quire_free(i8)
    call quire_free(c8)
    call quire_free(address)
  end subroutine

  subroutine reductions()
    real(real64) :: r8(3, 4), none(0)
    real(real32) :: r4
    integer(int32) :: i4(2)
    integer(int64) :: i8(2, 2, 2)
    complex(real64) :: c8(20)
    integer :: ierror
    r8 = node
    call quire_reduce(r8(2, :), QUIRE_SUM)  ! not contiguous
    call expect(all(r8(2, :) == nodes * (nodes - 1) / 2), 'a row of sums')
    call expect(all(r8(1, :) == node) .and. all(r8(3, :) == node), 'beside a row of sums')
    call quire_reduce(none, QUIRE_SUM)
    r4 = real(node) + 0.5
    call quire_reduce(r4, QUIRE_MAX)
    call expect(r4 == nodes - 0.5, 'the largest of real(real32)')
    i4 = [node + 1, -node]
    call quire_reduce(i4, QUIRE_MIN)
    call expect(all(i4 == [1, 1 - nodes]), 'the least of integer(int32)')
    i4 = huge(i4)
    call quire_reduce(i4, QUIRE_SUM, ierror=ierror)
    call expect((ierror == QUIRE_INVALID) .eqv. (nodes > 1), 'a sum that does not fit')
    i8 = 2
    call quire_reduce(i8, QUIRE_PRODUCT)
    call expect(all(i8 == 2_int64**nodes), 'a product')
    c8 = cmplx(1, node, real64)
    call quire_reduce(c8, QUIRE_SUM)
    call expect(all(c8 == cmplx(nodes, nodes * (nodes - 1) / 2, real64)), 'sums of complex numbers')
    call quire_reduce(c8, QUIRE_MAX, ierror=ierror)
    call expect(ierror == QUIRE_INVALID, 'the largest of complex numbers')
  end subroutine

  subroutine broadcasts()
    real(real32) :: many(100, 100)
    character(20) :: text
    integer(int64) :: one
    integer :: ierror
    many = node
    text = ' '
    one = 0
    if (node == nodes - 1) then
      text = 'from the last'
      one = 7
    end if
    call quire_broadcast(many, nodes - 1)
    call quire_broadcast(text, nodes - 1)
    call quire_broadcast(one, nodes - 1)
    call expect(all(many == nodes - 1) .and. text == 'from the last' .and. one == 7, 'broadcasts')
    call quire_broadcast(one, nodes, ierror=ierror)
    call expect(ierror == QUIRE_INVALID, 'a broadcast from a node that is not there')
  end subroutine

  !> Parts are consecutive, and all of them are all numbers, also where there are fewer than nodes.
  subroutine parts()
    integer :: low, high, count
    do count = 0, 9
      call quire_block(3, 2 + count, low, high)
      call expect(high - low + 1 >= count / nodes .and. high - low <= count / nodes, 'the size of a part')
      call expect(high <= 2 + count .and. low >= 3, 'where a part lies')
      high = high - low + 1
      call quire_reduce(high, QUIRE_SUM)
      call expect(high == count, 'all parts')
    end do
  end subroutine

  subroutine handles()
    type(quire_mutex) :: mutex, same
    type(quire_rwlock) :: lock
    type(quire_condition) :: condition
    type(quire_barrier) :: barrier
    type(quire_event) :: event
    type(quire_semaphore) :: semaphore
    type(quire_group) :: group
    integer(int64), pointer :: count(:)
    integer(int64) :: before
    integer :: members, first, ierror, i
    logical :: locked
    call quire_shared(count, [2])
    if (node == 0) then
      call quire_mutex_create(mutex)
      call quire_publish('mutex', mutex)
      call quire_rwlock_create(lock)
      call quire_condition_create(condition)
      call quire_barrier_create(nodes, barrier)
      call quire_event_create(event)
      call quire_semaphore_create(0_int64, semaphore)
    end if
    call quire_broadcast(mutex, 0)
    call quire_broadcast(lock, 0)
    call quire_broadcast(condition, 0)
    call quire_broadcast(barrier, 0)
    call quire_broadcast(event, 0)
    call quire_broadcast(semaphore, 0)
    call quire_lookup('mutex', -1, same)
    call expect(same%id == mutex%id .and. mutex%id /= 0, 'the name of a mutex')
    do i = 1, 20
      call quire_mutex_lock(mutex)
      count(1) = count(1) + 1
      call quire_mutex_unlock(mutex)
      call quire_fetch_add(count(2), 1_int64, before)
    end do
    call quire_barrier_wait(barrier)
    call expect(all(count == 20 * nodes), 'what locks count')
    call quire_barrier_wait(barrier)
    if (node == 0) call quire_rwlock_write_lock(lock, -1)
    call quire_barrier_wait()
    call quire_rwlock_read_lock(lock, 0, ierror)
    call expect(ierror == QUIRE_BUSY, 'a lock that somebody writes under')
    call quire_barrier_wait()
    if (node == 0) call quire_rwlock_unlock(lock)
    if (node == 0) call quire_event_set(event)
    call quire_event_wait(event, -1)
    if (node == 0) call quire_semaphore_release(semaphore, int(nodes, int64))
    call quire_semaphore_acquire(semaphore, -1)
    ! Node 0 waits until all others have said that they are there.
    if (node == 0) count(1) = 0
    call quire_barrier_wait()
    call quire_mutex_lock(mutex)
    if (node > 0) then
      count(1) = count(1) + 1
      call quire_condition_notify_one(condition)
    else
      do while (count(1) < nodes - 1)
        call quire_condition_wait(condition, mutex, -1)
      end do
    end if
    call quire_mutex_unlock(mutex)
    call quire_mutex_unlock(mutex, ierror)
    call expect(ierror == QUIRE_NOT_OWNER, 'an unlock of what nobody has')
    call quire_barrier_wait()
    locked = .false.
    if (node == 0) call quire_mutex_try_lock(mutex, locked)
    call expect(locked .eqv. node == 0, 'a free mutex')
    call quire_barrier_wait()
    if (node == 0) then
      call quire_mutex_unlock(mutex)
      call quire_mutex_destroy(mutex)
      call quire_rwlock_destroy(lock)
      call quire_condition_destroy(condition)
      call quire_barrier_destroy(barrier)
      call quire_event_destroy(event)
      call quire_semaphore_destroy(semaphore)
    end if
    call quire_group_create(1, group)
    call quire_group_join(group, 0)
    call quire_group_size(group, members, first)
    call expect(members == nodes .and. first == node, 'the size of a group')
    call quire_group_wait(group)
    i = 1
    call quire_reduce(i, QUIRE_SUM, group)
    call expect(i == nodes, 'a sum of a group')
    call quire_group_leave(group)
    call quire_group_destroy(group)
    call quire_free(count)
  end subroutine

  !> All nodes get the status, and the job goes on.
  subroutine wrong_arguments()
    real(real64), pointer :: a(:), b(:), m(:, :)
    type(quire_region) :: region
    real(real64), target :: mine(3)
    integer :: ierror
    call quire_shared(m, [3], ierror=ierror)
    call expect(ierror == QUIRE_INVALID .and. .not. associated(m), 'a shape of another rank')
    call quire_shared(a, [-1], ierror=ierror)
    call expect(ierror == QUIRE_INVALID, 'a negative dimension')
    call quire_shared(m, [2_int64**40, 2_int64**40], ierror=ierror)
    call expect(ierror == QUIRE_INVALID, 'more than all addresses')
    call quire_shared(m, [2_int64**20, 2_int64**22], ierror=ierror)
    call expect(ierror == QUIRE_NO_ADDRESSES .or. ierror == QUIRE_INVALID, 'more than the range')
    call quire_shared(a, [3 + node], ierror=ierror)
    call expect((ierror == QUIRE_INVALID) .eqv. (nodes > 1), 'nodes with different shapes')
    if (nodes == 1) call quire_free(a)
    call quire_shared(a, [3], name='a')
    call quire_shared(b, [3], name='a', ierror=ierror)
    call expect(ierror == QUIRE_EXISTS .and. .not. associated(b), 'a name that is taken')
    call quire_find(b, [300], 'a', 0, ierror)
    call expect(ierror == QUIRE_INVALID, 'an array that is smaller')
    call quire_find(b, [3], 'nobody', 0, ierror)
    call expect(ierror == QUIRE_NOT_FOUND, 'a name that nobody has')
    call quire_shared(b, [3], name=repeat('x', 64), ierror=ierror)
    call expect(ierror == QUIRE_INVALID, 'a name that is too long')
    call quire_shared(b, [3], options=quire_region_options(unit_bytes=5000), ierror=ierror)
    call expect(ierror == QUIRE_INVALID, 'a unit that is no power of two')
    b => mine
    call quire_free(b, ierror)
    call expect(ierror /= QUIRE_OK, 'private memory')
    nullify(b)
    call quire_free(b, ierror)
    call expect(ierror == QUIRE_INVALID, 'a pointer to nothing')
    call quire_region_of(mine, region, ierror)
    call expect(ierror == QUIRE_BAD_ADDRESS, 'the region of private memory')
    call quire_free(a)
    call quire_shared(a, [0])
    call expect(size(a) == 0, 'an array without elements')
    call quire_free(a)
  end subroutine

  !> Arrays of two mebibytes; all of them together are larger than the range that the test gives.
  subroutine memory_comes_back()
    real(real64), pointer :: a(:)
    integer :: i
    do i = 1, 50
      call quire_shared(a, [262144])
      a(1 + node) = i
      call quire_barrier_wait()
      call expect(all(a(:nodes) == i), 'an array of many')
      call quire_free(a)
    end do
  end subroutine
end program
