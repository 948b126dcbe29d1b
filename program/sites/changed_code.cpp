// SPDX-License-Identifier: BSD-3-Clause
// In a mapping of its own, which is made when code is changed first: what is allocated before the program's memory is
// there does not last, and a static table would count as data of each process that looks at code (ulimit -d).
#include "program/sites/changed_code.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "os/raw_call.hpp"

namespace quire::program::sites {
namespace {

struct bytes_before {  // within a page, and so within a library
  std::uint64_t at = 0;
  std::uint8_t count = 0;
  std::array<std::uint8_t, 7> bytes{};
};
constinit std::mutex g_guard;  ///< of what follows
constinit std::span<bytes_before> g_before{};
constinit std::size_t g_count = 0;
constinit bool g_full = false;

constexpr std::uint64_t page = 4096;
constexpr std::size_t most_entries = 1 << 16;

/// Without memory nothing is known of what changes from now on.
void make_table() noexcept {
  constexpr std::size_t bytes = most_entries * sizeof(bytes_before);
  const long at = os::raw_call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  g_full = at < 0 && at > -static_cast<long>(page);
  if (!g_full) g_before = {reinterpret_cast<bytes_before*>(at), most_entries};
}

}  // namespace

void remember_code(std::uint64_t at, std::uint8_t before) noexcept {
  const std::lock_guard lock(g_guard);
  if (g_before.empty() && !g_full) make_table();
  bytes_before* last = g_count != 0 ? &g_before[g_count - 1] : nullptr;
  if (last == nullptr || last->at + last->count != at || last->count == last->bytes.size() || at % page == 0) {
    g_full = g_full || g_count == g_before.size();
    if (g_full) return;
    last = &g_before[g_count++];
    *last = {at, 0, {}};
  }
  last->bytes[last->count++] = before;
}

void forget_code(std::uint64_t first, std::uint64_t end) noexcept {
  const std::lock_guard lock(g_guard);
  const auto all = g_before.begin() + static_cast<std::ptrdiff_t>(g_count);
  const auto kept =
      std::remove_if(g_before.begin(), all, [&](const bytes_before& b) { return b.at >= first && b.at < end; });
  g_count = static_cast<std::size_t>(kept - g_before.begin());
}

std::vector<std::byte> unchanged_code(std::span<const std::byte> code) {
  std::vector<std::byte> all(code.begin(), code.end());
  const auto first = reinterpret_cast<std::uint64_t>(code.data());
  const std::lock_guard lock(g_guard);
  if (g_full) return {};
  // What was changed again later was Quire's own by then.
  for (std::size_t i = g_count; i-- > 0;) {
    const bytes_before& b = g_before[i];
    for (std::uint64_t k = 0; k < b.count; ++k) {
      if (b.at + k - first < all.size()) all[b.at + k - first] = std::byte{b.bytes[k]};
    }
  }
  return all;
}

}  // namespace quire::program::sites
