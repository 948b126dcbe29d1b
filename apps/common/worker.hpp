// SPDX-License-Identifier: BSD-3-Clause
// What a kernel sees of the threads that compute it. A kernel is written once, for one worker of several; crew.hpp has
// the workers of a Quire job, crew_openmp.hpp those of a plain program, and here is the one that works alone.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>

#include "common/partition.hpp"

namespace apps {

/// will_read() and will_write() are hints, of spans of any type: the worker is about to read values that others have
/// written, or to write values that others have read.
///
/// wait() and sum() are called by all workers, in the same order; both return when all have come. sum() adds the values
/// in a fixed order: the result depends on how many workers there are, not on who came first.
template <class W>
concept worker = requires(W me, double value, std::array<double, 2> values, std::span<const double> range) {
  { me.number() } -> std::same_as<std::size_t>;  // 0 .. count() - 1
  { me.count() } -> std::same_as<std::size_t>;
  { me.thread() } -> std::same_as<std::size_t>;  // number within its process
  me.wait();
  me.will_read(range);
  me.will_write(range);
  { me.sum(value) } -> std::same_as<double>;
  { me.sum(values) } -> std::same_as<std::array<double, 2>>;
};

/// The most values that a worker may add at once.
inline constexpr std::size_t most_values = 16;

/// The rows of a worker: blocks, so that few pages have two owners; see block_of_rows().
template <worker W>
[[nodiscard]] row_range rows_of(const W& me, std::size_t rows, std::size_t row_bytes, std::size_t least = 8) {
  return block_of_rows(me.number(), me.count(), rows, row_bytes, least);
}

class lone_worker {
 public:
  [[nodiscard]] std::size_t number() const { return 0; }
  [[nodiscard]] std::size_t count() const { return 1; }
  [[nodiscard]] std::size_t thread() const { return 0; }
  void wait() {}
  template <class T>
  void will_read(std::span<T>) {}
  template <class T>
  void will_write(std::span<T>) {}
  template <class Value>
  [[nodiscard]] Value sum(Value mine) {
    return mine;
  }
};
static_assert(worker<lone_worker>);

}  // namespace apps
