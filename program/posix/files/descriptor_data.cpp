// SPDX-License-Identifier: BSD-3-Clause
// Data of descriptors, and what is asked of them. What is little travels with the call; else node 0 reads and writes it
// where it is, in shared memory.
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/poll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "program/posix/errands/at_owner.hpp"
#include "program/posix/heap/shared_pages.hpp"
#include "program/posix/mapped/descriptor_calls.hpp"
#include "program/process/libc_heap.hpp"

extern "C" {
[[noreturn]] void __chk_fail();
int __vasprintf_chk(char**, int, const char*, va_list) noexcept;
ssize_t __read_chk(int, void*, size_t, size_t);
ssize_t __pread_chk(int, void*, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void*, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void*, size_t, size_t, int);
int __poll_chk(pollfd*, nfds_t, int, size_t);
int __vdprintf_chk(int, int, const char*, va_list);
}

using namespace quire::program;

namespace {
size_t size(ssize_t done) noexcept { return done > 0 ? static_cast<size_t>(done) : 0; }
}  // namespace

#define QUIRE_WRITE(function, parameters, arguments, arguments_there)                                              \
  QUIRE_AT_OWNER_WITH(ssize_t, function, parameters, fd, arguments, const void* const there = e.take(from, bytes), \
                      arguments_there, )
#define QUIRE_READ(function, parameters, arguments, arguments_there)                                           \
  QUIRE_AT_OWNER_WITH(ssize_t, function, parameters, fd, arguments, void* const there = e.room_for(to, bytes), \
                      arguments_there, e.bring(to, there, size(done)))
// Of files, which may be mapped, too.
#define QUIRE_FILE_WRITE(function, parameters, arguments, arguments_there)                              \
  QUIRE_AT_OWNER_AS(ssize_t, function, parameters, fd,                                                  \
                    mapped::write_by(QUIRE_CALLER, fd, [&] { return QUIRE_NEXT(function) arguments; }), \
                    const void* const there = e.take(from, bytes),                                      \
                    mapped::write_by(nullptr, fd, [&] { return QUIRE_NEXT(function) arguments_there; }), )
#define QUIRE_FILE_READ(function, parameters, arguments, arguments_there)                               \
  QUIRE_AT_OWNER_AS(ssize_t, function, parameters, fd,                                                  \
                    mapped::read_by(QUIRE_CALLER, fd, [&] { return QUIRE_NEXT(function) arguments; }),  \
                    void* const there = e.room_for(to, bytes),                                          \
                    mapped::read_by(nullptr, fd, [&] { return QUIRE_NEXT(function) arguments_there; }), \
                    e.bring(to, there, size(done)))
QUIRE_FILE_WRITE(write, (int fd, const void* from, size_t bytes), (fd, from, bytes), (fd, there, bytes))
QUIRE_FILE_WRITE(pwrite, (int fd, const void* from, size_t bytes, off_t at), (fd, from, bytes, at),
                 (fd, there, bytes, at))
QUIRE_FILE_WRITE(pwrite64, (int fd, const void* from, size_t bytes, off64_t at), (fd, from, bytes, at),
                 (fd, there, bytes, at))
QUIRE_WRITE(send, (int fd, const void* from, size_t bytes, int flags), (fd, from, bytes, flags),
            (fd, there, bytes, flags))
QUIRE_FILE_READ(read, (int fd, void* to, size_t bytes), (fd, to, bytes), (fd, there, bytes))
QUIRE_FILE_READ(pread, (int fd, void* to, size_t bytes, off_t at), (fd, to, bytes, at), (fd, there, bytes, at))
QUIRE_FILE_READ(pread64, (int fd, void* to, size_t bytes, off64_t at), (fd, to, bytes, at), (fd, there, bytes, at))
QUIRE_READ(recv, (int fd, void* to, size_t bytes, int flags), (fd, to, bytes, flags), (fd, there, bytes, flags))
// getdents64(2), and what a program built with _FORTIFY_SOURCE calls instead.
QUIRE_READ(getdents64, (int fd, void* to, size_t bytes), (fd, to, bytes), (fd, there, bytes))
QUIRE_FILE_READ(__read_chk, (int fd, void* to, size_t bytes, size_t room), (fd, to, bytes, room),
                (fd, there, bytes, room))
QUIRE_FILE_READ(__pread_chk, (int fd, void* to, size_t bytes, off_t at, size_t room), (fd, to, bytes, at, room),
                (fd, there, bytes, at, room))
