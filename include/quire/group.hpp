// SPDX-License-Identifier: BSD-3-Clause
// Groups of threads of many nodes that meet again and again: barriers, reductions and broadcasts of all of them.
// quire::team (team.hpp) makes threads and their group at once.
//
//     auto all = quire::group::create(2);            // one thread of each node calls: two threads of this one
//     std::jthread other([&] { work(quire::member(all, 1)); });
//     work(quire::member(all, 0));                    // me.wait(), me.sum(x), me.reduce(values, ...)
//
// Calls throw quire::error: errc::invalid for calls of members that differ, and for threads that are none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <quire/job.hpp>
#include <quire/sync.hpp>

namespace quire {

/// Indices from `first` to one before `last`.
struct index_range {
  std::size_t first = 0, last = 0;
  [[nodiscard]] std::size_t size() const noexcept { return last - first; }
  /// These elements of a range of all.
  template <class T>
  [[nodiscard]] std::span<T> of(std::span<T> all) const {
    return all.subspan(first, size());
  }
};

/// Block `number` of `n` indices in `count` blocks, which differ by one at most.
[[nodiscard]] constexpr index_range part_of(std::size_t n, std::size_t number, std::size_t count) noexcept {
  const std::size_t each = n / count, more = n % count;
  const std::size_t first = number * each + std::min(number, more);
  return {first, first + each + (number < more ? 1 : 0)};
}

/// A group of threads, so many of each node. A handle; a default-constructed one is the group of the job, with one
/// thread of each node.
class group : public detail::handle<quire_group, quire_group_destroy> {
 public:
  /// With `threads` threads of this node. One thread of each node calls, with numbers of their own; a barrier of the
  /// job, as is destroy().
  [[nodiscard]] static group create(unsigned threads) {
    group g;
    detail::check(quire_group_create(threads, &g.native_), "group::create");
    return g;
  }
  /// Members of all nodes.
  [[nodiscard]] std::size_t size() const {
    std::uint32_t members = 0;
    detail::check(quire_group_size(native_, &members, nullptr), "group::size");
    return members;
  }
};

/// The calling thread's membership in a group, as long as this lives. Of that thread alone. All members make the same
/// calls, in the same order.
class member {
 public:
  /// `place`: among the threads of this node, from 0 on. Of the job's group nobody becomes a member: one thread of the
  /// node has this, place 0.
  explicit member(group of, unsigned place = 0) : group_(of), place_(place) {
    std::uint32_t members = 0, first = 0;
    if (group_) detail::check(quire_group_join(native(), place), "member");
    detail::check(quire_group_size(native(), &members, &first), "member");
    number_ = first + place;
    count_ = members;
  }
  member(const member&) = delete;
  member& operator=(const member&) = delete;
  ~member() {
    if (group_) (void)quire_group_leave(native());
  }

  /// This thread's number among all members, and how many there are.
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Its place among the members of this node.
  [[nodiscard]] unsigned place() const noexcept { return place_; }
  /// The first of all, for what one thread has to do.
  [[nodiscard]] bool is_first() const noexcept { return number_ == 0; }
  /// This member's block of `n` indices.
  [[nodiscard]] index_range my_part(std::size_t n) const noexcept { return part_of(n, number_, count_); }

  /// Waits for all members.
  void wait() const { detail::check(quire_group_wait(native()), "member::wait"); }

  /// Combines the arrays of all members, element by element; afterwards all have the result in `values`. Of any size,
  /// in private or in shared memory.
  template <reducible T>
  void reduce(std::span<T> values, operation how) const {
    detail::reduce(native(), values, how);
  }
  template <reducible T>
  [[nodiscard]] T reduce(T value, operation how) const {
    detail::reduce(native(), std::span<T>(&value, 1), how);
    return value;
  }
  template <reducible T>
  [[nodiscard]] T sum(T value) const {
    return reduce(value, operation::sum);
  }

  /// Gives the elements of an array of member `root` to all; as many of all members.
  template <class T>
  void broadcast_values(std::span<T> values, std::size_t root = 0) const {
    static_assert(std::is_trivially_copyable_v<T>);
    detail::check(quire_group_broadcast(native(), values.data(), values.size_bytes(), static_cast<std::uint32_t>(root)),
                  "member::broadcast");
  }
  /// Gives the value of member `root` to all, as quire::broadcast().
  template <class T>
  [[nodiscard]] T broadcast(T value, std::size_t root = 0) const {
    broadcast_values(std::span<T>(&value, 1), root);
    return value;
  }

 private:
  [[nodiscard]] quire_group native() const noexcept { return group_.native_handle(); }
  group group_;
  unsigned place_;
  std::size_t number_ = 0, count_ = 1;
};

}  // namespace quire
