// SPDX-License-Identifier: BSD-3-Clause
// The generated litmus tests (tests/litmus) on whole nodes, by chance: one thread a node, each variable in a unit of
// its own. Under each consistency; what is around the accesses, where homes are, who has copies from before and how
// long threads pause follows from the seed. Half of the runs give each access a time of its own, in an order by chance:
// so the orders that few runs meet by chance are met as often as all others.
#include <algorithm>
#include <map>
#include <optional>

#include "core/transactions.hpp"
#include "litmus_seen.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/actor.hpp"

namespace quire::whole::whole_litmus_generated_test {
namespace {

namespace litmus = test::litmus;
using litmus::generated;
using litmus::outcome;
using litmus::step;
using sync::operation;

constexpr std::uint64_t page = 4096, words_at = base_address, flags_at = base_address + (std::uint64_t{2} << 20);

enum class around { nothing, lock, barrier, atomics, transaction };

struct way {
  const char* name;
  const litmus::column* how;
  quire_consistency consistency;
  around what;
  bool has_flag = false;  ///< the last variable is in a sequential region that orders
  bool by_token = false;
};
void PrintTo(const way& w, std::ostream* out) { *out << w.name; }

/// What the test ends with if its accesses come one after the other in this order: for each the thread.
outcome outcome_of(const std::vector<std::vector<step>>& threads, const std::vector<std::size_t>& order) {
  outcome seen{};
  std::vector<std::size_t> next(threads.size());
  for (const std::size_t t : order) {
    const step& s = threads[t][next[t]++];
    std::uint8_t& word = seen[litmus::max_registers + static_cast<std::size_t>(s.variable)];
    if (s.is_store)
      word = static_cast<std::uint8_t>(s.value);
    else
      seen[static_cast<std::size_t>(s.value)] = word;
  }
  return seen;
}

/// When each access of a run is made, by thread and step: in an order by chance, so far apart that they wait little for
/// each other, or much. Orders with rare outcomes are as likely as others. A thread's accesses that come together (a
/// transaction, a critical section) have the time of the first.
class timetable {
 public:
  timetable(const std::vector<std::vector<step>>& threads, std::uint64_t seed) : at_(threads.size()) {
    sim::random draw(seed);
    constexpr sim::time_ns apart[] = {20'000, 80'000, 300'000};
    const sim::time_ns between = apart[draw.below(std::size(apart))];
    std::vector<std::size_t> turns;
    for (std::size_t t = 0; t < threads.size(); ++t) turns.insert(turns.end(), threads[t].size(), t);
    std::map<outcome, std::vector<std::size_t>> orders;
    for (int i = 0; i < 256; ++i) {
      for (std::size_t left = turns.size(); left > 1; --left) std::swap(turns[left - 1], turns[draw.below(left)]);
      orders.emplace(outcome_of(threads, turns), turns);
    }
    turns = std::next(orders.begin(), static_cast<std::ptrdiff_t>(draw.below(orders.size())))->second;
    for (std::size_t i = 0; i < turns.size(); ++i) at_[turns[i]].push_back(until_all_are_ready + i * between);
    end_ = turns.size() * between;
  }
  [[nodiscard]] sim::time_ns at(std::size_t thread, std::size_t step) const { return at_[thread][step]; }
  /// How long all accesses take.
  [[nodiscard]] sim::time_ns length() const { return end_; }

 private:
  static constexpr sim::time_ns until_all_are_ready = 2'000'000;
  std::vector<std::vector<sim::time_ns>> at_;
  sim::time_ns end_ = 0;
};

/// One run of a test.
class program {
 public:
  program(const generated& one, const way& how, std::uint64_t seed)
      : test_(one.test), how_(how), seed_(seed), world_(options()) {
    if (seed % 4 >= 2) turns_.emplace(one.test.threads, sim::mix(seed));
    core::region_description about;
    about.id = 1;
    about.base = words_at;
    about.bytes = litmus::variables * page;
    const bool spread = seed % 3 == 0;
    about.placement = static_cast<std::uint8_t>(spread ? QUIRE_PLACE_MODULO : QUIRE_PLACE_NODE);
    about.home = static_cast<std::uint16_t>(spread ? 0 : seed % (threads() + 1));
    about.consistency = static_cast<std::uint8_t>(how.consistency);
    world_.add_region(about);
    about.id = 2;
    about.base = flags_at;
    about.consistency = QUIRE_SEQUENTIAL;
    about.orders = how.has_flag ? 1 : 0;
    if (how.has_flag) world_.add_region(about);
  }

