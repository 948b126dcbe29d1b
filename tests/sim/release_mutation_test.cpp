// SPDX-License-Identifier: BSD-3-Clause
// Do the checkers see? Each test breaks the release protocol in one way, by changing what a machine asks for or
// believes, and expects the breakage to be noticed for what it is, in some order of a small program.
// whole_mutation_test and scripts/mutations do the same with whole nodes.
#include <gmock/gmock.h>

#include "release_explore.hpp"

namespace quire::sim::release_mutation_test {
namespace {

using model::action;
using model::action_kind;
using model::actions;
using model::message_kind;
using testing::AnyOf;
using testing::HasSubstr;

/// A word that a lock of another node than its home hands on, beside a word of a thread that goes on writing.
void a_lock_beside_a_writer(release_cluster& c) {
  const std::uint64_t m = c.make_object(1, sync::operation::mutex_create);
  for (unsigned n = 0; n < 3; ++n) with(c, n, locked, m, 0, 1);
  with(c, 1, one_word, 1, 5);
}
using breakage = std::function<void(release_cluster&)>;
std::string of_locks(const breakage& b) { return verdict(shape(3), a_lock_beside_a_writer, b); }

/// Of the actions of each step.
auto acts(std::function<void(const message*, actions&)> f) {
  return [f](release_cluster& c) {
    c.tamper().actions = [f](unsigned, unsigned, const message* m, actions& out) { f(m, out); };
  };
}

const auto a_stale_read = HasSubstr("a thread reads");
const auto an_old_value_somewhere = AnyOf(a_stale_read, HasSubstr("content is wrong at the end"),
                                          HasSubstr("is said to be zero, and the frame is not"));

TEST(release_mutation, the_unbroken_protocol_passes) {
  EXPECT_EQ(of_locks([](release_cluster&) {}), "");
}

TEST(release_mutation, releases_that_do_not_wait_for_acknowledgements) {
  EXPECT_THAT(verdict(
                  shape(3),
                  [](release_cluster& c) {
                    const std::uint64_t m = c.make_object(1, sync::operation::mutex_create);
                    for (unsigned n = 0; n < 3; ++n) with(c, n, locked, m, 0, 1);
                  },
                  [](release_cluster& c) { c.tamper().ignores_acknowledgements = true; }),
              a_stale_read);
}

TEST(release_mutation, copy_without_a_twin) {
  EXPECT_THAT(of_locks(acts([](const message*, actions& out) {
                drop(out, [](const action& a) { return a.kind == action_kind::make_twin; });
              })),
              HasSubstr("wrong about its twin"));
}

TEST(release_mutation, difference_that_is_not_sent) {
  EXPECT_THAT(of_locks(acts([](const message*, actions& out) {
                change(out, [](action& a) {
                  if (a.kind == action_kind::send_diff) a.kind = action_kind::drop_twin;
                });
              })),
              an_old_value_somewhere);
}

TEST(release_mutation, difference_taken_while_threads_may_write) {
  EXPECT_THAT(of_locks(acts([](const message* m, actions& out) {
                if (m == nullptr)
                  drop(out, [](const action& a) { return a.kind == action_kind::protect && a.from == access::write; });
              })),
              HasSubstr("a difference is taken while threads may write"));
}

TEST(release_mutation, notice_that_leaves_the_view) {
  EXPECT_THAT(of_locks(acts([](const message*, actions& out) {
                drop(out, [](const action& a) { return a.kind == action_kind::protect && a.level == access::none; });
              })),
              AnyOf(HasSubstr("the machine is wrong about its view"),
                    HasSubstr("a difference is taken while threads may write")));
}

}  // namespace
}  // namespace quire::sim::release_mutation_test
