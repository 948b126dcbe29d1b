// SPDX-License-Identifier: BSD-3-Clause
// Content on two nodes: rounds begin and end between steps of the machines; content for this node as a backup comes in.
// Driver's thread only.
#include <cstring>

#include "core/core.hpp"

namespace quire::core {

using model::message;

/// While the node recovers, only to copy what has lost its backup.
void core::replicate() noexcept {
  watch::recovery& recovery = survival_.recovery;
  if (!config_.replicas || (recovery.active() && !recovery.copying())) return;
  sequential::advance(
      replicas_.rounds,
      [&](auto&& f) {
        regions_.for_each([&](region_slot& r) {
          if (r.made.sequential != nullptr) f(*r.made.sequential);
        });
      },
      [&](sequential::machine& m, std::uint64_t, auto&& step) {
        actions_.clear();
        step(actions_);
        performer_.take(*regions_.slot(m.shape().region), actions_);
      },
      [&] {
        performer_.flush();
        replicas_.open_gate(
            replicas_.rounds.ended,
            [&](model::node_id to, const message& m, std::span<const std::byte> value) { send(to, m, value); });
      });
  performer_.flush();
  if (!recovery.copying() || replicas_.rounds.active || replicas_.rounds.unsaved != 0) return;
  recovery.on_copied();
  send_markers(watch::recovery::round::copied);
}

void core::handle_replica(const message& m, std::span<const std::byte> content) noexcept {
  if (survival_.members.is_dead(m.from)) return;
  region_slot& r = *regions_.slot(m.region);
  // Who may write here is the owner, and nobody's backup.
  for (std::uint64_t unit = m.unit; unit < m.unit + m.count; ++unit) {
    if (r.sequential->right_of(unit) != model::access::write) continue;
    ++count_.refused;
    return;
  }
  frames_.use(r, m.unit, m.count, content::replaced);
  frames_.landed(r, m.unit, m.count);
  std::memcpy(r.system(m.unit), content.data(), content.size());
  handle(m, {});
}

}  // namespace quire::core
