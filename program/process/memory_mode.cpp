// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/memory_mode.hpp"

#include <quire/system.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "program/process/fail.hpp"

namespace quire::program {
namespace {

bool g_mixed = false;
bool g_watched = false;
char g_why[600] = {};  ///< of `auto`

}  // namespace

void set_memory(bool mixed, bool watched, const char* why) noexcept {
  g_mixed = mixed;
  g_watched = watched;
  (void)std::snprintf(g_why, sizeof g_why, "%s", why);
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
      quire_node(), g_mixed ? "mixed" : "sequential", g_why[0] == 0 ? "" : ", as ", g_why);
  fail(line, QUIRE_INVALID);
}

bool is_watched() noexcept { return g_watched; }
const char* why_memory() noexcept { return g_why; }

bool is_mixed() noexcept { return g_mixed; }
int orders_of_flags() noexcept { return g_mixed ? QUIRE_ORDERS_APART : 0; }

}  // namespace quire::program
