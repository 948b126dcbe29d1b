#include "engine/performer.hpp"

#include <cerrno>
#include <cstring>

#include "base/log.hpp"

namespace quire::engine {

using model::action;
using model::action_kind;

void performer::take(region_slot& r, const model::actions& list) noexcept {
  for (const action& a : list) take(r, a);
}

/// Whether `a` is for the next unit of a run of the same kind. Messages may differ in nothing but the unit.
bool performer::joins(const run& before, const region_slot& r, const action& a) noexcept {
  const action& w = before.what;
  if (w.kind != a.kind || before.region != &r || w.unit + before.count != a.unit) return false;
  switch (a.kind) {
    case action_kind::permit: return w.from == a.from && w.level == a.level && w.fresh == a.fresh;
    case action_kind::protect: return w.from == a.from && w.level == a.level;
    case action_kind::wake:
    case action_kind::make_twin: return true;
    case action_kind::send_diff: return w.to == a.to && w.keep == a.keep;
    case action_kind::send:
    case action_kind::multicast: break;
    default: return false;
  }
  if (w.with_content != a.with_content) return false;
  if (a.with_content && r.bytes_of(before.count + 1) > max_payload_bytes) return false;
  if (a.kind == action_kind::send ? w.to != a.to : !(w.targets == a.targets)) return false;
  model::message m = a.m;
  m.unit = w.m.unit;
  return m == w.m && a.m.token == 0;
}

void performer::take(region_slot& r, const action& a) noexcept {
  // Backwards over the runs: joining one is right only if no later run touches this unit.
  for (std::size_t i = size_; i-- > 0;) {
    if (joins(runs_[i], r, a)) {
      ++runs_[i].count;
      return;
    }
    if (runs_[i].region == &r && runs_[i].contains(a.unit)) break;
  }
  if (size_ == max_runs) perform_runs();
  runs_[size_++] = {&r, 1, a};
}

/// In the middle of a step perhaps: what comes after actions has to wait for flush().
void performer::perform_runs() noexcept {
  for (std::size_t i = 0; i < size_; ++i) perform(runs_[i]);
  size_ = 0;
}

void performer::flush() noexcept {
  perform_runs();
  to_.end_of_actions();
}

void performer::perform(const run& r) noexcept {
  const action& a = r.what;
  switch (a.kind) {
    case action_kind::protect: return protect(r);
    case action_kind::permit: return permit(r);
    case action_kind::send: return to_.send_units(*r.region, a.to, a.m, a.unit, r.count, a.with_content);
    case action_kind::multicast:
      a.targets.for_each([&](model::node_id node) { to_.send_units(*r.region, node, a.m, a.unit, r.count, a.with_content); });
      return;
    case action_kind::wake: return to_.wake_units(*r.region, a.unit, r.count);
    case action_kind::operate:
    case action_kind::operate_here: return to_.operate(*r.region, a);
    case action_kind::complete: return to_.complete_call(a.m);
    case action_kind::make_twin: return to_.make_twins(*r.region, a.unit, r.count);
    case action_kind::send_diff: return to_.send_diffs(*r.region, a.to, a.unit, r.count, a.keep);
    case action_kind::drop_twin: return;  // its memory is used again
    case action_kind::hold: return to_.hold_unit(*r.region, a.unit, a.m.a);
  }
}

namespace {
[[noreturn]] void give_up(const char* what, const region_slot& r, std::uint64_t unit, int error) noexcept {
  const auto address = static_cast<unsigned long>(r.about.base + (unit << r.unit_shift));
  if (error == ENOMEM && !r.detector->accessible()) {
    base::die(QUIRE_NO_MEMORY,
              "cannot %s the page at 0x%lx: this process has as many mappings as the system allows (vm.max_map_count). "
              "Detector 'segv' needs one for each change of protection; use userfaultfd (quire info), larger units, or raise the limit",
              what, address);
  }
  base::die(QUIRE_SYSTEM, "cannot %s the page at 0x%lx: %s (%s)", what, address, std::strerror(error), r.detector->name());
}
}  // namespace

void performer::permit(const run& r) noexcept {
  const action& a = r.what;
  region_slot& region = *r.region;
  const std::size_t bytes = region.bytes_of(r.count);
  std::byte* const at = region.application(a.unit);
  const std::uint64_t offset = a.unit << region.unit_shift;
  region.dumped.add(*region.memory, offset, bytes);
  to_.use_frames(region, a.unit, r.count, a.level);
  int error = a.fresh ? region.memory->populate(offset, bytes) : 0;
  if (error == 0) error = region.detector->permit(at, bytes, a.from, a.level);
  if (error == EFAULT) {  // a frame is missing after all
    error = region.memory->populate(offset, bytes);
    if (error == 0) error = region.detector->permit(at, bytes, a.from, a.level);
  }
  if (error != 0) give_up("permit", region, a.unit, error);
}

void performer::protect(const run& r) noexcept {
  const action& a = r.what;
  const int error = r.region->detector->protect(r.region->application(a.unit), r.region->bytes_of(r.count), a.from, a.level);
  if (error != 0) give_up("protect", *r.region, a.unit, error);
}

}  // namespace quire::engine
