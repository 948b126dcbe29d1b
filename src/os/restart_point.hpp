// SPDX-License-Identifier: BSD-3-Clause
// The way back from somewhere within a function to its start, without an exception: a fault can come at any
// instruction, where no table says how to unwind. What transactions are restarted by. Application thread.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace quire::os {

/// Calls a function, and calls it again whenever somebody within it says go_back(). The frame that is gone back to is
/// run()'s own, which lives as long as the function runs: it cannot be left too early.
///
/// What is restored: the registers that functions keep, modes of floating-point arithmetic, the exceptions that are
/// being handled (std::current_exception(), std::uncaught_exceptions()). What is not: memory, also that of variables
/// which the function has changed; the signal mask; destructors of the function's frames do not run, and exceptions
/// that they handled are not freed.
///
///   restart_point here;
///   const int sum = here.run([&] { return add(...); });  // somewhere within: here.go_back();
class restart_point {
 public:
  using body = void (*)(void* argument);

  restart_point() = default;
  restart_point(const restart_point&) = delete;
  restart_point& operator=(const restart_point&) = delete;
  ~restart_point() = default;

  /// Calls what(argument), and again after each go_back(). Returns when a call has returned; an exception of a call
  /// passes. Not within itself.
  void run(body what, void* argument);

  /// The same with whatever can be called; gives what the call that returned has given.
  template <class What>
  auto run(What&& what) -> std::invoke_result_t<What&> {
    using result = std::invoke_result_t<What&>;
    static_assert(!std::is_reference_v<result>, "give a pointer");
    using callable = std::remove_reference_t<What>;
    if constexpr (std::is_void_v<result>) {
      run([](void* at) { (*static_cast<callable*>(at))(); }, const_cast<std::remove_const_t<callable>*>(&what));
    } else {
      struct both {
        callable& what;
        std::optional<result> given{};
      } call{what};
      run(
          [](void* at) {
            auto& self = *static_cast<both*>(at);
            self.given.emplace(self.what());
          },
          &call);
      return *std::move(call.given);
    }
  }

  /// From the thread that is in run(), in any frame that run() has called, on any stack. Not in a signal's handler: the
  /// handler has its thread call this after it (detect::redirect_faults_by()).
  [[noreturn]] void go_back() noexcept;

  /// Whether a thread is in run().
  [[nodiscard]] bool is_running() const noexcept { return running_; }

 private:
  /// What the C++ runtime knows of a thread's exceptions.
  struct exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
    int handlers = 0;  ///< of the one caught last: throwing it again changes this
  };
  struct modes {
    std::uint64_t first = 0;
    std::uint32_t second = 0;
  };
  [[nodiscard]] static exceptions current_exceptions() noexcept;
  static void restore(const exceptions& to) noexcept;
  [[nodiscard]] static modes current_modes() noexcept;
  static void restore(const modes& to) noexcept;

  bool running_ = false;
  exceptions exceptions_{};
  modes modes_{};
  std::jmp_buf frame_;
};

}  // namespace quire::os
