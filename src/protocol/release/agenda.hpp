// SPDX-License-Identifier: BSD-3-Clause
// What a node has begun and not finished: a stack of tasks, each with how far it has come. A task that needs another
// one puts it on top; an event does so, too. The one on top goes on, an action at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.hpp"
#include "base/fault_heap.hpp"
#include "model/edge.hpp"
#include "model/message.hpp"
#include "protocol/contract/domain.hpp"
#include "protocol/release/interval.hpp"

namespace quire::release {

struct task {
  enum class kind : std::uint8_t {
    send,           ///< `m` with `value`, which is `edge`, to `to`: behind the release that it asks for
    leave,          ///< the message that goes out, behind what its receiver is to be told
    open_gate,      ///< those that wait and may leave do
    hurry,          ///< nodes other than `to` that hold diffs back are called
    call,           ///< so is `to`, which has called
    tell,           ///< to `to`, all notices
    release,        ///< `flag`: no unit keeps its right; `to`: whom a message behind it goes to
    look_at_kept,   ///< `flag`: all end
    end_keeping,    ///< of `unit`
    add_interval,   ///< what has left joins the history
    relieve,        ///< to `end` twins
    apply,          ///< diffs have come
    give_lone,      ///< `flag`: at rest
    give_at_epoch,  ///< from `at` on
    acquire,        ///< notices from `first` on; `flag`: some were of homes, `other`: some of what was written
    end_epoch,      ///< of `group`
    hear,           ///< what was kept back
    cut,            ///< `first`: the dead
  };
  kind what = kind::hear;
  std::uint8_t step = 0;  ///< how far it has come
  bool flag = false, other = false;
  model::edge edge = model::edge::none;
  node_id to{};
  std::uint64_t first = 0, at = 0, within = 0, end = 0;  ///< in a list
  written_unit unit{};
  protocol::round_marks* group = nullptr;
  model::message m{};
  std::span<const std::byte> value{};
};

class agenda {
 public:
  agenda() { tasks_.reserve(16); }
  /// On top of all others. References to tasks end.
  task& push(task::kind what) {
    task& t = tasks_.emplace_back();
    t.what = what;
    return t;
  }
  void pop() noexcept { tasks_.pop_back(); }
  [[nodiscard]] task& top() noexcept { return tasks_.back(); }
  [[nodiscard]] std::size_t size() const noexcept { return tasks_.size(); }
  [[nodiscard]] bool has(task::kind what) const noexcept {
    return std::ranges::any_of(tasks_, [what](const task& t) { return t.what == what; });
  }

 private:
  base::fault_vector<task> tasks_{};
};

}  // namespace quire::release
