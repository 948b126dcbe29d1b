// SPDX-License-Identifier: BSD-3-Clause
// Threads of C++ without data races, one of each way that the library has to order writes: `quire run --check` tells
// nothing. An argument: the only one to run.
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>

namespace {

constexpr int count = 1 << 15, rounds = 40, words = 600;
long table[count];

void change(long by) {
  for (int i = 0; i < words; ++i) table[i] += by + i;
}
/// Two threads, and then this one.
void pair(const std::function<void(int)>& what) {
  { std::jthread one(what, 0), two(what, 1); }
  change(1);
}

void barriers() {
  std::barrier together(2);
  pair([&](int me) {
    for (int r = 0; r < rounds; ++r) {
      if (r % 2 == me) change(r);
      together.arrive_and_wait();
    }
  });
}
/// What happens when all have come writes, too.
void completions() {
  int round = 0;
  std::barrier together(2, [&]() noexcept { change(++round); });
  pair([&](int me) {
    for (int r = 0; r < rounds; ++r) {
      table[words + me * 700 + r] = r;
      together.arrive_and_wait();
    }
  });
}
void latches() {
  std::latch made(1), over(2);
  pair([&](int me) {
    if (me == 0) {
      change(3);
      made.count_down();
    } else {
      made.wait();
      change(4);
    }
    over.arrive_and_wait();
    if (me == 0) change(5);
  });
}
/// Who waits for an epoch sees what was written in the one before.
void epochs() {
  std::atomic<int> epoch{0};
  pair([&](int me) {
    for (int r = 0; r < rounds; ++r) {
      for (int now = epoch; now != 2 * r + me; now = epoch) epoch.wait(now);
      change(r);
      ++epoch;
      epoch.notify_all();
    }
  });
}
void flags() {
  std::atomic_flag mine = ATOMIC_FLAG_INIT;
  pair([&](int) {
    for (int r = 0; r < rounds; ++r) {
      while (mine.test_and_set(std::memory_order_acquire)) mine.wait(true);
      change(r);
      mine.clear(std::memory_order_release);
      mine.notify_one();
    }
  });
}
void semaphores() {
  std::binary_semaphore even(1), odd(0);
  pair([&](int me) {
    for (int r = 0; r < rounds; ++r) {
      (me == 0 ? even : odd).acquire();
      change(r);
      (me == 0 ? odd : even).release();
    }
  });
}
void shared_mutexes() {
  std::shared_mutex both;
  pair([&](int) {
    long seen = 0;
    for (int r = 0; r < rounds; ++r) {
      {
        const std::shared_lock reads(both);
        for (int i = 0; i < words; ++i) seen += table[i];
      }
      const std::unique_lock writes(both);
      change(seen % 7);
    }
  });
}
void once() {
  std::once_flag first;
  std::mutex mutex;
  pair([&](int) {
    std::call_once(first, [] { change(9); });
    const std::scoped_lock lock(mutex);
    change(table[7]);
  });
}
void conditions() {
  std::mutex mutex;
  std::condition_variable condition;
  int turn = 0;
  pair([&](int me) {
    for (int r = 0; r < rounds; ++r) {
      std::unique_lock lock(mutex);
      condition.wait(lock, [&] { return turn % 2 == me; });
      change(r);
      ++turn;
      condition.notify_all();
    }
  });
}
void promises() {
  for (int r = 0; r < 8; ++r) {
    std::promise<int> made;
    auto there = made.get_future();
    pair([&](int me) {
      if (me == 0) {
        change(r);
        made.set_value(r);
      } else {
        change(there.get());
      }
    });
    change(std::async(std::launch::async, [r] { return change(r), r; }).get());
  }
}

}  // namespace

int main(int arguments, char** argument) {
  const struct {
    const char* name;
    void (*run)();
  } kinds[] = {{"barriers", barriers},
               {"completions", completions},
               {"latches", latches},
               {"epochs", epochs},
               {"flags", flags},
               {"semaphores", semaphores},
               {"once", once},
               {"shared_mutexes", shared_mutexes},
               {"conditions", conditions},
               {"promises", promises}};
  for (const auto& kind : kinds)
    if (arguments < 2 || std::string(kind.name) == argument[1]) kind.run();
  std::printf("%ld\n", table[7]);
}
