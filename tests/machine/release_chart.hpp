// SPDX-License-Identifier: BSD-3-Clause
// Message sequence charts of the release protocol: machines of a few nodes joined by a queue, and everything they do as
// lines of text. Messages arrive in the order in which they were sent, unless a test picks one.
//
//   2: write fault              a thread of node 2
//   2 -> 0 copy_request         a message, when it is sent; `+data` if the content goes along, `zero` if it need not
//   0: twin, 0: drop twin       and protect, permit, wake, operate, complete
//   2 -> 0 diff                 the difference to the twin; there always is one
//   0: applies diff of 2        or: has own diff; forwards diff of 2
//   0 -> 2 ack                  to where the diff came from, in the end to its writer
//
// A notice that an acquire takes, and who wrote a unit alone in an epoch, are said by the test: node.hpp finds them
// out.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <sstream>
#include <string>
#include <vector>

#include "protocol/release/machine.hpp"
#include "sim/network.hpp"

namespace quire::release {

using model::action;
using model::action_kind;
using model::message_kind;

/// Units 0 to N-1, the home of unit u is node u, for N nodes.
class chart {
 public:
  explicit chart(unsigned nodes, bool first_touch = false, updates update = updates::learned, bool scans = false,
                 bool pages_out = false, bool keeps = false, bool moves_between = true,
                 protocol::migratory migratory = protocol::migratory::never, bool one_memory = false)
      : units_(nodes * nodes), open_(nodes), pins_(nodes) {
    for (std::uint16_t n = 0; n < nodes; ++n) {
      region_shape shape;
      shape.moves_between = moves_between;
      shape.self = node_id{n};
      shape.nodes = model::geometry::of(nodes);
      shape.managers = directory::manager_map::make(model::placement::modulo, nodes, nodes, {});
      shape.units = nodes;
      shape.first_touch = first_touch;
      shape.update = update;
      shape.scans = scans;
      shape.pages_out = pages_out;
      shape.keeps = keeps;
      shape.migratory = migratory;
      shape.one_memory = one_memory;
      open_[n].pins = &pins_[n];
      open_[n].unacknowledged.resize(nodes);
      machines_.emplace_back(shape, &units_[n * nodes], open_[n]);
    }
  }

