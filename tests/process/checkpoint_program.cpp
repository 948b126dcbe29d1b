// SPDX-License-Identifier: BSD-3-Clause
// A computation that writes checkpoints, and goes on from them: checkpoint_program DIRECTORY STEPS EVERY [STOP]. Its
// result does not depend on the number of nodes, nor on how often it was ended and started again; the last run compares
// all of it with a serial computation. With STOP it ends after that step, as if its time were up. With `errors` in the
// place of STEPS: what must be refused.
//
// With CHECKPOINT_TRANSACTIONS in the first job transactions go on while checkpoints are made: each is in a checkpoint
// as a whole, or not at all. With CHECKPOINT_MINIPAGES in the first job all of them have regions with units below a
// page, too, which threads use by both views.
//
// CHECKPOINT_FAIL=NODE:CALL:N:ERRNO has one node fail, or wait (src/os/injection.hpp); a checkpoint that fails is tried
// again, or, with CHECKPOINT_TOLERATE, done without.
#include <atomic>
#include <chrono>
#include <memory>

#include <quire/transaction.hpp>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t cells = 60'000;
constexpr std::uint64_t turns = 12;  ///< of the counter, each step
constexpr std::uint64_t most_steps = 1000, lifetime = 5;
constexpr std::size_t far = 8 << 20;

struct block {
  block* older;  ///< a pointer within shared memory
  std::uint64_t step, bytes;
};

/// Units below a page: an array of them, and a heap.
struct fine_state {
  static constexpr std::size_t count = 3000, bytes = 272, words = bytes / 8, a_page = 4096 / bytes;
  std::uint64_t* cells;  ///< in the natural view; null: there are none
  quire_region heap;
  std::uint64_t* objects[most_steps];

  [[nodiscard]] std::uint64_t* natural(std::size_t i) const { return cells + i / a_page * 512 + i % a_page * words; }
  [[nodiscard]] std::uint64_t* alone(std::size_t i) const {
    void* at = nullptr;
    REQUIRE_OK(quire_view(natural(i), QUIRE_FINE, &at));
    return static_cast<std::uint64_t*>(at);
  }
  /// Words far from each other, which are the same but for a moment: by the views of their minipages, or the natural
  /// one; neighbours on both pages.
  [[nodiscard]] std::pair<volatile std::uint64_t*, volatile std::uint64_t*> noise(int which) const {
    return which == 0 ? std::pair{alone(7) + 20, alone(2900) + 20} : std::pair{natural(8) + 21, natural(2901) + 21};
  }
};

/// Memory that transactions write: accounts, each in a unit of its own, and a journal.
struct bank {
  static constexpr std::size_t accounts = 24;
  struct account {
    std::int64_t balance;
    std::uint64_t changes;
  };
  std::byte* base;  ///< null: there is none
  [[nodiscard]] account& at(std::size_t i) const { return *reinterpret_cast<account*>(base + i * 4096); }
  [[nodiscard]] std::uint64_t& transfers() const { return *reinterpret_cast<std::uint64_t*>(base + accounts * 4096); }
  [[nodiscard]] std::uint64_t& steps() const { return *reinterpret_cast<std::uint64_t*>(base + (accounts + 1) * 4096); }

  void transfer(std::uint64_t& draw) const {
    draw = mix(draw + 1);
    const std::size_t from = draw % accounts, to = (from + 1 + draw / accounts % (accounts - 1)) % accounts;
    const auto amount = static_cast<std::int64_t>(draw % 1000);
    quire::atomically([&] {
      at(from).balance -= amount;
      ++at(from).changes;
      at(to).balance += amount;
      ++at(to).changes;
      ++transfers();
    });
  }
  void check(std::uint64_t step) const {
    quire::atomically([&] {
      std::int64_t sum = 0;
      std::uint64_t changes = 0;
      for (std::size_t i = 0; i < accounts; ++i) {
        sum += at(i).balance;
        changes += at(i).changes;
      }
      REQUIRE_EQUAL(sum, 0);
      REQUIRE_EQUAL(changes, 2 * transfers());
      REQUIRE_EQUAL(steps(), step);
    });
  }
};

