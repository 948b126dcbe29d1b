// SPDX-License-Identifier: BSD-3-Clause
// Threads of C++ with a data race, one of each way to order too little: what `quire run --check` has to tell, with
// lines of a function with the name that the argument is. Each does it again and again, as two threads that by chance
// come one after the other, and hear of each other, hide a race.
#include <atomic>
#include <barrier>
#include <cstdio>
#include <functional>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>

namespace {

constexpr int count = 1 << 15, rounds = 40, words = 3000;
long table[count];

#define WRITES(name)                                   \
  [[gnu::noinline]] void write_##name(long by) {       \
    for (int i = 0; i < words; ++i) table[i] = by + i; \
  }
WRITES(shared_locks)
WRITES(late_latch)
WRITES(early_epoch)
WRITES(wide_semaphore)
WRITES(own_flags)

void pair(const std::function<void(int)>& what) { std::jthread one(what, 0), two(what, 1); }

/// Who reads may not write.
void shared_locks() {
  std::shared_mutex both;
  std::barrier together(2);
  pair([&](int me) {
    for (int r = 0; r < rounds; ++r) {
      {
        const std::shared_lock reads(both);
        write_shared_locks(3 * r + me + 1);
      }
      together.arrive_and_wait();
    }
  });
}
/// What is written after the latch is counted down nobody has waited for.
void late_latch() {
  std::barrier together(2);
  for (int r = 0; r < rounds; ++r) {
    std::latch made(1);
    pair([&](int me) {
      if (me == 0) made.count_down();
      if (me != 0) made.wait();
      write_late_latch(5 * r + me + 1);
      together.arrive_and_wait();
    });
  }
}
/// Half of the threads wait for the epoch.
void early_epoch() {
  std::atomic<int> epoch{0};
  std::barrier together(2);
  pair([&](int me) {
    for (int r = 0; r < rounds; ++r) {
      if (me == 0) {
        ++epoch;
        epoch.notify_all();
      } else {
        for (int now = epoch; now <= r; now = epoch) epoch.wait(now);
      }
      write_early_epoch(7 * r + me + 1);
      together.arrive_and_wait();
    }
  });
}
/// Two at a time.
void wide_semaphore() {
  std::counting_semaphore<2> places(2);
  std::barrier together(2);
  pair([&](int me) {
    for (int r = 0; r < rounds; ++r) {
      places.acquire();
      write_wide_semaphore(9 * r + me + 1);
      places.release();
      together.arrive_and_wait();
    }
  });
}
/// One calls, and the other one does not wait for it to be over.
void own_flags() {
  std::barrier together(2);
  std::once_flag first[2][rounds];
  pair([&](int me) {
    for (int r = 0; r < rounds; ++r) {
      std::call_once(first[me][r], [&] { write_own_flags(11 * r + me + 1); });
      together.arrive_and_wait();
    }
  });
}

}  // namespace

int main(int arguments, char** argument) {
  const struct {
    const char* name;
    void (*run)();
  } kinds[] = {{"shared_locks", shared_locks},
               {"late_latch", late_latch},
               {"early_epoch", early_epoch},
               {"wide_semaphore", wide_semaphore},
               {"own_flags", own_flags}};
  for (const auto& kind : kinds)
    if (arguments < 2 || std::string(kind.name) == argument[1]) kind.run();
  std::printf("%d\n", table[7] != 0);
}
