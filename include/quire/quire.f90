! SPDX-License-Identifier: BSD-3-Clause
!> Quire for Fortran: arrays that all nodes of a job share, locks, barriers and reductions. docs/guide/fortran.md is an introduction.
!>
!> Written by fortran/generate.py. Arguments come in the order of the C API (include/quire/quire.h), whose rules on threads and nodes hold here too: a call
!> that "all nodes make" is for one thread of each node, in the same order everywhere. Each subroutine has an optional last argument
!> `ierror`, as in mpi_f08: it gets QUIRE_OK or another status. Without it an error ends the job, with a sentence on standard error.
!>
!> Shared arrays are POINTERs. A subroutine that gets one as an argument that is no pointer declares it TARGET or ASYNCHRONOUS if the subroutine synchronises
!> nodes, or calls quire_sync_reg(): else the compiler may keep elements in registers meanwhile.
module quire
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
  implicit none
  private

  integer, parameter, public :: QUIRE_OK = 0
  integer, parameter, public :: QUIRE_TIMED_OUT = 1
  integer, parameter, public :: QUIRE_BUSY = 2
  integer, parameter, public :: QUIRE_NOT_FOUND = 3
  integer, parameter, public :: QUIRE_EXISTS = 4
  integer, parameter, public :: QUIRE_CONFLICT = 5
  integer, parameter, public :: QUIRE_INVALID = 10
  integer, parameter, public :: QUIRE_BAD_ADDRESS = 11
  integer, parameter, public :: QUIRE_NOT_STARTED = 12
  integer, parameter, public :: QUIRE_FORKED = 13
  integer, parameter, public :: QUIRE_NOT_OWNER = 14
  integer, parameter, public :: QUIRE_BAD_OPTION = 15
  integer, parameter, public :: QUIRE_UNSUPPORTED = 16
  integer, parameter, public :: QUIRE_OVERLAP = 17
  integer, parameter, public :: QUIRE_BEYOND = 18
  integer, parameter, public :: QUIRE_NO_MEMORY = 20
  integer, parameter, public :: QUIRE_NO_ADDRESSES = 21
  integer, parameter, public :: QUIRE_LIMIT = 22
  integer, parameter, public :: QUIRE_DAMAGED = 23
  integer, parameter, public :: QUIRE_IO = 24
  integer, parameter, public :: QUIRE_PEER_LOST = 30
  integer, parameter, public :: QUIRE_SYSTEM = 31
  integer, parameter, public :: QUIRE_LOST = 32
  integer, parameter, public :: QUIRE_OWNER_DIED = 33
  integer, parameter, public :: QUIRE_SEQUENTIAL = 0
  integer, parameter, public :: QUIRE_RELEASE = 1
  integer, parameter, public :: QUIRE_TRANSACTIONAL = 2
  integer, parameter, public :: QUIRE_PLACE_BLOCK = 0
  integer, parameter, public :: QUIRE_PLACE_MODULO = 1
  integer, parameter, public :: QUIRE_PLACE_NODE = 2
  integer, parameter, public :: QUIRE_PLACE_FIRST_TOUCH = 3
  integer, parameter, public :: QUIRE_POOL_DEFAULT = 0
  integer, parameter, public :: QUIRE_POOL_MEMFD = 1
  integer, parameter, public :: QUIRE_POOL_FILE = 2
  integer, parameter, public :: QUIRE_POOL_POSIX = 3
  integer, parameter, public :: QUIRE_POOL_SYSV = 4
  integer, parameter, public :: QUIRE_POOL_MDUP = 5
  integer, parameter, public :: QUIRE_POOL_FORK = 6
  integer, parameter, public :: QUIRE_DETECT_DEFAULT = 0
  integer, parameter, public :: QUIRE_DETECT_USERFAULT = 1
  integer, parameter, public :: QUIRE_DETECT_USERFAULT_THREAD = 2
  integer, parameter, public :: QUIRE_DETECT_SEGV = 3
  integer, parameter, public :: QUIRE_DETECT_SCAN = 4
  integer, parameter, public :: QUIRE_GROUP_NONE = 0
  integer, parameter, public :: QUIRE_GROUP_PAGE = 1
  integer, parameter, public :: QUIRE_GROUP_ADAPTIVE = 2
  integer, parameter, public :: QUIRE_SUM = 0
  integer, parameter, public :: QUIRE_MIN = 1
  integer, parameter, public :: QUIRE_MAX = 2
  integer, parameter, public :: QUIRE_PRODUCT = 3
  integer, parameter, public :: QUIRE_BLOCK_CHECK = 1
  integer, parameter, public :: QUIRE_CONTAINER_CREATE = 1
  integer, parameter, public :: QUIRE_CONTAINER_EXCLUSIVE = 2
  integer, parameter, public :: QUIRE_CONTAINER_READ_ONLY = 4
  integer, parameter, public :: QUIRE_CONTAINER_TRUNCATE = 8

  ! Handles: values that may be copied, also into shared memory, and are valid on all nodes. Zero is none, or the job's.
  type, bind(c), public :: quire_region
    integer(c_int64_t) :: id = 0
  end type
  type, bind(c), public :: quire_mutex
    integer(c_int64_t) :: id = 0
  end type
  type, bind(c), public :: quire_rwlock
    integer(c_int64_t) :: id = 0
  end type
  type, bind(c), public :: quire_condition
    integer(c_int64_t) :: id = 0
  end type
  type, bind(c), public :: quire_barrier
    integer(c_int64_t) :: id = 0
  end type
  type, bind(c), public :: quire_event
    integer(c_int64_t) :: id = 0
  end type
  type, bind(c), public :: quire_semaphore
    integer(c_int64_t) :: id = 0
  end type
  type, bind(c), public :: quire_group
    integer(c_int64_t) :: id = 0
  end type
  type, bind(c), public :: quire_remote_thread
    integer(c_int64_t) :: id = 0
  end type
  type, bind(c), public :: quire_container
    integer(c_int64_t) :: id = 0
  end type

  !> How a region behaves, as in quire.h. What is not set is usual: quire_region_options(consistency=QUIRE_RELEASE, unit_bytes=16384).
  type, bind(c), public :: quire_region_options
    integer(c_size_t) :: size = 0
    integer(c_int) :: consistency = 0
    integer(c_size_t) :: unit_bytes = 0
    integer(c_int) :: placement = 0
    integer(c_int) :: home = 0
    integer(c_int) :: pool = 0
    integer(c_int) :: detector = 0
    integer(c_int) :: heap = 0
    integer(c_int) :: orders = 0
    integer(c_size_t) :: minipage_bytes = 0
    integer(c_int) :: views = 0
    integer(c_int) :: chunk = 0
    integer(c_int) :: grouping = 0
  end type

  public :: quire_start, quire_end, quire_end_at_exit, quire_node, quire_nodes, quire_thread, quire_alive, quire_nodes_alive
  public :: quire_block
  public :: quire_container_open, quire_container_remove, quire_container_bytes
  public :: quire_atomically, quire_transaction_retry, quire_transaction_abort, quire_transaction_irrevocable, quire_in_transaction
  public :: quire_on_commit, quire_on_abort, quire_spawn, quire_join, quire_body, quire_callback, quire_work
  public :: quire_status_text, quire_last_error, quire_version, quire_region_create, quire_region_of, quire_sync_reg
  public :: quire_barrier_wait, quire_mutex_try_lock, quire_group_size, quire_fetch_add, quire_checkpoint, quire_restore
  public :: quire_shared
  public :: quire_find
  public :: quire_free
  public :: quire_reduce
  public :: quire_broadcast
  public :: quire_publish
  public :: quire_lookup
  public :: quire_container_map
  public :: quire_container_read
  public :: quire_container_write
  public :: quire_container_append
  public :: quire_region_destroy
  public :: quire_region_set_consistency
  public :: quire_mutex_create
  public :: quire_mutex_lock
  public :: quire_mutex_timed_lock
  public :: quire_mutex_unlock
  public :: quire_mutex_destroy
  public :: quire_rwlock_create
  public :: quire_rwlock_read_lock
  public :: quire_rwlock_write_lock
  public :: quire_rwlock_unlock
  public :: quire_rwlock_destroy
  public :: quire_condition_create
  public :: quire_condition_wait
  public :: quire_condition_notify_one
  public :: quire_condition_notify_all
  public :: quire_condition_destroy
  public :: quire_barrier_create
  public :: quire_barrier_destroy
  public :: quire_event_create
  public :: quire_event_set
  public :: quire_event_reset
  public :: quire_event_wait
  public :: quire_event_destroy
  public :: quire_semaphore_create
  public :: quire_semaphore_acquire
  public :: quire_semaphore_release
  public :: quire_semaphore_destroy
  public :: quire_group_create
  public :: quire_group_join
  public :: quire_group_leave
  public :: quire_group_wait
  public :: quire_group_destroy
  public :: quire_container_close
  public :: quire_container_region
  public :: quire_container_resize
  public :: quire_container_sync
  public :: quire_container_drop

  !> Of quire_container_remove(): the file goes as well.
  integer, parameter, public :: QUIRE_CONTAINER_REMOVE_CONTENT = 1

  !> quire_container_options of C, with addresses of text.
  type, bind(c) :: container_options
    integer(c_size_t) :: size = 0
    type(c_ptr) :: linker = c_null_ptr, what = c_null_ptr
    integer(c_int) :: flags = 0
    integer(c_int64_t) :: bytes = 0, capacity = 0
    integer(c_size_t) :: unit_bytes = 0
    integer(c_int) :: placement = 0, home = 0, consistency = 0, atomic = 0
  end type

  !> quire_transaction_options of C.
  type, bind(c) :: transaction_options
    integer(c_size_t) :: size = 0
    integer(c_int) :: attempts = 0, irrevocable = 0
  end type

  ! Names of dummy procedures with bind(c) are names for gfortran's linker, so those here are ours.
  abstract interface
    !> What quire_atomically() calls: a subroutine, which may be an internal one.
    subroutine quire_body()
    end subroutine
    !> What quire_on_commit() and quire_on_abort() call.
    subroutine quire_callback(argument) bind(c)
      import
      type(c_ptr), value :: argument
    end subroutine
    !> What quire_spawn() calls on another node: a procedure of the program, no internal one.
    type(c_ptr) function quire_work(argument) bind(c)
      import
      type(c_ptr), value :: argument
    end function
  end interface

  type :: body_holder
    procedure(quire_body), pointer, nopass :: body => null()
  end type

  interface quire_shared
    module procedure shared_r4_1
    module procedure shared_r4_1_64
    module procedure shared_r4_2
    module procedure shared_r4_2_64
    module procedure shared_r4_3
    module procedure shared_r4_3_64
    module procedure shared_r4_4
    module procedure shared_r4_4_64
    module procedure shared_r8_1
    module procedure shared_r8_1_64
    module procedure shared_r8_2
    module procedure shared_r8_2_64
    module procedure shared_r8_3
    module procedure shared_r8_3_64
    module procedure shared_r8_4
    module procedure shared_r8_4_64
    module procedure shared_i4_1
    module procedure shared_i4_1_64
    module procedure shared_i4_2
    module procedure shared_i4_2_64
    module procedure shared_i4_3
    module procedure shared_i4_3_64
    module procedure shared_i4_4
    module procedure shared_i4_4_64
    module procedure shared_i8_1
    module procedure shared_i8_1_64
    module procedure shared_i8_2
    module procedure shared_i8_2_64
    module procedure shared_i8_3
    module procedure shared_i8_3_64
    module procedure shared_i8_4
    module procedure shared_i8_4_64
    module procedure shared_c8_1
    module procedure shared_c8_1_64
    module procedure shared_c8_2
    module procedure shared_c8_2_64
    module procedure shared_c8_3
    module procedure shared_c8_3_64
    module procedure shared_c8_4
    module procedure shared_c8_4_64
  end interface
  interface quire_find
    module procedure find_r4_1
    module procedure find_r4_1_64
    module procedure find_r4_2
    module procedure find_r4_2_64
    module procedure find_r4_3
    module procedure find_r4_3_64
    module procedure find_r4_4
    module procedure find_r4_4_64
    module procedure find_r8_1
    module procedure find_r8_1_64
    module procedure find_r8_2
    module procedure find_r8_2_64
    module procedure find_r8_3
    module procedure find_r8_3_64
    module procedure find_r8_4
    module procedure find_r8_4_64
    module procedure find_i4_1
    module procedure find_i4_1_64
    module procedure find_i4_2
    module procedure find_i4_2_64
    module procedure find_i4_3
    module procedure find_i4_3_64
    module procedure find_i4_4
    module procedure find_i4_4_64
    module procedure find_i8_1
    module procedure find_i8_1_64
    module procedure find_i8_2
    module procedure find_i8_2_64
    module procedure find_i8_3
    module procedure find_i8_3_64
    module procedure find_i8_4
    module procedure find_i8_4_64
    module procedure find_c8_1
    module procedure find_c8_1_64
    module procedure find_c8_2
    module procedure find_c8_2_64
    module procedure find_c8_3
    module procedure find_c8_3_64
    module procedure find_c8_4
    module procedure find_c8_4_64
  end interface
  interface quire_free
    module procedure free_r4_1
    module procedure free_r4_2
    module procedure free_r4_3
    module procedure free_r4_4
    module procedure free_r8_1
    module procedure free_r8_2
    module procedure free_r8_3
    module procedure free_r8_4
    module procedure free_i4_1
    module procedure free_i4_2
    module procedure free_i4_3
    module procedure free_i4_4
    module procedure free_i8_1
    module procedure free_i8_2
    module procedure free_i8_3
    module procedure free_i8_4
    module procedure free_c8_1
    module procedure free_c8_2
    module procedure free_c8_3
    module procedure free_c8_4
  end interface
  interface quire_reduce
    module procedure reduce_r4_0
    module procedure reduce_r4_1
    module procedure reduce_r4_2
    module procedure reduce_r4_3
    module procedure reduce_r4_4
    module procedure reduce_r8_0
    module procedure reduce_r8_1
    module procedure reduce_r8_2
    module procedure reduce_r8_3
    module procedure reduce_r8_4
    module procedure reduce_i4_0
    module procedure reduce_i4_1
    module procedure reduce_i4_2
    module procedure reduce_i4_3
    module procedure reduce_i4_4
    module procedure reduce_i8_0
    module procedure reduce_i8_1
    module procedure reduce_i8_2
    module procedure reduce_i8_3
    module procedure reduce_i8_4
    module procedure reduce_c8_0
    module procedure reduce_c8_1
    module procedure reduce_c8_2
    module procedure reduce_c8_3
    module procedure reduce_c8_4
  end interface
  interface quire_broadcast
    module procedure broadcast_r4_0
    module procedure broadcast_r4_1
    module procedure broadcast_r4_2
    module procedure broadcast_r4_3
    module procedure broadcast_r4_4
    module procedure broadcast_r8_0
    module procedure broadcast_r8_1
    module procedure broadcast_r8_2
    module procedure broadcast_r8_3
    module procedure broadcast_r8_4
    module procedure broadcast_i4_0
    module procedure broadcast_i4_1
    module procedure broadcast_i4_2
    module procedure broadcast_i4_3
    module procedure broadcast_i4_4
    module procedure broadcast_i8_0
    module procedure broadcast_i8_1
    module procedure broadcast_i8_2
    module procedure broadcast_i8_3
    module procedure broadcast_i8_4
    module procedure broadcast_c8_0
    module procedure broadcast_c8_1
    module procedure broadcast_c8_2
    module procedure broadcast_c8_3
    module procedure broadcast_c8_4
    module procedure broadcast_region
    module procedure broadcast_mutex
    module procedure broadcast_rwlock
    module procedure broadcast_condition
    module procedure broadcast_barrier
    module procedure broadcast_event
    module procedure broadcast_semaphore
    module procedure broadcast_group
    module procedure broadcast_remote_thread
    module procedure broadcast_text
  end interface
  interface quire_publish
    module procedure publish_region
    module procedure publish_mutex
    module procedure publish_rwlock
    module procedure publish_condition
    module procedure publish_barrier
    module procedure publish_event
    module procedure publish_semaphore
    module procedure publish_group
    module procedure publish_remote_thread
  end interface
  interface quire_lookup
    module procedure lookup_region
    module procedure lookup_mutex
    module procedure lookup_rwlock
    module procedure lookup_condition
    module procedure lookup_barrier
    module procedure lookup_event
    module procedure lookup_semaphore
    module procedure lookup_group
    module procedure lookup_remote_thread
  end interface
  interface quire_container_map
    module procedure map_r4_1
    module procedure map_r4_1_64
    module procedure map_r4_2
    module procedure map_r4_2_64
    module procedure map_r4_3
    module procedure map_r4_3_64
    module procedure map_r4_4
    module procedure map_r4_4_64
    module procedure map_r8_1
    module procedure map_r8_1_64
    module procedure map_r8_2
    module procedure map_r8_2_64
    module procedure map_r8_3
    module procedure map_r8_3_64
    module procedure map_r8_4
    module procedure map_r8_4_64
    module procedure map_i4_1
    module procedure map_i4_1_64
    module procedure map_i4_2
    module procedure map_i4_2_64
    module procedure map_i4_3
    module procedure map_i4_3_64
    module procedure map_i4_4
    module procedure map_i4_4_64
    module procedure map_i8_1
    module procedure map_i8_1_64
    module procedure map_i8_2
    module procedure map_i8_2_64
    module procedure map_i8_3
    module procedure map_i8_3_64
    module procedure map_i8_4
    module procedure map_i8_4_64
    module procedure map_c8_1
    module procedure map_c8_1_64
    module procedure map_c8_2
    module procedure map_c8_2_64
    module procedure map_c8_3
    module procedure map_c8_3_64
    module procedure map_c8_4
    module procedure map_c8_4_64
  end interface
  interface quire_container_read
    module procedure read_r4_0
    module procedure read_r4_1
    module procedure read_r4_2
    module procedure read_r4_3
    module procedure read_r4_4
    module procedure read_r8_0
    module procedure read_r8_1
    module procedure read_r8_2
    module procedure read_r8_3
    module procedure read_r8_4
    module procedure read_i4_0
    module procedure read_i4_1
    module procedure read_i4_2
    module procedure read_i4_3
    module procedure read_i4_4
    module procedure read_i8_0
    module procedure read_i8_1
    module procedure read_i8_2
    module procedure read_i8_3
    module procedure read_i8_4
    module procedure read_c8_0
    module procedure read_c8_1
    module procedure read_c8_2
    module procedure read_c8_3
    module procedure read_c8_4
    module procedure read_text
  end interface
  interface quire_container_write
    module procedure write_r4_0
    module procedure write_r4_1
    module procedure write_r4_2
    module procedure write_r4_3
    module procedure write_r4_4
    module procedure write_r8_0
    module procedure write_r8_1
    module procedure write_r8_2
    module procedure write_r8_3
    module procedure write_r8_4
    module procedure write_i4_0
    module procedure write_i4_1
    module procedure write_i4_2
    module procedure write_i4_3
    module procedure write_i4_4
    module procedure write_i8_0
    module procedure write_i8_1
    module procedure write_i8_2
    module procedure write_i8_3
    module procedure write_i8_4
    module procedure write_c8_0
    module procedure write_c8_1
    module procedure write_c8_2
    module procedure write_c8_3
    module procedure write_c8_4
    module procedure write_text
  end interface
  interface quire_container_append
    module procedure append_r4_0
    module procedure append_r4_1
    module procedure append_r4_2
    module procedure append_r4_3
    module procedure append_r4_4
    module procedure append_r8_0
    module procedure append_r8_1
    module procedure append_r8_2
    module procedure append_r8_3
    module procedure append_r8_4
    module procedure append_i4_0
    module procedure append_i4_1
    module procedure append_i4_2
    module procedure append_i4_3
    module procedure append_i4_4
    module procedure append_i8_0
    module procedure append_i8_1
    module procedure append_i8_2
    module procedure append_i8_3
    module procedure append_i8_4
    module procedure append_c8_0
    module procedure append_c8_1
    module procedure append_c8_2
    module procedure append_c8_3
    module procedure append_c8_4
    module procedure append_text
  end interface

  interface
    integer(c_int) function c_start(options) bind(c, name='quire_start')
      import
      type(c_ptr), value :: options
    end function
    integer(c_int) function c_end() bind(c, name='quire_end')
      import
    end function
    integer(c_int) function c_end_at_exit() bind(c, name='quire_end_at_exit')
      import
    end function
    integer(c_int) function c_node() bind(c, name='quire_node')
      import
    end function
    integer(c_int) function c_nodes() bind(c, name='quire_nodes')
      import
    end function
    integer(c_int) function c_thread() bind(c, name='quire_thread')
      import
    end function
    integer(c_int) function c_alive(node) bind(c, name='quire_alive')
      import
      integer(c_int), value :: node
    end function
    integer(c_int) function c_nodes_alive() bind(c, name='quire_nodes_alive')
      import
    end function
    type(c_ptr) function c_status_text(status) bind(c, name='quire_status_text')
      import
      integer(c_int), value :: status
    end function
    type(c_ptr) function c_last_error() bind(c, name='quire_last_error')
      import
    end function
    type(c_ptr) function c_version() bind(c, name='quire_version')
      import
    end function
    integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
      import
      type(c_ptr), value :: text
    end function
    integer(c_int) function c_region_create(options, bytes, region) bind(c, name='quire_region_create')
      import
      type(quire_region_options), intent(in) :: options
      integer(c_int64_t), value :: bytes
      type(quire_region), intent(out) :: region
    end function
    integer(c_int) function c_region_range(region, address, bytes) bind(c, name='quire_region_range')
      import
      type(quire_region), value :: region
      type(c_ptr), intent(out) :: address
      integer(c_int64_t), intent(out) :: bytes
    end function
    integer(c_int) function c_region_of(address, region) bind(c, name='quire_region_of')
      import
      type(c_ptr), value :: address
      type(quire_region), intent(out) :: region
    end function
    integer(c_int) function c_calloc(count, bytes, address) bind(c, name='quire_calloc')
      import
      integer(c_size_t), value :: count, bytes
      type(c_ptr), intent(out) :: address
    end function
    integer(c_int) function c_free(address) bind(c, name='quire_free')
      import
      type(c_ptr), value :: address
    end function
    integer(c_int) function c_allocation_size(address, bytes) bind(c, name='quire_allocation_size')
      import
      type(c_ptr), value :: address
      integer(c_size_t), intent(out) :: bytes
    end function
    integer(c_int) function c_publish(name, address) bind(c, name='quire_publish')
      import
      character(c_char), intent(in) :: name(*)
      integer(c_intptr_t), value :: address
    end function
    integer(c_int) function c_lookup(name, timeout_ms, address) bind(c, name='quire_lookup')
      import
      character(c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: timeout_ms
      integer(c_intptr_t), intent(out) :: address
    end function
    integer(c_int) function c_fetch_add(word, add, before) bind(c, name='quire_fetch_add')
      import
      type(c_ptr), value :: word
      integer(c_int64_t), value :: add
      integer(c_int64_t), intent(out) :: before
    end function
    integer(c_int) function c_mutex_try_lock(mutex) bind(c, name='quire_mutex_try_lock')
      import
      type(quire_mutex), value :: mutex
    end function
    integer(c_int) function c_barrier_wait(barrier) bind(c, name='quire_barrier_wait')
      import
      type(quire_barrier), value :: barrier
    end function
    integer(c_int) function c_group_size(group, members, first) bind(c, name='quire_group_size')
      import
      type(quire_group), value :: group
      integer(c_int32_t), intent(out) :: members, first
    end function
    integer(c_int) function c_group_reduce_f64(group, values, count, operation) bind(c, name='quire_group_reduce_f64')
      import
      type(quire_group), value :: group
      type(c_ptr), value :: values
      integer(c_size_t), value :: count
      integer(c_int), value :: operation
    end function
    integer(c_int) function c_group_reduce_i64(group, values, count, operation) bind(c, name='quire_group_reduce_i64')
      import
      type(quire_group), value :: group
      type(c_ptr), value :: values
      integer(c_size_t), value :: count
      integer(c_int), value :: operation
    end function
    integer(c_int) function c_group_broadcast(group, values, bytes, root) bind(c, name='quire_group_broadcast')
      import
      type(quire_group), value :: group
      type(c_ptr), value :: values
      integer(c_size_t), value :: bytes
      integer(c_int32_t), value :: root
    end function
    integer(c_int) function c_checkpoint(path) bind(c, name='quire_checkpoint')
      import
      character(c_char), intent(in) :: path(*)
    end function
    integer(c_int) function c_restore(path) bind(c, name='quire_restore')
      import
      character(c_char), intent(in) :: path(*)
    end function
    integer(c_int) function c_container_open(name, options, container) bind(c, name='quire_container_open')
      import
      character(c_char), intent(in) :: name(*)
      type(container_options), intent(in) :: options
      type(quire_container), intent(out) :: container
    end function
    integer(c_int) function c_container_remove(name, flags) bind(c, name='quire_container_remove')
      import
      character(c_char), intent(in) :: name(*)
      integer(c_int), value :: flags
    end function
    integer(c_int) function c_container_bytes(container, bytes) bind(c, name='quire_container_bytes')
      import
      type(quire_container), value :: container
      integer(c_int64_t), intent(out) :: bytes
    end function
    integer(c_int) function c_container_map(container, address, capacity) bind(c, name='quire_container_map')
      import
      type(quire_container), value :: container
      type(c_ptr), intent(out) :: address
      integer(c_int64_t), intent(out) :: capacity
    end function
    integer(c_int) function c_container_read(container, at, buffer, bytes, done) bind(c, name='quire_container_read')
      import
      type(quire_container), value :: container
      integer(c_int64_t), value :: at
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: bytes
      integer(c_size_t), intent(out) :: done
    end function
    integer(c_int) function c_container_write(container, at, buffer, bytes, done) bind(c, name='quire_container_write')
      import
      type(quire_container), value :: container
      integer(c_int64_t), value :: at
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: bytes
      integer(c_size_t), intent(out) :: done
    end function
    integer(c_int) function c_container_append(container, buffer, bytes, at) bind(c, name='quire_container_append')
      import
      type(quire_container), value :: container
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: bytes
      integer(c_int64_t), intent(out) :: at
    end function
    integer(c_int) function c_atomically(body, argument, options) bind(c, name='quire_atomically')
      import
      type(c_funptr), value :: body
      type(c_ptr), value :: argument
      type(transaction_options), intent(in) :: options
    end function
    subroutine c_transaction_retry() bind(c, name='quire_transaction_retry')
    end subroutine
    subroutine c_transaction_abort(why) bind(c, name='quire_transaction_abort')
      import
      integer(c_int), value :: why
    end subroutine
    integer(c_int) function c_transaction_irrevocable() bind(c, name='quire_transaction_irrevocable')
      import
    end function
    integer(c_int) function c_in_transaction() bind(c, name='quire_in_transaction')
      import
    end function
    integer(c_int) function c_on_commit(call, argument) bind(c, name='quire_on_commit')
      import
      type(c_funptr), value :: call
      type(c_ptr), value :: argument
    end function
    integer(c_int) function c_on_abort(call, argument) bind(c, name='quire_on_abort')
      import
      type(c_funptr), value :: call
      type(c_ptr), value :: argument
    end function
    integer(c_int) function c_spawn(node, work, argument, thread) bind(c, name='quire_spawn')
      import
      integer(c_int), value :: node
      type(c_funptr), value :: work
      type(c_ptr), value :: argument
      type(quire_remote_thread), intent(out) :: thread
    end function
    integer(c_int) function c_join(thread, answer) bind(c, name='quire_join')
      import
      type(quire_remote_thread), value :: thread
      type(c_ptr), intent(out) :: answer
    end function
    integer(c_int) function c_region_destroy(region) bind(c, name='quire_region_destroy')
      import
      type(quire_region), value :: region
    end function
    integer(c_int) function c_region_set_consistency(region, consistency) bind(c, name='quire_region_set_consistency')
      import
      type(quire_region), value :: region
      integer(c_int), value :: consistency
    end function
    integer(c_int) function c_mutex_create(mutex) bind(c, name='quire_mutex_create')
      import
      type(quire_mutex), intent(out) :: mutex
    end function
    integer(c_int) function c_mutex_lock(mutex) bind(c, name='quire_mutex_lock')
      import
      type(quire_mutex), value :: mutex
    end function
    integer(c_int) function c_mutex_timed_lock(mutex, timeout_ms) bind(c, name='quire_mutex_timed_lock')
      import
      type(quire_mutex), value :: mutex
      integer(c_int64_t), value :: timeout_ms
    end function
    integer(c_int) function c_mutex_unlock(mutex) bind(c, name='quire_mutex_unlock')
      import
      type(quire_mutex), value :: mutex
    end function
    integer(c_int) function c_mutex_destroy(mutex) bind(c, name='quire_mutex_destroy')
      import
      type(quire_mutex), value :: mutex
    end function
    integer(c_int) function c_rwlock_create(lock) bind(c, name='quire_rwlock_create')
      import
      type(quire_rwlock), intent(out) :: lock
    end function
    integer(c_int) function c_rwlock_read_lock(lock, timeout_ms) bind(c, name='quire_rwlock_read_lock')
      import
      type(quire_rwlock), value :: lock
      integer(c_int64_t), value :: timeout_ms
    end function
    integer(c_int) function c_rwlock_write_lock(lock, timeout_ms) bind(c, name='quire_rwlock_write_lock')
      import
      type(quire_rwlock), value :: lock
      integer(c_int64_t), value :: timeout_ms
    end function
    integer(c_int) function c_rwlock_unlock(lock) bind(c, name='quire_rwlock_unlock')
      import
      type(quire_rwlock), value :: lock
    end function
    integer(c_int) function c_rwlock_destroy(lock) bind(c, name='quire_rwlock_destroy')
      import
      type(quire_rwlock), value :: lock
    end function
    integer(c_int) function c_condition_create(condition) bind(c, name='quire_condition_create')
      import
      type(quire_condition), intent(out) :: condition
    end function
    integer(c_int) function c_condition_wait(condition, mutex, timeout_ms) bind(c, name='quire_condition_wait')
      import
      type(quire_condition), value :: condition
      type(quire_mutex), value :: mutex
      integer(c_int64_t), value :: timeout_ms
    end function
    integer(c_int) function c_condition_notify_one(condition) bind(c, name='quire_condition_notify_one')
      import
      type(quire_condition), value :: condition
    end function
    integer(c_int) function c_condition_notify_all(condition) bind(c, name='quire_condition_notify_all')
      import
      type(quire_condition), value :: condition
    end function
    integer(c_int) function c_condition_destroy(condition) bind(c, name='quire_condition_destroy')
      import
      type(quire_condition), value :: condition
    end function
    integer(c_int) function c_barrier_create(participants, barrier) bind(c, name='quire_barrier_create')
      import
      integer(c_int32_t), value :: participants
      type(quire_barrier), intent(out) :: barrier
    end function
    integer(c_int) function c_barrier_destroy(barrier) bind(c, name='quire_barrier_destroy')
      import
      type(quire_barrier), value :: barrier
    end function
    integer(c_int) function c_event_create(event) bind(c, name='quire_event_create')
      import
      type(quire_event), intent(out) :: event
    end function
    integer(c_int) function c_event_set(event) bind(c, name='quire_event_set')
      import
      type(quire_event), value :: event
    end function
    integer(c_int) function c_event_reset(event) bind(c, name='quire_event_reset')
      import
      type(quire_event), value :: event
    end function
    integer(c_int) function c_event_wait(event, timeout_ms) bind(c, name='quire_event_wait')
      import
      type(quire_event), value :: event
      integer(c_int64_t), value :: timeout_ms
    end function
    integer(c_int) function c_event_destroy(event) bind(c, name='quire_event_destroy')
      import
      type(quire_event), value :: event
    end function
    integer(c_int) function c_semaphore_create(initial, semaphore) bind(c, name='quire_semaphore_create')
      import
      integer(c_int64_t), value :: initial
      type(quire_semaphore), intent(out) :: semaphore
    end function
    integer(c_int) function c_semaphore_acquire(semaphore, timeout_ms) bind(c, name='quire_semaphore_acquire')
      import
      type(quire_semaphore), value :: semaphore
      integer(c_int64_t), value :: timeout_ms
    end function
    integer(c_int) function c_semaphore_release(semaphore, count) bind(c, name='quire_semaphore_release')
      import
      type(quire_semaphore), value :: semaphore
      integer(c_int64_t), value :: count
    end function
    integer(c_int) function c_semaphore_destroy(semaphore) bind(c, name='quire_semaphore_destroy')
      import
      type(quire_semaphore), value :: semaphore
    end function
    integer(c_int) function c_group_create(threads, group) bind(c, name='quire_group_create')
      import
      integer(c_int32_t), value :: threads
      type(quire_group), intent(out) :: group
    end function
    integer(c_int) function c_group_join(group, place) bind(c, name='quire_group_join')
      import
      type(quire_group), value :: group
      integer(c_int32_t), value :: place
    end function
    integer(c_int) function c_group_leave(group) bind(c, name='quire_group_leave')
      import
      type(quire_group), value :: group
    end function
    integer(c_int) function c_group_wait(group) bind(c, name='quire_group_wait')
      import
      type(quire_group), value :: group
    end function
    integer(c_int) function c_group_destroy(group) bind(c, name='quire_group_destroy')
      import
      type(quire_group), value :: group
    end function
    integer(c_int) function c_container_close(container) bind(c, name='quire_container_close')
      import
      type(quire_container), value :: container
    end function
    integer(c_int) function c_container_region(container, region) bind(c, name='quire_container_region')
      import
      type(quire_container), value :: container
      type(quire_region), intent(out) :: region
    end function
    integer(c_int) function c_container_resize(container, bytes) bind(c, name='quire_container_truncate')
      import
      type(quire_container), value :: container
      integer(c_int64_t), value :: bytes
    end function
    integer(c_int) function c_container_sync(container, at, bytes) bind(c, name='quire_container_sync')
      import
      type(quire_container), value :: container
      integer(c_int64_t), value :: at
      integer(c_int64_t), value :: bytes
    end function
    integer(c_int) function c_container_drop(container, at, bytes) bind(c, name='quire_container_drop')
      import
      type(quire_container), value :: container
      integer(c_int64_t), value :: at
      integer(c_int64_t), value :: bytes
    end function
  end interface

  integer(int64), parameter :: own_region_bytes = 2_int64**20  ! from which an array is a region of its own

contains

  ! ---- Statuses -----------------------------------------------------------------------------------------------------------

  function text_of(text) result(answer)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: answer
    character(c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(text, letters, [c_strlen(text)])
    allocate(character(size(letters)) :: answer)
    do i = 1, size(letters)
      answer(i:i) = letters(i)
    end do
  end function

  !> A short sentence for a status.
  function quire_status_text(status) result(text)
    integer, intent(in) :: status
    character(:), allocatable :: text
    text = text_of(c_status_text(int(status, c_int)))
  end function

  !> What was wrong with the calling thread's last call of Quire, in a sentence; empty if there is nothing to add to the text of its status.
  function quire_last_error() result(text)
    character(:), allocatable :: text
    text = text_of(c_last_error())
  end function

  !> The version of the library that is running, as "major.minor.patch".
  function quire_version() result(text)
    character(:), allocatable :: text
    text = text_of(c_version())
  end function

  !> Ends a call: gives its status to `ierror`. Without one an error ends the program, and so the job. `why`: what this module has found itself.
  subroutine conclude(call, status, ierror, why)
    character(*), intent(in) :: call
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: ierror
    character(*), intent(in), optional :: why
    character(:), allocatable :: sentence
    if (present(ierror)) ierror = int(status)
    if (present(ierror) .or. status == QUIRE_OK) return
    sentence = quire_last_error()
    if (present(why)) then
      if (len(why) > 0) sentence = call // '(): ' // why
    end if
    if (len(sentence) == 0) sentence = call // '(): ' // quire_status_text(int(status))
    write (error_unit, '(a,i0,2a)') 'node ', c_node(), ': ', sentence
    flush (error_unit)
    error stop 1
  end subroutine

  ! ---- Start and end ------------------------------------------------------------------------------------------------------

  !> Joins the job. Once, before any other call but quire_node() and the like.
  subroutine quire_start(ierror)
    integer, intent(out), optional :: ierror
    call conclude('quire_start', c_start(c_null_ptr), ierror)
  end subroutine

  !> Leaves the job: waits until all nodes have called. Shared arrays are gone then.
  subroutine quire_end(ierror)
    integer, intent(out), optional :: ierror
    call conclude('quire_end', c_end(), ierror)
  end subroutine

  !> quire_end() for a program that is about to end while threads of it may go on. They stay where they are from then on.
  subroutine quire_end_at_exit(ierror)
    integer, intent(out), optional :: ierror
    call conclude('quire_end_at_exit', c_end_at_exit(), ierror)
  end subroutine

  !> The number of this node, from 0 on.
  integer function quire_node()
    quire_node = int(c_node())
  end function

  !> How many nodes the job has.
  integer function quire_nodes()
    quire_nodes = int(c_nodes())
  end function

  !> The number of the calling thread on its node: 0 for the one that started.
  integer function quire_thread()
    quire_thread = int(c_thread())
  end function

  !> Whether a node is not known to be dead.
  logical function quire_alive(node)
    integer, intent(in) :: node
    quire_alive = c_alive(int(node, c_int)) /= 0
  end function

  !> How many nodes are not known to be dead.
  integer function quire_nodes_alive()
    quire_nodes_alive = int(c_nodes_alive())
  end function

  !> This node's part of the numbers from `first` to `last`: `low` to `high`. Parts are consecutive, and differ by one at most; low is high + 1 where there are
  !> fewer numbers than nodes.
  subroutine quire_block(first, last, low, high)
    integer, intent(in) :: first, last
    integer, intent(out) :: low, high
    integer(int64) :: count
    count = max(0_int64, int(last, int64) - first + 1)
    low = int(first + count * quire_node() / quire_nodes())
    high = int(first + count * (quire_node() + 1) / quire_nodes() - 1)
  end subroutine

  !> After this call the compiler knows nothing of what `a` holds: what it had in registers is written before, and read again after it. Beside a call that
  !> synchronises nodes, for arrays that are neither POINTER, TARGET nor ASYNCHRONOUS where it is called (as MPI_F_SYNC_REG).
  subroutine quire_sync_reg(a)
    type(*), dimension(..), target, asynchronous, intent(inout) :: a
    type(quire_region) :: region
    integer(c_int) :: ignored
    ignored = c_region_of(c_loc(a), region)  ! a call that no compiler can look into
  end subroutine

  ! ---- Arrays that all nodes share ------------------------------------------------------------------------------------------

  !> The bytes of an array, at least 1; negative if the shape is none. `why` says what is wrong.
  integer(int64) function bytes_of(shape, element, rank, why)
    integer(int64), intent(in) :: shape(:)
    integer, intent(in) :: element, rank
    character(:), allocatable, intent(out) :: why
    integer :: i
    why = ''
    bytes_of = element
    if (size(shape) /= rank) why = 'the shape has another number of dimensions than the array'
    if (any(shape < 0)) why = 'a dimension is negative'
    do i = 1, size(shape)
      if (len(why) > 0) exit
      if (shape(i) > 0) then
        if (bytes_of > 2_int64**62 / shape(i)) why = 'the array is larger than all addresses'
      end if
      if (len(why) == 0) bytes_of = bytes_of * max(shape(i), 1_int64)
    end do
    if (len(why) > 0) bytes_of = -1
  end function

  !> Whether all nodes give the same numbers.
  logical function same_on_all(numbers, status)
    integer(int64), intent(in) :: numbers(:)
    integer(c_int), intent(out) :: status
    integer(int64), target :: extremes(2 * size(numbers))
    extremes = [numbers, -numbers]
    status = c_group_reduce_i64(quire_group(0), c_loc(extremes), size(extremes, kind=c_size_t), int(QUIRE_MIN, c_int))
    same_on_all = all(extremes(:size(numbers)) == -extremes(size(numbers) + 1:))
  end function

  !> Makes the memory of an array, on one node. Large arrays, and those with options, are regions.
  integer(c_int) function make(bytes, options, address) result(status)
    integer(int64), intent(in) :: bytes
    type(quire_region_options), intent(in), optional :: options
    type(c_ptr), intent(out) :: address
    type(quire_region_options) :: how
    type(quire_region) :: region
    integer(int64) :: region_bytes
    character(8) :: on_failure
    address = c_null_ptr
    if (bytes < own_region_bytes .and. .not. present(options)) then
      status = c_calloc(1_c_size_t, int(bytes, c_size_t), address)
      return
    end if
    if (present(options)) then
      how = options
    else
      call get_environment_variable('QUIRE_ON_FAILURE', on_failure)
      if (on_failure /= 'notify') how%consistency = QUIRE_RELEASE
      if (on_failure /= 'notify') how%placement = QUIRE_PLACE_FIRST_TOUCH
    end if
    how%size = c_sizeof(how)
    status = c_region_create(how, bytes, region)
    if (status == QUIRE_OK) status = c_region_range(region, address, region_bytes)
  end function

  !> The array of all nodes: its address. False: there is none, and `ierror` says why.
  logical function shared(address, shape, element, kind, rank, name, options, ierror)
    type(c_ptr), intent(out) :: address
    integer(int64), intent(in) :: shape(:)
    integer, intent(in) :: element, kind, rank
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    integer(c_int) :: status
    integer(int64) :: bytes, asked(8)
    integer(int64), target :: made(2)
    character(:), allocatable :: why
    address = c_null_ptr
    bytes = bytes_of(shape, element, rank, why)
    asked = 0
    asked(1:2) = [bytes, int(10 * kind + rank, int64)]
    if (present(name)) asked(3) = 1
    if (present(options)) asked(4) = 1
    if (bytes > 0) asked(5:4 + rank) = shape
    if (.not. same_on_all(asked, status)) then
      if (status == QUIRE_OK) status = QUIRE_INVALID
      if (len(why) == 0) why = 'nodes give different arguments: all make the same arrays, in the same order'
    else if (status == QUIRE_OK .and. bytes < 0) then
      status = QUIRE_INVALID
    else if (status == QUIRE_OK) then
      made = 0
      if (quire_node() == 0) then
        status = make(bytes, options, address)
        if (status == QUIRE_OK .and. present(name)) then
          status = c_publish(trim(name) // c_null_char, transfer(address, 0_c_intptr_t))
          if (status /= QUIRE_OK) call give_back(address)
        end if
        made = [int(status, int64), transfer(address, 0_int64)]
      end if
      status = c_group_broadcast(quire_group(0), c_loc(made), 16_c_size_t, 0_c_int32_t)
      if (status == QUIRE_OK) status = int(made(1), c_int)
      address = transfer(made(2), address)
      if (status == QUIRE_EXISTS) why = 'an array, or something else, has that name'
    end if
    shared = status == QUIRE_OK
    call conclude('quire_shared', status, ierror, why)
  end function

  !> Gives back what make() has made; nothing is told of an error.
  subroutine give_back(address)
    type(c_ptr), intent(in) :: address
    integer(c_int) :: ignored
    ignored = give_back_array(address)
  end subroutine

  integer(c_int) function give_back_array(address) result(status)
    type(c_ptr), intent(in) :: address
    type(quire_region) :: region
    type(c_ptr) :: first
    integer(int64) :: bytes
    status = c_region_of(address, region)
    if (status /= QUIRE_OK) return
    if (region%id == 0) then
      status = c_free(address)
      return
    end if
    status = c_region_range(region, first, bytes)
    if (status /= QUIRE_OK) return
    status = QUIRE_BAD_ADDRESS
    if (c_associated(first, address)) status = c_region_destroy(region)
  end function

  !> An array that has a name: its address.
  logical function found(address, shape, element, rank, name, timeout_ms, ierror)
    type(c_ptr), intent(out) :: address
    integer(int64), intent(in) :: shape(:)
    integer, intent(in) :: element, rank, timeout_ms
    character(*), intent(in) :: name
    integer, intent(out), optional :: ierror
    type(quire_region) :: region
    integer(c_intptr_t) :: word
    integer(c_int) :: status
    integer(c_size_t) :: size_bytes
    integer(int64) :: bytes, there
    type(c_ptr) :: first
    character(:), allocatable :: why
    address = c_null_ptr
    bytes = bytes_of(shape, element, rank, why)
    status = QUIRE_INVALID
    if (bytes > 0) status = c_lookup(trim(name) // c_null_char, int(timeout_ms, c_int64_t), word)
    if (status == QUIRE_OK) then
      address = transfer(word, address)
      status = c_region_of(address, region)
      if (status /= QUIRE_OK) then
        why = 'what has that name is no array'
      else if (region%id == 0) then
        status = c_allocation_size(address, size_bytes)
        there = int(size_bytes, int64)
      else
        status = c_region_range(region, first, there)
        there = there - (word - transfer(first, word))
      end if
    end if
    if (status == QUIRE_OK) then
      if (there < bytes) then
        status = QUIRE_INVALID
        why = 'what has that name is smaller than an array of this shape'
      end if
    end if
    found = status == QUIRE_OK
    call conclude('quire_find', status, ierror, why)
  end function

  !> All nodes give back an array.
  logical function freed(address, ierror)
    type(c_ptr), intent(in) :: address
    integer, intent(out), optional :: ierror
    integer(c_int) :: status
    integer(int64), target :: answer
    character(:), allocatable :: why
    why = ''
    answer = 0
    if (.not. same_on_all([transfer(address, 0_int64)], status)) then  ! and nobody uses it any more
      if (status == QUIRE_OK) status = QUIRE_INVALID
      why = 'nodes give different arrays'
    else if (status == QUIRE_OK .and. .not. c_associated(address)) then
      status = QUIRE_INVALID
      why = 'the pointer has no array'
    else if (status == QUIRE_OK) then
      if (quire_node() == 0) answer = give_back_array(address)
      status = c_group_broadcast(quire_group(0), c_loc(answer), 8_c_size_t, 0_c_int32_t)
      if (status == QUIRE_OK) status = int(answer, c_int)
      if (status == QUIRE_BAD_ADDRESS) why = 'this is not the whole of an array of quire_shared()'
    end if
    freed = status == QUIRE_OK
    call conclude('quire_free', status, ierror, why)
  end function

  !> The address of the first element.
  type(c_ptr) function first_of(a)
    type(*), dimension(..), target, intent(in) :: a
    first_of = c_loc(a)
  end function

  ! ---- Regions, names, words ------------------------------------------------------------------------------------------------

  !> Makes a region of at least `bytes` bytes of zeroes. One thread of any node calls; all nodes can use its addresses then.
  subroutine quire_region_create(options, bytes, region, ierror)
    type(quire_region_options), intent(in) :: options
    integer(int64), intent(in) :: bytes
    type(quire_region), intent(out) :: region
    integer, intent(out), optional :: ierror
    type(quire_region_options) :: how
    how = options
    how%size = c_sizeof(how)
    call conclude('quire_region_create', c_region_create(how, bytes, region), ierror)
  end subroutine

  !> The region that an array lies in.
  subroutine quire_region_of(a, region, ierror)
    type(*), dimension(..), target, intent(in) :: a
    type(quire_region), intent(out) :: region
    integer, intent(out), optional :: ierror
    call conclude('quire_region_of', c_region_of(c_loc(a), region), ierror)
  end subroutine

  subroutine publish_word(name, word, ierror)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: word
    integer, intent(out), optional :: ierror
    call conclude('quire_publish', c_publish(trim(name) // c_null_char, int(word, c_intptr_t)), ierror)
  end subroutine

  subroutine lookup_word(name, timeout_ms, word, ierror)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer(c_int64_t), intent(out) :: word
    integer, intent(out), optional :: ierror
    integer(c_intptr_t) :: value
    integer(c_int) :: status
    value = 0
    status = c_lookup(trim(name) // c_null_char, int(timeout_ms, c_int64_t), value)
    word = value
    call conclude('quire_lookup', status, ierror)
  end subroutine

  !> Adds to a word of 64 bits in shared memory, where it lies, as one step; `before` is what it was.
  subroutine quire_fetch_add(word, add, before, ierror)
    integer(int64), target, intent(inout) :: word
    integer(int64), intent(in) :: add
    integer(int64), intent(out) :: before
    integer, intent(out), optional :: ierror
    call conclude('quire_fetch_add', c_fetch_add(c_loc(word), add, before), ierror)
  end subroutine

  ! ---- Containers -----------------------------------------------------------------------------------------------------------

  !> Opens the container `name`, and makes it if there is none and `flags` has QUIRE_CONTAINER_CREATE (flags are added up; container.h has all). `what`: the
  !> file that it is; without, it lives in the memory of the job. `linker`: who reads and writes it. `bytes`: so many at least; `capacity`: how far it can grow;
  !> `unit_bytes`: what moves between nodes at a time; `home`: the node that reads and writes the file; `whole`: calls happen as a whole for other calls. Any
  !> thread of any node.
  subroutine quire_container_open(name, container, what, flags, linker, bytes, capacity, unit_bytes, home, whole, ierror)
    character(*), intent(in) :: name
    type(quire_container), intent(out) :: container
    character(*), intent(in), optional :: what, linker
    integer, intent(in), optional :: flags, unit_bytes, home
    integer(int64), intent(in), optional :: bytes, capacity
    logical, intent(in), optional :: whole
    integer, intent(out), optional :: ierror
    type(container_options) :: how
    character(:, c_char), allocatable, target :: path, link
    how%size = c_sizeof(how)
    if (present(what)) then
      path = trim(what) // c_null_char
      how%what = c_loc(path)
    end if
    if (present(linker)) then
      link = trim(linker) // c_null_char
      how%linker = c_loc(link)
    end if
    if (present(flags)) how%flags = int(flags, c_int)
    if (present(bytes)) how%bytes = bytes
    if (present(capacity)) how%capacity = capacity
    if (present(unit_bytes)) how%unit_bytes = int(unit_bytes, c_size_t)
    if (present(home)) how%home = int(home, c_int)
    if (present(home)) how%placement = QUIRE_PLACE_NODE
    if (present(whole)) how%atomic = merge(1_c_int, 0_c_int, whole)
    call conclude('quire_container_open', c_container_open(trim(name) // c_null_char, how, container), ierror)
  end subroutine

  !> Removes a container that nobody has open. `flags`: 0, or QUIRE_CONTAINER_REMOVE_CONTENT.
  subroutine quire_container_remove(name, flags, ierror)
    character(*), intent(in) :: name
    integer, intent(in) :: flags
    integer, intent(out), optional :: ierror
    call conclude('quire_container_remove', c_container_remove(trim(name) // c_null_char, int(flags, c_int)), ierror)
  end subroutine

  !> How many bytes a container has now.
  subroutine quire_container_bytes(container, bytes, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(out) :: bytes
    integer, intent(out), optional :: ierror
    bytes = 0
    call conclude('quire_container_bytes', c_container_bytes(container, bytes), ierror)
  end subroutine

  !> The address of content that an array of this shape is to be.
  logical function mapped(container, address, shape, element, rank, at, ierror)
    type(quire_container), intent(in) :: container
    type(c_ptr), intent(out) :: address
    integer(int64), intent(in) :: shape(:)
    integer, intent(in) :: element, rank
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    integer(int64) :: bytes, capacity, first
    integer(c_intptr_t) :: word
    integer(c_int) :: status
    character(:), allocatable :: why
    first = 0
    if (present(at)) first = at
    bytes = bytes_of(shape, element, rank, why)
    status = QUIRE_INVALID
    if (bytes > 0) status = c_container_map(container, address, capacity)
    if (status == QUIRE_OK) then
      if (first < 0 .or. first > capacity .or. bytes > capacity - first) then
        status = QUIRE_BEYOND
        why = 'the container has no addresses for an array of this shape there: see its capacity'
      else
        word = transfer(address, word) + first
        address = transfer(word, address)
      end if
    end if
    mapped = status == QUIRE_OK
    call conclude('quire_container_map', status, ierror, why)
  end function

  subroutine read_content(container, at, buffer, bytes, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    type(c_ptr), intent(in) :: buffer
    integer(c_size_t), intent(in) :: bytes
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    integer(c_size_t) :: there
    integer(c_int) :: status
    there = 0
    status = c_container_read(container, at, buffer, bytes, there)
    if (present(done)) then
      done = int(there, int64)
    else if (status == QUIRE_OK .and. there < bytes) then
      status = QUIRE_BEYOND
    end if
    call conclude('quire_container_read', status, ierror)
  end subroutine

  subroutine write_content(container, at, buffer, bytes, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    type(c_ptr), intent(in) :: buffer
    integer(c_size_t), intent(in) :: bytes
    integer, intent(out), optional :: ierror
    integer(c_size_t) :: done
    call conclude('quire_container_write', c_container_write(container, at, buffer, bytes, done), ierror)
  end subroutine

  subroutine append_content(container, buffer, bytes, at, ierror)
    type(quire_container), intent(in) :: container
    type(c_ptr), intent(in) :: buffer
    integer(c_size_t), intent(in) :: bytes
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    integer(int64) :: first
    first = 0
    call conclude('quire_container_append', c_container_append(container, buffer, bytes, first), ierror)
    if (present(at)) at = first
  end subroutine

  ! ---- Transactions -----------------------------------------------------------------------------------------------------------

  subroutine run_body(argument) bind(c)
    type(c_ptr), value :: argument
    type(body_holder), pointer :: holder
    call c_f_pointer(argument, holder)
    call holder%body()
  end subroutine

  !> Calls body() as a transaction, a procedure of a module, say: what it reads and writes in regions with QUIRE_TRANSACTIONAL happens as a whole, on all
  !> nodes. It begins again if others come first, out of any access to such memory; what it has written elsewhere stays. `attempts`: how often at most (else
  !> QUIRE_CONFLICT); `irrevocable`: it does not begin again. Within a body: part of the transaction that runs.
  subroutine quire_atomically(body, attempts, irrevocable, ierror)
    procedure(quire_body) :: body
    integer, intent(in), optional :: attempts
    logical, intent(in), optional :: irrevocable
    integer, intent(out), optional :: ierror
    type(body_holder), target :: holder
    type(transaction_options) :: how
    how%size = c_sizeof(how)
    if (present(attempts)) how%attempts = int(attempts, c_int)
    if (present(irrevocable)) how%irrevocable = merge(1_c_int, 0_c_int, irrevocable)
    holder%body => body
    call conclude('quire_atomically', c_atomically(c_funloc(run_body), c_loc(holder), how), ierror)
  end subroutine

  !> In a body: undoes it, waits until something that it has seen may have changed, and begins it again. Does not return.
  subroutine quire_transaction_retry()
    call c_transaction_retry()
  end subroutine

  !> In a body: undoes it; quire_atomically() has the status `why`. Does not return.
  subroutine quire_transaction_abort(why)
    integer, intent(in) :: why
    call c_transaction_abort(int(why, c_int))
  end subroutine

  !> In a body: from here on it does not begin again; for output, say.
  subroutine quire_transaction_irrevocable(ierror)
    integer, intent(out), optional :: ierror
    call conclude('quire_transaction_irrevocable', c_transaction_irrevocable(), ierror)
  end subroutine

  !> Whether the caller is in a body.
  logical function quire_in_transaction()
    quire_in_transaction = c_in_transaction() /= 0
  end function

  !> In a body: quire_procedure(argument) is called when the transaction has happened.
  subroutine quire_on_commit(quire_procedure, argument, ierror)
    procedure(quire_callback) :: quire_procedure
    type(c_ptr), intent(in) :: argument
    integer, intent(out), optional :: ierror
    call conclude('quire_on_commit', c_on_commit(c_funloc(quire_procedure), argument), ierror)
  end subroutine

  !> In a body: quire_procedure(argument) is called when it is undone.
  subroutine quire_on_abort(quire_procedure, argument, ierror)
    procedure(quire_callback) :: quire_procedure
    type(c_ptr), intent(in) :: argument
    integer, intent(out), optional :: ierror
    call conclude('quire_on_abort', c_on_abort(c_funloc(quire_procedure), argument), ierror)
  end subroutine

  ! ---- Threads on other nodes -------------------------------------------------------------------------------------------------

  !> Calls quire_procedure(argument) in a new thread of a node. It is a procedure of the program with bind(c), of a module, say, and no internal one;
  !> `argument` is an address in shared memory (c_loc of an array), or c_null_ptr.
  subroutine quire_spawn(node, quire_procedure, argument, thread, ierror)
    integer, intent(in) :: node
    procedure(quire_work) :: quire_procedure
    type(c_ptr), intent(in) :: argument
    type(quire_remote_thread), intent(out) :: thread
    integer, intent(out), optional :: ierror
    call conclude('quire_spawn', c_spawn(int(node, c_int), c_funloc(quire_procedure), argument, thread), ierror)
  end subroutine

  !> Waits for the end of a thread of quire_spawn(), once, on any node; `answer` is what its procedure gave.
  subroutine quire_join(thread, answer, ierror)
    type(quire_remote_thread), intent(in) :: thread
    type(c_ptr), intent(out), optional :: answer
    integer, intent(out), optional :: ierror
    type(c_ptr) :: given
    given = c_null_ptr
    call conclude('quire_join', c_join(thread, given), ierror)
    if (present(answer)) answer = given
  end subroutine

  ! ---- Calls of all nodes ---------------------------------------------------------------------------------------------------

  !> A barrier: of the job without an argument, which all nodes call.
  subroutine quire_barrier_wait(barrier, ierror)
    type(quire_barrier), intent(in), optional :: barrier
    integer, intent(out), optional :: ierror
    if (present(barrier)) then
      call conclude('quire_barrier_wait', c_barrier_wait(barrier), ierror)
    else
      call conclude('quire_barrier_wait', c_barrier_wait(quire_barrier(0)), ierror)
    end if
  end subroutine

  !> Takes the mutex if nobody has it.
  subroutine quire_mutex_try_lock(mutex, locked, ierror)
    type(quire_mutex), intent(in) :: mutex
    logical, intent(out) :: locked
    integer, intent(out), optional :: ierror
    integer(c_int) :: status
    status = c_mutex_try_lock(mutex)
    locked = status == QUIRE_OK
    call conclude('quire_mutex_try_lock', merge(int(QUIRE_OK, c_int), status, status == QUIRE_BUSY), ierror)
  end subroutine

  !> How many members a group has, and the number of this node's first one.
  subroutine quire_group_size(group, members, first, ierror)
    type(quire_group), intent(in) :: group
    integer, intent(out) :: members, first
    integer, intent(out), optional :: ierror
    integer(c_int32_t) :: all_members, of_node
    all_members = 0
    of_node = 0
    call conclude('quire_group_size', c_group_size(group, all_members, of_node), ierror)
    members = int(all_members)
    first = int(of_node)
  end subroutine

  !> Writes a checkpoint to the directory `path`; all nodes call.
  subroutine quire_checkpoint(path, ierror)
    character(*), intent(in) :: path
    integer, intent(out), optional :: ierror
    call conclude('quire_checkpoint', c_checkpoint(trim(path) // c_null_char), ierror)
  end subroutine

  !> Goes on from the newest checkpoint in the directory `path`: right after quire_start(), on all nodes. `restored` is false if there is none.
  subroutine quire_restore(path, restored, ierror)
    character(*), intent(in) :: path
    logical, intent(out) :: restored
    integer, intent(out), optional :: ierror
    integer(c_int) :: status
    status = c_restore(trim(path) // c_null_char)
    restored = status == QUIRE_OK
    call conclude('quire_restore', merge(int(QUIRE_OK, c_int), status, status == QUIRE_NOT_FOUND), ierror)
  end subroutine

  type(quire_group) function group_or_job(group)
    type(quire_group), intent(in), optional :: group
    group_or_job = quire_group(0)
    if (present(group)) group_or_job = group
  end function

  subroutine broadcast(values, bytes, root, group, ierror)
    type(c_ptr), intent(in) :: values
    integer(c_size_t), intent(in) :: bytes
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call conclude('quire_broadcast', c_group_broadcast(group_or_job(group), values, bytes, int(root, c_int32_t)), ierror)
  end subroutine

  !> Without elements there is nothing to combine, but threads meet all the same.
  logical function met_for_nothing(count, group, ierror)
    integer(c_size_t), intent(in) :: count
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    met_for_nothing = count == 0
    if (met_for_nothing) call conclude('quire_reduce', c_group_wait(group_or_job(group)), ierror)
  end function

  subroutine reduce_r8(values, count, operation, group, ierror)
    type(c_ptr), intent(in) :: values
    integer(c_size_t), intent(in) :: count
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call conclude('quire_reduce', c_group_reduce_f64(group_or_job(group), values, count, int(operation, c_int)), ierror)
  end subroutine

  subroutine reduce_i8(values, count, operation, group, ierror)
    type(c_ptr), intent(in) :: values
    integer(c_size_t), intent(in) :: count
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call conclude('quire_reduce', c_group_reduce_i64(group_or_job(group), values, count, int(operation, c_int)), ierror)
  end subroutine

  !> In double precision, rounded at the end.
  subroutine reduce_r4(values, count, operation, group, ierror)
    type(c_ptr), intent(in) :: values
    integer(c_size_t), intent(in) :: count
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    real(real32), pointer :: narrow(:)
    real(real64), allocatable, target :: wide(:)
    integer(c_int) :: status
    call c_f_pointer(values, narrow, [count])
    allocate(wide, source=real(narrow, real64))
    status = c_group_reduce_f64(group_or_job(group), c_loc(wide), count, int(operation, c_int))
    if (status == QUIRE_OK) narrow = real(wide, real32)
    call conclude('quire_reduce', status, ierror)
  end subroutine

  !> In 64 bits: QUIRE_INVALID on all nodes where a result does not fit.
  subroutine reduce_i4(values, count, operation, group, ierror)
    type(c_ptr), intent(in) :: values
    integer(c_size_t), intent(in) :: count
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    integer(int32), pointer :: narrow(:)
    integer(int64), allocatable, target :: wide(:)
    integer(c_int) :: status
    character(:), allocatable :: why
    why = ''
    call c_f_pointer(values, narrow, [count])
    allocate(wide, source=int(narrow, int64))
    status = c_group_reduce_i64(group_or_job(group), c_loc(wide), count, int(operation, c_int))
    if (status == QUIRE_OK .and. any(wide > huge(0_int32) .or. wide < -huge(0_int32) - 1_int64)) then
      status = QUIRE_INVALID
      why = 'a result does not fit into 32 bits: use integer(int64)'
    end if
    if (status == QUIRE_OK) narrow = int(wide, int32)
    call conclude('quire_reduce', status, ierror, why)
  end subroutine

  !> Sums only: complex numbers have no order, and their products no fixed rounding in parts.
  subroutine reduce_c8(values, count, operation, group, ierror)
    type(c_ptr), intent(in) :: values
    integer(c_size_t), intent(in) :: count
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (operation == QUIRE_SUM) then
      call reduce_r8(values, 2 * count, operation, group, ierror)
    else
      call conclude('quire_reduce', int(QUIRE_INVALID, c_int), ierror, 'complex numbers can be summed only: QUIRE_SUM')
    end if
  end subroutine

  ! ---- Calls of C -----------------------------------------------------------------------------------------------------------

  !> Destroys a region: its content and its addresses go on all nodes. One thread of any node calls, when nobody uses it any more.
  subroutine quire_region_destroy(region, ierror)
    type(quire_region), intent(in) :: region
    integer, intent(out), optional :: ierror
    call conclude('quire_region_destroy', c_region_destroy(region), ierror)
  end subroutine

  !> Changes what threads of different nodes see of each other's writes to a region. One thread of each node calls; a barrier of the job.
  subroutine quire_region_set_consistency(region, consistency, ierror)
    type(quire_region), intent(in) :: region
    integer, intent(in) :: consistency
    integer, intent(out), optional :: ierror
    call conclude('quire_region_set_consistency', c_region_set_consistency(region, int(consistency, c_int)), ierror)
  end subroutine

  !> Makes a mutex, for threads of all nodes.
  subroutine quire_mutex_create(mutex, ierror)
    type(quire_mutex), intent(out) :: mutex
    integer, intent(out), optional :: ierror
    call conclude('quire_mutex_create', c_mutex_create(mutex), ierror)
  end subroutine

  !> Waits until the calling thread has the mutex.
  subroutine quire_mutex_lock(mutex, ierror)
    type(quire_mutex), intent(in) :: mutex
    integer, intent(out), optional :: ierror
    call conclude('quire_mutex_lock', c_mutex_lock(mutex), ierror)
  end subroutine

  !> The same for at most so many milliseconds: QUIRE_TIMED_OUT. 0 does not wait: QUIRE_BUSY.
  subroutine quire_mutex_timed_lock(mutex, timeout_ms, ierror)
    type(quire_mutex), intent(in) :: mutex
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    call conclude('quire_mutex_timed_lock', c_mutex_timed_lock(mutex, int(timeout_ms, c_int64_t)), ierror)
  end subroutine

  !> Gives the mutex back: QUIRE_NOT_OWNER if the calling thread does not have it.
  subroutine quire_mutex_unlock(mutex, ierror)
    type(quire_mutex), intent(in) :: mutex
    integer, intent(out), optional :: ierror
    call conclude('quire_mutex_unlock', c_mutex_unlock(mutex), ierror)
  end subroutine

  !> Ends a mutex.
  subroutine quire_mutex_destroy(mutex, ierror)
    type(quire_mutex), intent(in) :: mutex
    integer, intent(out), optional :: ierror
    call conclude('quire_mutex_destroy', c_mutex_destroy(mutex), ierror)
  end subroutine

  !> Makes a lock for many readers or one writer.
  subroutine quire_rwlock_create(lock, ierror)
    type(quire_rwlock), intent(out) :: lock
    integer, intent(out), optional :: ierror
    call conclude('quire_rwlock_create', c_rwlock_create(lock), ierror)
  end subroutine

  !> Waits for the lock, to read. timeout_ms: negative waits for ever, 0 not at all (QUIRE_BUSY), else QUIRE_TIMED_OUT after that time.
  subroutine quire_rwlock_read_lock(lock, timeout_ms, ierror)
    type(quire_rwlock), intent(in) :: lock
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    call conclude('quire_rwlock_read_lock', c_rwlock_read_lock(lock, int(timeout_ms, c_int64_t)), ierror)
  end subroutine

  !> The same, to write.
  subroutine quire_rwlock_write_lock(lock, timeout_ms, ierror)
    type(quire_rwlock), intent(in) :: lock
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    call conclude('quire_rwlock_write_lock', c_rwlock_write_lock(lock, int(timeout_ms, c_int64_t)), ierror)
  end subroutine

  !> Gives the lock back.
  subroutine quire_rwlock_unlock(lock, ierror)
    type(quire_rwlock), intent(in) :: lock
    integer, intent(out), optional :: ierror
    call conclude('quire_rwlock_unlock', c_rwlock_unlock(lock), ierror)
  end subroutine

  !> Ends a lock.
  subroutine quire_rwlock_destroy(lock, ierror)
    type(quire_rwlock), intent(in) :: lock
    integer, intent(out), optional :: ierror
    call conclude('quire_rwlock_destroy', c_rwlock_destroy(lock), ierror)
  end subroutine

  !> Makes a condition.
  subroutine quire_condition_create(condition, ierror)
    type(quire_condition), intent(out) :: condition
    integer, intent(out), optional :: ierror
    call conclude('quire_condition_create', c_condition_create(condition), ierror)
  end subroutine

  !> Gives the mutex back, waits until it is notified, and has the mutex again, also after a time-out.
  subroutine quire_condition_wait(condition, mutex, timeout_ms, ierror)
    type(quire_condition), intent(in) :: condition
    type(quire_mutex), intent(in) :: mutex
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    call conclude('quire_condition_wait', c_condition_wait(condition, mutex, int(timeout_ms, c_int64_t)), ierror)
  end subroutine

  !> Wakes one thread that waits.
  subroutine quire_condition_notify_one(condition, ierror)
    type(quire_condition), intent(in) :: condition
    integer, intent(out), optional :: ierror
    call conclude('quire_condition_notify_one', c_condition_notify_one(condition), ierror)
  end subroutine

  !> Wakes all threads that wait.
  subroutine quire_condition_notify_all(condition, ierror)
    type(quire_condition), intent(in) :: condition
    integer, intent(out), optional :: ierror
    call conclude('quire_condition_notify_all', c_condition_notify_all(condition), ierror)
  end subroutine

  !> Ends a condition.
  subroutine quire_condition_destroy(condition, ierror)
    type(quire_condition), intent(in) :: condition
    integer, intent(out), optional :: ierror
    call conclude('quire_condition_destroy', c_condition_destroy(condition), ierror)
  end subroutine

  !> Makes a barrier for so many threads of whichever nodes.
  subroutine quire_barrier_create(participants, barrier, ierror)
    integer, intent(in) :: participants
    type(quire_barrier), intent(out) :: barrier
    integer, intent(out), optional :: ierror
    call conclude('quire_barrier_create', c_barrier_create(int(participants, c_int32_t), barrier), ierror)
  end subroutine

  !> Ends a barrier.
  subroutine quire_barrier_destroy(barrier, ierror)
    type(quire_barrier), intent(in) :: barrier
    integer, intent(out), optional :: ierror
    call conclude('quire_barrier_destroy', c_barrier_destroy(barrier), ierror)
  end subroutine

  !> Makes an event: once set it lets all pass, until it is reset.
  subroutine quire_event_create(event, ierror)
    type(quire_event), intent(out) :: event
    integer, intent(out), optional :: ierror
    call conclude('quire_event_create', c_event_create(event), ierror)
  end subroutine

  !> Sets the event.
  subroutine quire_event_set(event, ierror)
    type(quire_event), intent(in) :: event
    integer, intent(out), optional :: ierror
    call conclude('quire_event_set', c_event_set(event), ierror)
  end subroutine

  !> Resets the event.
  subroutine quire_event_reset(event, ierror)
    type(quire_event), intent(in) :: event
    integer, intent(out), optional :: ierror
    call conclude('quire_event_reset', c_event_reset(event), ierror)
  end subroutine

  !> Waits for the event. Times as of quire_rwlock_read_lock().
  subroutine quire_event_wait(event, timeout_ms, ierror)
    type(quire_event), intent(in) :: event
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    call conclude('quire_event_wait', c_event_wait(event, int(timeout_ms, c_int64_t)), ierror)
  end subroutine

  !> Ends an event.
  subroutine quire_event_destroy(event, ierror)
    type(quire_event), intent(in) :: event
    integer, intent(out), optional :: ierror
    call conclude('quire_event_destroy', c_event_destroy(event), ierror)
  end subroutine

  !> Makes a semaphore that counts from `initial` on.
  subroutine quire_semaphore_create(initial, semaphore, ierror)
    integer(int64), intent(in) :: initial
    type(quire_semaphore), intent(out) :: semaphore
    integer, intent(out), optional :: ierror
    call conclude('quire_semaphore_create', c_semaphore_create(int(initial, c_int64_t), semaphore), ierror)
  end subroutine

  !> Takes one. Times as of quire_rwlock_read_lock().
  subroutine quire_semaphore_acquire(semaphore, timeout_ms, ierror)
    type(quire_semaphore), intent(in) :: semaphore
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    call conclude('quire_semaphore_acquire', c_semaphore_acquire(semaphore, int(timeout_ms, c_int64_t)), ierror)
  end subroutine

  !> Gives `count` back.
  subroutine quire_semaphore_release(semaphore, count, ierror)
    type(quire_semaphore), intent(in) :: semaphore
    integer(int64), intent(in) :: count
    integer, intent(out), optional :: ierror
    call conclude('quire_semaphore_release', c_semaphore_release(semaphore, int(count, c_int64_t)), ierror)
  end subroutine

  !> Ends a semaphore.
  subroutine quire_semaphore_destroy(semaphore, ierror)
    type(quire_semaphore), intent(in) :: semaphore
    integer, intent(out), optional :: ierror
    call conclude('quire_semaphore_destroy', c_semaphore_destroy(semaphore), ierror)
  end subroutine

  !> Makes a group with `threads` threads of this node. One thread of each node calls; a barrier of the job.
  subroutine quire_group_create(threads, group, ierror)
    integer, intent(in) :: threads
    type(quire_group), intent(out) :: group
    integer, intent(out), optional :: ierror
    call conclude('quire_group_create', c_group_create(int(threads, c_int32_t), group), ierror)
  end subroutine

  !> Makes the calling thread a member, at a place of its node, from 0 on.
  subroutine quire_group_join(group, place, ierror)
    type(quire_group), intent(in) :: group
    integer, intent(in) :: place
    integer, intent(out), optional :: ierror
    call conclude('quire_group_join', c_group_join(group, int(place, c_int32_t)), ierror)
  end subroutine

  !> The calling thread is no member any more.
  subroutine quire_group_leave(group, ierror)
    type(quire_group), intent(in) :: group
    integer, intent(out), optional :: ierror
    call conclude('quire_group_leave', c_group_leave(group), ierror)
  end subroutine

  !> A barrier of all members.
  subroutine quire_group_wait(group, ierror)
    type(quire_group), intent(in) :: group
    integer, intent(out), optional :: ierror
    call conclude('quire_group_wait', c_group_wait(group), ierror)
  end subroutine

  !> Ends a group. One thread of each node calls; a barrier of the job.
  subroutine quire_group_destroy(group, ierror)
    type(quire_group), intent(in) :: group
    integer, intent(out), optional :: ierror
    call conclude('quire_group_destroy', c_group_destroy(group), ierror)
  end subroutine

  !> Ends an opening, and has the linker keep what was written. The container stays until it is removed.
  subroutine quire_container_close(container, ierror)
    type(quire_container), intent(in) :: container
    integer, intent(out), optional :: ierror
    call conclude('quire_container_close', c_container_close(container), ierror)
  end subroutine

  !> The region of a container, for hints and pins.
  subroutine quire_container_region(container, region, ierror)
    type(quire_container), intent(in) :: container
    type(quire_region), intent(out) :: region
    integer, intent(out), optional :: ierror
    call conclude('quire_container_region', c_container_region(container, region), ierror)
  end subroutine

  !> It has so many bytes from now on; what it gains is zero. quire_container_truncate() of C, whose name is that of a flag where case is nothing.
  subroutine quire_container_resize(container, bytes, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: bytes
    integer, intent(out), optional :: ierror
    call conclude('quire_container_resize', c_container_resize(container, int(bytes, c_int64_t)), ierror)
  end subroutine

  !> When it returns the file has what all nodes had written to these bytes, from byte `at` on, which is 0 for the first. `bytes` 0: to the end.
  subroutine quire_container_sync(container, at, bytes, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int64), intent(in) :: bytes
    integer, intent(out), optional :: ierror
    call conclude('quire_container_sync', c_container_sync(container, int(at, c_int64_t), int(bytes, c_int64_t)), ierror)
  end subroutine

  !> Forgets on all nodes what is in memory of these bytes: for when others have written the file. `bytes` 0: to the end.
  subroutine quire_container_drop(container, at, bytes, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int64), intent(in) :: bytes
    integer, intent(out), optional :: ierror
    call conclude('quire_container_drop', c_container_drop(container, int(at, c_int64_t), int(bytes, c_int64_t)), ierror)
  end subroutine

  ! ---- One procedure for each type and rank ---------------------------------------------------------------------------------

  subroutine shared_r4_1(a, shape, name, options, ierror)
    real(real32), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 1, 1, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r4_1_64(a, shape, name, options, ierror)
    real(real32), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 1, 1, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r4_2(a, shape, name, options, ierror)
    real(real32), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 1, 2, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r4_2_64(a, shape, name, options, ierror)
    real(real32), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 1, 2, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r4_3(a, shape, name, options, ierror)
    real(real32), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 1, 3, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r4_3_64(a, shape, name, options, ierror)
    real(real32), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 1, 3, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r4_4(a, shape, name, options, ierror)
    real(real32), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 1, 4, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r4_4_64(a, shape, name, options, ierror)
    real(real32), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 1, 4, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r8_1(a, shape, name, options, ierror)
    real(real64), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 2, 1, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r8_1_64(a, shape, name, options, ierror)
    real(real64), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 2, 1, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r8_2(a, shape, name, options, ierror)
    real(real64), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 2, 2, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r8_2_64(a, shape, name, options, ierror)
    real(real64), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 2, 2, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r8_3(a, shape, name, options, ierror)
    real(real64), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 2, 3, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r8_3_64(a, shape, name, options, ierror)
    real(real64), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 2, 3, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r8_4(a, shape, name, options, ierror)
    real(real64), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 2, 4, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_r8_4_64(a, shape, name, options, ierror)
    real(real64), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 2, 4, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i4_1(a, shape, name, options, ierror)
    integer(int32), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 3, 1, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i4_1_64(a, shape, name, options, ierror)
    integer(int32), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 3, 1, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i4_2(a, shape, name, options, ierror)
    integer(int32), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 3, 2, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i4_2_64(a, shape, name, options, ierror)
    integer(int32), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 3, 2, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i4_3(a, shape, name, options, ierror)
    integer(int32), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 3, 3, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i4_3_64(a, shape, name, options, ierror)
    integer(int32), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 3, 3, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i4_4(a, shape, name, options, ierror)
    integer(int32), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 3, 4, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i4_4_64(a, shape, name, options, ierror)
    integer(int32), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 3, 4, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i8_1(a, shape, name, options, ierror)
    integer(int64), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 4, 1, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i8_1_64(a, shape, name, options, ierror)
    integer(int64), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 4, 1, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i8_2(a, shape, name, options, ierror)
    integer(int64), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 4, 2, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i8_2_64(a, shape, name, options, ierror)
    integer(int64), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 4, 2, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i8_3(a, shape, name, options, ierror)
    integer(int64), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 4, 3, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i8_3_64(a, shape, name, options, ierror)
    integer(int64), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 4, 3, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i8_4(a, shape, name, options, ierror)
    integer(int64), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 4, 4, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_i8_4_64(a, shape, name, options, ierror)
    integer(int64), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 4, 4, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_c8_1(a, shape, name, options, ierror)
    complex(real64), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 5, 1, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_c8_1_64(a, shape, name, options, ierror)
    complex(real64), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 5, 1, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_c8_2(a, shape, name, options, ierror)
    complex(real64), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 5, 2, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_c8_2_64(a, shape, name, options, ierror)
    complex(real64), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 5, 2, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_c8_3(a, shape, name, options, ierror)
    complex(real64), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 5, 3, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_c8_3_64(a, shape, name, options, ierror)
    complex(real64), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 5, 3, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_c8_4(a, shape, name, options, ierror)
    complex(real64), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 5, 4, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine shared_c8_4_64(a, shape, name, options, ierror)
    complex(real64), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in), optional :: name
    type(quire_region_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (shared(address, int(shape, int64), storage_size(a) / 8, 5, 4, name, options, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r4_1(a, shape, name, timeout_ms, ierror)
    real(real32), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 1, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r4_1_64(a, shape, name, timeout_ms, ierror)
    real(real32), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 1, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r4_2(a, shape, name, timeout_ms, ierror)
    real(real32), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 2, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r4_2_64(a, shape, name, timeout_ms, ierror)
    real(real32), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 2, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r4_3(a, shape, name, timeout_ms, ierror)
    real(real32), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 3, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r4_3_64(a, shape, name, timeout_ms, ierror)
    real(real32), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 3, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r4_4(a, shape, name, timeout_ms, ierror)
    real(real32), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 4, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r4_4_64(a, shape, name, timeout_ms, ierror)
    real(real32), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 4, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r8_1(a, shape, name, timeout_ms, ierror)
    real(real64), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 1, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r8_1_64(a, shape, name, timeout_ms, ierror)
    real(real64), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 1, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r8_2(a, shape, name, timeout_ms, ierror)
    real(real64), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 2, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r8_2_64(a, shape, name, timeout_ms, ierror)
    real(real64), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 2, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r8_3(a, shape, name, timeout_ms, ierror)
    real(real64), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 3, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r8_3_64(a, shape, name, timeout_ms, ierror)
    real(real64), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 3, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r8_4(a, shape, name, timeout_ms, ierror)
    real(real64), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 4, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_r8_4_64(a, shape, name, timeout_ms, ierror)
    real(real64), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 4, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i4_1(a, shape, name, timeout_ms, ierror)
    integer(int32), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 1, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i4_1_64(a, shape, name, timeout_ms, ierror)
    integer(int32), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 1, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i4_2(a, shape, name, timeout_ms, ierror)
    integer(int32), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 2, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i4_2_64(a, shape, name, timeout_ms, ierror)
    integer(int32), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 2, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i4_3(a, shape, name, timeout_ms, ierror)
    integer(int32), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 3, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i4_3_64(a, shape, name, timeout_ms, ierror)
    integer(int32), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 3, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i4_4(a, shape, name, timeout_ms, ierror)
    integer(int32), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 4, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i4_4_64(a, shape, name, timeout_ms, ierror)
    integer(int32), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 4, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i8_1(a, shape, name, timeout_ms, ierror)
    integer(int64), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 1, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i8_1_64(a, shape, name, timeout_ms, ierror)
    integer(int64), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 1, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i8_2(a, shape, name, timeout_ms, ierror)
    integer(int64), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 2, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i8_2_64(a, shape, name, timeout_ms, ierror)
    integer(int64), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 2, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i8_3(a, shape, name, timeout_ms, ierror)
    integer(int64), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 3, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i8_3_64(a, shape, name, timeout_ms, ierror)
    integer(int64), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 3, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i8_4(a, shape, name, timeout_ms, ierror)
    integer(int64), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 4, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_i8_4_64(a, shape, name, timeout_ms, ierror)
    integer(int64), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 4, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_c8_1(a, shape, name, timeout_ms, ierror)
    complex(real64), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 1, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_c8_1_64(a, shape, name, timeout_ms, ierror)
    complex(real64), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 1, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_c8_2(a, shape, name, timeout_ms, ierror)
    complex(real64), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 2, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_c8_2_64(a, shape, name, timeout_ms, ierror)
    complex(real64), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 2, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_c8_3(a, shape, name, timeout_ms, ierror)
    complex(real64), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 3, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_c8_3_64(a, shape, name, timeout_ms, ierror)
    complex(real64), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 3, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_c8_4(a, shape, name, timeout_ms, ierror)
    complex(real64), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 4, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine find_c8_4_64(a, shape, name, timeout_ms, ierror)
    complex(real64), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (found(address, int(shape, int64), storage_size(a) / 8, 4, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)
  end subroutine

  subroutine free_r4_1(a, ierror)
    real(real32), pointer, intent(inout) :: a(:)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_r4_2(a, ierror)
    real(real32), pointer, intent(inout) :: a(:, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_r4_3(a, ierror)
    real(real32), pointer, intent(inout) :: a(:, :, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_r4_4(a, ierror)
    real(real32), pointer, intent(inout) :: a(:, :, :, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_r8_1(a, ierror)
    real(real64), pointer, intent(inout) :: a(:)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_r8_2(a, ierror)
    real(real64), pointer, intent(inout) :: a(:, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_r8_3(a, ierror)
    real(real64), pointer, intent(inout) :: a(:, :, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_r8_4(a, ierror)
    real(real64), pointer, intent(inout) :: a(:, :, :, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_i4_1(a, ierror)
    integer(int32), pointer, intent(inout) :: a(:)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_i4_2(a, ierror)
    integer(int32), pointer, intent(inout) :: a(:, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_i4_3(a, ierror)
    integer(int32), pointer, intent(inout) :: a(:, :, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_i4_4(a, ierror)
    integer(int32), pointer, intent(inout) :: a(:, :, :, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_i8_1(a, ierror)
    integer(int64), pointer, intent(inout) :: a(:)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_i8_2(a, ierror)
    integer(int64), pointer, intent(inout) :: a(:, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_i8_3(a, ierror)
    integer(int64), pointer, intent(inout) :: a(:, :, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_i8_4(a, ierror)
    integer(int64), pointer, intent(inout) :: a(:, :, :, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_c8_1(a, ierror)
    complex(real64), pointer, intent(inout) :: a(:)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_c8_2(a, ierror)
    complex(real64), pointer, intent(inout) :: a(:, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_c8_3(a, ierror)
    complex(real64), pointer, intent(inout) :: a(:, :, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine free_c8_4(a, ierror)
    complex(real64), pointer, intent(inout) :: a(:, :, :, :)
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    address = c_null_ptr
    if (associated(a)) address = first_of(a)
    if (freed(address, ierror)) nullify(a)
  end subroutine

  subroutine reduce_r4_0(values, operation, group, ierror)
    real(real32), target, intent(inout) :: values
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call reduce_r4(c_loc(values), 1_c_size_t, operation, group, ierror)
  end subroutine

  subroutine reduce_r4_1(values, operation, group, ierror)
    real(real32), target, intent(inout), contiguous :: values(:)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_r4(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_r4_2(values, operation, group, ierror)
    real(real32), target, intent(inout), contiguous :: values(:, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_r4(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_r4_3(values, operation, group, ierror)
    real(real32), target, intent(inout), contiguous :: values(:, :, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_r4(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_r4_4(values, operation, group, ierror)
    real(real32), target, intent(inout), contiguous :: values(:, :, :, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_r4(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_r8_0(values, operation, group, ierror)
    real(real64), target, intent(inout) :: values
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call reduce_r8(c_loc(values), 1_c_size_t, operation, group, ierror)
  end subroutine

  subroutine reduce_r8_1(values, operation, group, ierror)
    real(real64), target, intent(inout), contiguous :: values(:)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_r8(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_r8_2(values, operation, group, ierror)
    real(real64), target, intent(inout), contiguous :: values(:, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_r8(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_r8_3(values, operation, group, ierror)
    real(real64), target, intent(inout), contiguous :: values(:, :, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_r8(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_r8_4(values, operation, group, ierror)
    real(real64), target, intent(inout), contiguous :: values(:, :, :, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_r8(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_i4_0(values, operation, group, ierror)
    integer(int32), target, intent(inout) :: values
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call reduce_i4(c_loc(values), 1_c_size_t, operation, group, ierror)
  end subroutine

  subroutine reduce_i4_1(values, operation, group, ierror)
    integer(int32), target, intent(inout), contiguous :: values(:)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_i4(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_i4_2(values, operation, group, ierror)
    integer(int32), target, intent(inout), contiguous :: values(:, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_i4(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_i4_3(values, operation, group, ierror)
    integer(int32), target, intent(inout), contiguous :: values(:, :, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_i4(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_i4_4(values, operation, group, ierror)
    integer(int32), target, intent(inout), contiguous :: values(:, :, :, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_i4(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_i8_0(values, operation, group, ierror)
    integer(int64), target, intent(inout) :: values
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call reduce_i8(c_loc(values), 1_c_size_t, operation, group, ierror)
  end subroutine

  subroutine reduce_i8_1(values, operation, group, ierror)
    integer(int64), target, intent(inout), contiguous :: values(:)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_i8(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_i8_2(values, operation, group, ierror)
    integer(int64), target, intent(inout), contiguous :: values(:, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_i8(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_i8_3(values, operation, group, ierror)
    integer(int64), target, intent(inout), contiguous :: values(:, :, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_i8(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_i8_4(values, operation, group, ierror)
    integer(int64), target, intent(inout), contiguous :: values(:, :, :, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_i8(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_c8_0(values, operation, group, ierror)
    complex(real64), target, intent(inout) :: values
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call reduce_c8(c_loc(values), 1_c_size_t, operation, group, ierror)
  end subroutine

  subroutine reduce_c8_1(values, operation, group, ierror)
    complex(real64), target, intent(inout), contiguous :: values(:)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_c8(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_c8_2(values, operation, group, ierror)
    complex(real64), target, intent(inout), contiguous :: values(:, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_c8(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_c8_3(values, operation, group, ierror)
    complex(real64), target, intent(inout), contiguous :: values(:, :, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_c8(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine reduce_c8_4(values, operation, group, ierror)
    complex(real64), target, intent(inout), contiguous :: values(:, :, :, :)
    integer, intent(in) :: operation
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    if (met_for_nothing(size(values, kind=c_size_t), group, ierror)) return
    call reduce_c8(c_loc(values), size(values, kind=c_size_t), operation, group, ierror)
  end subroutine

  subroutine broadcast_r4_0(values, root, group, ierror)
    real(real32), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 1_c_size_t * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_r4_1(values, root, group, ierror)
    real(real32), target, intent(inout), contiguous :: values(:)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_r4_2(values, root, group, ierror)
    real(real32), target, intent(inout), contiguous :: values(:, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_r4_3(values, root, group, ierror)
    real(real32), target, intent(inout), contiguous :: values(:, :, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_r4_4(values, root, group, ierror)
    real(real32), target, intent(inout), contiguous :: values(:, :, :, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_r8_0(values, root, group, ierror)
    real(real64), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 1_c_size_t * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_r8_1(values, root, group, ierror)
    real(real64), target, intent(inout), contiguous :: values(:)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_r8_2(values, root, group, ierror)
    real(real64), target, intent(inout), contiguous :: values(:, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_r8_3(values, root, group, ierror)
    real(real64), target, intent(inout), contiguous :: values(:, :, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_r8_4(values, root, group, ierror)
    real(real64), target, intent(inout), contiguous :: values(:, :, :, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_i4_0(values, root, group, ierror)
    integer(int32), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 1_c_size_t * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_i4_1(values, root, group, ierror)
    integer(int32), target, intent(inout), contiguous :: values(:)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_i4_2(values, root, group, ierror)
    integer(int32), target, intent(inout), contiguous :: values(:, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_i4_3(values, root, group, ierror)
    integer(int32), target, intent(inout), contiguous :: values(:, :, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_i4_4(values, root, group, ierror)
    integer(int32), target, intent(inout), contiguous :: values(:, :, :, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_i8_0(values, root, group, ierror)
    integer(int64), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 1_c_size_t * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_i8_1(values, root, group, ierror)
    integer(int64), target, intent(inout), contiguous :: values(:)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_i8_2(values, root, group, ierror)
    integer(int64), target, intent(inout), contiguous :: values(:, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_i8_3(values, root, group, ierror)
    integer(int64), target, intent(inout), contiguous :: values(:, :, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_i8_4(values, root, group, ierror)
    integer(int64), target, intent(inout), contiguous :: values(:, :, :, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_c8_0(values, root, group, ierror)
    complex(real64), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 1_c_size_t * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_c8_1(values, root, group, ierror)
    complex(real64), target, intent(inout), contiguous :: values(:)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_c8_2(values, root, group, ierror)
    complex(real64), target, intent(inout), contiguous :: values(:, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_c8_3(values, root, group, ierror)
    complex(real64), target, intent(inout), contiguous :: values(:, :, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_c8_4(values, root, group, ierror)
    complex(real64), target, intent(inout), contiguous :: values(:, :, :, :)
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), root, group, ierror)
  end subroutine

  subroutine broadcast_region(values, root, group, ierror)
    type(quire_region), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 8_c_size_t, root, group, ierror)
  end subroutine

  subroutine broadcast_mutex(values, root, group, ierror)
    type(quire_mutex), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 8_c_size_t, root, group, ierror)
  end subroutine

  subroutine broadcast_rwlock(values, root, group, ierror)
    type(quire_rwlock), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 8_c_size_t, root, group, ierror)
  end subroutine

  subroutine broadcast_condition(values, root, group, ierror)
    type(quire_condition), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 8_c_size_t, root, group, ierror)
  end subroutine

  subroutine broadcast_barrier(values, root, group, ierror)
    type(quire_barrier), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 8_c_size_t, root, group, ierror)
  end subroutine

  subroutine broadcast_event(values, root, group, ierror)
    type(quire_event), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 8_c_size_t, root, group, ierror)
  end subroutine

  subroutine broadcast_semaphore(values, root, group, ierror)
    type(quire_semaphore), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 8_c_size_t, root, group, ierror)
  end subroutine

  subroutine broadcast_group(values, root, group, ierror)
    type(quire_group), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 8_c_size_t, root, group, ierror)
  end subroutine

  subroutine broadcast_remote_thread(values, root, group, ierror)
    type(quire_remote_thread), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), 8_c_size_t, root, group, ierror)
  end subroutine

  subroutine broadcast_text(values, root, group, ierror)
    character(*), target, intent(inout) :: values
    integer, intent(in) :: root
    type(quire_group), intent(in), optional :: group
    integer, intent(out), optional :: ierror
    call broadcast(c_loc(values), len(values, kind=c_size_t), root, group, ierror)
  end subroutine

  subroutine publish_region(name, handle, ierror)
    character(*), intent(in) :: name
    type(quire_region), intent(in) :: handle
    integer, intent(out), optional :: ierror
    call publish_word(name, handle%id, ierror)
  end subroutine

  subroutine publish_mutex(name, handle, ierror)
    character(*), intent(in) :: name
    type(quire_mutex), intent(in) :: handle
    integer, intent(out), optional :: ierror
    call publish_word(name, handle%id, ierror)
  end subroutine

  subroutine publish_rwlock(name, handle, ierror)
    character(*), intent(in) :: name
    type(quire_rwlock), intent(in) :: handle
    integer, intent(out), optional :: ierror
    call publish_word(name, handle%id, ierror)
  end subroutine

  subroutine publish_condition(name, handle, ierror)
    character(*), intent(in) :: name
    type(quire_condition), intent(in) :: handle
    integer, intent(out), optional :: ierror
    call publish_word(name, handle%id, ierror)
  end subroutine

  subroutine publish_barrier(name, handle, ierror)
    character(*), intent(in) :: name
    type(quire_barrier), intent(in) :: handle
    integer, intent(out), optional :: ierror
    call publish_word(name, handle%id, ierror)
  end subroutine

  subroutine publish_event(name, handle, ierror)
    character(*), intent(in) :: name
    type(quire_event), intent(in) :: handle
    integer, intent(out), optional :: ierror
    call publish_word(name, handle%id, ierror)
  end subroutine

  subroutine publish_semaphore(name, handle, ierror)
    character(*), intent(in) :: name
    type(quire_semaphore), intent(in) :: handle
    integer, intent(out), optional :: ierror
    call publish_word(name, handle%id, ierror)
  end subroutine

  subroutine publish_group(name, handle, ierror)
    character(*), intent(in) :: name
    type(quire_group), intent(in) :: handle
    integer, intent(out), optional :: ierror
    call publish_word(name, handle%id, ierror)
  end subroutine

  subroutine publish_remote_thread(name, handle, ierror)
    character(*), intent(in) :: name
    type(quire_remote_thread), intent(in) :: handle
    integer, intent(out), optional :: ierror
    call publish_word(name, handle%id, ierror)
  end subroutine

  subroutine lookup_region(name, timeout_ms, handle, ierror)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    type(quire_region), intent(out) :: handle
    integer, intent(out), optional :: ierror
    call lookup_word(name, timeout_ms, handle%id, ierror)
  end subroutine

  subroutine lookup_mutex(name, timeout_ms, handle, ierror)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    type(quire_mutex), intent(out) :: handle
    integer, intent(out), optional :: ierror
    call lookup_word(name, timeout_ms, handle%id, ierror)
  end subroutine

  subroutine lookup_rwlock(name, timeout_ms, handle, ierror)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    type(quire_rwlock), intent(out) :: handle
    integer, intent(out), optional :: ierror
    call lookup_word(name, timeout_ms, handle%id, ierror)
  end subroutine

  subroutine lookup_condition(name, timeout_ms, handle, ierror)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    type(quire_condition), intent(out) :: handle
    integer, intent(out), optional :: ierror
    call lookup_word(name, timeout_ms, handle%id, ierror)
  end subroutine

  subroutine lookup_barrier(name, timeout_ms, handle, ierror)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    type(quire_barrier), intent(out) :: handle
    integer, intent(out), optional :: ierror
    call lookup_word(name, timeout_ms, handle%id, ierror)
  end subroutine

  subroutine lookup_event(name, timeout_ms, handle, ierror)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    type(quire_event), intent(out) :: handle
    integer, intent(out), optional :: ierror
    call lookup_word(name, timeout_ms, handle%id, ierror)
  end subroutine

  subroutine lookup_semaphore(name, timeout_ms, handle, ierror)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    type(quire_semaphore), intent(out) :: handle
    integer, intent(out), optional :: ierror
    call lookup_word(name, timeout_ms, handle%id, ierror)
  end subroutine

  subroutine lookup_group(name, timeout_ms, handle, ierror)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    type(quire_group), intent(out) :: handle
    integer, intent(out), optional :: ierror
    call lookup_word(name, timeout_ms, handle%id, ierror)
  end subroutine

  subroutine lookup_remote_thread(name, timeout_ms, handle, ierror)
    character(*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    type(quire_remote_thread), intent(out) :: handle
    integer, intent(out), optional :: ierror
    call lookup_word(name, timeout_ms, handle%id, ierror)
  end subroutine

  subroutine map_r4_1(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real32), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 1, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r4_1_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real32), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 1, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r4_2(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real32), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 2, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r4_2_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real32), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 2, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r4_3(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real32), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 3, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r4_3_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real32), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 3, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r4_4(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real32), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 4, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r4_4_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real32), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 4, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r8_1(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real64), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 1, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r8_1_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real64), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 1, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r8_2(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real64), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 2, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r8_2_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real64), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 2, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r8_3(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real64), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 3, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r8_3_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real64), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 3, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r8_4(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real64), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 4, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_r8_4_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    real(real64), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 4, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i4_1(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int32), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 1, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i4_1_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int32), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 1, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i4_2(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int32), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 2, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i4_2_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int32), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 2, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i4_3(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int32), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 3, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i4_3_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int32), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 3, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i4_4(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int32), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 4, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i4_4_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int32), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 4, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i8_1(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 1, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i8_1_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 1, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i8_2(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 2, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i8_2_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 2, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i8_3(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 3, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i8_3_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 3, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i8_4(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 4, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_i8_4_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 4, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_c8_1(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    complex(real64), pointer, intent(out) :: a(:)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 1, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_c8_1_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    complex(real64), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 1, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_c8_2(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    complex(real64), pointer, intent(out) :: a(:, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 2, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_c8_2_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    complex(real64), pointer, intent(out) :: a(:, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 2, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_c8_3(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    complex(real64), pointer, intent(out) :: a(:, :, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 3, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_c8_3_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    complex(real64), pointer, intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 3, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_c8_4(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    complex(real64), pointer, intent(out) :: a(:, :, :, :)
    integer(int32), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 4, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine map_c8_4_64(container, a, shape, at, ierror)
    type(quire_container), intent(in) :: container
    complex(real64), pointer, intent(out) :: a(:, :, :, :)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: at
    integer, intent(out), optional :: ierror
    type(c_ptr) :: address
    nullify(a)
    if (mapped(container, address, int(shape, int64), storage_size(a) / 8, 4, at, ierror)) &
      call c_f_pointer(address, a, shape)
  end subroutine

  subroutine read_r4_0(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real32), target, intent(inout) :: values
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), 1_c_size_t * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_r4_1(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real32), target, intent(inout), contiguous :: values(:)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_r4_2(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real32), target, intent(inout), contiguous :: values(:, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_r4_3(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real32), target, intent(inout), contiguous :: values(:, :, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_r4_4(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real32), target, intent(inout), contiguous :: values(:, :, :, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_r8_0(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real64), target, intent(inout) :: values
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), 1_c_size_t * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_r8_1(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real64), target, intent(inout), contiguous :: values(:)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_r8_2(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real64), target, intent(inout), contiguous :: values(:, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_r8_3(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real64), target, intent(inout), contiguous :: values(:, :, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_r8_4(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real64), target, intent(inout), contiguous :: values(:, :, :, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_i4_0(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int32), target, intent(inout) :: values
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), 1_c_size_t * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_i4_1(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int32), target, intent(inout), contiguous :: values(:)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_i4_2(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int32), target, intent(inout), contiguous :: values(:, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_i4_3(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int32), target, intent(inout), contiguous :: values(:, :, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_i4_4(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int32), target, intent(inout), contiguous :: values(:, :, :, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_i8_0(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int64), target, intent(inout) :: values
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), 1_c_size_t * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_i8_1(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int64), target, intent(inout), contiguous :: values(:)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_i8_2(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int64), target, intent(inout), contiguous :: values(:, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_i8_3(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int64), target, intent(inout), contiguous :: values(:, :, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_i8_4(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int64), target, intent(inout), contiguous :: values(:, :, :, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_c8_0(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    complex(real64), target, intent(inout) :: values
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), 1_c_size_t * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_c8_1(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    complex(real64), target, intent(inout), contiguous :: values(:)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_c8_2(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    complex(real64), target, intent(inout), contiguous :: values(:, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_c8_3(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    complex(real64), target, intent(inout), contiguous :: values(:, :, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_c8_4(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    complex(real64), target, intent(inout), contiguous :: values(:, :, :, :)
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), done, ierror)
  end subroutine

  subroutine read_text(container, at, values, done, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    character(*), target, intent(inout) :: values
    integer(int64), intent(out), optional :: done
    integer, intent(out), optional :: ierror
    call read_content(container, at, c_loc(values), len(values, kind=c_size_t), done, ierror)
  end subroutine

  subroutine write_r4_0(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real32), target, intent(in) :: values
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), 1_c_size_t * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_r4_1(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real32), target, intent(in), contiguous :: values(:)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_r4_2(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real32), target, intent(in), contiguous :: values(:, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_r4_3(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real32), target, intent(in), contiguous :: values(:, :, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_r4_4(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real32), target, intent(in), contiguous :: values(:, :, :, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_r8_0(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real64), target, intent(in) :: values
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), 1_c_size_t * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_r8_1(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real64), target, intent(in), contiguous :: values(:)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_r8_2(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real64), target, intent(in), contiguous :: values(:, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_r8_3(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real64), target, intent(in), contiguous :: values(:, :, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_r8_4(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    real(real64), target, intent(in), contiguous :: values(:, :, :, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_i4_0(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int32), target, intent(in) :: values
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), 1_c_size_t * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_i4_1(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int32), target, intent(in), contiguous :: values(:)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_i4_2(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int32), target, intent(in), contiguous :: values(:, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_i4_3(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int32), target, intent(in), contiguous :: values(:, :, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_i4_4(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int32), target, intent(in), contiguous :: values(:, :, :, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_i8_0(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int64), target, intent(in) :: values
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), 1_c_size_t * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_i8_1(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int64), target, intent(in), contiguous :: values(:)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_i8_2(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int64), target, intent(in), contiguous :: values(:, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_i8_3(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int64), target, intent(in), contiguous :: values(:, :, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_i8_4(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    integer(int64), target, intent(in), contiguous :: values(:, :, :, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_c8_0(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    complex(real64), target, intent(in) :: values
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), 1_c_size_t * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_c8_1(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    complex(real64), target, intent(in), contiguous :: values(:)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_c8_2(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    complex(real64), target, intent(in), contiguous :: values(:, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_c8_3(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    complex(real64), target, intent(in), contiguous :: values(:, :, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_c8_4(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    complex(real64), target, intent(in), contiguous :: values(:, :, :, :)
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), ierror)
  end subroutine

  subroutine write_text(container, at, values, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), intent(in) :: at
    character(*), target, intent(in) :: values
    integer, intent(out), optional :: ierror
    call write_content(container, at, c_loc(values), len(values, kind=c_size_t), ierror)
  end subroutine

  subroutine append_r4_0(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    real(real32), target, intent(in) :: values
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), 1_c_size_t * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_r4_1(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    real(real32), target, intent(in), contiguous :: values(:)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_r4_2(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    real(real32), target, intent(in), contiguous :: values(:, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_r4_3(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    real(real32), target, intent(in), contiguous :: values(:, :, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_r4_4(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    real(real32), target, intent(in), contiguous :: values(:, :, :, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_r8_0(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    real(real64), target, intent(in) :: values
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), 1_c_size_t * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_r8_1(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    real(real64), target, intent(in), contiguous :: values(:)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_r8_2(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    real(real64), target, intent(in), contiguous :: values(:, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_r8_3(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    real(real64), target, intent(in), contiguous :: values(:, :, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_r8_4(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    real(real64), target, intent(in), contiguous :: values(:, :, :, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_i4_0(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int32), target, intent(in) :: values
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), 1_c_size_t * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_i4_1(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int32), target, intent(in), contiguous :: values(:)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_i4_2(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int32), target, intent(in), contiguous :: values(:, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_i4_3(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int32), target, intent(in), contiguous :: values(:, :, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_i4_4(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int32), target, intent(in), contiguous :: values(:, :, :, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_i8_0(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), target, intent(in) :: values
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), 1_c_size_t * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_i8_1(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), target, intent(in), contiguous :: values(:)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_i8_2(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), target, intent(in), contiguous :: values(:, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_i8_3(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), target, intent(in), contiguous :: values(:, :, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_i8_4(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    integer(int64), target, intent(in), contiguous :: values(:, :, :, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_c8_0(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    complex(real64), target, intent(in) :: values
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), 1_c_size_t * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_c8_1(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    complex(real64), target, intent(in), contiguous :: values(:)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_c8_2(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    complex(real64), target, intent(in), contiguous :: values(:, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_c8_3(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    complex(real64), target, intent(in), contiguous :: values(:, :, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_c8_4(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    complex(real64), target, intent(in), contiguous :: values(:, :, :, :)
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), size(values, kind=c_size_t) * (storage_size(values) / 8), at, ierror)
  end subroutine

  subroutine append_text(container, values, at, ierror)
    type(quire_container), intent(in) :: container
    character(*), target, intent(in) :: values
    integer(int64), intent(out), optional :: at
    integer, intent(out), optional :: ierror
    call append_content(container, c_loc(values), len(values, kind=c_size_t), at, ierror)
  end subroutine

end module
