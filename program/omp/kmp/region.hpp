// SPDX-License-Identifier: BSD-3-Clause
// What a region gets from clang: a function, and addresses.
#pragma once

#include <algorithm>
#include <cstdarg>
#include <cstddef>

#include "program/omp/kmp/abi.hpp"

namespace quire::program::kmp {

constexpr id least_arguments = 4;  ///< as invoke() wants

/// On the caller's shared stack, in front of the addresses.
struct region {
  microtask what;
  id count;
  [[nodiscard]] void** arguments() noexcept { return reinterpret_cast<void**>(this + 1); }
  [[nodiscard]] void* const* arguments() const noexcept { return reinterpret_cast<void* const*>(this + 1); }
};

/// Runs it, as a thread of the team.
void run_region_of(void* region_data);

/// The bytes that it needs, with so many arguments.
[[nodiscard]] constexpr std::size_t region_bytes(id count) noexcept {
  return sizeof(region) + sizeof(void*) * static_cast<std::size_t>(std::max(count, least_arguments));
}

}  // namespace quire::program::kmp

/// A region `r` of the function and the arguments that follow it, in the caller's frame.
#define QUIRE_KMP_REGION(r, number, last)                                 \
  auto& r = *static_cast<region*>(__builtin_alloca(region_bytes(count))); \
  r = {last, number};                                                     \
  void** const array = r.arguments();                                     \
  std::fill_n(array, least_arguments, nullptr);                           \
  {                                                                       \
    std::va_list list;                                                    \
    va_start(list, last);                                                 \
    for (id i = 0; i < (number); ++i) (array)[i] = va_arg(list, void*);   \
    va_end(list);                                                         \
  }
