// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/rendezvous/server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace quire::bootstrap::rendezvous {
namespace {

using outcome = os::transfer::outcome;

constexpr std::uint64_t proof_limit_ns = 10 * base::second;
constexpr std::uint64_t port_limit_ns = 2 * base::second;
constexpr std::size_t most_unproved = 64;
constexpr int connections_a_step = 32;

struct socket_address {
  sockaddr_storage text{};
  socklen_t bytes = 0;
};

/// `host` as a number; without one, all addresses of this host.
socket_address listening_address(int family, const std::string& host, std::uint16_t port) {
  socket_address made;
  if (family == AF_INET) {
    auto& four = reinterpret_cast<sockaddr_in&>(made.text);
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    made.bytes = host.empty() || ::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1 ? sizeof four : 0;
  } else {
    auto& six = reinterpret_cast<sockaddr_in6&>(made.text);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    made.bytes = host.empty() || ::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1 ? sizeof six : 0;
  }
  return made;
}

/// Nothing, with errno. A moment's patience where the port is in use: it may be one that a process which looks for rank
/// 0 has at its own end.
os::descriptor listen_on(int family, const std::string& host, std::uint16_t port) {
  const auto at = listening_address(family, host, port);
  errno = EADDRNOTAVAIL;
  if (at.bytes == 0) return {};
  os::descriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.open()) return {};
  const int yes = 1, no = 0;
  (void)::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (family == AF_INET6) (void)::setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  const auto* const where = reinterpret_cast<const sockaddr*>(&at.text);
  for (const std::uint64_t until = base::now_ns() + port_limit_ns;;) {
    if (::bind(socket.number(), where, at.bytes) == 0 && ::listen(socket.number(), SOMAXCONN) == 0) return socket;
    if (errno != EADDRINUSE || base::now_ns() >= until) break;
    os::wait_ready({}, 50);
  }
  const int error = errno;
  socket.reset();
  errno = error;
  return {};
}

std::string text_of(const sockaddr_storage& from) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (from.ss_family == AF_INET)
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(from).sin_addr, text, sizeof text);
  else if (from.ss_family == AF_INET6)
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(from).sin6_addr, text, sizeof text);
  const std::string_view whole = text;
  constexpr std::string_view mapped = "::ffff:";
  return std::string(whole.starts_with(mapped) ? whole.substr(mapped.size()) : whole);
}

}  // namespace

/// A number is an address to listen on, if it is this host's; a name may lead to this host in many ways.
base::status server::open(std::string& why) {
  const std::string number = place_.host == "localhost" ? "127.0.0.1" : place_.host;
  for (const int family : {AF_INET, AF_INET6}) {
    if (!listener_.open()) listener_ = listen_on(family, number, place_.port);
    if (!listener_.open() && errno == EADDRINUSE) break;
  }
  if (!listener_.open() && errno != EADDRINUSE) listener_ = listen_on(AF_INET6, "", place_.port);
  if (!listener_.open() && errno != EADDRINUSE) listener_ = listen_on(AF_INET, "", place_.port);
  if (!listener_.open()) {
    const int error = errno;
    why = "rank 0 cannot listen on port " + std::to_string(place_.port) + ": " + os::error_text(error);
    if (error == EADDRINUSE)
      why +=
          " (by another job, another program, or a second rank 0 of this job); QUIRE_RENDEZVOUS of all ranks may name "
          "another port";
    return QUIRE_SYSTEM;
  }
  epoll_ = os::descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (epoll_.open() && watch(epoll_.number(), listener_.number(), 0, false, true)) return {};
  why = std::string("rank 0 cannot wait for others: ") + os::error_text(errno);
  return QUIRE_SYSTEM;
}

void server::step() {
  std::array<epoll_event, 64> events;
  hear_own();
  for (int ready = static_cast<int>(events.size()); ready == static_cast<int>(events.size());) {
    ready = ::epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < ready; ++i) {
      const int id = static_cast<int>(events[static_cast<std::size_t>(i)].data.u64);
      id == 0 ? take_connections() : on_ready(id);
    }
    deliver();
  }
  deliver();
}

void server::hear_own() {
  while (const auto frame = mine_.next()) hub_.on_frame(0, *frame);
}

