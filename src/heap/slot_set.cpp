// SPDX-License-Identifier: BSD-3-Clause
// Bitmaps of two levels: a slot is found by one pass over the summary, at most 32 words for a span of 2 MiB.
#include "heap/slot_set.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "base/check.hpp"

namespace quire::heap {

namespace {

constexpr std::uint64_t bit(std::uint64_t number) noexcept { return std::uint64_t{1} << (number % 64); }

void set_first_bits(std::uint64_t* words, std::uint32_t bits) noexcept {
  std::fill_n(words, bits / 64, ~std::uint64_t{0});
  if (bits % 64 != 0) words[bits / 64] = bit(bits) - 1;
}

}  // namespace

bool slot_set::make(std::uint32_t slots, std::uint64_t dirty) noexcept {
  CHECK(slots > 0);
  slots_ = slots;
  taken_ = 0;
  untouched_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(dirty, slots));
  free_.reset(new (std::nothrow) std::uint64_t[words()]);
  summary_.reset(new (std::nothrow) std::uint64_t[summary_words()]);
  if (!free_ || !summary_) return false;
  set_first_bits(free_.get(), slots);
  set_first_bits(summary_.get(), words());
  return true;
}

slot_set::piece slot_set::take() noexcept {
  CHECK(!is_full());
  std::uint32_t summary_word = 0;
  while (summary_[summary_word] == 0) ++summary_word;
  const std::uint32_t word = summary_word * 64 + static_cast<std::uint32_t>(std::countr_zero(summary_[summary_word]));
  const std::uint32_t slot = word * 64 + static_cast<std::uint32_t>(std::countr_zero(free_[word]));
  free_[word] &= ~bit(slot);
  if (free_[word] == 0) summary_[summary_word] &= ~bit(word);
  ++taken_;
  const bool fresh = slot >= untouched_;
  if (fresh) untouched_ = slot + 1;
  return {slot, fresh};
}

bool slot_set::is_taken(std::uint64_t slot) const noexcept {
  return slot < slots_ && (free_[slot / 64] & bit(slot)) == 0;
}

bool slot_set::give_back(std::uint64_t slot) noexcept {
  if (!is_taken(slot)) return false;
  free_[slot / 64] |= bit(slot);
  summary_[slot / 64 / 64] |= bit(slot / 64);
  --taken_;
  return true;
}

bool slot_set::is_valid() const noexcept {
  std::uint32_t free_slots = 0;
  for (std::uint32_t word = 0; word < words(); ++word) {
    free_slots += static_cast<std::uint32_t>(std::popcount(free_[word]));
    const bool noted = (summary_[word / 64] & bit(word)) != 0;
    if (noted != (free_[word] != 0)) return false;
  }
  for (std::uint32_t slot = untouched_; slot < slots_; ++slot) {
    if ((free_[slot / 64] & bit(slot)) == 0) return false;
  }
  return free_slots + taken_ == slots_;
}

}  // namespace quire::heap
