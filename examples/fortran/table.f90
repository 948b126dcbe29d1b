! SPDX-License-Identifier: BSD-3-Clause
! A file that all nodes use at a time, as an array and by calls: quire run -n 2 table. Checks itself.
program table
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use quire
  implicit none
  type(quire_container) :: numbers, log
  real(real64), pointer :: x(:), again(:, :)
  real(real64) :: last, part(3, 2)
  integer(int64) :: at, bytes, done
  integer :: low, high, ierror, unit, i
  character(100) :: path
  character(16) :: line, lines(3)
  call quire_start()
  call get_environment_variable('TMPDIR', path)
  if (len_trim(path) == 0) path = '/tmp'
  call system_clock(at)
  call quire_broadcast(at, 0)
  write (path(len_trim(path) + 1:), '(a,i0)') '/quire_fortran_table_', at

  call quire_container_open('table', numbers, what=path, flags=QUIRE_CONTAINER_CREATE, bytes=8000_int64)
  call quire_container_map(numbers, x, [1000])              ! the same memory on all nodes
  call quire_block(1, 1000, low, high)
  x(low:high) = [(i / 2._real64, i = low, high)]
  call quire_barrier_wait()
  call quire_container_read(numbers, 999_int64 * 8, last)   ! from this byte on: a call sees what mappings have written
  call quire_container_sync(numbers, 0_int64, 0_int64)      ! and now the file has it
  if (last /= 500) error stop 'not the last number'
  open (newunit=unit, file=path, access='stream', form='unformatted', status='old')
  read (unit, pos=999 * 8 + 1) last
  close (unit)
  if (last /= 500) error stop 'the file does not have it'

  call quire_container_open('log', log, flags=QUIRE_CONTAINER_CREATE)  ! no file: it lives in the memory of the job
  write (line, '(a,i0)') 'node ', quire_node()
  call quire_container_append(log, line, at)                ! one after the other, each as a whole
  call quire_barrier_wait()
  call quire_container_bytes(log, bytes)
  if (bytes /= 16 * quire_nodes() .or. mod(at, 16_int64) /= 0) error stop 'not the length of the log'
  lines = ''
  call quire_container_read(log, 0_int64, line)
  call quire_container_read(log, at, lines(1))
  if (lines(1)(6:6) /= achar(iachar('0') + quire_node()) .or. line(:5) /= 'node ') error stop 'not the lines of the log'
  call quire_container_read(log, bytes, line, done, ierror)
  if (ierror /= QUIRE_OK .or. done /= 0) error stop 'something beyond the end'
  call quire_container_read(log, bytes, line, ierror=ierror)
  if (ierror /= QUIRE_BEYOND) error stop 'no error beyond the end'

  ! Parts of arrays, other shapes, errors.
  call quire_barrier_wait()
  part = 7
  if (quire_node() == 0) call quire_container_write(numbers, 80_int64, part(1:3:2, :))
  call quire_barrier_wait()
  call quire_container_map(numbers, again, [2, 2], at=80_int64)
  if (any(again /= 7) .or. x(15) /= 7.5 .or. x(14) /= 7) error stop 'not what was written'
  call quire_barrier_wait()
  if (quire_node() == 0) call quire_container_resize(numbers, 16_int64)
  call quire_barrier_wait()
  call quire_container_bytes(numbers, bytes)
  if (bytes /= 16) error stop 'not shorter'
  call quire_container_map(numbers, x, [2_int64**40], ierror=ierror)
  if (ierror /= QUIRE_BEYOND .or. associated(x)) error stop 'more than the capacity'
  call quire_container_open('nobody', log, ierror=ierror)
  if (ierror /= QUIRE_NOT_FOUND) error stop 'a container that is not there'
  call quire_container_close(numbers)
  call quire_container_close(numbers, ierror)
  if (ierror /= QUIRE_NOT_FOUND) error stop 'closed twice'
  call quire_barrier_wait()
  if (quire_node() == 0) then
    call quire_container_remove('table', QUIRE_CONTAINER_REMOVE_CONTENT)
    print '(a,i0,a)', 'the table is right on ', quire_nodes(), ' nodes'
  end if
  call quire_end()
end program
