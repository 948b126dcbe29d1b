// SPDX-License-Identifier: BSD-3-Clause
#include "core/protocol_set.hpp"

#include "base/check.hpp"
#include "core/node_effects.hpp"

namespace quire::core {

protocol_set::protocol_set(std::span<const protocol::row* const> rows, const protocol::job& node, node_effects& to)
    : rows_(rows), node_(node), to_(to) {
  for (const protocol::row* const r : rows) {
    CHECK(r->id.value() < by_id_.size() && by_id_[r->id.value()].what == nullptr);
    entry& e = by_id_[r->id.value()];
    e.what = r;
    e.shared = r->make_domain(node_);
    if (r->can.relaxed) relaxed_.push_back(e.shared.get());
    if (r->can.tells) telling_.push_back(e.shared.get());
  }
}

void protocol_set::perform(protocol::domain& d, const protocol::domain_action& a) const noexcept { to_.perform(d, a); }

void protocol_set::find_written() const noexcept { to_.find_written(); }

}  // namespace quire::core
