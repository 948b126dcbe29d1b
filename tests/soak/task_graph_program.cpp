// SPDX-License-Identifier: BSD-3-Clause
// Race-free graphs of tasks on threads of all nodes, one after the other: every byte that a task reads is what the last
// task before it wrote. Chunks share units; tasks tell each other that they are done in six ways; meanwhile the
// region's consistency may change.
#include <atomic>

#include "../process/node.hpp"
#include "arguments.hpp"
#include "task_graph.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page_bytes = 4096, lanes = 8;

struct settings {
  std::uint64_t milliseconds = 1000, seed = 1, unit = page_bytes, chunk = 301, chunks = 60, threads = 2, tasks = 100,
                kinds = 6, release = 1, changes = 0, hints = 0, heap = 0, detector = 0, placement = 1, pool = 0;
};

/// Synchronisation objects, in a region of their own under sequential consistency.
struct objects {
  quire_event events[most_tasks];
  quire_semaphore semaphores[most_tasks];
  quire_mutex mutexes[lanes];
  quire_condition conditions[lanes];
  quire_rwlock rwlocks[lanes];
  quire_barrier everyone;  ///< all workers, and the thread of each node that leads
};

/// The memory under test: chunks, and behind them the rounds in which tasks were done last, as four kinds of edges tell
/// it.
class memory {
 public:
  memory(char* base, const settings& s)
      : base_(base), chunk_(s.chunk), flags_(reinterpret_cast<std::uint64_t*>(base + flags_at(s))) {}
  [[nodiscard]] static std::size_t bytes(const settings& s) { return flags_at(s) + 2 * flag_bytes(); }
  [[nodiscard]] char* chunk(std::size_t c) const { return base_ + c * chunk_; }
  [[nodiscard]] std::size_t chunk_bytes() const { return chunk_; }
  [[nodiscard]] std::uint64_t& by_condition(std::size_t task) const { return flags_[task]; }
  [[nodiscard]] std::uint64_t& by_rwlock(std::size_t task) const { return flags_[most_tasks + task]; }
  [[nodiscard]] std::uint64_t* by_atomic(std::size_t task) const { return &flags_[2 * most_tasks + task]; }
  /// On pages of their own: who has them pinned keeps all of the unit from other nodes.
  [[nodiscard]] std::uint64_t* by_pin(std::size_t task) const {
    return &flags_[flag_bytes() / sizeof(std::uint64_t) + task];
  }

 private:
  static std::size_t up(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }
  static std::size_t flags_at(const settings& s) { return up(s.chunks * s.chunk); }
  static std::size_t flag_bytes() { return up(3 * most_tasks * sizeof(std::uint64_t)); }
  char* base_;
  std::size_t chunk_;
  std::uint64_t* flags_;
};

char content(version v, std::size_t byte) {
  return static_cast<char>((v.chunk * 2654435761u + v.number * 40503u + byte * 97u + (v.number >> 8)) >> 3);
}
void write_chunk(const memory& m, version v) {
  for (std::size_t i = 0; i < m.chunk_bytes(); ++i) m.chunk(v.chunk)[i] = content(v, i);
}
void check_chunk(const memory& m, version v, const char* when) {
  const char* const bytes = m.chunk(v.chunk);
  for (std::size_t i = 0; i < m.chunk_bytes(); ++i) {
    if (bytes[i] == content(v, i)) continue;
    std::int64_t looks = -1;
    for (std::uint64_t n = 0; n <= v.number + 3; ++n)
      if (bytes[i] == content({v.chunk, n}, i)) looks = static_cast<std::int64_t>(n);
    fail(__FILE__, __LINE__, "%s: byte %zu of chunk %zu (%p) is not of version %" PRIu64 ", but as of %" PRId64, when,
         i, v.chunk, static_cast<const void*>(bytes + i), v.number, looks);
  }
}

/// One thread that does its tasks of each graph.
class worker {
 public:
  worker(const settings& s, const memory& m, objects& o, std::size_t self)
      : memory_(m), objects_(o), self_(self), hints_(s.hints != 0), random_(mix(s.seed) + self) {}

