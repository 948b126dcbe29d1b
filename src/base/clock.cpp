// SPDX-License-Identifier: BSD-3-Clause
// Finds the kernel's clock, once, when the library is loaded.
#include "base/clock.hpp"

#include <dlfcn.h>

namespace quire::base {
namespace {

clock_function find() noexcept {
  void* const kernel = ::dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
#if defined(__x86_64__)
  void* const found = kernel != nullptr ? ::dlsym(kernel, "__vdso_clock_gettime") : nullptr;
#else
  void* const found = kernel != nullptr ? ::dlsym(kernel, "__kernel_clock_gettime") : nullptr;
#endif
  return found != nullptr ? reinterpret_cast<clock_function>(found) : ::clock_gettime;
}

}  // namespace

clock_function const kernel_clock = find();

}  // namespace quire::base
