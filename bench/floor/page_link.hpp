// SPDX-License-Identifier: BSD-3-Clause
// The barest ways to ask another process for a page: a flag in shared memory, and a TCP connection over loopback. Both
// sides spin; nothing sleeps. fault.cpp asks from a signal handler.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/clock.hpp"
#include "common/order.hpp"
#include "floor/peer.hpp"

namespace bench {

inline constexpr std::uint32_t no_more_pages = UINT32_MAX;

/// A word that asks, a word that answers, and room for the answer, each on a cache line of its own.
class flag_link {
 public:
  explicit flag_link(const peer& other) : ring_(other.shared<ring>()) {}

  [[nodiscard]] bool ask(std::uint32_t page, std::byte* place) noexcept {
    const std::uint64_t mine = ++asked_;
    ring_.request.store(mine << 32 | page, std::memory_order_release);
    if (page == no_more_pages) return true;
    while (ring_.reply.load(std::memory_order_acquire) != mine) cpu_relax();
    std::memcpy(place, ring_.page.data(), page_bytes);
    return true;
  }
  void serve(const std::byte* pages) noexcept {
    for (std::uint64_t seen = 0;;) {
      const std::uint64_t request = ring_.request.load(std::memory_order_acquire);
      if (request >> 32 == seen) {
        cpu_relax();
        continue;
      }
      seen = request >> 32;
      const auto page = static_cast<std::uint32_t>(request);
      if (page == no_more_pages) return;
      std::memcpy(ring_.page.data(), pages + page * page_bytes, page_bytes);
      ring_.reply.store(seen, std::memory_order_release);
    }
  }

 private:
  struct ring {
    alignas(64) std::atomic<std::uint64_t> request;
    alignas(64) std::atomic<std::uint64_t> reply;
    alignas(page_bytes) std::array<std::byte, page_bytes> page;
  };
  ring& ring_;
  std::uint64_t asked_ = 0;
};

/// A request is 64 bytes, as Quire's messages are; the reply is as much, and the page, straight into its place.
class tcp_link {
 public:
  explicit tcp_link(const peer& other) : socket_(other.measures() ? connect(other) : accept(other)) {
    const int on = 1;
    if (::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("TCP_NODELAY");
  }
  tcp_link(const tcp_link&) = delete;
  tcp_link& operator=(const tcp_link&) = delete;
  ~tcp_link() { ::close(socket_); }

  [[nodiscard]] bool ask(std::uint32_t page, std::byte* place) noexcept {
    message m{};
    m.page = page;
    iovec out{&m, sizeof m};
    if (!move<::sendmsg>({&out, 1}, MSG_NOSIGNAL)) return false;
    if (page == no_more_pages) return true;
    iovec in[] = {{&m, sizeof m}, {place, page_bytes}};
    return move<::recvmsg>(in, 0);
  }
  void serve(const std::byte* pages) {
    message m{};
    for (;;) {
      iovec in{&m, sizeof m};
      if (!move<::recvmsg>({&in, 1}, 0)) fail("receive");
      if (m.page == no_more_pages) return;
      iovec out[] = {{&m, sizeof m}, {const_cast<std::byte*>(pages) + m.page * page_bytes, page_bytes}};
      if (!move<::sendmsg>(out, MSG_NOSIGNAL)) fail("send");
    }
  }

 private:
  struct message {
    std::uint32_t page;
    std::array<std::byte, 60> rest;
  };

  /// All of `parts`, by a call that moves some of it and never waits.
  template <auto Call>
  [[nodiscard]] bool move(std::span<iovec> parts, int flags) noexcept {
    while (!parts.empty()) {
      msghdr about{};
      about.msg_iov = parts.data();
      about.msg_iovlen = parts.size();
      ssize_t n = Call(socket_, &about, flags | MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (n == 0) return false;
      for (; n > 0; parts = parts.front().iov_len == 0 ? parts.subspan(1) : parts) {
        const auto step = std::min(static_cast<std::size_t>(n), parts.front().iov_len);
        parts.front().iov_base = static_cast<std::byte*>(parts.front().iov_base) + step;
        parts.front().iov_len -= step;
        n -= static_cast<ssize_t>(step);
      }
    }
    return true;
  }
  [[nodiscard]] static int open() {
    const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) fail("socket");
    return s;
  }
  [[nodiscard]] static sockaddr_in loopback(in_port_t port) noexcept {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = port;
    return at;
  }
  [[nodiscard]] static int accept(const peer& other) {
    const int listener = open();
    sockaddr_in at = loopback(0);
    socklen_t length = sizeof at;
    if (::bind(listener, reinterpret_cast<sockaddr*>(&at), length) != 0 || ::listen(listener, 1) != 0 ||
        ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &length) != 0) {
      fail("listen");
    }
    other.send_value(at.sin_port);
    const int s = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    ::close(listener);
    if (s < 0) fail("accept");
    return s;
  }
  [[nodiscard]] static int connect(const peer& other) {
    const sockaddr_in at = loopback(other.receive_value<in_port_t>());
    const int s = open();
    if (::connect(s, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) fail("connect");
    return s;
  }

  int socket_;
};

}  // namespace bench
