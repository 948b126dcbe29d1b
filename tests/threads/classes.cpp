// SPDX-License-Identifier: BSD-3-Clause
// Threads of C++, and what they synchronise by.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 5, rounds = 40;

std::mutex g_mutex;
std::vector<std::string> g_merged;

/// Hands over what it has collected when its thread ends.
struct collector {
  std::vector<std::string> lines;
  ~collector() {
    const std::lock_guard lock(g_mutex);
    for (auto& line : lines) g_merged.push_back(std::move(line));
  }
};
thread_local collector t_collector;
thread_local int t_number = 1;

struct counted {
  static inline std::atomic<int> made{0}, destroyed{0};
  counted() { ++made; }
  ~counted() { ++destroyed; }
};
counted& single() {
  static counted one;
  return one;
}

void merging() {
  std::vector<std::thread> all;
  std::map<std::string, int> words;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([i, &words] {
      (void)single();
      t_number += i;
      for (int k = 0; k < rounds; ++k)
        t_collector.lines.push_back(std::to_string(i) + " has a line that is long enough for the heap " +
                                    std::to_string(k));
      const std::lock_guard lock(g_mutex);
      words["threads"] += t_number;
      words[std::to_string(i)] = i;
    });
  }
  for (auto& t : all) t.join();
  std::size_t letters = 0;
  for (const auto& line : g_merged) letters += line.size();
  std::printf("merged %zu lines, %zu letters, words %zu %d, made %d\n", g_merged.size(), letters, words.size(),
              words["threads"], counted::made.load());
}

void futures() {
  std::vector<std::future<long>> parts;
  std::vector<long> numbers(10'000);
  std::iota(numbers.begin(), numbers.end(), 1L);
  for (int i = 0; i < 4; ++i) {
    parts.push_back(std::async(std::launch::async, [&numbers, i] {
      return std::accumulate(numbers.begin() + i * 2500, numbers.begin() + (i + 1) * 2500, 0L);
    }));
  }
  long sum = 0;
  for (auto& p : parts) sum += p.get();
  auto fails = std::async(std::launch::async, []() -> int { throw std::runtime_error("told by a thread"); });
  std::string told;
  try {
    fails.get();
  } catch (const std::runtime_error& e) {
    told = e.what();
  }
  std::promise<std::string> promise;
  auto later = promise.get_future();
  std::thread setter([&promise] { promise.set_value_at_thread_exit("at the exit"); });
  std::packaged_task<int(int)> task([](int x) { return x * x; });
  auto squared = task.get_future();
  std::thread runs(std::move(task), 12);
  std::printf("futures %ld, %s, %s, %d\n", sum, told.c_str(), later.get().c_str(), squared.get());
  setter.join();
  runs.join();
}

void meetings() {
  std::atomic<int> phases{0}, turns{0};
  std::barrier sync(threads, [&phases]() noexcept { ++phases; });
  std::latch ready(threads);
  std::counting_semaphore<3> slots(3);
  std::binary_semaphore go(0);
  std::atomic<int> inside{0}, most{0}, flag{0};
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      ready.arrive_and_wait();
      for (int k = 0; k < 10; ++k) sync.arrive_and_wait();
      slots.acquire();
      const int now = ++inside;
      for (int seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      --inside;
      slots.release();
      for (int seen = turns.load(); seen != i; seen = turns.load()) turns.wait(seen);
      ++turns;
      turns.notify_all();
    });
  }
  std::thread waiter([&] {
    flag.wait(0);
    go.release();
  });
  ready.wait();
  flag = 1;
  flag.notify_one();
  go.acquire();
  all.clear();
  waiter.join();
  std::printf("phases %d, at most three %d, turns %d, flag %d\n", phases.load(), most.load() <= 3, turns.load(),
              flag.load());
}

void stopping() {
  std::mutex mutex;
  std::condition_variable_any condition;
  std::atomic<int> steps{0};
  bool stopped = false;
  {
    std::jthread worker([&](std::stop_token stop) {
      while (steps.load() < 3) ++steps;
      std::unique_lock lock(mutex);
      stopped = !condition.wait(lock, stop, [] { return false; });
    });
    while (steps.load() < 3) std::this_thread::yield();
  }
  std::shared_mutex shared;
  std::timed_mutex timed;
  std::recursive_mutex recursive;
  int value = 0, late = 0;
  std::vector<std::thread> all;
  timed.lock();
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      {
        const std::scoped_lock both(recursive, mutex);
        const std::lock_guard again(recursive);
        ++value;
      }
      if (!timed.try_lock_for(std::chrono::milliseconds(2))) {
        const std::unique_lock lock(shared);
        ++late;
      }
      const std::shared_lock lock(shared);
    });
  }
  for (auto& t : all) t.join();
  timed.unlock();
  std::printf("stopped %d, value %d, late %d\n", stopped, value, late);
}

/// A queue between threads; ids; names of threads as keys.
void pipeline() {
  std::condition_variable has_work;
  std::vector<std::unique_ptr<int>> queue;
  bool over = false;
  std::map<std::thread::id, int> by_thread;
  std::vector<std::thread> consumers;
  long sum = 0;
  for (int i = 0; i < 3; ++i) {
    consumers.emplace_back([&] {
      for (;;) {
        std::unique_lock lock(g_mutex);
        has_work.wait(lock, [&] { return over || !queue.empty(); });
        if (queue.empty()) return;
        const auto work = std::move(queue.back());
        queue.pop_back();
        sum += *work;
        by_thread[std::this_thread::get_id()] += 1;
      }
    });
  }
  std::map<std::thread::id, int> known;
  for (auto& c : consumers) known[c.get_id()] = 1;
  for (int i = 0; i < 100; ++i) {
    const std::lock_guard lock(g_mutex);
    queue.push_back(std::make_unique<int>(i));
    has_work.notify_one();
  }
  {
    const std::lock_guard lock(g_mutex);
    over = true;
  }
  has_work.notify_all();
  for (auto& c : consumers) c.join();
  int done = 0;
  bool all_known = true;
  for (const auto& [id, count] : by_thread) {
    done += count;
    all_known = all_known && known.count(id) == 1;
  }
  std::printf("sum %ld, done %d, known %d\n", sum, done, all_known);
}

void exceptions() {
  int caught = 0;
  std::thread([&caught] {
    for (int i = 0; i < 20; ++i) {
      try {
        if (i % 2 == 0) throw std::out_of_range(std::to_string(i));
        throw i;
      } catch (const std::exception& e) {
        caught += std::stoi(e.what());
      } catch (int value) {
        caught += value;
      }
    }
  }).join();
  std::printf("caught %d\n", caught);
}

}  // namespace

int main() {
  merging();
  futures();
  meetings();
  stopping();
  pipeline();
  exceptions();
  std::printf("joinable %d, concurrency %d\n", std::thread().joinable(), std::thread::hardware_concurrency() > 0);
  return 4;
}