  void run(const std::vector<task>& tasks, std::uint64_t round) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].worker != self_) continue;
      for (const edge& e : tasks[i].after) wait(e, round);
      for (const version v : tasks[i].reads) read(v);
      for (const version v : tasks[i].writes) write(v);
      tell(tasks[i], i, round);
    }
  }
  [[nodiscard]] std::uint64_t reads() const { return reads_; }

 private:
  static void pause() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }

  void wait(edge e, std::uint64_t round) {
    const std::size_t lane = e.from % lanes;
    switch (e.kind) {
      case edge_kind::event:
        return REQUIRE_OK(quire_event_wait(objects_.events[e.from], -1));
      case edge_kind::semaphore:
        return REQUIRE_OK(quire_semaphore_acquire(objects_.semaphores[e.from], -1));
      case edge_kind::condition:
        REQUIRE_OK(quire_mutex_lock(objects_.mutexes[lane]));
        while (memory_.by_condition(e.from) != round)
          REQUIRE_OK(quire_condition_wait(objects_.conditions[lane], objects_.mutexes[lane], -1));
        return REQUIRE_OK(quire_mutex_unlock(objects_.mutexes[lane]));
      default:
        while (seen(e, lane) != round) pause();
    }
  }
  /// The round in which the task was done last, where nobody can wait for it.
  std::uint64_t seen(edge e, std::size_t lane) {
    std::uint64_t value = 0;
    if (e.kind == edge_kind::rwlock) {
      REQUIRE_OK(quire_rwlock_read_lock(objects_.rwlocks[lane], -1));
      value = memory_.by_rwlock(e.from);
      REQUIRE_OK(quire_rwlock_unlock(objects_.rwlocks[lane]));
    } else if (e.kind == edge_kind::atomic) {
      REQUIRE_OK(quire_fetch_add(memory_.by_atomic(e.from), 0, &value));
    } else {
      REQUIRE_OK(quire_pin(memory_.by_pin(e.from), sizeof value, -1, nullptr));
      value = *memory_.by_pin(e.from);
      REQUIRE_OK(quire_unpin(memory_.by_pin(e.from), sizeof value));
    }
    return value;
  }

  void tell(const task& t, std::size_t i, std::uint64_t round) {
    const std::size_t lane = i % lanes;
    const auto tells = [&](edge_kind kind) { return t.tells[static_cast<std::size_t>(kind)]; };
    if (tells(edge_kind::event)) REQUIRE_OK(quire_event_set(objects_.events[i]));
    if (tells(edge_kind::semaphore)) REQUIRE_OK(quire_semaphore_release(objects_.semaphores[i], t.semaphore_waiters));
    if (tells(edge_kind::condition)) {
      REQUIRE_OK(quire_mutex_lock(objects_.mutexes[lane]));
      memory_.by_condition(i) = round;
      REQUIRE_OK(quire_condition_notify_all(objects_.conditions[lane]));
      REQUIRE_OK(quire_mutex_unlock(objects_.mutexes[lane]));
    }
    if (tells(edge_kind::rwlock)) {
      REQUIRE_OK(quire_rwlock_write_lock(objects_.rwlocks[lane], -1));
      memory_.by_rwlock(i) = round;
      REQUIRE_OK(quire_rwlock_unlock(objects_.rwlocks[lane]));
    }
    std::uint64_t before;
    if (tells(edge_kind::atomic)) REQUIRE_OK(quire_exchange(memory_.by_atomic(i), round, &before));
    if (tells(edge_kind::pin)) {
      REQUIRE_OK(quire_pin(memory_.by_pin(i), sizeof round, -1, nullptr));
      *memory_.by_pin(i) = round;
      REQUIRE_OK(quire_unpin(memory_.by_pin(i), sizeof round));
    }
  }

  bool one_in(std::uint64_t n) { return hints_ && random_.below(n) == 0; }
  void read(version v) {
    if (one_in(4)) REQUIRE_OK(quire_prefetch(memory_.chunk(v.chunk), memory_.chunk_bytes(), 0));
    check_chunk(memory_, v, "in a task");
    reads_ += memory_.chunk_bytes();
  }
  void write(version v) {
    char* const at = memory_.chunk(v.chunk);
    const std::size_t bytes = memory_.chunk_bytes();
    if (one_in(4)) REQUIRE_OK(quire_prefetch(at, bytes, 1));
    if (one_in(8)) REQUIRE_OK(quire_advise(at, bytes, random_.below(2) == 0 ? QUIRE_NORMAL : QUIRE_WILL_WRITE));
    write_chunk(memory_, v);
    if (!one_in(8)) return;
    if (const quire_status pushed = quire_push(at, bytes); pushed != QUIRE_BUSY) REQUIRE_OK(pushed);
  }

  const memory& memory_;
  objects& objects_;
  std::size_t self_;
  bool hints_;
  random_numbers random_;
  std::uint64_t reads_ = 0;
};

