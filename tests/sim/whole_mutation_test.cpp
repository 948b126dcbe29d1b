// SPDX-License-Identifier: BSD-3-Clause
// Do the checkers see? Each test breaks what whole nodes do in one way, by messages that are changed or lost, or by
// what a machine believes, and expects the breakage to be noticed for what it is. scripts/mutations does the same with
// bugs of the past, by patches of the sources.
#include <gmock/gmock.h>

#include <string>

#include "core/configuration.hpp"
#include "core/frames.hpp"
#include "core/known_machines.hpp"
#include "core/region_slot.hpp"
#include "sim/whole/job.hpp"

namespace quire::whole::whole_mutation_test {
namespace {

using model::message_kind;
using testing::AnyOf;
using testing::HasSubstr;

const job_options both_consistencies{.most_pages = 2,
                                     .most_phases = 6,
                                     .most_steps = 12,
                                     .most_groups = 2,
                                     .replicas_percent = 0,
                                     .intrudes = false,
                                     .often = {.phased = 20}};

/// Nobody looks at a word until it changes: who waits for ever is quiet.
const job_options without_groups = [] {
  job_options o = both_consistencies;
  o.most_groups = 0;
  o.step_limit = 2'000'000;  // programs that end well take a tenth of that
  return o;
}();

/// What the checkers say first, over seeds and numbers of nodes; empty if they see nothing.
template <class F>
std::string verdict(F&& break_it, job_options what = both_consistencies, unsigned seeds = 300) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    what.seed = seed;
    what.nodes = 2 + static_cast<unsigned>(seed % 3);
    job j(what);
    break_it(j.nodes());
    if (std::string failure = j.run(); !failure.empty()) return failure.substr(0, failure.find('\n'));
  }
  return {};
}

/// The same where a machine's own CHECK may end the process first.
template <class F>
[[noreturn]] void die_of(F&& break_it, const job_options& what = both_consistencies) {
  std::fputs(verdict(break_it, what).c_str(), stderr);
  std::abort();
}

/// Each n-th message of a kind is lost.
auto loses(message_kind kind, unsigned every) {
  return [=](world& w) {
    w.net().on_departure(
        [=, n = 0u](node_id, node_id, model::message& m) mutable { return m.kind != kind || ++n % every != 0; });
  };
}

/// Calls f(state) for what a node believes of its units under release consistency.
template <class F>
auto spoils_copies(F f) {
  return [=](world& w) {
    w.on_turn([=, &w](node& n) {
      for (const std::uint16_t id : w.regions()) {
        core::region_slot& r = *n.core().regions.slot(model::region_id{id});
        const release::machine* const m = core::release_of(r);
        if (m == nullptr) continue;
        for (std::uint64_t unit = 0; unit < m->units(); ++unit) {
          if (auto& s = const_cast<release::unit_state&>(m->unit(unit)); s.touched != 0) f(s, n);
        }
      }
    });
  };
}

const auto an_old_value = AnyOf(HasSubstr("finds"), HasSubstr("two atomic additions"));
const auto waits_for_ever =
    AnyOf(HasSubstr("waits for ever"), HasSubstr("round in circles"), HasSubstr("are not acknowledged"));

TEST(whole_mutation, the_unbroken_protocol_passes) {
  EXPECT_EQ(verdict([](world&) {}), "");
}

// ---- messages

TEST(whole_mutation, one_notice_in_many_that_gets_lost) {
  EXPECT_THAT(verdict(loses(message_kind::notices, 7), without_groups), an_old_value);
}
TEST(whole_mutation, acknowledgements_that_get_lost) {
  EXPECT_THAT(verdict(loses(message_kind::diffs_ack, 40), without_groups), waits_for_ever);
}
TEST(whole_mutation, diffs_that_get_lost) {
  EXPECT_THAT(verdict(loses(message_kind::diffs, 40), without_groups), AnyOf(waits_for_ever, an_old_value));
}
TEST(whole_mutation, homes_that_get_lost) {
  EXPECT_THAT(verdict(loses(message_kind::home_move, 3), without_groups),
              AnyOf(waits_for_ever, HasSubstr("has no home"), HasSubstr("has not come")));
}
/// A patch is an offer; but a change of consistency waits until all that was sent has come.
TEST(whole_mutation, patches_that_do_not_arrive_are_not_missed) {
  job_options without_changes = both_consistencies;
  without_changes.rotates = without_changes.races_only = true;
  EXPECT_EQ(verdict(loses(message_kind::patch, 2), without_changes), "");
}
TEST(whole_mutation, managers_that_do_not_hear_that_a_request_is_done) {
  EXPECT_THAT(verdict(loses(message_kind::done, 5), without_groups), waits_for_ever);
}
TEST(whole_mutation, invalidations_that_get_lost) {
  EXPECT_THAT(verdict(loses(message_kind::invalidate, 5), without_groups), waits_for_ever);
}
TEST(whole_mutation, a_home_that_forgets_who_waits_for_a_pin) {
  EXPECT_THAT(verdict(loses(message_kind::pin_grant, 5), without_groups), waits_for_ever);
}

TEST(whole_mutation, a_network_that_does_not_keep_the_order_of_a_pair) {
  job_options disordered = both_consistencies;
  disordered.reorders = true;
  EXPECT_DEATH(die_of([](world&) {}, disordered), "finds|ever|may write|not valid|broken belief|refused");
}

TEST(whole_mutation, permission_to_write_before_the_acknowledgements) {
  EXPECT_DEATH(die_of([](world& w) {
                 w.net().on_departure([](node_id, node_id, model::message& m) {
                   if (m.kind == message_kind::write_grant || m.kind == message_kind::fetch_write) m.acks = 0;
                   return true;
                 });
               }),
               "may write|broken belief");
}