QUIRE_FILE_READ(__pread64_chk, (int fd, void* to, size_t bytes, off64_t at, size_t room), (fd, to, bytes, at, room),
                (fd, there, bytes, at, room))
QUIRE_READ(__recv_chk, (int fd, void* to, size_t bytes, size_t room, int flags), (fd, to, bytes, room, flags),
           (fd, there, bytes, room, flags))

// Several parts become one there.
namespace {
constexpr ssize_t bad = -1;
/// What comes before a page that nobody may access.
size_t open_bytes(const iovec& part) noexcept {
  if (!any_closed(part.iov_base, part.iov_len)) return part.iov_len;
  const auto* const at = static_cast<const char*>(part.iov_base);
  for (size_t done = 0, some = 0;; done += some) {
    some = mapped_page - reinterpret_cast<std::uintptr_t>(at + done) % mapped_page;
    if (any_closed(at + done, some)) return done;
  }
}
/// All bytes of the parts, up to a closed page; -1, and errno.
ssize_t length_of(const iovec* list, int count) noexcept {
  if (count < 0 || count > IOV_MAX) return errno = EINVAL, bad;
  if (any_closed(list, static_cast<size_t>(count) * sizeof *list)) return errno = EFAULT, bad;
  ssize_t all = 0;
  for (int i = 0; i < count; ++i) {
    if (__builtin_add_overflow(all, static_cast<ssize_t>(list[i].iov_len), &all) ||
        static_cast<ssize_t>(list[i].iov_len) < 0)
      return errno = EINVAL, bad;
    const size_t open = open_bytes(list[i]);
    if (open == list[i].iov_len) continue;
    all -= static_cast<ssize_t>(list[i].iov_len - open);
    return all != 0 ? all : (errno = EFAULT, bad);
  }
  return all;
}
template <class Write>
ssize_t write_parts(int node, const iovec* list, int count, Write write) noexcept {
  const ssize_t all = length_of(list, count);
  if (all < 0) return bad;
  errand e(node);
  char* const there = e.joined(list, count, size(all));
  return e.run([=] { return write(there, size(all)); });
}
template <class Read>
ssize_t read_parts(int node, const iovec* list, int count, Read read) noexcept {
  const ssize_t all = length_of(list, count);
  if (all < 0) return bad;
  errand e(node);
  char* const there = e.joined(list, 0, size(all));
  const ssize_t done = e.run([=] { return read(there, size(all)); });
  size_t left = size(done);
  const char* from = there;
  for (int i = 0; i < count && left != 0; ++i) {
    const size_t part = list[i].iov_len < left ? list[i].iov_len : left;
    e.bring(list[i].iov_base, from, part);
    from += part;
    left -= part;
  }
  return done;
}
}  // namespace
#define QUIRE_PARTS(function, how, one, access, parameters, arguments, ...)                                            \
  QUIRE_LIBC ssize_t function parameters {                                                                             \
    const cancellation_point<> point(QUIRE_CALLER);                                                                    \
    const int node = node_of(fd, QUIRE_CALLER);                                                                        \
    if (node == here) return mapped::access(QUIRE_CALLER, fd, [&] { return QUIRE_NEXT(function) arguments; });         \
    return how(node, list, count, [=](auto* part, size_t bytes) {                                                      \
      return mapped::access(nullptr, fd, [&] { return QUIRE_NEXT(one)(fd, part, bytes __VA_OPT__(, ) __VA_ARGS__); }); \
    });                                                                                                                \
  }
QUIRE_PARTS(writev, write_parts, write, write_by, (int fd, const iovec* list, int count), (fd, list, count))
QUIRE_PARTS(readv, read_parts, read, read_by, (int fd, const iovec* list, int count), (fd, list, count))
QUIRE_PARTS(pwritev, write_parts, pwrite, write_by, (int fd, const iovec* list, int count, off_t at),
            (fd, list, count, at), at)
QUIRE_PARTS(preadv, read_parts, pread, read_by, (int fd, const iovec* list, int count, off_t at), (fd, list, count, at),
            at)
QUIRE_PARTS(pwritev64, write_parts, pwrite64, write_by, (int fd, const iovec* list, int count, off64_t at),
            (fd, list, count, at), at)
QUIRE_PARTS(preadv64, read_parts, pread64, read_by, (int fd, const iovec* list, int count, off64_t at),
            (fd, list, count, at), at)

