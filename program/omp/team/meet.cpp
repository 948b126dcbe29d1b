// SPDX-License-Identifier: BSD-3-Clause
// The threads of a node have met when all have come and no task of the node is open; then the nodes meet
// (exchange.cpp). A task that was made after a node's meeting has come from another one, where it counts as open until
// all that it makes has finished: when all nodes have met, there is none.
#include "program/omp/team/meet.hpp"

#include "program/omp/team/exchange.hpp"
#include "program/omp/team/members.hpp"
#include "program/omp/team/steps/meet.hpp"
#include "program/omp/team/tasking.hpp"
#include "program/posix/errands/output.hpp"

namespace quire::program {
namespace {

/// What the steps have around them in a process.
struct meet_surroundings {
  static constexpr unsigned soon = 64;  ///< rounds without a task, until others are asked

  team& in;
  meeting& at;
  bool at_end;

  [[nodiscard]] std::uint64_t threads_here() const noexcept { return static_cast<std::uint64_t>(in.here); }
  [[nodiscard]] bool is_idle() const noexcept {
    const std::lock_guard held(in.guard);
    return in.tasks.idle();
  }
  void tell() const noexcept { in.happened.tell(); }
  [[nodiscard]] news_watch watch() const noexcept { return news_watch(in.happened, in.spans ? 0 : in.here); }
  void look_around() const noexcept {
    look_at_mail();
    if (in.open_events != nullptr) look_at_events(in);
  }
  [[nodiscard]] bool leaves_early() const noexcept { return !at_end && is_region_cancelled(); }
  [[nodiscard]] bool run_any() const noexcept { return quire::program::run_any(in); }
  void ask_for_tasks() const noexcept {
    if (in.spans) quire::program::ask_for_tasks();
  }
  void on_closed(std::uint64_t round) const noexcept {
    if (in.spans) {
      write_output();
      return node_is_ready(in, round, at_end);
    }
    if (in.common.cancelled_share != 0) __atomic_store_n(&in.common.cancelled_share, 0, __ATOMIC_RELAXED);
    at.released.store(round, std::memory_order_release);
    in.happened.tell();
  }
};

void meet(team& in, meeting& at, std::uint64_t round, bool at_end) noexcept {
  meet_surroundings here{in, at, at_end};
  steps::meet(at, here, round);
}

}  // namespace

void meet(team& in) noexcept { meet(in, in.within, ++me().meetings, false); }
void meet_at_end(team& in) noexcept { meet(in, in.end, 1, true); }

bool is_region_cancelled() noexcept {
  return job().cancellation && __atomic_load_n(&common().cancelled, __ATOMIC_ACQUIRE) != 0;
}
void cancel_region() noexcept {
  __atomic_store_n(&common().cancelled, 1, __ATOMIC_RELEASE);
  own_team().happened.tell();
}

}  // namespace quire::program
