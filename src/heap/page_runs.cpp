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

run* page_runs::take(std::uint64_t page_count, unsigned alignment_power, std::uint64_t& dirty_bytes) noexcept {
  const std::uint64_t frontier = frontier_;
  run* const taken = take(page_count, alignment_power);
  if (taken == nullptr) return nullptr;
  const std::uint64_t dirty_end = std::min(frontier, taken->end_page());
  dirty_bytes = dirty_end > taken->first_page ? (dirty_end - taken->first_page) << page_shift : 0;
  return taken;
}

run* page_runs::take(std::uint64_t page_count, unsigned alignment_power) noexcept {
  run* fits = tree_.lowest_free(page_count, alignment_power);
  if (fits == nullptr) fits = push_frontier(page_count, alignment_power);
  if (fits == nullptr) return nullptr;
  const std::uint64_t start = align_up(fits->first_page, alignment_power);
  if (start > fits->first_page) fits = tree_.split(fits, start);
  if (fits == nullptr) return nullptr;
  fits->use = run_use::object;
  if (fits->page_count == page_count) {
    tree_.update(fits);
  } else if (tree_.split(fits, start + page_count) == nullptr) {
    fits->use = run_use::free;
    join_free_neighbours(fits);
    return nullptr;
  }
  return fits;
}

/// Makes the last run free and long enough, by pages from above the frontier.
run* page_runs::push_frontier(std::uint64_t page_count, unsigned alignment_power) noexcept {
  run* last = tree_.last();
  const bool extend = is_free(last);
  const std::uint64_t from = extend ? last->first_page : frontier_;
  const std::uint64_t end = align_up(from, alignment_power) + page_count;
  if (end > end_) return nullptr;
  if (extend) {
    last->page_count = end - from;
    tree_.update(last);
  } else {
    last = tree_.append(from, end - from);
    if (last == nullptr) return nullptr;
  }
  frontier_ = end;
  return last;
}

void page_runs::give_back(run* taken) noexcept {
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
