// SPDX-License-Identifier: BSD-3-Clause
#include "network/line.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "common/clock.hpp"

namespace bench::network {
namespace {

using quire::os::descriptor;

constexpr double most_silence_s = 30;

double now_s() { return static_cast<double>(now_ns()) / 1e9; }

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

descriptor new_socket(int family) {
  return descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// An address of IPv4, as one of IPv6, and back.
in6_addr mapped(const in_addr& v4) {
  in6_addr to{};
  to.s6_addr[10] = to.s6_addr[11] = 0xff;
  std::memcpy(&to.s6_addr[12], &v4, sizeof v4);
  return to;
}
in_addr unmapped(const in6_addr& from) {
  in_addr v4{};
  std::memcpy(&v4, &from.s6_addr[12], sizeof v4);
  return v4;
}

/// What a system without IPv6 has instead.
struct any_address {
  sockaddr_in6 v6{};
  sockaddr_in v4{};
  int family = AF_INET6;
  [[nodiscard]] const sockaddr* get() const {
    return family == AF_INET6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
  }
  [[nodiscard]] socklen_t length() const { return family == AF_INET6 ? sizeof v6 : sizeof v4; }
};
any_address address_of(const in6_addr& address, std::uint16_t port) {
  any_address made;
  made.family = IN6_IS_ADDR_V4MAPPED(&address) ? AF_INET : AF_INET6;
  made.v6.sin6_family = AF_INET6;
  made.v6.sin6_addr = address;
  made.v6.sin6_port = port;
  made.v4.sin_family = AF_INET;
  made.v4.sin_addr = unmapped(address);
  made.v4.sin_port = port;
  return made;
}

bool is_ready(int socket, short events, double seconds) {
  pollfd one{socket, events, 0};
  return quire::os::wait_ready({&one, 1}, static_cast<int>(seconds * 1e3)) > 0;
}

/// All of it, or false.
bool move_all(int socket, std::span<std::byte> bytes, double seconds, bool out) {
  const double until = now_s() + seconds;
  while (!bytes.empty()) {
    const ssize_t n =
        out ? ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) : ::recv(socket, bytes.data(), bytes.size(), 0);
    if (n > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(n));
      continue;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) return false;
    if (now_s() > until || !is_ready(socket, out ? POLLOUT : POLLIN, until - now_s())) return false;
  }
  return true;
}

void give_up_after(double until_s) {
  if (now_s() > until_s) throw std::runtime_error("the other node says nothing");
}

/// The same time for any two tokens.
bool same(const token& a, const token& b) {
  std::byte different{0};
  for (std::size_t i = 0; i < a.size(); ++i) different |= a[i] ^ b[i];
  return different == std::byte{0};
}

}  // namespace

token new_token() {
  token made{};
  if (::getrandom(made.data(), made.size(), 0) != static_cast<ssize_t>(made.size())) fail("no random bytes");
  return made;
}

listener::listener() : socket_(new_socket(AF_INET6)) {
  any_address any = address_of(in6addr_any, 0);
  if (!socket_.open()) {
    socket_ = new_socket(AF_INET);
    any.family = AF_INET;
  } else {
    const int off = 0;
    (void)::setsockopt(socket_.number(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  if (::bind(socket_.number(), any.get(), any.length()) != 0) fail("bind");
  if (::listen(socket_.number(), 16) != 0) fail("listen");
}

place listener::where() const {
  place p;
  if (::gethostname(p.host.data(), p.host.size() - 1) != 0) fail("gethostname");
  sockaddr_in6 own{};  // the port stands in the same place for IPv4
  socklen_t length = sizeof own;
  if (::getsockname(socket_.number(), reinterpret_cast<sockaddr*>(&own), &length) != 0) fail("getsockname");
  p.port = own.sin6_port;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) fail("getifaddrs");
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> given_back(all, &::freeifaddrs);
  for (const ifaddrs* one = all; one != nullptr && p.count < place::most; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
    if (one->ifa_addr->sa_family == AF_INET) {
      p.addresses[p.count++] = mapped(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr);
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      const in6_addr& address = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
      if (!IN6_IS_ADDR_LINKLOCAL(&address)) p.addresses[p.count++] = address;
    }
  }
  return p;
}

descriptor listener::accept(const token& known, double seconds) const {
  for (const double until = now_s() + seconds; now_s() < until;) {
    if (!is_ready(socket_.number(), POLLIN, until - now_s())) continue;
    descriptor come(::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    token told{};
    if (come.open() && move_all(come.number(), told, 2, false) && same(told, known)) return come;
  }
  throw std::runtime_error("the other node has not connected");
}

descriptor connect(const place& to, const token& known, double seconds) {
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(to.count, place::most); ++i) {
    const any_address there = address_of(to.addresses[i], to.port);
    descriptor made = new_socket(there.family);
    token told = known;
    if (::connect(made.number(), there.get(), there.length()) != 0 && errno != EINPROGRESS) continue;
    int error = 0;
    socklen_t length = sizeof error;
    if (is_ready(made.number(), POLLOUT, seconds) &&
        ::getsockopt(made.number(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0 &&
        move_all(made.number(), told, seconds, true))
      return made;
  }
  throw std::runtime_error("host " + std::string(to.host.data()) +
                           " cannot be reached by TCP on any of its addresses: does a firewall keep ports closed?");
}

line::line(descriptor connected) : socket_(std::move(connected)), looks_(::epoll_create1(EPOLL_CLOEXEC)) {
  const int on = 1;
  (void)::setsockopt(socket_.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  epoll_event event{EPOLLIN, {}};
  if (!looks_.open() || ::epoll_ctl(looks_.number(), EPOLL_CTL_ADD, socket_.number(), &event) != 0) fail("epoll");
}

bool line::has_news() {
  epoll_event event{};
  return ::epoll_wait(looks_.number(), &event, 1, 0) > 0;
}

void line::send(std::span<const std::byte> bytes) {
  const double until = now_s() + most_silence_s;
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(n));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) fail("the other node has gone");
    give_up_after(until);
    (void)is_ready(socket_.number(), POLLOUT, 1);
  }
}

std::size_t line::receive_some(std::span<std::byte> into) {
  const ssize_t n = ::recv(socket_.number(), into.data(), into.size(), 0);
  if (n > 0) return static_cast<std::size_t>(n);
  if (n == 0) throw std::runtime_error("the other node has gone");
  if (errno != EAGAIN && errno != EINTR) fail("the other node has gone");
  return 0;
}

void line::receive(std::span<std::byte> bytes) {
  for (const double until = now_s() + most_silence_s; !bytes.empty(); give_up_after(until))
    if (has_news()) bytes = bytes.subspan(receive_some(bytes));
}

void line::drop(std::uint64_t bytes) {
  static std::array<std::byte, 1 << 18> room;
  for (const double until = now_s() + most_silence_s; bytes != 0; give_up_after(until)) {
    if (has_news()) bytes -= receive_some(std::span(room).first(std::min<std::uint64_t>(bytes, room.size())));
  }
}

}  // namespace bench::network
