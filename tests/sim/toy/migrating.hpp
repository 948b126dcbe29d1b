// SPDX-License-Identifier: BSD-3-Clause
// A protocol in 120 lines, to show what one takes: a unit is on one node at a time, and goes whole to whoever touches
// it (migration; Li and Hudak 1989, section 2). Its manager knows who asked last, and sends the next request there; who
// has not got the unit yet remembers who comes next. So all reads and writes of a unit are in one order.
#pragma once

#include "protocol/contract/row.hpp"

namespace quire::toy {

using model::access;
using model::action_kind;
using model::message;
using model::message_kind;
using model::node_id;

inline constexpr model::protocol_id id{3};
inline constexpr message_kind request = message_kind::other_first;  ///< to the manager
inline constexpr auto order = static_cast<message_kind>(
    static_cast<int>(request) + 1);  ///< manager -> who has the unit, or will: give it to the requester
inline constexpr auto arrival = static_cast<message_kind>(static_cast<int>(request) + 2);

struct unit_state {
  bool known, here, mapped, asked, held, written, has_next;
  node_id next;  ///< to whom the unit goes from here
  node_id last;  ///< at the manager: who asked last
};

class machine final : public model::machine {
 public:
  machine(const protocol::job& node, const protocol::region_shape& shape)
      : model::machine(id), self_(node.self), shape_(shape), units_(node.memory) {}
  [[nodiscard]] int open() { return units_.make(shape_.units); }
  static inline bool forgets_to_protect = false;  ///< for a test that must fail

  model::fault_outcome on_fault(std::uint64_t unit, access, model::actions& out, unsigned) override {
    unit_state& s = touch(unit);
    if (s.here) permit(unit, s, out);
    if (s.here) return model::fault_outcome::local;
    if (s.asked) return model::fault_outcome::joined;
    s.asked = true;
    ++outstanding_;
    send(authority_of(unit), request, unit, self_, out);
    return model::fault_outcome::started;
  }
  void on_message(const message& m, model::actions& out) override {
    unit_state& s = touch(m.unit);
    if (m.kind == request) {
      send(std::exchange(s.last, m.requester), order, m.unit, m.requester, out);
    } else if (m.kind == order) {
      s.has_next = true;
      s.next = m.requester;
      if (s.here && !s.held) hand_over(m.unit, s, out);
    } else if (m.kind == arrival && s.asked) {
      s.asked = false;
      --outstanding_;
      s.here = s.held = true;
      s.written = s.written || (m.flags & model::message_flag::zero) == 0;
      permit(m.unit, s, out);
      out.add(action_kind::wake, m.unit);
      out.add(action_kind::hold, m.unit).m.a = 1;  // so that threads can use it once
    }
  }
  void on_hold_over(std::uint64_t unit, model::actions& out) override {
    unit_state& s = touch(unit);
    s.held = false;
    if (s.here && s.has_next) hand_over(unit, s, out);
  }
  [[nodiscard]] access mapped(std::uint64_t u) const noexcept override {
    return units_.data()[u].mapped ? access::write : access::none;
  }
  [[nodiscard]] bool awaits_content(std::uint64_t u) const noexcept override { return units_.data()[u].asked; }
  [[nodiscard]] bool is_written(std::uint64_t u) const noexcept override { return units_.data()[u].written; }
  [[nodiscard]] bool keeps(std::uint64_t u) const noexcept override {
    return units_.data()[u].known ? units_.data()[u].here : authority_of(u) == self_;
  }
  [[nodiscard]] bool has_content(std::uint64_t u) const noexcept override { return keeps(u); }
  [[nodiscard]] node_id authority_of(std::uint64_t u) const noexcept override { return shape_.managers.of(u); }
  [[nodiscard]] std::uint64_t outstanding() const noexcept override { return outstanding_; }
  [[nodiscard]] std::uint64_t units() const noexcept override { return shape_.units; }

 private:
  unit_state& touch(std::uint64_t unit) noexcept {
    unit_state& s = units_.data()[unit];
    if (!std::exchange(s.known, true)) {
      s.here = authority_of(unit) == self_;
      s.last = self_;
    }
    return s;
  }
  model::action& send(node_id to, message_kind what, std::uint64_t unit, node_id requester, model::actions& out) const {
    model::action& a = out.add(action_kind::send, unit);
    a.to = to;
    a.m.kind = what;
    a.m.region = shape_.region;
    a.m.from = self_;
    a.m.requester = requester;
    a.m.unit = unit;
    return a;
  }
  static void permit(std::uint64_t unit, unit_state& s, model::actions& out) {
    if (std::exchange(s.mapped, true)) return;
    model::action& a = out.add(action_kind::permit, unit);
    a.level = access::write;
    a.fresh = !std::exchange(s.written, true);  // who may write will have written
  }
  void hand_over(std::uint64_t unit, unit_state& s, model::actions& out) {
    if (std::exchange(s.mapped, false) && !forgets_to_protect) out.add(action_kind::protect, unit).from = access::write;
    s.here = s.has_next = false;
    model::action& a = send(s.next, arrival, unit, s.next, out);
    a.with_content = s.written;
    if (!s.written) a.m.flags = model::message_flag::zero;
  }

  node_id self_;
  protocol::region_shape shape_;
  protocol::table<unit_state> units_;
  std::uint64_t outstanding_ = 0;
};

inline constexpr protocol::message_traits messages[] = {
    {.kind = request}, {.kind = order}, {.kind = arrival, .brings = protocol::payload::content}};

inline constexpr protocol::row row{
    .id = id,
    .name = "migrating",
    .messages = messages,
    .make_domain = [](const protocol::job&) { return std::make_unique<protocol::domain>(); },
    .make_machine =
        [](const protocol::job& node, const protocol::region_shape& shape, protocol::domain&, int& error) {
          auto made = std::make_unique<machine>(node, shape);
          error = made->open();
          return std::unique_ptr<model::machine>(std::move(made));
        },
};

}  // namespace quire::toy
