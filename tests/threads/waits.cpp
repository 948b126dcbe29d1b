// SPDX-License-Identifier: BSD-3-Clause
// Threads wait for numbers, latches, barriers and semaphores of C++20, so often that seconds between two looks show.
#include <atomic>
#include <barrier>
#include <cstdio>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4, rounds = 100;
std::atomic<int> g_turn{0};
std::atomic<long long> g_wide{0};
std::latch g_begin{threads};
std::barrier<> g_barrier{threads};
std::counting_semaphore<threads> g_given{0};
int g_taken[threads];

void wait_and_notify(int i) {
  g_begin.arrive_and_wait();
  for (int round = 0; round < rounds; ++round) {
    const int mine = round * threads + i;
    for (int now = g_turn.load(); now != mine; now = g_turn.load()) g_turn.wait(now);
    g_turn.store(mine + 1);
    g_turn.notify_all();
  }
  for (int round = 0; round < rounds; ++round) g_barrier.arrive_and_wait();
  if (i == 0) {
    g_given.release(threads - 1);
    g_wide.store(5);
    g_wide.notify_all();
  } else {
    g_given.acquire();
    g_wide.wait(0);
    g_taken[i] = 1;
  }
}

}  // namespace

int main() {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(wait_and_notify, i);
  for (auto& t : all) t.join();
  std::printf("turn %d, taken %d\n", g_turn.load(), g_taken[0] + g_taken[1] + g_taken[2] + g_taken[3]);
  return 0;
}
