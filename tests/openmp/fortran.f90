! SPDX-License-Identifier: BSD-3-Clause
! Fortran on all nodes: arrays that are allocated, common blocks, array functions of the library, texts, locks, arguments, output of regions.
module work
  use omp_lib
  implicit none
  integer, parameter :: n = 5000
  integer :: hits(n) = 0
contains
  subroutine expect(what, found, wanted)
    character(*), intent(in) :: what
    integer, intent(in) :: found, wanted
    if (found == wanted) return
    print '(a,a,i0,a,i0)', what, ': ', found, ' instead of ', wanted
    stop 1
  end subroutine

  subroutine each_once(what)
    character(*), intent(in) :: what
    call expect(what, minval(hits), 1)
    call expect(what, maxval(hits), 1)
    hits = 0
  end subroutine

  subroutine events()
    integer(omp_event_handle_kind) :: event
    integer :: a
    a = 0
!$omp parallel
!$omp single
!$omp task detach(event) shared(a)
    a = 1
!$omp end task
    call omp_fulfill_event(event)
!$omp taskwait
    call expect('event', a, 1)
!$omp end single
!$omp end parallel
  end subroutine

  subroutine loops()
    integer :: i, j, last, total
    integer, allocatable :: squares(:)
    real(8) :: x(40, 50), y(50, 40), z(40, 40)
!$omp parallel do
    do i = 1, n
      hits(i) = hits(i) + 1
    end do
    call each_once('static')
!$omp parallel do schedule(dynamic, 7)
    do i = n, 1, -1
      hits(i) = hits(i) + 1
    end do
    call each_once('dynamic, downwards')
!$omp parallel do schedule(guided) collapse(2) lastprivate(last)
    do j = 0, 49
      do i = 1, 100
        hits(100 * j + i) = hits(100 * j + i) + 1
        last = 100 * j + i
      end do
    end do
    call each_once('guided, collapse')
    call expect('lastprivate', last, n)
    allocate(squares(n))
    total = 0
!$omp parallel do reduction(+ : total) schedule(runtime)
    do i = 1, n
      squares(i) = mod(i * i, 1000)
      total = total + squares(i)
    end do
    call expect('allocatable array', total, sum(squares))
    total = 0
!$omp parallel do ordered
    do i = 1, 60
!$omp ordered
      if (total == i - 1) total = i
!$omp end ordered
    end do
    call expect('ordered', total, 60)
!$omp parallel workshare
    x = 1
    y = 2
    z = matmul(x, y)
!$omp end parallel workshare
    call expect('workshare', int(sum(z)), 160000)
  end subroutine

  subroutine sharing()
    integer(omp_lock_kind) :: lock
    integer(omp_nest_lock_kind) :: nest
    integer :: threads, locked, nested, best, i
    integer, allocatable :: own(:)
    real(8) :: values(3)
    common /block/ values
    character(30) :: text
    logical :: right
    values = 0
    locked = 0
    nested = 0
    best = 0
    right = .true.
    call omp_init_lock(lock)
    call omp_init_nest_lock(nest)
!$omp parallel private(own, text, i) reduction(max : best) reduction(.and. : right)
!$omp single
    threads = omp_get_num_threads()
!$omp end single
    allocate(own(100))
    own = omp_get_thread_num()
    best = max(best, sum(reshape(own, [10, 10])) / 100)
    write(text, '(a,i3)') 'number', omp_get_thread_num()
    read(text, '(6x,i3)') i
    right = right .and. i == omp_get_thread_num() .and. trim(text) // '.' == text(1:9) // '.'
!$omp critical
    values(2) = values(2) + 1
!$omp end critical
!$omp atomic
    values(3) = values(3) + 0.5d0
    do i = 1, 20
      call omp_set_lock(lock)
      locked = locked + 1
      call omp_unset_lock(lock)
      call omp_set_nest_lock(nest)
      if (omp_test_nest_lock(nest) == 2) nested = nested + 1
      call omp_unset_nest_lock(nest)
      call omp_unset_nest_lock(nest)
    end do
!$omp sections
!$omp section
    hits(1) = hits(1) + 1
!$omp section
    hits(2) = hits(2) + 1
!$omp end sections
!$omp end parallel
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nest)
    call expect('array functions', best, threads - 1)
    call expect('texts', merge(1, 0, right), 1)
    call expect('critical', int(values(2)), threads)
    call expect('atomic', int(2 * values(3)), threads)
    call expect('locks', locked, 20 * threads)
    call expect('nested locks', nested, 20 * threads)
    call expect('sections', hits(1) + hits(2), 2)
    hits = 0
  end subroutine

  recursive function fibonacci(i) result(f)
    integer, intent(in) :: i
    integer :: f, a, b
    f = i
    if (i < 2) return
!$omp task shared(a)
    a = fibonacci(i - 1)
!$omp end task
    b = fibonacci(i - 2)
!$omp taskwait
    f = a + b
  end function

  subroutine numbers()
    integer :: wrong, f, chunk
    integer(omp_sched_kind) :: kind
    wrong = 0
    call omp_set_schedule(omp_sched_dynamic, 7)
    call omp_get_schedule(kind, chunk)
    if (kind /= omp_sched_dynamic .or. chunk /= 7 .or. omp_in_final() .or. omp_get_num_teams() /= 1) wrong = wrong + 1
    call omp_set_num_threads(3)
    call omp_set_dynamic(.false.)
!$omp parallel reduction(+ : wrong)
    if (omp_get_num_threads() /= 3 .or. .not. omp_in_parallel() .or. omp_get_team_size(1) /= 3) wrong = wrong + 1
    if (omp_get_ancestor_thread_num(1) /= omp_get_thread_num() .or. omp_get_ancestor_thread_num(0) /= 0) wrong = wrong + 1
!$omp end parallel
    call expect('numbers', wrong, 0)
    call omp_set_num_threads(4)
!$omp parallel
!$omp single
    f = fibonacci(12)
!$omp end single
!$omp end parallel
    call expect('tasks', f, 144)
    if (omp_get_wtime() < 0 .or. omp_get_wtick() <= 0) call expect('time', 0, 1)
  end subroutine
end module

program main
  use work
  implicit none
  integer :: i
  character(20) :: word
  call loops()
  call sharing()
  call numbers()
  call events()
!$omp parallel do private(word)
  do i = 1, 8
    call get_command_argument(1, word)
    write(*, '(a,i0,1x,a)') 'line ', i, trim(word)
  end do
  print '(i0,a)', omp_get_max_threads(), ' threads'
end program
