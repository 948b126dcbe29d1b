// SPDX-License-Identifier: BSD-3-Clause
// The steps of a thread that makes a container for all nodes.
#include <gtest/gtest.h>

#include <string>

#include "services/container_making.hpp"

namespace quire::services::services_making_test {
namespace {

using work = container_making::work;

std::string text_of(const container_making::step& s) {
  static constexpr const char* names[] = {"attach", "identify", "shape",   "offer",  "create",
                                          "cut",    "settle",   "destroy", "detach", "over"};
  const std::string name = names[static_cast<unsigned>(s.what)];
  const bool order = s.what == work::attach || s.what == work::identify || s.what == work::offer ||
                     s.what == work::cut || s.what == work::detach;
  if (order) return name + std::to_string(s.node) + (s.first ? "!" : "");
  return s.what == work::over ? name + " " + std::to_string(static_cast<int>(s.why)) : name;
}

/// All steps: the one named ends so, all others well. `other`: a node that reaches other content.
std::string run(const container_making::wanted& wanted, const std::string& at = "", quire_status why = QUIRE_OK,
                unsigned other = ~0u) {
  container_making c(wanted);
  std::string all;
  for (auto s = c.begin();; s = c.on_done(text_of(s) == at ? why : QUIRE_OK, s.node == other ? 2 : 1)) {
    all += (all.empty() ? "" : " ") + text_of(s);
    if (s.what == work::over) return all;
  }
}
std::string over(quire_status why) { return "over " + std::to_string(static_cast<int>(why)); }

container_making::wanted linked(unsigned home) {
  return {.nodes = 3, .home = home, .survives = false, .linked = true, .anywhere = true};
}

TEST(services_making, memory_has_no_linker) { EXPECT_EQ(run({.nodes = 3}), "shape create settle " + over(QUIRE_OK)); }

TEST(services_making, the_home_is_first_and_the_content_goes_last) {
  auto wanted = linked(1);
  EXPECT_EQ(run(wanted), "attach1! attach0 attach2 shape offer1 offer0 offer2 create settle " + over(QUIRE_OK));
  wanted.cuts = true;
  EXPECT_EQ(run(wanted), "attach1! attach0 attach2 shape offer1 offer0 offer2 create cut1 settle " + over(QUIRE_OK));
  wanted.at_one = true;
  EXPECT_EQ(run(wanted), "attach1! shape offer1 create cut1 settle " + over(QUIRE_OK));
}

TEST(services_making, nodes_do_its_io_where_all_reach_the_same) {
  auto wanted = linked(0);
  wanted.identifies = true;
  EXPECT_EQ(run(wanted),
            "attach0! identify0 identify1 identify2 attach1 attach2 shape offer0 offer1 offer2 create "
            "settle " +
                over(QUIRE_OK));
  EXPECT_EQ(run(wanted, "", QUIRE_OK, 1), "attach0! identify0 identify1 shape offer0 create settle " + over(QUIRE_OK));
  EXPECT_EQ(run(wanted, "identify0", QUIRE_IO), "attach0! identify0 shape offer0 create settle " + over(QUIRE_OK));
}

TEST(services_making, what_fails_leaves_nothing) {
  EXPECT_EQ(run(linked(0), "attach0!", QUIRE_IO), "attach0! " + over(QUIRE_IO));
  EXPECT_EQ(run(linked(0), "attach2", QUIRE_NOT_FOUND),
            "attach0! attach1 attach2 detach0 detach1 " + over(QUIRE_NOT_FOUND));
  EXPECT_EQ(run(linked(0), "settle", QUIRE_IO),
            "attach0! attach1 attach2 shape offer0 offer1 offer2 create settle destroy detach0 detach1 detach2 " +
                over(QUIRE_IO));
}

TEST(services_making, survivors_pass_over_the_lost) {
  auto wanted = linked(0);
  wanted.survives = true;
  EXPECT_EQ(run(wanted, "attach1", QUIRE_LOST),
            "attach0! attach1 attach2 shape offer0 offer2 create settle " + over(QUIRE_OK));
  EXPECT_EQ(run(wanted, "offer1", QUIRE_LOST),
            "attach0! attach1 attach2 shape offer0 offer1 offer2 create settle " + over(QUIRE_OK));
  EXPECT_EQ(run(wanted, "attach0!", QUIRE_LOST), "attach0! " + over(QUIRE_LOST));
}

}  // namespace
}  // namespace quire::services::services_making_test
