// SPDX-License-Identifier: BSD-3-Clause
// Waiting for descriptors, clocks, timers and signals.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

#include "libc/copies.hpp"
#include "libc/signals.hpp"
#include "base/clock.hpp"

using namespace quire::api::calls;

extern "C" [[noreturn]] void __chk_fail(void);

static bytes<way::both, pollfd> list(pollfd* at, nfds_t count) noexcept {
  return {at, std::min<nfds_t>(count, 1u << 20) * sizeof *at};
}
/// The kernel looks at as many words as hold the descriptors.
static bytes<way::both, fd_set> set(fd_set* at, int descriptors) noexcept {
  constexpr int word = 64;
  return {at, descriptors > 0 ? static_cast<std::size_t>((descriptors - 1) / word + 1) * 8 : 0};
}
static bytes<way::out, epoll_event> events(epoll_event* at, int most) noexcept {
  return {at, most > 0 ? static_cast<std::size_t>(most) * sizeof *at : 0, sizeof *at};
}

QUIRE_CALL(int, poll, (pollfd * all, nfds_t n, int timeout), list(all, n), n, timeout)
// Handlers run under the mask that such a call sets, and may touch shared memory.
QUIRE_OWN(int, ppoll, (pollfd * all, nfds_t n, const timespec* timeout, const sigset_t* mask)) {
  const harmless allowed(mask);
  return make<int>(row_ppoll, list(all, n), n, in(timeout), in(allowed.use));
}
QUIRE_CALL(int, select, (int n, fd_set* read, fd_set* write, fd_set* other, timeval* timeout), n, set(read, n),
           set(write, n), set(other, n), both(timeout))
QUIRE_OWN(int, pselect,
          (int n, fd_set* read, fd_set* write, fd_set* other, const timespec* timeout, const sigset_t* mask)) {
  const harmless allowed(mask);
  return make<int>(row_pselect, n, set(read, n), set(write, n), set(other, n), in(timeout), in(allowed.use));
}
QUIRE_CALL(int, epoll_ctl, (int fd, int what, int which, epoll_event* event), fd, what, which, in(event))
QUIRE_CALL(int, epoll_wait, (int fd, epoll_event* to, int most, int timeout), fd, events(to, most), most, timeout)
QUIRE_OWN(int, epoll_pwait, (int fd, epoll_event* to, int most, int timeout, const sigset_t* mask)) {
  const harmless allowed(mask);
  return make<int>(row_epoll_pwait, fd, events(to, most), most, timeout, in(allowed.use));
}
QUIRE_OWN(int, epoll_pwait2, (int fd, epoll_event* to, int most, const timespec* timeout, const sigset_t* mask)) {
  const harmless allowed(mask);
  return make<int>(row_epoll_pwait2, fd, events(to, most), most, in(timeout), in(allowed.use));
}

QUIRE_CALL(int, nanosleep, (const timespec* time, timespec* left), in(time), both(left))
QUIRE_CALL(int, clock_nanosleep, (clockid_t clock, int flags, const timespec* time, timespec* left), clock, flags,
           in(time), both(left))
/// The kernel's code in user space stores the time itself, as the program would: nothing is to be copied. Where it asks
/// the kernel, that may find no page.
QUIRE_OWN(int, clock_gettime, (clockid_t clock, timespec* to)) {
  if (quire::base::kernel_clock != nullptr && quire::base::kernel_clock(clock, to) == 0) return 0;
  return make<int>(row_clock_gettime, clock, both(to));
}
QUIRE_CALL(int, clock_getres, (clockid_t clock, timespec* to), clock, both(to))
QUIRE_CALL(int, clock_settime, (clockid_t clock, const timespec* time), clock, in(time))
QUIRE_OWN(int, gettimeofday, (timeval * to, void* zone)) {
  timespec now;
  if (to == nullptr || zone != nullptr || quire_own_clock_gettime(CLOCK_REALTIME, &now) != 0)
    return make<int>(row_gettimeofday, both(to), zone);
  *to = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}
QUIRE_CALL(int, getitimer, (int which, itimerval* to), which, both(to))
QUIRE_CALL(int, setitimer, (int which, const itimerval* now, itimerval* before), which, in(now), both(before))
QUIRE_CALL(int, timer_settime, (timer_t which, int flags, const itimerspec* now, itimerspec* before), which, flags,
           in(now), both(before))
QUIRE_CALL(int, timer_gettime, (timer_t which, itimerspec* to), which, both(to))
QUIRE_CALL(int, timerfd_settime, (int fd, int flags, const itimerspec* now, itimerspec* before), fd, flags, in(now),
           both(before))
QUIRE_CALL(int, timerfd_gettime, (int fd, itimerspec* to), fd, both(to))

QUIRE_CALL(int, sigwaitinfo, (const sigset_t* which, siginfo_t* to), in(which), both(to))
QUIRE_CALL(int, sigtimedwait, (const sigset_t* which, siginfo_t* to, const timespec* time), in(which), both(to),
           in(time))
QUIRE_CALL(int, sigwait, (const sigset_t* which, int* to), in(which), both(to))
QUIRE_OWN(int, sigsuspend, (const sigset_t* mask)) {
  const harmless allowed(mask);
  return make<int>(row_sigsuspend, in(allowed.use));
}
QUIRE_CALL(int, sigpending, (sigset_t * to), both(to))
QUIRE_CALL(int, signalfd, (int fd, const sigset_t* which, int flags), fd, in(which), flags)

// What a program built with _FORTIFY_SOURCE calls instead.
QUIRE_OWN(int, __poll_chk, (pollfd * all, nfds_t n, int timeout, size_t room)) {
  if (room / sizeof *all < n) __chk_fail();
  return quire_own_poll(all, n, timeout);
}
QUIRE_OWN(int, __ppoll_chk, (pollfd * all, nfds_t n, const timespec* timeout, const sigset_t* mask, size_t room)) {
  if (room / sizeof *all < n) __chk_fail();
  return quire_own_ppoll(all, n, timeout, mask);
}
