// SPDX-License-Identifier: BSD-3-Clause
// The travelling salesperson's shortest tour by branch and bound: the program that TreadMarks and Millipage were
// measured with, from its description. Beginnings of tours lie in a pool; a queue has the most promising one first. A
// worker takes one under the queue's lock, and makes longer ones of it while it is short; one that is long enough it
// completes in all ways, by itself. The best length is read without a lock: an old one costs time only. The code that
// all programs share, for one worker.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "common/worker.hpp"
#include "tsp/map.hpp"

namespace tsp {

/// The beginning of a tour, at city 0. 148 bytes, as in Millipage's evaluation.
struct tour {
  std::array<std::int32_t, most_cities> city{};
  std::int32_t count = 0;
  length so_far = 0;
  length at_least = 0;  ///< of every tour that begins so
  cities visited = 0;
  std::int32_t next = -1;  ///< of the free ones: the number of another
};
static_assert(sizeof(tour) == 148);

/// The best one that is known.
struct best_tour {
  length total = std::numeric_limits<length>::max();
  std::array<std::int32_t, most_cities> city{};
};

struct entry {
  length at_least = 0;
  std::int32_t number = 0;
  [[nodiscard]] friend bool operator<(const entry& a, const entry& b) {
    return a.at_least != b.at_least ? a.at_least > b.at_least : a.number < b.number;
  }
};

/// The queue's head.
struct queue_state {
  std::size_t entries = 0;
  std::int32_t free = -1;  ///< first free tour
};

/// All that workers share.
struct search_state {
  std::span<tour* const> pool;
  std::span<entry> queue;  ///< a heap, the best one first
  queue_state* state = nullptr;
  best_tour* best = nullptr;
};

/// Before the search: all tours are free but one, which has city 0 alone.
inline void prepare(const search_state& all, const map& where) {
  for (std::size_t i = 0; i < all.pool.size(); ++i)
    all.pool[i]->next = i + 1 < all.pool.size() ? static_cast<std::int32_t>(i + 1) : -1;
  tour& first = *all.pool[0];
  all.state->free = std::exchange(first.next, -1);
  first.count = 1;
  first.visited = 1;
  first.at_least = where.at_least(0, where.all() & ~first.visited);
  all.queue[0] = {first.at_least, 0};
  all.state->entries = 1;
}

/// What one worker is to a search. `Guards` has two locks, queue() and best(), which hold while what they return lives,
/// and announce(best_tour): others are to see it soon.
template <class Guards>
class seeker {
 public:
  /// Tours with at most `alone` cities left are completed without a lock.
  seeker(const search_state& all, const map& where, std::size_t alone, Guards& guards)
      : all_(all), map_(where), alone_(alone), guards_(guards) {}

  /// Until nothing is left to try.
  void seek() {
    for (std::int32_t number = take(-1); number >= 0; number = take(number)) {
      tour mine = *all_.pool[static_cast<std::size_t>(number)];
      complete(mine);
    }
  }
  [[nodiscard]] std::uint64_t tried() const { return tried_; }

 private:
  [[nodiscard]] length best() const { return std::atomic_ref(all_.best->total).load(std::memory_order_relaxed); }
  [[nodiscard]] tour& at(std::int32_t number) const { return *all_.pool[static_cast<std::size_t>(number)]; }

  void release(std::int32_t number) const { at(number).next = std::exchange(all_.state->free, number); }

  /// `t` with one city more; false if no tour that begins so can be better than the best.
  [[nodiscard]] bool extend(tour& t, std::size_t city) const {
    t.so_far += map_.between(static_cast<std::size_t>(t.city[static_cast<std::size_t>(t.count - 1)]), city);
    t.city[static_cast<std::size_t>(t.count++)] = static_cast<std::int32_t>(city);
    t.visited |= cities{1} << city;
    t.at_least = t.so_far + map_.at_least(city, map_.all() & ~t.visited);
    return t.at_least < best();
  }

  /// A tour to complete, -1 if there is none, and will be none. `done`: the one that was taken before. While tours are
  /// short this makes longer ones of them, all under the lock: so an empty queue says that nobody will add to it.
  std::int32_t take(std::int32_t done) {
    [[maybe_unused]] const auto lock = guards_.queue();
    if (done >= 0) release(done);
    std::size_t& entries = all_.state->entries;
    while (entries != 0) {
      std::pop_heap(all_.queue.begin(), all_.queue.begin() + static_cast<std::ptrdiff_t>(entries--));
      const std::int32_t number = all_.queue[entries].number;
      const tour t = at(number);
      if (t.at_least >= best()) {
        release(number);
        continue;
      }
      if (static_cast<std::size_t>(t.count) + alone_ >= map_.count() || !has_room_for(t)) return number;
      release(number);
      for (std::size_t city = 0; city < map_.count(); ++city) {
        tour longer = t;
        if ((t.visited >> city & 1) == 0 && extend(longer, city)) add(longer);
      }
    }
    return -1;
  }
  /// Whether the pool has room for all that begin like `t`.
  [[nodiscard]] bool has_room_for(const tour& t) const {
    return all_.state->entries + map_.count() - static_cast<std::size_t>(t.count) + taken_at_once < all_.pool.size();
  }
  void add(const tour& t) {
    const std::int32_t number = all_.state->free;
    all_.state->free = at(number).next;
    at(number) = t;
    all_.queue[all_.state->entries++] = {t.at_least, number};
    std::push_heap(all_.queue.begin(), all_.queue.begin() + static_cast<std::ptrdiff_t>(all_.state->entries));
  }

  /// All tours that begin so, the nearest cities first.
  void complete(const tour& t) {
    ++tried_;
    const auto last = static_cast<std::size_t>(t.city[static_cast<std::size_t>(t.count - 1)]);
    cities left = map_.all() & ~t.visited;
    if (left == 0) return arrive(t, t.so_far + map_.between(last, 0));
    while (left != 0) {
      std::size_t next = 0;
      length nearest = std::numeric_limits<length>::max();
      for (std::size_t c = 0; c < map_.count(); ++c)
        if ((left >> c & 1) != 0 && map_.between(last, c) < nearest) nearest = map_.between(last, c), next = c;
      left &= ~(cities{1} << next);
      if (tour longer = t; extend(longer, next)) complete(longer);
    }
  }

  void arrive(const tour& t, length total) {
    if (total >= best()) return;
    [[maybe_unused]] const auto lock = guards_.best();
    if (total >= all_.best->total) return;
    all_.best->city = t.city;
    std::atomic_ref(all_.best->total).store(total, std::memory_order_relaxed);
    guards_.announce(*all_.best);
  }

  /// More than there are workers: each has one tour that is neither free nor in the queue.
  static constexpr std::size_t taken_at_once = 4096;

  search_state all_;
  const map& map_;
  std::size_t alone_;
  Guards& guards_;
  std::uint64_t tried_ = 0;
};

struct outcome {
  length total = 0;
  double tried = 0;  ///< beginnings of tours that workers have looked at alone
};

/// What one worker does.
template <apps::worker Worker, class Guards>
outcome search(Worker& me, const search_state& all, const map& where, std::size_t alone, Guards& guards) {
  seeker one(all, where, alone, guards);
  one.seek();
  me.wait();
  return {all.best->total, me.sum(static_cast<double>(one.tried()))};
}

}  // namespace tsp
