// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/watch/arena.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace quire::program::watch {
namespace {

constexpr std::uint64_t page = 4096;
/// A stub may begin at the end of the first page.
constexpr std::uint64_t block_bytes = 2 * page;
constexpr std::size_t most_blocks = 4096;
constexpr int most_tries = 64;

}  // namespace

arena::~arena() {
  if (kept_) return;
  for (const block& b : blocks_) ::munmap(reinterpret_cast<void*>(b.first), block_bytes);
}

bool arena::map(std::uint64_t at) {
  if (blocks_.size() == most_blocks || used_by_others_.contains(at)) return false;
  void* const wanted = reinterpret_cast<void*>(at);
  void* const got = ::mmap(wanted, block_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return used_by_others_.insert(at), false;
  if (got != wanted) {  // a kernel that knows no MAP_FIXED_NOREPLACE
    ::munmap(got, block_bytes);
    return false;
  }
  blocks_.push_back({at, 0});
  return true;
}

std::uint64_t arena::take(std::uint64_t first, std::uint64_t count, std::size_t bytes) {
  const auto within = [&](block& b) -> std::uint64_t {
    const std::uint64_t at = std::max(first, b.first + b.used);
    if (at - first >= count || at + bytes > b.first + block_bytes) return 0;
    b.used = at + bytes - b.first;
    return at;
  };
  for (auto b = blocks_.rbegin(); b != blocks_.rend(); ++b) {
    if (const std::uint64_t at = within(*b); at != 0) return at;
  }
  // Downwards from the middle first: above a program its heap may grow.
  const std::uint64_t low = std::max(first, 16 * page) / page * page, high = first + count - 1;
  if (high < low) return 0;
  const std::uint64_t step = std::max(page, count / most_tries / page * page),
                      middle = low + (high - low) / 2 / page * page;
  for (std::uint64_t at = middle; at >= low; at -= step) {
    if (map(at)) return within(blocks_.back());
    if (at - low < step) break;
  }
  for (std::uint64_t at = middle + step; at <= high; at += step) {
    if (map(at)) return within(blocks_.back());
  }
  return 0;
}

bool arena::keep() noexcept {
  kept_ = std::all_of(blocks_.begin(), blocks_.end(), [](const block& b) {
    return ::mprotect(reinterpret_cast<void*>(b.first), block_bytes, PROT_READ | PROT_EXEC) == 0;
  });
  return kept_;
}

}  // namespace quire::program::watch
