// SPDX-License-Identifier: BSD-3-Clause
// A heap in a checkpoint, as words:
//   base, end, pages that were ever handed out, number of runs
//   each run, upwards:  pages << 8 | use;  a span: size class << 32 | slots never handed out from, one bit a slot: it
//   is free;  one of minipages: bytes of a minipage whose slot lies alone << 52 | bytes of a slot << 40 | slots a
//   minipage << 32 | the same
#include <algorithm>
#include <bit>
#include <new>

#include "heap/heap.hpp"
#include "heap/minipage_heap.hpp"

namespace quire::heap {
namespace {

using words = std::span<const std::uint64_t>;

bool next_word(words& from, std::uint64_t& value) noexcept {
  if (from.empty()) return false;
  value = from[0];
  from = from.subspan(1);
  return true;
}

constexpr std::size_t header_words = 4;
constexpr std::uint64_t use_mask = 0xff;

constexpr std::uint64_t words_for(std::uint64_t slots) noexcept { return (slots + 63) / 64; }

constexpr std::uint64_t word_of(const minipage_cut& cut) noexcept {
  return std::uint64_t{cut.alone_bytes} << 52 | std::uint64_t{cut.slot_bytes} << 40 | std::uint64_t{cut.chunk} << 32;
}
/// False for what is no cut.
bool take_cut(std::uint64_t word, minipage_cut& cut) noexcept {
  cut = {static_cast<std::uint32_t>(word >> 40 & 0xfff), static_cast<std::uint32_t>(word >> 32 & 0xff),
         static_cast<std::uint32_t>(word >> 52)};
  const bool alone =
      cut.alone_bytes == 0 || (cut.chunk == 1 && cut.alone_bytes % 16 == 0 && cut.alone_bytes >= cut.slot_bytes);
  return alone && cut.slot_bytes >= 16 && cut.slot_bytes % 16 == 0 && cut.slot_bytes <= largest_minipage_bytes &&
         cut.minipage_bytes() <= largest_minipage_bytes;
}

void save_runs(const page_runs& pages, std::uint64_t base, std::uint64_t end, std::vector<std::uint64_t>& out) {
  out.insert(out.end(), {base, end, pages.frontier() - (base >> page_shift), pages.tree().size()});
  for (const run* at = pages.tree().first(); at != nullptr; at = at->next) {
    out.push_back(at->page_count << 8 | static_cast<std::uint64_t>(at->use));
    if (at->use == run_use::span) at->objects->save(out);
    if (at->use != run_use::minipages) continue;
    out.push_back(word_of(at->minipages->cut) | at->minipages->slots.untouched());
    at->minipages->slots.save(out);
  }
}

/// load_run(run, use) for each, upwards, which is taken as one object.
template <class F>
bool load_runs(page_runs& pages, std::uint64_t own_base, words& from, F&& load_run) {
  std::uint64_t base = 0, end = 0, reached = 0, count = 0;
  if (!next_word(from, base) || !next_word(from, end) || !next_word(from, reached) || !next_word(from, count))
    return false;
  if (base != own_base || pages.tree().size() != 0 || end < base) return false;
  std::vector<run*> free;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t about = 0;
    if (!next_word(from, about)) return false;
    run* const at = pages.append_taken(about >> 8);
    if (at == nullptr || !load_run(*at, about & use_mask)) return false;
    if (static_cast<run_use>(about & use_mask) == run_use::free) free.push_back(at);
  }
  for (run* const at : free) {
    if ((at->previous != nullptr && at->previous->use == run_use::free) ||
        (at->next != nullptr && at->next->use == run_use::free))
      return false;
    pages.give_back(at);
  }
  return pages.frontier() - (base >> page_shift) == reached;
}

}  // namespace

// ---- Spans

void slot_set::save(std::vector<std::uint64_t>& out) const {
  out.insert(out.end(), free_.get(), free_.get() + words());
}

bool slot_set::load(std::uint32_t untouched, std::span<const std::uint64_t>& from) noexcept {
  if (from.size() < words()) return false;
  untouched_ = untouched;
  std::uint64_t free_slots = 0;
  for (std::uint32_t word = 0; word < words(); ++word) {
    const std::uint64_t bits = from[word];
    if ((bits & ~free_[word]) != 0) return false;  // slots that there are not
    free_[word] = bits;
    if (bits == 0) summary_[word / 64] &= ~(std::uint64_t{1} << (word % 64));
    free_slots += static_cast<std::uint64_t>(std::popcount(bits));
  }
  from = from.subspan(words());
  taken_ = slots_ - static_cast<std::uint32_t>(free_slots);
  return untouched_ <= slots_;
}

void span::save(std::vector<std::uint64_t>& out) const {
  out.push_back(std::uint64_t{size_class_} << 32 | slots_.untouched());
  slots_.save(out);
}

