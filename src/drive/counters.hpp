// SPDX-License-Identifier: BSD-3-Clause
// Somebody looks at the job (`quire top`), and the launcher asks for the counters of this node, some times a second.
// The driver takes them, the service thread tells them. Where nobody looks nothing happens. The service thread's, not
// driving, but for what says otherwise.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "bootstrap/bootstrap.hpp"
#include "core/core.hpp"
#include "core/waiting.hpp"

namespace quire::core {
struct counter_sources;
}

namespace quire::drive {

class counters_told {
 public:
  counters_told(core::core& of, core::host& threads, const core::wait_board& shown, bootstrap::bootstrap& job);
  ~counters_told();

  /// The launcher asks. What comes back is to be executed; null: it has asked before, and the driver has not come to
  /// it.
  [[nodiscard]] core::op* begin() noexcept;
  /// In each round of the service thread's loop: tells what the driver has taken.
  void look() noexcept;

 private:
  enum class state { idle, asked, taken };
  struct task final : core::op {
    explicit task(counters_told& of) noexcept : op(take, type::call), told(of) {}
    counters_told& told;
  };
  static void take(core::core& c, core::op& self) noexcept;  ///< driver's thread

  core::core& core_;
  core::host& threads_;
  const core::wait_board& shown_;
  bootstrap::bootstrap& job_;
  const std::unique_ptr<core::counter_sources> numbers_;  ///< the driver's while the state is `asked`
  std::atomic<state> state_{state::idle};
  std::optional<task> task_{};
};

}  // namespace quire::drive
