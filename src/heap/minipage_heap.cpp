// SPDX-License-Identifier: BSD-3-Clause
#include "heap/minipage_heap.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "base/check.hpp"

namespace quire::heap {

namespace {

/// Of the first span of a cut, and of those after several have been full. Each is announced: the more is allocated, the
/// fewer messages.
constexpr std::uint64_t least_span_pages = 16, most_span_pages = 512;
/// No span takes more than this part of the range, so that a small one has room for several cuts.
constexpr std::uint64_t span_part = 64;

constexpr std::uint64_t divide_up(std::uint64_t what, std::uint64_t by) noexcept { return (what + by - 1) / by; }

}  // namespace

minipage_heap::minipage_heap(std::uint64_t base, std::uint64_t size, unsigned views, bool guards) noexcept
    : base_(round_up(base, page_bytes)),
      end_((base + size) & ~(page_bytes - 1)),
      least_minipage_bytes_(round_up(divide_up(page_bytes, std::max(views, 1u)), 16)),
      guards_(guards),
      pages_(base_ >> page_shift, std::max(base_, end_) >> page_shift) {
  CHECK(base + size >= base && base_ >= base);
  CHECK(views >= 1 && views <= most_views);
}

std::uint64_t minipage_heap::place::bytes() const noexcept {
  return in->use == run_use::minipages ? in->minipages->cut.slot_bytes : in->bytes();
}

bool minipage_heap::takes(std::uint64_t bytes, std::uint64_t alignment) const noexcept {
  return std::has_single_bit(alignment) && alignment <= largest_alignment_bytes && bytes != 0 && base_ < end_ &&
         bytes <= end_ - base_;
}

/// Slots of more than 2048 bytes: it is to be a run of pages.
minipage_cut minipage_heap::cut_for(std::uint64_t bytes, std::uint64_t alignment) const noexcept {
  if (guards_) {
    const std::uint64_t own = round_up(bytes, std::max<std::uint64_t>(alignment, 16)),
                        minipage = std::max(own, least_minipage_bytes_);
    if (minipage > largest_minipage_bytes) return {.slot_bytes = UINT32_MAX};
    return {static_cast<std::uint32_t>(own), 1, static_cast<std::uint32_t>(minipage)};
  }
  const std::uint64_t least = divide_up(least_minipage_bytes_, chunk_);
  const std::uint64_t slot = round_up(std::max(bytes, least), std::max<std::uint64_t>(alignment, 16));
  if (slot > largest_minipage_bytes) return {.slot_bytes = UINT32_MAX};
  return {.slot_bytes = static_cast<std::uint32_t>(slot),
          .chunk = slot * chunk_ <= largest_minipage_bytes ? chunk_ : 0};
}

minipage_heap::shelf& minipage_heap::shelf_of(const minipage_cut& cut) noexcept {
  return shelves_[first_shelf[cut.slot_bytes / 16] + cut.chunk];
}
const minipage_heap::shelf& minipage_heap::shelf_of(const minipage_cut& cut) const noexcept {
  return shelves_[first_shelf[cut.slot_bytes / 16] + cut.chunk];
}

void minipage_heap::set_chunk(unsigned slots) noexcept {
  CHECK(slots >= 1 && slots <= largest_chunk);
  std::lock_guard lock{mutex_};
  chunk_ = slots;
}

base::result<allocation> minipage_heap::allocate(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  if (!takes(bytes, alignment)) return QUIRE_INVALID;
  std::lock_guard lock{mutex_};
  const minipage_cut cut = cut_for(bytes, alignment);
  auto given = cut.slot_bytes <= largest_minipage_bytes ? allocate_small(cut) : allocate_large(bytes, alignment);
  if (!given.ok()) return given;
  live_bytes_ += given.value().bytes;
  ++live_objects_;
  return given;
}

base::result<allocation> minipage_heap::allocate_small(const minipage_cut& cut) noexcept {
  shelf& from = shelf_of(cut);
  if (from.first != nullptr) return take_slot(from);
  const bool plan = cut.chunk != 0 && (from.planned != nullptr || pages_.untouched_pages() >= cut.group_pages());
  return plan ? base::result<allocation>(QUIRE_BUSY) : allocate_in_page_units(cut);
}

/// Pages are that from the start: nobody has to be told.
base::result<allocation> minipage_heap::allocate_in_page_units(minipage_cut cut) noexcept {
  cut.chunk = cut.alone_bytes = 0;
  shelf& from = shelf_of(cut);
  if (from.first == nullptr) {
    dirt left;
    std::uint64_t pages = next_span_pages(from);
    run* taken = pages_.take(pages, 0, left);
    while (taken == nullptr && (pages /= 2) != 0) taken = pages_.take(pages, 0, left);
    minipage_span* const made = taken != nullptr ? make_span(cut, taken, left.bytes) : nullptr;
    if (made == nullptr) return QUIRE_NO_MEMORY;
    made->laid = true;
    put_on(from, made);
  }
  return take_slot(from);
}

allocation minipage_heap::take_slot(shelf& from) noexcept {
  minipage_span* const in = from.first;
  const slot_set::piece slot = in->slots.take();
  if (in->slots.is_full()) take_off(from, in);
  return {in->address + in->offset_of(slot.slot), in->cut.slot_bytes, slot.fresh ? 0 : in->cut.slot_bytes};
}

base::result<allocation> minipage_heap::allocate_large(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  dirt left;
  run* const taken = pages_.take(round_up(bytes, page_bytes) >> page_shift, alignment_power_of(alignment), left);
  if (taken == nullptr) return QUIRE_NO_MEMORY;
  return allocation{taken->address(), taken->bytes(), left};
}

// ---- Spans

std::uint64_t minipage_heap::next_span_pages(const shelf& of) const noexcept {
  const std::uint64_t most = std::clamp<std::uint64_t>((end_ - base_) / page_bytes / span_part, 1, most_span_pages);
  return std::min(of.next_pages == 0 ? least_span_pages : of.next_pages, most);
}

base::result<span_plan> minipage_heap::plan(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  if (!takes(bytes, alignment)) return QUIRE_INVALID;
  std::lock_guard lock{mutex_};
  const minipage_cut cut = cut_for(bytes, alignment);
  if (cut.slot_bytes > largest_minipage_bytes || cut.chunk == 0) return QUIRE_NO_MEMORY;
  shelf& of = shelf_of(cut);
  if (of.under_way) return QUIRE_BUSY;
  if (of.planned == nullptr) {
    const std::uint64_t pages =
        std::min(std::max<std::uint64_t>(next_span_pages(of), cut.group_pages()), pages_.untouched_pages());
    run* const taken = pages >= cut.group_pages() ? pages_.append_taken(pages) : nullptr;
    of.planned = taken != nullptr ? make_span(cut, taken, 0) : nullptr;
    if (of.planned == nullptr) return QUIRE_NO_MEMORY;
  }
  of.under_way = true;
  return span_plan{of.planned->address,
                   std::uint64_t{of.planned->slots.slots() / cut.group_slots()} * cut.group_pages(),
                   cut.minipage_bytes()};
}

void minipage_heap::settle(const span_plan& planned, bool laid) noexcept {
  std::lock_guard lock{mutex_};
  const run* const at = pages_.tree().find(planned.address >> page_shift);
  CHECK(at != nullptr && at->use == run_use::minipages && at->address() == planned.address);
  shelf& of = shelf_of(at->minipages->cut);
  CHECK(of.under_way && of.planned == at->minipages.get());
  of.under_way = false;
  if (!laid) return;
  of.planned->laid = true;
  put_on(of, std::exchange(of.planned, nullptr));
}

/// Null without memory for metadata; the pages are free again then.
minipage_span* minipage_heap::make_span(const minipage_cut& cut, run* pages, std::uint64_t dirty_bytes) noexcept {
  std::unique_ptr<minipage_span> made{new (std::nothrow) minipage_span};
  if (made != nullptr) {
    made->cut = cut;
    made->group_slots = cut.group_slots();
    made->group_bytes = cut.group_pages() * page_bytes;
    made->address = pages->address();
  }
  const auto slots = static_cast<std::uint32_t>(pages->page_count / cut.group_pages()) * cut.group_slots();
  if (made == nullptr || !made->slots.make(slots, (dirty_bytes >> page_shift) * cut.group_slots())) {
    pages_.give_back(pages);
    return nullptr;
  }
  shelf_of(cut).next_pages = 2 * pages->page_count;
  pages->minipages = std::move(made);
  pages->use = run_use::minipages;
  pages_.tree().update(pages);
  return pages->minipages.get();
}

void minipage_heap::put_on(shelf& to, minipage_span* with_room) noexcept {
  with_room->previous = to.last;
  with_room->next = nullptr;
  (to.last != nullptr ? to.last->next : to.first) = with_room;
  to.last = with_room;
}

void minipage_heap::take_off(shelf& from, minipage_span* full) noexcept {
  (full->previous != nullptr ? full->previous->next : from.first) = full->next;
  (full->next != nullptr ? full->next->previous : from.last) = full->previous;
  full->previous = full->next = nullptr;
}

// ---- By address

minipage_heap::place minipage_heap::find_object(std::uint64_t address) const noexcept {
  run* const in = pages_.tree().find(address >> page_shift);
  if (in == nullptr || in->use == run_use::free) return {};
  const std::uint64_t offset = address - in->address();
  if (in->use == run_use::object) return offset == 0 ? place{in, 0} : place{};
  const std::uint64_t slot = in->minipages->slot_at(offset);
  return in->minipages->slots.is_taken(slot) ? place{in, slot} : place{};
}

base::status minipage_heap::release(std::uint64_t address, bool zero) noexcept {
  std::lock_guard lock{mutex_};
  const place found = find_object(address);
  if (found.in == nullptr) return QUIRE_BAD_ADDRESS;
  live_bytes_ -= found.bytes();
  --live_objects_;
  if (found.in->use == run_use::object) {
    pages_.give_back(found.in, zero);
    return QUIRE_OK;
  }
  minipage_span* const in = found.in->minipages.get();
  const bool was_full = in->slots.is_full();
  CHECK(in->slots.give_back(found.slot));
  if (was_full) put_on(shelf_of(in->cut), in);
  return QUIRE_OK;
}

base::status minipage_heap::try_resize(std::uint64_t address, std::uint64_t bytes) noexcept {
  std::lock_guard lock{mutex_};
  const place found = find_object(address);
  if (found.in == nullptr) return QUIRE_BAD_ADDRESS;
  if (bytes == 0 || bytes > end_ - base_) return QUIRE_INVALID;
  const std::uint64_t before = found.bytes();
  if (found.in->use == run_use::minipages) return bytes <= before ? QUIRE_OK : QUIRE_NO_MEMORY;
  if (!pages_.resize(found.in, round_up(bytes, page_bytes) >> page_shift)) return QUIRE_NO_MEMORY;
  live_bytes_ += found.bytes() - before;
  return QUIRE_OK;
}

base::result<std::uint64_t> minipage_heap::size_of(std::uint64_t address) const noexcept {
  std::lock_guard lock{mutex_};
  const place found = find_object(address);
  if (found.in == nullptr) return QUIRE_BAD_ADDRESS;
  return found.bytes();
}

base::result<allocation> minipage_heap::around(std::uint64_t address) const noexcept {
  std::lock_guard lock{mutex_};
  const run* const in = pages_.tree().find(address >> page_shift);
  if (in == nullptr || in->use == run_use::free) return QUIRE_BAD_ADDRESS;
  if (in->use == run_use::object) return allocation{in->address(), in->bytes(), 0};
  const minipage_span& span = *in->minipages;
  const std::uint64_t slot = span.slot_under(address - in->address());
  if (slot == span.slots.slots()) return QUIRE_BAD_ADDRESS;  // what is left of a page
  return allocation{in->address() + span.offset_of(static_cast<std::uint32_t>(slot)), span.cut.slot_bytes, 0};
}

heap_numbers minipage_heap::numbers() const noexcept {
  std::lock_guard lock{mutex_};
  return {live_bytes_, live_objects_, pages_.tree().size(), (pages_.frontier() << page_shift) - base_};
}

// ---- Audit

bool minipage_heap::is_valid() const noexcept {
  std::lock_guard lock{mutex_};
  if (!pages_.is_valid() || !shelves_are_valid()) return false;
  std::uint64_t bytes = 0, objects = 0, planned = 0, on_shelves = 0;
  for (const run* at = pages_.tree().first(); at != nullptr; at = at->next) {
    if (at->use == run_use::span) return false;
    if (at->use == run_use::object) {
      bytes += at->bytes();
      ++objects;
    }
    if (at->use != run_use::minipages) continue;
    const minipage_span& in = *at->minipages;
    if (!span_is_valid(*at)) return false;
    bytes += std::uint64_t{in.slots.taken()} * in.cut.slot_bytes;
    objects += in.slots.taken();
    planned += in.laid ? 0 : 1;
    on_shelves += in.laid && !in.slots.is_full() ? 1 : 0;
  }
  for (const shelf& s : shelves_) {
    planned -= s.planned != nullptr ? 1 : 0;
    for (const minipage_span* in = s.first; in != nullptr; in = in->next) --on_shelves;
  }
  return bytes == live_bytes_ && objects == live_objects_ && planned == 0 && on_shelves == 0;
}

bool minipage_heap::span_is_valid(const run& at) const noexcept {
  const minipage_span& in = *at.minipages;
  const std::uint32_t minipage = in.cut.minipage_bytes();
  const bool cut = in.cut.slot_bytes % 16 == 0 && in.cut.slot_bytes <= largest_minipage_bytes &&
                   minipage <= largest_minipage_bytes && (minipage == 0 || minipage >= least_minipage_bytes_) &&
                   in.group_slots == in.cut.group_slots() && in.group_bytes == in.cut.group_pages() * page_bytes;
  const bool told = in.laid || (in.slots.is_empty() && in.slots.untouched() == 0 && shelf_of(in.cut).planned == &in);
  return cut && told && in.address == at.address() &&
         in.slots.slots() == at.page_count / in.cut.group_pages() * in.group_slots && in.slots.is_valid();
}

bool minipage_heap::shelves_are_valid() const noexcept {
  for (const shelf& s : shelves_) {
    if (s.under_way && s.planned == nullptr) return false;
    const minipage_span* previous = nullptr;
    for (const minipage_span* in = s.first; in != nullptr; previous = in, in = in->next) {
      if (in->previous != previous || !in->laid || in->slots.is_full() || &shelf_of(in->cut) != &s) return false;
    }
    if (s.last != previous) return false;
  }
  return true;
}

}  // namespace quire::heap
