// SPDX-License-Identifier: BSD-3-Clause
#include "core/counters.hpp"

#include "base/add_counts.hpp"
#include "core/core.hpp"
#include "core/counter_table.hpp"
#include "core/diffs.hpp"
#include "core/frames.hpp"
#include "core/known_machines.hpp"
#include "core/plans/planner.hpp"
#include "core/region_slot.hpp"
#include "core/replicas.hpp"
#include "core/transactions.hpp"
#include "core/watching.hpp"
#include "protocol/release/node.hpp"
#include "transport/transport.hpp"

namespace quire::core {

void gone_counters::add(const region_slot& r) noexcept {
  if (const auto* const m = sequential_made(r); m != nullptr) base::add_counts(sequential, m->count());
  if (const auto* const m = transactional_made(r); m != nullptr) base::add_counts(sequential, m->all_counts());
  if (const auto* const m = release_made(r); m != nullptr) base::add_counts(release, m->count());
}

sequential::counters sequential_counters(const region_map& regions, const gone_counters& gone) noexcept {
  sequential::counters sum = gone.sequential;
  regions.for_each([&sum](const region_slot& r) {
    if (const sequential::machine* const m = sequential_made(r); m != nullptr) base::add_counts(sum, m->count());
    if (const auto* const m = transactional_made(r); m != nullptr) base::add_counts(sum, m->all_counts());
  });
  return sum;
}

release::counters release_counters(const region_map& regions, const gone_counters& gone) noexcept {
  release::counters sum = gone.release;
  regions.for_each([&sum](const region_slot& r) {
    if (const release::machine* const m = release_made(r); m != nullptr) base::add_counts(sum, m->count());
  });
  return sum;
}

namespace {
transport::traffic without_pings(transport::traffic all, const peer_watch::traffic& watch) noexcept {
  const std::uint64_t out = watch.sent.load(std::memory_order_relaxed),
                      in = watch.received.load(std::memory_order_relaxed);
  all.messages_sent -= out;
  all.bytes_sent -= out * watch.message_bytes;
  all.messages_received -= in;
  all.bytes_received -= in * watch.message_bytes;
  return all;
}
}  // namespace

counter_sources sources_of(const core& node) noexcept {
  const auto now = [](const std::atomic<std::uint64_t>& count) { return count.load(std::memory_order_relaxed); };
  counter_sources all;
  all.sequential = sequential_counters(node.regions, node.gone);
  all.release = release_counters(node.regions, node.gone);
  all.transactions = node.transactions.count();
  all.plans = node.planner.count();
  all.notices = node.consistency.count();
  all.diffs = node.diffs.count();
  const frames::counters& f = node.frames.count;
  all.frames = {f.given, f.written, f.read, f.most_bytes};
  all.wire = without_pings(node.wire.counters(), node.watching.count());
  all.intervals = node.consistency.intervals();
  all.replica_rounds = node.replicas.traffic.rounds.ended;
  all.line_units = now(node.count.line_units);
  all.write_ahead_units = now(node.count.write_ahead_units);
  all.fault_ns = now(node.count.fault_ns);
  all.barrier_ns = now(node.count.barrier_ns);
  all.lock_ns = now(node.count.lock_ns);
  all.barriers = now(node.count.barriers);
  all.locks = now(node.count.locks);
  all.refused = now(node.count.refused);
  return all;
}

}  // namespace quire::core