  /// From now on nothing is taken away from threads any more, whatever the protocol says.
  void forget_to_protect() {
    for (unsigned n = 0; n < world_.nodes(); ++n) world_.at(n).forget_to_protect();
  }

  std::string run(outcome& seen) {
    world_.start(threads(), [&](node& here) {
      actor maker(world_, here, 1, seed_);
      mutex_ = maker.create(operation::mutex_create);
      semaphore_ = maker.create(operation::semaphore_create);
      barrier_ = maker.create(operation::barrier_create, threads());
      begin_ = here.now();
      for (unsigned i = 0; i < threads(); ++i) {
        world_.start(i, [&, i](node& at) {
          actor a(world_, at, 1, sim::mix(seed_ * 8 + i));
          thread_of(a, i);
          a.must_call(operation::barrier_wait, barrier_);
          if (i == 0) look_at_the_end(a);
        });
      }
    });
    auto wrong = world_.run();
    seen = seen_;
    return wrong;
  }

 private:
  [[nodiscard]] unsigned threads() const { return static_cast<unsigned>(test_.threads.size()); }
  world_options options() const {
    world_options o;
    o.net.seed = seed_;
    o.net.nodes = threads() + 1;
    o.net.straggler_percent = 20;
    o.net.straggler_delay = seed_ % 8 < 4 ? 40'000 : 250'000;
    o.net.reads_late = seed_ % 2 == 0;
    o.node.read_ahead = false;
    if (how_.by_token) o.node.protocols = protocol::with_token();
    return o;
  }
  [[nodiscard]] std::uint64_t place_of(int variable) const {
    const bool flag = how_.has_flag && variable + 1 == static_cast<int>(litmus::used_variables(test_));
    return (flag ? flags_at : words_at) + static_cast<std::uint64_t>(variable) * page;
  }

  void thread_of(actor& a, std::size_t self) {
    const std::vector<step>& steps = test_.threads[self];
    for (int v = 0; v < static_cast<int>(litmus::used_variables(test_)); ++v)
      if (a.draw.chance(50)) (void)a.here.load(place_of(v));
    // All begin at about the same time, or one after the other.
    if (!turns_) world_.sleep(a.draw.below(a.draw.chance(50) ? 150'000 : 20'000));
    const bool together = how_.what == around::transaction || how_.what == around::lock;
    if (together) wait_for_turn(a, self, 0);
    if (how_.what == around::transaction) return transact(a, steps);
    if (how_.what == around::lock) a.must_call(operation::mutex_lock, mutex_);
    std::size_t meetings = 0;
    for (const auto& others : test_.threads) meetings = std::max(meetings, others.size());
    for (std::size_t i = 0; i < (how_.what == around::barrier ? meetings : steps.size()); ++i) {
      if (i < steps.size() && !together) wait_for_turn(a, self, i);
      if (i < steps.size()) one_step(a, steps[i]);
      if (how_.what == around::barrier) a.must_call(operation::barrier_wait, barrier_);
    }
    if (how_.what == around::lock) a.must_call(operation::mutex_unlock, mutex_);
    if (turns_) world_.sleep(a.draw.below(turns_->length()));  // what was written last goes home in any order
  }

  void wait_for_turn(actor& a, std::size_t thread, std::size_t step) {
    if (!turns_) return;
    const sim::time_ns at = begin_ + turns_->at(thread, step), now = a.here.now();
    if (at > now) world_.sleep(at - now);
  }

