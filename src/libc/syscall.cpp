// SPDX-License-Identifier: BSD-3-Clause
// syscall(2): the same table by number, and futex, whose word must stay where it is.
#include <linux/futex.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "libc/copies.hpp"
#include "runtime/forward.hpp"
#include "core/fault_ranges.hpp"

using namespace quire::api::calls;

namespace {

quire_status touch(std::uint64_t address, std::uint64_t bytes, quire::model::access want) {
  QUIRE_FORWARD(touch, address, bytes, want);
  QUIRE_ENTER(r);
  return touch_range(*r->core, address, bytes, want).code();
}

using real_syscall = long(long, ...);

/// Others leave the argument away, and what is in its place may be any address.
bool has_second_word(int what) noexcept {
  return what == FUTEX_REQUEUE || what == FUTEX_CMP_REQUEUE || what == FUTEX_WAKE_OP || what == FUTEX_WAIT_REQUEUE_PI ||
         what == FUTEX_CMP_REQUEUE_PI;
}

/// Sleeping and waking on a shared word: its page must be here when the kernel looks. EFAULT tells that nothing was
/// done, so that trying again is right. (A time limit lies in private memory, or is exchanged.)
long futex(real_syscall* real, long word, long op, long value, long timeout, long other, long value3) {
  const int what = static_cast<int>(op) & FUTEX_CMD_MASK;
  const bool timed =
      what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET || what == FUTEX_LOCK_PI || what == FUTEX_WAIT_REQUEUE_PI;
  timespec limit{};
  if (timed && is_away(reinterpret_cast<void*>(timeout))) {
    limit = *reinterpret_cast<const timespec*>(timeout);
    timeout = reinterpret_cast<long>(&limit);
  }
  for (;;) {
    for (const long address : {word, has_second_word(what) ? other : 0}) {
      if (!is_away(reinterpret_cast<void*>(address)) ||
          touch(static_cast<std::uint64_t>(address), 4, quire::model::access::write) == QUIRE_OK)
        continue;
      errno = EFAULT;  // transactional memory: nothing wakes who sleeps there
      return -1;
    }
    const long result = real(SYS_futex, word, op, value, timeout, other, value3);
    if (result != -1 || errno != EFAULT || !is_away(reinterpret_cast<void*>(word))) return result;
  }
}

std::size_t length_at(long address) noexcept {
  const auto* const at = reinterpret_cast<const socklen_t*>(address);
  return at != nullptr && !any_closed(at, sizeof *at) ? *at : 0;
}

}  // namespace

// Six arguments are there to be read whether the caller has given them or not.
QUIRE_OWN(long, syscall, (long number, long a, long b, long c, long d, long e, long f)) {
  const auto at = [](long address) { return reinterpret_cast<char*>(address); };
  const auto name = [](long address) { return text(reinterpret_cast<const char*>(address)); };
  const auto vector = [](long address) { return reinterpret_cast<const iovec*>(address); };
  const auto size = [](long count) { return static_cast<std::size_t>(count); };
  const auto run = [number](auto... arguments) { return make<long>(row_syscall, number, arguments...); };
  switch (number) {
    case SYS_read:
      return run(a, out(at(b), size(c)), c);
    case SYS_write:
      return run(a, in(at(b), size(c)), c);
    case SYS_pread64:
      return run(a, out(at(b), size(c)), c, d);
    case SYS_pwrite64:
      return run(a, in(at(b), size(c)), c, d);
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
      return run(a, parts<way::out>(vector(b), size(c)), c, d, e, f);
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
      return run(a, parts<way::in>(vector(b), size(c)), c, d, e, f);
    case SYS_sendto:
      return run(a, in(at(b), size(c)), c, d, in(at(e), size(f)), f);
    case SYS_recvfrom:
      return run(a, out(at(b), size(c)), c, d, both(at(e), e != 0 ? length_at(f) : 0), both(at(f), sizeof(socklen_t)));
    case SYS_sendmsg:
      return run(a, message<way::in>(reinterpret_cast<const msghdr*>(b)), c);
    case SYS_recvmsg:
      return run(a, message<way::out>(reinterpret_cast<msghdr*>(b)), c);
    case SYS_getrandom:
      return run(out(at(a), size(b)), b, c);
    case SYS_getdents64:
      return run(a, out(at(b), size(c)), c);
    case SYS_sendfile:
      return run(a, b, both(at(c), sizeof(off_t)), d);
    case SYS_copy_file_range:
    case SYS_splice:
      return run(a, both(at(b), sizeof(off_t)), c, both(at(d), sizeof(off_t)), e, f);
    case SYS_openat:
      return run(a, name(b), c, d);
    case SYS_mkdirat:
    case SYS_unlinkat:
    case SYS_faccessat:
      return run(a, name(b), c);
    case SYS_renameat2:
      return run(a, name(b), c, name(d), e);
    case SYS_readlinkat:
      return run(a, name(b), out(at(c), size(d)), d);
    case SYS_getcwd:
      return run(out(at(a), size(b)), b);
    case SYS_fstat:
      return run(a, both(at(b), sizeof(struct stat)));
    case SYS_newfstatat:
      return run(a, name(b), both(at(c), sizeof(struct stat)), d);
    case SYS_statx:
      return run(a, name(b), c, d, both(at(e), sizeof(struct statx)));
    case SYS_ppoll:
      return run(both(at(a), size(b) * sizeof(pollfd)), b, both(at(c), sizeof(timespec)), in(at(d), size(e)), e);
    case SYS_epoll_pwait: {
      constexpr std::size_t one = sizeof(epoll_event);
      return run(a, out(at(b), c > 0 ? size(c) * one : 0, one), c, d, in(at(e), size(f)), f);
    }
    case SYS_nanosleep:
      return run(in(at(a), sizeof(timespec)), both(at(b), sizeof(timespec)));
    case SYS_clock_nanosleep:
      return run(a, b, in(at(c), sizeof(timespec)), both(at(d), sizeof(timespec)));
    case SYS_clock_gettime:
      return run(a, both(at(b), sizeof(timespec)));
    case SYS_getrusage:
      return run(a, both(at(b), sizeof(rusage)));
    case SYS_prlimit64:
      return run(a, b, in(at(c), sizeof(rlimit)), both(at(d), sizeof(rlimit)));
    case SYS_wait4:
      return run(a, both(at(b), sizeof(int)), c, both(at(d), sizeof(rusage)));
    case SYS_memfd_create:
      return run(name(a), b);
    case SYS_execve:
      return run(name(a), texts(reinterpret_cast<char* const*>(b)), texts(reinterpret_cast<char* const*>(c)));
    case SYS_futex:
      return futex(real_of<real_syscall>(row_syscall), a, b, c, d, e, f);
    default:
      return real_of<real_syscall>(row_syscall)(number, a, b, c, d, e, f);
  }
}
