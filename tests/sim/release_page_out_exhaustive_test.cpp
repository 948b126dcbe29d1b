// SPDX-License-Identifier: BSD-3-Clause
// Nodes that are short of memory (page-out) under release consistency, in all orders of small programs: homes go to
// other nodes, with their content. Whole nodes do it at random (whole_test: few_frames, flags).
#include <gmock/gmock.h>

#include <algorithm>

#include "release_explore.hpp"

namespace quire::sim::release_page_out_exhaustive_test {
namespace {

using model::message_kind;
using sync::operation;
using testing::AnyOf;
using testing::HasSubstr;

// ---- The home of unit 0 is node 0, and others are asked to take it

release_program added(release_cluster& c, std::size_t self, word w, word counter) {
  co_await c.write(self, w, self + 1);
  co_await c.atomic(self, counter, model::atomic_operation::add, 1);
  co_await c.read(self, w);
}
release_program alone(release_cluster& c, std::size_t self, word w) {
  co_await c.write(self, w, 1);
  co_await c.read(self, w);
  co_await c.write(self, w, 2);
}

release_options limited(unsigned nodes, unsigned units = 1) {
  release_options o = shape(nodes, units, 3);
  o.migrates = false;
  o.limited = true;
  return o;
}

void taken_while_the_home_writes(release_cluster& c) {
  with(c, 0, alone, word{0});
  with(c, 1, takes, word{0}, 2u);
  with(c, 1, alone, word{1});
}

TEST(release_page_out_exhaustive, a_unit_is_taken_while_both_write_it) {
  explore(
      limited(2),
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(0, operation::mutex_create);
        with(c, 0, locked, m, word{0}, 2u);
        with(c, 1, locked, m, word{0}, 1u);
        with(c, 1, takes, word{0}, 2u);
      },
      1'000);
}

TEST(release_page_out_exhaustive, a_unit_is_taken_while_the_home_writes_what_nobody_else_has) {
  explore(limited(2), taken_while_the_home_writes, 300);
}

TEST(release_page_out_exhaustive, a_unit_is_taken_while_a_third_node_writes_it) {
  explore(
      limited(3),
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(0, operation::mutex_create);
        with(c, 1, takes, word{0}, 1u);
        with(c, 2, locked, m, word{0}, 1u);
        with(c, 0, locked, m, word{0}, 1u);
      },
      3'000);
}

TEST(release_page_out_exhaustive, a_unit_goes_from_node_to_node) {
  explore(
      limited(3),
      [](release_cluster& c) {
        with(c, 0, alone, word{0});
        with(c, 1, takes, word{0}, 2u);
        with(c, 2, takes, word{0}, 2u);
        with(c, 2, alone, word{1});
      },
      3'000);
}

/// Node 2 asks again for what it wrote, by way of node 0: the home all the time, or once more.
void comes_back(release_cluster& c) {
  const std::uint64_t m = c.make_object(2, operation::mutex_create);
  with(c, 2, alone, word{0});
  with(c, 2, locked, m, word{1}, 1u);
  with(c, 0, locked, m, word{1}, 1u);
  with(c, 1, takes, word{0}, 1u);
  with(c, 0, takes, word{0}, 1u);
}

TEST(release_page_out_exhaustive, a_unit_comes_back_to_where_it_was) { explore(limited(3), comes_back, 3'000); }

TEST(release_page_out_exhaustive, a_unit_is_taken_while_it_is_pinned) {
  explore(
      limited(2),
      [](release_cluster& c) {
        with(c, 0, pinned, word{0}, 1u, no_word);
        with(c, 1, pinned, word{0}, 1u, no_word);
        with(c, 1, takes, word{0}, 2u);
      },
      500);
}

TEST(release_page_out_exhaustive, a_unit_is_taken_between_atomic_operations) {
  explore(
      limited(2),
      [](release_cluster& c) {
        with(c, 0, added, word{0}, word{2});
        with(c, 1, added, word{1}, word{2});
        with(c, 1, takes, word{0}, 1u);
      },
      500);
}

// ---- Do the checkers see?

bool brings_home(const model::message* m) {
  return m != nullptr && m->kind == message_kind::home_move && (m->flags & model::message_flag::take) != 0;
}

TEST(release_page_out_mutation, homes_that_go_without_their_content) {
  EXPECT_THAT(verdict(limited(2), taken_while_the_home_writes,
                      [](release_cluster& c) {
                        c.tamper().actions = [](unsigned, unsigned, const model::message*, model::actions& out) {
                          change(out, [](model::action& a) {
                            if (brings_home(&a.m)) a.with_content = false;
                          });
                        };
                      }),
              AnyOf(HasSubstr("a thread reads"), HasSubstr("and the frame is not"), HasSubstr("content is wrong")));
}

TEST(release_page_out_mutation, old_homes_whose_threads_go_on_using_the_frame) {
  EXPECT_THAT(
      verdict(limited(2), taken_while_the_home_writes,
              [](release_cluster& c) {
                c.tamper().actions = [](unsigned, unsigned, const model::message*, model::actions& out) {
                  if (std::none_of(out.begin(), out.end(), [](const model::action& a) { return brings_home(&a.m); }))
                    return;
                  drop(out, [](const model::action& a) { return a.kind == model::action_kind::protect; });
                };
              }),
      HasSubstr("the machine is wrong about its view"));
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
  const auto taken_beside_a_reader = [](release_cluster& c) {
    with(c, 0, only_waits);
    with(c, 1, takes_and_writes);
    with(c, 2, reads_twice);
  };
  EXPECT_EQ(verdict(limited(3), taken_beside_a_reader, [](release_cluster&) {}), "");
  EXPECT_THAT(verdict(limited(3), taken_beside_a_reader,
                      [](release_cluster& c) {
                        c.tamper().after = [&c](unsigned node, unsigned region, std::uint64_t unit,
                                                const model::message* m) {
                          if (brings_home(m)) c.unit(node, region, unit).shared = 0;
                        };
                      }),
              HasSubstr("a thread reads"));
}

TEST(release_page_out_mutation, old_homes_that_do_not_tell_what_was_released) {
  const auto flag_that_is_taken = [](release_cluster& c) {
    with(c, 0, publishes, word{3}, word{0});
    with(c, 1, takes_the_flag, word{3}, word{0});
  };
  EXPECT_EQ(verdict(limited(2, 2), flag_that_is_taken, [](release_cluster&) {}), "");
  EXPECT_THAT(
      verdict(limited(2, 2), flag_that_is_taken, [](release_cluster& c) { c.tamper().homes_go_silently = true; }),
      HasSubstr("a thread reads"));
}

}  // namespace
}  // namespace quire::sim::release_page_out_exhaustive_test
