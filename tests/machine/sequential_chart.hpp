// SPDX-License-Identifier: BSD-3-Clause
// Message sequence charts of the sequential protocol: machines of a few nodes joined by a queue, and everything they do
// as lines of text. Messages arrive in the order in which they were sent, unless a test picks one.
//
//   2: read fault              a thread of node 2
//   2 -> 0 read_request        a message, when it is sent; `+data` if the content goes along, `zero` if it need not
//   0: protect write > read    an action on the application view
//   2: wake
//
// A self-sent message is a line too, but no hop.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <sstream>
#include <string>
#include <vector>

#include "protocol/sequential/machine.hpp"
#include "sim/network.hpp"

namespace quire::sequential {

using model::action;
using model::action_kind;
using model::message_kind;

/// Units 0 to N-1, unit u managed by node u, for N nodes.
class chart {
 public:
  explicit chart(unsigned nodes, bool stored = false, bool one_memory = false)
      : one_host_(nodes),
        units_(nodes * nodes),
        entries_(nodes * nodes),
        pools_(nodes, directory::request_pool(1)),
        pins_(nodes, pin_table(nodes)) {
    for (std::uint16_t n = 0; n < nodes; ++n) {
      region_shape shape;
      shape.self = node_id{n};
      shape.nodes = model::geometry::of(nodes);
      shape.managers = directory::manager_map::make(model::placement::modulo, nodes, nodes, {});
      shape.units = nodes;
      shape.stored = stored;
      if (one_memory) shape.hosts.first = one_host_.data();
      shape.one_memory = one_memory;
      machines_.emplace_back(shape, &units_[n * nodes], &entries_[n * nodes], pools_[n], pins_[n]);
    }
  }

  fault_outcome fault(std::uint16_t node, access want, std::uint64_t unit = 0, unsigned lost = 0) {
    line(node, want == access::write ? "write fault" : "read fault");
    const auto outcome = at(node).on_fault(unit, want, out_, lost);
    perform(node);
    return outcome;
  }
  void advise(std::uint16_t node, bool will_write, std::uint64_t unit = 0) { at(node).on_advice(unit, will_write); }
  /// A fault with all that follows from it; not part of the chart.
  void before(std::uint16_t node, access want, std::uint64_t unit = 0) {
    (void)fault(node, want, unit);
    run();
    (void)take();
  }
  bool read_ahead(std::uint16_t node, access want, bool withhold, std::uint64_t unit = 0) {
    const bool asked = at(node).on_read_ahead(unit, want, withhold, out_);
    perform(node);
    return asked;
  }
  bool hint(std::uint16_t node, access want, std::uint64_t unit = 0) {
    const bool any = at(node).on_hint(unit, want, out_);
    perform(node);
    return any;
  }
  void add(std::uint16_t node, std::uint64_t value, std::uint64_t unit = 0) {
    line(node, "add");
    message call;
    call.unit = unit;
    call.a = value;
    call.token = 1;
    at(node).on_atomic(call, out_);
    perform(node);
  }
  void push(std::uint16_t node, std::uint64_t unit = 0) {
    line(node, "push");
    at(node).pushes().on_push(unit, 1, out_);
    perform(node);
  }
  fault_outcome pin(std::uint16_t node, std::uint64_t unit = 0) {
    line(node, "pin");
    const auto outcome = at(node).pins().on_pin(unit, out_);
    perform(node);
    return outcome;
  }
  /// The thread that waits for a pin was woken.
  fault_outcome pin_again(std::uint16_t node, std::uint64_t unit = 0) {
    line(node, "pin again");
    const auto outcome = at(node).pins().on_pin_again(unit, out_);
    perform(node);
    return outcome;
  }
  bool unpin(std::uint16_t node, std::uint64_t unit = 0) {
    line(node, "unpin");
    const bool was = at(node).pins().on_unpin(unit, out_);
    perform(node);
    return was;
  }
  void give_up(std::uint16_t node, std::uint64_t unit = 0) {
    line(node, "gives up");
    at(node).pins().on_pin_given_up(unit, out_);
    perform(node);
  }
  void hold_over(std::uint16_t node, std::uint64_t unit = 0) {
    line(node, "hold is over");
    at(node).on_hold_over(unit, out_);
    perform(node);
  }

  /// Of units that a store keeps.
  model::flush_outcome flush(std::uint16_t node, std::uint64_t unit = 0) {
    const auto outcome = at(node).stored().on_flush(unit, out_);
    perform(node);
    return outcome;
  }
  void flushed(std::uint16_t node, bool well, std::uint64_t unit = 0) {
    at(node).stored().on_flushed(unit, well, out_);
    perform(node);
  }
  void unfilled(std::uint16_t node, const message& request, int error) {
    EXPECT_TRUE(at(node).stored().on_unfilled(request, error, out_));
    perform(node);
  }
  void forget_messages() { flights_.clear(); }

