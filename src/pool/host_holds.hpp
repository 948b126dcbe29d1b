// SPDX-License-Identifier: BSD-3-Clause
// Which frames of a host are in use, and by how many of its nodes, where memory has a limit (QUIRE_HOST_FRAMES with
// QUIRE_MEMORY_LIMIT). A frame that several nodes hold takes memory once, and goes back to the system when the last of
// them lets it go. The table lies in memory that all nodes of the host map; zeros are its beginning. Of each node, the
// driver's thread only.
//
// Who asks another node for a unit holds its frame from then on: a node of the host may answer that the content is
// there, and let the frame go before the answer has come (the sequential protocol, Frames of a host).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quire::pool {

class host_holds {
 public:
  static constexpr unsigned most_nodes = 0xfffe;
  host_holds() = default;
  host_holds(const host_holds&) = delete;
  host_holds& operator=(const host_holds&) = delete;
  /// `table`: of host_table_bytes(), common to the host's nodes, of which each comes once; null: there is none.
  /// `limit`: this node's, in bytes.
  void open(std::byte* table, std::uint64_t limit) noexcept;
  [[nodiscard]] bool any() const noexcept { return head_ != nullptr; }

  /// This node holds the frame that begins at `position` of the range, and takes `bytes`, once more. While another node
  /// gives it back, it waits for that: microseconds. A node that does not end it has died, and so does this one.
  void enter(std::uint64_t position, std::uint64_t bytes) noexcept;
  /// It does not hold it any more. True: nobody does. Then the frame goes back to the system, and the caller says
  /// gone() when it has.
  [[nodiscard]] bool leave(std::uint64_t position) noexcept;
  void gone(std::uint64_t position, std::uint64_t bytes) noexcept;
  /// Memory of this node's own, which counts as well.
  void add_own(std::uint64_t bytes) noexcept { head_->used.fetch_add(bytes, std::memory_order_relaxed); }
  void remove_own(std::uint64_t bytes) noexcept { head_->used.fetch_sub(bytes, std::memory_order_relaxed); }
  /// How many nodes hold it. For checks.
  [[nodiscard]] unsigned count(std::uint64_t position) const noexcept;

  /// What all nodes of the host take, each frame once, and what they may take together: bytes.
  [[nodiscard]] std::uint64_t used() const noexcept { return head_->used.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t limit() const noexcept { return head_->limit.load(std::memory_order_relaxed); }

 private:
  struct head {
    std::atomic<std::uint64_t> used, limit;
  };
  using entry = std::atomic<std::uint16_t>;  ///< nodes that hold the frame which begins with this page, or `going`
  static constexpr std::uint16_t going = 0xffff;
  [[nodiscard]] entry& at(std::uint64_t position) const noexcept;

  head* head_ = nullptr;
};

}  // namespace quire::pool
