// SPDX-License-Identifier: BSD-3-Clause
// Contract of regions with release consistency: what synchronisation has put in order is seen, by every way of
// synchronising there is; several nodes write one page at a time and nothing is lost; what has not been put in order
// may be seen late, and costs nothing. With "long": long runs with few twins, as QUIRE_TWIN_LIMIT says. With "scan":
// written pages are found by scans instead of faults.
#include <atomic>
#include <cstdlib>
#include <string_view>

#include "apart.hpp"
#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096;
using word = std::uint64_t;

bool g_scans = false;    ///< written pages are found without faults
bool g_limited = false;  ///< nodes have a memory limit

quire_region_options relaxed(std::size_t unit_bytes, quire_placement placement, int home = 0) {
  auto about = region_options(unit_bytes, placement, home);
  about.consistency = QUIRE_RELEASE;
  if (g_scans) about.detector = QUIRE_DETECT_SCAN;
  return about;
}
word* make_region(const char* name, std::size_t bytes, quire_placement placement, int home = 0,
                  std::size_t unit = page) {
  auto* words = shared_region<word>(name, bytes, relaxed(unit, placement, home));
  barrier();
  return words;
}
int nodes() { return quire_nodes(); }
int me() { return quire_node(); }

/// A handle that node 0 makes and all get.
template <class Handle, class Make>
Handle shared_handle(Make&& make) {
  Handle handle{};
  if (me() == 0) make(handle);
  REQUIRE_OK(quire_broadcast(&handle, sizeof handle, 0));
  return handle;
}
quire_mutex make_mutex() {
  return shared_handle<quire_mutex>([](quire_mutex& m) { REQUIRE_OK(quire_mutex_create(&m)); });
}

/// Neighbouring bytes of the same pages by all threads of all nodes, over and over.
void false_sharing(const char* name, quire_placement placement, std::size_t unit) {
  constexpr int threads = 3, rounds = 12;
  constexpr std::size_t bytes = 64 * 1024;
  auto* all = reinterpret_cast<volatile std::uint8_t*>(make_region(name, bytes, placement, 0, unit));
  const std::size_t writers = static_cast<std::size_t>(threads * nodes());
  for (int round = 1; round <= rounds; ++round) {
    on_threads(threads, [&](int thread) {
      const auto mine = static_cast<std::size_t>(me() * threads + thread + round) % writers;
      for (std::size_t i = mine; i < bytes; i += writers) {
        REQUIRE_EQUAL(all[i], round - 1);
        all[i] = static_cast<std::uint8_t>(round);
      }
    });
    barrier();
  }
  for (std::size_t i = 0; i < bytes; ++i) REQUIRE_EQUAL(all[i], rounds);
}

/// Two nodes write a page in every interval, as at the edge of two parts of a grid, and another thread of each all the
/// time; others read it. After some rounds nobody's writes fault any more.
void edge() {
  constexpr int rounds = 80, warm = 40;
  auto* all = reinterpret_cast<volatile std::uint8_t*>(make_region("edge", page, QUIRE_PLACE_NODE, nodes() - 1));
  const bool writes = me() < 2;
  const auto mine = static_cast<std::size_t>(me());
  std::atomic<bool> over = false;
  quire_counters before{}, after{};
  on_threads(2, [&](int thread) {
    if (thread == 1) {
      for (std::uint8_t value = 0; writes && !over.load(std::memory_order_relaxed); ++value) {
        for (std::size_t i = 2 + mine; i < page; i += 4) all[i] = value;
      }
      for (std::size_t i = 2 + mine; writes && i < page; i += 4) all[i] = 200;
      return;
    }
    for (int round = 1; round <= rounds; ++round) {
      for (std::size_t i = mine; writes && i < page; i += 4) all[i] = static_cast<std::uint8_t>(round);
      barrier();
      for (std::size_t i = 0; i < page; i += 4) {
        REQUIRE_EQUAL(all[i], round);
        if (nodes() > 1) REQUIRE_EQUAL(all[i + 1], round);
      }
      barrier();
      if (round == warm) before = counters();
    }
    after = counters();
    over = true;
  });
  barrier();
  for (std::size_t i = 2; i < page; i += 4) {
    REQUIRE_EQUAL(all[i], 200);
    if (nodes() > 1) REQUIRE_EQUAL(all[i + 1], 200);
  }
  if (g_scans || g_limited || nodes() != 2) return;
  REQUIRE(after.units_kept > 0);
  const auto faults = [](const quire_counters& c) { return c.local_faults + c.write_faults + c.read_faults; };
  REQUIRE(faults(after) - faults(before) <= 10);
}

