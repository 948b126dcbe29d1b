// SPDX-License-Identifier: BSD-3-Clause
// NAS IS (RNR-94-007, section 2.3.6): ranks of integer keys, ten times. Each worker has a part of the keys to itself
// and counts how often each value occurs there; the counts are added up in shared memory, section by section in turn,
// as in the program that TreadMarks and Millipage were measured with; then all read them. The code that all programs
// share, for one worker.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/partition.hpp"
#include "common/random.hpp"
#include "common/worker.hpp"

namespace is {

using count = std::int32_t;

inline constexpr int iterations = 10;
inline constexpr std::size_t test_keys = 5;  ///< whose ranks are compared with the official ones

/// The first keys change with each iteration, and so do the ranks of all: those of the first `rising` test keys grow,
/// the others fall.
struct problem_class {
  const char* name = "";
  unsigned log2_keys = 0;
  unsigned log2_values = 0;
  std::array<std::size_t, test_keys> keys{};  ///< numbers of the test keys
  std::array<std::int64_t, test_keys>
      ranks{};  ///< their official ranks, in iterations rising_from and falling_from; none if all are 0
  std::size_t rising = 0;
  int rising_from = 0;
  int falling_from = 0;

  [[nodiscard]] std::size_t all_keys() const { return std::size_t{1} << log2_keys; }
  [[nodiscard]] std::size_t values() const { return std::size_t{1} << log2_values; }
  [[nodiscard]] bool is_official() const { return rising != 0; }
  [[nodiscard]] std::int64_t rank(std::size_t test, int iteration) const {
    return test < rising ? ranks[test] + (iteration - rising_from) : ranks[test] - (iteration - falling_from);
  }
};

/// The keys of a worker.
struct part {
  apps::row_range range{};
  std::vector<count> keys{};
};

[[nodiscard]] inline part make_keys(const problem_class& of, std::size_t number, std::size_t workers) {
  part made;
  made.range = {of.all_keys() * number / workers, of.all_keys() * (number + 1) / workers};
  made.keys.resize(made.range.end - made.range.begin);
  apps::random_numbers random(314159265);
  random.skip(4 * made.range.begin);
  const auto quarter = static_cast<double>(of.values() / 4);
  for (count& key : made.keys) {
    double sum = random.next();
    for (int i = 0; i < 3; ++i) sum += random.next();
    key = static_cast<count>(quarter * sum);
  }
  return made;
}

/// The sections of the shared counts: each worker adds to its own first.
[[nodiscard]] inline apps::row_range section(std::size_t number, std::size_t workers, std::size_t values) {
  return {values * number / workers, values * (number + 1) / workers};
}

/// The counts that all share, one after the other in memory.
struct shared_counts {
  static constexpr std::size_t piece = 64;  ///< 256 bytes, as in Millipage's evaluation

  std::span<count> all;
  std::span<count* const> apart{};  ///< if any: where each piece is, for who does not want what lies beside it
  bool composed = false;            ///< who reads all of them reads them in `all`

  /// f(first, counts) for all values of a range, in as many calls as it takes.
  template <class F>
  void visit(apps::row_range values, const F& f) const {
    if (apart.empty()) return f(values.begin, all.subspan(values.begin, values.end - values.begin));
    for (std::size_t v = values.begin, next = 0; v < values.end; v = next) {
      next = std::min(v - v % piece + piece, values.end);
      f(v, std::span(apart[v / piece] + v % piece, next - v));
    }
  }
  template <class F>
  void visit_all(const F& f) const {
    (composed ? shared_counts{all} : *this).visit({0, all.size()}, f);
  }
};

/// Private to a worker.
struct scratch {
  explicit scratch(std::size_t values) : own(values), before(values) {}
  std::vector<count> own;     ///< how often each value occurs among the worker's keys
  std::vector<count> before;  ///< how many keys are smaller than each value: the rank of the first key that has it
};

/// One ranking. Afterwards `counts` has all keys, and `mine.before` is right.
template <apps::worker Worker>
void rank(Worker& me, const part& keys, const shared_counts& counts, scratch& mine) {
  std::ranges::fill(mine.own, 0);
  for (const count key : keys.keys) ++mine.own[static_cast<std::size_t>(key)];
  for (std::size_t turn = 0; turn < me.count(); ++turn) {
    const apps::row_range here = section((me.number() + turn) % me.count(), me.count(), counts.all.size());
    me.will_write(
        counts.all.subspan(here.begin, here.end - here.begin));  // of all pieces at once, wherever they are used
    counts.visit(here, [&](std::size_t first, std::span<count> some) {
      for (std::size_t i = 0; i < some.size(); ++i)
        some[i] = turn == 0 ? mine.own[first + i] : some[i] + mine.own[first + i];
    });
    me.wait();
  }
  me.will_read(counts.all);
  count sum = 0;
  counts.visit_all([&](std::size_t first, std::span<count> some) {
    for (std::size_t i = 0; i < some.size(); ++i) {
      mine.before[first + i] = sum;
      sum += some[i];
    }
  });
}

/// What one worker does; shown(done) after each ranking. How many ranks of test keys were not the official ones, on all
/// workers.
template <apps::worker Worker, class Shown>
int rank_again_and_again(Worker& me, const problem_class& of, part& keys, const shared_counts& counts,
                         const Shown& shown) {
  scratch mine(of.values());
  const auto is_mine = [&](std::size_t number) { return number >= keys.range.begin && number < keys.range.end; };
  int wrong = 0;
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    const auto set = [&](std::size_t number, std::size_t value) {
      if (is_mine(number)) keys.keys[number - keys.range.begin] = static_cast<count>(value);
    };
    const auto step = static_cast<std::size_t>(iteration);
    set(step, step);
    set(step + iterations, of.values() - step);
    rank(me, keys, counts, mine);
    for (std::size_t test = 0; of.is_official() && test < test_keys; ++test) {
      if (!is_mine(of.keys[test])) continue;
      const count key = keys.keys[of.keys[test] - keys.range.begin];
      wrong += mine.before[static_cast<std::size_t>(key)] != of.rank(test, iteration);
    }
    me.wait();  // all have read the counts
    shown(iteration);
  }
  return static_cast<int>(me.sum(static_cast<double>(wrong)));
}

}  // namespace is
