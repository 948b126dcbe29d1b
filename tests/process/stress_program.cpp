// SPDX-License-Identifier: BSD-3-Clause
// Random operations of many threads on several nodes for some seconds, with a checker for each kind of state:
// stress_program [SECONDS [SEED [THREADS]]]. The seed (0: by the clock) is printed; it fixes what each thread does,
// though not how the threads meet. THREADS of each node, at most 4. With CONTRACT_MINIPAGES what all share lies in a
// region with minipages, and each word is used by both of its addresses; under QUIRE_HEAP_VIEWS most blocks are
// minipages.
#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t threads = 4, most_nodes = 64, cells = 24, mailboxes = 32, atomics = 16, logs = 1024;

/// Under its lock: `check` belongs to `count`. Cells are of odd sizes, so that they share pages and lie across their
/// borders.
struct cell {
  quire_mutex mutex;
  std::uint64_t count, check;
  char rest[1501];
};

/// One word per thread, which only this thread writes; all others read it, and it never goes back.
struct log_words {
  std::uint64_t words[most_nodes * threads];
};

struct world {
  cell cells_[cells];
  quire_rwlock rwlock;
  std::uint64_t left, padding[700], right;  ///< equal under the lock
  std::uint64_t atomic_words[atomics];
  std::uint64_t mailbox[mailboxes];  ///< addresses of blocks, taken by whoever exchanges them
  log_words logs_[logs / (most_nodes * threads)];
  // What all have done, for the end.
  std::uint64_t cell_total, atomic_total, writes_total, operations;
};

struct totals {
  std::uint64_t cell = 0, atomic = 0, writes = 0, operations = 0;
};

/// `word` of the world, by one of its addresses.
std::uint64_t& use(std::uint64_t& word) {
  thread_local unsigned uses = 0;
  return *either(&word, ++uses);
}

class worker {
 public:
  worker(world& w, std::uint64_t seed, std::size_t thread)
      : w_(w),
        random_(mix(seed + static_cast<std::uint64_t>(quire_node()) * threads + thread)),
        self_(static_cast<std::size_t>(quire_node()) * threads + thread) {}

  totals run(double until) {
    while (now_seconds() < until) {
      for (int i = 0; i < 16; ++i, ++done_.operations) one();
    }
    return done_;
  }

 private:
  void one() {
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
        return locked_cell();
      case 3:
      case 4:
        return add();
      case 5:
      case 6:
        return block();
      case 7:
        return reader_or_writer();
      case 8:
      case 9:
      case 10:
        return log();
      case 11:
        return hint();
      default:
        return read_logs();
    }
  }

  void locked_cell() {
    cell& c = w_.cells_[random_.below(cells)];
    if (random_.below(4) == 0) {
      if (quire_mutex_try_lock(c.mutex) != QUIRE_OK) return;
    } else {
      REQUIRE_OK(quire_mutex_lock(c.mutex));
    }
    std::uint64_t &count = use(c.count), &check = use(c.check);
    REQUIRE_EQUAL(check, count == 0 ? 0 : mix(count));
    count = count + 1;
    check = mix(count);
    ++done_.cell;
    REQUIRE_OK(quire_mutex_unlock(c.mutex));
  }

  /// By Quire where the page is, or by the processor here.
  void add() {
    std::uint64_t& word = use(w_.atomic_words[random_.below(atomics)]);
    const std::uint64_t value = random_.below(1000);
    std::uint64_t before;
    if (random_.below(2) == 0) {
      REQUIRE_OK(quire_fetch_add(&word, value, &before));
    } else {
      std::atomic_ref(word).fetch_add(value);
    }
    done_.atomic += value;
  }

  void block() {
    const std::uint64_t bytes = 32 + random_.below(random_.below(8) == 0 ? 40'000 : 400), seed = random_.next();
    void* at = nullptr;
    REQUIRE_OK(quire_malloc(bytes, &at));
    auto* words = static_cast<std::uint64_t*>(at);
    words[0] = bytes;
    words[1] = seed;
    for (std::uint64_t i = 2; i < bytes / 8; i += 1 + bytes / 512) words[i] = seed ^ i;
    std::uint64_t other = 0;
    REQUIRE_OK(quire_exchange(&use(w_.mailbox[random_.below(mailboxes)]), reinterpret_cast<std::uint64_t>(at), &other));
    if (other != 0) check_and_free(reinterpret_cast<std::uint64_t*>(other));
  }

 public:
  static void check_and_free(std::uint64_t* words) {
    const std::uint64_t bytes = words[0], seed = words[1];
    for (std::uint64_t i = 2; i < bytes / 8; i += 1 + bytes / 512) REQUIRE_EQUAL(words[i], seed ^ i);
    REQUIRE_OK(quire_free(words));
  }

 private:
  void reader_or_writer() {
    const bool writes = random_.below(3) == 0;
    REQUIRE_OK(writes ? quire_rwlock_write_lock(w_.rwlock, -1) : quire_rwlock_read_lock(w_.rwlock, -1));
    std::uint64_t &left = use(w_.left), &right = use(w_.right);
    REQUIRE_EQUAL(left, right);
    if (writes) {
      left = left + 1;
      right = right + 1;
      ++done_.writes;
    }
    REQUIRE_OK(quire_rwlock_unlock(w_.rwlock));
  }

  log_words& any_log() { return w_.logs_[random_.below(std::size(w_.logs_))]; }

  void log() {
    const std::size_t which = random_.below(std::size(w_.logs_));
    std::atomic_ref mine(use(w_.logs_[which].words[self_]));
    REQUIRE_EQUAL(mine.load(), written_[which]);
    mine.store(++written_[which]);
  }

  void read_logs() {
    const std::size_t which = random_.below(std::size(w_.logs_)),
                      whose = random_.below(static_cast<std::size_t>(quire_nodes()) * threads);
    const std::uint64_t now = std::atomic_ref(use(w_.logs_[which].words[whose])).load();
    REQUIRE(now >= read_[which][whose]);
    read_[which][whose] = now;
  }

  void hint() {
    log_words& at = any_log();
    if (random_.below(2) == 0) return REQUIRE_OK(quire_push(&at, sizeof at));
    REQUIRE_OK(quire_prefetch(&at, sizeof at, static_cast<int>(random_.below(2))));
  }

  world& w_;
  random_numbers random_;
  std::size_t self_;
  totals done_;
  std::uint64_t written_[logs / (most_nodes * threads)] = {};
  std::uint64_t read_[logs / (most_nodes * threads)][most_nodes * threads] = {};
};

