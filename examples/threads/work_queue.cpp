// SPDX-License-Identifier: BSD-3-Clause
// A queue of tasks of very different size: whoever is free takes the next one. The tasks integrate a function
// on intervals. An interval whose result is not exact enough is cut into halves; a thread that has many gives some
// away. Threads of one process, without Quire. Run it: threads/work_queue [DIGITS [THREADS]]
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

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

/// A queue of at most so many tasks.
class channel {
 public:
  explicit channel(std::size_t capacity) : capacity_(capacity) {}
  bool try_send(interval i) {
    const std::scoped_lock lock(guard_);
    if (tasks_.size() == capacity_) return false;
    tasks_.push_back(i);
    more_.notify_one();
    return true;
  }
  /// Waits for a task. None once the queue is closed and empty.
  std::optional<interval> receive() {
    std::unique_lock lock(guard_);
    more_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
    if (tasks_.empty()) return std::nullopt;
    const interval i = tasks_.front();
    tasks_.pop_front();
    return i;
  }
  void close() {
    const std::scoped_lock lock(guard_);
    closed_ = true;
    more_.notify_all();
  }

 private:
  std::mutex guard_;
  std::condition_variable more_;
  std::deque<interval> tasks_;
  std::size_t capacity_;
  bool closed_ = false;
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
  const double allowed = std::pow(10, argc > 1 ? -std::atoi(argv[1]) : -6);
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2;
  channel work(1000);
  // Tasks that are in the queue or under way: the last one closes it.
  std::atomic<std::uint64_t> open = 1;
  (void)work.try_send(whole);
  result total;
  std::mutex guard;  // of the total
  std::vector<std::jthread> all;
  const auto start = std::chrono::steady_clock::now();
  const auto run = [&] {
    result mine;
    while (const auto task = work.receive()) {
      std::deque<interval> todo{*task};
      for (int steps = 1; !todo.empty(); ++steps) {
        mine.step(todo, allowed);
        if (steps % steps_between != 0 || todo.size() < 2) continue;
        open.fetch_add(1);
        if (work.try_send(todo.front()))
          todo.pop_front();
        else
          open.fetch_sub(1);
      }
      if (open.fetch_sub(1) == 1) work.close();
    }
    const std::scoped_lock lock(guard);
    total = {total.sum + mine.sum, total.intervals + mine.intervals};
  };
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(run);
  all.clear();  // waits for their ends
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return check(total, allowed, took) ? 0 : 1;
}
