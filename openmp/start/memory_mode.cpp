// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/start/memory_mode.hpp"

#include <cstdlib>
#include <cstring>

#include "openmp/start/fail.hpp"

namespace quire::openmp {
namespace {

bool g_mixed = false;

/// Programs may synchronise by flags and atomic operations on the heap and on stacks.
void keep_heap_sequential() noexcept {
  const char* const asked = std::getenv("QUIRE_CONSISTENCY");
  if (asked == nullptr || std::strcmp(asked, "sequential") == 0) return;
  fail("QUIRE_CONSISTENCY is set, and the heap of programs with OpenMP has sequential consistency: unset it", QUIRE_BAD_OPTION);
}

}  // namespace

void choose_memory() noexcept {
  keep_heap_sequential();
  const char* const asked = std::getenv("QUIRE_EXEC_MEMORY");
  if (asked == nullptr || std::strcmp(asked, "sequential") == 0) return;
  if (std::strcmp(asked, "mixed") != 0) fail("the program's memory is to be neither sequential nor mixed", QUIRE_BAD_OPTION);
  g_mixed = true;
  ::setenv("QUIRE_ORDERS", "1", 1);
}

bool is_mixed() noexcept { return g_mixed; }

}  // namespace quire::openmp
