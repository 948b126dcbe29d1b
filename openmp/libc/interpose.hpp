// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

/// A function of libc that is defined here too, by its name.
#define QUIRE_LIBC extern "C" __attribute__((visibility("default")))

namespace quire::openmp {

/// The function that the one here stands in front of.
template <class Function>
[[nodiscard]] Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace quire::openmp

/// The same, looked up once.
#define QUIRE_NEXT(function)                                                           \
  ([]() noexcept {                                                                     \
    static auto* const found = ::quire::openmp::next<decltype(::function)>(#function); \
    return found;                                                                      \
  }())