// Text, made here.
namespace {
int print_there(int node, int fd, int flag, const char* format, va_list arguments) noexcept {
  char* text = nullptr;
  const int length = flag >= 0 ? QUIRE_NEXT(__vasprintf_chk)(&text, flag, format, arguments)
                               : QUIRE_NEXT(vasprintf)(&text, format, arguments);
  if (length < 0) return length;
  ssize_t done = 0;
  {
    errand e(node);
    const char* const there = e.take(text, static_cast<size_t>(length));
    done = e.run([=] { return QUIRE_NEXT(write)(fd, there, static_cast<size_t>(length)); });
  }
  const int saved = errno;
  libc_free(text);
  errno = saved;
  return done < 0 ? -1 : length;
}
}  // namespace
QUIRE_LIBC int vdprintf(int fd, const char* format, va_list arguments) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(fd, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(vdprintf)(fd, format, arguments) : print_there(node, fd, -1, format, arguments);
}
QUIRE_LIBC int __vdprintf_chk(int fd, int flag, const char* format, va_list arguments) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(fd, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(__vdprintf_chk)(fd, flag, format, arguments)
                      : print_there(node, fd, flag, format, arguments);
}
QUIRE_LIBC int dprintf(int fd, const char* format, ...) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(fd, QUIRE_CALLER);
  va_list arguments;
  va_start(arguments, format);
  const int result =
      node == here ? QUIRE_NEXT(vdprintf)(fd, format, arguments) : print_there(node, fd, -1, format, arguments);
  va_end(arguments);
  return result;
}
QUIRE_LIBC int __dprintf_chk(int fd, int flag, const char* format, ...) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(fd, QUIRE_CALLER);
  va_list arguments;
  va_start(arguments, format);
  const int result = node == here ? QUIRE_NEXT(__vdprintf_chk)(fd, flag, format, arguments)
                                  : print_there(node, fd, flag, format, arguments);
  va_end(arguments);
  return result;
}

// Structures. What is filled comes back when the call has done it.
#define QUIRE_FILLED(function, type, parameters, arguments, arguments_there, ...)                               \
  QUIRE_AT_OWNER_WITH(int, function, parameters, fd, arguments, type* const there = e.room_for(to, sizeof *to), \
                      arguments_there, if (done == 0) e.bring(to, there, sizeof *to), __VA_ARGS__)
QUIRE_FILLED(fstat, struct stat, (int fd, struct stat* to), (fd, to), (fd, there), noexcept)
QUIRE_FILLED(fstat64, struct stat64, (int fd, struct stat64* to), (fd, to), (fd, there), noexcept)
QUIRE_FILLED(fstatfs64, struct statfs64, (int fd, struct statfs64* to), (fd, to), (fd, there), noexcept)
QUIRE_FILLED(fstatvfs64, struct statvfs64, (int fd, struct statvfs64* to), (fd, to), (fd, there), noexcept)
QUIRE_FILLED(fstatfs, struct statfs, (int fd, struct statfs* to), (fd, to), (fd, there), noexcept)
QUIRE_FILLED(fstatvfs, struct statvfs, (int fd, struct statvfs* to), (fd, to), (fd, there), noexcept)
QUIRE_FILLED(eventfd_read, eventfd_t, (int fd, eventfd_t* to), (fd, to), (fd, there))
QUIRE_FILLED(timerfd_gettime, itimerspec, (int fd, itimerspec* to), (fd, to), (fd, there), noexcept)
QUIRE_AT_OWNER_WITH(int, timerfd_settime, (int fd, int flags, const itimerspec* now, itimerspec* before), fd,
                    (fd, flags, now, before), const itimerspec* const now_there = e.take(now, sizeof *now);
                    itimerspec* const there = e.room_for(before, sizeof *before), (fd, flags, now_there, there),
                    if (done == 0 && before != nullptr) e.bring(before, there, sizeof *before), noexcept)
QUIRE_AT_OWNER_WITH(int, futimens, (int fd, const timespec* two), fd, (fd, two),
                    const timespec* const there = e.take(two, 2 * sizeof *two), (fd, there), , noexcept)
QUIRE_AT_OWNER_WITH(int, inotify_add_watch, (int fd, const char* name, uint32_t mask), fd, (fd, name, mask),
                    const char* const there = e.take(name), (fd, there, mask), , noexcept)

