// SPDX-License-Identifier: BSD-3-Clause
// What a node of the model does with the actions of its machines, and what that costs.
#include <utility>

#include "base/check.hpp"
#include "sim/timed/node.hpp"

namespace quire::timed {

using model::action;
using model::action_kind;
using model::message_kind;

void node::take(region& r, const model::actions& list) {
  for (const action& a : list) {
    if (runs_.add(r, a)) continue;
    perform_runs();
    CHECK(runs_.add(r, a));
  }
}

void node::perform_runs() {
  for (std::size_t i = 0; i < runs_.size(); ++i) perform_run(runs_[i]);
  runs_.clear();
}

void node::flush() {
  perform_runs();
  diffs_.send_all();
}

void node::perform_run(const core::action_run<region>& run) {
  const action& a = run.what;
  region& r = *run.region;
  const prices& cost = options_.costs;
  const std::uint64_t pages = r.pages_of(run.count);
  switch (a.kind) {
    case action_kind::send:
      return send_units(run, a.to);
    case action_kind::multicast:
      return a.targets.for_each([&](node_id to) { send_units(run, to); });
    case action_kind::protect:
      return spend(cost.protect_ns + pages * cost.protect_page_ns);
    case action_kind::permit:
      return spend(cost.permit_ns + pages * cost.permit_page_ns);
    case action_kind::wake:
      return wake(r, a.unit, run.count);
    case action_kind::make_twin:
      for (std::uint64_t i = 0; i < run.count; ++i) r.twins.emplace(a.unit + i, written_words(r.bytes_of(1)));
      return spend(pages * cost.twin_page_ns);
    case action_kind::send_diff:
      spend(pages * cost.diff_page_ns);
      for (std::uint64_t i = 0; i < run.count; ++i) {
        const auto twin = r.twins.extract(a.unit + i);
        CHECK(!twin.empty() && !a.keep);
        diffs_.add(r, a.to, a.unit + i, twin.mapped());
      }
      return;
    case action_kind::drop_twin:
      r.twins.erase(a.unit);
      return;
    case action_kind::hold: {
      constexpr time_ns shortest_ns = 8000;  // as core::hold_unit()
      const std::uint64_t what = std::uint64_t{r.id.value()} << 48 | a.unit;
      return net_.after(clock_ + (shortest_ns << a.m.a), self_, hold_over, what);
    }
    case action_kind::operate:
    case action_kind::operate_here:
    case action_kind::complete:
    case action_kind::send_patch:
      CHECK(!"an action that no program here asks for");
  }
}

void node::send_units(const core::action_run<region>& run, node_id to) {
  diffs_.send_all();  // a request does not overtake the diff that it is to see
  message m = run.what.m;
  m.unit = run.what.unit;
  m.count = static_cast<std::uint32_t>(run.count);
  if (run.what.with_content) m.payload_bytes = static_cast<std::uint32_t>(run.region->bytes_of(run.count));
  post(to, m, {});
}

void node::wake(const region& r, std::uint64_t first, std::uint64_t count) {
  if (!waits_for_unit_ || &r != &regions_[step_.region] || unit_ < first || unit_ >= first + count) return;
  waits_for_unit_ = false;
  thread_.granted_ns = clock_;
  resume_at(clock_ + options_.costs.resume_ns);
}

/// To itself for nothing: such messages never meet the transport.
void node::post(node_id to, const message& m, std::span<const std::byte> payload) {
  message out = m;
  out.from = self_;
  if (to == self_) {
    local_.push_back({out, {payload.begin(), payload.end()}});
    return;
  }
  spend(options_.costs.send_ns + time_for(out.payload_bytes, options_.costs.copy_out_mbs));
  ++sent_.messages;
  sent_.bytes += fabric::bytes_of(out);
  net_.send(clock_, self_, to, out, payload);
}

void node::spend_on_notices() {
  const std::uint64_t all = consistency_.count().notices_sent + consistency_.count().notices_heard;
  spend((all - std::exchange(notices_, all)) * options_.costs.notice_ns);
}

// ---- release::node::effects, diff_post::effects

void node::transmit(node_id to, const message& m, std::span<const std::byte> value) noexcept { post(to, m, value); }

void node::perform(model::region_id region, const model::actions& list) noexcept {
  take(regions_[region.value()], list);
}

release::machine* node::machine_of(model::region_id region) noexcept {
  return region.value() < regions_.size() ? regions_[region.value()].release.get() : nullptr;
}

/// To itself if the home came here after the diff was made for another.
void node::send_diffs(node_id to, const message& m, std::span<const std::byte> entries) {
  if (to == self_) {
    message own = m;
    own.from = self_;
    return diffs_.on_diffs(regions_[m.region.value()], own, entries);
  }
  post(to, m, entries);
}

}  // namespace quire::timed
