// SPDX-License-Identifier: BSD-3-Clause
// Push and page broadcasting under release consistency. What threads of the producer's node write between begin and end
// is noted; at the end the units' homes, which have the content once the producer has released, send it to all nodes
// (src/core/spread.hpp).
#include "protocol/release/broadcast.hpp"

#include <algorithm>

#include "protocol/release/migratory.hpp"
#include "protocol/release/node.hpp"

namespace quire::release {

using model::message_kind;

/// From now on it is noticed whether threads here write `unit`. The interval has just ended.
void broadcasts::on_produce_begin(std::uint64_t unit, actions& out) {
  unit_state& s = table_.touch(unit);
  s.producing = 1;
  if ((s.is_home != 0 || table_.one_memory) && !table_.shape.scans) table_.protect(unit, s, access::read, out);
}

/// Ends that. True if it was written.
bool broadcasts::on_produce_end(std::uint64_t unit) {
  unit_state& s = table_.touch(unit);
  const bool written = s.producing == 0;
  s.producing = 0;
  return written;
}

void broadcasts::on_push(std::uint64_t unit, std::uint64_t token, actions& out) {
  unit_state& s = table_.touch(unit);
  message m;
  m.kind = message_kind::spread_request;
  m.unit = unit;
  m.requester = table_.shape.self;
  m.token = token;
  s.is_home != 0 ? on_spread_request(m, out) : table_.send_home(m, out);
}

/// At the home: all nodes get copies like those that they ask for.
void broadcasts::on_spread_request(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  if (table_.passes_on(m, s, out)) return;
  s.assigned = 1;
  if (table_.one_memory) {
    s.written = 1;
  } else {
    migratory_units::note_push(s);
    table_.watch_writes(m.unit, s, out);
    s.shared = 1;
  }
  message spread = m;
  spread.kind = message_kind::spread;
  spread.acks = 0;
  table_.send(table_.shape.self, spread, true, out);
}

void broadcasts::on_spread_copy(std::uint64_t unit, bool zero, actions& out) {
  CHECK(awaits_spread(unit));
  unit_state& s = table_.touch(unit);
  s.valid = 1;
  if (!zero || table_.one_memory) s.written = 1;
  rights_.allow(unit, s, access::read, out);
}

/// Whether content that a home took when it knew `known` has all that this node knows of, and has written itself.
bool node::is_covered(model::region_id region, std::uint64_t unit, std::span<const std::uint32_t> known) const {
  for (history::position at = history_.begin(); at < history_.end(); ++at) {
    const notice& n = history_[at];
    const bool about = n.region == region && n.moves == 0 && unit >= n.first && unit - n.first < n.count;
    if (about && n.interval > known[n.writer.value()]) return false;
  }
  const written_unit self{region, unit};
  const auto has = [&self](const base::fault_vector<written_unit>& list) {
    return std::find(list.begin(), list.end(), self) != list.end();
  };
  return !has(closed_) && !has(leaving_) && !has(state_.open.written);
}

}  // namespace quire::release
