// SPDX-License-Identifier: BSD-3-Clause
// Bitmaps of two levels: a slot is found by one pass over the summary, at most 32 words for a span of 2 MiB.
#include "heap/span.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "base/check.hpp"
#include "heap/size_classes.hpp"

namespace quire::heap {

namespace {

constexpr std::uint64_t bit(std::uint64_t number) noexcept { return std::uint64_t{1} << (number % 64); }

void set_first_bits(std::uint64_t* words, std::uint32_t bits) noexcept {
  std::fill_n(words, bits / 64, ~std::uint64_t{0});
  if (bits % 64 != 0) words[bits / 64] = bit(bits) - 1;
}

}  // namespace

std::unique_ptr<span> span::make(unsigned size_class, std::uint64_t bytes, std::uint64_t dirty_bytes) noexcept {
  std::unique_ptr<span> made{new (std::nothrow) span};
  if (!made) return nullptr;
  made->size_class_ = size_class;
  made->slot_bytes_ = static_cast<std::uint32_t>(size_class_bytes(size_class));
  made->slots_ = static_cast<std::uint32_t>(bytes / made->slot_bytes_);
  CHECK(made->slots_ > 0);
  const std::uint64_t dirty_slots = (dirty_bytes + made->slot_bytes_ - 1) / made->slot_bytes_;
  made->untouched_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(dirty_slots, made->slots_));
  made->free_.reset(new (std::nothrow) std::uint64_t[made->words()]);
  made->summary_.reset(new (std::nothrow) std::uint64_t[made->summary_words()]);
  if (!made->free_ || !made->summary_) return nullptr;
  set_first_bits(made->free_.get(), made->slots_);
  set_first_bits(made->summary_.get(), made->words());
  return made;
}

span::piece span::take() noexcept {
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
  return {std::uint64_t{slot} * slot_bytes_, fresh};
}

bool span::is_taken(std::uint64_t offset) const noexcept {
  const std::uint64_t slot = offset / slot_bytes_;
  return slot < slots_ && slot * slot_bytes_ == offset && (free_[slot / 64] & bit(slot)) == 0;
}

bool span::give_back(std::uint64_t offset) noexcept {
  if (!is_taken(offset)) return false;
  const std::uint64_t slot = offset / slot_bytes_;
  free_[slot / 64] |= bit(slot);
  summary_[slot / 64 / 64] |= bit(slot / 64);
  --taken_;
  return true;
}

bool span::is_valid() const noexcept {
  std::uint32_t free_slots = 0;
  for (std::uint32_t word = 0; word < words(); ++word) {
    free_slots += static_cast<std::uint32_t>(std::popcount(free_[word]));
    const bool noted = (summary_[word / 64] & bit(word)) != 0;
    if (noted != (free_[word] != 0)) return false;
  }
  for (std::uint32_t slot = untouched_; slot < slots_; ++slot) {
    if ((free_[slot / 64] & bit(slot)) == 0) return false;
  }
  return free_slots + taken_ == slots_ && slot_bytes_ == size_class_bytes(size_class_);
}

}  // namespace quire::heap
