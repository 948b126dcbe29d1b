// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/rendezvous/reach.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "bootstrap/dial.hpp"

namespace quire::bootstrap::rendezvous {
namespace {

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

/// Once. PEER_LOST: it may be worth another try.
base::result<os::descriptor> try_once(const place& where, std::uint64_t deadline_ns, std::string& why) {
  const auto found = look_up(where, why);
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    auto socket = connect_to(one->ai_addr, one->ai_addrlen, deadline_ns, why);
    if (!socket.open()) continue;
    const auto met =
        introduce(socket.number(), where.secret, where.rank, "rank 0 at " + where.address(), deadline_ns, why);
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