/// The message that grants says whether the home's own threads have written under a pin since the last one: then all
/// that it knows comes along.
TEST(whole_mutation, homes_that_grant_what_their_threads_have_written_without_a_release) {
  job_options pins = both_consistencies;
  pins.most_steps = 20;
  pins.often.pins = 50;
  const auto silent = spoils_copies([](release::unit_state& s, node&) { s.pin_ended = 0; });
  EXPECT_THAT(verdict(silent, pins), an_old_value);
}

// ---- what machines believe

TEST(whole_mutation, stale_content_that_is_taken) {
  job_options rotating = both_consistencies;
  rotating.rotates = true;
  rotating.nodes = 3;  // of two the home tells all
  EXPECT_THAT(verdict(spoils_copies([](release::unit_state& s, node&) {
                        s.stale = 0;
                        if (s.valid == 0) s.follows = 0;
                      }),
                      rotating, 1'000),
              an_old_value);
}
TEST(whole_mutation, home_that_goes_on_writing_unnoticed_beside_copies) {
  EXPECT_THAT(verdict(spoils_copies([](release::unit_state& s, node&) {
                if (s.is_home == 0) return;
                s.shared = 0;
                s.current.clear();
              })),
              an_old_value);
}
TEST(whole_mutation, update_that_takes_back_what_the_node_wrote_itself) {
  EXPECT_THAT(verdict(spoils_copies([](release::unit_state& s, node&) {
                if (s.valid != 0) s.follows = 1;
              })),
              an_old_value);
}
TEST(whole_mutation, copy_that_is_taken_to_have_what_was_written_later) {
  EXPECT_THAT(verdict(spoils_copies([](release::unit_state& s, node&) {
                if (s.valid != 0 && s.version < release::given_away - 1) ++s.version;
              })),
              an_old_value);
}
TEST(whole_mutation, copy_that_follows_a_home_that_it_did_not_come_from) {
  EXPECT_THAT(verdict(spoils_copies([](release::unit_state& s, node& n) {
                if (s.valid != 0 && s.is_home == 0)
                  s.source = node_id{static_cast<std::uint16_t>((n.self().value() + 1) % 2)};
              })),
              an_old_value);
}
TEST(whole_mutation, home_that_moves_to_an_old_copy) {
  job_options rotating = both_consistencies;
  rotating.rotates = true;
  rotating.often.phased = 60;
  EXPECT_THAT(verdict(spoils_copies([](release::unit_state& s, node& n) {
                        if (s.is_home == 0 || s.shared == 0 || s.mapped() == access::write) return;
                        for (std::uint16_t other = 0; other < n.core().config.nodes; ++other) {
                          s.current.add(model::geometry::of(n.core().config.nodes), node_id{other});
                        }
                      }),
                      rotating),
              AnyOf(an_old_value, HasSubstr("not valid")));
}

TEST(whole_mutation, copyset_that_forgets_the_readers) {
  EXPECT_THAT(verdict([](world& w) {
                w.on_turn([&w](node& n) {
                  for (const std::uint16_t id : w.regions()) {
                    core::region_slot& r = *n.core().regions.slot(model::region_id{id});
                    const sequential::machine* const m = core::sequential_of(r);
                    if (m == nullptr) continue;
                    for (std::uint64_t unit = 0; unit < m->units(); ++unit) {
                      auto& e = const_cast<sequential::directory_entry&>(m->entry(unit));
                      if (e.touched == 1 && e.requests.empty())
                        e.copies = model::copyset::of(model::geometry::of(n.core().config.nodes), e.owner);
                    }
                  }
                });
              }),
              HasSubstr("may write a unit while others may read it"));
}

// ---- stores

const job_options short_of_memory = [] {
  job_options o = both_consistencies;
  o.least_pages = 7;
  o.most_pages = 14;
  o.most_steps = 25;
  o.short_percent = 100;
  o.most_groups = 0;
  return o;
}();

TEST(whole_mutation, nodes_that_are_short_of_memory_pass) {
  EXPECT_EQ(verdict([](world&) {}, short_of_memory, 100), "");
}

TEST(whole_mutation, stores_that_say_too_early_that_they_are_done) {
  EXPECT_THAT(verdict(
                  [](world& w) {
                    for (unsigned n = 0; n < w.nodes(); ++n) w.at(n).crew().tell_early();
                  },
                  short_of_memory),
              AnyOf(an_old_value, HasSubstr("a store is asked for what it does not have"),
                    HasSubstr("on its way to its store"), HasSubstr("keeps")));
}

/// A frame that was used while it was on its way to the store is given back all the same.
TEST(whole_mutation, frames_that_leave_although_they_were_used) {
  EXPECT_THAT(verdict(
                  [](world& w) {
                    w.on_turn([&w](node& n) {
                      for (const std::uint16_t id : w.regions()) {
                        core::region_slot& r = *n.core().regions.slot(model::region_id{id});
                        for (std::uint64_t unit = 0; n.core().frames.limited() && unit < r.layout.frames(); ++unit)
                          r.frames.data()[unit].used = 0;
                      }
                    });
                  },
                  short_of_memory),
              AnyOf(an_old_value, HasSubstr("without a frame"), HasSubstr("content is lost"), HasSubstr("keeps")));
}

TEST(whole_mutation, pages_that_are_not_taken_away) {
  EXPECT_THAT(verdict([](world& w) {
                for (unsigned n = 0; n < w.nodes(); ++n) w.at(n).forget_to_protect();
              }),
              HasSubstr("a machine is wrong about its view"));
}

}  // namespace
}  // namespace quire::whole::whole_mutation_test
