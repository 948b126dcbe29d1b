// SPDX-License-Identifier: BSD-3-Clause
// Sockets: data, messages, addresses, options.
#include <sys/socket.h>

#include "libc/copies.hpp"

using namespace quire::api::calls;

extern "C" [[noreturn]] void __chk_fail(void);

/// An address or option that the kernel fills: its length stands beside it, and is changed. Programs give more than
/// there is, as less comes back.
static structure filled(void* at, const socklen_t* length) noexcept {
  return {at, at != nullptr && length != nullptr && !any_closed(length, sizeof *length) ? *length : 0};
}

QUIRE_CALL(ssize_t, recv, (int fd, void* to, size_t n, int flags), fd, out(to, n), n, flags)
QUIRE_CALL(ssize_t, send, (int fd, const void* from, size_t n, int flags), fd, in(from, n), n, flags)
QUIRE_CALL(ssize_t, recvfrom, (int fd, void* to, size_t n, int flags, sockaddr* peer, socklen_t* length), fd,
           out(to, n), n, flags, filled(peer, length), both(length))
QUIRE_CALL(ssize_t, sendto, (int fd, const void* from, size_t n, int flags, const sockaddr* peer, socklen_t length), fd,
           in(from, n), n, flags, in(peer, length), length)
QUIRE_CALL(ssize_t, recvmsg, (int fd, msghdr* m, int flags), fd, message<way::out>(m), flags)
QUIRE_CALL(ssize_t, sendmsg, (int fd, const msghdr* m, int flags), fd, message<way::in>(m), flags)

QUIRE_CALL(int, bind, (int fd, const sockaddr* name, socklen_t length), fd, in(name, length), length)
QUIRE_CALL(int, connect, (int fd, const sockaddr* name, socklen_t length), fd, in(name, length), length)
QUIRE_CALL(int, accept, (int fd, sockaddr* peer, socklen_t* length), fd, filled(peer, length), both(length))
QUIRE_CALL(int, accept4, (int fd, sockaddr* peer, socklen_t* length, int flags), fd, filled(peer, length), both(length),
           flags)
QUIRE_CALL(int, getsockname, (int fd, sockaddr* name, socklen_t* length), fd, filled(name, length), both(length))
QUIRE_CALL(int, getpeername, (int fd, sockaddr* name, socklen_t* length), fd, filled(name, length), both(length))
QUIRE_CALL(int, getsockopt, (int fd, int level, int what, void* value, socklen_t* length), fd, level, what,
           filled(value, length), both(length))
QUIRE_CALL(int, setsockopt, (int fd, int level, int what, const void* value, socklen_t length), fd, level, what,
           in(value, length), length)
QUIRE_CALL(int, socketpair, (int domain, int type, int protocol, int* two), domain, type, protocol,
           both(two, 2 * sizeof *two))

namespace {
bool any_away(const mmsghdr* list, unsigned count) noexcept {
  if (any_closed(list, count * sizeof *list)) return false;  // the kernel says what is wrong
  for (unsigned i = 0; i < count; ++i) {
    if (is_away(list + i) || message<way::in>(&list[i].msg_hdr).away()) return true;
  }
  return false;
}
}  // namespace
/// With shared buffers one message a call: fewer than asked for is what the caller must expect anyway, and none is
/// lost.
QUIRE_OWN(int, recvmmsg, (int fd, mmsghdr* list, unsigned count, int flags, timespec* timeout)) {
  if (!any_away(list, count)) return make<int>(row_recvmmsg, fd, list, count, flags, both(timeout));
  const ssize_t got = quire_own_recvmsg(fd, &list[0].msg_hdr, flags & ~MSG_WAITFORONE);
  if (got < 0) return -1;
  list[0].msg_len = static_cast<unsigned>(got);
  return 1;
}
QUIRE_OWN(int, sendmmsg, (int fd, mmsghdr* list, unsigned count, int flags)) {
  if (!any_away(list, count)) return make<int>(row_sendmmsg, fd, list, count, flags);
  const ssize_t put = quire_own_sendmsg(fd, &list[0].msg_hdr, flags);
  if (put < 0) return -1;
  list[0].msg_len = static_cast<unsigned>(put);
  return 1;
}

// What a program built with _FORTIFY_SOURCE calls instead.
QUIRE_OWN(ssize_t, __recv_chk, (int fd, void* to, size_t n, size_t room, int flags)) {
  if (n > room) __chk_fail();
  return quire_own_recv(fd, to, n, flags);
}
QUIRE_OWN(ssize_t, __recvfrom_chk,
          (int fd, void* to, size_t n, size_t room, int flags, sockaddr* peer, socklen_t* length)) {
  if (n > room) __chk_fail();
  return quire_own_recvfrom(fd, to, n, flags, peer, length);
}
