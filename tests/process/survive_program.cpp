// SPDX-License-Identifier: BSD-3-Clause
// A node for survive_test: survive_program WHAT [DEATHS]. All nodes print their pid and do what WHAT says until they
// have heard of as many deaths as DEATHS says (1), which the test brings about; then they see to it that everything
// works among the survivors, and end well. The test kills the node whose number TEST_VICTIM is. With CONTRACT_MINIPAGES
// the words lie in minipages, and are used by both addresses.
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <map>

#include "node.hpp"

using namespace quire::test;

namespace {
constexpr std::size_t page_words = 512, pages = 96;

struct handles {
  quire_mutex mutex;
  quire_rwlock rwlock;
  quire_event event;
  quire_semaphore semaphore;
  quire_condition condition;
  quire_barrier barrier;
};

std::atomic<int> g_heard{0};
std::atomic<std::uint64_t> g_dead{0};
int g_deaths = 1;
int victim = 1;
bool is_victim() { return quire_node() == victim; }
bool over() { return g_heard.load() >= g_deaths; }

void on_failure(int node, void* context) {
  REQUIRE(context == &g_heard);
  REQUIRE(quire_alive(node) == 0);
  std::printf("node %d hears of %d\n", quire_node(), node);
  g_dead |= std::uint64_t{1} << node;
  ++g_heard;
}

thread_local sigjmp_buf t_back;
thread_local volatile sig_atomic_t t_expects = 0;
thread_local void* volatile t_address = nullptr;

void on_bus(int signal, siginfo_t* info, void*) {
  if (t_expects == 0) {
    ::signal(signal, SIG_DFL);
    return;
  }
  t_expects = 0;
  t_address = info->si_addr;
  ::siglongjmp(t_back, 1);
}

/// f(word), unless its unit is lost: then the signal has told its address. By its natural address it is lost with any
/// unit of the page.
template <class F>
bool use(std::uint64_t* word, F f) {
  if (sigsetjmp(t_back, 1) != 0) {
    REQUIRE(t_address == word);
    return false;
  }
  t_expects = 1;
  f(*static_cast<volatile std::uint64_t*>(word));
  t_expects = 0;
  return true;
}

std::uint64_t* g_words = nullptr;  ///< pages, the homes of which take turns
handles g_made{};                  ///< objects of this node

/// All nodes have a copy of what node `maker` has made.
handles objects_of(int maker) {
  handles h{};
  if (quire_node() == maker) {
    REQUIRE_OK(quire_mutex_create(&h.mutex));
    REQUIRE_OK(quire_rwlock_create(&h.rwlock));
    REQUIRE_OK(quire_event_create(&h.event));
    REQUIRE_OK(quire_semaphore_create(0, &h.semaphore));
    REQUIRE_OK(quire_condition_create(&h.condition));
    REQUIRE_OK(quire_barrier_create(static_cast<std::uint32_t>(quire_nodes()), &h.barrier));
  }
  REQUIRE_OK(quire_broadcast(&h, sizeof h, maker));
  return h;
}
int other_than(int node) { return (node + 1) % quire_nodes(); }
void wait_for_death() {
  for (const double until = now_seconds() + 50; !over(); sleep_ms(1))
    if (now_seconds() > until) fail(__FILE__, __LINE__, "no death was heard of");
}
void be_victim() {
  for (;;) sleep_ms(1000);
}
void ready() {
  barrier();
  std::printf("node %d is %d\n", quire_node(), ::getpid());
}

// ---- What the nodes are at ----

void idle() {
  ready();
  wait_for_death();
}
/// Reads, writes and atomic operations all over the pages, those of all homes.
void compute() {
  ready();
  on_threads(2, [](int t) {
    random_numbers draw(static_cast<std::uint64_t>(quire_node() * 16 + t + 1));
    for (const double until = now_seconds() + 50; !over();) {
      if (now_seconds() > until) fail(__FILE__, __LINE__, "no death was heard of");
      for (int i = 0; i < 200; ++i) {
        std::uint64_t* const place =
            g_words + draw.below(pages) * page_words + static_cast<unsigned>(quire_node() * 4 + t);
        std::uint64_t *const word = either(place, draw.next()), *const far =
                                                                    either(place + page_words - 16, draw.next());
        std::uint64_t before = 0;
        switch (draw.below(4)) {
          case 0:
            (void)use(word, [](volatile std::uint64_t& w) { w = w + 1; });
            break;
          case 1:
            (void)use(word, [&](volatile std::uint64_t& w) { before = w; });
            break;
          case 2: {
            const quire_status why = quire_fetch_add(word, 1, &before);
            REQUIRE(why == QUIRE_OK || why == QUIRE_LOST || why == QUIRE_PEER_LOST);
            break;
          }
          default:
            (void)use(far, [&](volatile std::uint64_t& w) { before = w; });
        }
      }
    }
  });
}
void private_loop() {
  ready();
  while (!over()) asm volatile("");
}
void at_barrier() {
  ready();
  if (is_victim()) be_victim();
  barrier();
  wait_for_death();
}
/// Rounds of barriers and sums: all survivors see the same, whenever it happens.
void rounds() {
  ready();
  for (std::int64_t round = 1;; ++round) {
    std::int64_t values[3] = {round, over() ? 1 : 0, 1};
    REQUIRE_OK(quire_reduce_i64(values, 3, QUIRE_MIN));
    REQUIRE_EQUAL(values[0], round);
    if (values[1] != 0) return;
    barrier();
  }
}
/// The same of two threads of each node, with arrays between: whole, or lost. Those of several parts end together.
void group_rounds() {
  quire_group group{};
  REQUIRE_OK(quire_group_create(2, &group));
  ready();
  on_threads(2, [&](int place) {
    REQUIRE_OK(quire_group_join(group, static_cast<std::uint32_t>(place)));
    std::vector<double> array(300'000);
    for (std::int64_t round = 1;; ++round) {
      std::int64_t values[2] = {round, over() ? 1 : 0};
      REQUIRE_OK(quire_group_reduce_i64(group, values, 2, QUIRE_MIN));
      REQUIRE_EQUAL(values[0], round);
      if (values[1] != 0) return;
      std::fill(array.begin(), array.end(), 1.0);
      const quire_status got = quire_group_reduce_f64(group, array.data(), array.size(), QUIRE_SUM);
      REQUIRE(got == QUIRE_OK || got == QUIRE_LOST);
      for (std::size_t i = 0; got == QUIRE_OK && i < array.size(); ++i)
        REQUIRE(array[i] >= 2.0 * quire_nodes_alive() || array[i] == array[0]);
      REQUIRE_OK(quire_group_wait(group));
    }
  });
}
void in_lock() {
  const handles h = objects_of(other_than(victim));
  if (is_victim()) REQUIRE_OK(quire_mutex_lock(h.mutex));
  ready();
  if (is_victim()) be_victim();
  const quire_status got = quire_mutex_lock(h.mutex);
  REQUIRE(got == QUIRE_OK || got == QUIRE_OWNER_DIED);
  std::int64_t told = got == QUIRE_OWNER_DIED ? 1 : 0;
  REQUIRE_OK(quire_mutex_unlock(h.mutex));
  REQUIRE_OK(quire_reduce_i64(&told, 1, QUIRE_SUM));
  REQUIRE_EQUAL(told, 1);  // the next holder, and nobody else
  wait_for_death();
}
/// The node that made the mutex dies; those who have it and wait for it are others.
void home_of_lock() {
  const handles h = objects_of(victim);
  const int holder = other_than(victim);
  if (quire_node() == holder) REQUIRE_OK(quire_mutex_lock(h.mutex));
  ready();
  if (is_victim()) be_victim();
  if (quire_node() == holder) {
    wait_for_death();
    sleep_ms(50);
    REQUIRE_OK(quire_mutex_unlock(h.mutex));
    REQUIRE_OK(quire_mutex_lock(h.mutex));
  } else {
    REQUIRE_OK(quire_mutex_lock(h.mutex));
  }
  REQUIRE_OK(quire_mutex_unlock(h.mutex));
  wait_for_death();
}
void waiting_for_lock() {
  const handles h = objects_of(other_than(victim));
  const int holder = other_than(victim);
  if (quire_node() == holder) REQUIRE_OK(quire_mutex_lock(h.mutex));
  ready();
  if (is_victim()) {
    const quire_status never = quire_mutex_lock(h.mutex);
    fail(__FILE__, __LINE__, "a mutex that another node holds was locked: %d", never);
  }
  if (quire_node() == holder) {
    wait_for_death();
    REQUIRE_OK(quire_mutex_unlock(h.mutex));
  }
  REQUIRE_OK(quire_mutex_lock(h.mutex));
  REQUIRE_OK(quire_mutex_unlock(h.mutex));
  wait_for_death();
}
void in_rwlock() {
  const handles h = objects_of(other_than(victim));
  if (is_victim()) REQUIRE_OK(quire_rwlock_write_lock(h.rwlock, -1));
  ready();
  if (is_victim()) be_victim();
  const quire_status got = quire_rwlock_read_lock(h.rwlock, -1);
  REQUIRE(got == QUIRE_OK || got == QUIRE_OWNER_DIED);
  REQUIRE_OK(quire_rwlock_unlock(h.rwlock));
  std::int64_t told = got == QUIRE_OWNER_DIED ? 1 : 0;
  REQUIRE_OK(quire_reduce_i64(&told, 1, QUIRE_SUM));
  REQUIRE_EQUAL(told, quire_nodes() - 1);  // all, as there was no writer since
  wait_for_death();
}
/// Everything that waits for what a dead node kept ends, and says so.
void objects() {
  const handles h = objects_of(victim);
  handles alive = objects_of(other_than(victim));
  REQUIRE_OK(quire_mutex_lock(g_made.mutex));
  ready();
  if (is_victim()) be_victim();
  on_threads(8, [&](int t) {
    void* found = nullptr;
    switch (t) {
      case 0:
        REQUIRE_STATUS(quire_event_wait(h.event, -1), QUIRE_LOST);
        return;
      case 1:
        REQUIRE_STATUS(quire_semaphore_acquire(h.semaphore, 60'000), QUIRE_LOST);
        return;
      case 2: {
        quire_mutex own{};
        REQUIRE_OK(quire_mutex_create(&own));
        REQUIRE_OK(quire_mutex_lock(own));
        REQUIRE_STATUS(quire_condition_wait(h.condition, own, -1), QUIRE_LOST);
        REQUIRE_OK(quire_mutex_unlock(own));
        return;
      }
      case 3:
        REQUIRE_STATUS(quire_barrier_wait(h.barrier), QUIRE_LOST);
        return;
      case 4:
        REQUIRE_STATUS(quire_barrier_wait(alive.barrier), QUIRE_LOST);
        return;  // nobody knows who was to come
      case 5:
        REQUIRE_STATUS(quire_semaphore_acquire(alive.semaphore, 200), QUIRE_TIMED_OUT);
        return;
      case 6:
        REQUIRE_STATUS(quire_lookup("what nobody publishes", victim == 0 ? -1 : 200, &found),
                       victim == 0 ? QUIRE_LOST : QUIRE_TIMED_OUT);
        return;
      default: {
        quire_remote_thread thread{};
        const quire_status why = quire_spawn(
            victim,
            [](void*) -> void* {
              be_victim();
              return nullptr;
            },
            nullptr, &thread);
        REQUIRE(why == QUIRE_OK || why == QUIRE_LOST);
        if (why == QUIRE_OK) REQUIRE_STATUS(quire_join(thread, nullptr), QUIRE_LOST);
      }
    }
  });
  wait_for_death();
  REQUIRE_STATUS(quire_event_set(h.event), QUIRE_LOST);
  REQUIRE_STATUS(quire_rwlock_read_lock(h.rwlock, -1), QUIRE_LOST);
  REQUIRE_OK(quire_mutex_unlock(g_made.mutex));
  barrier();  // before, nobody was to get anything of the semaphore
  // What others keep goes on.
  if (quire_node() == other_than(victim))
    REQUIRE_OK(quire_semaphore_release(alive.semaphore, static_cast<std::uint64_t>(quire_nodes())));
  REQUIRE_OK(quire_semaphore_acquire(alive.semaphore, 20'000));
  quire_remote_thread thread{};
  REQUIRE_STATUS(quire_spawn(
                     victim, [](void* p) { return p; }, nullptr, &thread),
                 QUIRE_LOST);
}
/// A barrier of all nodes that has been met before goes on without the dead.
void counted_barrier() {
  const handles h = objects_of(other_than(victim));
  REQUIRE_OK(quire_barrier_wait(h.barrier));
  ready();
  if (is_victim()) be_victim();
  for (int i = 0; i < 100; ++i) REQUIRE_OK(quire_barrier_wait(h.barrier));
  wait_for_death();
}
/// A thread waits for the end of another node in a fault: the victim keeps the unit, pinned, and dies with it.
void in_fault() {
  std::uint64_t* const word = fine(g_words + page_words * 5);
  if (is_victim()) {
    REQUIRE_OK(quire_pin(word, 8, -1, nullptr));
    *word = 1;
  }
  ready();
  if (is_victim()) be_victim();
  on_threads(3, [&](int t) {
    std::uint64_t value = 0;
    if (t == 0) REQUIRE(!use(word, [&](volatile std::uint64_t& w) { value = w; }));
    if (t == 1) {  // of an operation that a dead manager had nobody knows what became
      const quire_status why = quire_fetch_add(word, 1, &value);
      REQUIRE(why == QUIRE_LOST || (why == QUIRE_PEER_LOST && victim == 5 % quire_nodes()));
    }
    if (t == 2) REQUIRE_STATUS(quire_pin(word, 8, -1, nullptr), QUIRE_LOST);
  });
  wait_for_death();
  REQUIRE_STATUS(quire_fetch_add(word, 1, nullptr), QUIRE_LOST);
}

/// What nodes know to be acknowledged, in a file that outlasts them: TEST_LEDGER, some numbers a node.
class ledger {
 public:
  enum column : unsigned { rounds, rounds_of_all, seen, columns };
  ledger() : file_(::open(std::getenv("TEST_LEDGER"), O_RDWR | O_CLOEXEC)) { REQUIRE(file_ >= 0); }
  ~ledger() { ::close(file_); }
  void note(column c, std::uint64_t value) const {
    REQUIRE(::pwrite(file_, &value, sizeof value, at(quire_node(), c)) == sizeof value);
  }
  [[nodiscard]] std::uint64_t of(int node, column c) const {
    std::uint64_t value = 0;
    REQUIRE(::pread(file_, &value, sizeof value, at(node, c)) == sizeof value);
    return value;
  }

 private:
  static off_t at(int node, column c) { return (node * columns + c) * 8; }
  int file_;
};

/// With content on two nodes: writes before a round that another node knows to be over, and those that it has seen
/// under a lock, outlast who wrote them.
void acknowledged() {
  constexpr std::uint64_t a_round = 8;
  const auto page_of = [](int node, std::uint64_t i) {
    return mix(static_cast<std::uint64_t>(node) * 1'000'003 + i) % (pages - 1);
  };
  const auto word_of = [](std::size_t page, int node) -> volatile std::uint64_t& {
    return g_words[page * page_words + 300 + static_cast<unsigned>(node)];
  };
  const ledger book;
  struct counter {
    std::uint64_t value, last;
  };
  auto* const shared = reinterpret_cast<volatile counter*>(g_words + (pages - 1) * page_words + 128);
  const handles h = objects_of(other_than(victim));
  const auto lock = [&] {
    const quire_status got = quire_mutex_lock(h.mutex);
    REQUIRE(got == QUIRE_OK || got == QUIRE_OWNER_DIED);
  };
  const auto self = static_cast<std::uint64_t>(quire_node());
  std::uint64_t done = 0;
  ready();
  for (std::int64_t all_over = 0; all_over == 0; ++done) {
    lock();
    if (shared->last != self + 1) book.note(ledger::seen, shared->value);
    shared->value = shared->value + 1;
    shared->last = self + 1;
    REQUIRE_OK(quire_mutex_unlock(h.mutex));
    for (std::uint64_t i = done * a_round; i < (done + 1) * a_round; ++i) {
      auto& word = word_of(page_of(quire_node(), i), quire_node());
      word = word + 1;
    }
    std::int64_t sums[2] = {over() ? 1 : 0, 1};
    REQUIRE_OK(quire_reduce_i64(sums, 2, QUIRE_SUM));
    all_over = sums[0] == sums[1] ? 1 : 0;
    book.note(ledger::rounds, done + 1);
    if (sums[1] == quire_nodes()) book.note(ledger::rounds_of_all, done + 1);
  }
  barrier();
  for (int node = 0; node < quire_nodes(); ++node) {
    // Of the dead what another node has learned of. The node itself may have come out of a round before anybody knows.
    const std::uint64_t known = book.of(node, ledger::rounds);
    std::uint64_t safe = quire_alive(node) != 0 ? known : 0;
    for (int other = 0; other < quire_nodes(); ++other)
      if (other != node) safe = std::max(safe, book.of(other, ledger::rounds_of_all));
    std::map<std::size_t, std::uint64_t> least, most;
    for (std::uint64_t i = 0; i < (std::max(safe, known) + 1) * a_round; ++i) {
      ++most[page_of(node, i)];
      if (i < safe * a_round) ++least[page_of(node, i)];
    }
    for (std::size_t page = 0; page + 1 < pages; ++page) {
      const std::uint64_t there = word_of(page, node);
      REQUIRE(there >= least[page]);
      REQUIRE(there <= (quire_alive(node) != 0 ? least[page] : most[page]));
    }
    lock();
    REQUIRE(shared->value >= book.of(node, ledger::seen));
    REQUIRE_OK(quire_mutex_unlock(h.mutex));
  }
  barrier();
}

/// Nodes allocate objects of ever new sizes, so that all nodes have to be told where those lie; a dead one is not
/// waited for.
void allocating() {
  quire_region_options about = region_options(4096, QUIRE_PLACE_BLOCK);
  about.unit_bytes = about.minipage_bytes = 0;
  about.heap = 1;
  about.views = 16;
  quire_region heap{};
  if (quire_node() == other_than(victim)) REQUIRE_OK(quire_region_create(&about, std::uint64_t{1} << 30, &heap));
  REQUIRE_OK(quire_broadcast(&heap, sizeof heap, other_than(victim)));
  ready();
  on_threads(2, [&](int t) {
    random_numbers draw(static_cast<std::uint64_t>(quire_node() * 16 + t + 1));
    for (const double until = now_seconds() + 50; !over(); sleep_ms(1)) {
      if (now_seconds() > until) fail(__FILE__, __LINE__, "no death was heard of");
      if (draw.below(20) == 0) REQUIRE_OK(quire_region_set_chunk(heap, static_cast<unsigned>(1 + draw.below(7))));
      for (int i = 0; i < 20; ++i) {
        void* at = nullptr;
        REQUIRE_OK(quire_region_malloc(heap, 0, 1 + draw.below(2048), &at));
        if (i == 0) (void)use(static_cast<std::uint64_t*>(at), [](volatile std::uint64_t& w) { w = 1; });
        if (draw.below(2) == 0) REQUIRE_OK(quire_free(at));
      }
    }
  });
  wait_for_death();
  REQUIRE_OK(quire_region_set_chunk(heap, 11));  // that nobody has had
  for (int maker = 0; maker < quire_nodes(); ++maker) {
    if (quire_alive(maker) == 0) continue;
    void* at = nullptr;
    if (quire_node() == maker) {
      REQUIRE_OK(quire_region_malloc(heap, 0, 168, &at));
      *static_cast<std::uint64_t*>(at) = 5;
    }
    REQUIRE_OK(quire_broadcast(&at, sizeof at, maker));
    barrier();
    REQUIRE_EQUAL(*static_cast<volatile std::uint64_t*>(at), 5);
    barrier();
    if (quire_node() == maker) REQUIRE_OK(quire_free(at));
  }
}

/// Each node makes and destroys regions. While node 0 lives all of them go; what was under way when it dies is gone on
/// all nodes, or on none.
void destroying() {
  ready();
  quire_region unsure{};
  for (const double until = now_seconds() + 50; !over() && unsure.id == 0;) {
    if (now_seconds() > until) fail(__FILE__, __LINE__, "no death was heard of");
    const quire_region_options about = region_options(4096, QUIRE_PLACE_MODULO);
    quire_region mine{};
    void* at = nullptr;
    const quire_status made = quire_region_create(&about, 16 * about.unit_bytes, &mine);
    if (made != QUIRE_OK) {
      REQUIRE(victim == 0 && made == QUIRE_LOST);
      break;
    }
    REQUIRE_OK(quire_region_range(mine, &at, nullptr));
    for (std::size_t i = 0; i < 16; ++i) {
      (void)use(static_cast<std::uint64_t*>(at) + i * about.unit_bytes / 8, [](volatile std::uint64_t& w) { w = 1; });
    }
    const quire_status gone = quire_region_destroy(mine);
    if (gone == QUIRE_OK) {
      REQUIRE_STATUS(quire_region_range(mine, nullptr, nullptr), QUIRE_NOT_FOUND);
      continue;
    }
    REQUIRE(victim == 0 && gone == QUIRE_LOST);
    unsure = mine;
  }
  wait_for_death();
  for (int maker = 0; maker < quire_nodes(); ++maker) {
    if (quire_alive(maker) == 0) continue;
    quire_region region = unsure;
    REQUIRE_OK(quire_broadcast(&region, sizeof region, maker));
    if (region.id == 0) continue;
    std::int64_t least = 0, most = 1;
    for (const double until = now_seconds() + 10; least != most;) {  // one node may hear of it a moment later
      REQUIRE(now_seconds() < until);
      least = most = quire_region_range(region, nullptr, nullptr) == QUIRE_OK ? 1 : 0;
      REQUIRE_OK(quire_reduce_i64(&least, 1, QUIRE_MIN));
      REQUIRE_OK(quire_reduce_i64(&most, 1, QUIRE_MAX));
    }
  }
}

// ---- What must be true afterwards ----

void check_survivors() {
  const int alive = quire_nodes_alive();
  REQUIRE_EQUAL(alive, quire_nodes() - g_deaths);
  barrier();
  std::int64_t count = 1;
  REQUIRE_OK(quire_reduce_i64(&count, 1, QUIRE_SUM));
  REQUIRE_EQUAL(count, alive);
  // Each page is whole, or lost for all; what survivors write the others read.
  std::int64_t lost_bits[2] = {0, 0};
  for (std::size_t page = 0; page < pages; ++page) {
    std::uint64_t value = 0;
    const bool there = use(g_words + page * page_words, [&](volatile std::uint64_t& w) { value = w; });
    if (!there) lost_bits[page / 48] |= std::int64_t{1} << page % 48;
  }
  std::int64_t least[2] = {lost_bits[0], lost_bits[1]}, most[2] = {lost_bits[0], lost_bits[1]};
  REQUIRE_OK(quire_reduce_i64(least, 2, QUIRE_MIN));
  REQUIRE_OK(quire_reduce_i64(most, 2, QUIRE_MAX));
  REQUIRE(least[0] == most[0] && least[1] == most[1]);
  if (std::getenv("TEST_LEDGER") != nullptr) REQUIRE(most[0] == 0 && most[1] == 0);  // content is on two nodes
  const auto lost = [&](std::size_t page) { return (lost_bits[page / 48] >> page % 48 & 1) != 0; };
  for (std::size_t page = 0; page < pages; ++page) {
    std::uint64_t* const word = g_words + page * page_words + 256 + static_cast<unsigned>(quire_node());
    if (!lost(page)) *word = mix(page * 64 + static_cast<unsigned>(quire_node()));
  }
  barrier();
  for (std::size_t page = 0; page < pages; ++page)
    for (unsigned n = 0; n < static_cast<unsigned>(quire_nodes()) && !lost(page); ++n)
      if (quire_alive(static_cast<int>(n)) != 0)
        REQUIRE_EQUAL(g_words[page * page_words + 256 + n], mix(page * 64 + n));
  // New memory and new objects.
  const int first = __builtin_ctzll(~g_dead.load());
  std::uint64_t* sum = nullptr;
  quire_mutex mutex{};
  if (quire_node() == first) {
    void* at = nullptr;
    REQUIRE_OK(quire_calloc(2, 8, &at));
    sum = static_cast<std::uint64_t*>(at);
    REQUIRE_OK(quire_mutex_create(&mutex));
  }
  REQUIRE_OK(quire_broadcast(&sum, sizeof sum, first));
  REQUIRE_OK(quire_broadcast(&mutex, sizeof mutex, first));
  for (int i = 0; i < 50; ++i) {
    REQUIRE_OK(quire_mutex_lock(mutex));
    ++*sum;
    REQUIRE_OK(quire_mutex_unlock(mutex));
    REQUIRE_OK(quire_fetch_add(sum + 1, 1, nullptr));
  }
  barrier();
  REQUIRE(sum[0] == 50u * static_cast<unsigned>(alive) && sum[1] == 50u * static_cast<unsigned>(alive));
  std::uint64_t value = 0;
  REQUIRE_STATUS(quire_broadcast(&value, sizeof value, __builtin_ctzll(g_dead.load())), QUIRE_LOST);
  std::printf("node %d ends well, %d pages lost\n", quire_node(),
              __builtin_popcountll(static_cast<std::uint64_t>(lost_bits[0])) +
                  __builtin_popcountll(static_cast<std::uint64_t>(lost_bits[1])));
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> ways = {{"idle", idle},
                                                  {"compute", compute},
                                                  {"private_loop", private_loop},
                                                  {"at_barrier", at_barrier},
                                                  {"rounds", rounds},
                                                  {"group_rounds", group_rounds},
                                                  {"in_lock", in_lock},
                                                  {"home_of_lock", home_of_lock},
                                                  {"waiting_for_lock", waiting_for_lock},
                                                  {"in_rwlock", in_rwlock},
                                                  {"objects", objects},
                                                  {"counted_barrier", counted_barrier},
                                                  {"in_fault", in_fault},
                                                  {"destroying", destroying},
                                                  {"allocating", allocating},
                                                  {"acknowledged", acknowledged}};
  if (argc > 2) g_deaths = std::atoi(argv[2]);
  if (const char* const who = std::getenv("TEST_VICTIM"); who != nullptr) victim = std::atoi(who);
  return node_main([&] {
    struct sigaction action {};
    action.sa_sigaction = on_bus;
    action.sa_flags = SA_SIGINFO;
    REQUIRE(::sigaction(SIGBUS, &action, nullptr) == 0);
    REQUIRE_OK(quire_on_failure(on_failure, &g_heard));
    quire_region_options about = region_options(4096, QUIRE_PLACE_MODULO);
    if (std::getenv("TEST_RELEASE") != nullptr) about.consistency = QUIRE_RELEASE;
    g_words = shared_region<std::uint64_t>("words", pages * page_words * 8, about);
    REQUIRE_OK(quire_mutex_create(&g_made.mutex));
    ways.at(argc > 1 ? argv[1] : "idle")();
    check_survivors();
  });
}