  fault_outcome fault(std::uint16_t node, access want, std::uint64_t unit = 0) {
    line(node, want == access::write ? "write fault" : "read fault");
    const auto outcome = at(node).on_fault(unit, want, out_);
    perform(node);
    return outcome;
  }
  /// A fault with all that follows from it; not part of the chart.
  void before(std::uint16_t node, access want, std::uint64_t unit = 0) {
    (void)fault(node, want, unit);
    run();
    (void)take();
  }
  fault_outcome pin(std::uint16_t node, bool again = false, std::uint64_t unit = 0) {
    line(node, again ? "pin again" : "pin");
    const auto outcome = again ? at(node).pins().on_pin_again(unit, out_) : at(node).pins().on_pin(unit, out_);
    perform(node);
    return outcome;
  }
  bool unpin(std::uint16_t node, std::uint64_t unit = 0) {
    line(node, "unpin");
    const bool was = at(node).pins().on_unpin(unit, out_);
    perform(node);
    return was;
  }
  void give_pin_up(std::uint16_t node, std::uint64_t unit = 0) {
    line(node, "gives up");
    at(node).pins().on_pin_given_up(unit, out_);
    perform(node);
  }
  /// Another node is short of memory.
  bool please_take(std::uint16_t node, std::uint64_t unit = 0) {
    const bool takes = at(node).frames().on_please_take(unit, out_);
    perform(node);
    return takes;
  }
  void produce(std::uint16_t node, std::uint64_t unit = 0) {
    release(node);
    at(node).pushes().on_produce_begin(unit, out_);
    perform(node);
  }
  void push(std::uint16_t node, std::uint64_t unit = 0) {
    at(node).pushes().on_push(unit, 1, out_);
    perform(node);
  }
  /// Content comes unasked: whether it was taken.
  bool spread(std::uint16_t node, std::uint64_t unit = 0) {
    if (!at(node).pushes().awaits_spread(unit)) return false;
    at(node).pushes().on_spread_copy(unit, false, out_);
    perform(node);
    return true;
  }
  bool hint(std::uint16_t node, access want, std::uint64_t unit = 0) {
    const bool any = at(node).on_hint(unit, want, out_);
    perform(node);
    return any;
  }
  bool read_ahead(std::uint16_t node, bool withhold, std::uint64_t unit = 0) {
    const bool asked = at(node).on_read_ahead(unit, access::read, withhold, out_);
    perform(node);
    return asked;
  }
  /// Threads of the node have written the unit, which keeps its right, since the last release.
  void written(std::uint16_t node, std::uint64_t unit = 0) {
    line(node, "has written");
    at(node).rights().on_written(unit);
  }
  /// The unit's right ends with this release.
  void end_keeping(std::uint16_t node, bool was_written, std::uint64_t unit = 0) {
    line(node, "keeps no longer");
    at(node).kept().on_keep_ends(unit, out_);
    perform(node);
    if (was_written) at(node).rights().on_written(unit);
    at(node).kept().on_keep_over(unit, out_);
    perform(node);
  }
  /// The interval of the node ends.
  void release(std::uint16_t node) {
    line(node, "release");
    ++open_[node].releases;
    for (const written_unit& w : std::exchange(open_[node].written, {})) {
      at(node).copies().on_release(w.unit, out_);
      perform(node);
    }
  }
  void notice(std::uint16_t node, std::uint64_t unit = 0) { notice_of(node, 0, ~std::uint32_t{0}, unit); }
  /// `teller`: who told this node; the node itself where that is not known.
  void notice_of(std::uint16_t node, std::uint16_t writer, std::uint32_t interval, std::uint64_t unit = 0) {
    notice_by(node, node, writer, interval, unit);
  }
  void notice_by(std::uint16_t node, std::uint16_t teller, std::uint16_t writer = 0,
                 std::uint32_t interval = ~std::uint32_t{0}, std::uint64_t unit = 0) {
    line(node, "notice");
    at(node).copies().on_notice(unit, node_id{writer}, interval, node_id{teller}, out_);
    perform(node);
  }
  /// The notices of the node's interval are about to be told.
  void told(std::uint16_t node, std::uint32_t interval, std::uint64_t unit = 0) {
    line(node, "tells");
    open_[node].told = interval;
    at(node).updates().on_told(unit, interval, out_);
    perform(node);
  }
  void twins_short(std::uint16_t node, std::uint64_t unit = 0) {
    line(node, "twins are short");
    at(node).copies().on_twins_short(unit, out_);
    perform(node);
  }
  /// Whether the home moves, with no more to be said.
  bool only_writer(std::uint16_t node, std::uint16_t writer, std::uint64_t unit = 0) {
    line(node, "only " + std::to_string(writer) + " wrote");
    at(node).homes().on_only_writer(unit, node_id{writer}, out_);
    const bool moves = std::any_of(out_.begin(), out_.end(),
                                   [](const model::action& a) { return a.m.kind == message_kind::home_move; });
    perform(node);
    return moves;
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

  /// A parallel block begins on all nodes, or ends: all that was written has been sent and told.
  void block(bool begins, bool checked = true) {
    for (std::uint16_t n = 0; n < machines_.size(); ++n) {
      if (!begins && checked && at(n).blocks().has_base(0)) at(n).blocks().on_base_dropped(0);
      at(n).blocks().check(begins && checked);
      at(n).successor().stay(begins);
      if (!at(n).knows(0)) continue;
      line(n, begins ? "block" : "end");
      begins ? at(n).blocks().on_block_begin(0, out_) : at(n).blocks().on_block_over(0, out_);
      perform(n);
    }
  }

  /// The oldest message on its way arrives. False if there is none.
  bool step() {
    if (flights_.empty()) return false;
    arrive(0);
    return true;
  }
  /// Nothing of what is on its way arrives.
  void lose() { flights_.clear(); }
  void run() {
    while (step()) {
    }
  }
  /// The oldest message of `kind` from `from` to `to` overtakes all others.
  void deliver(message_kind kind, std::uint16_t from, std::uint16_t to) {
    for (std::size_t i = 0; i < flights_.size(); ++i) {
      if (flights_[i].m.kind != kind || flights_[i].m.from != node_id{from} || flights_[i].to != node_id{to}) continue;
      return arrive(i);
    }
    ADD_FAILURE() << "no " << sim::name_of(kind) << " is on its way from " << from << " to " << to;
  }
  [[nodiscard]] std::size_t in_flight() const { return flights_.size(); }
  /// The lines since the last call.
  std::string take() { return std::exchange(lines_, {}); }
  machine& at(std::uint16_t node) { return machines_[node]; }
  [[nodiscard]] interval& open(std::uint16_t node) { return open_[node]; }
  [[nodiscard]] const unit_state& unit(std::uint16_t node, std::uint64_t u = 0) { return at(node).unit(u); }
  /// Diffs of the node that are not in the home's content, as it knows.
  [[nodiscard]] int unacknowledged(std::uint16_t node) const { return node < sent_.size() ? sent_[node] : 0; }

 private:
  struct flight {
    node_id to;
    message m;
  };

  void arrive(std::size_t i) {
    const flight f = flights_[i];
    flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(i));
    const std::uint16_t node = f.to.value();
    if (f.m.kind == message_kind::diffs) return on_diff(node, f.m);
    if (f.m.kind == message_kind::diffs_ack) return on_ack(node, f.m);
    if (f.m.kind == message_kind::update) {
      const update_outcome what = at(node).updates().on_update(f.m, out_);
      line(node, what == update_outcome::replace ? "takes the update"
                 : what == update_outcome::merge ? "merges the update"
                                                 : "drops the update");
      return perform(node);
    }
    if (f.m.kind == message_kind::patch) {
      line(node, at(node).updates().on_patch(f.m, out_) ? "takes the patch" : "drops the patch");
      return perform(node);
    }
    at(node).on_message(f.m, out_);
    perform(node);
    EXPECT_TRUE(at(node).is_valid(f.m.unit)) << lines_;
  }
  /// m.token: through which node it came, plus one, in steps of 256.
  void on_diff(std::uint16_t node, const message& m) {
    const std::string of = " diff of " + std::to_string(m.requester.value());
    switch (at(node).homes().on_diff(m.unit, m.requester, static_cast<std::uint16_t>(m.acks), true)) {
      case diff_outcome::apply:
        line(node, "applies" + of);
        break;
      case diff_outcome::collect:
        line(node, "collects" + of);
        break;
      case diff_outcome::own:
        line(node, "has its own diff");
        break;
      case diff_outcome::forward: {
        line(node, "forwards" + of);
        message on = m;
        on.token = m.token << 8 | (m.from.value() + 1u);
        on.acks = at(node).way_of(m.unit).moves;
        return send(node, at(node).way_of(m.unit).to, on, false);
      }
    }
    message ack = m;
    ack.kind = message_kind::diffs_ack;
    send(node, m.from, ack, false);
    for (const written_unit& w : std::exchange(open_[node].merged, {})) {
      at(node).updates().on_merged(w.unit, out_);
      perform(node);
    }
  }
  void on_ack(std::uint16_t node, const message& m) {
    if (m.token == 0) {
      --sent_[node];
      --open_[node].unacknowledged[m.from.value()];
      return;
    }
    --open_[node].passing;
    message ack = m;
    ack.token = m.token >> 8;
    send(node, node_id{static_cast<std::uint16_t>((m.token & 0xff) - 1)}, ack, false);
  }
  void send_diff(std::uint16_t node, const action& a) {
    message m = a.m;
    m.kind = message_kind::diffs;
    m.unit = a.unit;
    m.requester = node_id{node};
    m.acks = at(node).way_of(a.unit).moves;
    sent_.resize(machines_.size());
    ++sent_[node];
    ++open_[node].unacknowledged[a.to.value()];
    send(node, a.to, m, false);
  }
  void perform(std::uint16_t node) {
    for (const action& a : out_) {
      switch (a.kind) {
        case action_kind::send:
          if (a.m.kind == message_kind::pin_grant && (a.m.flags & model::message_flag::no_data) == 0) {
            model::actions more;
            at(node).pins().on_grant_leaves(a.unit, more);
            for (const action& m : more) line(node, std::string("protect ") + name(m.from) + " > " + name(m.level));
          }
          if (a.m.kind == message_kind::spread) {  // what the engine does then is its own
            line(node, "spreads for " + std::to_string(a.m.requester.value()));
            break;
          }
          send(node, a.to, a.m, a.with_content);
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
        case action_kind::make_twin:
          line(node, "twin");
          break;
        case action_kind::drop_twin:
          line(node, "drop twin");
          break;
        case action_kind::unseen:
          line(node, "unseen");
          break;
        case action_kind::send_diff:
          send_diff(node, a);
          break;
        case action_kind::operate:
          line(node, "operate");
          if (a.m.a != 0) at(node).on_operated(a.unit);
          send(node, a.to, a.m, false);
          break;
        case action_kind::operate_here:
          line(node, "operate here");
          if (a.m.a != 0) at(node).on_operated(a.unit);
          break;
        case action_kind::complete:
          line(node, "complete");
          break;
        case action_kind::multicast:
          a.targets.for_each([&](node_id to) { send(node, to, a.m, a.with_content); });
          break;
        case action_kind::send_patch:
          a.targets.for_each([&](node_id to) { send(node, to, a.m, false); });
          break;
        case action_kind::publish:
        case action_kind::refuse:
        case action_kind::flush:
        case action_kind::leave:
        case action_kind::hold:
          ADD_FAILURE() << "not an action of this protocol";
      }
    }
    EXPECT_TRUE(out_.size() == 0 || at(node).is_valid(out_[0].unit)) << lines_;
    out_.clear();
  }
  void send(std::uint16_t from, node_id to, message m, bool with_content) {
    m.from = node_id{from};
    const std::string what = m.kind == message_kind::diffs       ? "diff"
                             : m.kind == message_kind::diffs_ack ? "ack"
                                                                 : sim::name_of(m.kind);
    lines_ += std::to_string(from) + " -> " + std::to_string(to.value()) + " " + what;
    if (m.kind != message_kind::diffs_ack && m.requester != node_id{from} && m.requester != to)
      lines_ += " for " + std::to_string(m.requester.value());
    if (with_content) lines_ += " +data";
    if ((m.flags & model::message_flag::zero) != 0) lines_ += " zero";
    if ((m.flags & model::message_flag::fresh) != 0)
      lines_ += m.kind == message_kind::home_move ? " fresh" : " as told";
    if ((m.flags & model::message_flag::take) != 0) lines_ += " take";
    lines_ += "\n";
    flights_.push_back({to, m});
  }
  void line(std::uint16_t node, const std::string& what) { lines_ += std::to_string(node) + ": " + what + "\n"; }
  static const char* name(access a) { return a == access::none ? "none" : a == access::read ? "read" : "write"; }

  std::vector<unit_state> units_;
  std::vector<interval> open_;
  std::vector<directory::pin_table> pins_;
  std::vector<int> sent_{};
  std::deque<machine> machines_{};
  std::deque<flight> flights_{};
  model::actions out_{};
  std::string lines_{};
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

}  // namespace quire::release
