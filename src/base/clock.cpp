// SPDX-License-Identifier: BSD-3-Clause
// Finds the kernel's clock, once, when the library is loaded.
#include "base/clock.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace quire::base {
namespace {

clock_function find() noexcept {
  void* const kernel = ::dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
#if defined(__x86_64__)
  void* const found = kernel != nullptr ? ::dlsym(kernel, "__vdso_clock_gettime") : nullptr;
#else
  void* const found = kernel != nullptr ? ::dlsym(kernel, "__kernel_clock_gettime") : nullptr;
#endif
  // Not libc's name: libquire defines that, by this one.
  constexpr auto ask = [](clockid_t clock, timespec* to) noexcept {
    return static_cast<int>(::syscall(SYS_clock_gettime, clock, to));
  };
  return found != nullptr ? reinterpret_cast<clock_function>(found) : static_cast<clock_function>(ask);
}

}  // namespace

clock_function const kernel_clock = find();

}  // namespace quire::base
