// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/image/image.hpp"

#include <quire/system.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "program/process/fail.hpp"
#include "program/process/image/large_objects.hpp"
#include "program/process/memory_mode.hpp"
#include "program/process/modules.hpp"
#include "program/process/watch/ranges.hpp"

namespace quire::program {
namespace {

/// Libraries come and go during the run while others look.
struct range {
  std::atomic<std::uint64_t> first{0}, bytes{0};
};
std::array<range, 1024> g_shared;
std::atomic<std::size_t> g_ranges{0};

void note_range(const data_range& data) noexcept {
  const std::size_t count = g_ranges.load();
  std::size_t at = 0;
  while (at < count && g_shared[at].bytes.load() != 0) ++at;  // of a library that has gone
  if (at == g_shared.size()) fail("the program's libraries have more data segments than 1024", QUIRE_LIMIT);
  g_shared[at].first.store(data.first);
  g_shared[at].bytes.store(data.end - data.first);
  if (at == count) g_ranges.store(count + 1);
}
/// Static objects with release consistency.
struct {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
} g_large;

const char* file_of(const module& m) noexcept {
  if (m.name[0] == 0) return "the executable";
  const char* const slash = std::strrchr(m.name, '/');
  return slash != nullptr ? slash + 1 : m.name;
}

/// The kernel's own, which no program points to.
bool counts(const module& m) noexcept { return std::strncmp(m.name, "linux-vdso", 10) != 0; }

/// What travels of a module.
struct summary {
  std::uint64_t base = 0, sum = 0;
  char file[40] = {};
  char build[sizeof module::build] = {};
};
static_assert(sizeof(summary) <= 192);  // quire_broadcast()

summary summary_of(const module& m) noexcept {
  summary s{m.base, m.sum, {}, {}};
  std::strncpy(s.file, file_of(m), sizeof s.file - 1);
  std::memcpy(s.build, m.build, sizeof s.build);
  return s;
}

void compare_one(const module* own) {
  const summary mine = own != nullptr ? summary_of(*own) : summary{};
  summary first = mine;
  if (const quire_status why = quire_broadcast(&first, sizeof first, 0); why != QUIRE_OK)
    fail("nodes cannot compare their programs", why);
  if (std::memcmp(&first, &mine, sizeof mine) == 0) return;
  char line[300];
  const char* const name = mine.file[0] != 0 ? mine.file : "nothing";
  constexpr const char* wanted = "all nodes need the same program, libraries and system libraries";
  if (std::strcmp(first.file, mine.file) != 0) {
    std::snprintf(line, sizeof line, "node %d: %s is loaded in the place of node 0's %s; %s", quire_node(), name,
                  first.file[0] != 0 ? first.file : "nothing", wanted);
  } else if (first.base != mine.base) {
    std::snprintf(line, sizeof line, "node %d: %s lies elsewhere than on node 0; %s", quire_node(), name, wanted);
  } else {
    std::snprintf(line, sizeof line, "node %d: %s is another build (%s) than on node 0 (%s); %s", quire_node(), name,
                  build_of(mine.build), build_of(first.build), wanted);
  }
  fail(line, QUIRE_INVALID);
}

void share(const module& m, std::uint64_t first, std::uint64_t end, quire_consistency consistency,
           std::uint64_t unit = 4096) {
  if (first >= end) return;
  quire_region_options how{};
  how.size = sizeof how;
  how.consistency = consistency;
  how.unit_bytes = unit;
  if (consistency == QUIRE_RELEASE) how.placement = QUIRE_PLACE_FIRST_TOUCH;
  how.orders = orders_of_flags();
  quire_region region{};
  const quire_status why = quire_region_adopt(&how, reinterpret_cast<void*>(first), end - first, 0, &region);
  if (why == QUIRE_OK) {
    if (consistency == QUIRE_RELEASE) watch::note_release_region(region, first, end - first);
    return;
  }
  char line[300];
  std::snprintf(line, sizeof line, "static data of %s cannot be shared", file_of(m));
  fail(line, why);
}

/// Objects of many megabytes have larger units in their middle: a fault costs as much as the way of some pages.
void share(const module& m, const large_object& o) {
  constexpr std::uint64_t huge_bytes = 32u << 20, unit = 64u << 10;
  const std::uint64_t end = o.first + o.bytes;
  if (o.bytes < huge_bytes) return share(m, o.first, end, QUIRE_RELEASE);
  const std::uint64_t middle = (o.first + unit - 1) / unit * unit, middle_end = end / unit * unit;
  share(m, o.first, middle, QUIRE_RELEASE);
  share(m, middle, middle_end, QUIRE_RELEASE, unit);
  share(m, middle_end, end, QUIRE_RELEASE);
}

/// The data of a segment, each large object as a region of its own where memory is mixed.
void share(const module& m, const data_range& data) {
  std::uint64_t first = data.first;
  if (is_mixed()) {
    for (const large_object& o : large_objects(m, data)) {
      share(m, first, o.first, QUIRE_SEQUENTIAL);
      share(m, o);
      ++g_large.count;
      g_large.bytes += o.bytes;
      first = o.first + o.bytes;
    }
  }
  share(m, first, data.end, QUIRE_SEQUENTIAL);
  note_range(data);
}

void share(const module& m) {
  for (const data_range& data : m.data()) share(m, data);
}

/// What mixed memory means to this program; a file without symbols has no large objects.
void tell_mode() {
  const char* const why = why_memory();
  if (quire_node() != 0 || quire_nodes() == 1 || (!is_mixed() && *why == 0)) return;
  if (!is_mixed()) {
    std::fprintf(stderr, "quire: OpenMP: memory is sequential, as %s\n", why);
    return;
  }
  std::fprintf(stderr,
               "quire: OpenMP: memory is mixed%s%s: %zu static objects, %lu KiB, and blocks of the heap from %lu KiB "
               "on have release consistency%s\n",
               *why != 0 ? ", as " : "", why, g_large.count, static_cast<unsigned long>(g_large.bytes >> 10),
               static_cast<unsigned long>(least_large_bytes >> 10),
               g_large.count == 0 ? " (static objects of that size would have, too, that are in the symbol table)"
               : is_watched()     ? "; flags in them, which are plain variables, would go wrong"
                                  : "; atomic operations and flags in them would go wrong");
}

}  // namespace

void compare_modules() {
  std::uint64_t all = 14695981039346656037u;
  std::int64_t number = 0;
  for (const module& m : modules()) {
    if (!counts(m)) continue;
    const summary s = summary_of(m);
    for (const std::uint64_t word : {s.base, s.sum}) all = (all ^ word) * 1099511628211u;
    for (const char c : s.file) all = (all ^ static_cast<unsigned char>(c)) * 1099511628211u;
    ++number;
  }
  const auto sum = static_cast<std::int64_t>(all >> 2);
  std::int64_t values[] = {sum, -sum, number};
  if (const quire_status why = quire_reduce_i64(values, 3, QUIRE_MAX); why != QUIRE_OK)
    fail("nodes cannot compare their programs", why);
  if (values[0] == -values[1]) return;
  std::int64_t compared = 0;
  for (const module& m : modules()) {
    if (!counts(m)) continue;
    compare_one(&m);
    ++compared;
  }
  for (; compared < values[2]; ++compared) compare_one(nullptr);
}

void share_static_data() {
  for (const module& m : modules()) {
    if (!m.programs) continue;
    if (m.thread_data_bytes != 0 && m.name[0] != 0 && quire_node() == 0 && quire_nodes() > 1) {
      std::fprintf(stderr,
                   "quire: OpenMP: the library %s has threadprivate (or thread_local) variables: each thread has its "
                   "own, but copyin and copyprivate of "
                   "them, and pointers to them, do not reach other nodes (those of the executable do)\n",
                   file_of(m));
    }
    share(m);
  }
  tell_mode();
}

bool in_static_data(const void* at) noexcept {
  const auto address = reinterpret_cast<std::uint64_t>(at);
  const auto end = g_shared.begin() + static_cast<std::ptrdiff_t>(g_ranges.load(std::memory_order_acquire));
  return std::any_of(g_shared.begin(), end, [address](const range& r) {
    return address - r.first.load(std::memory_order_relaxed) < r.bytes.load(std::memory_order_relaxed);
  });
}

quire_status share_static_data_of(const module& m) noexcept {
  quire_region_options how{};
  how.size = sizeof how;
  how.consistency = QUIRE_SEQUENTIAL;
  how.unit_bytes = 4096;
  how.orders = orders_of_flags();
  for (const data_range& data : m.data()) {
    quire_region region{};
    const quire_status why =
        quire_region_adopt_alone(&how, reinterpret_cast<void*>(data.first), data.end - data.first, &region);
    if (why != QUIRE_OK) return why;
  }
  return QUIRE_OK;
}

void note_static_data_of(const module& m) noexcept {
  for (const data_range& data : m.data()) note_range(data);
}

void forget_static_data_of(const module& m) noexcept {
  for (const data_range& data : m.data()) {
    for (range& r : g_shared) {
      if (r.first.load() == data.first) r.bytes.store(0);
    }
  }
}

quire_status take_static_data_away(const module& m) noexcept {
  for (const data_range& data : m.data()) {
    quire_region region{};
    quire_status why = quire_region_of(reinterpret_cast<void*>(data.first), &region);
    if (why == QUIRE_OK) why = quire_region_disown(region);
    if (why != QUIRE_OK) return why;
  }
  return QUIRE_OK;
}

/// What large objects hold is of no use after the program's own destructors: no node fetches that at the end.
void close_static_data() noexcept {
  g_ranges = 0;
  for (const module& m : modules()) {
    if (!m.programs) continue;
    for (const data_range& data : m.data()) {
      for (const large_object& o : large_objects(m, data))
        (void)!quire_region_forget(reinterpret_cast<const void*>(o.first), o.bytes);
    }
  }
}

/// `quire exec` has kept what was there before (tools/exec_environment.hpp).
void restore_environment() {
  constexpr struct {
    const char *name, *kept;
    bool always;
  } changed[] = {{"LD_PRELOAD", "QUIRE_EXEC_LD_PRELOAD", true},
                 {"LD_BIND_NOW", "QUIRE_EXEC_LD_BIND_NOW", true},
                 {"LD_LIBRARY_PATH", "QUIRE_EXEC_LD_LIBRARY_PATH", false}};
  for (const auto& one : changed) {
    const char* const before = std::getenv(one.kept);
    if (before == nullptr && !one.always) continue;
    if (before != nullptr && *before != 0) {
      ::setenv(one.name, before, 1);
    } else {
      ::unsetenv(one.name);
    }
    ::unsetenv(one.kept);
  }
  (void)own_file();  // kept
  ::unsetenv("QUIRE_EXEC_FILE");
  ::unsetenv("QUIRE_EXEC_STACK");
  ::unsetenv("QUIRE_EXEC_MEMORY");
  ::unsetenv("QUIRE_EXEC_PLACE");
  ::unsetenv("QUIRE_EXEC_CODE");
}

}  // namespace quire::program
