// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/memory_mode.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "program/loader/start/automatic.hpp"
#include "program/process/fail.hpp"

namespace quire::openmp {
namespace {

bool g_mixed = false;
bool g_watched = false;
memory_choice g_choice;  ///< of `auto`

/// Programs may synchronise by flags and atomic operations on the heap and on stacks.
void keep_heap_sequential() noexcept {
  const char* const asked = std::getenv("QUIRE_CONSISTENCY");
  if (asked == nullptr || std::strcmp(asked, "sequential") == 0) return;
  fail("QUIRE_CONSISTENCY is set, and the heap of programs with OpenMP has sequential consistency: unset it",
       QUIRE_BAD_OPTION);
}

}  // namespace

void choose_memory() noexcept {
  keep_heap_sequential();
  const char* const asked = std::getenv("QUIRE_EXEC_MEMORY");
  if (asked == nullptr || std::strcmp(asked, "sequential") == 0) return watch_loops();
  if (std::strcmp(asked, "auto") == 0) {
    g_choice = choose_by_code();
    g_mixed = g_watched = g_choice.mixed;
  } else if (std::strcmp(asked, "mixed") == 0) {
    g_mixed = true;
    g_watched = watch_what_can_be();
  } else {
    fail("the program's memory is to be none of sequential, mixed and auto", QUIRE_BAD_OPTION);
  }
  if (g_mixed) ::setenv("QUIRE_ORDERS", "1", 1);
}

void compare_memory() {
  std::int64_t values[] = {g_mixed ? 1 : 0, g_mixed ? 0 : 1, g_watched ? 0 : 1};
  if (const quire_status why = quire_reduce_i64(values, 3, QUIRE_MAX); why != QUIRE_OK)
    fail("nodes cannot compare their programs", why);
  if (values[2] != 0) g_watched = false;  // what one node cannot watch goes wrong: a line says so
  if (values[0] == 0 || values[1] == 0) return;
  char line[800];
  std::snprintf(
      line, sizeof line,
      "node %d has %s memory%s%s, and other nodes have not: ask for --memory sequential, or mixed, on all of them",
      quire_node(), g_mixed ? "mixed" : "sequential", g_choice.why[0] == 0 ? "" : ", as ", g_choice.why);
  fail(line, QUIRE_INVALID);
}

bool is_watched() noexcept { return g_watched; }
const char* why_memory() noexcept { return g_choice.why; }

bool is_mixed() noexcept { return g_mixed; }

}  // namespace quire::openmp
