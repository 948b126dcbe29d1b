#include "detect/userfault/page_set.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>

#include "os/memory.hpp"

namespace quire::detect {

page_set::~page_set() {
  for (const auto& [at, bytes] : tables_) os::unmap(at, bytes);
}

int page_set::cover(std::uint64_t address, std::uint64_t bytes) noexcept {
  constexpr std::uint64_t top = std::uint64_t{1} << address_bits;
  if (bytes == 0 || address > top || bytes > top - address) return EINVAL;
  const std::lock_guard guard(growing_);
  const auto table = [this](std::uint64_t size, int& error) noexcept -> void* {
    void* const at = os::map_table(size, error);
    if (at == nullptr) return nullptr;
    try {
      tables_.emplace_back(at, size);
    } catch (const std::bad_alloc&) {
      os::unmap(at, size);
      error = ENOMEM;
      return nullptr;
    }
    return at;
  };
  int error = 0;
  if (parts_ == nullptr) parts_ = static_cast<std::atomic<word*>*>(table(parts * sizeof(*parts_), error));
  if (parts_ == nullptr) return error;
  const std::uint64_t first = address >> part_shift, last = (address + bytes - 1) >> part_shift;
  auto* const words = static_cast<word*>(table((last - first + 1) * words_per_part * sizeof(word), error));
  if (words == nullptr) return error;
  for (std::uint64_t part = first; part <= last; ++part) {
    // One that a neighbour has made already stays; the addresses for this one are wasted, and no memory.
    word* none = nullptr;
    parts_[part].compare_exchange_strong(none, words + (part - first) * words_per_part);
  }
  return 0;
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
