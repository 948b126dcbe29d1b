// SPDX-License-Identifier: BSD-3-Clause
// Loops whose parts threads take from counters, under all orders of steps: each iteration of each loop is done once,
// however far threads are apart.
#include <deque>
#include <memory>
#include <vector>

#include "expect.hpp"
#include "program/omp/team/steps/take.hpp"

namespace quire::program::steps::take_test {
namespace {

struct loops_shape {
  int threads = 2;
  std::uint64_t loops = 3, iterations = 3, counters = 2;
  bool guided = false;
};

struct today {
  template <class Size>
  static taken take_part(word& counter, std::uint64_t number, std::uint64_t iterations, Size&& size) {
    return take(counter, number, iterations, size);
  }
};
/// Who comes late to a loop takes a later one's counter for that of an older one.
struct late_threads_begin_anew {
  template <class Size>
  static taken take_part(word& counter, std::uint64_t number, std::uint64_t iterations, Size&& size) {
    for (std::uint64_t now = number << number_shift;;) {
      const std::uint64_t first = now >> number_shift == number ? now & taken_mask : 0;
      if (first >= iterations) return {iterations, iterations};
      const std::uint64_t end = first + std::min(iterations - first, size(iterations - first));
      if (counter.compare_exchange_strong(now, number << number_shift | end)) return {first, end};
    }
  }
};
/// A counter is read, then written.
struct in_two_steps {
  template <class Size>
  static taken take_part(word& counter, std::uint64_t number, std::uint64_t iterations, Size&& size) {
    const std::uint64_t now = counter.load(), first = now >> number_shift == number ? now & taken_mask : 0;
    if (now >> number_shift > number || first >= iterations) return {iterations, iterations};
    const std::uint64_t end = first + std::min(iterations - first, size(iterations - first));
    counter.store(number << number_shift | end);
    return {first, end};
  }
};

/// Threads go through nowait loops.
template <class How>
class loops : public program {
 public:
  explicit loops(const loops_shape& s) : shape_(s), done_(s.loops * s.iterations) {
    for (std::uint64_t i = 0; i < s.counters; ++i) counters_.emplace_back(0, "a counter");
  }
  int threads() const override { return shape_.threads; }
  int role(int) const override { return 0; }
  void run(int) override {
    const auto share = 2 * static_cast<std::uint64_t>(shape_.threads);
    const auto size = [&](std::uint64_t left) { return shape_.guided ? std::max<std::uint64_t>(1, left / share) : 1; };
    for (std::uint64_t number = 1; number <= shape_.loops; ++number) {
      for (;;) {
        const taken its = How::take_part(counters_[number % shape_.counters], number, shape_.iterations, size);
        if (its.first >= its.end) break;
        for (std::uint64_t i = its.first; i < its.end; ++i) {
          world::now().require(++done_[(number - 1) * shape_.iterations + i] == 1, "an iteration is done twice");
        }
        world::now().settle(number * 2);
      }
      world::now().settle(number * 2 + 1);
    }
  }
  std::uint64_t fingerprint() const override {
    std::uint64_t all = 0;
    for (const int n : done_) all = join(all, static_cast<std::uint64_t>(n));
    return all;
  }
  std::string verdict() const override {
    for (const int n : done_) {
      if (n != 1) return "an iteration is not done";
    }
    return {};
  }

 private:
  loops_shape shape_;
  std::deque<word> counters_;
  std::vector<int> done_;
};

template <class How>
factory of(const loops_shape& s) {
  return [s] { return std::make_unique<loops<How>>(s); };
}

TEST(take_steps, each_iteration_is_done_once_in_all_orders) {
  expect_well(explore(of<today>({.threads = 3})));
  expect_well(explore(of<today>({.threads = 2, .loops = 5, .counters = 1})));
  expect_well(explore(of<today>({.iterations = 9, .guided = true})));
}
TEST(take_steps, each_iteration_is_done_once_in_random_orders) {
  expect_well_at_random(of<today>({.threads = 9, .loops = 50, .iterations = 20, .counters = 4}), 500);
  expect_well_at_random(of<today>({.threads = 5, .loops = 30, .iterations = 90, .counters = 3, .guided = true}), 500);
}
TEST(take_steps, a_late_thread_that_begins_anew_is_found) {
  expect_found(explore(of<late_threads_begin_anew>({})), "an iteration is done twice");
}
TEST(take_steps, a_counter_that_is_read_then_written_is_found) {
  expect_found(explore(of<in_two_steps>({})), "an iteration is done twice");
}

}  // namespace
}  // namespace quire::program::steps::take_test
