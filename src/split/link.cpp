// SPDX-License-Identifier: BSD-3-Clause
#include "split/link.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace quire::split {
namespace {

std::size_t length_of(const request& r) noexcept { return offsetof(request, arguments) + r.bytes; }

// The raw calls: Quire interposes send(2) and recv(2). A socket of packets moves all or nothing.
void send_all(int socket, const request& r) noexcept {
  while (::syscall(SYS_sendto, socket, &r, length_of(r), MSG_NOSIGNAL, nullptr, 0) < 0 && errno == EINTR) continue;
}
bool receive(int socket, request& r) noexcept {
  long n;
  do n = ::syscall(SYS_recvfrom, socket, &r, sizeof r, 0, nullptr, nullptr);
  while (n < 0 && errno == EINTR);
  return n > 0;
}

}  // namespace

int make_sockets(board& b) noexcept {
  for (std::size_t i = 0; i < board::most_sockets; ++i) {
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, b.mailboxes[i].sockets) != 0) return errno;
  }
  return 0;
}

void exchange_by_socket(mailbox& m) noexcept {
  send_all(m.sockets[0], m.content);
  // The other end closes when the engine's process ends; then this one is ended too, by the thread that watches.
  if (!receive(m.sockets[0], m.content)) ::pause();
}

void serve_one(mailbox& m, std::uint64_t spin_ns, void (*run)(request&)) noexcept {
  if (m.sockets[1] >= 0) {
    request r;
    if (!receive(m.sockets[1], r)) ::pause();
    run(r);
    return send_all(m.sockets[1], r);
  }
  m.state.wait_until(mailbox::is_posted, spin_ns, -1, [] {});
  run(m.content);
  m.state.set(mailbox::done);
}

}  // namespace quire::split
