// SPDX-License-Identifier: BSD-3-Clause
// What PMIx's own thread has to say to ours: events of the job, and the end of a fence. PMIx hands no pointer of ours
// back with an event, and may call late, so there is one mailbox for the process, for good. Any thread.
#pragma once

#include <pmix.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "bootstrap/bootstrap.hpp"
#include "os/process.hpp"

namespace quire::bootstrap::pmix {

class mailbox {
 public:
  /// The only one.
  [[nodiscard]] static mailbox& instance();

  /// Readable when there may be news. SYSTEM.
  [[nodiscard]] base::status open();
  [[nodiscard]] int descriptor() const noexcept { return doorbell_.number(); }
  [[nodiscard]] std::optional<news> take_news();

  /// A fence is about to begin; the number belongs to it.
  [[nodiscard]] std::uintptr_t begin_fence();
  /// Waits for its end, or for news. PEER_LOST (there are news), TIMED_OUT, SYSTEM (PMIx says no).
  [[nodiscard]] base::status wait_for_fence(int limit_ms);

  /// Given to PMIx.
  static void on_fence(pmix_status_t status, void* number) noexcept;
  static void on_event(std::size_t, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
                       std::size_t infos, pmix_info_t* results, std::size_t result_count,
                       pmix_event_notification_cbfunc_fn_t done, void* data) noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<news> news_;
  std::uintptr_t fence_ = 0;
  std::optional<pmix_status_t> fence_ended_;
  os::descriptor doorbell_;
};

}  // namespace quire::bootstrap::pmix
