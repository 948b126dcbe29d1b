// SPDX-License-Identifier: BSD-3-Clause
// The machine of tasks under random programs and random schedules, against what OpenMP says of orders; and what its
// records cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "program/omp/tasks/pool.hpp"

namespace quire::program {

void* take_private(std::size_t bytes) noexcept { return std::malloc(bytes); }
void give_private(void* at) noexcept { std::free(at); }

namespace {

int g_alive = 0;

struct traced : task {
  std::vector<traced*> must_follow;  ///< siblings, by the definition of dependences
  std::set<traced*> unfinished;      ///< children
  std::vector<dependence> on;
  traced* maker = nullptr;
  std::vector<traced*> made;  ///< children that have dependences, in order; kept by `held`
  int depth = 0, steps = 0;
  bool started = false, done = false, gone = false;
  traced() { ++g_alive; }
};
void dispose(task& t) noexcept {
  --g_alive;
  delete static_cast<traced*>(&t);
}

bool conflict(const traced& a, const traced& b) {
  for (const dependence& x : a.on) {
    for (const dependence& y : b.on) {
      if (x.address == nullptr || y.address == nullptr) return true;  // all memory
      if (x.address == y.address && (x.how == dependence::kind::out || x.how != y.how)) return true;
    }
  }
  return false;
}

/// One node: threads that run bodies of random steps, a place elsewhere to which tasks are taken, and events that are
/// fulfilled at any time.
class program {
 public:
  program(unsigned seed, int threads) : random_(seed), threads_(static_cast<std::size_t>(threads)) {
    for (thread& t : threads_) {
      t.stack.push_back({new traced, waits::nothing, nullptr});
      t.stack[0].what->steps = 12;
      t.stack[0].what->started = true;
    }
  }

  void run() {
    for (int idle = 0; !over();) {
      bool moved = step(threads_[below(threads_.size())]);
      if (below(4) == 0) moved |= elsewhere();
      if (below(6) == 0) moved |= fulfil();
      idle = moved ? 0 : idle + 1;
      ASSERT_LT(idle, 3000) << "nobody can go on";
      if (::testing::Test::HasFatalFailure() || ::testing::Test::HasNonfatalFailure()) return;
    }
    EXPECT_TRUE(pool_.idle());
    EXPECT_EQ(pool_.ready(), 0u);
    for (thread& t : threads_) pool_.drop(*t.stack[0].what);
    for (traced* t : held_) pool_.drop(*t);
    EXPECT_EQ(g_alive, 0) << "records are left";
  }
  int ran = 0;

 private:
  enum class waits { nothing, to_run, children, group };
  struct frame {
    traced* what;
    waits for_;
    traced* undeferred;
  };
  struct thread {
    std::vector<frame> stack;
  };

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  bool at_barrier(const thread& t) const {
    return t.stack.size() == 1 && t.stack[0].for_ == waits::nothing && t.stack[0].what->steps == 0;
  }
  bool over() {
    return std::all_of(threads_.begin(), threads_.end(), [&](const thread& t) { return at_barrier(t); }) &&
           pool_.idle();
  }

  void start(traced& t) {
    EXPECT_FALSE(t.started);
    t.started = true;
    ++ran;
    for (const traced* p : t.must_follow) EXPECT_TRUE(p->done) << "a task began before one that it depends on was done";
  }
  void push(thread& t, task* taken) {
    auto& next = static_cast<traced&>(*taken);
    start(next);
    t.stack.push_back({&next, waits::nothing, nullptr});
  }
  void mark_done(traced& t) {
    t.done = true;
    t.maker->unfinished.erase(&t);
  }

  bool step(thread& t) {
    frame& f = t.stack.back();
    switch (f.for_) {
      case waits::to_run:
        return run_undeferred(t);
      case waits::children:
        return wait(t, [&] { return f.what->children == 0; });
      case waits::group:
        return wait(t, [&] { return f.what->in->tasks == 0; });
      case waits::nothing:
        break;
    }
    if (f.what->steps-- > 0) return act(t);
    f.what->steps = 0;
    return t.stack.size() > 1 ? end(t) : take(t, pool_.take_any());
  }

