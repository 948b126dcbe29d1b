// SPDX-License-Identifier: BSD-3-Clause
#include "detect/userfault/page_set.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>

#include "os/memory.hpp"

namespace quire::detect {

namespace {

/// Makes the table that `slot` points to, of `count` entries, if there is none yet. 0 or errno.
template <class Entry>
int make_table(std::atomic<Entry*>& slot, std::uint64_t count) noexcept {
  if (slot.load(std::memory_order_acquire) != nullptr) return 0;
  const std::uint64_t bytes = count * sizeof(Entry);
  int error = 0;
  auto* const made = static_cast<Entry*>(os::map_table(bytes, error));
  if (made == nullptr) return error;
  Entry* none = nullptr;
  if (!slot.compare_exchange_strong(none, made)) os::unmap(made, bytes);  // another thread was faster
  return 0;
}

}  // namespace

page_set::~page_set() {
  std::atomic<word*>* const parts = parts_.load();
  if (parts == nullptr) return;
  for (std::uint64_t i = 0; i < part_count; ++i) os::unmap(parts[i].load(), words_per_part * sizeof(word));
  os::unmap(parts, part_count * sizeof(*parts));
}

int page_set::cover(std::uint64_t address, std::uint64_t bytes) noexcept {
  constexpr std::uint64_t top = std::uint64_t{1} << address_bits;
  if (bytes == 0 || address > top || bytes > top - address) return EINVAL;
  int error = make_table(parts_, part_count);
  const std::uint64_t last = (address + bytes - 1) >> part_shift;
  for (std::uint64_t part = address >> part_shift; error == 0 && part <= last; ++part) {
    error = make_table(parts_.load()[part], words_per_part);
  }
  return error;
}

template <class Change>
void page_set::for_each_word(std::uint64_t address, std::uint64_t bytes, Change&& change) {
  const std::uint64_t end = (address + bytes) >> page_shift;
  for (std::uint64_t page = address >> page_shift; page < end;) {
    const std::uint64_t stop = std::min(end, (page | 63) + 1), count = stop - page;
    change(page, (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << (page & 63));
    page = stop;
  }
}

bool page_set::insert(std::uint64_t address, std::uint64_t bytes) noexcept {
  std::uint64_t before = 0;
  for_each_word(address, bytes,
                [&](std::uint64_t page, std::uint64_t mask) { before |= word_of(page).fetch_or(mask) & mask; });
  return before != 0;
}

void page_set::erase(std::uint64_t address, std::uint64_t bytes) noexcept {
  for_each_word(address, bytes, [&](std::uint64_t page, std::uint64_t mask) { word_of(page).fetch_and(~mask); });
}

std::uint64_t page_set::next(std::uint64_t address, std::uint64_t end, std::uint64_t flip) const noexcept {
  const std::uint64_t stop = end >> page_shift;
  for (std::uint64_t page = address >> page_shift; page < stop; page = (page | 63) + 1) {
    const std::uint64_t left = (word_of(page).load() ^ flip) >> (page & 63);
    if (left != 0) return std::min(end, (page + static_cast<std::uint64_t>(std::countr_zero(left))) << page_shift);
  }
  return end;
}

std::uint64_t page_set::next_in(std::uint64_t address, std::uint64_t end) const noexcept {
  return next(address, end, 0);
}
std::uint64_t page_set::next_out(std::uint64_t address, std::uint64_t end) const noexcept {
  return next(address, end, ~std::uint64_t{0});
}

}  // namespace quire::detect
