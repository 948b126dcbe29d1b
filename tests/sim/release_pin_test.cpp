// SPDX-License-Identifier: BSD-3-Clause
// Page locking under release consistency (KOAN), in the simulator: two nodes never have a pin, and who has it sees what was
// written before it ended elsewhere, in the unit and around it; random programs, small ones exhaustively, and with something broken.
#include <gmock/gmock.h>

#include <iostream>

#include "release_programs.hpp"
#include "sim/bare/release_explorer.hpp"

namespace quire::sim {
namespace {

using model::message_kind;
using testing::AnyOf;
using testing::HasSubstr;
using word = release_cluster::word;
using tampering = release_cluster::tampering;

release_plan plan_of(std::uint64_t seed, unsigned nodes) {
  release_plan p = make_release_plan(seed, nodes);
  p.pins = 2 + static_cast<unsigned>(seed % 3);
  p.items = 12;
  return p;
}

struct extent {
  unsigned nodes, seeds;
};
class release_pins : public testing::TestWithParam<extent> {};

TEST_P(release_pins, race_free_programs_see_the_last_write) {
  const extent e = GetParam();
  std::uint64_t pins = 0, waits = 0, stale = 0, moves = 0;
  const auto all = seeds(1, e.seeds);
  for (const std::uint64_t seed : all) {
    release_run r(plan_of(seed, e.nodes));
    ASSERT_EQ(r.run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
    pins += r.nodes().count().pins;
    for (unsigned n = 0; n < e.nodes; ++n) {
      waits += r.nodes().machine(n).count().pin_waits;
      stale += r.nodes().machine(n).count().stale_replies;
      moves += r.nodes().machine(n).count().home_moves;
    }
  }
  EXPECT_TRUE(all.size() != e.seeds || pins > 5 * e.seeds) << "too few pins to mean anything";
  EXPECT_TRUE(all.size() != e.seeds || e.nodes == 1 || waits > e.seeds) << "nobody waited for a pin";
  std::cout << e.nodes << " nodes, " << all.size() << " seeds: " << pins << " pins, " << waits << " waits, " << stale << " stale replies, "
            << moves << " home moves\n";
}

INSTANTIATE_TEST_SUITE_P(nodes, release_pins, testing::Values(extent{1, 20}, extent{2, 500}, extent{3, 500}, extent{5, 200}, extent{8, 100}),
                         [](const auto& info) { return "of_" + std::to_string(info.param.nodes); });

// ---- small ones

release_options shape(unsigned nodes, unsigned units = 1, unsigned words = 2) {
  release_options o;
  o.nodes = nodes;
  o.units = units;
  o.words = words;
  o.placement = model::placement::node;
  return o;
}
release_exploration explore(const release_options& o, const release_explorer::scenario& make, std::uint64_t most_states = 40'000) {
  release_explorer x(o, make, most_states);
  const release_exploration found = x.run(false);
  std::cout << found.states << " states, " << found.ends << " ends" << (found.complete ? ", all" : ", cut off") << "\n";
  return found;
}

release_program pinned(release_cluster& c, std::size_t self, word w, unsigned times, word beside = ~word{0}) {
  for (unsigned i = 0; i < times; ++i) {
    co_await c.pin(self, w);
    co_await c.write(self, w, co_await c.read(self, w) + 1);
    if (beside != ~word{0}) co_await c.write(self, beside, co_await c.read(self, beside) + 1);
    co_await c.unpin(self, w);
  }
}
release_program impatient(release_cluster& c, std::size_t self, word w, unsigned times) {
  for (unsigned i = 0; i < times; ++i) {
    if (co_await c.try_pin(self, w) == 0) continue;
    co_await c.write(self, w, co_await c.read(self, w) + 1);
    co_await c.unpin(self, w);
  }
}
release_program one_word(release_cluster& c, std::size_t self, word w, std::uint64_t value) {
  co_await c.write(self, w, value);
  co_await c.read(self, w);
}
release_program counted(release_cluster& c, std::size_t self, word w) { co_await c.atomic(self, w, model::atomic_operation::add, 1); }
release_program in_epochs(release_cluster& c, std::size_t self, word mine, unsigned epochs) {
  for (unsigned i = 0; i < epochs; ++i) {
    if (mine != ~word{0}) co_await c.write(self, mine, i + 1);
    co_await c.call(self, operation::barrier_wait, 0);
  }
}

/// A thread on each node of `nodes`, all of the same program.
template <class Program>
release_explorer::scenario each(std::vector<unsigned> nodes, Program&& program) {
  return [=](release_cluster& c) {
    for (const unsigned n : nodes) {
      const std::size_t t = c.add_thread(n);
      c.begin(t, program(c, t));
    }
  };
}

void all_of(const release_options& o, const release_explorer::scenario& make, std::uint64_t at_least, std::uint64_t most = 40'000) {
  const auto found = explore(o, make, most);
  EXPECT_EQ(found.failure, "");
  EXPECT_GE(found.states, at_least) << "the program no longer leads to what it was written for";
}

TEST(release_pins_exhaustive, two_nodes) {
  all_of(shape(2), each({0, 1}, [](release_cluster& c, std::size_t t) { return pinned(c, t, 0, 2); }), 100);
}

TEST(release_pins_exhaustive, three_nodes_one_of_them_the_home) {
  all_of(shape(3), each({0, 1, 2}, [](release_cluster& c, std::size_t t) { return pinned(c, t, 0, 2); }), 2'000);
}

TEST(release_pins_exhaustive, what_lies_in_another_unit_is_seen_as_well) {
  all_of(shape(3, 2, 1), each({0, 1, 2}, [](release_cluster& c, std::size_t t) { return pinned(c, t, 0, 1, 1); }), 2'000);
}

TEST(release_pins_exhaustive, threads_that_give_up) {
  all_of(shape(3), [](release_cluster& c) {
    const std::size_t a = c.add_thread(0), b = c.add_thread(1), d = c.add_thread(2);
    c.begin(a, impatient(c, a, 0, 2));
    c.begin(b, impatient(c, b, 0, 2));
    c.begin(d, pinned(c, d, 0, 1));
  }, 2'000);
}

TEST(release_pins_exhaustive, beside_threads_that_write_other_words_of_the_unit) {
  all_of(shape(2, 1, 3), [](release_cluster& c) {
    const std::size_t a = c.add_thread(0), b = c.add_thread(1), d = c.add_thread(1), e = c.add_thread(0);
    c.begin(a, pinned(c, a, 0, 1));
    c.begin(b, pinned(c, b, 0, 2));
    c.begin(d, one_word(c, d, 1, 5));
    c.begin(e, one_word(c, e, 2, 6));
  }, 5'000);
}

TEST(release_pins_exhaustive, beside_diffs_and_notices_of_the_same_unit) {
  all_of(shape(3, 1, 2), [](release_cluster& c) {
    const std::uint64_t m = c.make_object(0, operation::mutex_create);
    const auto locked = [](release_cluster& w, std::size_t self, std::uint64_t mutex) -> release_program {
      co_await w.call(self, operation::mutex_lock, mutex);
      co_await w.write(self, 1, co_await w.read(self, 1) + 1);
      co_await w.call(self, operation::mutex_unlock, mutex);
    };
    const std::size_t a = c.add_thread(1), b = c.add_thread(2), d = c.add_thread(1), e = c.add_thread(2);
    c.begin(a, pinned(c, a, 0, 1));
    c.begin(b, pinned(c, b, 0, 1));
    c.begin(d, locked(c, d, m));
    c.begin(e, locked(c, e, m));
  }, 10'000, 60'000);
}

TEST(release_pins_exhaustive, atomic_operations_wait_and_are_not_lost) {
  all_of(shape(3, 1, 2), [](release_cluster& c) {
    const std::size_t a = c.add_thread(1), b = c.add_thread(0), d = c.add_thread(2), e = c.add_thread(0);
    c.begin(a, pinned(c, a, 0, 2));
    c.begin(b, pinned(c, b, 0, 1));
    c.begin(d, counted(c, d, 1));
    c.begin(e, counted(c, e, 1));
  }, 2'000);
}

TEST(release_pins_exhaustive, the_home_that_moves) {
  all_of(shape(2), [](release_cluster& c) {
    const std::size_t a = c.add_thread(0), b = c.add_thread(1), d = c.add_thread(1), e = c.add_thread(0);
    c.begin(a, in_epochs(c, a, ~word{0}, 2));
    c.begin(b, in_epochs(c, b, 1, 2));
    c.begin(d, pinned(c, d, 0, 1));
    c.begin(e, pinned(c, e, 0, 1));
  }, 5'000, 60'000);
}

TEST(release_pins_exhaustive, first_touch) {
  release_options o = shape(3);
  o.first_touch = true;
  all_of(o, [](release_cluster& c) {
    const std::size_t a = c.add_thread(1), b = c.add_thread(2), d = c.add_thread(2);
    c.begin(a, pinned(c, a, 0, 1));
    c.begin(b, pinned(c, b, 0, 1));
    c.begin(d, one_word(c, d, 1, 4));
  }, 300);
}

// ---- broken ones

template <class F>
std::string verdict(F&& break_it) {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    release_plan p = plan_of(seed, 2 + static_cast<unsigned>(seed % 3));
    p.net.step_limit = 300'000;
    release_run r(p);
    break_it(r.nodes(), r.nodes().tamper());
    if (std::string failure = r.run(); !failure.empty()) return failure.substr(0, failure.find('\n'));
  }
  return {};
}

TEST(release_pins_broken, pins_that_two_nodes_get) {
  EXPECT_THAT(verdict([](release_cluster& c, tampering& t) {
                t.actions = [&c](unsigned n, unsigned r, const message* m, model::actions& out) {
                  if (m == nullptr || m->kind != message_kind::pin_request || out.size() != 0) return;
                  if (!c.machine(n, r).is_home(m->unit)) return;
                  auto& a = out.add(model::action_kind::send, m->unit);  // whoever has it
                  a.to = m->requester;
                  a.m = *m;
                  a.m.from = node_id{static_cast<std::uint16_t>(n)};
                  a.m.kind = message_kind::pin_grant;
                  a.m.b = 0;
                };
              }),
              HasSubstr("two nodes have a pin"));
}

TEST(release_pins_broken, content_that_is_taken_although_others_have_told_more) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) { t.pins_cover_all_news = true; }),
              AnyOf(HasSubstr("a thread reads"), HasSubstr("works on an old value"), HasSubstr("content is wrong at the end")));
}

TEST(release_pins_broken, pins_that_end_before_what_was_written_has_arrived) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) { t.ignores_acknowledgements = true; }), HasSubstr("a thread reads"));
}

TEST(release_pins_broken, a_home_that_forgets_who_waits) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) {
                t.arrives = [](node_id, const message& m) { return m.kind != message_kind::pin_next; };
              }),
              AnyOf(HasSubstr("waits for ever"), HasSubstr("livelock")));
}

TEST(release_pins_broken, homes_that_grant_what_their_threads_have_written_without_a_release) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) {
                t.actions = [](unsigned, unsigned, const message*, model::actions& out) {
                  model::actions changed;
                  for (model::action a : out) {
                    if (a.kind == model::action_kind::send && a.m.kind == message_kind::pin_grant) a.m.b = 0;
                    changed.add(a.kind, a.unit) = a;
                  }
                  out = changed;
                };
              }),
              HasSubstr("a thread reads"));
}

}  // namespace
}  // namespace quire::sim
