// SPDX-License-Identifier: BSD-3-Clause
// Random programs without races: `random SEED [STEPS]`. Each step is a construct with random sizes, schedules and
// places in memory; after it, all that it may have changed must be as a serial copy of it has it.
#include <omp.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

constexpr int size = 30'000, small = 40;

/// What the program works on, twice: by all threads, and by one.
struct memory {
  std::int64_t *large, *other;  ///< of `size`
  std::int64_t counters[small] = {};
  std::int64_t sum = 0;
};
std::int64_t g_large[size], g_other[size];  // static, of more than 64 KiB
std::atomic<std::int64_t> g_flag{0};

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x7fb5d329728ea185u;
  x ^= x >> 27;
  x *= 0x81dadef4bc2dd44du;
  return x ^ x >> 33;
}

struct step {
  std::uint64_t seed;
  [[nodiscard]] std::uint64_t draw(unsigned what, std::uint64_t below) const { return mix(seed * 64 + what) % below; }
  [[nodiscard]] int threads() const { return 1 + static_cast<int>(draw(1, 6)); }
  [[nodiscard]] int chunk() const { return 1 + static_cast<int>(draw(2, 700)); }
  [[nodiscard]] int first() const { return static_cast<int>(draw(3, size / 2)); }
  [[nodiscard]] int end() const {
    return first() + 1 + static_cast<int>(draw(4, static_cast<std::uint64_t>(size - first())));
  }
  [[nodiscard]] std::int64_t value(std::int64_t i) const {
    return static_cast<std::int64_t>(mix(seed ^ static_cast<std::uint64_t>(i)) >> 20);
  }
  [[nodiscard]] int from(int i) const { return static_cast<int>(mix(seed + static_cast<std::uint64_t>(i) * 7) % size); }
};

// Each kind of step: `threads` is 1 for the serial copy.

void fill(const step& s, memory& m, int threads) {
  omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  omp_set_schedule(kinds[s.draw(5, 4)], s.chunk());
#pragma omp parallel for schedule(runtime) num_threads(threads)
  for (int i = s.first(); i < s.end(); ++i) m.large[i] += s.value(i);
}

void gather(const step& s, memory& m, int threads) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static, 3)
    for (int i = s.first(); i < s.end(); ++i) m.other[i] = m.large[s.from(i)] + 3 * m.other[i];
#pragma omp for schedule(static)
    for (int i = s.first(); i < s.end(); ++i) m.large[i] ^= m.other[size - 1 - i];
  }
}

void reduce(const step& s, memory& m, int threads) {
  std::int64_t sum = 0, most = INT64_MIN;
#pragma omp parallel for reduction(+ : sum) reduction(max : most) num_threads(threads)
  for (int i = s.first(); i < s.end(); ++i) {
    sum += m.large[i] * (i % 7);
    most = m.other[i] > most ? m.other[i] : most;
  }
  m.sum += sum ^ most;
}

void count(const step& s, memory& m, int threads) {
#pragma omp parallel for schedule(dynamic, 50) num_threads(threads)
  for (int i = s.first(); i < s.end(); ++i) {
    std::int64_t& counter = m.counters[s.from(i) % small];
#pragma omp atomic
    counter += i;
  }
}

/// Atomic additions into the large array: with mixed memory it becomes sequential.
void scatter(const step& s, memory& m, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int i = s.first(); i < s.end(); i += 11) {
#pragma omp atomic
    m.other[s.from(i)] += i;
  }
}

void exclude(const step& s, memory& m, int threads) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (int i = 0; i < small; ++i) {
#pragma omp critical
    for (int k = 0; k < 40; ++k) m.other[s.from(k)] += s.value(i) % 1000;
    omp_set_lock(&lock);
    m.sum += i;
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
}

