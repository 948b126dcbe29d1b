// SPDX-License-Identifier: BSD-3-Clause
// What the domain of a node wants done, in order: an event adds to it, and the core, or a simulator, does what next()
// says (protocol/contract/domain.hpp). An event that comes while an action of another is performed goes first. Pure.
// Driver's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.hpp"
#include "base/fault_heap.hpp"
#include "model/action.hpp"
#include "model/message.hpp"
#include "protocol/contract/domain_action.hpp"

namespace quire::transaction {

class agenda {
 public:
  using action = protocol::domain_action;
  /// The domain goes on by itself when all that its event has asked for before is done. What it means is the domain's.
  struct step {
    std::uint8_t what = 0;
    model::node_id of{};
  };

  // ---- An event adds
  void perform(model::region_id region, const model::actions& list);
  void perform_all() { add(action::kind::perform_all); }
  /// `value` is copied.
  void transmit(model::node_id to, const model::message& m, std::span<const std::byte> value = {}) {
    add(action::kind::transmit, to, m, value);
  }
  void admit(const model::message& m, std::span<const std::byte> value) { add(action::kind::admit, {}, m, value); }
  /// The last that an event adds.
  void go_on(step s);

  // ---- What is to be done
  /// Events of which something is left.
  [[nodiscard]] std::size_t size() const noexcept { return used_; }
  /// See domain::next(). Calls go_on(step) when one is due, which adds what comes next.
  template <class F>
  [[nodiscard]] const action* next(std::size_t left, F&& go_on) {
    while (used_ > left) {
      event& e = *events_[used_ - 1];
      if (e.at == e.entries.size()) {
        close(e);
        continue;
      }
      if (e.entries[e.at].is_step) {
        const step s = e.entries[e.at].goes_on;
        close(e);  // what comes next is an event of its own, in the place of this one
        go_on(s);
        continue;
      }
      return hand_out(e);
    }
    return nullptr;
  }

 private:
  struct entry {
    action::kind what = action::kind::perform;
    bool is_step = false;
    step goes_on{};
    model::region_id region{};
    model::node_id to{};
    model::message m{};
    std::size_t first = 0, count = 0;  ///< of the actions, or the bytes, of its event
  };
  /// Stays where it is while others come and go: actions that are performed refer to it.
  struct event {
    base::fault_vector<entry> entries{};
    base::fault_vector<model::action> actions{};
    base::fault_vector<std::byte> bytes{};
    std::size_t at = 0;
    bool has_begun = false;
    model::actions list{};  ///< that is performed now
    action now{};
  };
  [[nodiscard]] event& open();
  entry& add(action::kind what);
  void add(action::kind what, model::node_id to, const model::message& m, std::span<const std::byte> value);
  void close(event& e) noexcept;
  [[nodiscard]] const action* hand_out(event& e) noexcept;

  base::fault_vector<base::fault_ptr<event>> events_{};
  std::size_t used_ = 0;
};

}  // namespace quire::transaction
