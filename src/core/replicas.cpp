// SPDX-License-Identifier: BSD-3-Clause
// Content on two nodes: rounds begin and end between steps of the machines; content for this node as a backup comes in.
// Driver's thread only.
#include "core/replicas.hpp"

#include <cstring>

#include "base/copy_words.hpp"
#include "core/configuration.hpp"
#include "core/content.hpp"
#include "core/core.hpp"
#include "core/counters.hpp"
#include "core/inbox.hpp"
#include "core/known_machines.hpp"
#include "core/outbox.hpp"
#include "core/region_slot.hpp"
#include "core/survival.hpp"
#include "model/action.hpp"

namespace quire::core {

using model::message;

/// While the node recovers, only to copy what has lost its backup.
void replicator::replicate() noexcept {
  watch::recovery& recovery = core_.survival.recovery();
  if (!core_.config.replicas || (recovery.active() && !recovery.copying())) return;
  sequential::advance(
      traffic.rounds,
      [&](auto&& f) {
        core_.regions.for_each([&](region_slot& r) {
          sequential::machine* const m = sequential_made(r);
          if (m != nullptr && m->losses().replicated()) f(m->rounds());
        });
      },
      [&](sequential::saving_rounds& m, std::uint64_t, auto&& step) {
        core_.actions.clear();
        step(core_.actions);
        core_.take_step(*core_.regions.slot(m.shape().region));
      },
      [&] {
        core_.perform_steps();
        traffic.open_gate(traffic.rounds.ended,
                          [&](model::node_id to, const message& m, std::span<const std::byte> value) {
                            core_.out.send(to, m, value);
                          });
      });
  core_.perform_steps();
  core_.survival.look_at_copies();
}

bool replicator::is_safe() const noexcept { return !traffic.rounds.active && traffic.rounds.unsaved == 0; }

bool replicator::hold_back(model::node_id to, const message& m, std::span<const std::byte> value, bool tells) noexcept {
  return core_.config.replicas && traffic.hold_back(to, m, value, tells);
}

void replicator::on_content(const message& m, std::span<const std::byte> content) noexcept {
  if (core_.members.is_dead(m.from)) return;
  region_slot& r = *core_.regions.slot(m.region);
  // Who may write here is the owner, and nobody's backup.
  for (std::uint64_t unit = m.unit; unit < m.unit + m.count; ++unit) {
    if (sequential_made(r)->right_of(unit) != model::access::write) continue;
    ++core_.count.refused;
    return;
  }
  use_content(core_.frames, r, m.unit, m.count, content::replaced);
  content_landed(r, m.unit, m.count);
  base::copy_words(r.system(m.unit), content.data(), content.size());
  core_.in.handle(m, {});
}

}  // namespace quire::core
