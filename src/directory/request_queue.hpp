// SPDX-License-Identifier: BSD-3-Clause
// Requests that wait at their unit's manager, first come first served: per unit a list of cells from one pool per node.
// "Requests queue only at the manager" (Millipage, section 3.3; KOAN, section 4.3.2). Driver's thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "base/fault_heap.hpp"
#include "model/message.hpp"

namespace quire::directory {

/// Head and tail of one unit's list; zero is empty (cell numbers start at 1).
struct request_list {
  std::uint32_t head = 0, tail = 0;
  [[nodiscard]] bool empty() const noexcept { return head == 0; }
};

/// All cells of a node. Its room is bounded by what can be outstanding (nodes x threads and read-ahead windows); it
/// grows in chunks beyond what it starts with, on the driver's thread, which never holds an application's lock.
class request_pool {
 public:
  explicit request_pool(std::size_t cells = 4096) { cells_.reserve(cells + 1), cells_.resize(1); }

  void push(request_list& list, const model::message& m) {
    const std::uint32_t index = take();
    cells_[index] = {m, 0};
    if (list.tail != 0) {
      cells_[list.tail].next = index;
    } else {
      list.head = index;
    }
    list.tail = index;
    ++in_use_;
  }
  [[nodiscard]] const model::message& front(const request_list& list) const noexcept {
    CHECK(!list.empty());
    return cells_[list.head].m;
  }
  void pop(request_list& list) noexcept {
    CHECK(!list.empty());
    const std::uint32_t index = list.head;
    list.head = cells_[index].next;
    if (list.head == 0) list.tail = 0;
    cells_[index].next = free_;
    free_ = index;
    --in_use_;
  }
  /// Requests in a list; of a long one, `most`.
  [[nodiscard]] unsigned size(const request_list& list, unsigned most) const noexcept {
    unsigned count = 0;
    for (std::uint32_t at = list.head; at != 0 && count < most; at = cells_[at].next) ++count;
    return count;
  }
  [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }

 private:
  struct cell {
    model::message m{};
    std::uint32_t next = 0;
  };
  std::uint32_t take() {
    if (free_ != 0) {
      const std::uint32_t index = free_;
      free_ = cells_[index].next;
      return index;
    }
    cells_.emplace_back();
    return static_cast<std::uint32_t>(cells_.size() - 1);
  }
  base::fault_vector<cell> cells_;
  std::uint32_t free_ = 0;
  std::size_t in_use_ = 0;
};

}  // namespace quire::directory
