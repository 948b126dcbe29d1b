// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/rendezvous/reach.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "bootstrap/rendezvous/proof.hpp"

namespace quire::bootstrap::rendezvous {
namespace {

using outcome = os::transfer::outcome;

constexpr std::uint64_t connect_limit_ns = 5 * base::second;
constexpr std::uint64_t words_limit_ns = 10 * base::second;
constexpr std::uint64_t quiet_ns = 10 * base::second;  ///< then a line says what it waits for
constexpr int first_pause_ms = 20, longest_pause_ms = 500;

int ms_until(std::uint64_t deadline_ns) {
  const std::uint64_t now = base::now_ns();
  return now >= deadline_ns ? 0 : static_cast<int>((deadline_ns - now) / base::ms) + 1;
}

struct free_addresses {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};
using addresses = std::unique_ptr<addrinfo, free_addresses>;

addresses look_up(const place& where, std::string& why) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &list);
  if (error == 0) return addresses(list);
  why = "host " + where.host + ": " + (error == EAI_SYSTEM ? os::error_text(errno) : ::gai_strerror(error));
  return nullptr;
}

/// While nobody listens on a port, a connection to it from this host may become one with itself.
bool leads_to_itself(int number) {
  sockaddr_storage here{}, there{};
  socklen_t here_bytes = sizeof here, there_bytes = sizeof there;
  return ::getsockname(number, reinterpret_cast<sockaddr*>(&here), &here_bytes) == 0 &&
         ::getpeername(number, reinterpret_cast<sockaddr*>(&there), &there_bytes) == 0 && here_bytes == there_bytes &&
         std::memcmp(&here, &there, here_bytes) == 0;
}

os::descriptor connect_to(const addrinfo& address, std::uint64_t deadline_ns, std::string& why) {
  os::descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  int error = socket.open() ? 0 : errno;
  if (error == 0 && ::connect(socket.number(), address.ai_addr, address.ai_addrlen) != 0) {
    error = errno;
    if (error == EINPROGRESS) {
      pollfd entry{socket.number(), POLLOUT, 0};
      socklen_t bytes = sizeof error;
      if (os::wait_ready({&entry, 1}, ms_until(std::min(deadline_ns, base::now_ns() + connect_limit_ns))) == 0)
        error = ETIMEDOUT;
      else if (::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &bytes) != 0)
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

/// PEER_LOST: it may be worth another try.
base::status introduce(int number, const place& where, std::uint64_t deadline_ns, std::string& why) {
  deadline_ns = std::min(deadline_ns, base::now_ns() + words_limit_ns);
  challenge asked{};
  const auto heard = hear(number, bytes_of(asked), deadline_ns);
  if (!heard.ok()) {
    why = heard.code() == QUIRE_TIMED_OUT ? "something listens there, and does not speak as rank 0 of a job does"
                                          : "the connection was closed at once";
    return QUIRE_PEER_LOST;
  }
  if (asked.what != what_it_is) {
    why = "what answers at " + where.address() + " is no rank 0 of a job of this version of Quire";
    return QUIRE_INVALID;
  }
  nonce number_once{};
  if (!make(number_once)) return QUIRE_SYSTEM;
  answer mine = answer_to(asked, where.secret, where.rank, number_once);
  verdict said{};
  if (os::write_some(number, bytes_of(mine)).bytes != sizeof mine || !hear(number, bytes_of(said), deadline_ns).ok()) {
    why = "the connection was closed at once";
    return QUIRE_PEER_LOST;
  }
  if (is_right(said, asked, where.secret, mine)) return {};
  why = "rank 0 at " + where.address() + " knows another secret than rank " + std::to_string(where.rank) +
        " (QUIRE_SECRET, QUIRE_SECRET_FILE), or is of another job";
  return QUIRE_BAD_OPTION;
}

/// Once. PEER_LOST: it may be worth another try.
base::result<os::descriptor> try_once(const place& where, std::uint64_t deadline_ns, std::string& why) {
  const auto found = look_up(where, why);
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    auto socket = connect_to(*one, deadline_ns, why);
    if (!socket.open()) continue;
    const auto met = introduce(socket.number(), where, deadline_ns, why);
    if (met.ok()) return socket;
    if (met.code() != QUIRE_PEER_LOST) return met;
  }
  return QUIRE_PEER_LOST;
}

}  // namespace

base::result<os::descriptor> reach(const place& where, std::uint64_t deadline_ns, std::string& why) {
  const std::uint64_t tells_at = base::now_ns() + quiet_ns;
  bool told = false;
  for (int pause_ms = first_pause_ms;; pause_ms = std::min(pause_ms * 3 / 2, longest_pause_ms)) {
    auto reached = try_once(where, deadline_ns, why);
    if (reached.ok() || reached.why().code() != QUIRE_PEER_LOST) return reached;
    if (base::now_ns() >= deadline_ns) break;
    if (!told && base::now_ns() >= tells_at) {
      told = true;
      base::log(base::log_level::warning, "rank %d still looks for rank 0 at %s: %s", where.rank,
                where.address().c_str(), why.c_str());
    }
    os::wait_ready({}, std::min(pause_ms, ms_until(deadline_ns)));
  }
  why = "rank " + std::to_string(where.rank) + " has not reached rank 0 at " + where.address() + " within " +
        std::to_string(where.limit_s) + " seconds (QUIRE_RENDEZVOUS_TIMEOUT): " + why;
  return QUIRE_TIMED_OUT;
}

}  // namespace quire::bootstrap::rendezvous
