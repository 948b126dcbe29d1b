// SPDX-License-Identifier: BSD-3-Clause
// What a machine wants done. Machines return bounded lists of these; the engine performs them on mechanisms, the
// simulator on its virtual network and memory. The order matters: a `protect` before a `send` of the same unit takes
// the right away before the content is read.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/check.hpp"
#include "model/copyset.hpp"
#include "model/ids.hpp"
#include "model/message.hpp"

namespace quire::model {

enum class action_kind : std::uint8_t {
  send,       ///< `m` to node `to`; with the unit's content if `with_content`
  multicast,  ///< `m` to every node of `targets`
  protect,    ///< lower the application view of the unit from `from` to `level`
  permit,     ///< raise the application view of the unit from `from` to `level`
  wake,       ///< threads that wait for the unit may try again
  refuse,   ///< threads that wait for the unit get the error of `m` (errno, in `operation`): its content cannot be had
            ///< from its store
  flush,    ///< the unit's content as it is now goes to its store; then call on_flushed(unit)
  leave,    ///< the unit's content leaves memory here, or stays: `m.a` is a model::leave_end (storing.hpp)
  operate,  ///< do the atomic operation of `m` on the unit's content, then send `m` to `to`, with `a` = value before
  operate_here,  ///< the same for a local thread: do the operation, then complete the call of `m.token`
  complete,      ///< the call of the local thread that waits under `m.token` has ended with `m.a`
  make_twin,     ///< copy the unit's content into its twin
  send_diff,   ///< `m` with the difference between the unit and its twin to node `to`; the twin is dropped, or `keep`s
               ///< up with the unit
  send_patch,  ///< the same to every node of `targets`, nobody perhaps; the twin keeps up with the unit
  publish,     ///< the unit's content becomes what threads here have written into private copies
  drop_twin,   ///< the twin is needed no longer
  unseen,      ///< threads here may have written the unit, and nobody knows which bytes
  hold,  ///< call on_hold_over(unit) when the threads woken have had time to use it; the longer the higher `m.a` (1 to
         ///< 7)
};

/// The nodes of a multicast: a copyset less up to two nodes.
struct node_set {
  copyset members{};
  geometry shape{};
  node_id skip_a{}, skip_b{};

  [[nodiscard]] unsigned count() const noexcept { return members.count(shape, skip_a, skip_b); }
  template <class F>
  void for_each(F&& f) const {
    members.for_each(shape, skip_a, skip_b, f);
  }
  friend bool operator==(const node_set&, const node_set&) noexcept = default;
};

struct action {
  action_kind kind = action_kind::send;
  access from = access::none;
  access level = access::none;
  bool with_content = false;  ///< send: the payload is the unit's content
  bool keep = false;          ///< send_diff: the twin stays in use, and becomes what was sent
  bool fresh = false;         ///< permit: the content was never written, its frame may not exist yet
  node_id to{};
  std::uint64_t unit = 0;
  message m{};
  node_set targets{};
};

/// The actions of one step, in order. A step adds a handful; the capacity is checked.
class actions {
 public:
  static constexpr std::size_t capacity = 8;
  action& add(action_kind kind, std::uint64_t unit) noexcept {
    CHECK(size_ < capacity);
    action& next = items_[size_++];
    next = action{};
    next.kind = kind;
    next.unit = unit;
    return next;
  }
  void clear() noexcept { size_ = 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const action* begin() const noexcept { return items_.data(); }
  [[nodiscard]] const action* end() const noexcept { return items_.data() + size_; }
  [[nodiscard]] const action& operator[](std::size_t i) const noexcept { return items_[i]; }
  [[nodiscard]] action& operator[](std::size_t i) noexcept { return items_[i]; }

 private:
  std::array<action, capacity> items_{};
  std::size_t size_ = 0;
};

}  // namespace quire::model
