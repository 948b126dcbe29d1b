// SPDX-License-Identifier: BSD-3-Clause
// An array of a group on its way up and down the tree, in pieces. It begins when a round of the group has found that
// all of its threads have called the same, so nothing is left to be refused.
//
// Each node combines piece by piece what its own threads have, in the order of their places, and then what its children
// send, in their order: the same bits on every node and in every run. The root's pieces are the result, and go down. A
// node has at most `window` pieces more above it than have come back, so each child needs that much room at its parent.
// In a broadcast pieces go up without content but from the root's side: they say that there is room for what comes
// down.
//
// Content is combined in the first thread's array (the root's, in a broadcast), and what comes down is written there
// too, and copied to the other threads' arrays.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/fault_heap.hpp"
#include "sync/combine.hpp"
#include "sync/tree.hpp"

namespace quire::sync {

struct array_limits {
  std::uint32_t piece_bytes = 32u << 10;  ///< a multiple of 8
  std::uint32_t window = 4;
};

class exchange {
 public:
  exchange(const context& shared, const tree& t, object_id group, array_limits limits)
      : shared_(shared), tree_(t), group_(group), limits_(limits) {}

  struct plan {
    std::uint64_t round = 0;
    call_shape shape{};
    bool has_content = true;  ///< a thread of this node gives something: not so in broadcasts from elsewhere
  };
  /// Room for what children send, and for so many threads' arrays: before the first array, where memory may be had.
  void make_room(std::size_t threads);
  /// The threads' arrays, equally long, the first one to work in: to be filled in before begin().
  [[nodiscard]] base::fault_vector<std::span<std::byte>>& arrays() noexcept { return arrays_; }
  void begin(const plan& p);
  /// It is gone: what comes for it is dropped.
  void stop() noexcept { arrays_.clear(); }
  [[nodiscard]] bool active() const noexcept { return !arrays_.empty(); }

  void on_up(const message& m, std::span<const std::byte> bytes) noexcept;
  void on_down(const message& m, std::span<const std::byte> bytes) noexcept;
  /// Sends what can be sent. True if this node has all, and has passed it on.
  [[nodiscard]] bool advance(actions& out);

 private:
  /// A piece that a child has sent.
  struct arrival {
    bool present = false;
    std::uint32_t bytes = 0;
  };
  [[nodiscard]] std::span<std::byte> piece_of(std::span<std::byte> array, std::uint64_t piece) const noexcept;
  [[nodiscard]] arrival& arrival_of(unsigned child, std::uint64_t piece) noexcept {
    return arrivals_[child * limits_.window + piece % limits_.window];
  }
  [[nodiscard]] std::byte* room_of(unsigned child, std::uint64_t piece) noexcept {
    return room_.data() + (child * limits_.window + piece % limits_.window) * limits_.piece_bytes;
  }
  [[nodiscard]] bool can_go_up() noexcept;
  void go_up(actions& out);
  void take_from_children(std::uint64_t piece);
  void go_down(actions& out);
  [[nodiscard]] message make(kind k, std::uint64_t piece) const noexcept;

  const context& shared_;
  const tree& tree_;
  object_id group_;
  array_limits limits_;
  plan plan_{};
  base::fault_vector<std::span<std::byte>> arrays_{};
  unsigned children_ = 0;
  std::uint64_t pieces_ = 0;
  std::uint64_t up_ = 0;                    ///< pieces that have gone up, or are results at the root
  std::uint64_t down_ = 0;                  ///< pieces that are whole here, and have gone down
  bool content_up_ = false;                 ///< the piece that goes up next has content
  base::fault_vector<arrival> arrivals_{};  ///< by child and place in the window
  base::fault_vector<bool> results_{};      ///< by place in the window: it has come down
  base::fault_vector<std::byte> room_{};
};

}  // namespace quire::sync
