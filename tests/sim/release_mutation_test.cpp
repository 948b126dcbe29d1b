// SPDX-License-Identifier: BSD-3-Clause
// Do the checkers see? Each test breaks the release protocol, or the glue around it, in one way, and expects the breakage to be
// noticed for what it is.
#include <gmock/gmock.h>

#include <algorithm>

#include "release_programs.hpp"

namespace quire::sim {
namespace {

using model::action;
using model::action_kind;
using model::actions;
using model::message_kind;
using testing::AnyOf;
using testing::HasSubstr;
using tampering = release_cluster::tampering;

template <class F>
void drop(actions& out, F&& unwanted) {
  actions kept;
  for (const action& a : out) {
    if (!unwanted(a)) kept.add(a.kind, a.unit) = a;
  }
  out = kept;
}
bool is(const message* m, message_kind kind) { return m != nullptr && m->kind == kind; }

/// What the checkers say first, over seeds and numbers of nodes; empty if they see nothing. `break_it` gets the cluster.
template <class F>
std::string verdict(F&& break_it, bool reorder = false, unsigned all_seeds = 600, bool rotates = false) {
  for (std::uint64_t seed = 1; seed <= all_seeds; ++seed) {
    const unsigned nodes = 2 + static_cast<unsigned>(seed % 3);
    release_plan p = rotates ? make_rotating_plan(seed, nodes) : make_release_plan(seed, nodes);
    p.net.step_limit = 300'000;
    p.net.reorder_within_pairs = reorder;
    release_run r(p);
    break_it(r.nodes(), r.nodes().tamper());
    if (std::string failure = r.run(); !failure.empty()) return failure.substr(0, failure.find('\n'));
  }
  return {};
}

const auto a_stale_read = AnyOf(HasSubstr("a thread reads"), HasSubstr("works on an old value"));
const auto an_old_value_somewhere = AnyOf(a_stale_read, HasSubstr("content is wrong at the end"));

TEST(release_mutation, the_unbroken_protocol_passes) {
  EXPECT_EQ(verdict([](release_cluster&, tampering&) {}), "");
}

TEST(release_mutation, scans_that_find_nothing) {
  release_plan p = make_release_plan(1, 2);
  p.shape.scans = true;
  release_run r(p);
  r.nodes().tamper().scans_miss_writes = true;
  EXPECT_THAT(r.run(), an_old_value_somewhere);
}

TEST(release_mutation, releases_that_do_not_wait_for_acknowledgements) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) { t.ignores_acknowledgements = true; }), a_stale_read);
}

TEST(release_mutation, acquires_that_invalidate_nothing) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) { t.never_acquires = true; }), a_stale_read);
}

TEST(release_mutation, messages_that_release_nothing) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) { t.releases_nothing = true; }), an_old_value_somewhere);
}

TEST(release_mutation, replies_of_homes_that_do_not_carry_what_others_released) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) { t.tells_nobody_on_carries = true; }), a_stale_read);
}

TEST(release_mutation, atomic_operations_that_release_nothing) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) { t.atomics_do_not_release = t.releases_nothing = true; }), an_old_value_somewhere);
}

TEST(release_mutation, atomic_operations_that_are_no_news) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) { t.operations_are_no_news = true; }), an_old_value_somewhere);
}

TEST(release_mutation, one_notice_in_many_that_gets_lost) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) {
                t.arrives = [n = 0](node_id, const message& m) mutable { return m.kind != message_kind::notices || ++n % 7 != 0; };
              }),
              a_stale_read);
}

TEST(release_mutation, acknowledgement_that_gets_lost) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) {
                t.arrives = [n = 0](node_id, const message& m) mutable { return m.kind != message_kind::diffs_ack || ++n % 40 != 0; };
              }),
              AnyOf(HasSubstr("waits for ever"), HasSubstr("the run does not end")));
}

TEST(release_mutation, notices_that_are_forgotten_too_early) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) { t.forgets_too_early = true; }), an_old_value_somewhere);
}

// ---- twins and diffs

TEST(release_mutation, copy_without_a_twin) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) {
                t.actions = [](unsigned, unsigned, const message*, actions& out) {
                  drop(out, [](const action& a) { return a.kind == action_kind::make_twin; });
                };
              }),
              HasSubstr("wrong about its twin"));
}

TEST(release_mutation, difference_that_is_not_sent) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) {
                t.actions = [](unsigned, unsigned, const message*, actions& out) {
                  actions changed;
                  for (action a : out) {
                    if (a.kind == action_kind::send_diff) a.kind = action_kind::drop_twin;
                    changed.add(a.kind, a.unit) = a;
                  }
                  out = changed;
                };
              }),
              an_old_value_somewhere);
}

TEST(release_mutation, whole_units_instead_of_differences) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) { t.diffs_keep_old_words = true; }), an_old_value_somewhere);
}

TEST(release_mutation, difference_taken_while_threads_may_write) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) {
                t.actions = [](unsigned, unsigned, const message* m, actions& out) {
                  if (m == nullptr) drop(out, [](const action& a) { return a.kind == action_kind::protect && a.from == access::write; });
                };
              }),
              HasSubstr("a difference is taken while threads may write"));
}

TEST(release_mutation, own_diff_that_is_applied_at_the_new_home) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) { t.applies_own_diffs = true; }, false, 6'000), an_old_value_somewhere);
}

TEST(release_mutation, diff_that_is_acknowledged_by_an_old_home) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) { t.acknowledges_when_forwarding = true; }, false, 6'000), an_old_value_somewhere);
}

// ---- copies

