// SPDX-License-Identifier: BSD-3-Clause
// A TCP connection between two nodes of a job, by which `quire bench network` measures: who waits looks again and
// again, as a thread of Quire does. Strangers that connect are sent away: the job's nodes know a token.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "os/process.hpp"

namespace bench::network {

using token = std::array<std::byte, 16>;
[[nodiscard]] token new_token();

/// Where a node can be reached, as others are told.
struct place {
  static constexpr std::size_t most = 8;
  std::array<char, 64> host{};
  std::array<in6_addr, most> addresses{};  ///< of IPv4 as well
  std::uint32_t count = 0;
  std::uint16_t port = 0;
};

/// Takes connections, on all addresses of this host.
class listener {
 public:
  listener();
  [[nodiscard]] place where() const;
  /// The first one that knows the token.
  [[nodiscard]] quire::os::descriptor accept(const token& known, double seconds) const;

 private:
  quire::os::descriptor socket_;
};
/// By the first address that answers.
[[nodiscard]] quire::os::descriptor connect(const place& to, const token& known, double seconds);

/// Both ends throw std::runtime_error when the other one has gone, or says nothing for long.
class line {
 public:
  explicit line(quire::os::descriptor connected);
  void send(std::span<const std::byte> bytes);
  void receive(std::span<std::byte> bytes);
  /// Receives and forgets so much.
  void drop(std::uint64_t bytes);
  /// Whether something has come; looks once.
  [[nodiscard]] bool has_news();

 private:
  std::size_t receive_some(std::span<std::byte> into);
  quire::os::descriptor socket_, looks_;
};

}  // namespace bench::network
