// SPDX-License-Identifier: BSD-3-Clause
// Contract: locks, reader-writer locks, conditions, events, semaphores, barriers of the job and of some, reductions and
// broadcasts, each used by several threads of all nodes, with what they protect in shared memory.
#include <sched.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr int threads = 3;

std::uint64_t fetch_add(std::uint64_t* word, std::uint64_t value) {
  std::uint64_t before = 0;
  REQUIRE_OK(quire_fetch_add(word, value, &before));
  return before;
}
/// Where the word is: a copy of release consistency stays as it is, and its home may have moved.
std::uint64_t load(std::uint64_t& word) { return fetch_add(&word, 0); }
/// The call takes about as long as it was told to wait: not less, and not for ever.
template <class Call>
void takes_ms(int ms, Call call) {
  const double begin = now_seconds();
  call();
  const double took = (now_seconds() - begin) * 1e3;
  if (took < ms - 2 || took > ms + 5000) fail(__FILE__, __LINE__, "waited %.1f ms instead of %d", took, ms);
}

void mutexes() {
  struct shared {
    quire_mutex mutex;
    std::uint64_t held, tried, counted;
  };
  auto* all = shared_object<shared>("mutexes");
  const int self = quire_node(), nodes = quire_nodes();
  if (self == 0) {
    REQUIRE_OK(quire_mutex_create(&all->mutex));
    REQUIRE_OK(quire_mutex_lock(all->mutex));
    // Of the thread that took it, not of the node.
    on_threads(1, [&](int) {
      REQUIRE_STATUS(quire_mutex_unlock(all->mutex), QUIRE_NOT_OWNER);
      REQUIRE_STATUS(quire_mutex_try_lock(all->mutex), QUIRE_BUSY);
      takes_ms(40, [&] { REQUIRE_STATUS(quire_mutex_timed_lock(all->mutex, 40), QUIRE_TIMED_OUT); });
    });
    REQUIRE_STATUS(quire_mutex_try_lock(all->mutex), QUIRE_BUSY);
    REQUIRE_STATUS(quire_mutex_lock(all->mutex), QUIRE_INVALID);  // it would wait for itself
  }
  barrier();
  if (self != 0) {
    REQUIRE_STATUS(quire_mutex_try_lock(all->mutex), QUIRE_BUSY);
    REQUIRE_STATUS(quire_mutex_timed_lock(all->mutex, 0), QUIRE_BUSY);
    takes_ms(60, [&] { REQUIRE_STATUS(quire_mutex_timed_lock(all->mutex, 60), QUIRE_TIMED_OUT); });
    REQUIRE_STATUS(quire_mutex_unlock(all->mutex), QUIRE_NOT_OWNER);
  }
  barrier();
  if (self == 0) REQUIRE_OK(quire_mutex_unlock(all->mutex));
  // Locks of all three ways, with a counter that nothing else protects.
  constexpr std::uint64_t times = 60;
  on_threads(threads, [&](int thread) {
    random_numbers random(static_cast<std::uint64_t>(self * threads + thread));
    for (std::uint64_t i = 0; i < times;) {
      const auto status = random.below(3) == 0   ? quire_mutex_try_lock(all->mutex)
                          : random.below(3) == 0 ? quire_mutex_timed_lock(all->mutex, 1)
                                                 : quire_mutex_lock(all->mutex);
      if (status != QUIRE_OK) {
        REQUIRE(status == QUIRE_BUSY || status == QUIRE_TIMED_OUT);
        continue;
      }
      REQUIRE_EQUAL(all->held, 0);
      all->held = 1;
      all->counted = all->counted + 1;
      all->held = 0;
      REQUIRE_OK(quire_mutex_unlock(all->mutex));
      ++i;
    }
  });
  barrier();
  REQUIRE_EQUAL(all->counted, static_cast<std::uint64_t>(nodes) * threads * times);
  // A lock that waits is told when the lock goes; later calls find nothing.
  if (self == 0) REQUIRE_OK(quire_mutex_lock(all->mutex));
  barrier();
  if (self == 0) {
    sleep_ms(50);
    REQUIRE_OK(quire_mutex_unlock(all->mutex));
  } else {
    REQUIRE_OK(quire_mutex_lock(all->mutex));
    REQUIRE_OK(quire_mutex_unlock(all->mutex));
  }
  barrier();
  if (self == nodes - 1) REQUIRE_OK(quire_mutex_destroy(all->mutex));
  barrier();
  REQUIRE_STATUS(quire_mutex_lock(all->mutex), QUIRE_NOT_FOUND);
  REQUIRE_STATUS(quire_mutex_destroy(all->mutex), QUIRE_NOT_FOUND);
}