/// Counters that lie together, each under a lock of its own.
void locks() {
  constexpr int threads = 3, times = 150, counters = 6;
  auto* volatile words = make_region("locks", page, QUIRE_PLACE_NODE, nodes() - 1);
  quire_mutex mutex[counters];
  for (auto& m : mutex) m = make_mutex();
  on_threads(threads, [&](int thread) {
    random_numbers draw(static_cast<std::uint64_t>(me() * 10 + thread));
    for (int i = 0; i < times * counters; ++i) {
      const auto which = (draw.below(counters) + static_cast<std::uint64_t>(i)) % counters;
      REQUIRE_OK(quire_mutex_lock(mutex[which]));
      words[which * 3] = words[which * 3] + 1;
      words[100 + which] = words[which * 3];
      REQUIRE_OK(quire_mutex_unlock(mutex[which]));
    }
  });
  barrier();
  word sum = 0;
  for (int c = 0; c < counters; ++c) {
    REQUIRE_EQUAL(words[c * 3], words[100 + c]);
    sum += words[c * 3];
  }
  REQUIRE_EQUAL(sum, nodes() * threads * times * counters);
}

/// Node 0 writes, and passes on by lock a; node 1 takes a, then b; the last node takes b and must see what node 0
/// wrote.
void chain_of_locks() {
  auto* volatile words = make_region("chain", 4 * page, QUIRE_PLACE_MODULO);
  const int last = nodes() - 1;
  const quire_mutex a = make_mutex(), b = make_mutex();
  constexpr std::size_t data = 0, flag_a = page / 8, flag_b = 2 * page / 8;
  const word before = words[data];  // everybody has a copy
  REQUIRE_EQUAL(before, 0);
  barrier();
  if (me() == 0) {
    REQUIRE_OK(quire_mutex_lock(a));
    words[data] = 77;
    words[flag_a] = 1;
    REQUIRE_OK(quire_mutex_unlock(a));
  }
  if (me() == 1 % nodes()) {
    for (bool seen = false; !seen;) {
      REQUIRE_OK(quire_mutex_lock(a));
      seen = words[flag_a] == 1;
      REQUIRE_OK(quire_mutex_unlock(a));
    }
    REQUIRE_OK(quire_mutex_lock(b));
    words[flag_b] = 1;
    REQUIRE_OK(quire_mutex_unlock(b));
  }
  if (me() == last) {
    for (bool seen = false; !seen;) {
      REQUIRE_OK(quire_mutex_lock(b));
      seen = words[flag_b] == 1;
      REQUIRE_OK(quire_mutex_unlock(b));
    }
    REQUIRE_EQUAL(words[data], 77);
  }
  barrier();
}

