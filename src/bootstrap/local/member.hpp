// SPDX-License-Identifier: BSD-3-Clause
// A node of a job of `quire run`: its side of the control socket, to the launcher or to its agent on this host. Start
// and end by one application thread, descriptor and poll_news by the service thread in between; only leave() may meet
// poll_news in another thread.
#pragma once

#include <deque>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/local/channel.hpp"

namespace quire::bootstrap::local {

/// How long a node waits for the others to give their addresses.
inline constexpr int exchange_limit_ms = 60'000;

class member final : public bootstrap {
 public:
  member(os::descriptor socket, int node, int nodes, int local_nodes, int limit_ms = exchange_limit_ms);

  [[nodiscard]] int node() const noexcept override { return node_; }
  [[nodiscard]] int nodes() const noexcept override { return nodes_; }
  [[nodiscard]] int local_nodes() const noexcept override { return local_nodes_; }
  [[nodiscard]] base::result<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte> mine) override;
  [[nodiscard]] bool accuse(int node, std::uint64_t silent_ms) noexcept override;
  void withdraw(int node) noexcept override;
  void bereaved() noexcept override;
  [[nodiscard]] bool announces_deaths() const noexcept override { return true; }
  void ready() noexcept override;
  void tell_waits(std::string_view packed) noexcept override;
  void tell_counters(std::string_view json) noexcept override;
  void tell_leaving(std::string_view packed) noexcept override;
  void keep_record(int descriptor, std::string_view path) noexcept override;
  [[nodiscard]] bool keeps_records() const noexcept override { return true; }
  void abort(int, const std::string&) noexcept override {}  // accuse() suffices
  void leave(std::string_view statistics_json) noexcept override { say_last(frame_kind::leave, statistics_json); }
  void depart(std::string_view statistics_json) noexcept override { say_last(frame_kind::departs, statistics_json); }
  [[nodiscard]] int descriptor() const noexcept override { return socket_.descriptor(); }
  [[nodiscard]] news poll_news() noexcept override;

 private:
  void say_last(frame_kind what, std::string_view statistics_json) noexcept;
  /// Sorts what has arrived into news_ and gathered_.
  void take_in();

  channel socket_;
  int node_, nodes_, local_nodes_, limit_ms_;
  std::deque<news> news_;
  std::optional<std::string> gathered_;  ///< the answer to our address, packed
  bool ended_ = false;                   ///< the launcher is gone, and news_ says so
};

/// The job that the environment (QUIRE_JOB_*, which it clears) tells of. NOT_FOUND without it; BAD_OPTION, SYSTEM.
[[nodiscard]] base::result<std::unique_ptr<bootstrap>> join_launched();
/// Closes its socket and clears the environment: another process joins.
void forget_launched() noexcept;
/// A job of this process alone.
[[nodiscard]] std::unique_ptr<bootstrap> join_alone();

}  // namespace quire::bootstrap::local
