// SPDX-License-Identifier: BSD-3-Clause
#include "gc/allocator.hpp"

#include <utility>

namespace quire::gc {

slice_allocator::slice_allocator(granule_range slice, std::uint64_t granules_a_unit)
    : slice_(slice), unit_(granules_a_unit), size_(slice.count()), map_(slice.count()) {}

std::optional<grant> slice_allocator::allocate(std::uint64_t count) {
  if (count == 0) return std::nullopt;
  if (count > unit_ / 4) {
    if (auto own = allocate_large(count)) return own;
    return allocate_borrowed(count);
  }
  if (hole_end_ - hole_ < count && !find_hole(count)) return allocate_borrowed(count);
  const grant given{slice_.first + hole_, hole_ < hole_fresh_ ? std::min(count, hole_fresh_ - hole_) : 0};
  hole_ += count;
  return given;
}

bool slice_allocator::find_hole(std::uint64_t count) {
  leave_hole();
  if (count >= no_small_) return false;
  if (find_hole_between(cursor_, size_, count) || find_hole_between(0, std::min(cursor_ + unit_, size_), count))
    return true;
  no_small_ = count;
  return false;
}

/// The first run of granules that are free, within a unit and without its last one, which has bytes of the next.
bool slice_allocator::find_hole_between(std::uint64_t from, std::uint64_t end, std::uint64_t count) {
  for (std::uint64_t at = map_.next_clear(from, end); at < end;) {
    const std::uint64_t last = unit_begin(at) + unit_ - 1;
    if (at >= last) {
      at = map_.next_clear(at + 1, end);
      continue;
    }
    const std::uint64_t behind = map_.next_set(at, std::min(last, end));
    if (behind - at >= count) {
      hole_ = at;
      hole_end_ = cursor_ = behind;
      hole_fresh_ = at + dirty_of(at, behind - at);
      map_.fill(at, behind - at);
      used_ += behind - at;
      fresh_ = std::max(fresh_, behind);
      return true;
    }
    at = map_.next_clear(behind, end);
  }
  return false;
}

void slice_allocator::leave_hole() noexcept {
  map_.clear(hole_, hole_end_ - hole_);
  used_ -= hole_end_ - hole_;
  hole_ = hole_end_ = 0;
}

grant slice_allocator::take(std::uint64_t at, std::uint64_t count) noexcept {
  const grant given{slice_.first + at, dirty_of(at, count)};
  map_.fill(at, count);
  used_ += count;
  fresh_ = std::max(fresh_, at + count);
  return given;
}

std::optional<std::uint64_t> slice_allocator::find_run(std::uint64_t count, bool at_unit) const {
  for (std::uint64_t at = map_.next_clear(0, size_); at < size_;) {
    if (at_unit && unit_begin(at) != at) at = unit_begin(at) + unit_;
    if (count > size_ || at > size_ - count) return std::nullopt;
    const std::uint64_t behind = map_.next_set(at, at + count);
    if (behind == at + count) return at;
    at = map_.next_clear(behind, size_);
  }
  return std::nullopt;
}

std::optional<grant> slice_allocator::allocate_large(std::uint64_t count) {
  if (count >= no_large_) return std::nullopt;
  auto at = count >= unit_ ? find_run(count, true) : std::nullopt;
  if (!at) at = find_run(count, false);
  if (!at && hole_end_ != hole_) {  // what is left of the hole may be what is missing
    leave_hole();
    at = find_run(count, false);
  }
  if (at) return take(*at, count);
  no_large_ = count;
  return std::nullopt;
}

std::optional<run_grant> slice_allocator::take_run(std::uint64_t least, std::uint64_t wanted) {
  for (std::uint64_t count = std::max(least, wanted);; count = std::max(least, count / 2)) {
    if (const auto at = find_run(count, true)) {
      const grant given = take(*at, count);
      return run_grant{{given.at, given.at + count}, given.dirty};
    }
    if (count == least) return std::nullopt;
  }
}

void slice_allocator::give_back(std::uint64_t first, std::uint64_t count) noexcept {
  map_.clear(first - slice_.first, count);
  used_ -= count;
  no_small_ = no_large_ = ~std::uint64_t{0};
}

void slice_allocator::borrow(const run_grant& run) {
  loans_.push_back({run.range.first, run.range.end, run.range.first + run.dirty});
}

std::optional<grant> slice_allocator::allocate_borrowed(std::uint64_t count) {
  for (loan& l : loans_) {
    std::uint64_t at = l.at;
    // As of own memory: a small object lies in one unit.
    if (count <= unit_ / 4 && at % unit_ + count > unit_ - 1) at = (at / unit_ + 1) * unit_;
    if (at >= l.end || count > l.end - at) continue;
    l.at = at + count;
    const grant given{at, at < l.fresh ? std::min(count, l.fresh - at) : 0};
    if (l.at == l.end) {  // used up
      l = loans_.back();
      loans_.pop_back();
    }
    return given;
  }
  return std::nullopt;
}

std::uint64_t slice_allocator::adopt(bitmap&& live) {
  leave_hole();
  loans_.clear();
  const std::uint64_t before = used_;
  map_ = std::move(live);
  used_ = map_.count(0, size_);
  cursor_ = 0;
  no_small_ = no_large_ = ~std::uint64_t{0};
  return before > used_ ? before - used_ : 0;
}

bool slice_allocator::is_valid() const noexcept {
  return used_ == map_.count(0, size_) && hole_ <= hole_end_ && hole_end_ <= size_ &&
         map_.next_clear(hole_, hole_end_) == hole_end_ && map_.next_set(fresh_, size_) == size_;
}

}  // namespace quire::gc