// From one to another.
namespace {
template <class Offset, class Copy>
ssize_t copy_there(int node, Offset* one, Offset* two, Copy copy) noexcept {
  errand e(node);
  Offset* const one_there = one != nullptr ? e.take_along(one, sizeof *one) : nullptr;
  Offset* const two_there = two != nullptr ? e.take_along(two, sizeof *two) : nullptr;
  const ssize_t done = e.run([=] { return copy(one_there, two_there); });
  if (one != nullptr) e.bring(one, one_there, sizeof *one);
  if (two != nullptr) e.bring(two, two_there, sizeof *two);
  return done;
}
/// Of two descriptors one may be standard output, which is node 0's then.
int node_of_two(int one, int two, const void* caller) noexcept {
  const int node = node_of(one, caller);
  return node != here ? node : node_of(two, caller);
}
}  // namespace
QUIRE_LIBC ssize_t sendfile(int to, int from, off_t* at, size_t bytes) noexcept {
  const int node = node_of_two(from, to, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(sendfile)(to, from, at, bytes);
  return copy_there(node, at, static_cast<off_t*>(nullptr),
                    [=](off_t* a, off_t*) { return QUIRE_NEXT(sendfile)(to, from, a, bytes); });
}
QUIRE_LIBC ssize_t sendfile64(int to, int from, off64_t* at, size_t bytes) noexcept {
  const int node = node_of_two(from, to, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(sendfile64)(to, from, at, bytes);
  return copy_there(node, at, static_cast<off64_t*>(nullptr),
                    [=](off64_t* a, off64_t*) { return QUIRE_NEXT(sendfile64)(to, from, a, bytes); });
}
QUIRE_LIBC ssize_t copy_file_range(int from, off64_t* a, int to, off64_t* b, size_t bytes, unsigned flags) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of_two(from, to, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(copy_file_range)(from, a, to, b, bytes, flags);
  return copy_there(node, a, b,
                    [=](off64_t* x, off64_t* y) { return QUIRE_NEXT(copy_file_range)(from, x, to, y, bytes, flags); });
}
QUIRE_LIBC ssize_t splice(int from, off64_t* a, int to, off64_t* b, size_t bytes, unsigned flags) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of_two(from, to, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(splice)(from, a, to, b, bytes, flags);
  return copy_there(node, a, b,
                    [=](off64_t* x, off64_t* y) { return QUIRE_NEXT(splice)(from, x, to, y, bytes, flags); });
}

// Waiting for descriptors: all of them are node 0's.
namespace {
int node_of_all(const pollfd* list, nfds_t count, const void* caller) noexcept {
  for (nfds_t i = 0; i < count; ++i) {
    if (const int node = node_of(list[i].fd, caller); node != here) return node;
  }
  return here;
}
template <class Poll>
int poll_there(int node, pollfd* list, nfds_t count, Poll poll, const sigset_t* mask = nullptr) noexcept {
  const wait_elsewhere under(mask);
  if (under.is_over()) return -1;
  errand e(node);
  pollfd* const there = e.take_along(list, count * sizeof *list);
  const int done = e.run([=] { return poll(there); });
  for (nfds_t i = 0; i < count && done >= 0; ++i) list[i].revents = there[i].revents;
  return done;
}
}  // namespace
QUIRE_LIBC int poll(pollfd* list, nfds_t count, int timeout) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = files::apart ? node_of_all(list, count, QUIRE_CALLER) : here;
  if (node == here) return QUIRE_NEXT(poll)(list, count, timeout);
  return poll_there(node, list, count, [=](pollfd* there) { return QUIRE_NEXT(poll)(there, count, timeout); });
}
QUIRE_LIBC int __poll_chk(pollfd* list, nfds_t count, int timeout, size_t room) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = files::apart ? node_of_all(list, count, QUIRE_CALLER) : here;
  if (node == here) return QUIRE_NEXT(__poll_chk)(list, count, timeout, room);
  if (room / sizeof *list < count) __chk_fail();
  return poll_there(node, list, count, [=](pollfd* there) { return QUIRE_NEXT(poll)(there, count, timeout); });
}
namespace {
int ppoll_there(int node, pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* signals) noexcept {
  const bool forever = timeout == nullptr;
  const timespec limit = forever ? timespec{} : *timeout;
  const auto there = [=](pollfd* at) { return QUIRE_NEXT(ppoll)(at, count, forever ? nullptr : &limit, nullptr); };
  return poll_there(node, list, count, there, signals);
}
}  // namespace
QUIRE_LIBC int ppoll(pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* signals) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = files::apart ? node_of_all(list, count, QUIRE_CALLER) : here;
  return node == here ? QUIRE_NEXT(ppoll)(list, count, timeout, signals)
                      : ppoll_there(node, list, count, timeout, signals);
}
QUIRE_LIBC int __ppoll_chk(pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* signals, size_t room) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = files::apart ? node_of_all(list, count, QUIRE_CALLER) : here;
  if (room / sizeof *list < count) __chk_fail();
  return node == here ? QUIRE_NEXT(ppoll)(list, count, timeout, signals)
                      : ppoll_there(node, list, count, timeout, signals);
}
namespace {
int node_of_set(int count, const fd_set* set, const void* caller) noexcept {
  for (int i = 0; set != nullptr && i < count; ++i) {
    const bool is_set = (set->fds_bits[i / NFDBITS] & 1L << i % NFDBITS) != 0;
    if (const int node = is_set ? node_of(i, caller) : here; node != here) return node;
  }
  return here;
}
int node_of_sets(int count, const fd_set* a, const fd_set* b, const fd_set* c, const void* caller) noexcept {
  if (!files::apart) return here;
  for (const fd_set* const set : {a, b, c}) {
    if (const int node = node_of_set(count, set, caller); node != here) return node;
  }
  return here;
}
/// The sets may be shorter than their type, or longer: the kernel looks at the words that have `count` bits.
template <class Select>
int select_there(int node, int count, fd_set* a, fd_set* b, fd_set* c, Select select,
                 const sigset_t* mask = nullptr) noexcept {
  if (count < 0) return errno = EINVAL, -1;
  const wait_elsewhere under(mask);
  if (under.is_over()) return -1;
  const size_t bytes = (static_cast<size_t>(count) + NFDBITS - 1) / NFDBITS * sizeof(fd_mask);
  errand e(node);
  fd_set* const sets[] = {a, b, c};
  fd_set* there[] = {nullptr, nullptr, nullptr};
  for (int i = 0; i < 3; ++i) there[i] = sets[i] == nullptr ? nullptr : e.take_along(sets[i], bytes);
  fd_set *const x = there[0], *const y = there[1], *const z = there[2];
  const int done = e.run([=] { return select(x, y, z); });
  for (int i = 0; i < 3 && done >= 0; ++i) {
    if (sets[i] != nullptr) e.bring(sets[i], there[i], bytes);
  }
  return done;
}
}  // namespace
QUIRE_LIBC int select(int count, fd_set* a, fd_set* b, fd_set* c, timeval* timeout) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of_sets(count, a, b, c, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(select)(count, a, b, c, timeout);
  const bool forever = timeout == nullptr;
  const timeval limit = forever ? timeval{} : *timeout;
  return select_there(node, count, a, b, c, [=](fd_set* x, fd_set* y, fd_set* z) {
    timeval left = limit;
    return QUIRE_NEXT(select)(count, x, y, z, forever ? nullptr : &left);
  });
}
QUIRE_LIBC int pselect(int count, fd_set* a, fd_set* b, fd_set* c, const timespec* timeout, const sigset_t* signals) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of_sets(count, a, b, c, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(pselect)(count, a, b, c, timeout, signals);
  const bool forever = timeout == nullptr;
  const timespec limit = forever ? timespec{} : *timeout;
  const auto there = [=](fd_set* x, fd_set* y, fd_set* z) {
    return QUIRE_NEXT(pselect)(count, x, y, z, forever ? nullptr : &limit, nullptr);
  };
  return select_there(node, count, a, b, c, there, signals);
}
QUIRE_AT_OWNER_WITH(int, epoll_ctl, (int fd, int what, int other, epoll_event* event), fd, (fd, what, other, event),
                    epoll_event* const there = event != nullptr ? e.take_along(event, sizeof *event) : nullptr,
                    (fd, what, other, there), , noexcept)
namespace {
size_t size_of_events(int most) noexcept { return most > 0 ? static_cast<size_t>(most) * sizeof(epoll_event) : 0; }
}  // namespace
QUIRE_AT_OWNER_WITH(int, epoll_wait, (int fd, epoll_event* to, int most, int timeout), fd, (fd, to, most, timeout),
                    const wait_elsewhere under;
                    epoll_event* const there = e.room_for(to, size_of_events(most)), (fd, there, most, timeout),
                    e.bring(to, there, size_of_events(done)))
QUIRE_AT_OWNER_WITH(int, epoll_pwait, (int fd, epoll_event* to, int most, int timeout, const sigset_t* signals), fd,
                    (fd, to, most, timeout, signals), const wait_elsewhere under(signals);
                    if (under.is_over()) return -1;
                    epoll_event* const there = e.room_for(to, size_of_events(most)),
                    (fd, there, most, timeout, nullptr), e.bring(to, there, size_of_events(done)))
