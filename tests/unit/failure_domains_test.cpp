// SPDX-License-Identifier: BSD-3-Clause
// Which nodes are on one host, and die with it (os::hosts_of(), model/failure_domains.hpp); which node keeps the second
// copy of what another has, and how many deaths that bears (model/membership.hpp).
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "model/membership.hpp"
#include "os/machine.hpp"

namespace quire::failure_domains_test {
namespace {

using model::membership;
using model::node_id;
using numbers = std::vector<std::uint16_t>;

os::machine_place at(std::uint64_t machine, std::uint64_t network) {
  os::machine_place place;
  place.machine = machine;
  place.network = network;
  return place;
}

numbers hosts_of(std::initializer_list<os::machine_place> places) { return os::hosts_of(std::vector(places)); }

TEST(failure_domains, are_machines) {
  EXPECT_EQ(hosts_of({at(7, 1), at(8, 1), at(7, 1), at(8, 1)}), (numbers{0, 1, 0, 1}));
  EXPECT_EQ(hosts_of({at(7, 1), at(7, 2), at(8, 3)}), (numbers{0, 0, 2})) << "containers of a machine die with it";
}

TEST(failure_domains, are_networks_where_all_are_on_one_machine) {
  EXPECT_EQ(hosts_of({at(7, 1), at(7, 1), at(7, 2), at(7, 2)}), (numbers{0, 0, 2, 2}));
  EXPECT_EQ(hosts_of({at(7, 1), at(7, 1), at(7, 1)}), (numbers{0, 0, 0}));
}

TEST(failure_domains, are_nodes_where_nothing_is_known) {
  EXPECT_EQ(hosts_of({at(0, 0), at(0, 0), at(7, 1)}), (numbers{0, 1, 2}));
}

membership on(const numbers& hosts) { return {.domains = {hosts.data(), static_cast<unsigned>(hosts.size())}}; }

/// By node: which one keeps the second copy of what it has.
numbers backups(const membership& m, unsigned nodes) {
  numbers found;
  for (std::uint16_t n = 0; n < nodes; ++n) found.push_back(m.backup(node_id{n}, nodes).value());
  return found;
}

TEST(failure_domains, keep_two_copies_apart) {
  const std::vector<numbers> jobs = {{0, 0, 2, 2}, {0, 1, 0, 1}, {0, 0, 0, 3}, {0, 0, 2, 2, 4, 4}, {0, 1, 2}};
  const std::vector<numbers> wanted = {{2, 3, 0, 1}, {1, 2, 3, 0}, {3, 3, 3, 0}, {2, 3, 4, 5, 0, 1}, {1, 2, 0}};
  for (std::size_t i = 0; i < jobs.size(); ++i)
    EXPECT_EQ(backups(on(jobs[i]), static_cast<unsigned>(jobs[i].size())), wanted[i]) << "job " << i;
}

TEST(failure_domains, keep_two_copies_on_the_only_host_that_is_left) {
  const numbers hosts{0, 0, 0, 3};
  membership m = on(hosts);
  m.learn(0b1000);
  m.mend();
  EXPECT_EQ(m.backup(node_id{0}, 4), node_id{1});
  EXPECT_EQ(m.backup(node_id{2}, 4), node_id{0});
  m.learn(0b1110);
  EXPECT_EQ(m.backup(node_id{0}, 4), node_id{0}) << "it is alone";
}

TEST(failure_domains, are_one_each_where_nobody_says_more) {
  membership m;
  EXPECT_EQ(backups(m, 3), (numbers{1, 2, 0}));
  m.learn(0b010);
  EXPECT_EQ(m.backup(node_id{0}, 3), node_id{2});
  EXPECT_FALSE(m.is_backup(node_id{0}, node_id{1}, 3));
  m.learn(0b110);
  EXPECT_EQ(m.fresh(), 2);
  EXPECT_TRUE(m.died_together(node_id{2}));
}

TEST(failure_domains, bear_the_deaths_of_one_host) {
  const numbers hosts{0, 0, 2, 2};
  membership m = on(hosts);
  m.learn(0b0011);
  EXPECT_EQ(m.fresh(), 1);
  EXPECT_FALSE(m.died_together(node_id{0}));
  membership both = m;
  both.learn(0b0111);
  EXPECT_EQ(both.fresh(), 2) << "a node of the other host has died before content was on two nodes again";
  EXPECT_TRUE(both.died_together(node_id{0}) && both.died_together(node_id{2}));
  m.mend();
  EXPECT_EQ(m.fresh(), 0);
  m.learn(0b0111);
  EXPECT_EQ(m.fresh(), 1);
}

/// Then two nodes of one host have the content, and two deaths on it may take it.
TEST(failure_domains, do_not_bear_two_deaths_where_one_host_was_left) {
  const numbers hosts{0, 0, 0, 3};
  membership m = on(hosts);
  m.learn(0b1000);
  m.mend();
  m.learn(0b1011);
  EXPECT_EQ(m.fresh(), 2);
  EXPECT_TRUE(m.died_together(node_id{0}));
}

TEST(failure_domains, may_have_64_nodes) {
  numbers hosts;
  for (std::uint16_t n = 0; n < 64; ++n) hosts.push_back(n / 32 * 32);
  membership m = on(hosts);
  std::map<std::uint16_t, int> kept;
  for (std::uint16_t n = 0; n < 64; ++n) {
    const node_id there = m.backup(node_id{n}, 64);
    EXPECT_NE(there.value() / 32, n / 32);
    ++kept[there.value()];
  }
  EXPECT_EQ(kept.size(), 64u) << "some nodes keep more than others";
}

}  // namespace
}  // namespace quire::failure_domains_test