/// What node 0 makes, and tells the others of.
struct made {
  quire_region region;
  char* memory;
  objects* shared;
};

void make_objects(objects& o, std::uint32_t everyone) {
  for (auto& e : o.events) REQUIRE_OK(quire_event_create(&e));
  for (auto& e : o.semaphores) REQUIRE_OK(quire_semaphore_create(0, &e));
  for (auto& e : o.mutexes) REQUIRE_OK(quire_mutex_create(&e));
  for (auto& e : o.conditions) REQUIRE_OK(quire_condition_create(&e));
  for (auto& e : o.rwlocks) REQUIRE_OK(quire_rwlock_create(&e));
  REQUIRE_OK(quire_barrier_create(everyone, &o.everyone));
}

made make(const settings& s) {
  made m{};
  if (quire_node() == 0) {
    const std::size_t bytes = memory::bytes(s);
    void* address = nullptr;
    if (s.heap != 0) {
      REQUIRE_OK(quire_calloc(1, bytes, &address));
    } else {
      auto about = region_options(s.unit, static_cast<quire_placement>(s.placement));
      about.consistency = s.release != 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
      about.detector = static_cast<quire_detector>(s.detector);
      about.pool = static_cast<quire_pool>(s.pool);
      REQUIRE_OK(quire_region_create(&about, bytes, &m.region));
      REQUIRE_OK(quire_region_range(m.region, &address, nullptr));
    }
    m.memory = static_cast<char*>(address);
    quire_region own{};
    const auto sequential = region_options(page_bytes, QUIRE_PLACE_BLOCK);
    REQUIRE_OK(quire_region_create(&sequential, sizeof(objects), &own));
    REQUIRE_OK(quire_region_range(own, &address, nullptr));
    m.shared = static_cast<objects*>(address);
    make_objects(*m.shared, static_cast<std::uint32_t>(static_cast<std::uint64_t>(quire_nodes()) * (s.threads + 1)));
  }
  REQUIRE_OK(quire_broadcast(&m, sizeof m, 0));
  return m;
}

/// The thread of each node that draws the graphs, and sees to what lies between them.
class leader {
 public:
  explicit leader(const settings& s)
      : settings_(s),
        made_(make(s)),
        memory_(made_.memory, s),
        graph_(static_cast<std::size_t>(quire_nodes()) * s.threads, s.tasks, s.chunks, s.kinds),
        released_(s.release != 0) {}

