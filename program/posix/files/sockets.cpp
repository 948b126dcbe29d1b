// SPDX-License-Identifier: BSD-3-Clause
// Sockets: addresses travel with the call.
#include <sys/socket.h>

#include <algorithm>

#include "program/posix/errands/at_owner.hpp"
#include "program/posix/files/own_descriptors.hpp"

using namespace quire::program;

// The header has unions of all kinds of addresses.
#define QUIRE_TO_ADDRESS(function)                                             \
  QUIRE_LIBC int function(int fd, const sockaddr* address, socklen_t length) { \
    const cancellation_point<> point(QUIRE_CALLER);                            \
    const int node = node_of(fd, QUIRE_CALLER);                                \
    if (node == here) return QUIRE_NEXT(function)(fd, address, length);        \
    errand e(node);                                                            \
    const sockaddr* const there = e.take(address, length);                     \
    return e.run([=] { return QUIRE_NEXT(function)(fd, there, length); });     \
  }
namespace {

/// An address that comes back, of the length that there is room for.
template <class Call>
auto with_address(int node, sockaddr* address, socklen_t* length, Call call) noexcept {
  errand e(node);
  const socklen_t room = length != nullptr ? *length : 0;
  sockaddr* const there = e.room_for(address, room);
  socklen_t* const length_there = length != nullptr ? e.take_along(length, sizeof *length) : nullptr;
  const auto done = e.run([=] { return call(there, length_there); });
  if (done < 0 || length == nullptr) return done;
  e.bring(length, length_there, sizeof *length);
  if (address != nullptr) e.bring(address, there, std::min(room, *length));
  return done;
}

}  // namespace

extern "C" {
ssize_t __recvfrom_chk(int, void*, size_t, size_t, int, sockaddr*, socklen_t*);
}

QUIRE_LIBC int bind(int fd, const sockaddr* address, socklen_t length) noexcept {
  const int node = node_of(fd, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(bind)(fd, address, length);
  errand e(node);
  const sockaddr* const there = e.take(address, length);
  return e.run([=] { return QUIRE_NEXT(bind)(fd, there, length); });
}
QUIRE_TO_ADDRESS(connect)
QUIRE_LIBC int accept(int fd, sockaddr* address, socklen_t* length) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(fd, QUIRE_CALLER);
  if (node == here) return given_to(QUIRE_CALLER, QUIRE_NEXT(accept)(fd, address, length));
  return with_address(node, address, length,
                      [=](sockaddr* a, socklen_t* l) { return given_to(nullptr, QUIRE_NEXT(accept)(fd, a, l)); });
}
QUIRE_LIBC int accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(fd, QUIRE_CALLER);
  if (node == here) return given_to(QUIRE_CALLER, QUIRE_NEXT(accept4)(fd, address, length, flags));
  return with_address(node, address, length, [=](sockaddr* a, socklen_t* l) {
    return given_to(nullptr, QUIRE_NEXT(accept4)(fd, a, l, flags));
  });
}
QUIRE_LIBC int getsockname(int fd, sockaddr* address, socklen_t* length) noexcept {
  const int node = node_of(fd, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(getsockname)(fd, address, length);
  return with_address(node, address, length,
                      [=](sockaddr* a, socklen_t* l) { return QUIRE_NEXT(getsockname)(fd, a, l); });
}
QUIRE_LIBC int getpeername(int fd, sockaddr* address, socklen_t* length) noexcept {
  const int node = node_of(fd, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(getpeername)(fd, address, length);
  return with_address(node, address, length,
                      [=](sockaddr* a, socklen_t* l) { return QUIRE_NEXT(getpeername)(fd, a, l); });
}
QUIRE_LIBC int getsockopt(int fd, int level, int name, void* to, socklen_t* length) noexcept {
  const int node = node_of(fd, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(getsockopt)(fd, level, name, to, length);
  return with_address(node, static_cast<sockaddr*>(to), length,
                      [=](sockaddr* a, socklen_t* l) { return QUIRE_NEXT(getsockopt)(fd, level, name, a, l); });
}
QUIRE_AT_OWNER_WITH(int, setsockopt, (int fd, int level, int name, const void* from, socklen_t length), fd,
                    (fd, level, name, from, length), const void* const there = e.take(from, length),
                    (fd, level, name, there, length), , noexcept)
QUIRE_AT_OWNER_WITH(ssize_t, sendto,
                    (int fd, const void* from, size_t bytes, int flags, const sockaddr* address, socklen_t length), fd,
                    (fd, from, bytes, flags, address, length),
                    const sockaddr* const address_there = e.take(address, length);
                    const void* const there = e.take(from, bytes), (fd, there, bytes, flags, address_there, length), )
namespace {
ssize_t receive_there(int node, int fd, void* to, size_t bytes, int flags, sockaddr* address,
                      socklen_t* length) noexcept {
  errand e(node);
  const socklen_t room = length != nullptr ? *length : 0;
  sockaddr* const address_there = e.room_for(address, room);
  socklen_t* const length_there = length != nullptr ? e.take_along(length, sizeof *length) : nullptr;
  void* const there = e.room_for(to, bytes);
  const ssize_t done =
      e.run([=] { return QUIRE_NEXT(recvfrom)(fd, there, bytes, flags, address_there, length_there); });
  if (done < 0) return done;
  e.bring(to, there, std::min(bytes, static_cast<size_t>(done)));
  if (length != nullptr) e.bring(length, length_there, sizeof *length);
  if (address != nullptr && length != nullptr) e.bring(address, address_there, std::min(room, *length));
  return done;
}
}  // namespace
QUIRE_LIBC ssize_t recvfrom(int fd, void* to, size_t bytes, int flags, sockaddr* address, socklen_t* length) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(fd, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(recvfrom)(fd, to, bytes, flags, address, length)
                      : receive_there(node, fd, to, bytes, flags, address, length);
}
QUIRE_LIBC ssize_t __recvfrom_chk(int fd, void* to, size_t bytes, size_t room, int flags, sockaddr* address,
                                  socklen_t* length) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(fd, QUIRE_CALLER);
  if (node == here || bytes > room) return QUIRE_NEXT(__recvfrom_chk)(fd, to, bytes, room, flags, address, length);
  return receive_there(node, fd, to, bytes, flags, address, length);
}

// Their parts are shared memory, or constants of the program, as all of the program's are.
QUIRE_AT_OWNER(ssize_t, sendmsg, (int fd, const msghdr* message, int flags), fd, (fd, message, flags))
QUIRE_AT_OWNER(ssize_t, recvmsg, (int fd, msghdr* message, int flags), fd, (fd, message, flags))
QUIRE_AT_OWNER(int, sendmmsg, (int fd, mmsghdr* messages, unsigned count, int flags), fd, (fd, messages, count, flags))
QUIRE_AT_OWNER(int, recvmmsg, (int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout), fd,
               (fd, messages, count, flags, timeout))
