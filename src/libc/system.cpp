// SPDX-License-Identifier: BSD-3-Clause
// Message queues, System V's queues and semaphores, and what a process asks of the system beside files and time. What
// is for an administrator alone is not here (tests/openmp/kernel_calls.py).
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/klog.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <grp.h>

#include "libc/copies.hpp"

using namespace quire::api::calls;

static std::size_t length(int count) noexcept { return count > 0 ? static_cast<std::size_t>(count) : 0; }

// The third and fourth argument stand in the same registers whether they are there or not.
QUIRE_OWN(mqd_t, mq_open, (const char* name, int flags, mode_t mode, const mq_attr* about)) {
  return make<mqd_t>(row_mq_open, text(name), flags, mode, in((flags & O_CREAT) != 0 ? about : nullptr));
}
QUIRE_OWN(mqd_t, __mq_open_2, (const char* name, int flags)) { return quire_own_mq_open(name, flags, 0, nullptr); }
QUIRE_CALL(int, mq_unlink, (const char* name), text(name))
QUIRE_CALL(int, mq_getattr, (mqd_t queue, mq_attr* to), queue, both(to))
QUIRE_CALL(int, mq_setattr, (mqd_t queue, const mq_attr* now, mq_attr* before), queue, in(now), both(before))
QUIRE_CALL(int, mq_send, (mqd_t queue, const char* from, size_t n, unsigned priority), queue, in(from, n), n, priority)
QUIRE_CALL(int, mq_timedsend, (mqd_t queue, const char* from, size_t n, unsigned priority, const timespec* until),
           queue, in(from, n), n, priority, in(until))
QUIRE_CALL(ssize_t, mq_receive, (mqd_t queue, char* to, size_t n, unsigned* priority), queue, out(to, n), n,
           both(priority))
QUIRE_CALL(ssize_t, mq_timedreceive, (mqd_t queue, char* to, size_t n, unsigned* priority, const timespec* until),
           queue, out(to, n), n, both(priority), in(until))

// A message begins with its type.
QUIRE_CALL(int, msgsnd, (int queue, const void* from, size_t n, int flags), queue,
           in(static_cast<const char*>(from), std::min(n, most_bytes) + sizeof(long)), n, flags)
QUIRE_CALL(ssize_t, msgrcv, (int queue, void* to, size_t n, long type, int flags), queue,
           structure(to, std::min(n, most_bytes) + sizeof(long)), n, type, flags)
QUIRE_CALL(int, msgctl, (int queue, int what, msqid_ds* about), queue, what, both(about))
QUIRE_CALL(int, semop, (int set, sembuf* list, size_t n), set, in(list, std::min(n, most_bytes / 16) * sizeof *list), n)
QUIRE_CALL(int, semtimedop, (int set, sembuf* list, size_t n, const timespec* limit), set,
           in(list, std::min(n, most_bytes / 16) * sizeof *list), n, in(limit))
/// A number, a structure, or a number for each semaphore, of which there are so many at most.
QUIRE_OWN(int, semctl, (int set, int which, int what, void* argument)) {
  constexpr std::size_t most = 65536;
  if (what == SETVAL) return make<int>(row_semctl, set, which, what, argument);
  return make<int>(row_semctl, set, which, what,
                   structure(argument, what == GETALL || what == SETALL ? most * 2 : sizeof(semid_ds)));
}
QUIRE_CALL(int, shmctl, (int segment, int what, shmid_ds* about), segment, what, both(about))

QUIRE_CALL(ssize_t, process_vm_readv,
           (pid_t whose, const iovec* to, unsigned long n, const iovec* from, unsigned long count, unsigned long flags),
           whose, parts<way::out>(to, n), n, in(from, std::min<unsigned long>(count, IOV_MAX) * sizeof *from), count,
           flags)
QUIRE_CALL(ssize_t, process_vm_writev,
           (pid_t whose, const iovec* from, unsigned long n, const iovec* to, unsigned long count, unsigned long flags),
           whose, parts<way::in>(from, n), n, in(to, std::min<unsigned long>(count, IOV_MAX) * sizeof *to), count,
           flags)

/// By its first argument the second is a number, a name or where a number goes.
QUIRE_OWN(int, prctl, (int what, unsigned long a, unsigned long b, unsigned long c, unsigned long d)) {
  constexpr std::size_t name_bytes = 16;
  auto* const at = reinterpret_cast<char*>(a);
  switch (what) {
    case PR_SET_NAME:
      return make<int>(row_prctl, what, text(at, name_bytes), b, c, d);
    case PR_GET_NAME:
      return make<int>(row_prctl, what, both(at, name_bytes), b, c, d);
    case PR_GET_TID_ADDRESS:
      return make<int>(row_prctl, what, both(at, sizeof(void*)), b, c, d);
    case PR_GET_PDEATHSIG:
    case PR_GET_TSC:
    case PR_GET_UNALIGN:
    case PR_GET_FPEMU:
    case PR_GET_FPEXC:
    case PR_GET_ENDIAN:
    case PR_GET_CHILD_SUBREAPER:
      return make<int>(row_prctl, what, both(at, sizeof(int)), b, c, d);
    default:
      return make<int>(row_prctl, what, a, b, c, d);
  }
}

QUIRE_CALL(int, sched_rr_get_interval, (pid_t whose, timespec* to), whose, both(to))
QUIRE_CALL(int, adjtimex, (timex * about), both(about))
QUIRE_CALL(int, ntp_adjtime, (timex * about), both(about))
QUIRE_CALL(int, clock_adjtime, (clockid_t clock, timex* about), clock, both(about))
QUIRE_CALL(int, settimeofday, (const timeval* time, const struct timezone* zone), in(time), in(zone))
QUIRE_CALL(int, setgroups, (size_t n, const gid_t* list), n, in(list, std::min(n, most_bytes / 4) * sizeof *list))
QUIRE_CALL(int, sethostname, (const char* name, size_t n), in(name, n), n)
QUIRE_CALL(int, setdomainname, (const char* name, size_t n), in(name, n), n)
QUIRE_CALL(int, klogctl, (int what, char* to, int n), what, out(to, length(n)), n)
QUIRE_CALL(int, capget, (void* whose, void* to), both(static_cast<char*>(whose), 8), both(static_cast<char*>(to), 24))
QUIRE_CALL(int, capset, (void* whose, const void* now), both(static_cast<char*>(whose), 8),
           in(static_cast<const char*>(now), 24))