  /// The oldest message on its way arrives. False if there is none.
  bool step() {
    if (flights_.empty()) return false;
    arrive(0);
    return true;
  }
  void run() {
    while (step()) {
    }
  }
  /// The oldest message of `kind` to `to` overtakes all others.
  void deliver(message_kind kind, std::uint16_t to) {
    for (std::size_t i = 0; i < flights_.size(); ++i) {
      if (flights_[i].m.kind != kind || flights_[i].to != node_id{to}) continue;
      return arrive(i);
    }
    ADD_FAILURE() << "no " << sim::name_of(kind) << " is on its way to " << to;
  }
  [[nodiscard]] std::size_t in_flight() const { return flights_.size(); }

  /// The lines since the last call.
  std::string take() {
    hops_ = payloads_ = 0;
    return std::exchange(lines_, {});
  }
  [[nodiscard]] unsigned hops() const { return hops_; }          ///< messages between nodes since take()
  [[nodiscard]] unsigned payloads() const { return payloads_; }  ///< of them with content
  machine& at(std::uint16_t node) { return machines_[node]; }

 private:
  struct flight {
    node_id to;
    message m;
  };

  void arrive(std::size_t i) {
    const flight f = flights_[i];
    flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(i));
    at(f.to.value()).on_message(f.m, out_);
    perform(f.to.value());
  }
  void perform(std::uint16_t node) {
    for (const action& a : out_) {
      switch (a.kind) {
        case action_kind::send:
          send(node, a.to, a.m, a.with_content);
          break;
        case action_kind::multicast:
          a.targets.for_each([&](node_id to) { send(node, to, a.m, a.with_content); });
          break;
        case action_kind::protect:
          line(node, std::string("protect ") + name(a.from) + " > " + name(a.level));
          break;
        case action_kind::permit:
          line(node, std::string("permit ") + name(a.from) + " > " + name(a.level));
          break;
        case action_kind::wake:
          line(node, "wake");
          break;
        case action_kind::refuse:
          line(node, "refuse");
          break;
        case action_kind::flush:
          line(node, "flush");
          break;
        case action_kind::leave:
          line(node, "leave " + std::to_string(a.m.a));
          break;
        case action_kind::hold:
          line(node, "hold " + std::to_string(a.m.a));
          break;
        case action_kind::operate:
          line(node, "operate");
          send(node, a.to, a.m, false);
          break;
        case action_kind::operate_here:
          line(node, "operate here");
          break;
        case action_kind::complete:
          line(node, "complete");
          break;
        case action_kind::publish:
        case action_kind::make_twin:
        case action_kind::send_patch:
        case action_kind::send_diff:
        case action_kind::drop_twin:
        case action_kind::unseen:
          ADD_FAILURE() << "the sequential protocol has no twins";
          break;
      }
    }
    EXPECT_TRUE(out_.size() == 0 || at(node).is_valid(out_[0].unit));
    out_.clear();
  }
  void send(std::uint16_t from, node_id to, message m, bool with_content) {
    m.from = node_id{from};
    lines_ += std::to_string(from) + " -> " + std::to_string(to.value()) + " " + sim::name_of(m.kind);
    if (m.acks != 0) lines_ += " acks " + std::to_string(m.acks);
    if (with_content) lines_ += " +data";
    if ((m.flags & model::message_flag::zero) != 0) lines_ += " zero";
    if ((m.flags & model::message_flag::no_data) != 0) lines_ += " no_data";
    lines_ += "\n";
    if (node_id{from} != to) ++hops_;
    if (with_content) ++payloads_;
    flights_.push_back({to, m});
  }
  void line(std::uint16_t node, const std::string& what) { lines_ += std::to_string(node) + ": " + what + "\n"; }
  static const char* name(access a) { return a == access::none ? "none" : a == access::read ? "read" : "write"; }

  std::vector<std::uint16_t> one_host_;  ///< all nodes are on node 0's
  std::vector<unit_state> units_;
  std::vector<directory_entry> entries_;
  std::vector<directory::request_pool> pools_;
  std::vector<pin_table> pins_;
  std::deque<machine> machines_{};
  std::deque<flight> flights_{};
  model::actions out_{};
  std::string lines_{};
  unsigned hops_ = 0, payloads_ = 0;
};

/// A chart as it stands in a test: without indentation and empty lines.
inline std::string lines(const char* text) {
  std::istringstream in(text);
  std::string all;
  for (std::string one; std::getline(in, one);) {
    const auto start = one.find_first_not_of(' ');
    if (start != std::string::npos) all += one.substr(start) + "\n";
  }
  return all;
}

}  // namespace quire::sequential
