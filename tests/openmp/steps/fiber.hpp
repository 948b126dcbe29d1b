// SPDX-License-Identifier: BSD-3-Clause
// A thread of the explorer: its own stack, and nothing that runs beside its caller.
#pragma once

#include <cstddef>
#include <memory>

namespace quire::program::steps {

class fiber {
 public:
  fiber();
  /// enter() begins `body(argument)` anew. What was on the stack is forgotten: no destructor runs.
  void set(void (*body)(void*), void* argument) noexcept;
  /// Until the fiber leaves.
  void enter() noexcept;
  /// By the fiber itself, until someone enters it again.
  void leave() noexcept;

 private:
  static constexpr std::size_t bytes = 32 << 10;
  static void begin() noexcept;

  std::unique_ptr<std::byte[]> stack_;
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  void *inside_ = nullptr, *outside_ = nullptr;  ///< stack pointers
};

}  // namespace quire::program::steps
