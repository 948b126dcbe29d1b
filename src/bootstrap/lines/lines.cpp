// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/lines/lines.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "bootstrap/dial.hpp"
#include "os/interfaces.hpp"

namespace quire::bootstrap {
namespace {

constexpr std::uint64_t reach_limit_ns = 30 * base::second;
constexpr std::uint64_t call_limit_ns = 2 * base::second;  ///< for a connection with one address
constexpr std::uint64_t stranger_limit_ns = base::second;  ///< for who has called, and says nothing
constexpr int pause_ms = 20;
constexpr std::size_t most_interfaces = 16;
constexpr int silence_s = 5, unanswered = 12;  ///< of a line: then the kernel asks, and gives up

struct line_address {
  std::array<char, 8> mark{'l', 'i', 'n', 'e', 's', ' ', '1'};
  std::uint16_t port = 0, kill_port = 0;
  std::uint32_t count = 0;
  std::array<in_addr, most_interfaces> hosts{};
};

bool unpack(std::span<const std::byte> bytes, line_address& into) {
  if (bytes.size() != sizeof into) return false;
  std::memcpy(&into, bytes.data(), sizeof into);
  return into.mark == line_address{}.mark && into.count <= most_interfaces;
}

/// Those of this host that others may reach; loopback only where there is nothing else.
std::vector<in_addr> own_hosts() {
  std::vector<in_addr> found;
  const auto all = os::network_interfaces();
  for (const bool loopback : {false, true}) {
    for (const auto& one : all) {
      in_addr number{};
      if (found.size() < most_interfaces && one.loopback == loopback &&
          ::inet_pton(AF_INET, one.address.c_str(), &number) == 1)
        found.push_back(number);
    }
    if (!found.empty()) break;
  }
  return found;
}

/// Those first that look like one of ours; last what is one of ours, as bridges of containers are on many hosts.
std::vector<in_addr> by_nearness(const line_address& theirs) {
  std::vector<in_addr> hosts(theirs.hosts.begin(), theirs.hosts.begin() + theirs.count);
  const auto ours = own_hosts();
  const auto far = [&](const in_addr& one) {
    std::uint32_t least = ~0u;
    for (const in_addr& mine : ours) {
      if (mine.s_addr == one.s_addr) return ~0u;
      least = std::min(least, ntohl(one.s_addr ^ mine.s_addr));
    }
    return least;
  };
  std::stable_sort(hosts.begin(), hosts.end(), [&](const in_addr& a, const in_addr& b) { return far(a) < far(b); });
  return hosts;
}

/// The kernel looks after a line over which nothing is said.
void look_after(int number) {
  const int yes = 1, idle = silence_s, count = unanswered;
  (void)::setsockopt(number, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  (void)::setsockopt(number, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  (void)::setsockopt(number, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof idle);
  (void)::setsockopt(number, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

std::atomic<life_lines*> g_lines{nullptr};

}  // namespace

/// A forked child outlives its parent, and must not hold the parent's lines open.
void life_lines::close_in_child() noexcept {
  life_lines* const ours = g_lines.exchange(nullptr);
  if (ours == nullptr) return;
  ours->listener_.reset();
  ours->switch_.close_in_child();
  for (line& one : ours->lines_) one.socket.reset();
}

life_lines::~life_lines() {
  life_lines* self = this;
  g_lines.compare_exchange_strong(self, nullptr);
}

base::status life_lines::open(int self, const base::secret& secret, std::string& why) {
  static const int once = ::pthread_atfork(nullptr, nullptr, &life_lines::close_in_child);
  (void)once;
  self_ = self;
  secret_ = secret;
  os::descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in here{};
  here.sin_family = AF_INET;
  socklen_t bytes = sizeof here;
  if (!socket.open() || ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
      ::listen(socket.number(), SOMAXCONN) != 0 ||
      ::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&here), &bytes) != 0) {
    why = "this node cannot listen for others: " + os::error_text(errno);
    return QUIRE_SYSTEM;
  }
  port_ = ntohs(here.sin_port);
  listener_ = std::move(socket);
  g_lines.store(this);
  if (!switch_.open(word_of(self, use::kills)))
    base::log(base::log_level::warning,
              "nodes on other hosts cannot end this one if it does not answer: the job ends then");
  return {};
}

std::vector<std::byte> life_lines::address() const {
  line_address mine;
  mine.port = port_;
  mine.kill_port = switch_.port();
  for (const in_addr& one : own_hosts()) mine.hosts[mine.count++] = one;
  const auto bytes = std::as_bytes(std::span(&mine, 1));
  return {bytes.begin(), bytes.end()};
}

base::secret life_lines::word_of(int node, use what) const noexcept {
  struct {
    std::uint64_t half, node;
  } text{static_cast<std::uint64_t>(what), static_cast<std::uint64_t>(node)};
  base::secret word;
  word.first = base::siphash_of(secret_, text);
  ++text.half;
  word.second = base::siphash_of(secret_, text);
  return word;
}

base::status life_lines::reach(std::span<const int> nodes, std::span<const std::vector<std::byte>> addresses,
                               std::string& why) {
  const std::uint64_t deadline = base::now_ns() + reach_limit_ns;
  for (const int node : nodes) {
    line_address theirs;
    const auto& address = addresses[static_cast<std::size_t>(node)];
    if (unpack(address, theirs)) continue;
    why = "node " + std::to_string(node) + (address.empty() ? " cannot listen" : " runs another version of Quire");
    return QUIRE_INVALID;
  }
  const auto missing = [&] {
    return std::find_if(nodes.begin(), nodes.end(), [&](int node) { return find(node) == nullptr; });
  };
  while (missing() != nodes.end()) {
    if (base::now_ns() >= deadline) {
      why = "no connection with node " + std::to_string(*missing()) + " within " +
            std::to_string(reach_limit_ns / base::second) + " seconds" + (why.empty() ? "" : ": " + why);
      return QUIRE_TIMED_OUT;
    }
    for (const int node : nodes) {
      if (node < self_ && find(node) == nullptr &&
          !call(node, addresses[static_cast<std::size_t>(node)], deadline, why))
        os::wait_ready({}, pause_ms);
    }
    if (std::any_of(nodes.begin(), nodes.end(), [&](int node) { return node > self_ && find(node) == nullptr; }))
      answer_one(nodes, addresses, deadline);
  }
  listener_.reset();
  return {};
}

bool life_lines::call(int node, std::span<const std::byte> address, std::uint64_t deadline_ns, std::string& why) {
  line_address theirs;
  if (!unpack(address, theirs)) return false;
  for (const in_addr& host : by_nearness(theirs)) {
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_addr = host;
    there.sin_port = htons(theirs.port);
    const std::uint64_t until = std::min(deadline_ns, base::now_ns() + call_limit_ns);
    os::descriptor socket = connect_to(reinterpret_cast<const sockaddr*>(&there), sizeof there, until, why);
    if (!socket.open()) continue;
    // Another node of the job may listen there, on another host of that address: its word is another.
    const auto who = "node " + std::to_string(node);
    if (!introduce(socket.number(), word_of(node, use::meets), self_, who, deadline_ns, why).ok()) continue;
    keep(node, std::move(socket), address);
    return true;
  }
  return false;
}

/// Waits for one a moment; strangers are turned away.
void life_lines::answer_one(std::span<const int> nodes, std::span<const std::vector<std::byte>> addresses,
                            std::uint64_t deadline_ns) {
  pollfd entry{listener_.number(), POLLIN, 0};
  if (os::wait_ready({&entry, 1}, pause_ms) == 0) return;
  os::descriptor socket(::accept4(listener_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket.open()) return;
  const auto who =
      welcome(socket.number(), word_of(self_, use::meets), std::min(deadline_ns, base::now_ns() + stranger_limit_ns));
  if (!who.ok() || who.value() <= self_ || std::find(nodes.begin(), nodes.end(), who.value()) == nodes.end()) return;
  keep(who.value(), std::move(socket), addresses[static_cast<std::size_t>(who.value())]);
}

void life_lines::keep(int node, os::descriptor socket, std::span<const std::byte> address) {
  line_address theirs;
  (void)unpack(address, theirs);
  look_after(socket.number());
  line made{node, std::move(socket), {}, theirs.kill_port};
  socklen_t bytes = sizeof made.host;
  (void)::getpeername(made.socket.number(), reinterpret_cast<sockaddr*>(&made.host), &bytes);
  drop(node);  // it has called again
  lines_.push_back(std::move(made));
}

void life_lines::drop(int node) noexcept {
  std::erase_if(lines_, [&](const line& one) { return one.node == node; });
}

const life_lines::line* life_lines::find(int node) const noexcept {
  const auto at = std::find_if(lines_.begin(), lines_.end(), [&](const line& one) { return one.node == node; });
  return at == lines_.end() ? nullptr : &*at;
}

int life_lines::descriptor(int node) const noexcept {
  const line* const one = find(node);
  return one == nullptr ? -1 : one->socket.number();
}

life_lines::state life_lines::state_of(int node) const noexcept {
  const line* const one = find(node);
  if (one == nullptr) return state::cut_off;
  std::array<char, 64> nothing;
  for (;;) {
    const ssize_t bytes = ::recv(one->socket.number(), nothing.data(), nothing.size(), MSG_DONTWAIT);
    if (bytes == 0) return state::ended;
    if (bytes > 0 || errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return state::whole;
    return errno == ECONNRESET || errno == EPIPE ? state::ended : state::cut_off;
  }
}

bool life_lines::kill(int node) const noexcept {
  const line* const one = find(node);
  if (one == nullptr || one->kill_port == 0) return false;
  kill_switch::send(one->host, one->kill_port, word_of(node, use::kills));
  return true;
}

}  // namespace quire::bootstrap
