// SPDX-License-Identifier: BSD-3-Clause
// What a C++ library does for threads, with whichever one it was built: objects that are made once, locks, exceptions,
// futures, streams, thread-local objects. With an argument only threads begin and end.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4;

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

template <class Body>
void on_all(Body body) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(body, i);
  for (auto& t : all) t.join();
}

std::atomic<int> g_made{0}, g_once{0}, g_tries{0}, g_ends{0};

struct slow {
  std::string text = "made";
  slow() {
    nap();
    ++g_made;
  }
};
const slow& the_one() {
  static const slow one;
  return one;
}

struct ending {
  ~ending() { ++g_ends; }
  void use() {}
};
thread_local ending t_ending;

std::once_flag g_flag, g_failing;
std::mutex g_mutex;
std::condition_variable g_condition;
int g_turn = 0;

void once(int) {
  std::call_once(g_flag, [] {
    nap();
    ++g_once;
  });
  if (g_once != 1) ++g_once;
  try {
    std::call_once(g_failing, [] {
      nap();
      if (++g_tries < 3) throw std::runtime_error("again");
    });
  } catch (const std::runtime_error&) {
  }
}

void take_turns(int i) {
  std::unique_lock<std::mutex> lock(g_mutex);
  g_condition.wait(lock, [i] { return g_turn == i; });
  std::cout << "turn " << i << " " << std::string(40, static_cast<char>('a' + i)) << std::endl;
  ++g_turn;
  g_condition.notify_all();
}

int caught() {
  int count = 0;
  try {
    throw std::out_of_range("one");
  } catch (const std::logic_error& e) {
    count += std::string(e.what()) == "one";
  }
  try {
    (void)std::vector<int>(3).at(5);
  } catch (const std::out_of_range&) {
    ++count;
  }
  volatile std::size_t most = static_cast<std::size_t>(-1) / 4;
  try {
    delete[] new char[most];
  } catch (const std::bad_alloc&) {
    ++count;
  }
  return count + (new (std::nothrow) char[most] == nullptr);
}

}  // namespace

int main(int count, char**) {
  std::atomic<int> right{0}, exceptions{0};
  if (count > 1) {
    on_all([&](int) { ++right; });
    return right == threads ? 0 : 1;
  }
  on_all([&](int) {
    t_ending.use();
    if (the_one().text == "made") ++right;
    exceptions += caught();
  });
  std::printf("made %d times, seen by %d, exceptions %d, ends %d\n", g_made.load(), right.load(), exceptions.load(),
              g_ends.load());
  std::fflush(stdout);
  on_all(once);
  std::printf("once %d, tries %d\n", g_once.load(), g_tries.load());
  std::fflush(stdout);
  on_all(take_turns);
  auto sum = std::async(std::launch::async, [] { return std::make_shared<std::string>("from a future"); });
  auto failed = std::async(std::launch::async, []() -> int { throw std::runtime_error("failed"); });
  std::ostringstream text;
  text << *sum.get() << " " << 3.5;
  try {
    (void)failed.get();
  } catch (const std::exception& e) {
    text << " " << e.what();
  }
  std::cout << text.str() << std::endl;
  return 0;
}
