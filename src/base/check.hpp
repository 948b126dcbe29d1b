// SPDX-License-Identifier: BSD-3-Clause
// Assertions. CHECK is always on and tells what was believed; ASSERT only in debug builds. Both end the process by
// abort() after one line on standard error; both may be used in fault context.
#pragma once

namespace quire::base {

[[noreturn]] void check_failed(const char* expression, const char* file, int line) noexcept;

/// Called by check_failed before it aborts, so that the simulator can print its seed. May be null.
using check_hook = void (*)() noexcept;
void set_check_hook(check_hook hook) noexcept;

}  // namespace quire::base

#define CHECK(expression) \
  (__builtin_expect(!!(expression), 1) ? (void)0 : ::quire::base::check_failed(#expression, __FILE__, __LINE__))
#ifdef NDEBUG
#define ASSERT(expression) ((void)0)
#else
#define ASSERT(expression) CHECK(expression)
#endif