/// A node that locks a mutex again and again keeps it for a moment when another one asks; then it calls nothing more,
/// and must give it away all the same.
void mutexes_that_stay() {
  struct shared {
    quire_mutex mutex;
    std::uint64_t counted;
  };
  auto* all = shared_object<shared>("mutexes that stay");
  // Polled by plain loads, so that the busy node drives nothing: in a region with sequential consistency, whatever the
  // heap has.
  auto* rounds_done =
      shared_region<std::uint64_t>("rounds of mutexes that stay", 4096, region_options(4096, QUIRE_PLACE_NODE, 0));
  const int self = quire_node(), busy = quire_nodes() - 1;
  constexpr std::uint64_t rounds = 30, times = 200;
  if (self == 0) REQUIRE_OK(quire_mutex_create(&all->mutex));
  barrier();
  const quire_mutex mutex = all->mutex;
  const auto count = [&] {
    REQUIRE_OK(quire_mutex_lock(mutex));
    ++all->counted;
    REQUIRE_OK(quire_mutex_unlock(mutex));
  };
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    barrier();
    if (self == busy) {
      for (std::uint64_t i = 0; i < times; ++i) count();
    }
    if (self == 0) {
      count();
      std::atomic_ref(*rounds_done).store(round);
    }
    while (self == busy && load(*rounds_done) != round) std::this_thread::yield();
  }
  barrier();
  REQUIRE_EQUAL(all->counted, rounds * (times + 1));
}

