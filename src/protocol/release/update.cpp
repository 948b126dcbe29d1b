// Updates: a home sends the units that it wrote to the nodes that read them before, together with the end of the interval and
// before anybody hears of it. Who gets one in time keeps its copy when the notice comes: no fault, no request, no wait for a home
// whose threads compute. After Keleher, "Update Protocols and Iterative Scientific Applications" (IPPS 1998, "bar-u"); here an
// update is an offer. It is taken by a copy that came from this home and that its node has not written since, and counts for
// notices of this home only; anything else falls back to invalidation, so that it does not matter when updates arrive or whether.
//
// Who will read is learned: a node that fetched a unit, and again after the home wrote it, is sent what the home writes next.
// Reads of a copy that is mapped cannot be seen. So of each row of updates the first is not mapped where it arrives: whoever has not
// touched it when the second comes says so, and gets no more. A row ends after some updates; who asks again gets twice as many.
#include <algorithm>

#include "protocol/release/machine.hpp"

namespace quire::release {

using model::message_kind;
namespace message_flag = model::message_flag;

namespace {
constexpr std::uint8_t first_grant = 2, last_grant = 6;  // 4 to 64 updates
}

void machine::note_reader(unit_state& s, node_id reader) const noexcept {
  if (shape_.update == updates::never || shape_.scans || !shape_.nodes.exact()) return;
  s.fetched = 1;
  if (shape_.update == updates::always || s.readers.may_contain(shape_.nodes, reader)) s.again = 1;
  s.readers.add(shape_.nodes, reader);
}

void machine::on_told(std::uint64_t unit, std::uint32_t interval, actions& out) {
  unit_state& s = units_[unit];
  if (s.readers.empty() || checked_) return;
  const bool begins = s.credit == 0 && s.again != 0;
  if (begins) {
    s.grant = std::clamp<std::uint8_t>(s.grant, first_grant, last_grant);
    s.credit = static_cast<std::uint8_t>(1u << s.grant++);
  }
  const bool fetched = s.fetched != 0;
  s.fetched = s.again = 0;
  if (s.credit == 0) {
    if (!fetched) {  // nobody came back
      s.readers.clear();
      s.grant = 0;
    }
    return;
  }
  if (--s.credit == 0) s.fetched = 1;  // as good as: who has this one need not come back before the next notice
  // As for a copy that is asked for: from now on the home's writes have to be noticed.
  if (s.listed == 0) protect(unit, s, access::read, out);
  s.shared = 1;
  auto& a = out.add(model::action_kind::multicast, unit);
  a.with_content = true;
  a.targets = {.members = s.readers, .shape = shape_.nodes, .skip_a = shape_.self, .skip_b = shape_.self};
  a.m.kind = message_kind::update;
  a.m.region = shape_.region;
  a.m.unit = unit;
  a.m.from = a.m.requester = shape_.self;
  a.m.a = interval;
  if (begins) a.m.flags |= message_flag::sample;
  count_.updates_sent += a.targets.count();
}

void machine::on_update_unused(const message& m) {
  unit_state& s = units_[m.unit];
  if (!shape_.nodes.exact() || !is_home(m.unit)) return;
  s.readers.remove(shape_.nodes, m.from);
  if (s.readers.empty()) s.credit = s.grant = 0;
}

bool machine::on_update(const message& m, actions& out) {
  unit_state& s = units_[m.unit];
  const bool applies = s.follows != 0 && s.twin == 0 && s.source == m.from && m.a > s.version && !checked_ && s.declared == 0;
  if (!applies) return false;
  if (s.sampled != 0 && s.mapped() == access::none) {
    s.sampled = s.follows = 0;
    message back;
    back.kind = message_kind::update_unused;
    back.unit = m.unit;
    back.requester = shape_.self;
    send(m.from, back, false, out);
    return false;
  }
  s.sampled = (m.flags & message_flag::sample) != 0 ? 1 : 0;
  if (s.sampled != 0) protect(m.unit, s, access::none, out);
  s.version = static_cast<std::uint32_t>(m.a);
  s.written = 1;
  ++count_.updates_applied;
  return true;
}

}  // namespace quire::release
