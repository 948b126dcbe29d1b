// SPDX-License-Identifier: BSD-3-Clause
// A thread of a simulated program: it has a stack of its own, and gives way where it says so. So a call of the runtime
// that waits, however deep in it, is the same call as in a process. One thread of the system runs all fibres, in turn.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>

#include "core/thread_state.hpp"

namespace quire::whole {

class fibre {
 public:
  static constexpr std::size_t stack_bytes = 256 * 1024;
  explicit fibre(std::function<void()> what);
  ~fibre();
  fibre(const fibre&) = delete;
  fibre& operator=(const fibre&) = delete;

  /// Goes on with it, until it gives way or ends. Not from within a fibre.
  void resume();
  /// The running fibre gives way.
  static void yield();
  [[nodiscard]] static bool is_in_one() noexcept;
  [[nodiscard]] bool finished() const noexcept { return finished_; }

 private:
  static void enter() noexcept;
  void switch_to(ucontext_t& from, ucontext_t& to, bool into, bool ends);

  std::function<void()> what_;
  std::byte* stack_ = nullptr;
  ucontext_t own_{}, back_{};
  core::thread_state state_{};
  // For the address sanitizer, which has to know on which stack it is.
  void* fake_ = nullptr;
  void* fake_back_ = nullptr;
  const void* bottom_back_ = nullptr;
  std::size_t size_back_ = 0;
  bool started_ = false, finished_ = false;
};

}  // namespace quire::whole
