// SPDX-License-Identifier: BSD-3-Clause
// The generated litmus tests (tests/litmus) on machines alone, in all orders of messages and threads: one thread a
// node, each variable in a unit of its own; with homes here and there, and with copies from before or without. Release
// consistency with its races, under a lock, with barriers, and by atomic operations; sequential consistency with plain
// accesses and atomic operations. Where there are too many orders, as many as time allows.
#include <functional>
#include <utility>

#include "litmus_seen.hpp"
#include "release_explore.hpp"
#include "sim/bare/sequential_explorer.hpp"
#include "sim/seeds.hpp"

namespace quire::sim::litmus_exhaustive_test {
namespace {

namespace litmus = test::litmus;
using litmus::generated;
using litmus::outcome;
using litmus::step;
using sync::operation;

/// Where the homes are, and who has copies from before.
struct variant {
  model::placement homes = model::placement::modulo;
  std::uint16_t home = 0;
  bool warm = false;
};
std::vector<variant> variants(std::size_t threads) {
  const auto last = static_cast<std::uint16_t>(threads - 1);
  std::vector<variant> all;
  for (const bool warm : {false, true}) {
    all.push_back({model::placement::modulo, 0, warm});
    all.push_back({model::placement::node, 0, warm});
    all.push_back({model::placement::node, last, warm});
  }
  return all;
}

enum class around { nothing, lock, barrier, atomics };

/// What the threads of a run use beside the words.
struct objects {
  std::uint64_t mutex = 0, barrier = 0, semaphore = 0;
};

release_program thread_of(release_cluster& c, std::size_t self, const std::vector<step>& steps, std::size_t meetings,
                          around what, objects with, std::size_t warm, outcome& seen) {
  for (word w = 0; w < warm; ++w) co_await c.read_anything(self, w);
  if (what == around::lock) co_await c.call(self, operation::mutex_lock, with.mutex);
  for (const step& s : steps) {
    const auto at = static_cast<word>(s.variable);
    const auto number = static_cast<std::uint64_t>(s.value);
    std::uint64_t found = 0;
    if (what == around::atomics) {
      found = co_await c.atomic(self, at, s.is_store ? model::atomic_operation::exchange : model::atomic_operation::add,
                                s.is_store ? number : 0);
    } else if (s.is_store) {
      co_await c.write(self, at, number);
    } else {
      found = co_await c.read_anything(self, at);
    }
    if (!s.is_store) seen[number] = static_cast<std::uint8_t>(found);
    if (what == around::barrier) co_await c.call(self, operation::barrier_wait, with.barrier);
  }
  for (std::size_t i = steps.size(); what == around::barrier && i < meetings; ++i)
    co_await c.call(self, operation::barrier_wait, with.barrier);
  if (what == around::lock) co_await c.call(self, operation::mutex_unlock, with.mutex);
  co_await c.call(self, operation::semaphore_release, with.semaphore, 1);
}

/// All that is seen of a test under release consistency; true if these were all orders.
bool see_release(const generated& one, around what, std::uint64_t most, std::set<outcome>& all,
                 const std::function<void(release_cluster&)>& break_it) {
  const auto& threads = one.test.threads;
  const std::size_t variables = litmus::used_variables(one.test);
  std::size_t meetings = 0;
  for (const auto& steps : threads) meetings = std::max(meetings, steps.size());
  bool complete = true;
  for (const variant& v : variants(threads.size())) {
    release_options o = shape(static_cast<unsigned>(threads.size()), static_cast<unsigned>(variables), 1);
    o.placement = v.homes;
    o.fixed = node_id{v.home};
    o.by_words = true;
    outcome seen{};
    const auto make = [&](release_cluster& c) {
      seen = {};
      if (break_it) break_it(c);
      const objects with{c.make_object(0, operation::mutex_create),
                         c.make_object(0, operation::barrier_create, threads.size()),
                         c.make_object(0, operation::semaphore_create)};
      for (unsigned n = 0; n < threads.size(); ++n) {
        const std::size_t t = c.add_thread(n);
        c.begin(t, thread_of(c, t, threads[n], meetings, what, with, v.warm ? variables : 0, seen));
      }
    };
    release_explorer x(o, make, most);
    const auto found = x.run(false, [&](release_cluster& c) {
      for (std::size_t w = 0; w < variables; ++w)
        seen[litmus::max_registers + w] = static_cast<std::uint8_t>(c.at_home(w));
      all.insert(seen);
    });
    EXPECT_TRUE(found.failure.empty() || break_it) << one.test.name << ": " << found.failure;
    complete &= found.complete;
  }
  return complete;
}
bool see_release(const generated& one, around what, std::uint64_t most, std::set<outcome>& all) {
  return see_release(one, what, most, all, {});
}

/// The same under sequential consistency.
bool see_sequential(const generated& one, around what, std::uint64_t most, std::set<outcome>& all) {
  const auto& threads = one.test.threads;
  const std::size_t variables = litmus::used_variables(one.test);
  bool complete = true;
  for (const variant& v : variants(threads.size())) {
    cluster_options o;
    o.nodes = static_cast<unsigned>(threads.size());
    o.units = static_cast<unsigned>(variables);
    o.words = 1;
    o.hold_off = o.learns = false;
    o.placement = v.homes;
    o.fixed = node_id{v.home};
    o.remembers = true;
    std::vector<script> scripts;
    const unsigned before = v.warm ? static_cast<unsigned>(variables) : 0;
    for (std::uint16_t n = 0; n < threads.size(); ++n) {
      script s{node_id{n}, {}};
      for (std::uint32_t unit = 0; unit < before; ++unit) s.operations.push_back({operation_kind::read, unit});
      for (const step& one_step : threads[n]) {
        const bool stores = one_step.is_store;
        const auto kind = what == around::atomics ? (stores ? operation_kind::exchange : operation_kind::add)
                          : stores                ? operation_kind::write
                                                  : operation_kind::read;
        s.operations.push_back({kind, static_cast<std::uint32_t>(one_step.variable), 0,
                                stores ? static_cast<std::uint64_t>(one_step.value) : 0});
      }
      scripts.push_back(std::move(s));
    }
    explorer x(o, std::move(scripts), most);
    x.cut_off_quietly();
    const auto found = x.run([&](const cluster& c) {
      outcome seen{};
      for (std::size_t n = 0; n < threads.size(); ++n) {
        for (std::size_t i = 0; i < threads[n].size(); ++i) {
          const step& s = threads[n][i];
          if (!s.is_store) seen[static_cast<std::size_t>(s.value)] = c.remembered(n, before + i);
        }
      }
      for (std::size_t w = 0; w < variables; ++w)
        seen[litmus::max_registers + w] = static_cast<std::uint8_t>(c.state().latest[w]);
      all.insert(seen);
    });
    EXPECT_EQ(found.failure, "") << one.test.name;
    complete &= found.complete;
  }
  return complete;
}

struct exploration_of {
  const char* name;
  const litmus::column* how;
  bool (*see)(const generated& one, around what, std::uint64_t most, std::set<outcome>& all);
  around what;
};
void PrintTo(const exploration_of& e, std::ostream* out) { *out << e.name; }

class litmus_exhaustive : public testing::TestWithParam<std::tuple<exploration_of, std::size_t>> {};

TEST_P(litmus_exhaustive, shows_nothing_that_its_model_forbids) {
  const auto& [e, threads] = GetParam();
  const std::uint64_t most = sim::seeds(1, 24).size() * (threads == 2 ? 2'000 : 100);
  for (const generated* one : litmus::with_threads(threads)) {
    std::set<outcome> seen;
    const bool complete = e.see(*one, e.what, most, seen);
    litmus::judge(*e.how, "bare", *one, seen, complete);
  }
}

constexpr exploration_of explorations[] = {
    {"plain", &litmus::tso, see_sequential, around::nothing},
    {"atomics", &litmus::sequential, see_sequential, around::atomics},
    {"release", &litmus::release, see_release, around::nothing},
    {"release_atomics", &litmus::sequential, see_release, around::atomics},
    {"locked", &litmus::locked, see_release, around::lock},
    {"barriers", &litmus::barriers, see_release, around::barrier},
};

/// The tests see a broken protocol.
TEST(litmus_exhaustive_broken, locks_that_bring_nothing_show_what_they_forbid) {
  unsigned forbidden = 0;
  for (const generated* one : litmus::with_threads(2)) {
    std::set<outcome> seen;
    const auto break_it = [](release_cluster& c) { c.tamper().never_acquires = true; };
    (void)see_release(*one, around::lock, 20'000, seen, break_it);
    const auto may_be = litmus::allowed(one->test, litmus::locked.limit);
    for (const outcome& o : seen) forbidden += may_be.contains(o) ? 0 : 1;
    if (forbidden != 0) break;
  }
  EXPECT_GT(forbidden, 0u);
}

INSTANTIATE_TEST_SUITE_P(cycles, litmus_exhaustive,
                         testing::Combine(testing::ValuesIn(explorations), testing::Values(2u, 3u, 4u)),
                         [](const auto& about) {
                           return std::string(std::get<0>(about.param).name) + "_of_" +
                                  std::to_string(std::get<1>(about.param)) + "_threads";
                         });

}  // namespace
}  // namespace quire::sim::litmus_exhaustive_test
