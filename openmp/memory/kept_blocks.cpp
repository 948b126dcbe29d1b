// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/memory/kept_blocks.hpp"

#include <quire/system.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "openmp/files/on_all_nodes.hpp"
#include "openmp/memory/page_marks.hpp"
#include "openmp/memory/shared_pages.hpp"

namespace quire::openmp {
namespace {

constexpr std::size_t most_kept_bytes = std::size_t{32} << 20;  ///< of several; one may have any size

/// What is there now: the program may have mapped there meanwhile, and unmapped again.
bool is_kept(void* first, std::size_t bytes) noexcept {
  void* begin = nullptr;
  std::uint64_t now = 0;
  int taken = 0;
  return are_all(page_mark::begins, first, mapped_page) &&
         quire_allocation_around(first, &begin, &now, &taken) == QUIRE_OK && taken != 0 && begin == first &&
         now == bytes && are_all(page_mark::unmapped, first, bytes);
}

std::pair<void*, std::size_t> take_out(shared_state::kept_blocks& k, std::uint32_t which) noexcept {
  const std::pair<void*, std::size_t> one{reinterpret_cast<void*>(k.first[which]), k.bytes[which]};
  std::copy(k.first + which + 1, k.first + k.count, k.first + which);
  std::copy(k.bytes + which + 1, k.bytes + k.count, k.bytes + which);
  --k.count;
  return one;
}

void give_back_oldest(shared_state::kept_blocks& k) noexcept {
  const auto [first, bytes] = take_out(k, 0);
  bool zero = false;
  if (!is_kept(first, bytes) || !open_in_turn(first, bytes, zero)) return;
  clear_mark(page_mark::begins, first, mapped_page);
  (void)quire_free_now(first, zero ? 1 : 0);
}

}  // namespace

void keep_block(void* first, std::size_t bytes) noexcept {
  auto& k = shared().kept;
  const auto address = reinterpret_cast<std::uint64_t>(first);
  for (std::uint32_t i = k.count; i-- != 0;) {
    if (k.first[i] == address) (void)take_out(k, i);
  }
  while (k.count == k.most || (k.count != 0 && std::accumulate(k.bytes, k.bytes + k.count, bytes) > most_kept_bytes))
    give_back_oldest(k);
  k.first[k.count] = address;
  k.bytes[k.count++] = bytes;
}

void* take_kept(std::size_t bytes, std::size_t alignment) noexcept {
  auto& k = shared().kept;
  if (bytes <= most_kept_bytes || std::atomic_ref(k.count).load() == 0) return nullptr;
  const process_turn mine;
  while (k.count != 0) {
    if (k.bytes[0] != bytes || k.first[0] % alignment != 0 || !is_kept(reinterpret_cast<void*>(k.first[0]), bytes)) {
      give_back_oldest(k);
      continue;
    }
    void* const first = take_out(k, 0).first;
    clear_mark(page_mark::unmapped, first, bytes);
    return first;
  }
  return nullptr;
}

bool give_kept_back() noexcept {
  auto& k = shared().kept;
  if (std::atomic_ref(k.count).load() == 0) return false;
  const process_turn mine;
  while (k.count != 0) give_back_oldest(k);
  return true;
}

}  // namespace quire::openmp
