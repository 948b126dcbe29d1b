// SPDX-License-Identifier: BSD-3-Clause
#include "program/loader/start/allocators.hpp"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "program/posix/memory/callers.hpp"
#include "program/process/fail.hpp"
#include "program/process/modules.hpp"
#include "program/process/symbols.hpp"
#include "program/sites/known_libraries.hpp"

namespace quire::program {
namespace {

bool g_has_own_malloc = false, g_is_preloaded = false;

dynamic_symbols symbols_of(const module& m) noexcept { return {m.dynamic, m.base}; }

/// By their names, which tell of memory. One that gives back would get Quire's.
bool is_about_memory(const char* name) noexcept {
  const auto has = [name](const char* part) { return strstr(name, part) != nullptr; };
  if (has("Extension") || has("Hook") || has("stat")) return false;
  return has("alloc") || has("memalign") || has("_new") || has("MALLOC") || has("free") || has("_delete") ||
         has("usable");
}

bool is_allocator(const module& m) noexcept {
  if (m.name[0] == 0) return false;
  return sites::is_of_an_allocator(sites::last_part(m.name)) ||
         (!m.known && sites::is_in_system_folder(m.name) && symbols_of(m).defines("malloc"));
}

[[noreturn]] void refuse(const module& program, const module& allocator, const char* call) noexcept {
  char line[500];
  std::snprintf(line, sizeof line,
                "%s takes memory, or gives it back, by %s() of %s, which knows nothing of other nodes: let it call "
                "malloc(3) and free(3), or new and delete, whose place Quire takes",
                program.name[0] == 0 ? "the program" : sites::last_part(program.name), call,
                sites::last_part(allocator.name));
  fail(line, QUIRE_UNSUPPORTED);
}

/// What Quire has itself is not the allocator's.
void refuse_calls(const module& program, const module& allocator) noexcept {
  const module* const own = own_module();
  const dynamic_symbols theirs = symbols_of(allocator);
  (void)symbols_of(program).any_needed([&](const char* name) {
    if (is_about_memory(name) && theirs.defines(name) && (own == nullptr || !symbols_of(*own).defines(name)))
      refuse(program, allocator, name);
    return false;
  });
}

}  // namespace

void note_own_malloc() noexcept {
  g_has_own_malloc = symbols_of(modules()[0]).defines("malloc");
  g_is_preloaded = std::getenv("QUIRE_EXEC_LD_PRELOAD") != nullptr;
}

void leave_own_malloc_alone(char** arguments) noexcept {
  if (!g_has_own_malloc) return;
  if (quire_nodes() > 1 || !g_is_preloaded) {
    fail(
        "the program has a malloc() of its own, which libc and Quire would call, too, and whose memory nodes cannot "
        "share. "
        "Link it without, or with the allocator as a shared library: Quire's malloc() takes its place then",
        QUIRE_UNSUPPORTED);
  }
  if (const quire_status why = quire_end(); why != QUIRE_OK) fail("the job cannot end", why);
  std::array<char, PATH_MAX> path{};
  const ssize_t bytes = ::readlink(own_file(), path.data(), path.size() - 1);  // $ORIGIN is told by its name
  ::execv(bytes > 0 ? path.data() : own_file(), arguments);
  fail_for_system("the program cannot be started again", errno, QUIRE_SYSTEM);
}

void look_at_allocators() noexcept {
  for (const module& m : modules()) {
    const bool checks = sites::is_of_a_sanitizer(sites::last_part(m.name));
    if (!checks && !is_allocator(m)) continue;
    for (const module& program : modules()) {
      if (!checks && program.programs && quire_node() == 0) refuse_calls(program, m);
    }
    (void)note_other_allocator({m.code_first, m.code_end - m.code_first});
  }
}

}  // namespace quire::program
