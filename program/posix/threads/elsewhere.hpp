// SPDX-License-Identifier: BSD-3-Clause
// What a thread has done on another node: a thread of Quire's there calls a function, on a private stack.
#pragma once

#include "program/posix/memory/callers.hpp"
#include "program/posix/memory/stacks.hpp"

namespace quire::program {

/// Calls what(at) on a node, and waits. `at`: shared memory, or null. False: there is no memory for a thread there.
/// Does not come back when the job ends.
[[nodiscard]] bool run_on(int node, void* (*what)(void*), void* at) noexcept;

/// Calls what(at) on the caller's private stack, if the caller is on a shared one: libc and the kernel may write to it
/// at any time.
inline void run_aside(void (*what)(void*), void* at) noexcept {
  if (in_heap(__builtin_frame_address(0)) && private_stack() != nullptr) return call_on(private_stack(), what, at);
  what(at);
}

/// The same, for what call() returns.
template <class Call>
auto called_aside(Call call) noexcept {
  struct {
    Call call;
    decltype(call()) result;
  } c{call, {}};
  run_aside([](void* at) { static_cast<decltype(c)*>(at)->result = static_cast<decltype(c)*>(at)->call(); }, &c);
  return c.result;
}

}  // namespace quire::program