std::unique_ptr<span> span::load(std::span<const std::uint64_t>& from, std::uint64_t bytes) noexcept {
  std::uint64_t first = 0;
  if (!next_word(from, first) || first >> 32 >= size_class_count) return nullptr;
  const auto size_class = static_cast<unsigned>(first >> 32);
  if (bytes < size_class_bytes(size_class) || bytes / size_class_bytes(size_class) > UINT32_MAX) return nullptr;
  std::unique_ptr<span> made = make(size_class, bytes, 0);
  if (made == nullptr || !made->slots_.load(static_cast<std::uint32_t>(first), from)) return nullptr;
  return made->is_valid() ? std::move(made) : nullptr;
}

// ---- Heaps

void heap::save(std::vector<std::uint64_t>& out) const {
  std::lock_guard lock{mutex_};
  save_runs(pages_, base_, end_, out);
}

bool heap::load_run(run& at, std::uint64_t use, words& from) {
  switch (static_cast<run_use>(use)) {
    case run_use::free:
      return true;  // all are taken at first
    case run_use::object:
      live_bytes_ += at.bytes();
      ++live_objects_;
      return true;
    case run_use::span: {
      at.objects = span::load(from, at.bytes());
      if (at.objects == nullptr || at.address() % unit_bytes_ != 0 || at.bytes() % unit_bytes_ != 0) {
        at.objects.reset();
        return false;
      }
      at.use = run_use::span;
      pages_.tree().update(&at);
      live_bytes_ += at.objects->taken() * at.objects->slot_bytes();
      live_objects_ += at.objects->taken();
      if (!at.objects->is_empty()) return true;
      run*& spare = spare_[at.objects->size_class()];
      if (spare != nullptr) return false;
      spare = &at;
      return true;
    }
    case run_use::minipages:
      return false;
  }
  return false;
}

bool heap::load(words& from) {
  std::lock_guard lock{mutex_};
  return load_runs(pages_, base_, from, [&](run& at, std::uint64_t use) { return load_run(at, use, from); });
}

void minipage_heap::save(std::vector<std::uint64_t>& out) const {
  std::lock_guard lock{mutex_};
  save_runs(pages_, base_, end_, out);
}

bool minipage_heap::load_run(run& at, std::uint64_t use, words& from) {
  switch (static_cast<run_use>(use)) {
    case run_use::free:
      return true;  // all are taken at first
    case run_use::object:
      live_bytes_ += at.bytes();
      ++live_objects_;
      return true;
    case run_use::minipages: {
      std::uint64_t about = 0;
      minipage_cut cut;
      if (!next_word(from, about) || !take_cut(about, cut) || at.page_count < cut.group_pages() ||
          at.page_count * cut.group_slots() > UINT32_MAX)
        return false;
      if (cut.chunk != 0 && cut.minipage_bytes() < least_minipage_bytes_) return false;
      minipage_span* const made = make_span(cut, &at, 0);
      if (made == nullptr || !made->slots.load(static_cast<std::uint32_t>(about), from) || !made->slots.is_valid())
        return false;
      made->laid = true;
      live_bytes_ += std::uint64_t{made->slots.taken()} * cut.slot_bytes;
      live_objects_ += made->slots.taken();
      if (!made->slots.is_full()) put_on(shelf_of(cut), made);
      return true;
    }
    case run_use::span:
      return false;
  }
  return false;
}

/// What was planned when it was saved is laid: all nodes know it now.
bool minipage_heap::load(words& from) {
  std::lock_guard lock{mutex_};
  return load_runs(pages_, base_, from, [&](run& at, std::uint64_t use) { return load_run(at, use, from); });
}

bool skip_saved(words& from, saved_extent& about) noexcept {
  if (from.size() < header_words) return false;
  about = {from[0], from[1], from[0] + (from[2] << page_shift), {}};
  const std::uint64_t count = from[3];
  const bool good =
      about.base % page_bytes == 0 && about.base <= about.end && from[2] <= (about.end - about.base) >> page_shift;
  from = from.subspan(header_words);
  std::uint64_t address = about.base;
  for (std::uint64_t i = 0; good && i < count; ++i) {
    std::uint64_t run = 0, first = 0, bitmap = 0;
    if (!next_word(from, run) || run >> 8 > (about.reached_end - address) >> page_shift) return false;
    const std::uint64_t pages = run >> 8;
    if (static_cast<run_use>(run & use_mask) == run_use::span) {
      if (!next_word(from, first) || first >> 32 >= size_class_count) return false;
      bitmap = words_for((pages << page_shift) / size_class_bytes(static_cast<unsigned>(first >> 32)));
    } else if (static_cast<run_use>(run & use_mask) == run_use::minipages) {
      minipage_cut cut;
      if (!next_word(from, first) || !take_cut(first, cut)) return false;
      bitmap = words_for(pages / cut.group_pages() * cut.group_slots());
      if (cut.chunk != 0)
        about.cuts.push_back({address, pages / cut.group_pages() * cut.group_pages(), cut.minipage_bytes()});
    }
    if (bitmap > from.size()) return false;
    from = from.subspan(bitmap);
    address += pages << page_shift;
  }
  return good;
}

}  // namespace quire::heap
