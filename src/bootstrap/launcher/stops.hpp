// SPDX-License-Identifier: BSD-3-Clause
// Nodes that are stopped by a signal and do not go on. Nobody watches a node before its first message and after
// quire_end(), and a node may compute for as long as it likes then; but one that is stopped, which the kernel says,
// does not. Pure: states and clock are inputs. As in src/watch, time counts only while whoever looks runs, so that a
// job that is stopped as a whole goes on.
#pragma once

#include <cstdint>
#include <vector>

namespace quire::bootstrap::launcher {

class stops {
 public:
  /// A limit of 0: nobody looks.
  stops(int nodes, std::uint64_t limit_ns) : limit_ns_(limit_ns), nodes_(static_cast<std::size_t>(nodes)) {}

  void begin(std::uint64_t now) noexcept { looked_ = now; }
  /// When states are to be looked at next; never: UINT64_MAX.
  [[nodiscard]] std::uint64_t next_look() const noexcept { return limit_ns_ == 0 ? UINT64_MAX : looked_ + step_ns(); }
  void saw(int node, bool stopped) noexcept {
    auto& one = nodes_[static_cast<std::size_t>(node)];
    if (!stopped) one = {};
    one.stopped = stopped;
  }
  [[nodiscard]] bool is_stopped(int node) const noexcept { return nodes_[static_cast<std::size_t>(node)].stopped; }
  [[nodiscard]] std::uint64_t stopped_ns(int node) const noexcept {
    return nodes_[static_cast<std::size_t>(node)].for_ns;
  }
  /// After all states were told. A node that has been stopped for the limit; -1: none.
  [[nodiscard]] int look(std::uint64_t now) noexcept;

 private:
  static constexpr unsigned parts = 8;
  [[nodiscard]] std::uint64_t step_ns() const noexcept { return limit_ns_ / parts; }
  struct state {
    bool stopped = false, seen = false;
    std::uint64_t for_ns = 0;  ///< that counts
  };
  std::uint64_t limit_ns_, looked_ = 0;
  std::vector<state> nodes_;
};

}  // namespace quire::bootstrap::launcher
