// SPDX-License-Identifier: BSD-3-Clause
// The C library's setjmp() without the signal mask, and beside it what that does not keep.
#undef _FORTIFY_SOURCE  // its longjmp() takes a way back from another stack for an error
#include "os/restart_point.hpp"

#include <setjmp.h>

#include <cxxabi.h>

#include <cstddef>
#include <cstring>

#include "base/check.hpp"

namespace quire::os {
namespace {

/// __cxa_eh_globals of the Itanium C++ ABI (2.2.2), which the header only declares.
struct thread_exceptions {
  void* caught;
  unsigned uncaught;
};

thread_exceptions& exceptions_of_thread() noexcept {
  return *reinterpret_cast<thread_exceptions*>(abi::__cxa_get_globals());
}

/// How many handlers are active for a caught exception, less than zero while it is thrown again. Null for one that is
/// not of this C++ runtime.
int* handlers_of(void* caught) noexcept {
#if defined(__GLIBCXX__) && defined(__LP64__)
  // __cxa_exception of libstdc++, the same since GCC 4.5: its users' ABI.
  struct header {
    void *type, *destructor, *unexpected, *terminate, *next;
    int handlers, switch_value;
    void *action, *language, *pad, *adjusted;
    alignas(16) std::uint64_t exception_class;
  };
  static_assert(offsetof(header, handlers) == 40 && offsetof(header, exception_class) == 80);
  if (caught == nullptr) return nullptr;
  auto& of = *static_cast<header*>(caught);
  constexpr std::uint64_t gnu_cxx = 0x474e5543432b2b00;  // "GNUCC++", and 0 or 1
  return (of.exception_class & ~std::uint64_t{1}) == gnu_cxx ? &of.handlers : nullptr;
#else
  (void)caught;
  return nullptr;
#endif
}

struct mark {
  bool& running;
  explicit mark(bool& of) : running(of) { running = true; }
  ~mark() { running = false; }
  mark(const mark&) = delete;
  mark& operator=(const mark&) = delete;
};

}  // namespace

restart_point::exceptions restart_point::current_exceptions() noexcept {
  const thread_exceptions& now = exceptions_of_thread();
  const int* const handlers = handlers_of(now.caught);
  return {now.caught, now.uncaught, handlers != nullptr ? *handlers : 0};
}

void restart_point::restore(const exceptions& to) noexcept {
  exceptions_of_thread() = {to.caught, to.uncaught};
  if (int* const handlers = handlers_of(to.caught); handlers != nullptr) *handlers = to.handlers;
}

restart_point::modes restart_point::current_modes() noexcept {
  modes now;
#if defined(__x86_64__)
  std::uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  asm volatile("stmxcsr %0" : "=m"(now.second));
  now.first = x87;
#elif defined(__aarch64__)
  asm volatile("mrs %0, fpcr" : "=r"(now.first));
#endif
  return now;
}

void restart_point::restore(const modes& to) noexcept {
#if defined(__x86_64__)
  const auto x87 = static_cast<std::uint16_t>(to.first);
  asm volatile("fldcw %0" ::"m"(x87));
  asm volatile("ldmxcsr %0" ::"m"(to.second));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" ::"r"(to.first));
#endif
}

// Nothing here changes between the two returns of setjmp() but memory. An own frame in any case: its caller's registers
// are what is kept.
[[gnu::noinline]] void restart_point::run(body what, void* argument) {
  CHECK(!running_);
  const mark running(running_);
  exceptions_ = current_exceptions();
  modes_ = current_modes();
  if (_setjmp(frame_) != 0) {
    restore(modes_);
    restore(exceptions_);
  }
  what(argument);
}

void restart_point::go_back() noexcept {
  CHECK(running_);
  std::longjmp(frame_, 1);
}

}  // namespace quire::os
