// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/gate.hpp"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/options.hpp"
#include "os/memory.hpp"
#include "os/redirect.hpp"

namespace quire::transport::ucx::gate {
namespace {

using base::log;
using base::log_level;

constexpr int first_words_seconds = 60;  ///< a node may be slow to say who it is; the kernel keeps it until then
constexpr int connect_limit_ms = 30'000;
constexpr unsigned strangers_a_call = 32;  ///< UCX calls again, and can do other things in between

/// The end that is connected to: what a proof is good for.
struct endpoint {
  std::uint8_t address[16] = {};
  std::uint32_t port = 0;
  std::uint32_t family = 0;
};
struct nonce {
  std::uint64_t words[2];
};
/// What is said first.
struct proof {
  std::uint64_t what;
  nonce number;
  std::uint64_t hash;
};
constexpr std::uint64_t what_it_is = 0x3145'5441'4752'4951;  // "QIRGATE1"
static_assert(sizeof(proof) == 32);

endpoint endpoint_of(const sockaddr_storage& where) noexcept {
  endpoint e;
  e.family = where.ss_family;
  if (where.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(where);
    std::memcpy(e.address, &four.sin_addr, sizeof four.sin_addr);
    e.port = four.sin_port;
  } else {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(where);
    std::memcpy(e.address, &six.sin6_addr, sizeof six.sin6_addr);
    e.port = six.sin6_port;
  }
  return e;
}

/// The numbers that have been said. Written by one thread at a time (UCX's lock around its listener). There is room for
/// each node of the largest job to connect several times; strangers take none.
class used_numbers {
 public:
  base::status make_room() noexcept {
    if (numbers_ != nullptr) return QUIRE_OK;
    int error = 0;
    numbers_ = static_cast<nonce*>(os::map_table(places * sizeof(nonce), error));
    return numbers_ != nullptr ? QUIRE_OK : QUIRE_SYSTEM;
  }
  /// False if it has been said before.
  bool add(const nonce& number) noexcept {
    if (number.words[0] == 0 || used_ >= places / 2) return false;
    for (std::size_t at = number.words[1];; ++at) {
      nonce& place = numbers_[at & (places - 1)];
      if (std::memcmp(&place, &number, sizeof place) == 0) return false;
      if (place.words[0] != 0) continue;
      place = number;
      ++used_;
      return true;
    }
  }

 private:
  static constexpr std::size_t places = 16 * base::most_nodes;  // sparse memory
  static_assert((places & (places - 1)) == 0);
  nonce* numbers_ = nullptr;
  std::size_t used_ = 0;
};

base::secret g_secret;
used_numbers g_used;
std::atomic<std::uint64_t> g_refused{0};
int g_spare = -1;  ///< given up for a moment where descriptors are short, so that who waits can be turned away

std::uint64_t hash_of(const endpoint& listener, const nonce& number) noexcept {
  const struct {
    std::uint64_t what;
    endpoint listener;
    nonce number;
  } text{what_it_is, listener, number};
  return base::siphash_of(g_secret, text);
}

/// Says who this process is; the buffer of a new connection takes all of it at once.
bool introduce(int connection, const sockaddr_storage& listener) noexcept {
  proof mine{what_it_is, {}, 0};
  if (::getrandom(&mine.number, sizeof mine.number, 0) != sizeof mine.number) return false;
  mine.number.words[0] |= 1;  // zero is no number
  mine.hash = hash_of(endpoint_of(listener), mine.number);
  return ::send(connection, &mine, sizeof mine, MSG_NOSIGNAL) == sizeof mine;
}

bool belongs_to_us(int connection) noexcept {
  proof theirs;
  if (::recv(connection, &theirs, sizeof theirs, MSG_DONTWAIT) != sizeof theirs) return false;
  sockaddr_storage self{};
  socklen_t length = sizeof self;
  if (::getsockname(connection, reinterpret_cast<sockaddr*>(&self), &length) != 0) return false;
  // A difference of whole words: the time tells nothing of the hash.
  const std::uint64_t wrong = (theirs.what ^ what_it_is) | (theirs.hash ^ hash_of(endpoint_of(self), theirs.number));
  return wrong == 0 && g_used.add(theirs.number);
}

void refuse(int connection, const sockaddr_storage& from) noexcept {
  ::close(connection);
  if (g_refused.fetch_add(1, std::memory_order_relaxed) != 0) return;
  char text[INET6_ADDRSTRLEN] = "?";
  if (from.ss_family == AF_INET)
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(from).sin_addr, text, sizeof text);
  else if (from.ss_family == AF_INET6)
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(from).sin6_addr, text, sizeof text);
  log(log_level::warning,
      "refused a connection from %s that is not of this job; more are only counted (connections_refused). "
      "QUIRE_NET_DEVICES can choose a network interface that strangers do not reach",
      text);
}

