// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/machine.hpp"

namespace quire::release {

using model::message_kind;

void machine::on_message(const message& m, actions& out) {
  switch (m.kind) {
    case message_kind::copy_request:
      return homes_.on_copy_request(m, out);
    case message_kind::copy_reply:
      return copies_.on_copy_reply(m, out);
    case message_kind::home_move:
      return homes_.on_home_move(m, out);
    case message_kind::home_offer:
      return homes_.on_home_offer(m, out);
    case message_kind::home_atomic:
      return homes_.on_home_atomic(m, out);
    case message_kind::home_atomic_reply:
      return homes_.on_atomic_reply(m, out);
    case message_kind::update:
      (void)updates_.on_update(m, out);
      return;
    case message_kind::patch:
      (void)updates_.on_patch(m, out);
      return;
    case message_kind::update_unused:
      return updates_.on_update_unused(m);
    case message_kind::pin_request:
      return pins_.on_pin_request(m, out);
    case message_kind::pin_grant:
      return pins_.on_pin_grant(m, out);
    case message_kind::pin_end:
      return pins_.on_pin_end(m, out);
    case message_kind::pin_next:
      return pins_.on_pin_next(m, out);
    case message_kind::spread_request:
      return pushes_.on_spread_request(m, out);
    case message_kind::home_survives:
      return losses_.on_home_survives(m);
    case message_kind::home_settled:
      return losses_.on_home_settled(m);
    case message_kind::home_lost:
      return losses_.on_home_lost(m, out);
    default:
      CHECK(!"a message of the release protocol");
  }
}

/// Of one unit on one node: (I2), (I7), (I8), and that fields mean something only where they may.
bool machine::is_valid(std::uint64_t unit) const noexcept {
  const unit_state& s = table_.units[unit];
  if (s.touched == 0) return s == unit_state{};
  const bool home = s.is_home != 0;
  const bool strange_twin = s.twin != 0 && !table_.checked && s.kept == 0 && !table_.shape.traces;
  const bool elsewhere = s.was_home == 0 && s.home != table_.shape.self;
  if (home && (s.valid != 0 || strange_twin || elsewhere || s.pending() != access::none)) return false;
  if (!home && (s.shared != 0 || !s.current.empty() || !s.readers.empty() || s.credit != 0 || s.partnered != 0))
    return false;
  if (!home && s.streak != 0) return false;
  if (s.partnered == 0 && (s.paired != 0 || s.merged != 0 || s.behind != 0)) return false;
  const bool awaits = s.pending() != access::none || s.pin_data != 0;
  if (s.follows != 0 && (home || (s.valid == 0 && !awaits))) return false;
  if (s.version == given_away && (home || s.valid != 0)) return false;
  if (s.kept != 0 && (s.twin == 0 || s.mapped() == access::none || table_.shape.scans || table_.checked)) return false;
  const bool noticed = !table_.shape.scans && !table_.one_memory;  // what threads write
  if (table_.one_memory && (s.twin != 0 || s.listed != 0 || (s.mapped() == access::write && s.written == 0)))
    return false;  // (I12)
  if (home && s.shared != 0 && s.mapped() == access::write && s.listed == 0 && s.kept == 0 && noticed) return false;
  if (!s.current.empty() && (s.shared == 0 || (s.mapped() == access::write && noticed))) return false;
  if (!home && s.mapped() == access::write && s.twin == 0 && !table_.one_memory) return false;
  const bool unnoticed = table_.lone.is_unnoticed(unit, s) && !table_.checked && s.listed == 0;
  if (home && (table_.checked || table_.shape.traces) && s.mapped() == access::write && s.twin == 0 && !unnoticed)
    return false;
  if (s.twin != 0 && !home && (s.valid == 0 || (s.listed == 0 && s.kept == 0 && !table_.shape.scans))) return false;
  if (s.mapped() != access::none && !home && s.valid == 0) return false;
  if (s.pending() != access::none && s.valid != 0) return false;
  if (!home && s.pin_data == 0 && (s.asked != 0) != (s.pending() != access::none)) return false;
  if (s.pin_data != 0 && (home || s.pin_asked == 0 || s.asked != 0 || s.valid != 0)) return false;
  if ((s.granted != 0) != (grants_.find(unit) != nullptr) || (s.granted != 0 && !home) ||
      (s.pinned != 0 && s.pin_asked != 0))
    return false;
  if (s.pinned != 0 && home && pins_.holder_of(unit) != table_.shape.self) return false;
  if (s.news != 0 && !table_.checked && !table_.open.recovering) return false;
  return s.stale == 0 || (awaits && s.follows == 0);
}

std::uint64_t machine::twins_beside(std::uint64_t first) const noexcept {
  std::uint64_t sum = 0;
  for (std::uint64_t unit = first;
       unit < std::min<std::uint64_t>(first + table_.shape.units_a_page, table_.shape.units); ++unit) {
    const unit_state& s = table_.units[unit];
    if (s.twin != 0 && (s.is_home == 0 || table_.shape.traces) && s.declared == 0) sum += table_.shape.twin_pages;
  }
  return sum;
}

/// Each node has the content, in frames of its own, and nobody a permission. Of the copies no notice says that they go.
void machine::on_frames_apart() noexcept {
  if (!std::exchange(table_.one_memory, false)) return;
  for (std::uint64_t unit = table_.used.first(); unit < table_.used.end(); ++unit) {
    unit_state& s = table_.units[unit];
    s.set_mapped(access::none);
    if (s.touched == 0) continue;
    if (s.is_home != 0) s.shared = 1;
    s.current.clear();
    s.version = no_version;
    s.follows = 0;
  }
}

/// Diffs and bases have gone before; what is left of twins nobody needs.
void machine::forget() noexcept {
  for (std::uint64_t unit = table_.used.first(); !table_.shape.scans && unit < table_.used.end(); ++unit) {
    if (table_.units[unit].twin != 0 && table_.units[unit].declared == 0) table_.open.twins -= table_.shape.twin_pages;
  }
  table_.used.clear();
  own_.reset();
  table_.units = nullptr;
  table_.claims = nullptr;
}

}  // namespace quire::release
