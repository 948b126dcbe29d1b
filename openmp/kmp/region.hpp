// SPDX-License-Identifier: BSD-3-Clause
// What a region gets from clang: a function, and addresses.
#pragma once

#include <algorithm>
#include <cstdarg>
#include <cstddef>

#include "openmp/kmp/abi.hpp"

namespace quire::openmp::kmp {

constexpr id least_arguments = 4;  ///< as invoke() wants

/// On the caller's shared stack.
struct region {
  microtask what;
  id count;
  void** arguments;
};

/// Runs it, as a thread of the team.
void run_region_of(void* region_data);

/// The bytes that the arguments of a call need.
[[nodiscard]] constexpr std::size_t argument_bytes(id count) noexcept {
  return sizeof(void*) * static_cast<std::size_t>(std::max(count, least_arguments));
}

}  // namespace quire::openmp::kmp

/// Fills them in from the variable arguments behind `last`.
#define QUIRE_KMP_ARGUMENTS(array, number, last)                        \
  std::fill_n(array, least_arguments, nullptr);                         \
  {                                                                     \
    std::va_list list;                                                  \
    va_start(list, last);                                               \
    for (id i = 0; i < (number); ++i) (array)[i] = va_arg(list, void*); \
    va_end(list);                                                       \
  }