/// A value goes round all nodes many times, from each to the next by one kind of object.
void events_and_semaphores() {
  constexpr word rounds = 40;
  auto* volatile words = make_region("ring", 2 * page, QUIRE_PLACE_BLOCK);
  const int count = nodes();
  std::vector<quire_semaphore> turn(static_cast<std::size_t>(count));
  for (auto& s : turn) {
    s = shared_handle<quire_semaphore>([](quire_semaphore& made) { REQUIRE_OK(quire_semaphore_create(0, &made)); });
  }
  const auto done = shared_handle<quire_event>([](quire_event& made) { REQUIRE_OK(quire_event_create(&made)); });
  if (me() == 0) REQUIRE_OK(quire_semaphore_release(turn[0], 1));
  for (word round = 0; round < rounds; ++round) {
    REQUIRE_OK(quire_semaphore_acquire(turn[static_cast<std::size_t>(me())], -1));
    REQUIRE_EQUAL(words[5], round * static_cast<word>(count) + static_cast<word>(me()));
    words[5] = words[5] + 1;
    words[600 + static_cast<std::size_t>(me())] = round;
    REQUIRE_OK(quire_semaphore_release(turn[static_cast<std::size_t>((me() + 1) % count)], 1));
  }
  if (me() == count - 1) {
    words[7] = 4711;
    REQUIRE_OK(quire_event_set(done));
  }
  REQUIRE_OK(quire_event_wait(done, -1));
  REQUIRE_EQUAL(words[7], 4711);
  for (int n = 0; n < count; ++n) REQUIRE_EQUAL(words[600 + n], rounds - 1);
  barrier();
}

/// A queue under a mutex and a condition; what the elements point to is written outside.
void condition_variables() {
  constexpr word items = 120;
  struct queue {
    word taken, made;
    word slots[items];
  };
  auto* words = make_region("queue", 64 * page, QUIRE_PLACE_MODULO);
  auto* volatile q = reinterpret_cast<volatile queue*>(words);
  volatile word* const data = words + 8 * page / sizeof(word);
  const quire_mutex mutex = make_mutex();
  const auto ready = shared_handle<quire_condition>([](quire_condition& c) { REQUIRE_OK(quire_condition_create(&c)); });
  if (me() == 0) {
    for (word i = 0; i < items; ++i) {
      data[i * 40] = i * i + 1;
      REQUIRE_OK(quire_mutex_lock(mutex));
      q->slots[q->made] = i * 40;
      q->made = q->made + 1;
      REQUIRE_OK(quire_mutex_unlock(mutex));
      REQUIRE_OK(quire_condition_notify_one(ready));
    }
  }
  on_threads(2, [&](int) {
    for (;;) {
      REQUIRE_OK(quire_mutex_lock(mutex));
      while (q->taken == q->made && q->taken < items) REQUIRE_OK(quire_condition_wait(ready, mutex, -1));
      const word at = q->taken;
      if (at < items) q->taken = at + 1;
      const word where = at < items ? q->slots[at] : 0;
      if (at + 1 >= items) REQUIRE_OK(quire_condition_notify_all(ready));
      REQUIRE_OK(quire_mutex_unlock(mutex));
      if (at >= items) return;
      REQUIRE_EQUAL(data[where], at * at + 1);
    }
  });
  barrier();
}

/// Readers see all that writers before them wrote, together.
void reader_writer_locks() {
  constexpr int times = 60;
  auto* volatile words = make_region("rwlock", 3 * page, QUIRE_PLACE_BLOCK);
  const auto lock = shared_handle<quire_rwlock>([](quire_rwlock& l) { REQUIRE_OK(quire_rwlock_create(&l)); });
  const std::size_t last = 2 * page / sizeof(word) + 3;
  on_threads(2, [&](int thread) {
    for (int i = 0; i < times; ++i) {
      if ((i + thread + me()) % 3 == 0) {
        REQUIRE_OK(quire_rwlock_write_lock(lock, -1));
        words[0] = words[0] + 1;
        words[last] = words[last] + 1;
      } else {
        REQUIRE_OK(quire_rwlock_read_lock(lock, -1));
        REQUIRE_EQUAL(words[0], words[last]);
      }
      REQUIRE_OK(quire_rwlock_unlock(lock));
    }
  });
  barrier();
  REQUIRE_EQUAL(words[0], words[last]);
}

