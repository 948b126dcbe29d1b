// SPDX-License-Identifier: BSD-3-Clause
// Updates: a home sends the units that it wrote to the nodes that read them before, together with the end of the
// interval and before anybody hears of it. Who gets one in time keeps its copy when the notice comes: no fault, no
// request, no wait for a home whose threads compute. After Keleher, "Update Protocols and Iterative Scientific
// Applications" (IPPS 1998, "bar-u"); here an update is an offer. It is taken by a copy that came from this home and
// holds nothing that the home lacks, and counts for notices of this home only; anything else falls back to
// invalidation, so that it does not matter when updates arrive or whether.
//
// Who will read is learned: a node that fetched a unit, and again after the home wrote it, is sent what the home writes
// next. Reads of a copy that is mapped cannot be seen. So of each row of updates the first is not mapped where it
// arrives: whoever has not touched it when the second comes says so, and gets no more. A row ends after some updates;
// who asks again gets twice as many.
//
// A page at the edge of two nodes' parts is written by both between any two barriers: by its home, and by one other
// node, the partner. A partner that fetched the unit after it wrote it is sent the content of both from then on, as
// soon as its diff is in and the home's writes are told, whichever is later. By then its node has no more diffs on
// their way to this home: the acknowledgement went before. Its diffs show that it uses what it gets, so there is
// nothing to sample.
#include "protocol/release/update.hpp"

#include <algorithm>