/// The threads take turns by a flag, and write where the one before has written.
void take_turns(const step& s, memory& m, int threads) {
  constexpr int rounds = 3;
  g_flag = 0;
#pragma omp parallel num_threads(threads)
  {
    const int all = omp_get_num_threads(), me = omp_get_thread_num();
    for (int round = 0; round < rounds; ++round) {
      while (g_flag.load(std::memory_order_acquire) != round * all + me) {
      }
      // Whoever's turn it is, the same is done: `rounds` turns of each of the step's threads in the serial copy, too.
      for (int k = 0; k < 60; ++k) m.large[s.from(k)] = 3 * m.large[s.from(k + 1)] + 1;
      g_flag.store(round * all + me + 1, std::memory_order_release);
    }
  }
}

void make_tasks(const step& s, memory& m, int threads) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = s.first() / 100; i < s.end() / 100; ++i) {
#pragma omp task firstprivate(i) depend(inout : m.counters[i % 5])
    {
      m.counters[i % 5] = 5 * m.counters[i % 5] + i;
      for (int k = 0; k < 100; ++k) m.other[100 * i + k] -= i % 5;
    }
  }
}

void in_order(const step& s, memory& m, int threads) {
#pragma omp parallel for ordered schedule(dynamic, 4) num_threads(threads)
  for (int i = 0; i < 60; ++i) {
    const std::int64_t own = s.value(i) % 100 + m.large[s.from(i)];
#pragma omp ordered
    m.sum = 7 * m.sum + own;
  }
}

void divide(const step& s, memory& m, int threads) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp sections
    {
#pragma omp section
      for (int i = 0; i < size / 2; ++i) m.large[i] += 1;
#pragma omp section
      for (int i = size / 2; i < size; ++i) m.large[i] -= 1;
#pragma omp section
      m.counters[0] += s.value(0);
    }
#pragma omp single
    m.sum ^= m.large[s.from(1)];
#pragma omp for nowait
    for (int i = 0; i < small; ++i) m.counters[i] += m.sum % 10;
#pragma omp barrier
#pragma omp master
    m.sum += m.counters[s.draw(6, small)];
  }
}

using kind = void (*)(const step&, memory&, int threads);
constexpr kind kinds[] = {fill, gather, reduce, count, scatter, exclude, take_turns, make_tasks, in_order, divide};
constexpr int kinds_count = sizeof kinds / sizeof *kinds;

/// The serial copy of take_turns() has as many turns as all threads of a team.
void repeat_serially(const step& s, memory& m, kind what) {
  if (what != take_turns) return what(s, m, 1);
  const int turns = 3 * s.threads();
  for (int turn = 0; turn < turns; ++turn) {
    for (int k = 0; k < 60; ++k) m.large[s.from(k)] = 3 * m.large[s.from(k + 1)] + 1;
  }
}

bool same(const memory& a, const memory& b) {
  for (int i = 0; i < size; ++i) {
    if (a.large[i] != b.large[i] || a.other[i] != b.other[i]) return false;
  }
  for (int i = 0; i < small; ++i) {
    if (a.counters[i] != b.counters[i]) return false;
  }
  return a.sum == b.sum;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 40;
  const bool on_heap = seed % 2 == 0;
  std::vector<std::int64_t> heap_large(size), heap_other(size), serial_large(size), serial_other(size);
  auto all = std::make_unique<memory>(), serial = std::make_unique<memory>();
  all->large = on_heap ? heap_large.data() : g_large;
  all->other = on_heap ? heap_other.data() : g_other;
  serial->large = serial_large.data();
  serial->other = serial_other.data();
  omp_set_dynamic(0);
  for (int i = 0; i < steps; ++i) {
    const step s{mix(seed) + static_cast<std::uint64_t>(i)};
    const auto which = s.draw(0, kinds_count);
    kinds[which](s, *all, s.threads());
    repeat_serially(s, *serial, kinds[which]);
    if (same(*all, *serial)) continue;
    std::printf("seed %llu, step %d, kind %llu, %d threads: not as in the serial copy\n",
                static_cast<unsigned long long>(seed), i, static_cast<unsigned long long>(which), s.threads());
    return 1;
  }
  std::printf("seed %llu: %d steps, sum %lld\n", static_cast<unsigned long long>(seed), steps,
              static_cast<long long>(all->sum));
  return 0;
}
