// SPDX-License-Identifier: BSD-3-Clause
// A queue of tasks of very different size: whoever is free takes the next one, on whichever node. The tasks integrate a
// function on intervals. An interval whose result is not exact enough is cut into halves; a thread that has many gives
// some away. Run it: quire run -n 2 work_queue [DIGITS [THREADS of a node]]
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include <quire/quire.hpp>

namespace {

struct interval {
  double from = 0, to = 0;
};
constexpr interval whole{1e-5, 1};
constexpr int steps_between = 10'000;  ///< gifts of a thread to the queue

double f(double x) { return std::sin(1 / x); }  // wild near 0
double simpson(interval i) { return (i.to - i.from) / 6 * (f(i.from) + 4 * f((i.from + i.to) / 2) + f(i.to)); }

/// What is known of an integral.
struct result {
  double sum = 0;
  std::int64_t intervals = 0;
  /// Takes the newest interval from `todo`: either its integral is exact enough, or its halves are to be done.
  void step(std::deque<interval>& todo, double allowed) {
    const interval i = todo.back();
    todo.pop_back();
    ++intervals;
    const double middle = (i.from + i.to) / 2;
    const interval left{i.from, middle}, right{middle, i.to};
    const double halves = simpson(left) + simpson(right);
    if (std::abs(halves - simpson(i)) <= allowed * (i.to - i.from)) {
      sum += halves;
    } else {
      todo.push_back(right);
      todo.push_back(left);
    }
  }
};

/// Compares with what one thread computes, and tells.
bool check(const result& total, double allowed, std::chrono::duration<double> took) {
  result expected;
  for (std::deque<interval> todo{whole}; !todo.empty();) expected.step(todo, allowed);
  const bool right = std::abs(total.sum - expected.sum) < 1e-8 && total.intervals == expected.intervals;
  std::printf("%lld intervals, the integral is %.9f: %s\n", static_cast<long long>(total.intervals), total.sum,
              right ? "right" : "wrong");
  std::printf("%.4f s\n", took.count());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  quire::session job;
  const double allowed = std::pow(10, argc > 1 ? -std::atoi(argv[1]) : -6);
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2;
  const auto work = quire::from_node(0, [] { return quire::channel<interval>::create(1000); });
  // Tasks that are in the queue or under way: the last one closes it.
  const auto open = quire::from_node(0, [] { return quire::make_shared_array<std::uint64_t>(1); });
  if (job.node() == 0) {
    open[0] = 1;
    work.send(whole);
  }
  result total;
  quire::team all(threads);
  const auto start = std::chrono::steady_clock::now();
  all.run([&](quire::member& me) {
    result mine;
    while (const auto task = work.receive()) {
      std::deque<interval> todo{*task};
      for (int steps = 1; !todo.empty(); ++steps) {
        mine.step(todo, allowed);
        if (steps % steps_between != 0 || todo.size() < 2) continue;
        quire::atomic_ref(open[0]).fetch_add(1);
        if (work.try_send(todo.front()))
          todo.pop_front();
        else
          quire::atomic_ref(open[0]).fetch_sub(1);
      }
      if (quire::atomic_ref(open[0]).fetch_sub(1) == 1) work.close();
    }
    mine = {me.sum(mine.sum), me.sum(mine.intervals)};
    if (me.place() == 0) total = mine;
  });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const bool right = job.node() != 0 || check(total, allowed, took);
  return quire::broadcast(right) ? 0 : 1;
}