void server::take_connections() {
  for (int i = 0; i < connections_a_step; ++i) {
    sockaddr_storage from{};
    socklen_t bytes = sizeof from;
    os::descriptor socket(
        ::accept4(listener_.number(), reinterpret_cast<sockaddr*>(&from), &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.open()) {
      add(std::move(socket), text_of(from));
      continue;
    }
    if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS) return;
    const std::string why = std::string("rank 0 cannot take connections any more: ") + os::error_text(errno);
    if (!hub_.all_there()) hub_.on_failure(why + " (ulimit -n)");
    listener_.reset();  // it would stay readable
    return;
  }
}

void server::add(os::descriptor socket, std::string where) {
  make_room();
  const int yes = 1, id = next_id_++;
  (void)::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  (void)::setsockopt(socket.number(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  connection one;
  one.asked.what = what_it_is;
  one.where = std::move(where);
  one.since_ns = base::now_ns();
  if (!make(one.asked.number) || !watch(epoll_.number(), socket.number(), static_cast<std::uint64_t>(id), false, true))
    return;
  const std::span words(reinterpret_cast<const char*>(&one.asked), sizeof one.asked);
  if (os::write_some(socket.number(), words).bytes != words.size()) return;
  one.socket = std::move(socket);
  connections_.emplace(id, std::move(one));
}

/// Who says nothing stays for a while only, and takes no place from others.
void server::make_room() {
  std::size_t unproved = 0;
  for (const auto& [id, one] : connections_) unproved += one.proved ? 0 : 1;
  const std::uint64_t now = base::now_ns();
  for (auto it = connections_.begin(); it != connections_.end();) {
    const bool goes = !it->second.proved && (unproved >= most_unproved || now > it->second.since_ns + proof_limit_ns);
    if (goes) --unproved;
    it = goes ? connections_.erase(it) : std::next(it);
  }
}

void server::on_ready(int id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  connection& one = found->second;
  if (one.proved) return hear_frames(id, one);
  if (!hear_proof(id, one)) connections_.erase(found);
}

bool server::hear_proof(int id, connection& one) {
  while (one.told_bytes < one.told.size()) {
    const auto moved = os::read_some(one.socket.number(), std::span(one.told).subspan(one.told_bytes));
    if (moved.what == outcome::would_block) return true;
    if (moved.what != outcome::moved) return false;
    one.told_bytes += moved.bytes;
  }
  answer told{};
  std::memcpy(&told, one.told.data(), sizeof told);
  if (told.what != what_it_is) {
    if (!std::exchange(told_stranger_, true))
      base::log(base::log_level::warning, "turned away a connection from %s that is not of this job",
                one.where.c_str());
    return false;
  }
  const verdict mine = verdict_on(one.asked, place_.secret, told);
  const std::span words(reinterpret_cast<const char*>(&mine), sizeof mine);
  const bool sent = os::write_some(one.socket.number(), words).bytes == words.size();
  if (mine.what != accepted) hub_.on_stranger(one.where, told.rank);
  if (mine.what != accepted || !sent) return false;
  one.proved = true;
  one.channel = local::channel(std::move(one.socket));
  hub_.on_open(id, told.rank);
  return true;
}

void server::hear_frames(int id, connection& one) {
  one.channel.send();
  one.channel.receive();
  while (const auto frame = one.channel.next()) hub_.on_frame(id, *frame);
  if (one.channel.ended() || one.channel.broken()) close(id);
}

void server::close(int id) {
  connections_.erase(id);
  hub_.on_closed(id);
}

/// What the hub says; what does not go at once goes when there is room.
void server::deliver() {
  for (const auto& out : hub_.take()) {
    if (out.link == 0) {
      if (out.bytes != nullptr) for_me_.append(*out.bytes);
      continue;
    }
    const auto found = connections_.find(out.link);
    if (found == connections_.end()) continue;
    if (out.bytes != nullptr)
      found->second.channel.queue(out.bytes);
    else
      found->second.closes = true;
  }
  for (auto it = connections_.begin(); it != connections_.end();) {
    connection& one = it->second;
    if (one.proved && one.channel.sending()) one.channel.send();
    if (one.proved && one.channel.sending() != one.for_output) {
      one.for_output = !one.for_output;
      (void)watch(epoll_.number(), one.channel.descriptor(), static_cast<std::uint64_t>(it->first), one.for_output,
                  false);
    }
    it = one.closes && !one.channel.sending() ? connections_.erase(it) : std::next(it);
  }
}

bool server::sending() const noexcept {
  for (const auto& [id, one] : connections_)
    if (one.proved && one.channel.sending()) return true;
  return false;
}

}  // namespace quire::bootstrap::rendezvous
