// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/memory/page_marks.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <iterator>

#include "program/job/shared_state.hpp"
#include "program/posix/memory/pages.hpp"

namespace quire::program {
namespace {

using mark_word = std::atomic_ref<std::uint64_t>;

using marked = shared_state::closed_pages;

/// The heap that has an address; else the first one.
const marked& heap_of(const void* at) noexcept {
  const auto& all = program::shared().closed;
  const auto* const found = std::find_if(std::begin(all), std::end(all), [at](const marked& heap) {
    return (reinterpret_cast<std::uintptr_t>(at) - heap.first) / mapped_page < heap.pages;
  });
  return found != std::end(all) ? *found : all[0];
}

std::uint64_t* bits_of(const marked& known, page_mark which) noexcept {
  switch (which) {
    case page_mark::zero:
      return known.zero;
    case page_mark::unmapped:
      return known.unmapped;
    case page_mark::begins:
      return known.begins;
    case page_mark::leaves:
      return known.leaves;
    case page_mark::stale:
      break;
  }
  return known.stale;
}

/// Calls use(number, mask) for the words that have bits of the pages, as long as it says true. False: it has said
/// false, or not all of them are in the heap.
template <class Use>
bool for_each_number(const marked& known, const void* at, std::size_t bytes, const Use& use) noexcept {
  const std::uint64_t first = (reinterpret_cast<std::uintptr_t>(at) - known.first) / mapped_page;
  const std::uint64_t count = bytes / mapped_page;
  if (first >= known.pages || count > known.pages - first) return false;
  for (std::uint64_t page = first, stop = 0; page < first + count; page = stop) {
    stop = std::min(first + count, (page | 63) + 1);
    const std::uint64_t ones = stop - page == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (stop - page)) - 1;
    if (!use(page / 64, ones << page % 64)) return false;
  }
  return true;
}

/// The same with the word itself, of one mark.
template <class Use>
bool for_each_word(page_mark which, const void* at, std::size_t bytes, const Use& use) noexcept {
  const marked& known = heap_of(at);
  std::uint64_t* const bits = bits_of(known, which);
  return for_each_number(known, at, bytes, [&use, bits](std::uint64_t number, std::uint64_t mask) {
    return use(mark_word(bits[number]), mask);
  });
}

}  // namespace

void set_mark(page_mark which, const void* at, std::size_t bytes) noexcept {
  (void)for_each_word(which, at, bytes, [](mark_word w, std::uint64_t mask) {
    w.fetch_or(mask);
    return true;
  });
}

void set_mark_without(page_mark which, page_mark other, const void* at, std::size_t bytes) noexcept {
  const marked& known = heap_of(at);
  std::uint64_t *const bits = bits_of(known, which), *const others = bits_of(known, other);
  (void)for_each_number(known, at, bytes, [=](std::uint64_t number, std::uint64_t mask) {
    const std::uint64_t wanted = mask & ~mark_word(others[number]).load();
    if (wanted != 0) mark_word(bits[number]).fetch_or(wanted);
    return true;
  });
}

/// What is not set is not written: a page that all read stays with all.
void clear_mark(page_mark which, const void* at, std::size_t bytes) noexcept {
  (void)for_each_word(which, at, bytes, [](mark_word w, std::uint64_t mask) {
    if ((w.load() & mask) != 0) w.fetch_and(~mask);
    return true;
  });
}

bool add_mark(page_mark which, const void* at) noexcept {
  return for_each_word(which, at, mapped_page,
                       [](mark_word w, std::uint64_t mask) { return (w.fetch_or(mask) & mask) == 0; });
}

bool take_mark(page_mark which, const void* at) noexcept {
  return for_each_word(which, at, mapped_page,
                       [](mark_word w, std::uint64_t mask) { return (w.fetch_and(~mask) & mask) != 0; });
}

bool are_all(page_mark which, const void* at, std::size_t bytes) noexcept {
  return for_each_word(which, at, bytes, [](mark_word w, std::uint64_t mask) { return (mask & ~w.load()) == 0; });
}

bool have_all_either(page_mark one, page_mark other, const void* at, std::size_t bytes) noexcept {
  const marked& known = heap_of(at);
  std::uint64_t *const first = bits_of(known, one), *const second = bits_of(known, other);
  return for_each_number(known, at, bytes, [=](std::uint64_t number, std::uint64_t mask) {
    return (mask & ~(mark_word(first[number]).load() | mark_word(second[number]).load())) == 0;
  });
}

std::size_t count_marks(page_mark which, const void* at, std::size_t bytes) noexcept {
  std::size_t all = 0;
  (void)for_each_word(which, at, bytes, [&all](mark_word w, std::uint64_t mask) {
    all += static_cast<std::size_t>(std::popcount(w.load() & mask));
    return true;
  });
  return all;
}

}  // namespace quire::program