  bool act(thread& t) {
    frame& f = t.stack.back();
    switch (below(8)) {
      case 0:
        f.for_ = waits::children;
        return true;
      case 1: {
        auto* const g = new group;
        g->outer = f.what->in;
        f.what->in = g;
        own_groups_[f.what].push_back(g);
        return true;
      }
      case 2:
        if (!own_groups_[f.what].empty()) f.for_ = waits::group;
        return true;
      default:
        return make(t);
    }
  }

  bool make(thread& t) {
    frame& f = t.stack.back();
    traced& maker = *f.what;
    if (maker.depth > 4) return true;
    auto* const made = new traced;
    made->maker = &maker;
    made->depth = maker.depth + 1;
    made->steps = static_cast<int>(below(6));
    static char addresses[5];
    for (std::size_t i = below(4); i > 0; --i)
      made->on.push_back({below(20) != 0 ? &addresses[below(5)] : nullptr, static_cast<dependence::kind>(below(3))});
    for (traced* earlier : maker.made) {
      if (conflict(*earlier, *made)) made->must_follow.push_back(earlier);
    }
    maker.unfinished.insert(made);
    if (!made->on.empty()) {
      maker.made.push_back(made);
      held_.push_back(made);
      ++made->references;
    }
    made->event_open = below(10) == 0;
    pool_.add(*made, maker, made->on);
    for (group* g = made->in; g != nullptr; g = g->outer) members_[g].push_back(made);
    if (made->event_open) {
      events_.push_back(made);
      ++made->references;
    }
    if (below(3) != 0) {
      pool_.queue(*made);
    } else {
      f.for_ = waits::to_run;
      f.undeferred = made;
    }
    return true;
  }

  bool run_undeferred(thread& t) {
    frame& f = t.stack.back();
    if (!pool::may_run(*f.undeferred)) return take(t, pool_.take_below(*f.what));
    traced* const next = f.undeferred;
    f.for_ = waits::nothing;
    push(t, next);
    return true;
  }

  template <class Done>
  bool wait(thread& t, Done&& done) {
    frame& f = t.stack.back();
    traced& w = *f.what;
    const bool grouped = f.for_ == waits::group;
    if (!done()) {
      task* const taken = grouped ? pool_.take_of(*w.in, w) : pool_.take_below(w);
      if (taken == nullptr) return false;
      const task* up = taken;
      while (up != nullptr && up != &w) up = up->parent;
      EXPECT_EQ(up, &w) << "a waiting task's thread may only run what is below it";
      push(t, taken);
      return true;
    }
    if (grouped) {
      close_group(w);
    } else {
      EXPECT_TRUE(w.unfinished.empty()) << "a taskwait ended too early";
    }
    t.stack.back().for_ = waits::nothing;
    return true;
  }

  void close_group(traced& w) {
    group* const g = w.in;
    for (const traced* m : members_[g]) EXPECT_TRUE(gone_.count(m) != 0) << "a taskgroup ended before a task in it";
    w.in = g->outer;
    own_groups_[&w].pop_back();
    members_.erase(g);
    delete g;
  }

  bool take(thread& t, task* taken) {
    if (taken == nullptr) return false;
    push(t, taken);
    return true;
  }

  bool end(thread& t) {
    traced* const ended = t.stack.back().what;
    if (!own_groups_[ended].empty()) {  // constructs are nested
      t.stack.back().for_ = waits::group;
      return true;
    }
    t.stack.pop_back();
    if (!ended->event_open) {
      mark_done(*ended);
      gone_.insert(ended);
    }
    keep(*ended);
    pool_.end_body(*ended);
    return true;
  }

  bool fulfil() {
    if (events_.empty()) return false;
    const std::size_t at = below(events_.size());
    traced* const t = events_[at];
    events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(at));
    if (t->body_done) {
      mark_done(*t);
      gone_.insert(t);
    }
    pool_.fulfil(*t);
    pool_.drop(*t);
    return true;
  }

