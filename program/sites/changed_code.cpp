// SPDX-License-Identifier: BSD-3-Clause
// In a table of its own: what is allocated before the program's memory is there does not last.
#include "program/sites/changed_code.hpp"

#include <array>

namespace quire::program::sites {
namespace {

struct bytes_before {
  std::uint64_t at = 0;
  std::uint8_t count = 0;
  std::array<std::uint8_t, 7> bytes{};
};
constinit std::array<bytes_before, 1 << 16> g_before{};
constinit std::size_t g_count = 0;
constinit bool g_full = false;

}  // namespace

void remember_code(std::uint64_t at, std::uint8_t before) noexcept {
  bytes_before* last = g_count != 0 ? &g_before[g_count - 1] : nullptr;
  if (last == nullptr || last->at + last->count != at || last->count == last->bytes.size()) {
    g_full = g_full || g_count == g_before.size();
    if (g_full) return;
    last = &g_before[g_count++];
    last->at = at;
  }
  last->bytes[last->count++] = before;
}

std::vector<std::byte> unchanged_code(std::span<const std::byte> code) {
  if (g_full) return {};
  std::vector<std::byte> all(code.begin(), code.end());
  const auto first = reinterpret_cast<std::uint64_t>(code.data());
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