void sum_up(world& w) {
  std::uint64_t counted = 0, added = 0;
  for (const cell& c : w.cells_) counted += c.count;
  for (const std::uint64_t word : w.atomic_words) added += word;
  REQUIRE_EQUAL(counted, w.cell_total);
  REQUIRE_EQUAL(added, w.atomic_total);
  REQUIRE_EQUAL(w.left, w.writes_total);
  REQUIRE_EQUAL(w.right, w.writes_total);
  if (quire_node() != 0) return;
  for (const std::uint64_t address : w.mailbox)
    if (address != 0) worker::check_and_free(reinterpret_cast<std::uint64_t*>(address));
  std::printf("%" PRIu64 " operations, all as they should be\n", w.operations);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
  std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (seed == 0) seed = static_cast<std::uint64_t>(::time(nullptr));
  const int here = argc > 3 ? std::atoi(argv[3]) : static_cast<int>(threads);
  REQUIRE(here >= 1 && here <= static_cast<int>(threads));
  return node_main([&] {
    REQUIRE(quire_nodes() <= static_cast<int>(most_nodes));
    REQUIRE_OK(quire_broadcast(&seed, sizeof seed, 0));
    if (quire_node() == 0) std::printf("seed %" PRIu64 "\n", seed);
    auto& w = minipages_given() != 0
                  ? *shared_region<world>("world", sizeof(world), region_options(4096, QUIRE_PLACE_MODULO))
                  : *shared_object<world>("world");
    if (quire_node() == 0) {
      for (cell& c : w.cells_) REQUIRE_OK(quire_mutex_create(&c.mutex));
      REQUIRE_OK(quire_rwlock_create(&w.rwlock));
    }
    barrier();
    const double until = now_seconds() + seconds;
    on_threads(here, [&](int thread) {
      const auto done = std::make_unique<worker>(w, seed, static_cast<std::size_t>(thread))->run(until);
      std::uint64_t before;
      REQUIRE_OK(quire_fetch_add(&w.cell_total, done.cell, &before));
      REQUIRE_OK(quire_fetch_add(&w.atomic_total, done.atomic, &before));
      REQUIRE_OK(quire_fetch_add(&w.writes_total, done.writes, &before));
      REQUIRE_OK(quire_fetch_add(&w.operations, done.operations, &before));
    });
    barrier();
    sum_up(w);
  });
}