// ---- What UCX calls ----

/// The kernel keeps connections on which nothing has been said yet to itself.
int on_listen(int socket, int backlog) noexcept {
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_DEFER_ACCEPT, &first_words_seconds, sizeof first_words_seconds);
  return ::listen(socket, backlog);
}

int on_accept(int listener, sockaddr* address, socklen_t* address_bytes) noexcept {
  for (unsigned i = 0; i < strangers_a_call; ++i) {
    sockaddr_storage from{};
    socklen_t length = sizeof from;
    int connection = ::accept4(listener, reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC);
    if (connection < 0 && (errno == EMFILE || errno == ENFILE) && g_spare >= 0) {
      ::close(g_spare);
      connection = ::accept4(listener, reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC);
      if (connection >= 0) refuse(connection, from);
      g_spare = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      continue;
    }
    if (connection < 0) {
      // UCX gives its listener up for good after any other error than this.
      if (errno != EBADF && errno != ENOTSOCK && errno != EINVAL) errno = EAGAIN;
      return -1;
    }
    if (!belongs_to_us(connection)) {
      refuse(connection, from);
      continue;
    }
    if (address != nullptr && address_bytes != nullptr) {
      std::memcpy(address, &from, std::min(*address_bytes, length));
      *address_bytes = length;
    }
    return connection;
  }
  errno = EAGAIN;
  return -1;
}

/// Waits until a connection that has been begun is there. False with errno if it does not come.
bool wait_for(int connection) noexcept {
  const std::uint64_t deadline = base::now_ns() + connect_limit_ms * 1'000'000ull;
  for (;;) {
    const std::uint64_t now = base::now_ns();
    pollfd entry{connection, POLLOUT, 0};
    const int ready = now < deadline ? ::poll(&entry, 1, static_cast<int>((deadline - now) / 1'000'000) + 1) : 0;
    if (ready < 0 && errno == EINTR) continue;
    int error = ETIMEDOUT;
    socklen_t length = sizeof error;
    if (ready > 0 && ::getsockopt(connection, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return false;
    if (ready > 0 && error == 0) return true;
    errno = error;
    return false;
  }
}

int on_connect(int connection, const sockaddr* address, socklen_t address_bytes) noexcept {
  const int result = ::connect(connection, address, address_bytes);
  if (address == nullptr || (address->sa_family != AF_INET && address->sa_family != AF_INET6)) return result;
  if (result != 0 && (errno != EINPROGRESS || !wait_for(connection))) return -1;
  sockaddr_storage listener{};
  std::memcpy(&listener, address, std::min<std::size_t>(address_bytes, sizeof listener));
  if (introduce(connection, listener)) return 0;
  errno = ECONNRESET;
  return -1;
}

}  // namespace

base::status guard(const base::secret& job) noexcept {
  g_secret = job;
  if (const auto status = g_used.make_room(); !status.ok()) return status;
  if (g_spare < 0) g_spare = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const os::redirection calls[] = {{"listen", reinterpret_cast<void*>(&on_listen)},
                                   {"accept", reinterpret_cast<void*>(&on_accept)},
                                   {"connect", reinterpret_cast<void*>(&on_connect)}};
  static const unsigned found = os::redirect("libucs", calls);
  return found >= std::size(calls) ? QUIRE_OK : QUIRE_UNSUPPORTED;
}

std::uint64_t refused() noexcept { return g_refused.load(std::memory_order_relaxed); }

}  // namespace quire::transport::ucx::gate
