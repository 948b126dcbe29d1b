// SPDX-License-Identifier: BSD-3-Clause
// Page locking under release consistency (KOAN), in all orders of small programs: two nodes never have a pin, and who
// has it sees what was written before it ended elsewhere, in the unit and around it. Whole nodes do it at random
// (whole_test, pins).
#include <gmock/gmock.h>

#include "release_explore.hpp"

namespace quire::sim::release_pin_exhaustive_test {
namespace {

using model::message_kind;
using sync::operation;
using testing::HasSubstr;

release_program impatient(release_cluster& c, std::size_t self, word w, unsigned times) {
  for (unsigned i = 0; i < times; ++i) {
    if (co_await c.try_pin(self, w) == 0) continue;
    co_await c.write(self, w, co_await c.read(self, w) + 1);
    co_await c.unpin(self, w);
  }
}
release_program counted(release_cluster& c, std::size_t self, word w) {
  co_await c.atomic(self, w, model::atomic_operation::add, 1);
}
release_program meets(release_cluster& c, std::size_t self, word mine, unsigned epochs) {
  for (unsigned i = 0; i < epochs; ++i) {
    if (mine != no_word) co_await c.write(self, mine, i + 1);
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

TEST(release_pins_exhaustive, two_nodes) {
  explore(shape(2), each({0, 1}, [](release_cluster& c, std::size_t t) { return pinned(c, t, 0, 2, no_word); }), 100);
}

TEST(release_pins_exhaustive, three_nodes_one_of_them_the_home) {
  explore(shape(3), each({0, 1, 2}, [](release_cluster& c, std::size_t t) { return pinned(c, t, 0, 2, no_word); }),
          2'000);
}

TEST(release_pins_exhaustive, what_lies_in_another_unit_is_seen_as_well) {
  explore(shape(3, 2, 1), each({0, 1, 2}, [](release_cluster& c, std::size_t t) { return pinned(c, t, 0, 1, 1); }),
          2'000);
}

TEST(release_pins_exhaustive, threads_that_give_up) {
  explore(
      shape(3),
      [](release_cluster& c) {
        const std::size_t a = c.add_thread(0), b = c.add_thread(1), d = c.add_thread(2);
        c.begin(a, impatient(c, a, 0, 2));
        c.begin(b, impatient(c, b, 0, 2));
        c.begin(d, pinned(c, d, 0, 1, no_word));
      },
      2'000);
}

TEST(release_pins_exhaustive, beside_threads_that_write_other_words_of_the_unit) {
  explore(
      shape(2, 1, 3),
      [](release_cluster& c) {
        const std::size_t a = c.add_thread(0), b = c.add_thread(1), d = c.add_thread(1), e = c.add_thread(0);
        c.begin(a, pinned(c, a, 0, 1, no_word));
        c.begin(b, pinned(c, b, 0, 2, no_word));
        c.begin(d, one_word(c, d, 1, 5));
        c.begin(e, one_word(c, e, 2, 6));
      },
      5'000);
}

TEST(release_pins_exhaustive, beside_diffs_and_notices_of_the_same_unit) {
  explore(
      shape(3, 1, 2),
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(0, operation::mutex_create);
        const auto locked = [](release_cluster& w, std::size_t self, std::uint64_t mutex) -> release_program {
          co_await w.call(self, operation::mutex_lock, mutex);
          co_await w.write(self, 1, co_await w.read(self, 1) + 1);
          co_await w.call(self, operation::mutex_unlock, mutex);
        };
        const std::size_t a = c.add_thread(1), b = c.add_thread(2), d = c.add_thread(1), e = c.add_thread(2);
        c.begin(a, pinned(c, a, 0, 1, no_word));
        c.begin(b, pinned(c, b, 0, 1, no_word));
        c.begin(d, locked(c, d, m));
        c.begin(e, locked(c, e, m));
      },
      10'000, false, 60'000);
}

TEST(release_pins_exhaustive, atomic_operations_wait_and_are_not_lost) {
  explore(
      shape(3, 1, 2),
      [](release_cluster& c) {
        const std::size_t a = c.add_thread(1), b = c.add_thread(0), d = c.add_thread(2), e = c.add_thread(0);
        c.begin(a, pinned(c, a, 0, 2, no_word));
        c.begin(b, pinned(c, b, 0, 1, no_word));
        c.begin(d, counted(c, d, 1));
        c.begin(e, counted(c, e, 1));
      },
      2'000);
}

TEST(release_pins_exhaustive, the_home_that_moves) {
  explore(
      shape(2),
      [](release_cluster& c) {
        const std::size_t a = c.add_thread(0), b = c.add_thread(1), d = c.add_thread(1), e = c.add_thread(0);
        c.begin(a, meets(c, a, no_word, 2));
        c.begin(b, meets(c, b, 1, 2));
        c.begin(d, pinned(c, d, 0, 1, no_word));
        c.begin(e, pinned(c, e, 0, 1, no_word));
      },
      5'000, false, 60'000);
}

TEST(release_pins_exhaustive, first_touch) {
  release_options o = shape(3);
  o.first_touch = true;
  explore(
      o,
      [](release_cluster& c) {
        const std::size_t a = c.add_thread(1), b = c.add_thread(2), d = c.add_thread(2);
        c.begin(a, pinned(c, a, 0, 1, no_word));
        c.begin(b, pinned(c, b, 0, 1, no_word));
        c.begin(d, one_word(c, d, 1, 4));
      },
      300);
}

// ---- Do the checkers see?

/// All write a word of another unit too, whose home is the same node or another one.
std::string of_two_units(model::placement homes, const std::function<void(release_cluster&)>& break_it) {
  release_options o = shape(3, 2, 1);
  o.placement = homes;
  return verdict(o, each({0, 1, 2}, [](release_cluster& c, std::size_t t) { return pinned(c, t, 0, 2, 1); }), break_it);
}
/// The home and two others.
std::string of_three(const std::function<void(release_cluster&)>& break_it) {
  return verdict(shape(3),
                 each({0, 1, 2}, [](release_cluster& c, std::size_t t) { return pinned(c, t, 0, 1, no_word); }),
                 break_it);
}

TEST(release_pins_broken, nothing) {
  for (const auto homes : {model::placement::node, model::placement::modulo})
    EXPECT_EQ(of_two_units(homes, [](release_cluster&) {}), "");
  EXPECT_EQ(of_three([](release_cluster&) {}), "");
}

TEST(release_pins_broken, pins_that_two_nodes_get) {
  EXPECT_THAT(of_three([](release_cluster& c) {
                c.tamper().actions = [&c](unsigned n, unsigned r, const message* m, model::actions& out) {
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

TEST(release_pins_broken, homes_that_grant_what_their_threads_have_written_without_a_release) {
  EXPECT_THAT(of_two_units(model::placement::node,
                           [](release_cluster& c) {
                             c.tamper().actions = [](unsigned, unsigned, const message*, model::actions& out) {
                               change(out, [](model::action& a) {
                                 if (a.kind == model::action_kind::send && a.m.kind == message_kind::pin_grant)
                                   a.m.b = 0;
                               });
                             };
                           }),
              HasSubstr("a thread reads"));
}

}  // namespace
}  // namespace quire::sim::release_pin_exhaustive_test
