// SPDX-License-Identifier: BSD-3-Clause
// sbrk(2) and brk(2) of the program: one end of data for all nodes, in shared memory. libc's own heap, which has the
// system's, is of each node.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <cstdint>

#include "openmp/files/on_all_nodes.hpp"
#include "openmp/libc/interpose.hpp"
#include "openmp/memory/heap.hpp"
#include "openmp/memory/shared_pages.hpp"

using namespace quire::openmp;

namespace {

/// Addresses that cost nothing until touched. The end of data never goes beyond them.
bool find_room() noexcept {
  constexpr std::size_t most = std::size_t{16} << 30, least = std::size_t{1} << 20;
  auto& data = shared().data_end;
  for (std::size_t bytes = most; data.first == 0 && bytes >= least; bytes /= 2) {
    void* const at = allocate_shared(bytes, mapped_page, true);
    if (at == nullptr) continue;
    data.first = data.now = reinterpret_cast<std::uint64_t>(at);
    data.end = data.first + bytes;
  }
  return data.first != 0;
}

/// Where it was before. What is given back is zero when it comes again.
void* move_to(std::uint64_t wanted) noexcept {
  auto& data = shared().data_end;
  const std::uint64_t before = data.now;
  if (wanted < data.first || wanted > data.end) return errno = ENOMEM, reinterpret_cast<void*>(-1);
  if (wanted < before) memset(reinterpret_cast<void*>(wanted), 0, before - wanted);
  data.now = wanted;
  return reinterpret_cast<void*>(before);
}

}  // namespace

QUIRE_LIBC void* sbrk(std::intptr_t more) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(sbrk)(more);
  const process_turn mine;
  if (!find_room()) return errno = ENOMEM, reinterpret_cast<void*>(-1);
  return move_to(shared().data_end.now + static_cast<std::uint64_t>(more));
}
QUIRE_LIBC int brk(void* end) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(brk)(end);
  const process_turn mine;
  if (!find_room()) return errno = ENOMEM, -1;
  return move_to(reinterpret_cast<std::uint64_t>(end)) == reinterpret_cast<void*>(-1) ? -1 : 0;
}