void reader_writer_locks() {
  struct shared {
    quire_rwlock lock;
    quire_barrier readers;
    std::uint64_t a;
    char elsewhere[8192];
    std::uint64_t b;
  };
  auto* all = shared_object<shared>("rwlocks");
  const int self = quire_node(), nodes = quire_nodes();
  if (self == 0) {
    REQUIRE_OK(quire_rwlock_create(&all->lock));
    REQUIRE_OK(quire_barrier_create(static_cast<std::uint32_t>(2 * nodes), &all->readers));
  }
  barrier();
  // All readers are inside at the same time: they meet there.
  on_threads(2, [&](int) {
    REQUIRE_OK(quire_rwlock_read_lock(all->lock, -1));
    REQUIRE_OK(quire_barrier_wait(all->readers));
    REQUIRE_STATUS(quire_rwlock_write_lock(all->lock, 0), QUIRE_BUSY);
    REQUIRE_OK(quire_barrier_wait(all->readers));
    REQUIRE_OK(quire_rwlock_unlock(all->lock));
  });
  barrier();
  on_threads(threads, [&](int thread) {
    for (int i = 0; i < 30; ++i) {
      if ((i + thread + self) % 4 == 0) {
        REQUIRE_OK(quire_rwlock_write_lock(all->lock, -1));
        REQUIRE_EQUAL(all->a, all->b);
        all->a = all->a + 1;
        all->b = all->b + 1;
      } else {
        REQUIRE_OK(quire_rwlock_read_lock(all->lock, 20'000));
        REQUIRE_EQUAL(all->a, all->b);
      }
      REQUIRE_OK(quire_rwlock_unlock(all->lock));
    }
  });
  barrier();
  std::uint64_t writes = 0;
  for (int n = 0; n < nodes; ++n)
    for (int t = 0; t < threads; ++t)
      for (int i = 0; i < 30; ++i) writes += (i + t + n) % 4 == 0 ? 1 : 0;
  REQUIRE_EQUAL(all->a, writes);
  if (self == 0) REQUIRE_OK(quire_rwlock_write_lock(all->lock, -1));
  barrier();
  if (self != 0) {
    REQUIRE_STATUS(quire_rwlock_read_lock(all->lock, 0), QUIRE_BUSY);
    takes_ms(50, [&] { REQUIRE_STATUS(quire_rwlock_read_lock(all->lock, 50), QUIRE_TIMED_OUT); });
    takes_ms(50, [&] { REQUIRE_STATUS(quire_rwlock_write_lock(all->lock, 50), QUIRE_TIMED_OUT); });
    REQUIRE_STATUS(quire_rwlock_unlock(all->lock), QUIRE_NOT_OWNER);
  }
  barrier();
  if (self == 0) {
    REQUIRE_OK(quire_rwlock_unlock(all->lock));
    REQUIRE_OK(quire_rwlock_destroy(all->lock));
  }
}

/// A bounded queue with two conditions, as in a textbook: every value that goes in comes out once.
void conditions() {
  constexpr std::uint64_t each = 40, room = 4;
  struct shared {
    quire_mutex mutex;
    quire_condition filled, emptied, start;
    std::uint64_t in, out, slots[room], sum, started, taken;
  };
  auto* all = shared_object<shared>("conditions");
  const int self = quire_node(), nodes = quire_nodes();
  if (self == 0) {
    REQUIRE_OK(quire_mutex_create(&all->mutex));
    REQUIRE_OK(quire_condition_create(&all->filled));
    REQUIRE_OK(quire_condition_create(&all->emptied));
    REQUIRE_OK(quire_condition_create(&all->start));
  }
  barrier();
  on_threads(2, [&](int thread) {
    const bool produces = thread == 0;
    for (std::uint64_t i = 1; i <= each; ++i) {
      REQUIRE_OK(quire_mutex_lock(all->mutex));
      if (produces) {
        while (all->in - all->out == room) REQUIRE_OK(quire_condition_wait(all->emptied, all->mutex, 20'000));
        all->slots[all->in % room] = i;
        all->in = all->in + 1;
        REQUIRE_OK(quire_condition_notify_one(all->filled));
      } else {
        while (all->in == all->out) REQUIRE_OK(quire_condition_wait(all->filled, all->mutex, 20'000));
        all->sum = all->sum + all->slots[all->out % room];
        all->out = all->out + 1;
        REQUIRE_OK(quire_condition_notify_one(all->emptied));
      }
      REQUIRE_OK(quire_mutex_unlock(all->mutex));
    }
  });
  barrier();
  REQUIRE_EQUAL(all->sum, static_cast<std::uint64_t>(nodes) * each * (each + 1) / 2);
  // After a time-out the mutex is held again.
  REQUIRE_OK(quire_mutex_lock(all->mutex));
  takes_ms(30, [&] { REQUIRE_STATUS(quire_condition_wait(all->start, all->mutex, 30), QUIRE_TIMED_OUT); });
  REQUIRE_STATUS(quire_mutex_try_lock(all->mutex), QUIRE_BUSY);
  REQUIRE_OK(quire_mutex_unlock(all->mutex));
  REQUIRE_STATUS(quire_condition_wait(all->start, all->mutex, 30), QUIRE_NOT_OWNER);
  barrier();
  // notify_all reaches everybody, and one notify_one at a time lets one through at a time.
  for (const bool at_once : {true, false}) {
    const std::uint64_t waiters = static_cast<std::uint64_t>(2 * nodes);
    std::thread waker;
    barrier();
    if (self == 0) {
      all->started = all->taken = 0;
      waker = std::thread([&] {
        while (load(all->started) != waiters) sleep_ms(1);
        REQUIRE_OK(quire_mutex_lock(all->mutex));  // now all of them wait
        REQUIRE_OK(quire_mutex_unlock(all->mutex));
        for (std::uint64_t i = 0; i < (at_once ? 1 : waiters); ++i) {
          REQUIRE_OK(at_once ? quire_condition_notify_all(all->start) : quire_condition_notify_one(all->start));
          while (load(all->taken) < (at_once ? waiters : i + 1)) sleep_ms(1);
        }
      });
    }
    barrier();
    on_threads(2, [&](int) {
      REQUIRE_OK(quire_mutex_lock(all->mutex));
      fetch_add(&all->started, 1);
      REQUIRE_OK(quire_condition_wait(all->start, all->mutex, 20'000));
      fetch_add(&all->taken, 1);
      REQUIRE_OK(quire_mutex_unlock(all->mutex));
    });
    if (waker.joinable()) waker.join();
    barrier();
    REQUIRE_EQUAL(all->taken, waiters);
  }
}

void events() {
  struct shared {
    quire_event event;
    std::uint64_t passed;
  };
  auto* all = shared_object<shared>("events");
  const int self = quire_node(), nodes = quire_nodes();
  if (self == nodes - 1) REQUIRE_OK(quire_event_create(&all->event));
  barrier();
  REQUIRE_STATUS(quire_event_wait(all->event, 0), QUIRE_BUSY);
  takes_ms(40, [&] { REQUIRE_STATUS(quire_event_wait(all->event, 40), QUIRE_TIMED_OUT); });
  for (std::uint64_t round = 1; round <= 10; ++round) {
    barrier();
    std::thread setter([&] {
      if (self != static_cast<int>(round) % nodes) return;
      sleep_ms(5);
      REQUIRE_EQUAL(load(all->passed), (round - 1) * 2 * static_cast<std::uint64_t>(nodes));
      REQUIRE_OK(quire_event_set(all->event));
    });
    on_threads(2, [&](int) {
      REQUIRE_OK(quire_event_wait(all->event, 20'000));
      REQUIRE_OK(quire_event_wait(all->event, 0));  // it stays set
      fetch_add(&all->passed, 1);
    });
    setter.join();
    barrier();
    if (self == 0) REQUIRE_OK(quire_event_reset(all->event));
  }
  REQUIRE_EQUAL(load(all->passed), 20 * nodes);
}

void semaphores() {
  constexpr std::uint64_t room = 3;
  struct shared {
    quire_semaphore semaphore;
    std::uint64_t inside, most;
  };
  auto* all = shared_object<shared>("semaphores");
  const int self = quire_node();
  if (self == 0) REQUIRE_OK(quire_semaphore_create(room, &all->semaphore));
  barrier();
  on_threads(threads, [&](int) {
    for (int i = 0; i < 30; ++i) {
      REQUIRE_OK(quire_semaphore_acquire(all->semaphore, i % 2 == 0 ? -1 : 20'000));
      REQUIRE(fetch_add(&all->inside, 1) < room);
      fetch_add(&all->inside, ~std::uint64_t{0});
      REQUIRE_OK(quire_semaphore_release(all->semaphore, 1));
    }
  });
  barrier();
  if (self == 0) {
    for (std::uint64_t i = 0; i < room; ++i) REQUIRE_OK(quire_semaphore_acquire(all->semaphore, 0));
    REQUIRE_STATUS(quire_semaphore_acquire(all->semaphore, 0), QUIRE_BUSY);
  }
  barrier();
  takes_ms(40, [&] { REQUIRE_STATUS(quire_semaphore_acquire(all->semaphore, 40), QUIRE_TIMED_OUT); });
  barrier();
  if (self == quire_nodes() - 1)
    REQUIRE_OK(quire_semaphore_release(all->semaphore, static_cast<std::uint64_t>(quire_nodes())));
  REQUIRE_OK(quire_semaphore_acquire(all->semaphore, 20'000));
  barrier();
  REQUIRE_STATUS(quire_semaphore_acquire(all->semaphore, 0), QUIRE_BUSY);
}

/// After a barrier everybody sees what everybody wrote before it: the barrier of the job, one of all threads, one of
/// some.
void barriers() {
  struct shared {
    quire_barrier everyone, some;
    std::uint64_t steps[64], some_steps[64];
  };
  auto* all = shared_object<shared>("barriers");
  const auto self = static_cast<std::size_t>(quire_node()), nodes = static_cast<std::size_t>(quire_nodes());
  const std::size_t members = nodes > 2 ? nodes - 1 : nodes;
  if (self == 0) {
    REQUIRE_OK(quire_barrier_create(static_cast<std::uint32_t>(nodes * threads), &all->everyone));
    REQUIRE_OK(quire_barrier_create(static_cast<std::uint32_t>(members), &all->some));
  }
  barrier();
  for (std::uint64_t step = 1; step <= 100; ++step) {
    all->steps[self] = step;
    barrier();
    for (std::size_t n = 0; n < nodes; ++n) REQUIRE_EQUAL(all->steps[n], step);
    barrier();
  }
  on_threads(threads + 1, [&](int thread) {
    // One thread of some nodes at another barrier at the same time.
    const bool in_some = thread == threads;
    if (in_some && self >= members) return;
    std::uint64_t* const steps = in_some ? all->some_steps : all->steps;
    const std::size_t count = in_some ? members : nodes * threads;
    const std::size_t mine = in_some ? self : self * threads + static_cast<std::size_t>(thread);
    for (std::uint64_t step = 1000; step < 1040; ++step) {
      const quire_barrier which = in_some ? all->some : all->everyone;
      std::atomic_ref(steps[mine]).store(step);
      REQUIRE_OK(quire_barrier_wait(which));
      for (std::size_t i = 0; i < count; ++i) REQUIRE_EQUAL(load(steps[i]), step);
      REQUIRE_OK(quire_barrier_wait(which));
    }
  });
  barrier();
  if (self == 0) {
    REQUIRE_OK(quire_barrier_destroy(all->some));
    REQUIRE_STATUS(quire_barrier_wait(all->some), QUIRE_NOT_FOUND);
    REQUIRE_STATUS(quire_barrier_create(0, &all->some), QUIRE_INVALID);
    REQUIRE_STATUS(quire_barrier_destroy(quire_barrier{0}), QUIRE_INVALID);
  }
}

void values_by_messages() {
  const int self = quire_node(), nodes = quire_nodes();
  const std::int64_t sum = static_cast<std::int64_t>(nodes) * (nodes - 1) / 2;
  for (int round = 0; round < 50; ++round) {
    double d[8];
    std::int64_t i[8];
    for (int k = 0; k < 8; ++k) d[k] = self + k, i[k] = self - k;
    REQUIRE_OK(quire_reduce_f64(d, 8, QUIRE_SUM));
    REQUIRE_OK(quire_reduce_i64(i, 8, QUIRE_MIN));
    for (int k = 0; k < 8; ++k) REQUIRE(d[k] == static_cast<double>(sum + k * nodes) && i[k] == -k);
    double largest = self == nodes / 2 ? 1e300 : -1e300;
    REQUIRE_OK(quire_reduce_f64(&largest, 1, QUIRE_MAX));
    REQUIRE(largest == 1e300);
    std::int64_t product = self + 1, factorial = 1;
    for (int k = 1; k <= nodes; ++k) factorial *= k;
    REQUIRE_OK(quire_reduce_i64(&product, 1, QUIRE_PRODUCT));
    REQUIRE_EQUAL(product, factorial);
    unsigned char bytes[64];
    std::memset(bytes, self == round % nodes ? round : 200, sizeof bytes);
    REQUIRE_OK(quire_broadcast(bytes, static_cast<std::uint32_t>(1 + round), round % nodes));
    REQUIRE_EQUAL(bytes[round], round);
    if (self != round % nodes) REQUIRE_EQUAL(bytes[round + 1], 200);
  }
  // Every node gets the same bits, whatever the order of the sums.
  double rounded = 0.1 * (self + 1);
  REQUIRE_OK(quire_reduce_f64(&rounded, 1, QUIRE_SUM));
  double first = rounded;
  REQUIRE_OK(quire_broadcast(&first, sizeof first, 0));
  REQUIRE(std::memcmp(&first, &rounded, sizeof first) == 0);
  double nine[9] = {};
  REQUIRE_STATUS(quire_reduce_f64(nine, 9, QUIRE_SUM), QUIRE_INVALID);
  REQUIRE_STATUS(quire_reduce_f64(nullptr, 1, QUIRE_SUM), QUIRE_INVALID);
  char long_value[193] = {};
  REQUIRE_STATUS(quire_broadcast(long_value, 193, 0), QUIRE_INVALID);
  long_value[191] = quire_node() == nodes - 1 ? 'z' : 'a';
  REQUIRE_OK(quire_broadcast(long_value, 192, nodes - 1));
  REQUIRE(long_value[191] == 'z');
  REQUIRE_STATUS(quire_broadcast(long_value, 8, nodes), QUIRE_INVALID);
  barrier();
  double again = 1;
  REQUIRE_OK(quire_reduce_f64(&again, 1, QUIRE_SUM));
  REQUIRE(again == nodes);
}

/// A time limit of centuries is one: who waits gets what it waits for, and not a time-out at once.
void long_limits() {
  struct objects {
    quire_mutex mutex;
    quire_rwlock lock;
    quire_event event;
    quire_semaphore semaphore;
    quire_condition condition;
    volatile int ready;
  };
  auto* const all = shared_object<objects>("long limits");
  auto* const pinned =
      shared_region<std::uint64_t>("long limits, pinned", 4096, region_options(4096, QUIRE_PLACE_NODE, 0));
  if (quire_node() == 0) {
    REQUIRE_OK(quire_mutex_create(&all->mutex));
    REQUIRE_OK(quire_rwlock_create(&all->lock));
    REQUIRE_OK(quire_event_create(&all->event));
    REQUIRE_OK(quire_semaphore_create(0, &all->semaphore));
    REQUIRE_OK(quire_condition_create(&all->condition));
  }
  int round = 0;
  for (const std::int64_t limit_ms :
       {INT64_MAX, std::int64_t{9'223'372'036'855}, std::int64_t{9'223'372'036'854}, std::int64_t{1} << 41}) {
    const std::string name = "published late " + std::to_string(++round);
    barrier();
    if (quire_node() == 0) {  // has everything, or has not given it yet
      REQUIRE_OK(quire_event_reset(all->event));
      REQUIRE_OK(quire_mutex_lock(all->mutex));
      REQUIRE_OK(quire_rwlock_write_lock(all->lock, -1));
      REQUIRE_OK(quire_pin(pinned, 8, -1, nullptr));
      all->ready = 0;
    }
    barrier();
    if (quire_node() == 0) {
      sleep_ms(30);
      REQUIRE_OK(quire_mutex_unlock(all->mutex));
      sleep_ms(5);
      REQUIRE_OK(quire_rwlock_unlock(all->lock));
      sleep_ms(5);
      REQUIRE_OK(quire_unpin(pinned, 8));
      sleep_ms(5);
      REQUIRE_OK(quire_event_set(all->event));
      sleep_ms(5);
      for (int n = 1; n < quire_nodes(); ++n) REQUIRE_OK(quire_semaphore_release(all->semaphore, 1));
      sleep_ms(5);
      REQUIRE_OK(quire_publish(name.c_str(), all));
      REQUIRE_OK(quire_mutex_lock(all->mutex));
      all->ready = 1;
      REQUIRE_OK(quire_condition_notify_all(all->condition));
      REQUIRE_OK(quire_mutex_unlock(all->mutex));
    } else {
      REQUIRE_OK(quire_mutex_timed_lock(all->mutex, limit_ms));
      REQUIRE_OK(quire_mutex_unlock(all->mutex));
      REQUIRE_OK(quire_rwlock_read_lock(all->lock, limit_ms));
      REQUIRE_OK(quire_rwlock_unlock(all->lock));
      REQUIRE_OK(quire_rwlock_write_lock(all->lock, limit_ms));
      REQUIRE_OK(quire_rwlock_unlock(all->lock));
      REQUIRE_OK(quire_pin(pinned, 8, limit_ms, nullptr));
      REQUIRE_OK(quire_unpin(pinned, 8));
      REQUIRE_OK(quire_event_wait(all->event, limit_ms));
      REQUIRE_OK(quire_semaphore_acquire(all->semaphore, limit_ms));
      void* found = nullptr;
      REQUIRE_OK(quire_lookup(name.c_str(), limit_ms, &found));
      REQUIRE(found == all);
      REQUIRE_OK(quire_mutex_lock(all->mutex));
      while (all->ready == 0) REQUIRE_OK(quire_condition_wait(all->condition, all->mutex, limit_ms));
      REQUIRE_OK(quire_mutex_unlock(all->mutex));
    }
  }
  barrier();
}

/// The length of the calling thread's slices as the kernel has it; 0: it does not tell.
std::uint64_t slice_ns() {
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } now{};
  return ::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) == 0 ? now.runtime : 0;
}

/// Where nodes outnumber cores by more than two to one, threads that wait sleep, and are let in as soon as they are
/// woken.
void slices() {
  cpu_set_t mine;
  REQUIRE(::sched_getaffinity(0, sizeof mine, &mine) == 0);
  barrier();
  const std::uint64_t waiting = slice_ns();
  if (quire_node() == 0 || quire_nodes() <= 2 * CPU_COUNT(&mine)) return;  // node 0 may have come last each time
  if (waiting > 100'000)
    fail(__FILE__, __LINE__, "a thread that waits has slices of %llu ns", static_cast<unsigned long long>(waiting));
}

}  // namespace

int main() {
  return node_main([] {
    section("mutexes", mutexes);
    section("mutexes that stay", mutexes_that_stay);
    section("reader-writer locks", reader_writer_locks);
    section("conditions", conditions);
    section("events", events);
    section("semaphores", semaphores);
    section("barriers", barriers);
    section("values by messages", values_by_messages);
    section("limits of centuries", long_limits);
    section("slices", slices);
  });
}
