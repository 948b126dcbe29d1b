// SPDX-License-Identifier: BSD-3-Clause
// sbrk(2) and brk(2) of the program: one end of data for all nodes, in shared memory. libc's own heap, which has the
// system's, is of each node.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "program/posix/errands/on_all_nodes.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/posix/heap/shared_pages.hpp"
#include "program/process/interpose.hpp"

using namespace quire::program;

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

void* const no_room = reinterpret_cast<void*>(-1);

/// What is given back is zero when it comes again. Not within a process_turn: pages that the program has closed are
/// opened on all nodes.
bool clear(std::uint64_t first, std::uint64_t end) noexcept {
  const std::uint64_t page = std::min(whole_pages(first), end), last = whole_pages(end);
  auto* const rest = reinterpret_cast<void*>(first);
  if (page != first && !any_closed(reinterpret_cast<void*>(first / mapped_page * mapped_page), mapped_page))
    memset(rest, 0, page - first);
  return page == end || clear_pages(reinterpret_cast<void*>(page), last - page);
}

/// Moves the end of data to wanted(now). Where it was before.
template <class Wanted>
void* move_end(const Wanted& wanted) noexcept {
  for (std::uint64_t cleared_from = 0, cleared_to = 0;;) {
    std::uint64_t before = 0, now = 0;
    {
      const process_turn mine;
      if (!find_room()) return errno = ENOMEM, no_room;
      auto& data = shared().data_end;
      before = data.now;
      now = wanted(before);
      if (now < data.first || now > data.end) return errno = ENOMEM, no_room;
      if (now >= before || (cleared_from == now && cleared_to == before)) {
        data.now = now;
        return reinterpret_cast<void*>(before);
      }
    }
    if (!clear(now, before)) return no_room;
    cleared_from = now;
    cleared_to = before;
  }
}

}  // namespace

QUIRE_LIBC void* sbrk(std::intptr_t more) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(sbrk)(more);
  return move_end([more](std::uint64_t now) { return now + static_cast<std::uint64_t>(more); });
}
QUIRE_LIBC int brk(void* end) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(brk)(end);
  return move_end([end](std::uint64_t) { return reinterpret_cast<std::uint64_t>(end); }) == no_room ? -1 : 0;
}
