// SPDX-License-Identifier: BSD-3-Clause
// Each node has a span of addresses for what is private: streams, say, whose address the program may hand to other
// nodes. The system gives out the highest addresses that are free. So all that are above a node's span are taken,
// without memory.
#include <malloc.h>
#include <quire/quire.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "program/posix/memory/own_addresses.hpp"
#include "program/process/fail.hpp"
#include "program/process/libc_heap.hpp"
#include "program/process/modules.hpp"

namespace quire::program {
namespace {

constexpr std::uint64_t page_bytes = 4096, least_room = std::uint64_t{64} << 30;
/// Of a node's span: what its program may map of files, say. Where addresses are limited, or nodes many, less.
constexpr std::uint64_t most_span = std::uint64_t{1} << 40, least_span = std::uint64_t{32} << 30;
/// Below what the system gives out; where `quire exec` has placed the program, within what it leaves open
/// (tools/place_program.hpp).
std::uint64_t least() noexcept { return placed_by_exec() ? 0x4000'0000'0000 : 0x6000'0000'0000; }
std::uint64_t g_top = 0;   ///< of node 0's span; 0: there are none
std::uint64_t g_span = 0;  ///< bytes of each

struct gaps {
  static constexpr std::size_t most = 1024;
  std::uint64_t first[most] = {}, end[most] = {};
  std::size_t count = 0;
  std::uint64_t lowest = 0;  ///< mapping from least() on
};

/// What is free between the mappings from least() on, up to the highest one below the stack, which may grow.
bool find(gaps& g) noexcept {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  char line[512];
  std::uint64_t before = 0;
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long first = 0, end = 0;
    if (std::sscanf(line, "%lx-%lx", &first, &end) != 2 || first < least()) continue;
    if (std::strstr(line, "[stack]") != nullptr) break;
    if (g.lowest == 0) g.lowest = first;
    if (before != 0 && first > before && g.count < gaps::most) {
      g.first[g.count] = before;
      g.end[g.count++] = first;
    }
    before = end;
  }
  std::fclose(maps);
  return g.lowest != 0 && g.count < gaps::most;
}

/// For so many nodes from `top` on; the same on all.
std::uint64_t span_bytes(std::uint64_t top, std::uint64_t nodes, bool limited) noexcept {
  if (limited || top < least() + least_room) return least_span;
  const std::uint64_t share = (top - least_room - least()) / nodes / least_span * least_span;
  return std::clamp(share, least_span, most_span);
}

bool are_addresses_limited() noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

bool take(std::uint64_t first, std::uint64_t end) noexcept {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  return first >= end || ::mmap(reinterpret_cast<void*>(first), end - first, PROT_NONE, flags, -1, 0) != MAP_FAILED;
}

/// Takes memory of a size until it comes from elsewhere.
void use_up(std::size_t bytes, std::uint64_t heap_end) noexcept {
  constexpr int enough = 10'000;
  for (int i = 0; i < enough; ++i) {
    void* const at = libc_malloc(bytes);
    if (at == nullptr || reinterpret_cast<std::uint64_t>(at) < heap_end) continue;
    return ::free(at);
  }
}

/// malloc(3) goes on in new memory: its first heap cannot grow, and what is free in it is used up. What is freed there
/// later may be given out again.
void leave_first_heap() noexcept {
  const auto end = (reinterpret_cast<std::uint64_t>(::sbrk(0)) + page_bytes - 1) / page_bytes * page_bytes;
  if (!take(end, end + page_bytes) && !placed_by_exec()) return;         // there all above is taken
  constexpr std::size_t largest = 64u << 10, by_size = 1040, step = 16;  // up to there libc keeps lists of a size
  for (std::size_t bytes = largest; bytes > by_size; bytes /= 2) use_up(bytes, end);
  for (std::size_t bytes = by_size - 8; bytes > step; bytes -= step) use_up(bytes, end);
}

}  // namespace

void separate_private_memory() {
  if (quire_nodes() == 1) return;
  static constinit gaps g{};
  const bool found = find(g);
  std::int64_t agreed[] = {found ? static_cast<std::int64_t>(g.lowest) : 0, are_addresses_limited() ? 0 : 1};
  if (const quire_status why = quire_reduce_i64(agreed, 2, QUIRE_MIN); why != QUIRE_OK) fail("nodes cannot begin", why);
  const auto top = static_cast<std::uint64_t>(agreed[0]), nodes = static_cast<std::uint64_t>(quire_nodes());
  const std::uint64_t bytes = span_bytes(top, nodes, agreed[1] == 0);
  const std::uint64_t first_top = (top - least_room) / page_bytes * page_bytes;
  const std::uint64_t own_top = first_top - static_cast<std::uint64_t>(quire_node()) * bytes;
  if (top == 0 || first_top - nodes * bytes < least()) return;
  bool done = take(own_top, g.lowest);
  for (std::size_t i = 0; i < g.count; ++i) done = take(g.first[i], g.end[i]) && done;
  std::int64_t all = done ? 1 : 0;
  if (const quire_status why = quire_reduce_i64(&all, 1, QUIRE_MIN); why != QUIRE_OK) fail("nodes cannot begin", why);
  if (all == 0) return;
  leave_first_heap();
  g_top = first_top;
  g_span = bytes;
}

int node_of_private(std::uint64_t address) noexcept {
  if (g_top == 0 || address >= g_top || g_top - address > static_cast<std::uint64_t>(quire_nodes()) * g_span) return -1;
  return static_cast<int>((g_top - 1 - address) / g_span);
}
bool is_told_apart(std::uint64_t address) noexcept { return g_top == 0 || node_of_private(address) == quire_node(); }

}  // namespace quire::program