/// A thread that makes transfers while a checkpoint is made.
class teller {
 public:
  explicit teller(const bank& b, std::uint64_t draw)
      : thread_([this, &b, draw]() mutable {
          while (!stop_.load()) b.transfer(draw);
        }) {}
  ~teller() {
    stop_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

struct state {
  std::uint64_t step, counter;
  quire_mutex mutex;
  quire_semaphore semaphore;
  quire_event event;
  quire_barrier alone;
  quire_rwlock rwlock;
  quire_region heap;       ///< every other block lies in it
  quire_region gone;       ///< destroyed before the first checkpoint
  std::uint64_t* strong;   ///< two arrays of cells, sequential
  std::uint64_t* relaxed;  ///< the same with release consistency
  char* noise;
  block* newest;
  block* blocks[most_steps];
  fine_state fine;
  bank accounts;
};

std::uint64_t first_value(std::size_t i) { return i % 3 == 0 ? mix(i) : 0; }
std::uint64_t next_value(const std::uint64_t* from, std::size_t i) {
  return mix(from[i]) + from[(i + 1) % cells] + 3 * from[(i + cells - 1) % cells];
}
std::uint64_t size_of_block(std::uint64_t step) { return sizeof(block) + mix(step) % (step % 4 == 0 ? 100'000 : 700); }

std::uint64_t* make_array(quire_consistency consistency, quire_placement placement, std::size_t unit) {
  quire_region_options about = region_options(unit, placement);
  about.consistency = consistency;
  quire_region region{};
  void* at = nullptr;
  REQUIRE_OK(quire_region_create(&about, 2 * cells * sizeof(std::uint64_t), &region));
  REQUIRE_OK(quire_region_range(region, &at, nullptr));
  return static_cast<std::uint64_t*>(at);
}

std::uint64_t words_of_object(std::uint64_t step) { return 2 + mix(step + 7) % 200; }

void make(fine_state& f) {
  quire_region_options about = region_options(0, QUIRE_PLACE_MODULO);
  about.minipage_bytes = fine_state::bytes;
  quire_region region{};
  void* at = nullptr;
  REQUIRE_OK(quire_region_create(&about, (fine_state::count / fine_state::a_page + 1) * 4096, &region));
  REQUIRE_OK(quire_region_range(region, &at, nullptr));
  f.cells = static_cast<std::uint64_t*>(at);
  about.minipage_bytes = 0;
  about.heap = 1;
  about.views = 16;
  REQUIRE_OK(quire_region_create(&about, std::size_t{8} << 20, &f.heap));
}

void compute(fine_state& f, std::uint64_t step) {
  const auto nodes = static_cast<std::uint64_t>(quire_nodes()), self = static_cast<std::uint64_t>(quire_node());
  for (std::size_t i = (self + step) % nodes; i < fine_state::count; i += nodes) {
    std::uint64_t* const cell = (i / fine_state::a_page + step) % 4 == 0 ? f.natural(i) : f.alone(i);
    cell[0] = mix(cell[0] + i);
    cell[step % fine_state::words % 20] += cell[0];
  }
  if (step % nodes != self) return;
  void* at = nullptr;
  REQUIRE_OK(quire_region_malloc(f.heap, 0, words_of_object(step) * 8, &at));
  f.objects[step] = static_cast<std::uint64_t*>(at);
  std::fill_n(f.objects[step], words_of_object(step), step + 1);
  if (step >= lifetime) REQUIRE_OK(quire_free(f.objects[step - lifetime]));
}

void check(const fine_state& f, std::uint64_t steps) {
  for (std::size_t i = 0; i < fine_state::count; ++i) {
    std::uint64_t cell[20] = {};
    for (std::uint64_t step = 0; step < steps; ++step) {
      cell[0] = mix(cell[0] + i);
      cell[step % fine_state::words % 20] += cell[0];
    }
    const std::uint64_t* const now = i % 3 == 0 ? f.natural(i) : f.alone(i);
    for (std::size_t w = 0; w < 20; ++w) REQUIRE_EQUAL(now[w], cell[w]);
  }
  for (std::uint64_t age = 0; age < std::min(lifetime, steps); ++age) {
    const std::uint64_t step = steps - 1 - age;
    std::size_t usable = 0, unit = 0;
    REQUIRE_OK(quire_allocation_size(f.objects[step], &usable));
    REQUIRE_OK(quire_minipage_of(f.objects[step], nullptr, &unit));
    REQUIRE(usable >= words_of_object(step) * 8 && unit == usable);
    for (std::size_t w = 0; w < words_of_object(step); ++w) REQUIRE_EQUAL(f.objects[step][w], step + 1);
  }
}

state* make() {
  if (quire_node() == 0) {
    void* at = nullptr;
    REQUIRE_OK(quire_calloc(1, sizeof(state), &at));
    auto* s = static_cast<state*>(at);
    REQUIRE_OK(quire_mutex_create(&s->mutex));
    REQUIRE_OK(quire_semaphore_create(0, &s->semaphore));
    REQUIRE_OK(quire_event_create(&s->event));
    REQUIRE_OK(quire_barrier_create(1, &s->alone));
    REQUIRE_OK(quire_region_create(nullptr, 1 << 20, &s->gone));
    s->strong = make_array(QUIRE_SEQUENTIAL, QUIRE_PLACE_MODULO, 4096);
    s->relaxed = make_array(QUIRE_RELEASE, QUIRE_PLACE_BLOCK, 8192);
    REQUIRE_OK(quire_region_destroy(s->gone));
    quire_region_options about = region_options(4096, QUIRE_PLACE_MODULO);
    about.consistency = QUIRE_RELEASE;
    about.heap = 1;
    REQUIRE_OK(quire_region_create(&about, std::size_t{16} << 20, &s->heap));  // at the number of the one that is gone
    for (std::size_t i = 0; i < cells; ++i) s->strong[i] = s->relaxed[i] = first_value(i);
    if (std::getenv("CHECKPOINT_MINIPAGES") != nullptr) make(s->fine);
    if (std::getenv("CHECKPOINT_TRANSACTIONS") != nullptr) {
      about = region_options(4096, QUIRE_PLACE_MODULO);
      about.consistency = QUIRE_TRANSACTIONAL;
      quire_region region{};
      REQUIRE_OK(quire_region_create(&about, (bank::accounts + 2) * 4096, &region));
      REQUIRE_OK(quire_region_range(region, &at, nullptr));
      s->accounts.base = static_cast<std::byte*>(at);
    }
    REQUIRE_OK(quire_calloc(2, far, &at));
    s->noise = static_cast<char*>(at);
    REQUIRE_OK(quire_publish("the state of it all\n", s));
  }
  void* at = nullptr;
  REQUIRE_OK(quire_lookup("the state of it all\n", 20'000, &at));
  auto* s = static_cast<state*>(at);
  if (quire_node() == quire_nodes() - 1)
    REQUIRE_OK(quire_rwlock_create(&s->rwlock));  // a home that a smaller job does not have
  barrier();
  return s;
}

/// What one step does of all that is shared.
void compute(state* s) {
  const std::uint64_t step = s->step;
  const auto nodes = static_cast<std::uint64_t>(quire_nodes()), self = static_cast<std::uint64_t>(quire_node());
  const std::size_t from = step % 2 == 0 ? 0 : cells, to = cells - from;
  for (std::size_t i = cells * self / nodes; i < cells * (self + 1) / nodes; ++i) {
    s->strong[to + i] = next_value(s->strong + from, i);
    s->relaxed[to + i] = next_value(s->relaxed + from, i);
  }
  for (std::uint64_t turn = self; turn < turns; turn += nodes) {
    REQUIRE_OK(quire_mutex_lock(s->mutex));
    ++s->counter;
    REQUIRE_OK(quire_mutex_unlock(s->mutex));
  }
  if (step % nodes == self) {
    void* at = nullptr;
    if (step % 2 == 0) {
      REQUIRE_OK(quire_malloc(size_of_block(step), &at));
    } else {
      REQUIRE_OK(quire_region_malloc(s->heap, 0, size_of_block(step), &at));
    }
    auto* b = static_cast<block*>(at);
    std::memset(at, static_cast<int>(step + 1), size_of_block(step));
    *b = {s->newest, step, size_of_block(step)};
    s->newest = s->blocks[step] = b;
    REQUIRE_OK(quire_semaphore_release(s->semaphore, 1));
    if (step == 3) REQUIRE_OK(quire_event_set(s->event));
    REQUIRE_OK(quire_rwlock_write_lock(s->rwlock, -1));
    REQUIRE_OK(quire_rwlock_unlock(s->rwlock));
  }
  if (s->fine.cells != nullptr) compute(s->fine, step);
  if (s->accounts.base != nullptr) {
    for (std::uint64_t draw = step * nodes + self, i = 0; i < 10; ++i) s->accounts.transfer(draw);
    if (step % nodes == self) quire::atomically([&] { ++s->accounts.steps(); });
  }
  barrier();
  if (step >= lifetime && (step + 1) % nodes == self) REQUIRE_OK(quire_free(s->blocks[step - lifetime]));
  if (self == 0) s->step = step + 1;
  barrier();
}

/// A page that the last node has written when a checkpoint begins, and that others want while it is made: the number of
/// the step.
std::uint64_t* wanted_page(state* s) { return reinterpret_cast<std::uint64_t*>(s->noise + far / 2); }

/// A thread that goes on writing while a checkpoint is made: a number here, and then the same far away; and, once nodes
/// have had time to be held, where another node wrote last.
class noise {
 public:
  explicit noise(state* s)
      : thread_([this, s] {
          auto* first = reinterpret_cast<volatile std::uint64_t*>(s->noise);
          auto* second = reinterpret_cast<volatile std::uint64_t*>(s->noise + far);
          const auto begin = std::chrono::steady_clock::now();
          while (!stop_.load()) {
            *first = *first + 1;
            *second = *first;
            if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(200)) wanted_page(s)[1] = *first;
          }
        }) {}
  ~noise() {
    stop_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// The same, of minipages.
class fine_noise {
 public:
  fine_noise(const fine_state& f, int which)
      : thread_([this, words = f.noise(which)] {
          *words.second = *words.first;  // a checkpoint may have come between the two, and it may do so again
          while (!stop_.load()) {
            *words.first = *words.first + 1;
            *words.second = *words.first;
            ++rounds_;
          }
        }) {
    while (rounds_.load() < 100) std::this_thread::yield();  // it has what it needs when the checkpoint begins
  }
  ~fine_noise() {
    stop_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> rounds_{0};
  std::thread thread_;
};

void save(state* s, const char* directory) {
  for (int attempt = 0;; ++attempt) {
    quire_status why = QUIRE_OK;
    if (quire_node() == quire_nodes() - 1) *wanted_page(s) = s->step;
    barrier();
    {
      std::unique_ptr<fine_noise> fine[2];
      for (int which = 0; s->fine.cells != nullptr && which < 2; ++which) {
        if (which == 0 ? quire_node() == 0 : quire_node() == quire_nodes() - 1)
          fine[which] = std::make_unique<fine_noise>(s->fine, which);
      }
      std::unique_ptr<teller> transfers;
      if (s->accounts.base != nullptr)
        transfers = std::make_unique<teller>(s->accounts, s->step * 64 + static_cast<std::uint64_t>(quire_node()));
      std::unique_ptr<noise> writer;
      if (quire_node() == 0) writer = std::make_unique<noise>(s);
      why = quire_checkpoint(directory);
    }
    if (quire_node() == 0)
      std::printf("checkpoint after step %" PRIu64 ": %s %s\n", s->step, quire_status_text(why), quire_last_error());
    if (why == QUIRE_OK) return;
    REQUIRE_STATUS(why, QUIRE_SYSTEM);
    if (std::getenv("CHECKPOINT_TOLERATE") != nullptr) return;
    REQUIRE(attempt < 3);
  }
}

void check_arrays(const state* s) {
  std::vector<std::uint64_t> now(cells), next(cells);
  for (std::size_t i = 0; i < cells; ++i) now[i] = first_value(i);
  for (std::uint64_t step = 0; step < s->step; ++step, now.swap(next)) {
    for (std::size_t i = 0; i < cells; ++i) next[i] = next_value(now.data(), i);
  }
  const std::size_t at = s->step % 2 == 0 ? 0 : cells;
  for (std::size_t i = 0; i < cells; ++i) {
    REQUIRE_EQUAL(s->strong[at + i], now[i]);
    REQUIRE_EQUAL(s->relaxed[at + i], now[i]);
  }
}

/// Handles are what they were: of the heap, and of the region that is gone; a new one is neither.
void check_regions(const state* s) {
  REQUIRE_STATUS(quire_region_range(s->gone, nullptr, nullptr), QUIRE_NOT_FOUND);
  void* at = nullptr;
  REQUIRE_OK(quire_region_malloc(s->heap, 0, 100, &at));
  quire_region found{};
  REQUIRE_OK(quire_region_of(at, &found));
  REQUIRE_EQUAL(found.id, s->heap.id);
  REQUIRE_OK(quire_free(at));
  barrier();
  if (quire_node() != 0) return;
  quire_region made{};
  REQUIRE_OK(quire_region_create(nullptr, 1 << 20, &made));
  REQUIRE(made.id != s->gone.id && made.id != s->heap.id);
  REQUIRE_OK(quire_region_destroy(made));
}

void check_all(state* s) {
  check_regions(s);
  check_arrays(s);
  if (s->fine.cells != nullptr) check(s->fine, s->step);
  if (s->accounts.base != nullptr) s->accounts.check(s->step);
  REQUIRE_EQUAL(s->counter, turns * s->step);
  const block* b = s->newest;
  for (std::uint64_t age = 0; age < std::min(lifetime, s->step); ++age, b = b->older) {
    const std::uint64_t step = s->step - 1 - age;
    REQUIRE(b == s->blocks[step]);
    REQUIRE_EQUAL(b->step, step);
    const auto* text = reinterpret_cast<const unsigned char*>(b);
    for (std::uint64_t i = sizeof(block); i < b->bytes; ++i)
      REQUIRE_EQUAL(text[i], static_cast<unsigned char>(step + 1));
    std::size_t usable = 0;
    REQUIRE_OK(quire_allocation_size(b, &usable));
    REQUIRE(usable >= b->bytes);
  }
  for (std::uint64_t step = 0; quire_node() == 0 && step < s->step; ++step)
    REQUIRE_OK(quire_semaphore_acquire(s->semaphore, 0));
  if (quire_node() == 0) REQUIRE_STATUS(quire_semaphore_acquire(s->semaphore, 0), QUIRE_BUSY);
  REQUIRE_STATUS(quire_event_wait(s->event, 0), s->step > 3 ? QUIRE_OK : QUIRE_BUSY);
  REQUIRE_OK(quire_barrier_wait(s->alone));
}

/// Of the last call, on each node.
void told(std::initializer_list<std::string> all) {
  const std::string said = quire_last_error();
  for (const std::string& words : all) {
    if (said.find(words) == said.npos) fail(__FILE__, __LINE__, "'%s' does not tell '%s'", said.c_str(), words.c_str());
  }
}

void refusals(const char* directory) {
  REQUIRE_STATUS(quire_restore(directory), QUIRE_NOT_FOUND);
  told({"no checkpoint in", directory});
  REQUIRE_STATUS(quire_checkpoint(nullptr), QUIRE_INVALID);
  told({"needs the path of a directory"});
  for (const auto call : {quire_checkpoint, quire_restore}) {
    REQUIRE_STATUS(call(std::string(400, 'x').c_str()), QUIRE_INVALID);
    told({"may have 383 characters"});
  }
  if (quire_nodes() > 1) REQUIRE_STATUS(quire_checkpoint(quire_node() == 0 ? "one" : "another"), QUIRE_INVALID);
  REQUIRE_STATUS(quire_checkpoint((std::string(directory) + "/no/such/parent").c_str()), QUIRE_SYSTEM);
  told({"quire_checkpoint(): node 0: cannot make the directory", "/no/such/parent: No such file or directory",
        "as they were"});
  const std::string deep = std::string(directory) + "/" + std::string(200, 'y') + "/end";
  REQUIRE_STATUS(quire_checkpoint(deep.c_str()), QUIRE_SYSTEM);
  told({"node 0: cannot make the directory", "...", "yyy/end: No such file or directory", "as they were"});
  REQUIRE_STATUS(quire_checkpoint("/proc/checkpoint"), QUIRE_SYSTEM);
  told({"/proc/checkpoint"});
  REQUIRE_STATUS(quire_checkpoint("/dev/null"), QUIRE_SYSTEM);
  told({"/dev/null: Not a directory"});
  REQUIRE_STATUS(quire_restore("/dev/null"), QUIRE_SYSTEM);
  told({"quire_restore(): node 0: cannot read the directory /dev/null: Not a directory"});
  auto* words = shared_object<std::uint64_t>("words", 4096);
  REQUIRE_STATUS(quire_restore(directory), QUIRE_INVALID);  // too late
  told({"quire_restore() comes first"});
  quire_region region{};
  if (quire_node() == 0) REQUIRE_OK(quire_region_create(nullptr, 1 << 20, &region));
  REQUIRE_OK(quire_broadcast(&region, sizeof region, 0));
  REQUIRE_OK(quire_block_begin(region, 0));
  REQUIRE_STATUS(quire_checkpoint(directory), QUIRE_INVALID);
  REQUIRE_OK(quire_block_end(region, nullptr));
  if (quire_node() == 0) REQUIRE_OK(quire_pin(words, 8192, -1, nullptr));
  REQUIRE_STATUS(quire_checkpoint(directory), QUIRE_BUSY);
  told({"has pinned units", "release them first"});
  if (quire_node() == 0) REQUIRE_OK(quire_unpin(words, 8192));
  words[quire_node()] = 1;
  REQUIRE_OK(quire_checkpoint(directory));
  words[quire_node()] = 2;
  barrier();
  for (int node = 0; node < quire_nodes(); ++node) REQUIRE_EQUAL(words[node], 2);
  barrier();
}

/// Before the start: this node's part of CHECKPOINT_FAIL.
void set_failure() {
  const char* const wish = std::getenv("CHECKPOINT_FAIL");
  const char* const self = std::getenv("QUIRE_JOB_NODE");
  const char* const colon = wish != nullptr ? std::strchr(wish, ':') : nullptr;
  if (colon == nullptr || self == nullptr) return;
  if (std::string(self) == std::string(wish, colon)) ::setenv("QUIRE_FAIL", colon + 1, 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* const directory = argv[1];
  set_failure();
  return node_main([&] {
    if (std::string(argv[2]) == "errors") return refusals(directory);
    const std::uint64_t steps = std::strtoull(argv[2], nullptr, 10), every = std::strtoull(argv[3], nullptr, 10);
    const std::uint64_t stop = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : steps;
    const quire_status found = quire_restore(directory);
    if (found != QUIRE_OK && found != QUIRE_NOT_FOUND) std::fprintf(stderr, "%s\n", quire_last_error());
    if (found != QUIRE_NOT_FOUND) REQUIRE_OK(found);
    state* s = nullptr;
    if (found == QUIRE_OK) {
      void* at = nullptr;
      REQUIRE_OK(quire_lookup("the state of it all\n", 0, &at));
      s = static_cast<state*>(at);
      // Writers were held: what was saved is what memory was at one moment.
      std::uint64_t first, second;
      std::memcpy(&first, s->noise, sizeof first);
      std::memcpy(&second, s->noise + far, sizeof second);
      REQUIRE(first == second || first == second + 1);
      REQUIRE_EQUAL(*wanted_page(s), s->step);
      check_arrays(s);
      for (int which = 0; s->fine.cells != nullptr && which < 2; ++which) {
        const auto words = s->fine.noise(which);
        const std::uint64_t ahead = *words.first - *words.second;
        if (ahead > 1)
          fail(__FILE__, __LINE__, "noise %d: %" PRIu64 " is not %" PRIu64 " or one more, after step %" PRIu64, which,
               *words.first, *words.second, s->step);
      }
      if (s->fine.cells != nullptr) check(s->fine, s->step);
      if (s->accounts.base != nullptr) s->accounts.check(s->step);
      if (quire_node() == 0) std::printf("goes on after step %" PRIu64 " on %d nodes\n", s->step, quire_nodes());
    } else {
      s = make();
    }
    barrier();
    while (s->step < stop) {
      compute(s);
      if (s->step % every == 0) save(s, directory);
    }
    if (stop < steps) return;
    check_all(s);
    barrier();
    if (quire_node() == 0) std::printf("all %" PRIu64 " steps are right\n", steps);
  });
}
