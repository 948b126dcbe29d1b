// SPDX-License-Identifier: BSD-3-Clause
// A call in which a thread of each node takes part: the job's barrier, reduce, changes of consistency, checkpoints. One
// at a time on a node, and by one thread: two threads that meet in such calls would silently make rounds of their own,
// and the nodes' rounds be of different calls. Collectives that are steps of a longer call meet only steps of the same
// call on other nodes (sync/mismatch.hpp). Application threads.
#pragma once

#include "base/detail.hpp"
#include "base/log.hpp"
#include "core/core.hpp"
#include "core/job_call_state.hpp"
#include "core/thread_state.hpp"

namespace quire::core {

class job_call {
 public:
  /// `within`: the call of the API whose steps the collectives of this thread are; none for a collective by itself.
  /// `thread`: quire_thread(). A call within a call of the same thread is part of that.
  job_call(core& e, sync::meeting within, const char* name, int thread) noexcept
      : at_(e.job_call), before_(this_thread().meeting) {
    if (before_ == sync::meeting::none) this_thread().meeting = within;
    const auto me = static_cast<std::uint32_t>(thread) + 1;
    std::uint32_t nobody = 0;
    if (at_.thread.compare_exchange_strong(nobody, me, std::memory_order_acq_rel)) {
      outermost_ = true;
      at_.name.store(name, std::memory_order_relaxed);
    } else if (nobody != me) {
      refuse(name, thread, static_cast<int>(nobody) - 1);
    }
  }
  ~job_call() {
    this_thread().meeting = before_;
    if (!outermost_) return;
    at_.name.store(nullptr, std::memory_order_relaxed);
    at_.thread.store(0, std::memory_order_release);
  }
  job_call(const job_call&) = delete;
  job_call& operator=(const job_call&) = delete;
  /// QUIRE_INVALID: another thread of the node is in one.
  [[nodiscard]] base::status status() const noexcept { return status_; }

 private:
  void refuse(const char* name, int thread, int other) noexcept {
    const char* const theirs = at_.name.load(std::memory_order_relaxed);
    status_ = base::explain(QUIRE_INVALID,
                            "%s(): thread %d calls it while thread %d of the same node is in %s(); one thread of a "
                            "node calls for all of it "
                            "(for several threads make a barrier with quire_barrier_create())",
                            name, thread, other, theirs != nullptr ? theirs : "such a call");
    constexpr int most_lines = 10;
    if (at_.refused.fetch_add(1, std::memory_order_relaxed) < most_lines)
      base::log(base::log_level::error, "%s", base::detail());
  }

  job_call_state& at_;
  sync::meeting before_;
  base::status status_{};
  bool outermost_ = false;
};

}  // namespace quire::core
