// SPDX-License-Identifier: BSD-3-Clause
// See page_runs.hpp.
#include "heap/page_runs.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace quire::heap {

namespace {

std::uint64_t align_up(std::uint64_t page, unsigned alignment_power) noexcept {
  const std::uint64_t mask = (std::uint64_t{1} << alignment_power) - 1;
  return (page + mask) & ~mask;
}

bool is_free(const run* at) noexcept { return at != nullptr && at->use == run_use::free; }

}  // namespace

page_runs::page_runs(std::uint64_t first_page, std::uint64_t end_page) noexcept
    : first_(first_page), end_(end_page), frontier_(first_page) {
  CHECK(first_page <= end_page && end_page - first_page <= UINT32_MAX);  // what an offer can count
}

run* page_runs::take(std::uint64_t page_count, unsigned alignment_power, dirt& left) noexcept {
  const std::uint64_t frontier = frontier_;
  run* const taken = take(page_count, alignment_power);
  if (taken == nullptr) return nullptr;
  left = take_dirt(*taken, frontier);
  return taken;
}

run* page_runs::take_at(std::uint64_t first_page, std::uint64_t page_count, dirt& left) noexcept {
  const std::uint64_t frontier = frontier_, end = first_page + page_count;
  if (first_page < first_ || first_page >= end_ || page_count == 0 || page_count > end_ - first_page) return nullptr;
  run* fits = first_page < frontier_ ? tree_.find(first_page) : nullptr;
  if (fits != nullptr && !is_free(fits)) return nullptr;
  if (end > frontier_) {
    if (fits != nullptr && fits != tree_.last()) return nullptr;
    fits = reach(end);
  }
  if (fits == nullptr || end > fits->end_page()) return nullptr;
  run* const taken = cut(fits, first_page, page_count);
  if (taken != nullptr) left = take_dirt(*taken, frontier);
  return taken;
}

/// Of a run that was taken, while the frontier was there before.
dirt page_runs::take_dirt(const run& taken, std::uint64_t frontier) noexcept {
  const std::uint64_t first = taken.first_page, end = std::min(frontier, taken.end_page());
  if (end <= first) return {};
  const std::uint64_t dirty_end = clean_.dirty_end(first, end);
  const clean_pages::range zero = clean_.longest(first, dirty_end);
  clean_.remove(first, end);
  return {(dirty_end - first) << page_shift, (zero.first - first) << page_shift, zero.pages() << page_shift};
}

run* page_runs::take(std::uint64_t page_count, unsigned alignment_power) noexcept {
  run* fits = tree_.lowest_free(page_count, alignment_power);
  if (fits == nullptr) fits = push_frontier(page_count, alignment_power);
  if (fits == nullptr) return nullptr;
  return cut(fits, align_up(fits->first_page, alignment_power), page_count);
}

/// Takes a part of a free run. Null without memory for metadata.
run* page_runs::cut(run* free, std::uint64_t first_page, std::uint64_t page_count) noexcept {
  run* const fits = first_page > free->first_page ? tree_.split(free, first_page) : free;
  if (fits == nullptr) return nullptr;
  fits->use = run_use::object;
  if (fits->page_count == page_count) {
    tree_.update(fits);
  } else if (tree_.split(fits, first_page + page_count) == nullptr) {
    fits->use = run_use::free;
    join_free_neighbours(fits);
    return nullptr;
  }
  return fits;
}

/// Makes the last run free and long enough, by pages from above the frontier.
run* page_runs::push_frontier(std::uint64_t page_count, unsigned alignment_power) noexcept {
  const run* const last = tree_.last();
  const std::uint64_t from = is_free(last) ? last->first_page : frontier_;
  const std::uint64_t end = align_up(from, alignment_power) + page_count;
  return end <= end_ ? reach(end) : nullptr;
}

/// Makes the last run free up to a page above the frontier.
run* page_runs::reach(std::uint64_t end_page) noexcept {
  run* last = tree_.last();
  if (is_free(last)) {
    last->page_count = end_page - last->first_page;
    tree_.update(last);
  } else {
    last = tree_.append(frontier_, end_page - frontier_);
    if (last == nullptr) return nullptr;
  }
  frontier_ = end_page;
  return last;
}

void page_runs::give_back(run* taken, bool zero) noexcept {
  if (zero) clean_.add(taken->first_page, taken->end_page());
  // As long as the run offers nothing, joining its neighbour behind costs no way up the tree.
  if (is_free(taken->next)) tree_.absorb_next(taken);
  if (is_free(taken->previous)) {
    tree_.absorb_next(taken->previous);
  } else {
    taken->use = run_use::free;
    tree_.update(taken);
  }
}

run* page_runs::append_taken(std::uint64_t page_count) noexcept {
  if (page_count == 0 || page_count > end_ - frontier_) return nullptr;
  run* const added = tree_.append(frontier_, page_count);
  if (added == nullptr) return nullptr;
  added->use = run_use::object;
  tree_.update(added);
  frontier_ += page_count;
  return added;
}

void page_runs::join_free_neighbours(run* free) noexcept {
  if (is_free(free->next)) tree_.absorb_next(free);
  if (is_free(free->previous)) tree_.absorb_next(free->previous);
}

bool page_runs::resize(run* taken, std::uint64_t page_count) noexcept {
  const std::uint64_t end = taken->first_page + page_count;
  if (page_count < taken->page_count) {
    run* const tail = tree_.split(taken, end);
    if (tail != nullptr) join_free_neighbours(tail);  // else no memory for metadata: the object stays as it is
    return true;
  }
  if (page_count == taken->page_count) return true;
  run* const next = taken->next;
  if (next != nullptr && next->use != run_use::free) return false;
  const bool reaches_frontier = next == nullptr || next->next == nullptr;
  const std::uint64_t room_end = reaches_frontier ? end_ : next->end_page();
  if (end > room_end) return false;
  clean_.remove(taken->end_page(), end);
  if (end > frontier_) frontier_ = end;
  if (next != nullptr && end < next->end_page()) {
    next->page_count = next->end_page() - end;
    next->first_page = end;
    tree_.update(next);
  } else if (next != nullptr) {
    tree_.absorb_next(taken);
  }
  taken->page_count = page_count;
  return true;
}

bool page_runs::is_valid() const noexcept {
  if (!tree_.is_valid() || frontier_ > end_) return false;
  if (tree_.first() == nullptr) return frontier_ == first_;
  for (const run* at = tree_.first(); at->next != nullptr; at = at->next) {
    if (is_free(at) && is_free(at->next)) return false;
  }
  return tree_.first()->first_page == first_ && tree_.last()->end_page() == frontier_;
}

}  // namespace quire::heap
