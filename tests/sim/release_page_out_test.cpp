// SPDX-License-Identifier: BSD-3-Clause
// Nodes that are short of memory (page-out) under release consistency: see sequential_page_out_test.
#include <gmock/gmock.h>

#include <functional>
#include <iostream>
#include <utility>

#include "release_programs.hpp"
#include "sim/bare/release_explorer.hpp"

namespace quire::sim {
namespace {

using model::message_kind;
using sync::operation;
using testing::AnyOf;
using testing::HasSubstr;
using word = release_cluster::word;

release_plan short_of_memory(std::uint64_t seed, unsigned nodes) {
  release_plan plan = make_release_plan(seed, nodes);
  plan.shape.pages_out = true;
  return plan;
}

struct extent {
  unsigned nodes, seeds;
};

class release_page_out : public testing::TestWithParam<extent> {};

TEST_P(release_page_out, race_free_programs_see_the_last_write) {
  const extent e = GetParam();
  std::uint64_t gone = 0, dropped = 0, given = 0;
  const auto all = seeds(1, e.seeds);
  for (const std::uint64_t seed : all) {
    release_run run(short_of_memory(seed, e.nodes));
    ASSERT_EQ(run.run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
    gone += run.nodes().count().paged_out;
    given += run.nodes().count().given;
    for (unsigned n = 0; n < e.nodes; ++n) dropped += run.nodes().machine(n).count().copies_dropped;
  }
  EXPECT_TRUE(all.size() != e.seeds || (dropped > e.seeds && given > e.seeds)) << "too little was given up to mean anything";
  std::cout << e.nodes << " nodes, " << all.size() << " seeds: " << gone << " frames given back, " << dropped << " copies, " << given
            << " units taken over\n";
}

INSTANTIATE_TEST_SUITE_P(nodes, release_page_out, testing::Values(extent{2, 400}, extent{3, 400}, extent{8, 100}),
                         [](const auto& info) { return "of_" + std::to_string(info.param.nodes); });

/// A home went with the word by which one of its threads had said that others may go on, before its diffs had arrived.
TEST(release_page_out_pinned, what_a_home_has_said_by_atomic_operations_stays_true_where_it_goes) {
  for (const auto& [seed, nodes] : {std::pair(733u, 3u), {451u, 8u}}) EXPECT_EQ(release_run(short_of_memory(seed, nodes)).run(), "") << seed;
}

// ---- Every order of small programs: the home of unit 0 is node 0, and others are asked to take it

release_program takes(release_cluster& c, std::size_t self, unsigned times) {
  for (unsigned i = 0; i < times; ++i) co_await c.take_over(self, 0);
}
release_program locked(release_cluster& c, std::size_t self, std::uint64_t mutex, word w, unsigned times) {
  for (unsigned i = 0; i < times; ++i) {
    co_await c.call(self, operation::mutex_lock, mutex);
    co_await c.write(self, w, co_await c.read(self, w) + 1);
    co_await c.call(self, operation::mutex_unlock, mutex);
  }
}
release_program added(release_cluster& c, std::size_t self, word w, word counter) {
  co_await c.write(self, w, self + 1);
  co_await c.atomic(self, counter, model::atomic_operation::add, 1);
  co_await c.read(self, w);
}
release_program pinned(release_cluster& c, std::size_t self, word w) {
  co_await c.pin(self, w);
  co_await c.write(self, w, co_await c.read(self, w) + 1);
  co_await c.unpin(self, w);
}
release_program alone(release_cluster& c, std::size_t self, word w) {
  co_await c.write(self, w, 1);
  co_await c.read(self, w);
  co_await c.write(self, w, 2);
}

release_exploration exploration(unsigned nodes, const release_explorer::scenario& make, unsigned units = 1) {
  release_options o;
  o.nodes = nodes;
  o.units = units;
  o.words = 3;
  o.placement = model::placement::node;
  o.migrates = false;
  o.limited = true;
  return release_explorer(o, make, 40'000).run(false);
}

void explore(unsigned nodes, const release_explorer::scenario& make, std::uint64_t at_least) {
  const release_exploration found = exploration(nodes, make);
  EXPECT_EQ(found.failure, "");
  EXPECT_GE(found.states, at_least) << "the program no longer leads to what it was written for";
  std::cout << found.states << " states, " << found.ends << " ends" << (found.complete ? ", all\n" : ", cut off\n");
}

/// A thread of `node` with a program.
template <class... Arguments>
void with(release_cluster& c, unsigned node, release_program (*program)(release_cluster&, std::size_t, Arguments...), Arguments... arguments) {
  const std::size_t t = c.add_thread(node);
  c.begin(t, program(c, t, arguments...));
}

TEST(release_page_out_exhaustive, a_unit_is_taken_while_both_write_it) {
  explore(2, [](release_cluster& c) {
    const std::uint64_t m = c.make_object(0, operation::mutex_create);
    with(c, 0, locked, m, word{0}, 2u);
    with(c, 1, locked, m, word{0}, 1u);
    with(c, 1, takes, 2u);
  }, 1'000);
}

TEST(release_page_out_exhaustive, a_unit_is_taken_while_the_home_writes_what_nobody_else_has) {
  explore(2, [](release_cluster& c) {
    with(c, 0, alone, word{0});
    with(c, 1, takes, 2u);
    with(c, 1, alone, word{1});
  }, 300);
}

TEST(release_page_out_exhaustive, a_unit_is_taken_while_a_third_node_writes_it) {
  explore(3, [](release_cluster& c) {
    const std::uint64_t m = c.make_object(0, operation::mutex_create);
    with(c, 1, takes, 1u);
    with(c, 2, locked, m, word{0}, 1u);
    with(c, 0, locked, m, word{0}, 1u);
  }, 3'000);
}

TEST(release_page_out_exhaustive, a_unit_goes_from_node_to_node) {
  explore(3, [](release_cluster& c) {
    with(c, 0, alone, word{0});
    with(c, 1, takes, 2u);
    with(c, 2, takes, 2u);
    with(c, 2, alone, word{1});
  }, 3'000);
}

/// Node 2 asks again for what it wrote, by way of node 0: the home all the time, or once more.
void comes_back(release_cluster& c) {
  const std::uint64_t m = c.make_object(2, operation::mutex_create);
  with(c, 2, alone, word{0});
  with(c, 2, locked, m, word{1}, 1u);
  with(c, 0, locked, m, word{1}, 1u);
  with(c, 1, takes, 1u);
  with(c, 0, takes, 1u);
}

TEST(release_page_out_exhaustive, a_unit_comes_back_to_where_it_was) { explore(3, comes_back, 3'000); }

TEST(release_page_out_exhaustive, a_unit_is_taken_while_it_is_pinned) {
  explore(2, [](release_cluster& c) {
    with(c, 0, pinned, word{0});
    with(c, 1, pinned, word{0});
    with(c, 1, takes, 2u);
  }, 500);
}

TEST(release_page_out_exhaustive, a_unit_is_taken_between_atomic_operations) {
  explore(2, [](release_cluster& c) {
    with(c, 0, added, word{0}, word{2});
    with(c, 1, added, word{1}, word{2});
    with(c, 1, takes, 1u);
  }, 500);
}

// ---- Do the checkers see?

template <class F>
std::string verdict(F&& break_it, std::uint64_t all_seeds = 200) {
  for (std::uint64_t seed = 1; seed <= all_seeds; ++seed) {
    release_run run(short_of_memory(seed, 2 + static_cast<unsigned>(seed % 3)));
    break_it(run.nodes());
    if (std::string failure = run.run(); !failure.empty()) return failure.substr(0, failure.find('\n'));
  }
  return {};
}

bool brings_home(const model::message* m) {
  return m != nullptr && m->kind == message_kind::home_move && (m->flags & model::message_flag::take) != 0;
}

TEST(release_page_out_mutation, homes_that_go_without_their_content) {
  EXPECT_THAT(verdict([](release_cluster& c) {
    c.tamper().actions = [](unsigned, unsigned, const model::message*, model::actions& out) {
      const model::actions all = out;
      out.clear();
      for (const model::action& a : all) {
        auto& changed = out.add(a.kind, a.unit) = a;
        if (brings_home(&a.m)) changed.with_content = false;
      }
    };
  }), AnyOf(HasSubstr("a thread reads"), HasSubstr("works on an old value"), HasSubstr("and the frame is not"), HasSubstr("content is wrong")));
}

TEST(release_page_out_mutation, old_homes_whose_threads_go_on_using_the_frame) {
  EXPECT_THAT(verdict([](release_cluster& c) {
    c.tamper().actions = [](unsigned, unsigned, const model::message*, model::actions& out) {
      if (std::none_of(out.begin(), out.end(), [](const model::action& a) { return brings_home(&a.m); })) return;
      const model::actions all = out;
      out.clear();
      for (const model::action& a : all) {
        if (a.kind != model::action_kind::protect) out.add(a.kind, a.unit) = a;
      }
    };
  }), HasSubstr("the machine is wrong about its view"));
}

/// The message with the content is read late, and takes writes along that were made after the home had gone: an older diff that comes behind
/// it takes them back, and what was changed and changed back before the next diff stays changed.
TEST(release_page_out_mutation, old_homes_that_keep_what_they_send_as_a_copy) {
  EXPECT_THAT(verdict([](release_cluster& c) {
    c.tamper().given_frames_stay = true;
    c.tamper().actions = [&c](unsigned node, unsigned region, const model::message*, model::actions& out) {
      const auto gives = std::ranges::find_if(out, [](const model::action& a) { return brings_home(&a.m) && a.with_content; });
      if (gives == out.end()) return;
      release::unit_state& s = c.unit(node, region, gives->unit);
      const model::actions all = out;
      out.clear();
      for (model::action a : all) {
        const bool hides = a.kind == model::action_kind::protect && a.level == model::access::none;
        if (hides) {
          s.valid = 1;
          s.version = release::no_version;
          s.set_mapped(model::access::read);
          a.level = model::access::read;
        }
        if (!hides || a.from == model::access::write) out.add(a.kind, a.unit) = a;
      }
    };
  }), AnyOf(HasSubstr("a thread reads"), HasSubstr("works on an old value"), HasSubstr("content is wrong")));
}

TEST(release_page_out_mutation, homes_that_are_back_and_serve_what_comes_before_what_they_passed_on) {
  EXPECT_THAT(verdict([](release_cluster& c) {
    c.tamper().after = [&c](unsigned node, unsigned region, std::uint64_t unit, const model::message*) {
      release::unit_state& s = c.unit(node, region, unit);
      if (s.is_home == 0) return;
      s.was_home = 0;
      s.home = node_id{static_cast<std::uint16_t>(node)};
    };
  }, 10'000), AnyOf(HasSubstr("a thread reads"), HasSubstr("works on an old value"), HasSubstr("content is wrong")));
}

release_program reads_twice(release_cluster& c, std::size_t self) {
  co_await c.read(self, 0);
  for (int i = 0; i < 2; ++i) co_await c.call(self, operation::barrier_wait, 0);
  co_await c.read(self, 0);
}
release_program takes_and_writes(release_cluster& c, std::size_t self) {
  co_await c.call(self, operation::barrier_wait, 0);
  co_await c.take_over(self, 0);
  co_await c.write(self, 0, 2);
  co_await c.call(self, operation::barrier_wait, 0);
}
release_program publishes(release_cluster& c, std::size_t self, word data, word flag) {
  co_await c.write(self, data, 7);
  co_await c.atomic(self, flag, model::atomic_operation::add, 1);
}
release_program takes_the_flag(release_cluster& c, std::size_t self, word data, word flag) {
  co_await c.read_anything(self, data);
  co_await c.take_over(self, flag);
  const std::uint64_t seen = co_await c.atomic(self, flag, model::atomic_operation::add, 0);
  if (seen == 1) {
    co_await c.read(self, data);
  }
}
release_program only_waits(release_cluster& c, std::size_t self) {
  for (int i = 0; i < 2; ++i) co_await c.call(self, operation::barrier_wait, 0);
}

TEST(release_page_out_mutation, new_homes_that_believe_nobody_has_a_copy) {
  for (const bool broken : {false, true}) {
    const auto found = exploration(3, [&](release_cluster& c) {
      with(c, 0, only_waits);
      with(c, 1, takes_and_writes);
      with(c, 2, reads_twice);
      if (!broken) return;
      c.tamper().after = [&c](unsigned node, unsigned region, std::uint64_t unit, const model::message* m) {
        if (brings_home(m)) c.unit(node, region, unit).shared = 0;
      };
    });
    EXPECT_THAT(found.failure, broken ? testing::Matcher<std::string>(HasSubstr("a thread reads")) : testing::Eq(""));
  }
}

TEST(release_page_out_mutation, old_homes_that_do_not_tell_what_was_released) {
  for (const bool broken : {false, true}) {
    const auto found = exploration(2, [&](release_cluster& c) {
      c.tamper().homes_go_silently = broken;
      with(c, 0, publishes, word{3}, word{0});
      with(c, 1, takes_the_flag, word{3}, word{0});
    }, 2);
    EXPECT_THAT(found.failure, broken ? testing::Matcher<std::string>(HasSubstr("a thread reads")) : testing::Eq(""));
  }
}

}  // namespace
}  // namespace quire::sim
