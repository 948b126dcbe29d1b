// SPDX-License-Identifier: BSD-3-Clause
// Nodes of one host have one frame of a unit, in all orders of small programs: content is sent to another host only,
// and what comes into a frame that a neighbour looks at is what it sees. Unit u is managed by node u. At the end what
// the checkers see when one of the rules is broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "explore.hpp"
#include "sim/bare/sequential_checkers.hpp"

namespace quire::sim::sequential_hosts_exhaustive_test {
namespace {

using enum operation_kind;
using model::action;
using model::actions;
using model::message_kind;
using testing::AnyOf;
using testing::HasSubstr;
namespace message_flag = model::message_flag;

constexpr node_id a{0}, b{1}, c{2}, d{3};
constexpr operation add_one{add, 0, 0, 1}, give{push, 0}, lock{pin, 0}, unlock{unpin, 0};

cluster_options on_hosts(std::vector<std::uint16_t> hosts) {
  cluster_options o = plain();
  o.nodes = static_cast<unsigned>(hosts.size());
  o.placement = model::placement::modulo;
  o.hosts = std::move(hosts);
  return o;
}

/// Every way to put three nodes on hosts where some share.
const std::vector<std::vector<std::uint16_t>> three{{0, 0, 0}, {0, 0, 2}, {0, 1, 0}, {0, 1, 1}};

void explore_three(const std::vector<script>& program, std::uint64_t at_least) {
  for (const auto& hosts : three) explore(on_hosts(hosts), program, at_least);
}

TEST(sequential_hosts_exhaustive, readers_and_writers) {
  explore_three({{a, {set(0, 1), get(0)}}, {b, {get(0), set(0, 2)}}, {c, {get(0), set(0, 3), get(0)}}}, 5'000);
}

TEST(sequential_hosts_exhaustive, three_writers_and_what_they_find) {
  explore_three({{a, {set(0, 1), get(0)}}, {b, {set(0, 2), get(0)}}, {c, {set(0, 3), get(0)}}}, 2'000);
}

TEST(sequential_hosts_exhaustive, a_unit_that_is_managed_elsewhere) {
  explore_three({{a, {set(1, 1), get(1)}}, {b, {get(1), set(1, 2)}}, {c, {get(1), set(1, 3), get(1)}}}, 5'000);
}

TEST(sequential_hosts_exhaustive, message_passing_over_two_units) {
  explore_three({{a, {set(0, 1), set(1, 1)}}, {b, {get(1), get(0)}}, {c, {set(0, 2), get(1)}}}, 5'000);
}

TEST(sequential_hosts_exhaustive, atomic_operations) {
  explore_three({{a, {add_one, get(0)}}, {b, {get(0), add_one, set(0, 9)}}, {c, {get(0), add_one}}}, 2'000);
}

TEST(sequential_hosts_exhaustive, pushes) {
  explore_three({{a, {set(0, 1), give}}, {b, {get(0), set(0, 9)}}, {c, {get(0), give}}}, 5'000);
}

TEST(sequential_hosts_exhaustive, pins) {
  explore_three({{a, {get(0), set(0, 1)}}, {b, {lock, set(0, 2), unlock}}, {c, {get(0), lock, get(0), unlock}}}, 1'000);
}

TEST(sequential_hosts_exhaustive, read_ahead_that_is_withheld) {
  explore_three({{a, {set(0, 1), get(0)}},
                 {b, {{read_ahead, 0, 0, 0, 0, true}, {map_around, 0}, get(0)}},
                 {c, {{write_ahead, 0, 0, 0, 0, true}, set(0, 4), get(0)}}},
                2'000);
}

TEST(sequential_hosts_exhaustive, two_hosts_of_two_nodes_read_and_one_writes) {
  explore(on_hosts({0, 0, 2, 2}), {{a, {set(0, 1)}}, {b, {get(0)}}, {c, {get(0), get(0)}}, {d, {get(0), set(0, 2)}}},
          10'000);
}

TEST(sequential_hosts_exhaustive, neighbours_ask_another_host_at_the_same_time) {
  explore(on_hosts({0, 1, 1, 1}), {{a, {set(0, 1)}}, {b, {get(0)}}, {c, {get(0), set(0, 2)}}, {d, {get(0)}}}, 10'000);
}

TEST(sequential_hosts_exhaustive, a_host_lies_between_two_nodes_of_another) {
  explore(on_hosts({0, 1, 0, 1}), {{a, {set(0, 1), get(0)}}, {b, {get(0)}}, {c, {set(0, 2)}}, {d, {get(0)}}}, 10'000);
}

TEST(sequential_hosts_exhaustive, a_push_over_two_hosts_of_two_nodes) {
  explore(on_hosts({0, 0, 2, 2}), {{a, {set(0, 1), give}}, {b, {get(0)}}, {c, {get(0)}}, {d, {set(0, 2)}}}, 10'000);
}

// ---- Do the checkers see?

std::string broken(std::vector<std::uint16_t> hosts, const std::vector<script>& program,
                   const cluster::tampering& how) {
  return verdict(on_hosts(std::move(hosts)), program, how);
}

const std::vector<script> readers{{a, {set(0, 1)}}, {b, {get(0)}}, {c, {get(0), set(0, 2)}}};

TEST(sequential_hosts_mutation, the_unbroken_protocol_passes) {
  for (const auto& hosts : three) EXPECT_EQ(broken(hosts, readers, {}), "");
}

TEST(sequential_hosts_mutation, content_that_is_kept_from_another_host) {
  EXPECT_THAT(broken({0, 1, 1}, readers,
                     [](cluster&, node_id, const message*, actions& out) {
                       change(out, [](action& x) {
                         if (x.with_content && x.m.kind == message_kind::write_reply) x.with_content = false;
                       });
                     }),
              AnyOf(HasSubstr("a read does not return the last write"), HasSubstr("a copy differs from the owner's")));
}

/// The manager counts on what it has sent to a neighbour of the requester, which may not have come yet.
TEST(sequential_hosts_mutation, manager_that_believes_its_own_content_to_have_come) {
  EXPECT_DEATH(
      {
        const std::string said =
            broken({0, 1, 1}, {{a, {set(0, 1)}}, {b, {get(0)}}, {c, {get(0)}}},
                   [](cluster&, node_id self, const message* m, actions& out) {
                     change(out, [&](action& x) {
                       if (self != a || m == nullptr || m->requester != c || x.m.kind != message_kind::fetch_read)
                         return;
                       x.m.kind = message_kind::read_reply;  // instead of asking the neighbour
                       x.m.flags = message_flag::no_data;
                       x.m.from = b;
                       x.to = c;
                     });
                   });
        std::fputs(said.c_str(), stderr);
        std::abort();
      },
      "a read does not return the last write|a copy differs from the owner's|broken belief: .m.flags . "
      "message_flag::no_data");
}

TEST(sequential_hosts_mutation, writer_that_does_not_wait_for_its_neighbour) {
  EXPECT_DEATH(
      {
        const std::string said = broken({0, 1, 1}, {{a, {set(0, 1)}}, {b, {get(0)}}, {c, {set(0, 2)}}},
                                        [](cluster&, node_id, const message*, actions& out) {
                                          change(out, [](action& x) {
                                            if (x.m.kind == message_kind::fetch_write) x.m.acks = 0;
                                          });
                                        });
        std::fputs(said.c_str(), stderr);
        std::abort();
      },
      "one node may write while others may read|broken belief: s.(acks_got == s.acks_expected|pending.. == "
      "access::write)|a frame that another node of the host may");
}

TEST(sequential_hosts_mutation, neighbour_that_keeps_its_view) {
  EXPECT_THAT(
      broken({0, 0, 0}, readers,
             [](cluster&, node_id, const message* m, actions& out) {
               if (is(m, message_kind::invalidate))
                 drop(out, [](const action& x) { return x.kind == model::action_kind::protect; });
             }),
      AnyOf(HasSubstr("one node may write while others may read"), HasSubstr("the machine is wrong about its view")));
}

TEST(sequential_hosts_mutation, old_content_that_comes_into_a_frame_in_use) {
  EXPECT_THAT(broken({0, 1, 1}, {{a, {set(0, 1)}}, {b, {get(0)}}, {c, {get(0)}}},
                     [](cluster& x, node_id to, const message* m, actions&) {
                       // As if another host had sent it twice, the first time before it was written.
                       if (to == c && is(m, message_kind::read_reply))
                         x.fail(check_landing(x, c, 0, std::vector<std::uint64_t>{77}));
                     }),
              HasSubstr("content changes a frame that another node of the host may read"));
}

}  // namespace
}  // namespace quire::sim::sequential_hosts_exhaustive_test
