// SPDX-License-Identifier: BSD-3-Clause
// See heap.hpp.
#include "heap/heap.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"

namespace quire::heap {

namespace {

/// A span this long wastes at most 4% behind its last slot.
constexpr std::uint64_t span_bytes = 64 << 10;

}  // namespace

heap::heap(std::uint64_t base, std::uint64_t size, std::uint64_t unit_bytes) noexcept
    : base_(round_up(base, page_bytes)),
      end_((base + size) & ~(page_bytes - 1)),
      unit_bytes_(unit_bytes),
      pages_(base_ >> page_shift, std::max(base_, end_) >> page_shift) {
  CHECK(base + size >= base && base_ >= base);
  CHECK(std::has_single_bit(unit_bytes) && unit_bytes >= page_bytes && unit_bytes <= largest_alignment_bytes);
}

std::uint64_t heap::place::bytes() const noexcept {
  return in->use == run_use::span ? in->objects->slot_bytes() : in->bytes();
}

base::result<allocation> heap::allocate(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  if (!std::has_single_bit(alignment) || alignment > largest_alignment_bytes) return QUIRE_INVALID;
  if (bytes == 0 || base_ >= end_ || bytes > end_ - base_) return QUIRE_INVALID;
  // Slots of a class are as aligned as its size is, and a size rounded up to the alignment falls into a class that is a
  // multiple of it: the steps between classes are powers of two.
  const std::uint64_t rounded = round_up(bytes, std::max(alignment, smallest_object_bytes));
  const bool small = alignment < page_bytes && rounded <= largest_small_bytes;
  std::lock_guard lock{mutex_};
  auto given = small ? allocate_small(size_class_of(rounded)) : allocate_large(bytes, alignment);
  if (!given.ok()) return given;
  live_bytes_ += given.value().bytes;
  ++live_objects_;
  return given;
}

base::result<allocation> heap::allocate_small(unsigned size_class) noexcept {
  run*& current = current_[size_class];
  if (current == nullptr) current = pages_.tree().lowest_span(size_class);
  if (current == nullptr) current = make_span(size_class);
  if (current == nullptr) return QUIRE_NO_MEMORY;
  run* const from = current;
  if (spare_[size_class] == from) spare_[size_class] = nullptr;
  const span::piece slot = from->objects->take();
  if (from->objects->is_full()) {
    pages_.tree().update(from);
    current = nullptr;
  }
  const std::uint64_t bytes = from->objects->slot_bytes();
  return allocation{from->address() + slot.offset, bytes, slot.fresh ? 0 : bytes};
}

base::result<allocation> heap::allocate_large(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  dirt left;
  run* const taken = take_run(round_up(bytes, page_bytes) >> page_shift, alignment_power_of(alignment), left);
  if (taken == nullptr) return QUIRE_NO_MEMORY;
  return allocation{taken->address(), taken->bytes(), left};
}

run* heap::take_run(std::uint64_t page_count, unsigned alignment_power, dirt& left) noexcept {
  run* taken = pages_.take(page_count, alignment_power, left);
  if (taken == nullptr && give_back_spares()) taken = pages_.take(page_count, alignment_power, left);
  return taken;
}

run* heap::make_span(unsigned size_class) noexcept {
  run* const made = make_span(size_class, std::max(span_bytes, unit_bytes_));
  // When the range is nearly full, one unit is better than nothing.
  return made != nullptr || unit_bytes_ >= span_bytes ? made : make_span(size_class, unit_bytes_);
}

run* heap::make_span(unsigned size_class, std::uint64_t bytes) noexcept {
  dirt left;
  run* const made = take_run(bytes >> page_shift, alignment_power_of(unit_bytes_), left);
  if (made == nullptr) return nullptr;
  made->objects = span::make(size_class, bytes, left.bytes);
  if (made->objects == nullptr) {
    pages_.give_back(made);
    return nullptr;
  }
  made->use = run_use::span;
  pages_.tree().update(made);
  return made;
}

run* heap::find_run(std::uint64_t address) const noexcept {
  const std::uint64_t page = address >> page_shift;
  run*& recent = cached(address);
  if (recent != nullptr && recent->contains(page)) return recent;
  run* const found = pages_.tree().find(page);
  if (found != nullptr && found->use == run_use::span) recent = found;
  return found;
}

heap::place heap::find_object(std::uint64_t address) const noexcept {
  run* const in = find_run(address);
  if (in == nullptr || in->use == run_use::free) return {};
  const std::uint64_t offset = address - in->address();
  const bool starts_here = in->use == run_use::span ? in->objects->is_taken(offset) : offset == 0;
  return starts_here ? place{in, offset} : place{};
}

base::status heap::release(std::uint64_t address, bool zero) noexcept {
  std::lock_guard lock{mutex_};
  const place found = find_object(address);
  if (found.in == nullptr) return QUIRE_BAD_ADDRESS;
  live_bytes_ -= found.bytes();
  --live_objects_;
  if (found.in->use == run_use::span) {
    release_small(found.in, found.offset);
  } else {
    pages_.give_back(found.in, zero);
  }
  return QUIRE_OK;
}

base::result<allocation> heap::allocate_at(std::uint64_t address, std::uint64_t bytes) noexcept {
  if (bytes == 0 || (address | bytes) % page_bytes != 0) return QUIRE_INVALID;
  if (address < base_ || address >= end_ || bytes > end_ - address) return QUIRE_BAD_ADDRESS;
  std::lock_guard lock{mutex_};
  dirt left;
  run* const taken = pages_.take_at(address >> page_shift, bytes >> page_shift, left);
  if (taken == nullptr) return QUIRE_EXISTS;
  live_bytes_ += taken->bytes();
  ++live_objects_;
  return allocation{taken->address(), taken->bytes(), left};
}

base::result<allocation> heap::gap_around(std::uint64_t address) const noexcept {
  std::lock_guard lock{mutex_};
  const std::uint64_t reached = pages_.frontier() << page_shift;
  const run* const in = address < reached ? find_run(address) : nullptr;
  if (in != nullptr ? in->use != run_use::free : address < reached || address >= end_) return QUIRE_BAD_ADDRESS;
  const run* const last = in != nullptr ? in : pages_.tree().last();
  const bool is_last = last == nullptr || last == pages_.tree().last();
  const std::uint64_t first = last != nullptr && last->use == run_use::free ? last->address() : reached,
                      end = is_last ? end_ : last->address() + last->bytes();
  return allocation{first, end - first, 0};
}

void heap::release_small(run* in, std::uint64_t offset) noexcept {
  span& objects = *in->objects;
  const bool was_full = objects.is_full();
  CHECK(objects.give_back(offset));
  if (was_full) {
    pages_.tree().update(in);
    run*& current = current_[objects.size_class()];
    if (current != nullptr && in->first_page < current->first_page) current = in;
  }
  if (objects.is_empty()) keep_or_give_back(in);
}

/// Each class keeps the lowest of its empty spans.
void heap::keep_or_give_back(run* empty) noexcept {
  run*& spare = spare_[empty->objects->size_class()];
  if (spare == nullptr || empty->first_page < spare->first_page) std::swap(spare, empty);
  if (empty != nullptr) give_back_span(empty);
}

void heap::give_back_span(run* empty) noexcept {
  run*& current = current_[empty->objects->size_class()];
  if (current == empty) current = nullptr;
  const std::uint64_t last = empty->address() + empty->bytes() - 1;
  for (std::uint64_t block = empty->address() >> cached_block_shift; block <= last >> cached_block_shift; ++block) {
    run*& recent = cached(block << cached_block_shift);
    if (recent == empty) recent = nullptr;
  }
  empty->objects.reset();
  empty->use = run_use::object;
  pages_.tree().update(empty);
  pages_.give_back(empty);
}

bool heap::give_back_spares() noexcept {
  bool any = false;
  for (run*& spare : spare_) {
    if (spare == nullptr) continue;
    give_back_span(spare);
    spare = nullptr;
    any = true;
  }
  return any;
}

base::status heap::try_resize(std::uint64_t address, std::uint64_t bytes) noexcept {
  std::lock_guard lock{mutex_};
  const place found = find_object(address);
  if (found.in == nullptr) return QUIRE_BAD_ADDRESS;
  if (bytes == 0 || bytes > end_ - base_) return QUIRE_INVALID;
  if (found.in->use == run_use::span) return bytes <= found.bytes() ? QUIRE_OK : QUIRE_NO_MEMORY;
  const std::uint64_t before = found.bytes();
  if (!pages_.resize(found.in, round_up(bytes, page_bytes) >> page_shift)) return QUIRE_NO_MEMORY;
  live_bytes_ += found.bytes() - before;
  return QUIRE_OK;
}

base::result<std::uint64_t> heap::size_of(std::uint64_t address) const noexcept {
  std::lock_guard lock{mutex_};
  const place found = find_object(address);
  if (found.in == nullptr) return QUIRE_BAD_ADDRESS;
  return found.bytes();
}

base::result<allocation> heap::around(std::uint64_t address) const noexcept {
  std::lock_guard lock{mutex_};
  const run* const in = find_run(address);
  if (in == nullptr || in->use == run_use::free) return QUIRE_BAD_ADDRESS;
  if (in->use == run_use::object) return allocation{in->address(), in->bytes(), 0};
  const std::uint64_t slot_bytes = in->objects->slot_bytes(),
                      first = (address - in->address()) / slot_bytes * slot_bytes;
  if (first + slot_bytes > in->bytes()) return QUIRE_BAD_ADDRESS;  // what is left behind the last one
  return allocation{in->address() + first, slot_bytes, 0};
}

heap_numbers heap::numbers() const noexcept {
  std::lock_guard lock{mutex_};
  return {live_bytes_, live_objects_, pages_.tree().size(), (pages_.frontier() << page_shift) - base_};
}

bool heap::is_valid() const noexcept {
  std::lock_guard lock{mutex_};
  if (!pages_.is_valid() || !classes_are_valid()) return false;
  std::uint64_t bytes = 0, objects = 0;
  for (const run* at = pages_.tree().first(); at != nullptr; at = at->next) {
    if (at->use == run_use::object) {
      bytes += at->bytes();
      ++objects;
    } else if (at->use == run_use::span) {
      if (!at->objects->is_valid() || at->address() % unit_bytes_ != 0 || at->bytes() % unit_bytes_ != 0) return false;
      if (at->objects->is_empty() && spare_[at->objects->size_class()] != at) return false;
      bytes += at->objects->taken() * at->objects->slot_bytes();
      objects += at->objects->taken();
    }
  }
  return bytes == live_bytes_ && objects == live_objects_;
}

/// What the shortcuts (current, spare, cache) say is what the tree says.
bool heap::classes_are_valid() const noexcept {
  const run_tree& tree = pages_.tree();
  const auto is_span = [&](const run* shortcut) {
    for (const run* at = tree.first(); at != nullptr; at = at->next) {
      if (at == shortcut) return at->use == run_use::span;
    }
    return false;
  };
  for (unsigned size_class = 0; size_class < size_class_count; ++size_class) {
    const run *current = current_[size_class], *spare = spare_[size_class];
    if (current != nullptr && current != tree.lowest_span(size_class)) return false;
    if (spare == nullptr) continue;
    if (!is_span(spare) || !spare->objects->is_empty() || spare->objects->size_class() != size_class) return false;
  }
  return std::all_of(cache_.begin(), cache_.end(),
                     [&](const run* recent) { return recent == nullptr || is_span(recent); });
}

}  // namespace quire::heap