namespace quire::release {

using model::action_kind;
using model::message_kind;
namespace message_flag = model::message_flag;

namespace {
constexpr std::uint8_t first_grant = 2, last_grant = 6;  // 4 to 64 updates
}

void home_updates::note_reader(unit_state& s, node_id reader) const noexcept {
  if (table_.shape.update == updates::never || table_.shape.scans || !table_.shape.nodes.exact()) return;
  s.fetched = 1;
  if (table_.shape.update == updates::always || s.readers.may_contain(table_.shape.nodes, reader)) s.again = 1;
  s.readers.add(table_.shape.nodes, reader);
}

/// The content, as of `interval` of this node's, to whoever is in `to`.
void home_updates::send_update(std::uint64_t unit, unit_state& s, model::copyset to, std::uint32_t interval,
                               std::uint8_t flags, actions& out) {
  // As for a copy that is asked for: from now on the home's writes have to be noticed.
  table_.watch_writes(unit, s, out);
  s.shared = 1;
  if (s.kept != 0) flags |= message_flag::as_told;
  auto& a = out.add(model::action_kind::multicast, unit);
  a.with_content = true;
  offer(a, message_kind::update, to, interval, flags);
}

/// What the home has changed since its twin, to whoever is in `to`. The twin becomes what was sent.
void home_updates::send_patch(std::uint64_t unit, unit_state& s, model::copyset to, std::uint32_t interval,
                              std::uint8_t flags, actions& out) {
  CHECK(s.kept != 0 && s.is_home != 0);
  if (to.empty() && s.shared == 0) {  // nobody has a copy: it is written without a fault anyway
    s.kept = s.steady = 0;
    return rights_.drop_twin(unit, s, out);
  }
  if (!to.empty()) s.shared = 1;
  auto& a = out.add(action_kind::send_patch, unit);
  offer(a, message_kind::patch, to, interval, flags);
  a.m.b = s.version;
  s.version = interval;
}

/// What a home sends unasked.
void home_updates::offer(model::action& a, message_kind kind, model::copyset to, std::uint32_t interval,
                         std::uint8_t flags) {
  a.targets = {.members = to, .shape = table_.shape.nodes, .skip_a = table_.shape.self, .skip_b = table_.shape.self};
  a.m.kind = kind;
  a.m.region = table_.shape.region;
  a.m.unit = a.unit;
  a.m.from = a.m.requester = table_.shape.self;
  a.m.a = interval;
  a.m.flags = flags;
  table_.count.updates_sent += a.targets.count();
}

// ---- Readers

void home_updates::on_told(std::uint64_t unit, std::uint32_t interval, actions& out) {
  unit_state& s = table_.units[unit];
  if (table_.checked) return;
  std::uint8_t flags = 0;
  model::copyset to = take_readers(s, flags);
  if (s.kept != 0) {
    if (s.paired != 0) to.add(table_.shape.nodes, s.source);
    return send_patch(unit, s, to, interval, flags, out);
  }
  if (s.paired != 0 || !to.empty()) kept_.keep_home(unit, s, interval, out);
  if (s.partnered != 0) {
    s.behind = 1;
    on_merged(unit, out);
  }
  if (!to.empty()) send_update(unit, s, to, interval, flags, out);
}

/// Those readers who are sent what the home wrote this time.
model::copyset home_updates::take_readers(unit_state& s, std::uint8_t& flags) const noexcept {
  model::copyset readers = s.readers;
  if (s.paired != 0) readers.remove(table_.shape.nodes, s.source);
  if (readers.empty()) return {};
  const bool begins = s.credit == 0 && s.again != 0;
  if (begins) {
    const auto grant = std::clamp<std::uint8_t>(s.grant, first_grant, last_grant);
    s.credit = static_cast<std::uint8_t>(1u << grant);
    s.grant = grant + 1;
  }
  const bool fetched = s.fetched != 0;
  s.fetched = s.again = 0;
  if (s.credit == 0) {
    if (!fetched) {  // nobody came back
      s.readers.clear();
      s.grant = 0;
    }
    return {};
  }
  if (--s.credit == 0) s.fetched = 1;  // as good as: who has this one need not come back before the next notice
  if (begins) flags = message_flag::sample;
  return readers;
}

void home_updates::on_update_unused(const message& m) {
  unit_state& s = table_.units[m.unit];
  if (!table_.shape.nodes.exact() || !table_.is_home(m.unit)) return;
  s.readers.remove(table_.shape.nodes, m.from);
  if (s.readers.empty()) s.credit = s.grant = 0;
}

// ---- Partners

void home_updates::note_writer(std::uint64_t unit, unit_state& s, node_id writer) {
  if (table_.shape.scans) {  // no partner, but who wrote: see on_only_writer()
    s.partnered = 1;
    s.source = writer;
    return;
  }
  if (table_.shape.update == updates::never || !table_.shape.nodes.exact()) return;
  if (s.partnered == 0 || s.source != writer) {
    s.partnered = 1;
    s.source = writer;
    s.paired = table_.shape.update == updates::always ? 1 : 0;
    s.behind = 0;
  }
  s.merged = 1;
  if (s.paired != 0 && s.behind != 0) table_.open.merged.push_back({table_.shape.region, unit});
}

/// `reader` has the content as it is, or gets it next.
void home_updates::note_fetch(unit_state& s, node_id reader) const noexcept {
  if (s.partnered == 0 || s.source != reader || table_.shape.scans) return;
  s.paired = 1;
  s.merged = s.behind = 0;
}

void home_updates::end_partnership(unit_state& s) noexcept {
  s.partnered = s.paired = s.merged = s.behind = 0;
  s.source = {};
}

void home_updates::on_merged(std::uint64_t unit, actions& out) {
  unit_state& s = table_.units[unit];
  if (s.paired == 0 || s.merged == 0 || s.behind == 0 || s.is_home == 0 || table_.checked) return;
  s.merged = s.behind = 0;
  send_update(unit, s, model::copyset::of(table_.shape.nodes, s.source), table_.open.told, 0, out);
}

// ---- Copies

/// Whether somebody here uses what the home sends. If not, it is told, and from now on this copy takes nothing.
bool home_updates::is_looked_at(const message& m, unit_state& s, actions& out) {
  if (s.sampled != 0 && s.mapped() == access::none) {
    s.sampled = s.follows = 0;
    message back;
    back.kind = message_kind::update_unused;
    back.unit = m.unit;
    back.requester = table_.shape.self;
    table_.send(m.from, back, false, out);
    return false;
  }
  s.sampled = (m.flags & message_flag::sample) != 0 && s.twin == 0 ? 1 : 0;
  if (s.sampled != 0) table_.protect(m.unit, s, access::none, out);
  return true;
}

update_outcome home_updates::on_update(const message& m, actions& out) {
  unit_state& s = table_.units[m.unit];
  const bool is_whole = s.follows != 0 || (s.home == m.from && table_.open.unacknowledged[m.from.value()] ==
                                                                   0);  // nothing written here is missing
  const bool applies = s.valid != 0 && is_whole && (s.twin == 0 || s.kept != 0) && s.source == m.from &&
                       m.a > s.version && !table_.checked && s.declared == 0;
  if (!applies || !is_looked_at(m, s, out)) return update_outcome::drop;
  s.version = static_cast<std::uint32_t>(m.a);
  s.written = 1;
  ++table_.count.updates_applied;
  if (s.kept != 0) return update_outcome::merge;
  s.follows = 1;
  return update_outcome::replace;
}

/// A copy for which the home's updates count: nothing that the home wrote up to `version` is missing.
bool home_updates::follows_home(const unit_state& s) noexcept {
  return s.valid != 0 && (s.follows != 0 || s.kept != 0) && s.version != no_version;
}

bool home_updates::on_patch(const message& m, actions& out) {
  unit_state& s = table_.units[m.unit];
  const bool applies = follows_home(s) && s.source == m.from && m.b <= s.version && m.a > s.version &&
                       !table_.checked && s.declared == 0;
  if (!applies || !is_looked_at(m, s, out)) return false;
  s.version = static_cast<std::uint32_t>(m.a);
  s.written = 1;
  ++table_.count.updates_applied;
  return true;
}

}  // namespace quire::release
