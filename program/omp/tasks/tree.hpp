// SPDX-License-Identifier: BSD-3-Clause
// A meeting of nodes along a tree: a node is complete when it is ready and all below it are; the root's completion
// releases all. Meetings have rising numbers; some may be given up, as long as a later one comes. Pure.
#pragma once

#include <array>
#include <cstdint>

namespace quire::program {

class meeting_tree {
 public:
  static constexpr int arity = 4;
  void set(int node, int nodes) noexcept {
    node_ = node;
    nodes_ = nodes;
  }
  [[nodiscard]] int parent() const noexcept { return (node_ - 1) / arity; }
  [[nodiscard]] int first_child() const noexcept { return arity * node_ + 1; }
  [[nodiscard]] int children() const noexcept {
    const int left = nodes_ - first_child();
    return left < 0 ? 0 : left < arity ? left : arity;
  }
  [[nodiscard]] bool is_root() const noexcept { return node_ == 0; }

  /// This node is ready for a meeting; a child has said so for all below it.
  void on_ready(std::uint64_t meeting) noexcept { raise(ready_, meeting); }
  void on_arrived(int child, std::uint64_t meeting) noexcept {
    raise(arrived_[static_cast<std::size_t>(child - first_child())], meeting);
  }
  void on_released(std::uint64_t meeting) noexcept { raise(released_, meeting); }

  /// The meeting for which this node and all below it are complete since the last call: to be told to the parent, or,
  /// by the root, to all. 0: none.
  [[nodiscard]] std::uint64_t take_complete() noexcept {
    std::uint64_t least = ready_;
    for (int i = 0; i < children(); ++i)
      least = arrived_[static_cast<std::size_t>(i)] < least ? arrived_[static_cast<std::size_t>(i)] : least;
    if (ready_ == 0 || least < ready_ || told_ >= ready_) return 0;
    return told_ = ready_;
  }
  [[nodiscard]] std::uint64_t released() const noexcept { return released_; }

 private:
  static void raise(std::uint64_t& value, std::uint64_t to) noexcept {
    if (to > value) value = to;
  }
  int node_ = 0, nodes_ = 1;
  std::array<std::uint64_t, arity> arrived_{};
  std::uint64_t ready_ = 0, told_ = 0, released_ = 0;
};

}  // namespace quire::program
