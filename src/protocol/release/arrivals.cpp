// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/arrivals.hpp"

#include <algorithm>
#include <span>

namespace quire::release {

using model::message_kind;

unsigned arrivals::diff_passed(node_id from) { return passed_.sent(from); }

void arrivals::on_passed(node_id from, std::uint32_t count, unsigned group) {
  CHECK(count <= state_.open.passing);
  state_.open.passing -= count;
  passed_.arrived(from, count, group);
  if (passed_.may_turn() && !unheard_.empty()) passed_.turn();
  if (!state_.agenda.has(task::kind::hear)) state_.agenda.push(task::kind::hear);
}

/// Whoever sent it knew that the diffs before it were on their way to this node, which has sent them on: its threads
/// may go on when they have arrived (I4). Nothing else that the sender sends waits with it, diffs and their
/// acknowledgements least of all: no two nodes wait for each other.
bool arrivals::keeps_back(const message& m, std::span<const std::byte> value) {
  if (m.kind == message_kind::notices && value.empty()) return false;  // a call
  const std::uint64_t after = passed_.last_used();
  const bool others = std::ranges::any_of(unheard_, [&m](const held_message& h) { return h.m.from == m.from; });
  if (!others && passed_.settled_of(m.from, after)) return false;
  hold(unheard_, m, value).after = after;
  if (passed_.may_turn()) passed_.turn();
  ++state_.count.kept_back;
  return true;
}

void arrivals::hear_on() {
  const auto may = [this](const held_message& h) { return passed_.settled_of(h.m.from, h.after); };
  const auto at = std::ranges::find_if(unheard_, may);
  if (at == unheard_.end()) return state_.agenda.pop();
  heard_ = *at;
  unheard_.erase(at);
  state_.hear(heard_.m, std::span(heard_.value).first(heard_.bytes));
}

bool arrivals::hear_one() {
  if (unheard_.empty()) return false;
  heard_ = unheard_.front();
  unheard_.erase(unheard_.begin());
  state_.hear(heard_.m, std::span(heard_.value).first(heard_.bytes));
  return true;
}

}  // namespace quire::release
