// SPDX-License-Identifier: BSD-3-Clause
// People ask what this node waits for: by SIGQUIT, or by the launcher (SIGQUIT to it, --timeout). The service thread
// looks at what sleeping threads have shown; who holds which lock only the driver can tell, who is asked for it and
// given half a second. Then the launcher gets the records, and puts those of all nodes together; where there is none,
// the node says what it knows itself. The service thread's, not driving, but for what says otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "core/core.hpp"
#include "core/waiting.hpp"
#include "waits/record.hpp"

namespace quire::drive {

class waits_told {
 public:
  waits_told(core::core& of, core::host& threads, const core::wait_board& shown, bootstrap::bootstrap& job)
      : core_(of), threads_(threads), shown_(shown), job_(job) {}

  /// Any thread, also in a signal handler; the service thread is to be woken then.
  void ask() noexcept { by_signal_.store(true, std::memory_order_relaxed); }
  /// The launcher asks, or people. What comes back is to be executed; null: nothing is.
  [[nodiscard]] core::op* begin(bool for_launcher) noexcept;
  /// In each round of the service thread's loop: says what is known by now. What comes back is to be executed, as
  /// above.
  [[nodiscard]] core::op* look() noexcept;

 private:
  struct task final : core::op {
    explicit task(waits_told& of) noexcept : op(ask_driver, type::call), told(of) {}
    waits_told& told;
  };
  static void ask_driver(core::core& c, core::op& self) noexcept;
  void tell(bool known);
  [[nodiscard]] std::vector<waits::record> all_here(bool with_holders) const;
  [[nodiscard]] waits::record record_of(const core::wait_note& n, std::uint64_t now_ns) const;

  core::core& core_;
  core::host& threads_;
  const core::wait_board& shown_;
  bootstrap::bootstrap& job_;
  std::atomic<bool> by_signal_{false};
  std::atomic<bool> pending_{false};  ///< the task is queued
  bool for_launcher_ = false, for_us_ = false;
  std::uint64_t begun_ns_ = 0;            ///< 0: nobody has asked
  std::vector<waits::record> holders_{};  ///< the driver's while the task is pending
  std::optional<task> task_{};
};

}  // namespace quire::drive
