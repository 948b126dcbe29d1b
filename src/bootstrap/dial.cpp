// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/dial.hpp"

#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/clock.hpp"
#include "bootstrap/proof.hpp"

namespace quire::bootstrap {
namespace {

using outcome = os::transfer::outcome;

constexpr std::uint64_t connect_limit_ns = 5 * base::second;
constexpr std::uint64_t words_limit_ns = 10 * base::second;

int ms_until(std::uint64_t deadline_ns) {
  const std::uint64_t now = base::now_ns();
  return now >= deadline_ns ? 0 : static_cast<int>((deadline_ns - now) / base::ms) + 1;
}

/// While nobody listens on a port, a connection to it from this host may become one with itself.
bool leads_to_itself(int number) {
  sockaddr_storage here{}, there{};
  socklen_t here_bytes = sizeof here, there_bytes = sizeof there;
  return ::getsockname(number, reinterpret_cast<sockaddr*>(&here), &here_bytes) == 0 &&
         ::getpeername(number, reinterpret_cast<sockaddr*>(&there), &there_bytes) == 0 && here_bytes == there_bytes &&
         std::memcmp(&here, &there, here_bytes) == 0;
}

/// Exactly `into`. PEER_LOST, TIMED_OUT.
base::status hear(int number, std::span<char> into, std::uint64_t deadline_ns) {
  while (!into.empty()) {
    const auto moved = os::read_some(number, into);
    if (moved.what == outcome::moved) {
      into = into.subspan(moved.bytes);
      continue;
    }
    pollfd entry{number, POLLIN, 0};
    if (moved.what != outcome::would_block) return QUIRE_PEER_LOST;
    if (os::wait_ready({&entry, 1}, ms_until(deadline_ns)) == 0) return QUIRE_TIMED_OUT;
  }
  return {};
}

template <class T>
std::span<char> bytes_of(T& words) {
  return {reinterpret_cast<char*>(&words), sizeof words};
}

}  // namespace

os::descriptor connect_to(const sockaddr* address, socklen_t bytes, std::uint64_t deadline_ns, std::string& why) {
  os::descriptor socket(::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  int error = socket.open() ? 0 : errno;
  if (error == 0 && ::connect(socket.number(), address, bytes) != 0) {
    error = errno;
    if (error == EINPROGRESS) {
      pollfd entry{socket.number(), POLLOUT, 0};
      socklen_t error_bytes = sizeof error;
      if (os::wait_ready({&entry, 1}, ms_until(std::min(deadline_ns, base::now_ns() + connect_limit_ns))) == 0)
        error = ETIMEDOUT;
      else if (::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &error_bytes) != 0)
        error = errno;
    }
  }
  if (error == 0 && leads_to_itself(socket.number())) error = ECONNREFUSED;
  if (error != 0) {
    why = os::error_text(error);
    return {};
  }
  const int yes = 1;
  (void)::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  (void)::setsockopt(socket.number(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  return socket;
}

base::status introduce(int number, const base::secret& secret, int rank, const std::string& whom,
                       std::uint64_t deadline_ns, std::string& why) {
  deadline_ns = std::min(deadline_ns, base::now_ns() + words_limit_ns);
  challenge asked{};
  const auto heard = hear(number, bytes_of(asked), deadline_ns);
  if (!heard.ok()) {
    why = heard.code() == QUIRE_TIMED_OUT ? "something listens there, and does not speak as " + whom + " does"
                                          : "the connection was closed at once";
    return QUIRE_PEER_LOST;
  }
  if (asked.what != what_it_is) {
    why = "what answers there is not " + whom + ", or is of another version of Quire";
    return QUIRE_INVALID;
  }
  nonce number_once{};
  if (!make(number_once)) return QUIRE_SYSTEM;
  answer mine = answer_to(asked, secret, rank, number_once);
  verdict said{};
  if (os::write_some(number, bytes_of(mine)).bytes != sizeof mine || !hear(number, bytes_of(said), deadline_ns).ok()) {
    why = "the connection was closed at once";
    return QUIRE_PEER_LOST;
  }
  if (is_right(said, asked, secret, mine)) return {};
  why = whom + " knows another secret than rank " + std::to_string(rank) +
        " (QUIRE_SECRET, QUIRE_SECRET_FILE), or is of another job";
  return QUIRE_BAD_OPTION;
}

base::result<int> welcome(int number, const base::secret& secret, std::uint64_t deadline_ns) {
  challenge asked{what_it_is, {}};
  if (!make(asked.number)) return QUIRE_SYSTEM;
  answer told{};
  if (os::write_some(number, bytes_of(asked)).bytes != sizeof asked || !hear(number, bytes_of(told), deadline_ns).ok())
    return QUIRE_PEER_LOST;
  verdict mine = verdict_on(asked, secret, told);
  if (os::write_some(number, bytes_of(mine)).bytes != sizeof mine || mine.what != accepted) return QUIRE_PEER_LOST;
  return static_cast<int>(told.rank);
}

}  // namespace quire::bootstrap