  /// Takes one away, or goes on with one that was.
  bool elsewhere() {
    if (task* const taken = pool_.take_away(); taken != nullptr) {
      start(static_cast<traced&>(*taken));
      away_.push_back(static_cast<traced*>(taken));
      keep(*away_.back());
      return true;
    }
    if (away_.empty()) return false;
    const std::size_t at = below(away_.size());
    traced* const t = away_[at];
    if (!t->done) {
      mark_done(*t);
      if (below(2) == 0) {
        pool_.ended_elsewhere(*t);
        return true;
      }
    }
    away_.erase(away_.begin() + static_cast<std::ptrdiff_t>(at));
    gone_.insert(t);
    pool_.left_elsewhere(*t);
    return true;
  }

  /// Records that the checks look at later.
  void keep(traced& t) {
    held_.push_back(&t);
    ++t.references;
  }

  std::mt19937 random_;
  pool pool_{dispose};
  std::vector<thread> threads_;
  std::vector<traced*> events_, away_, held_;
  std::map<const task*, std::vector<group*>> own_groups_;
  std::map<const group*, std::vector<traced*>> members_;
  std::set<const traced*> gone_;
};

TEST(tasks, keep_every_order_in_random_programs) {
  int ran = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    program p(seed, 1 + static_cast<int>(seed % 4));
    p.run();
    ran += p.ran;
    if (HasFailure()) return;
  }
  EXPECT_GT(ran, 10'000) << "the programs are too small to show anything";
}

/// A chain whose tasks have all ended but the last: its end gives up all records, without recursion.
TEST(tasks, of_a_long_chain_go_without_recursion) {
  pool p(dispose);
  auto* const root = new traced;
  task* last = root;
  for (int i = 0; i < 1'000'000; ++i) {
    auto* const next = new traced;
    p.add(*next, *last, {});
    if (last != root) p.end_body(*last);
    last = next;
  }
  EXPECT_EQ(p.open(), 1u);
  p.end_body(*last);
  EXPECT_TRUE(p.idle());
  p.drop(*root);
  EXPECT_EQ(g_alive, 0);
}

/// Many readers of one address, of which a few are open at a time, do not pile up.
TEST(tasks, that_have_finished_are_forgotten_by_addresses) {
  pool p(dispose);
  auto* const root = new traced;
  char address = 0;
  const dependence in{&address, dependence::kind::in};
  auto* const first = new traced;
  p.add(*first, *root, {&in, 1});  // stays open: the table of addresses lives
  int most = 0;
  for (int i = 0; i < 10'000; ++i) {
    auto* const t = new traced;
    p.add(*t, *root, {&in, 1});
    p.end_body(*t);
    most = std::max(most, g_alive);
  }
  EXPECT_LT(most, 40);
  p.end_body(*first);
  p.drop(*root);
  EXPECT_EQ(g_alive, 0);
}

TEST(tasks, that_name_an_address_twice_count_once_and_as_the_stronger) {
  pool p(dispose);
  auto* const root = new traced;
  char address = 0;
  const dependence in{&address, dependence::kind::in}, out{&address, dependence::kind::out};
  const dependence both[] = {in, out, in};
  auto *const reader = new traced, *const writer = new traced, *const last = new traced;
  p.add(*reader, *root, {&in, 1});
  p.add(*writer, *root, both);
  p.add(*last, *root, {&in, 1});
  EXPECT_TRUE(pool::may_run(*reader));
  EXPECT_FALSE(pool::may_run(*writer));
  EXPECT_FALSE(pool::may_run(*last));
  p.end_body(*reader);
  EXPECT_TRUE(pool::may_run(*writer));
  p.end_body(*writer);
  EXPECT_TRUE(pool::may_run(*last));
  p.end_body(*last);
  p.drop(*root);
  EXPECT_EQ(g_alive, 0);
}

}  // namespace
}  // namespace quire::program
