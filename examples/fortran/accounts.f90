! SPDX-License-Identifier: BSD-3-Clause
! Transactions: money moves between accounts, on all nodes at a time, without locks: quire run -n 2 accounts. Checks itself.
module bank  ! bodies are procedures of a module: internal ones that use their host's variables need a stack that can be executed
  use, intrinsic :: iso_fortran_env, only: int64
  use quire
  implicit none
  integer, parameter :: number = 64, transfers = 300
  integer(int64), pointer :: balance(:)
  integer(int64) :: total
  integer :: from, to, tries

contains

  subroutine fill()
    balance = 100
  end subroutine

  subroutine transfer_one()  ! it may begin again: what it counts outside of the region stays
    tries = tries + 1
    balance(from) = balance(from) - 1
    balance(to) = balance(to) + 1
  end subroutine

  subroutine add_up()
    total = sum(balance)
  end subroutine

  subroutine give_up()
    if (.not. quire_in_transaction()) error stop 'no transaction'
    balance(from) = -1
    call quire_transaction_abort(QUIRE_BUSY)
  end subroutine

  subroutine close_account()
    balance(number) = -1000
  end subroutine

  subroutine wait_until_closed()
    if (balance(number) /= -1000) call quire_transaction_retry()  ! until somebody has changed it
  end subroutine
end module

program accounts
  use bank
  implicit none
  integer :: i, ierror
  call quire_start()
  call quire_shared(balance, [number], options=quire_region_options(consistency=QUIRE_TRANSACTIONAL))
  if (quire_node() == 0) call quire_atomically(fill)
  call quire_barrier_wait()
  tries = 0
  do i = 1, transfers
    from = 1 + mod(i * 7 + quire_node() * 13, number)
    to = 1 + mod(i * 11 + 5, number)
    call quire_atomically(transfer_one)
  end do
  call quire_barrier_wait()
  call quire_atomically(add_up)
  if (total /= 100 * number .or. tries < transfers) error stop 'money was lost, or made'
  ! What is undone has not happened.
  from = 1
  call quire_atomically(give_up, ierror=ierror)
  if (ierror /= QUIRE_BUSY) error stop 'not the status of the abort'
  call quire_atomically(add_up, attempts=10, irrevocable=.true.)
  if (total /= 100 * number) error stop 'what was undone has happened'
  if (quire_in_transaction()) error stop 'a transaction that goes on'
  call quire_barrier_wait()
  ! Waiting for another node.
  if (quire_node() == quire_nodes() - 1) call quire_atomically(close_account)
  call quire_atomically(wait_until_closed)
  if (quire_node() == 0) print '(a,i0,a)', 'the accounts of ', quire_nodes(), ' nodes are right'
  call quire_barrier_wait()
  call quire_end()
end program
