// SPDX-License-Identifier: BSD-3-Clause
// A reservation (PROT_NONE) may be as large as all addresses. So pages that are closed and zero are known, by a bit a
// page in shared memory: nobody writes zeroes to what is zero. Other pages that are closed, and whose content is
// nobody's any more, are written when they are opened, if they ever are.
#include "program/posix/heap/shared_pages.hpp"

#include <errno.h>
#include <quire/system.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "program/posix/errands/on_all_nodes.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/posix/heap/written_pages.hpp"
#include "program/posix/memory/mapped_range.hpp"
#include "program/posix/memory/page_marks.hpp"
#include "program/process/image/image.hpp"

namespace quire::program {
namespace {

/// On this node. 0, or -1 and errno.
int set_here(void* at, std::size_t bytes, bool closed) noexcept {
  if (closed) note_closing();
  const auto call = [=](const void* first, std::size_t some) {
    return closed ? quire_pages_close(first, some) : quire_pages_open(first, some);
  };
  const quire_status why = for_each_region(at, bytes, call);
  if (why == QUIRE_OK) return 0;
  errno = why == QUIRE_UNSUPPORTED ? ENOTSUP : ENOMEM;
  return -1;
}

bool has_others() noexcept { return files::apart && files::is_node(); }

/// The caller has its turn, where there are other nodes.
bool set_in_turn(void* at, std::size_t bytes, bool closed) noexcept {
  if (!has_others()) return set_here(at, bytes, closed) == 0;
  return call_on_all(closed ? "closing pages" : "opening pages", [=] { return set_here(at, bytes, closed); }) == 0;
}

bool set_on_all(void* at, std::size_t bytes, bool closed) noexcept {
  if (!has_others()) return set_here(at, bytes, closed) == 0;
  const process_turn mine;
  return set_in_turn(at, bytes, closed);
}

bool is_all_zero(const void* at, std::size_t bytes) noexcept { return are_all(page_mark::zero, at, bytes); }
void unmark_all(const void* at, std::size_t bytes) noexcept {
  clear_mark(page_mark::zero, at, bytes);
  clear_mark(page_mark::stale, at, bytes);
  clear_mark(page_mark::unmapped, at, bytes);
}

/// Of pages that are open.
void write_zeroes(void* at, std::size_t bytes) noexcept {
  (void)for_each_written(at, bytes, [](char* first, std::size_t all, bool written) {
    constexpr std::size_t run = 64 * mapped_page;
    for (std::size_t done = 0, some = 0; written && done < all; done += some) {
      some = std::min(run, all - done);
      if (is_all_zero(first + done, some)) continue;
      for (std::size_t page = 0; page < some; page += mapped_page) {
        if (!is_all_zero(first + done + page, mapped_page)) memset(first + done + page, 0, mapped_page);
      }
    }
    return true;
  });
}

/// The same where none is closed, nor was.
void clear_content(void* at, std::size_t bytes) noexcept {
  (void)for_each_written(at, bytes, [](char* first, std::size_t all, bool written) {
    if (written) memset(first, 0, all);
    return true;
  });
}

/// Of pages that have just been closed: nobody writes zeroes to what was never written.
void unmark_unwritten(void* at, std::size_t bytes) noexcept {
  (void)for_each_written(at, bytes, [](char* first, std::size_t all, bool written) {
    if (written) return true;
    set_mark(page_mark::zero, first, all);
    clear_mark(page_mark::stale, first, all);
    return true;
  });
}

/// Who opens them comes before, or finds the marks.
bool close_emptied(void* at, std::size_t bytes) noexcept {
  if (bytes < least_worth_asking) return set_on_all(at, bytes, true);
  const process_turn mine;
  if (!set_in_turn(at, bytes, true)) return false;
  unmark_unwritten(at, bytes);
  return true;
}

bool any_stale(const void* at, std::size_t bytes) noexcept { return count_marks(page_mark::stale, at, bytes) != 0; }

/// What is marked as zero, or was never written, is at least half of it.
bool is_mostly_zero(void* at, std::size_t bytes) noexcept {
  const std::size_t half = bytes / mapped_page / 2;
  if (count_marks(page_mark::zero, at, bytes) >= half) return true;
  std::size_t unwritten = 0;
  (void)for_each_written(at, bytes, [&](char*, std::size_t all, bool written) {
    if (!written) unwritten += all / mapped_page;
    return true;
  });
  return bytes >= least_worth_asking && unwritten >= half;
}

/// Several threads may open the same pages, and write there at once: one of them alone writes zeroes, before the others
/// go on.
bool open_stale(void* at, std::size_t bytes) noexcept {
  const process_turn mine;
  if (any_closed(at, bytes) && !set_in_turn(at, bytes, false)) return false;
  auto* const first = static_cast<char*>(at);
  for (std::size_t done = 0, run = 0; done < bytes; done += run) {
    run = std::min(64 * mapped_page, bytes - done);
    if (!any_stale(first + done, run)) continue;
    for (std::size_t page = done; page < done + run; page += mapped_page) {
      if (any_stale(first + page, mapped_page)) memset(first + page, 0, mapped_page);
    }
  }
  unmark_all(at, bytes);
  return true;
}

}  // namespace

/// Libraries that Quire stands on make such calls in the middle of a fault: nothing of Quire is called for what is not
/// shared.
part shared_part(const void* at, std::size_t bytes, const void* caller) noexcept {
  const auto is_shared_page = [](std::uintptr_t page) {
    const auto* const address = reinterpret_cast<const void*>(page);
    return in_heap(address) || in_static_data(address) || (mapped::may_have(address) && end_of_region(page) != 0);
  };
  const auto first = reinterpret_cast<std::uintptr_t>(at), last = first + whole_pages(bytes) - 1;
  if (bytes == 0 || last < first || !from_program(caller)) return part::none;
  const bool begins_shared = is_shared_page(first), ends_shared = is_shared_page(last);
  if (!begins_shared && !ends_shared) return part::none;
  if (!begins_shared || !ends_shared) return part::some;
  for (std::uintptr_t next = first; next <= last;) {
    next = end_of_region(next);
    if (next == 0) return part::some;
  }
  return part::all;
}

bool close_pages(void* at, std::size_t bytes) noexcept { return set_on_all(at, bytes, true); }

bool open_pages(void* at, std::size_t bytes) noexcept {
  if (!was_any_closed()) return true;
  if (any_stale(at, bytes)) return open_stale(at, bytes);
  if (!any_closed(at, bytes)) return true;
  if (!set_on_all(at, bytes, false)) return false;
  unmark_all(at, bytes);
  return true;
}

bool open_to_give_back(void* at, std::size_t bytes, bool& zero) noexcept {
  zero = is_mostly_zero(at, bytes);
  if (any_closed(at, bytes) && !set_on_all(at, bytes, false)) return false;
  if (zero) write_zeroes(at, bytes);
  unmark_all(at, bytes);
  return true;
}

bool clear_pages(void* at, std::size_t bytes) noexcept {
  if (!any_closed(at, bytes)) return clear_content(at, bytes), true;
  if (!set_on_all(at, bytes, false)) return false;
  write_zeroes(at, bytes);
  unmark_all(at, bytes);
  return true;
}

bool clear_open_pages(void* at, std::size_t bytes) noexcept {
  if (!any_closed(at, bytes)) return clear_content(at, bytes), true;
  auto* const first = static_cast<char*>(at);
  for (std::size_t done = 0, run = 0; done < bytes; done += run) {
    const bool closed = any_closed(first + done, mapped_page);
    for (run = mapped_page; done + run < bytes && any_closed(first + done + run, mapped_page) == closed;)
      run += mapped_page;
    if (!(closed ? empty_pages(first + done, run) : clear_pages(first + done, run))) return false;
  }
  return true;
}

bool empty_pages(void* at, std::size_t bytes, bool fresh) noexcept {
  const auto are_empty = [=] { return have_all_either(page_mark::zero, page_mark::stale, at, bytes); };
  if (are_empty()) return true;
  if (fresh) {
    if (!close_pages(at, bytes)) return false;
    set_mark(page_mark::zero, at, bytes);
    return true;
  }
  set_mark_without(page_mark::stale, page_mark::zero, at, bytes);
  if (!are_empty()) {  // not of the heap: nothing is known of them
    if (any_closed(at, bytes) && !set_on_all(at, bytes, false)) return false;
    memset(at, 0, bytes);
  }
  if (close_emptied(at, bytes)) return true;
  clear_mark(page_mark::stale, at, bytes);  // such pages cannot be closed, and keep what they have
  return false;
}

void open_block(void* at) noexcept {
  std::size_t bytes = 0;
  if (!was_any_closed() || quire_allocation_size(at, &bytes) != QUIRE_OK || bytes < mapped_page) return;
  const auto first = whole_pages(reinterpret_cast<std::uintptr_t>(at));
  const auto end = (reinterpret_cast<std::uintptr_t>(at) + bytes) / mapped_page * mapped_page;
  if (first < end) (void)open_pages(reinterpret_cast<void*>(first), end - first);
}

void refuse_mapping(const char* call, const void* at, const char* advice) noexcept {
  char line[400];
  const int length = std::snprintf(line, sizeof line, "quire: node %d: %s at %p is refused: %s (docs/mappings.md)\n",
                                   job().node, call, at, advice);
  (void)!::write(2, line, std::min(sizeof line - 1, static_cast<std::size_t>(length)));
  errno = ENOTSUP;
}

}  // namespace quire::program
