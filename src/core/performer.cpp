// SPDX-License-Identifier: BSD-3-Clause
#include "core/performer.hpp"

#include <cerrno>
#include <cstring>

#include "base/log.hpp"
#include "core/core.hpp"
#include "core/mapping.hpp"

namespace quire::core {

using model::action;
using model::action_kind;

void performer::take(region_slot& r, const model::actions& list) noexcept {
  for (const action& a : list) take(r, a);
}

void performer::take(region_slot& r, const action& a) noexcept {
  if (runs_.add(r, a)) return;
  perform_runs();
  CHECK(runs_.add(r, a));
}

/// In the middle of a step perhaps: what comes after actions has to wait for flush(). No action makes others.
void performer::perform_runs() noexcept {
  CHECK(!performs_);
  performs_ = true;
  for (std::size_t i = 0; i < runs_.size(); ++i) perform(runs_[i]);
  performs_ = false;
  runs_.clear();
}

void performer::flush() noexcept {
  perform_runs();
  to_.end_of_actions();
}

void performer::perform(const run& r) noexcept {
  const action& a = r.what;
  switch (a.kind) {
    case action_kind::protect:
      return protect(r);
    case action_kind::permit:
      return permit(r);
    case action_kind::send:
      return to_.send_units(*r.region, a.to, a.m, a.unit, r.count, a.with_content);
    case action_kind::multicast:
      a.targets.for_each(
          [&](model::node_id node) { to_.send_units(*r.region, node, a.m, a.unit, r.count, a.with_content); });
      return;
    case action_kind::wake:
      return to_.wake_units(*r.region, a.unit, r.count);
    case action_kind::refuse:
      return to_.refuse_units(*r.region, a.unit, r.count, static_cast<int>(a.m.operation));
    case action_kind::flush:
      return to_.flush_units(*r.region, a.unit, r.count);
    case action_kind::leave:
      return to_.leave_units(*r.region, a.unit, r.count, a.m.a);
    case action_kind::operate:
    case action_kind::operate_here:
      return to_.operate(*r.region, a);
    case action_kind::complete:
      return to_.complete_call(a.m);
    case action_kind::publish:
      return to_.publish(*r.region, a.unit, r.count);
    case action_kind::make_twin:
      return to_.make_twins(*r.region, a.unit, r.count);
    case action_kind::send_diff:
      return to_.send_diffs(*r.region, a, r.count);
    case action_kind::send_patch:
      return to_.send_patch(*r.region, a);
    case action_kind::drop_twin:
      return to_.drop_twins(*r.region, a.unit, r.count);  // their memory is used again
    case action_kind::unseen:
      return to_.tell_unseen(*r.region, a.unit, r.count);
    case action_kind::hold:
      return to_.hold_unit(*r.region, a.unit, a.m.a);
  }
}

namespace {
/// userfaultfd says so of a process that has gone (pool `fork`): nobody needs the page. The engine's process ends when
/// it hears of it.
bool application_ended(int error) noexcept { return error == ESRCH; }

[[noreturn]] void give_up(const char* what, const region_slot& r, std::uint64_t unit, int error) noexcept {
  const auto address = static_cast<unsigned long>(r.address_of(unit));
  if (error == ENOMEM && !r.detector->accessible()) {
    base::die(QUIRE_NO_MEMORY,
              "cannot %s the page at 0x%lx: this process has as many mappings as the system allows (vm.max_map_count). "
              "Detector 'segv' needs one for each change of protection; use userfaultfd (quire info), larger units, or "
              "raise the limit",
              what, address);
  }
  base::die(QUIRE_SYSTEM, "cannot %s the page at 0x%lx: %s (%s)", what, address, std::strerror(error),
            r.detector->name());
}
}  // namespace

void no_frame(const region_slot& r, std::uint64_t address) noexcept {
  base::die(QUIRE_NO_MEMORY, "there is no memory for the page at 0x%lx (pool '%s'): %s",
            static_cast<unsigned long>(address), r.memory->name(), r.memory->when_full());
}

namespace {
/// Frames for all pages that have a byte of these units. 0 or errno.
int populate(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  constexpr std::uint64_t page = view_map::page_bytes;
  const std::uint64_t offset = r.layout.offset_of(first) / page * page,
                      end = (r.layout.offset_of(first) + r.bytes_of(first, count) + page - 1) / page * page;
  const int error = r.memory->populate(offset, end - offset);
  if (error == EFAULT) no_frame(r, r.about.base + offset);
  return error;
}
}  // namespace

void performer::permit(const run& r) noexcept {
  const action& a = r.what;
  region_slot& region = *r.region;
  to_.use_frames(region, a.unit, r.count, a.level);
  int error = a.fresh ? populate(region, a.unit, r.count) : 0;
  if (error == 0) error = mapping::permit(region, a.unit, r.count, a.from, a.level);
  if (error == EFAULT) {  // a frame is missing after all
    error = populate(region, a.unit, r.count);
    if (error == 0) error = mapping::permit(region, a.unit, r.count, a.from, a.level);
  }
  if (error != 0 && !application_ended(error)) give_up("permit", region, a.unit, error);
}

void performer::protect(const run& r) noexcept {
  const action& a = r.what;
  const int error = mapping::protect(*r.region, a.unit, r.count, a.from, a.level);
  if (error != 0 && !application_ended(error)) give_up("protect", *r.region, a.unit, error);
  to_.note_protected(*r.region, a.from, a.level);
}

/// What was left for later may have no frame yet, where nobody has written it. Else nothing may fail that a further
/// fault does not mend.
void performer::map_again(region_slot& r, std::uint64_t unit, model::access level) noexcept {
  if (mapping::map_again(r, unit, level) != EFAULT) return;
  if (populate(r, unit, 1) == 0) (void)!mapping::map_again(r, unit, level);
}

void performer::compose(region_slot& r, std::uint64_t page, model::access level) noexcept {
  int error = mapping::compose(r, page, level);
  if (error == EFAULT) {
    error = populate(r, page * r.layout.units_a_page(), 1);
    if (error == 0) error = mapping::compose(r, page, level);
  }
  if (error != 0 && !application_ended(error)) give_up("permit", r, page * r.layout.units_a_page(), error);
}

void core::take_step(region_slot& r) noexcept { performer.take(r, actions); }
void core::perform_steps() noexcept { performer.flush(); }

}  // namespace quire::core