  void run() {
    if (quire_node() == 0)
      for (std::size_t c = 0; c < settings_.chunks; ++c) write_chunk(memory_, {c, 0});
    barrier();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < settings_.threads; ++i) threads.emplace_back([this, i] { be_worker(i); });
    const double until = now_seconds() + static_cast<double>(settings_.milliseconds) / 1e3;
    for (std::uint64_t round = 1; all_go_on(until); ++round) one_round(round);
    over_ = true;
    meet();
    for (auto& thread : threads) thread.join();
    check_all("at the end", 0, 1);
    tell();
  }

 private:
  void meet() { REQUIRE_OK(quire_barrier_wait(made_.shared->everyone)); }

  void be_worker(std::size_t i) {
    worker w(settings_, memory_, *made_.shared, static_cast<std::size_t>(quire_node()) * settings_.threads + i);
    for (meet(); !over_; meet()) {
      w.run(graph_.tasks(), round_);
      meet();
    }
    reads_ += w.reads();
  }
  static bool all_go_on(double until) {
    std::int64_t more = now_seconds() < until ? 1 : 0;
    REQUIRE_OK(quire_reduce_i64(&more, 1, QUIRE_MIN));
    return more != 0;
  }

  void one_round(std::uint64_t round) {
    graph_.draw(settings_.seed * 1'000'003 + round);
    round_ = round;
    rounds_ = round;
    meet();
    if (settings_.changes != 0 && round % 3 == 0) change(round);
    meet();
    if (static_cast<std::uint64_t>(quire_node()) == round % static_cast<std::uint64_t>(quire_nodes())) {
      for (std::size_t i = 0; i < graph_.tasks().size(); ++i)
        if (graph_.tasks()[i].tells[static_cast<std::size_t>(edge_kind::event)])
          REQUIRE_OK(quire_event_reset(made_.shared->events[i]));
    }
    if (round % 5 == 0) {
      barrier();
      check_all("after a barrier", static_cast<std::size_t>(quire_node()) % 2, 2);
    }
    barrier();
  }
  /// While tasks run. Not while something is pinned: then the region stays as it is.
  void change(std::uint64_t round) {
    std::this_thread::sleep_for(std::chrono::microseconds((settings_.seed + round) % 5 * 300));
    const quire_status changed =
        quire_region_set_consistency(made_.region, released_ ? QUIRE_SEQUENTIAL : QUIRE_RELEASE);
    if (changed == QUIRE_BUSY) return;
    REQUIRE_OK(changed);
    released_ = !released_;
    ++changes_;
  }
  void check_all(const char* when, std::size_t first, std::size_t step) {
    barrier();
    for (std::size_t c = first; c < settings_.chunks; c += step) check_chunk(memory_, {c, graph_.newest()[c]}, when);
    reads_ += settings_.chunks / step * settings_.chunk;
  }
  void tell() {
    std::int64_t reads = static_cast<std::int64_t>(reads_);
    REQUIRE_OK(quire_reduce_i64(&reads, 1, QUIRE_SUM));
    if (quire_node() != 0) return;
    std::printf("checked %" PRId64 " reads, %" PRIu64 " tasks in %" PRIu64 " graphs, %" PRIu64
                " changes of consistency\n",
                reads, rounds_ * settings_.tasks, rounds_, changes_);
  }

  settings settings_;
  made made_;
  memory memory_;
  task_graph graph_;
  bool released_;
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> round_{0}, reads_{0};
  std::uint64_t rounds_ = 0, changes_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  settings s;
  read_arguments(
      argc, argv,
      "Checks what race-free tasks read of each other's writes, under release consistency and while it changes.",
      {{"milliseconds", &s.milliseconds, 86'400'000, "how long graphs are run"},
       {"seed", &s.seed, ~std::uint64_t{0}, "of the graphs"},
       {"unit", &s.unit, 2 << 20, "bytes of the region's units"},
       {"chunk", &s.chunk, 1 << 24, "bytes of what a task reads or writes"},
       {"chunks", &s.chunks, 1 << 16, "how many there are"},
       {"threads", &s.threads, 64, "workers of each node"},
       {"tasks", &s.tasks, most_tasks, "of a graph"},
       {"kinds", &s.kinds, 6, "of edges: that many of event, semaphore, condition, rwlock, atomic, pin"},
       {"release", &s.release, 1, "release consistency at first"},
       {"changes", &s.changes, 1, "change the consistency while tasks run"},
       {"hints", &s.hints, 1, "prefetch, advise and push"},
       {"heap", &s.heap, 1, "memory of quire_calloc() instead of a region's (then QUIRE_CONSISTENCY decides)"},
       {"detector", &s.detector, 4, "quire_detector of the region"},
       {"placement", &s.placement, 3, "quire_placement of the region"},
       {"pool", &s.pool, 6, "quire_pool of the region"}});
  REQUIRE(s.threads > 0 && s.tasks > 0 && s.chunks > 0 && s.chunk > 0 && s.kinds > 0 &&
          (s.changes == 0 || s.heap == 0));
  return node_main([&] { leader(s).run(); });
}
