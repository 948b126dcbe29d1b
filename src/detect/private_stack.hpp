// SPDX-License-Identifier: BSD-3-Clause
// A stack in private memory for a thread that runs on one in shared memory: what the driver writes to, or the kernel,
// must not be a page that another node can take away. A thread has one from its first need to its end. Any thread,
// fault context too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::detect {

/// The stack's lower end is for arguments.
struct private_stack {
  static constexpr std::size_t argument_bytes = 4096;
  std::byte* arguments = nullptr;  ///< null: there is no memory for it
  std::uintptr_t top = 0;
};

/// Of the calling thread.
[[nodiscard]] private_stack private_stack_of_thread() noexcept;

/// Calls body(argument) on another stack. The frame pointer leads back, for debuggers too.
void call_on(std::uintptr_t top, void (*body)(void*), void* argument) noexcept;

}  // namespace quire::detect
