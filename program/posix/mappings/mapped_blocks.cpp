// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/mappings/mapped_blocks.hpp"

#include <errno.h>
#include <quire/quire.h>
#include <quire/system.h>
#include <sched.h>

#include <algorithm>
#include <cstdint>

#include "program/posix/heap/kept_blocks.hpp"
#include "program/posix/heap/shared_pages.hpp"
#include "program/posix/memory/page_marks.hpp"

namespace quire::program {
namespace {

/// What lies at a page, as far as a range reaches.
struct piece {
  enum : std::uint8_t { free, mapping, other } what;
  char* first;        ///< of the block
  std::size_t bytes;  ///< of the block
  char* at;
  std::size_t here;  ///< from `at` on, within the range

  [[nodiscard]] bool is_whole() const noexcept { return at == first && here == bytes; }
};

piece piece_at(char* at, std::size_t most) noexcept {
  void* first = nullptr;
  std::uint64_t bytes = 0;
  int taken = 0;
  quire_region in{};
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  for (int looks = 0; quire_allocation_around(at, &first, &bytes, &taken) == QUIRE_OK; ++looks) {
    const bool is_mapping = taken != 0 && begins_page(first) && are_all(page_mark::begins, first, mapped_page);
    // Who gives a block back takes that mark for as long as the other one is there.
    const bool may_change = are_all(page_mark::leaves, first, mapped_page) ||
                            (looks == 0 && !is_mapping && are_all(page_mark::unmapped, at, mapped_page));
    if (taken != 0 && may_change) {
      ::sched_yield();
      continue;
    }
    const std::uintptr_t end = whole_pages(reinterpret_cast<std::uintptr_t>(first) + bytes);
    return {taken == 0   ? piece::free
            : is_mapping ? piece::mapping
                         : piece::other,
            static_cast<char*>(first), bytes, at, std::min(most, end - address)};
  }
  // Static data, to the end of their region; else what small blocks leave over.
  if (quire_region_of(at, &in) == QUIRE_OK && quire_region_range(in, &first, &bytes) == QUIRE_OK) {
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(first) + bytes;
    return {piece::other, static_cast<char*>(first), bytes, at, std::min(most, whole_pages(end - address))};
  }
  return {piece::other, at, mapped_page, at, std::min(most, mapped_page)};
}

/// use(piece) for all that a range has, as long as it says true.
template <class Use>
bool for_each_piece(void* at, std::size_t bytes, const Use& use) noexcept {
  auto* next = static_cast<char*>(at);
  for (char* const end = next + bytes; next < end;) {
    const piece p = piece_at(next, static_cast<std::size_t>(end - next));
    if (!use(p)) return false;
    next += p.here;
  }
  return true;
}

/// Nobody has mapped there: what is unmapped on one machine.
bool is_open_to_all(const piece& p) noexcept {
  return p.what == piece::free || (p.what == piece::mapping && are_all(page_mark::unmapped, p.at, p.here));
}

bool unmap_piece(const piece& p) noexcept {
  if (is_open_to_all(p)) return true;
  const bool whole = p.what == piece::mapping && p.is_whole();
  if (!whole && !empty_pages(p.at, p.here)) return false;
  set_mark(page_mark::unmapped, p.at, p.here);
  if (p.what == piece::mapping && are_all(page_mark::unmapped, p.first, p.bytes)) keep_block(p.first, p.bytes);
  return true;
}

/// Nobody gives the block back from now on. False: that is under way, or done.
bool is_mapped_again(const piece& p) noexcept {
  if (count_marks(page_mark::unmapped, p.at, p.here) == 0) return true;
  clear_mark(page_mark::unmapped, p.at, p.here);
  return p.what != piece::mapping || are_all(page_mark::begins, p.first, mapped_page);
}

/// False, and errno.
bool map_piece_over(const piece& p, bool closed) noexcept {
  if (p.what != piece::free) {
    if (!is_mapped_again(p)) return map_pages_over(p.at, p.here, closed);
    return closed ? empty_pages(p.at, p.here) : clear_pages(p.at, p.here);
  }
  const quire_status why = quire_calloc_at(p.at, p.here);
  if (why != QUIRE_OK) {
    const piece now = piece_at(p.at, p.here);  // another thread may have taken some of it
    if (now.what != piece::free || now.here != p.here) return map_pages_over(p.at, p.here, closed);
    return errno = ENOMEM, false;
  }
  note_mapping(p.at);
  return !closed || empty_pages(p.at, p.here, true);
}

}  // namespace

void note_mapping(const void* at) noexcept { set_mark(page_mark::begins, at, mapped_page); }

bool unmap_pages(void* at, std::size_t bytes) noexcept { return for_each_piece(at, bytes, unmap_piece); }

bool map_pages_over(void* at, std::size_t bytes, bool closed) noexcept {
  return for_each_piece(at, bytes, [closed](const piece& p) { return map_piece_over(p, closed); });
}

bool is_any_free(void* at, std::size_t bytes) noexcept {
  return !for_each_piece(at, bytes, [](const piece& p) {
    return p.what == piece::other ||
           (p.what == piece::mapping && !are_all(page_mark::unmapped, p.first, whole_pages(p.bytes)));
  });
}

bool are_all_free(void* at, std::size_t bytes) noexcept { return for_each_piece(at, bytes, is_open_to_all); }

}  // namespace quire::program