TEST(release_mutation, notice_that_leaves_the_view) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) {
                t.actions = [](unsigned, unsigned, const message*, actions& out) {
                  drop(out, [](const action& a) { return a.kind == action_kind::protect && a.level == access::none; });
                };
              }),
              HasSubstr("the machine is wrong about its view"));
}

TEST(release_mutation, home_that_goes_on_writing_unnoticed_beside_copies) {
  EXPECT_THAT(verdict([](release_cluster& c, tampering& t) {
                t.after = [&c](unsigned n, unsigned r, std::uint64_t u, const message* m) {
                  if (!is(m, message_kind::copy_request)) return;
                  c.unit(n, r, u).shared = 0;
                  c.unit(n, r, u).current.clear();
                };
              }),
              a_stale_read);
}

TEST(release_mutation, stale_content_that_is_taken) {
  EXPECT_THAT(verdict([](release_cluster& c, tampering& t) {
                t.after = [&c](unsigned n, unsigned r, std::uint64_t u, const message*) { c.unit(n, r, u).stale = 0; };
              }),
              a_stale_read);
}

TEST(release_mutation, content_placed_where_nobody_waits_for_it) {
  // As the protocol is, all content that comes is waited for; here a machine forgets that it is the home and has asked.
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) {
                t.places_all_content = true;
                t.actions = [](unsigned, unsigned, const message* m, actions& out) {
                  if (!is(m, message_kind::copy_request) || out.size() == 0) return;
                  const action last = out[out.size() - 1];
                  if (last.kind == action_kind::send && last.m.kind == message_kind::copy_reply) out.add(last.kind, last.unit) = last;
                };
              }),
              AnyOf(an_old_value_somewhere, HasSubstr("said to be zero")));
}

// ---- updates

TEST(release_mutation, updates_that_are_applied_to_whatever_is_there) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) { t.applies_all_updates = true; }), an_old_value_somewhere);
}

TEST(release_mutation, update_that_takes_back_what_the_node_wrote_itself) {
  EXPECT_THAT(verdict([](release_cluster& c, tampering& t) {
                t.after = [&c](unsigned n, unsigned r, std::uint64_t u, const message*) {
                  if (c.machine(n, r).unit(u).valid != 0) c.unit(n, r, u).follows = 1;
                };
              }),
              an_old_value_somewhere);
}

TEST(release_mutation, home_that_goes_on_writing_unnoticed_after_an_update) {
  EXPECT_THAT(verdict([](release_cluster& c, tampering& t) {
                t.after = [&c](unsigned, unsigned r, std::uint64_t u, const message* m) {
                  if (is(m, message_kind::update)) c.unit(m->from.value(), r, u).shared = 0;
                };
              }),
              AnyOf(a_stale_read, HasSubstr("the machine's state is not valid")));
}

TEST(release_mutation, copy_that_is_taken_to_have_what_was_written_later) {
  EXPECT_THAT(verdict([](release_cluster& c, tampering& t) {
                t.after = [&c](unsigned n, unsigned r, std::uint64_t u, const message* m) {
                  if (is(m, message_kind::update) || is(m, message_kind::copy_reply)) ++c.unit(n, r, u).version;
                };
              }),
              an_old_value_somewhere);
}

TEST(release_mutation, copy_that_follows_a_home_that_it_did_not_come_from) {
  EXPECT_THAT(verdict([](release_cluster& c, tampering& t) {
                t.after = [&c](unsigned n, unsigned r, std::uint64_t u, const message* m) {
                  if (!is(m, message_kind::copy_reply)) return;
                  release::unit_state& s = c.unit(n, r, u);
                  s.source = node_id{static_cast<std::uint16_t>((s.source.value() + 1u) % c.options().nodes)};
                };
              }),
              an_old_value_somewhere);
}

// ---- homes

TEST(release_mutation, home_that_moves_to_an_old_copy) {
  EXPECT_THAT(verdict([](release_cluster& c, tampering& t) {
                t.after = [&c](unsigned n, unsigned r, std::uint64_t u, const message*) {
                  release::unit_state& s = c.unit(n, r, u);
                  if (s.is_home == 0 || s.shared == 0 || s.mapped() == access::write) return;
                  for (std::uint16_t other = 0; other < c.options().nodes; ++other) {
                    s.current.add(model::geometry::of(c.options().nodes), node_id{other});
                  }
                };
              }),
              an_old_value_somewhere);
}

TEST(release_mutation, two_homes) {
  EXPECT_THAT(verdict([](release_cluster&, tampering& t) {
                t.leaves = [](node_id, node_id, const message& m) { return m.kind != message_kind::home_move; };
              }),
              AnyOf(HasSubstr("homes"), HasSubstr("waits for ever")));
}

TEST(release_mutation, requests_that_take_a_shorter_way_than_the_diffs_before_them) {
  EXPECT_THAT(verdict([](release_cluster& c, tampering& t) {
                t.after = [&c](unsigned, unsigned r, std::uint64_t u, const message*) {
                  for (unsigned home = 0; home < c.options().nodes; ++home) {
                    if (!c.machine(home, r).is_home(u)) continue;
                    for (unsigned n = 0; n < c.options().nodes; ++n) {
                      if (n != home && c.unit(n, r, u).touched != 0) c.unit(n, r, u).home = node_id{static_cast<std::uint16_t>(home)};
                    }
                  }
                };
              }, false, 3'000, true),
              a_stale_read);
}

TEST(release_mutation, a_network_that_does_not_keep_the_order_of_a_pair) {
  EXPECT_THAT(verdict([](release_cluster&, tampering&) {}, true), AnyOf(an_old_value_somewhere, HasSubstr("wrong"), HasSubstr("notices that are none"), HasSubstr("ever")));
}

}  // namespace
}  // namespace quire::sim
