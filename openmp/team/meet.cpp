// SPDX-License-Identifier: BSD-3-Clause
// The threads of a node have met when all have come and no task of the node is open; then the nodes meet (exchange.cpp). A task that was made after a
// node's meeting has come from another one, where it counts as open until all that it makes has finished: when all nodes have met, there is none.
#include "openmp/team/meet.hpp"

#include "openmp/team/exchange.hpp"
#include "openmp/team/members.hpp"
#include "openmp/team/output.hpp"
#include "openmp/team/tasking.hpp"

namespace quire::openmp {
namespace {

bool is_idle(team& in) noexcept {
  const std::lock_guard held(in.guard);
  return in.tasks.idle();
}

/// All threads of the node have come for this round, and one finds that nothing is left to do here.
void close(team& in, meeting& m, std::uint64_t round, bool at_end) noexcept {
  if (m.arrived.load(std::memory_order_acquire) < round * static_cast<std::uint64_t>(in.here) || m.closed.load(std::memory_order_acquire) >= round || !is_idle(in)) return;
  std::uint64_t last = round - 1;
  if (!m.closed.compare_exchange_strong(last, round)) return;
  if (in.spans) {
    write_output();
    return node_is_ready(in, round, at_end);
  }
  if (in.common.cancelled_share != 0) __atomic_store_n(&in.common.cancelled_share, 0, __ATOMIC_RELAXED);
  m.released.store(round, std::memory_order_release);
  in.happened.tell();
}

void meet(team& in, meeting& m, std::uint64_t round, bool at_end) noexcept {
  m.arrived.fetch_add(1, std::memory_order_acq_rel);
  in.happened.tell();
  unsigned idle = 0;
  for (news_watch watch(in.happened);;) {
    watch.look();
    look_at_mail();
    if (in.open_events != nullptr) look_at_events(in);
    if (m.released.load(std::memory_order_acquire) >= round || (!at_end && is_region_cancelled())) return;
    if (run_any(in)) {
      idle = 0;
      continue;
    }
    close(in, m, round, at_end);
    constexpr unsigned soon = 64;
    if (in.spans && ++idle > soon) ask_for_tasks(in);
    if (m.released.load(std::memory_order_acquire) < round) watch.wait();
  }
}

}  // namespace

void meet(team& in) noexcept { meet(in, in.within, ++me().meetings, false); }
void meet_at_end(team& in) noexcept { meet(in, in.end, 1, true); }

bool is_region_cancelled() noexcept { return job().cancellation && __atomic_load_n(&common().cancelled, __ATOMIC_ACQUIRE) != 0; }
void cancel_region() noexcept {
  __atomic_store_n(&common().cancelled, 1, __ATOMIC_RELEASE);
  own_team().happened.tell();
}

}  // namespace quire::openmp
