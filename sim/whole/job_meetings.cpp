// SPDX-License-Identifier: BSD-3-Clause
// Calls in which a thread of each node takes part: the leaders come to them once a phase, while other threads go on.
#include <algorithm>
#include <cstring>

#include "core/block_calls.hpp"
#include "core/change.hpp"
#include "core/hold.hpp"
#include "core/job_call.hpp"
#include "core/sync_calls.hpp"
#include "sim/whole/job.hpp"

namespace quire::whole {

using sync::operation;

void job::meet(thread& t, unsigned phase) {
  switch (phases_[phase].what) {
    case meeting::none:
      return;
    case meeting::barrier:
      return t.must_call(operation::barrier_wait, 0);
    case meeting::reduce:
      return reduce(t);
    case meeting::broadcast:
      return broadcast(t, phase);
    case meeting::change:
      return change(t, phase);
    case meeting::hold:
      return hold(t);
  }
}

void job::reduce(thread& t) {
  const core::job_call together(t.here.core(), sync::meeting::none, "reduce", static_cast<int>(t.number));
  std::int64_t sum = t.node_number() + 1;
  sync::call r;
  r.what = operation::reduce_i64;
  r.count = 1;
  r.combine = QUIRE_SUM;
  r.values = sync::value(std::as_bytes(std::span(&sum, 1)));
  t.must(t.here.core().objects.synchronise(r, -1), "a reduction");
  std::memcpy(&sum, r.values.bytes().data(), sizeof sum);
  if (sum != options_.nodes * (options_.nodes + 1) / 2) world_.fail("a reduction gives " + std::to_string(sum));
}

void job::broadcast(thread& t, unsigned phase) {
  const core::job_call together(t.here.core(), sync::meeting::none, "broadcast", static_cast<int>(t.number));
  std::uint64_t value = t.node_number() == phases_[phase].node ? phase + 77 : 0;
  sync::call b;
  b.what = operation::broadcast;
  b.operand = phases_[phase].node;
  b.count = sizeof value;
  b.values = sync::value(std::as_bytes(std::span(&value, 1)));
  t.must(t.here.core().objects.synchronise(b, -1), "a broadcast");
  std::memcpy(&value, b.values.bytes().data(), sizeof value);
  if (value != phase + 77) world_.fail("a broadcast gives " + std::to_string(value));
}

void job::change(thread& t, unsigned phase) {
  core::core& c = t.here.core();
  const core::job_call together(c, sync::meeting::set_consistency, "change", static_cast<int>(t.number));
  const auto to = scanned_ || (phase + phases_[phase].node) % 2 == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
  t.must(c.changes.set_consistency(locked, to), "a change of consistency");
  ++done_["changes"];
}

/// As for a checkpoint: what a node keeps does not change meanwhile, and is what was written last.
void job::hold(thread& t) {
  core::core& c = t.here.core();
  const core::job_call together(c, sync::meeting::checkpoint, "hold", static_cast<int>(t.number));
  t.here.expect_less(true);
  const auto why = c.holding.hold();
  t.must(why, "a hold", QUIRE_BUSY);
  if (!why.ok()) return t.here.expect_less(false);
  ++done_["holds"];
  const auto kept = c.holding.kept();
  world_.sleep(t.draw.below(50'000));
  check_kept(t, kept);
  t.must_call(operation::barrier_wait, 0);
  c.holding.let_go();
  t.here.expect_less(false);
}

void job::check_kept(thread& t, const std::vector<core::kept_run>& kept) {
  for (const auto& run : kept) {
    const unsigned id = run.region->about.id;
    if (id == counted || id >= raced || run.region->scans()) continue;
    for (std::uint64_t unit = run.first; run.in_memory && unit < run.first + run.count; ++unit) {
      for (std::uint64_t w = 0; w < page_bytes() / sizeof(std::uint64_t); ++w) {
        const std::uint64_t at = run.region->about.base + unit * page_bytes() + w * sizeof(std::uint64_t);
        t.check(at, t.here.peek(at));
      }
    }
  }
}

void job::begin_block(thread& t, phase& p) {
  const core::job_call together(t.here.core(), sync::meeting::block_begin, "begin", static_cast<int>(t.number));
  t.must(t.here.core().blocks.begin(phased, p.checked ? QUIRE_BLOCK_CHECK : 0), "the begin of a block");
  ++done_["blocks"];
}

void job::write_overlaps(thread& t, const phase& p) {
  const unsigned me = t.node_number();
  for (const overlap& o : p.overlaps) {
    if (o.a != me && o.b != me) continue;
    t.write(o.at, ~std::uint64_t{0} - (me == o.a || p.what == meeting::none ? 0 : 1));  // one value or two
    world_.forget(o.at);
  }
}

void job::end_block(thread& t, const phase& p) {
  const core::job_call together(t.here.core(), sync::meeting::block_end, "end", static_cast<int>(t.number));
  quire_overlap found{};
  const auto why = t.here.core().blocks.end(phased, found);
  const bool expected = p.checked && !p.overlaps.empty();
  if (why.code() != (expected ? QUIRE_OVERLAP : QUIRE_OK)) {
    return world_.fail("the end of a block ends with status " + std::to_string(why.code()) +
                       ", and there are overlaps: " + (expected ? "yes" : "no"));
  }
  if (!expected) return;
  ++done_["overlaps"];
  const auto lowest = std::min_element(p.overlaps.begin(), p.overlaps.end(), [](const overlap& x, const overlap& y) {
                        return x.at < y.at;
                      })->at;
  const auto where = reinterpret_cast<std::uint64_t>(found.address);
  if (where != lowest)
    world_.fail("an overlap is found in " + world_.name_of(where) + ", and the lowest one is " +
                world_.name_of(lowest));
}

}  // namespace quire::whole
