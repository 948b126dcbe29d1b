// SPDX-License-Identifier: BSD-3-Clause
// The environment. Each node has its own, with the same content: calls that change it are made on all nodes. Where the
// program itself has the variable `environ`, it is one for all nodes: what it leads to is then at the same place on
// each, in private memory, as the system reads it for children. The same changes, one after the other, leave the same
// there.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "program/posix/errands/on_all_nodes.hpp"
#include "program/posix/files/environment.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/process/fail.hpp"
#include "program/process/image/image.hpp"
#include "program/process/once.hpp"

using namespace quire::program;

namespace {

bool is_one_for_all() noexcept { return in_static_data(&environ); }

/// Memory that is never given back, as getenv(3) has given addresses of it to the program.
struct store {
  static constexpr std::uintptr_t address = 0x3e00'0000'0000;  // below what tools/place_program.hpp takes
  static constexpr size_t bytes = size_t{256} << 20;
  size_t used;

  static store& of_node() noexcept {
    static constinit made_once made;
    auto* const there = reinterpret_cast<store*>(address);
    made.run([there] {
      constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
      if (::mmap(there, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != there)
        fail("no memory for the environment at the same address on all nodes", QUIRE_NO_MEMORY);
      there->used = sizeof *there;
    });
    return *there;
  }
  /// Null: it is full.
  void* take(size_t wanted) noexcept {
    const size_t whole = (wanted + 15) / 16 * 16;
    if (whole > bytes - used) return nullptr;
    void* const at = reinterpret_cast<char*>(this) + used;
    used += whole;
    return at;
  }
  [[nodiscard]] static bool has(const void* at) noexcept {
    return reinterpret_cast<std::uintptr_t>(at) - address < bytes;
  }
};

struct variables {
  char** of;  ///< the last one is null; before the first, in the store, is how many there is room for
  size_t count = 0;

  explicit variables(char** at) noexcept : of(at) {
    while (of != nullptr && of[count] != nullptr) ++count;
  }
  /// `count`: there is none.
  [[nodiscard]] size_t find(const char* name, size_t length) const noexcept {
    size_t i = 0;
    while (i < count && (strncmp(of[i], name, length) != 0 || of[i][length] != '=')) ++i;
    return i;
  }
  /// For one more, in the store. Others may read the old ones meanwhile, which stay.
  [[nodiscard]] bool make_room() noexcept {
    if (store::has(of) && count + 1 < reinterpret_cast<size_t*>(of)[-1]) return true;
    const size_t room = 2 * count + 16;
    auto* const made = static_cast<size_t*>(store::of_node().take((room + 2) * sizeof(char*)));
    if (made == nullptr) return false;
    made[1] = room;
    auto** const next = reinterpret_cast<char**>(made + 2);
    memset(static_cast<void*>(next), 0, room * sizeof *next);
    if (count != 0) memcpy(next, of, count * sizeof *next);
    of = next;
    return true;
  }
};

/// What comes of a change on one node: the same address on all.
struct changed {
  char** now;
  bool done;
};
bool has_failed(const changed& c) noexcept { return !c.done; }
changed set_in(char** before, const char* name, const char* value, bool replaces) noexcept {
  variables all(before);
  const size_t length = strlen(name), at = all.find(name, length);
  if (at < all.count && (!replaces || strcmp(all.of[at] + length + 1, value) == 0)) return {before, true};
  auto* const text = static_cast<char*>(store::of_node().take(length + strlen(value) + 2));
  if (text == nullptr || !all.make_room()) return {before, false};
  strcpy(stpcpy(stpcpy(text, name), "="), value);
  all.of[at] = text;
  return {all.of, true};
}
changed remove_in(char** before, const char* name) noexcept {
  variables all(before);
  const size_t length = strlen(name);
  if (all.find(name, length) == all.count) return {before, true};
  if (!all.make_room()) return {before, false};
  for (size_t at = 0; (at = all.find(name, length)) < all.count; --all.count)
    memmove(all.of + at, all.of + at + 1, (all.count - at) * sizeof(char*));
  return {all.of, true};
}
int take_change(const changed& c) noexcept {
  environ = c.now;
  if (!c.done) errno = ENOMEM;
  return c.done ? 0 : -1;
}

int set(const char* name, const char* value, int replace) noexcept {
  const process_turn mine;
  if (!is_one_for_all())
    return call_on_all(
        "setenv()", [=](const char* n, const char* v) { return QUIRE_NEXT(setenv)(n, v, replace); }, name, value);
  char** const before = environ;
  return take_change(call_on_all(
      "setenv()", [=](const char* n, const char* v) { return set_in(before, n, v, replace != 0); }, name, value));
}
int remove_name(const char* name) noexcept {
  const process_turn mine;
  if (!is_one_for_all())
    return call_on_all(
        "unsetenv()", [](const char* n) { return QUIRE_NEXT(unsetenv)(n); }, name);
  char** const before = environ;
  return take_change(call_on_all(
      "unsetenv()", [=](const char* n) { return remove_in(before, n); }, name));
}
bool is_name(const char* name) noexcept { return name != nullptr && *name != 0 && strchr(name, '=') == nullptr; }

}  // namespace

namespace quire::program {

void share_environment() noexcept {
  if (!is_one_for_all()) return;
  char** all = nullptr;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const char* const end = strchr(*one, '=');
    if (end == nullptr) continue;
    const auto length = static_cast<size_t>(end - *one);
    all = call_on_all(
              "the environment",
              [=](const char* text) {
                char name[256];
                if (length >= sizeof name) return changed{all, false};
                *static_cast<char*>(mempcpy(name, text, length)) = 0;
                return set_in(all, name, text + length + 1, true);
              },
              *one)
              .now;
  }
  environ = all;
}

}  // namespace quire::program

QUIRE_LIBC int setenv(const char* name, const char* value, int replace) noexcept {
  if (!is_for_all_nodes(QUIRE_CALLER) || !is_name(name)) return QUIRE_NEXT(setenv)(name, value, replace);
  return set(name, value, replace);
}
QUIRE_LIBC int unsetenv(const char* name) noexcept {
  if (!is_for_all_nodes(QUIRE_CALLER) || !is_name(name)) return QUIRE_NEXT(unsetenv)(name);
  return remove_name(name);
}
/// The text is copied, as children are given their environment by the system, which does not see shared memory.
QUIRE_LIBC int putenv(char* text) noexcept {
  const char* const end = strchr(text, '=');
  if (!is_for_all_nodes(QUIRE_CALLER) || end == text) return QUIRE_NEXT(putenv)(text);
  if (end == nullptr) return remove_name(text);
  auto* const name = static_cast<char*>(allocate_shared(static_cast<size_t>(end - text) + 1));
  if (name == nullptr) return -1;
  *static_cast<char*>(mempcpy(name, text, static_cast<size_t>(end - text))) = 0;
  const int result = set(name, end + 1, 1);
  const int saved = errno;
  (void)quire_free(name);
  errno = saved;
  return result;
}
QUIRE_LIBC int clearenv() noexcept {
  if (!is_for_all_nodes(QUIRE_CALLER)) return QUIRE_NEXT(clearenv)();
  const process_turn mine;
  if (!is_one_for_all()) return call_on_all("clearenv()", [] { return QUIRE_NEXT(clearenv)(); });
  environ = nullptr;
  return 0;
}
