// SPDX-License-Identifier: BSD-3-Clause
#include "core/plans/planner.hpp"

#include "core/absent_units.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/op.hpp"
#include "core/protocol_set.hpp"
#include "core/region_slot.hpp"
#include "model/action.hpp"

namespace quire::core {

using model::access;
using model::fault_outcome;

void planner::begin(std::uint64_t key) noexcept {
  if (!core_.config.plans) return;
  struct phase_op : op {
    using op::op;
    std::uint64_t key = 0;
  } o(
      [](core& e, op& self) noexcept {
        e.planner.plans_.begin(static_cast<phase_op&>(self).key);
        e.planner.on_way_ = 0;
        e.planner.ask();
        self.complete();
      },
      op::type::call);
  o.key = key;
  (void)core_.run(o);
}

/// What a lock guards may be elsewhere although the lock was here: then the first fault brings the rest.
void planner::begin_section(std::uint64_t lock, const read_ahead& by, bool came) noexcept {
  if (!core_.config.lock_plans || !sections_.enter(lock)) return;
  holder_ = &by;
  enters_ = came && sections_.begin();
}

void planner::note(const region_slot& r, std::uint64_t unit, access want, fault_outcome outcome,
                   bool in_section) noexcept {
  if (outcome == fault_outcome::lost || outcome == fault_outcome::refused || is_left_alone(r)) return;
  auto how = phase_plans::use::here;  // also of a reader that is asking for the right to write
  if (outcome == fault_outcome::joined) how = phase_plans::use::came;
  if (outcome == fault_outcome::started && !r.machine->has_content(unit)) how = phase_plans::use::asked;
  const model::region_id id{r.about.id};
  if (in_section) {
    if (sections_.begin()) enters_ = true;
    return sections_.note(id, unit, want == access::write, how);
  }
  plans_.note(id, unit, want == access::write, how);
}

void planner::note_ahead(const region_slot& r, std::uint64_t unit, bool write) noexcept {
  if (plans_.records() && !is_left_alone(r))
    plans_.note(model::region_id{r.about.id}, unit, write, phase_plans::use::ahead);
}

bool planner::may_map(const region_slot& r, std::uint64_t unit) const noexcept {
  const model::region_id id{r.about.id};
  return !plans_.looks(id, unit) && !sections_.plans().looks(id, unit);
}

bool planner::is_left_alone(const region_slot& r) const noexcept {
  return r.tracks_frames() || r.views.fine() != 0 || r.change.frozen || core_.protocols.of(r).transactions;
}

bool planner::look() noexcept {
  if (enters_) ask_for_section();
  if (!more_ || on_way_ > few_on_way) return false;
  ask();
  return true;
}

void planner::ask() noexcept {
  more_ = core_.config.read_ahead;
  region_slot* last = nullptr;
  while (more_ && on_way_ < most_on_way) {
    if (const auto n = plans_.next()) {
      if (region_slot* const r = ask_for(plans_, *n); r != nullptr) last = r;
    } else {
      more_ = false;
    }
  }
  core_.perform_steps();
  if (last != nullptr) core_.protocols.relieve(*last);
}

void planner::ask_for_section() noexcept {
  enters_ = false;
  awaited_.clear();
  if (!core_.config.read_ahead) return;
  region_slot* last = nullptr;
  while (const auto n = sections_.next()) {
    region_slot* const r = ask_for(sections_.plans(), *n);
    if (r == nullptr) continue;
    last = r;
    if (!n->looks) awaited_.push_back(*n);
  }
  if (last == nullptr) return;
  core_.perform_steps();
  core_.protocols.relieve(*last);
}

bool planner::awaits() noexcept {
  for (; !awaited_.empty(); awaited_.pop_back()) {
    const phase_plans::need& n = awaited_.back();
    const region_slot* const r = core_.regions.slot(n.region);
    if (r == nullptr || n.unit >= r->machine->units()) continue;
    if (r->machine->mapped(n.unit) < (n.write ? access::write : access::read)) return true;
  }
  return false;
}

region_slot* planner::ask_for(phase_plans& of, const phase_plans::need& n) noexcept {
  region_slot* const r = core_.regions.slot(n.region);
  if (r == nullptr || n.unit >= r->machine->units() || is_left_alone(*r)) return nullptr;
  if (core_.absent.is_absent(*r, n.unit)) return nullptr;
  const bool here = r->machine->has_content(n.unit);
  if (here && n.looks) return nullptr;  // a fault tells
  core_.actions.clear();
  const access want = n.write && !core_.protocols.domain_of(*r).is_short() ? access::write : access::read;
  const bool asked = n.looks ? r->machine->on_read_ahead(n.unit, want, true, core_.actions, false)
                             : r->machine->on_hint(n.unit, want, core_.actions);
  if (!asked) return nullptr;
  of.note_asked(!here);
  if (!here && &of == &plans_) ++on_way_;
  core_.take_step(*r);
  return r;
}

}  // namespace quire::core