  void one_step(actor& a, const step& s) {
    const std::uint64_t at = place_of(s.variable);
    const auto number = static_cast<std::uint64_t>(s.value);
    if (!turns_ && a.draw.chance(50)) world_.sleep(a.draw.below(30'000));
    if (how_.what == around::nothing) release_or_acquire(a, 30, turns_ ? 5 : 15);
    std::uint64_t found = 0;
    if (how_.what == around::atomics) {
      found = a.operate(at, s.is_store ? model::atomic_operation::exchange : model::atomic_operation::add,
                        s.is_store ? number : 0);
    } else if (s.is_store) {
      a.here.store(at, number);
    } else {
      found = a.here.load(at);
    }
    if (!s.is_store) seen_[number] = static_cast<std::uint8_t>(found);
    if (how_.what == around::nothing && turns_) release_or_acquire(a, seed_ % 16 < 8 ? 100 : 50, 5);
  }

  /// What a thread has done may go to the homes at any time, and copies may go: more order than the test has, but each
  /// outcome of that is one that the model allows without it.
  void release_or_acquire(actor& a, unsigned release_percent, unsigned acquire_percent) {
    if (a.draw.chance(release_percent)) a.must_call(operation::semaphore_release, semaphore_, 1);
    if (!a.draw.chance(acquire_percent)) return;
    a.must_call(operation::mutex_lock, mutex_);
    a.must_call(operation::mutex_unlock, mutex_);
  }

  void transact(actor& a, const std::vector<step>& steps) {
    auto& calls = a.here.core().transactions;
    for (unsigned attempt = 1; !world_.failed(); ++attempt) {
      if (attempt > 2) a.here.pause(a.draw.below(std::uint64_t{2'000} << std::min(attempt, 5u)));
      a.must(calls.begin(attempt > 4), "a transaction's begin");
      bool doomed = false;
      try {
        for (const step& s : steps) one_step(a, s);
      } catch (const restart&) {
        doomed = true;
      }
      const auto why = doomed ? calls.abort() : calls.commit();
      a.must(why, "a transaction's end", QUIRE_CONFLICT);
      if (!doomed && why.ok()) return;
    }
  }

  void look_at_the_end(actor& a) {
    for (std::size_t v = 0; v < litmus::used_variables(test_); ++v)
      seen_[litmus::max_registers + v] = static_cast<std::uint8_t>(a.here.load(place_of(static_cast<int>(v))));
  }

  const litmus::shape& test_;
  const way& how_;
  std::uint64_t seed_;
  std::optional<timetable> turns_;
  sim::time_ns begin_ = 0;
  world world_;
  outcome seen_{};
  std::uint64_t mutex_ = 0, barrier_ = 0, semaphore_ = 0;
};

class whole_litmus_generated : public testing::TestWithParam<way> {};

TEST_P(whole_litmus_generated, shows_nothing_that_its_model_forbids) {
  for (const generated& one : litmus::all_generated) {
    std::set<outcome> all;
    for (const std::uint64_t seed : sim::seeds(1, 300)) {
      outcome seen{};
      const auto wrong = program(one, GetParam(), seed).run(seen);
      ASSERT_EQ(wrong, "") << one.test.name << ", replay: QUIRE_SIM_SEED=" << seed;
      all.insert(seen);
    }
    litmus::judge(*GetParam().how, "whole", one, all, false);
  }
}

constexpr way ways[] = {
    {"plain", &litmus::tso, QUIRE_SEQUENTIAL, around::nothing},
    {"atomics", &litmus::sequential, QUIRE_SEQUENTIAL, around::atomics},
    {"release", &litmus::release, QUIRE_RELEASE, around::nothing},
    {"release_atomics", &litmus::sequential, QUIRE_RELEASE, around::atomics},
    {"locked", &litmus::locked, QUIRE_RELEASE, around::lock},
    {"barriers", &litmus::barriers, QUIRE_RELEASE, around::barrier},
    {"mixed", &litmus::mixed, QUIRE_RELEASE, around::nothing, true},
    {"owners", &litmus::owners, QUIRE_TRANSACTIONAL, around::transaction},
    {"token", &litmus::token, QUIRE_TRANSACTIONAL, around::transaction, false, true},
};

/// The tests see a broken protocol: where nodes keep what others have written since, each model shows something that it
/// forbids.
TEST(whole_litmus_generated_broken, old_copies_show_what_each_model_forbids) {
  for (const way& w : ways) {
    if (w.what == around::atomics || w.how == &litmus::release) continue;  // done at homes; promises nothing
    unsigned forbidden = 0;
    for (const generated* one : litmus::with_threads(2)) {
      const auto may_be = litmus::allowed(one->test, w.how->limit);
      for (const std::uint64_t seed : sim::seeds(1, 60, sim::looks_for::rare_outcomes)) {
        program p(*one, w, seed);
        p.forget_to_protect();
        outcome seen{};
        (void)p.run(seen);
        forbidden += !may_be.contains(seen) || (seen == one->cycle && !(one->*w.how->may_be)) ? 1 : 0;
      }
    }
    EXPECT_GT(forbidden, 0u) << w.name;
  }
}

INSTANTIATE_TEST_SUITE_P(ways, whole_litmus_generated, testing::ValuesIn(ways),
                         [](const auto& about) { return about.param.name; });

}  // namespace
}  // namespace quire::whole::whole_litmus_generated_test