/// Threads of all nodes at a barrier of their own; each reads what its neighbour wrote before it.
void thread_barriers() {
  constexpr int threads = 2, rounds = 30;
  auto* volatile words = make_region("thread barrier", page, QUIRE_PLACE_NODE);
  const auto count = static_cast<std::uint32_t>(threads * nodes());
  const auto all = shared_handle<quire_barrier>([&](quire_barrier& b) { REQUIRE_OK(quire_barrier_create(count, &b)); });
  on_threads(threads, [&](int thread) {
    const auto mine = static_cast<std::uint32_t>(me() * threads + thread);
    for (word round = 1; round <= rounds; ++round) {
      words[mine] = round * 100 + mine;
      REQUIRE_OK(quire_barrier_wait(all));
      const auto next = (mine + 1) % count;
      REQUIRE_EQUAL(words[next], round * 100 + next);
      REQUIRE_OK(quire_barrier_wait(all));
    }
  });
  barrier();
}

volatile word* g_words = nullptr;
void* add_one(void* argument) {
  const auto at = reinterpret_cast<std::size_t>(argument);
  g_words[at] = g_words[at] + 1;
  return argument;
}

/// A started thread sees what its starter wrote, and who joins it sees what it wrote. So do those who look a name up.
void threads_and_names() {
  g_words = make_region("spawned", 2 * page, QUIRE_PLACE_BLOCK);
  barrier();  // the threads that come use g_words of their node
  if (me() == 0) {
    for (std::size_t i = 0; i < 24; ++i) {
      g_words[i * 40] = i;
      quire_remote_thread thread{};
      REQUIRE_OK(quire_spawn(static_cast<int>(i) % nodes(), add_one, reinterpret_cast<void*>(i * 40), &thread));
      REQUIRE_OK(quire_join(thread, nullptr));
      REQUIRE_EQUAL(g_words[i * 40], i + 1);
    }
    g_words[3] = 99;
    REQUIRE_OK(quire_publish("release.name", const_cast<word*>(g_words) + 3));
  }
  void* found = nullptr;
  REQUIRE_OK(quire_lookup("release.name", 20'000, &found));
  REQUIRE_EQUAL(*static_cast<word*>(found), 99);
  barrier();
}

/// Atomic operations are exact, and order what was written before them.
void atomics() {
  constexpr word times = 100;
  auto* words = make_region("atomics", 3 * page, QUIRE_PLACE_MODULO);
  volatile word* const data = words + page / sizeof(word);
  on_threads(2, [&](int) {
    for (word i = 0; i < times; ++i) {
      word before = 0;
      REQUIRE_OK(quire_fetch_add(&words[9], 1, &before));
      REQUIRE(words[9] > before);
    }
  });
  if (me() == 0) {
    for (word i = 0; i < 50; ++i) data[i] = i + 1000;
    word before = 0;
    REQUIRE_OK(quire_exchange(&words[0], 1, &before));
  }
  for (word seen = 0; seen == 0;) REQUIRE_OK(quire_fetch_add(&words[0], 0, &seen));
  for (word i = 0; i < 50; ++i) REQUIRE_EQUAL(data[i], i + 1000);
  barrier();
  REQUIRE_EQUAL(words[9], 2 * times * static_cast<word>(nodes()));
}

/// What others write is not seen before there is a reason, and while there is none, nothing moves.
void laziness() {
  constexpr word times = 20'000;
  auto* volatile words = make_region("lazy", 2 * page, QUIRE_PLACE_NODE);
  auto* volatile shared = words + page / sizeof(word);
  const auto mine = static_cast<std::size_t>(me());
  if (me() == 0) words[0] = 1;
  shared[mine] = 1;
  barrier();
  REQUIRE_EQUAL(words[0], 1);
  for (int n = 0; n < nodes(); ++n) REQUIRE_EQUAL(shared[n], 1);
  barrier();
  shared[mine] = 2;  // from here on each has its own copy to write
  const auto before = counters();
  for (word i = 2; i <= times; ++i) {
    shared[mine] = i;
    if (me() == 0) {
      words[0] = i;
    } else {
      REQUIRE_EQUAL(words[0], 1);
    }
  }
  const auto after = counters();
  REQUIRE_EQUAL(after.read_faults + after.write_faults, before.read_faults + before.write_faults);
  REQUIRE_EQUAL(after.invalidations, before.invalidations);
  barrier();
  REQUIRE_EQUAL(words[0], times);
  for (int n = 0; n < nodes(); ++n) REQUIRE_EQUAL(shared[n], times);
}

/// Who alone writes a unit becomes its home: then its writes cost no twin and no diff. Who touches it first can be so
/// at once.
void homes() {
  constexpr std::size_t units = 24;
  const std::size_t unit = unit_at_least(page), words_per_unit = unit / sizeof(word);
  const int writer = nodes() - 1;
  auto* volatile words = make_region("homes", units * unit, QUIRE_PLACE_NODE, 0);
  const auto round = [&](word value) {
    if (me() == writer) {
      for (std::size_t u = 0; u < units; ++u) words[u * words_per_unit + 1] = value;
    }
    barrier();
    for (std::size_t u = 0; u < units; ++u) REQUIRE_EQUAL(words[u * words_per_unit + 1], value);
    barrier();
  };
  round(1);
  round(2);
  const auto before = counters();
  for (word value = 3; value < 8; ++value) round(value);
  const auto after = counters();
  REQUIRE_EQUAL(after.diffs, before.diffs);
  if (!g_scans || me() == writer) REQUIRE_EQUAL(after.twins, before.twins);  // with scans who reads has one
  if (me() == 0 && writer != 0) REQUIRE(after.home_moves >= units);

  auto* volatile first = make_region("first touch", units * unit, QUIRE_PLACE_FIRST_TOUCH);
  const auto start = counters();
  for (std::size_t u = 0; u < units; ++u) {
    if (static_cast<int>(u) % nodes() == me()) first[u * words_per_unit] = u;
  }
  barrier();
  for (std::size_t u = 0; u < units; ++u) REQUIRE_EQUAL(first[u * words_per_unit], u);
  barrier();
  REQUIRE_EQUAL(counters().diffs, start.diffs);
}

/// Nodes take turns, twice, at writing alone for a while: each time the homes come to the writer, and nothing is sent
/// to a home any more.
void homes_come_back() {
  constexpr std::size_t units = 24;
  const std::size_t unit = unit_at_least(page), words_per_unit = unit / sizeof(word);
  auto* volatile words = make_region("homes back", units * unit, QUIRE_PLACE_NODE, 0);
  word value = 0;
  const auto moves_before = counters().home_moves;
  for (int turn = 1; turn <= 2 * nodes(); ++turn) {
    const bool writes = turn % nodes() == me();
    for (int round = 1; round <= 4; ++round) {
      const auto before = counters();
      ++value;
      for (std::size_t u = 0; writes && u < units; ++u) {
        words[u * words_per_unit + 1] = value;
        words[u * words_per_unit + 2] += 1;
      }
      barrier();
      if (writes && round == 4) REQUIRE_EQUAL(counters().diffs, before.diffs);
      for (std::size_t u = 0; u < units; ++u) {
        REQUIRE_EQUAL(words[u * words_per_unit + 1], value);
        REQUIRE_EQUAL(words[u * words_per_unit + 2], value);
      }
      barrier();
    }
  }
  if (nodes() > 1) REQUIRE(counters().home_moves - moves_before >= units);
}

/// In every epoch each word belongs to one thread, drawn anew; the others may read it in the next.
void random_epochs(const char* name, std::size_t unit, quire_placement placement, int epochs) {
  constexpr int threads = 2;
  constexpr std::size_t count = 6000;
  auto* volatile words = make_region(name, count * sizeof(word), placement, 0, unit);
  const auto writers = static_cast<std::uint64_t>(threads * nodes());
  std::vector<word> expected(count);
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const auto value_of = [&](std::size_t i) { return mix(i * 1000 + static_cast<word>(epoch)); };
    const auto owner_of = [&](std::size_t i) {  // in some epochs whole stretches, in some nobody
      const std::size_t grain = epoch % 3 == 0 ? 700 : epoch % 3 == 1 ? 1 : 9;
      return mix(i / grain * 77 + static_cast<word>(epoch)) % (writers + 1);
    };
    on_threads(threads, [&](int thread) {
      const auto mine = static_cast<std::uint64_t>(me() * threads + thread);
      for (std::size_t i = 0; i < count; ++i) {
        if (owner_of(i) != mine) continue;
        REQUIRE_EQUAL(words[i], expected[i]);
        words[i] = value_of(i);
      }
    });
    barrier();
    for (std::size_t i = 0; i < count; ++i) {
      if (owner_of(i) < writers) expected[i] = value_of(i);
      if ((mix(i) + static_cast<word>(epoch)) % 5 == 0) REQUIRE_EQUAL(words[i], expected[i]);
    }
    barrier();
  }
}

void run_all() {
  section("false sharing, blocks", [] { false_sharing("fs block", QUIRE_PLACE_BLOCK, page); });
  section("false sharing, one home, 16 KiB", [] { false_sharing("fs node", QUIRE_PLACE_NODE, 4 * page); });
  section("false sharing, first touch", [] { false_sharing("fs first", QUIRE_PLACE_FIRST_TOUCH, page); });
  section("the edge of two parts", edge);
  section("locks", locks);
  section("a chain of locks", chain_of_locks);
  section("events and semaphores", events_and_semaphores);
  section("conditions", condition_variables);
  section("reader-writer locks", reader_writer_locks);
  section("barriers of threads", thread_barriers);
  section("threads and names", threads_and_names);
  section("atomic operations", atomics);
  section("laziness", laziness);
  section("homes move", homes);
  section("homes come back", homes_come_back);
  section("random epochs", [] { random_epochs("random", page, QUIRE_PLACE_MODULO, 24); });
  section("random epochs, 64 KiB", [] { random_epochs("random large", 16 * page, QUIRE_PLACE_BLOCK, 16); });
}

/// More is written in an interval than there may be twins; many intervals without a barrier.
void run_long() {
  section("more written than twins", [] {
    constexpr std::size_t units = 200;
    auto* volatile words = make_region("twins", units * page, QUIRE_PLACE_NODE, 0);
    for (word round = 1; round <= 6; ++round) {
      for (std::size_t u = 0; u < units; ++u) {
        words[u * 512 + static_cast<std::size_t>(me())] = round;
        words[(u * 37 % units) * 512 + 64 + static_cast<std::size_t>(me())] = round;
      }
      barrier();
      for (std::size_t u = 0; u < units; ++u) {
        for (int n = 0; n < nodes(); ++n) {
          REQUIRE_EQUAL(words[u * 512 + static_cast<std::size_t>(n)], round);
          REQUIRE_EQUAL(words[u * 512 + 64 + static_cast<std::size_t>(n)], round);
        }
      }
      barrier();
    }
  });
  section("many locks and no barrier", [] {
    constexpr word times = 3'000;
    auto* volatile words = make_region("many intervals", 32 * page, QUIRE_PLACE_MODULO);
    const quire_mutex mutex = make_mutex();
    for (word i = 0; i < times; ++i) {
      REQUIRE_OK(quire_mutex_lock(mutex));
      const std::size_t at = words[0] % 32 * 512 + 1;
      words[0] = words[0] + 1;
      words[at] = words[at] + 1;
      REQUIRE_OK(quire_mutex_unlock(mutex));
    }
    barrier();
    word sum = 0;
    for (std::size_t u = 0; u < 32; ++u) sum += words[u * 512 + 1];
    REQUIRE_EQUAL(sum, times * nodes());
    REQUIRE_EQUAL(words[0], times * nodes());
  });
}

}  // namespace

int main(int argc, char** argv) {
  keep_nodes_apart();
  const bool is_long = argc > 1 && std::string_view(argv[1]) == "long";
  g_scans = argc > 1 && std::string_view(argv[1]) == "scan";
  g_limited = std::getenv("QUIRE_MEMORY_LIMIT") != nullptr;
  return node_main(is_long ? run_long : run_all);
}
