// SPDX-License-Identifier: BSD-3-Clause
// Somebody wants this node to leave (`quire leave`), and the launcher says so. The driver looks whether something keeps
// it for good; the program hears of it when it asks; the service thread tells what becomes of it. The service thread's,
// not driving, but for what says otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/leave_word.hpp"
#include "core/core.hpp"

namespace quire::drive {

class leave_wish {
 public:
  leave_wish(core::core& of, core::host& threads, bootstrap::bootstrap& job)
      : core_(of), threads_(threads), job_(job) {}

  /// The launcher asks. What comes back is to be executed; null: it has asked before, and the driver has not come to
  /// it.
  [[nodiscard]] core::op* begin() noexcept;
  /// In each round of the service thread's loop: tells what is new.
  void look() noexcept;

  // Any thread.
  /// For the program, which knows then.
  [[nodiscard]] bool is_there() noexcept;
  /// quire_leave() runs, and so many units have not gone yet.
  void on_leaving(std::uint64_t units) noexcept { say({bootstrap::leave_word::what::goes, units}); }
  /// It was refused.
  void on_refusal(bool for_good, std::string_view why) noexcept;
  /// Whether the program is in quire_end().
  void set_ending(bool ends) noexcept;

 private:
  enum class state { idle, asked, taken };
  struct task final : core::op {
    explicit task(leave_wish& of) noexcept : op(look_for_obstacle, type::call), wish(of) {}
    leave_wish& wish;
  };
  static void look_for_obstacle(core::core& c, core::op& self) noexcept;  ///< driver's thread
  void take_answer() noexcept;
  void say(bootstrap::leave_word word) noexcept;
  void say_locked(bootstrap::leave_word word) noexcept;

  core::core& core_;
  core::host& threads_;
  bootstrap::bootstrap& job_;
  std::atomic<state> state_{state::idle};
  const char* obstacle_ = nullptr;  ///< the driver's while the state is `asked`
  std::optional<task> task_{};
  std::atomic<bool> wanted_{false}, noticed_{false}, untold_{false};
  std::mutex mutex_;  ///< for what follows
  bool ends_ = false;
  bootstrap::leave_word word_{};  ///< the last one
};

}  // namespace quire::drive
