// SPDX-License-Identifier: BSD-3-Clause
// The steps that all nodes take in one order: checkpoints, restarts, adoptions, collections.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "services/adoption.hpp"
#include "services/checkpoint_call.hpp"
#include "services/collection_call.hpp"

namespace quire::services::services_together_test {
namespace {

using names = std::vector<const char*>;
const names saves = {"meet",   "path",       "identity", "hold",   "gather", "describe", "sync",         "write",
                     "let_go", "hold_names", "begin",    "commit", "prune",  "abandon",  "let_names_go", "over"};
const names restores = {"meet",  "path",   "choose",  "link", "load",  "look",
                        "check", "tables", "content", "list", "tasks", "over"};
const names adopts = {"meet", "check", "copy", "make", "tell", "put_back", "give_up", "over"};
const names collects = {"close", "hold",   "keep",  "mark",   "live", "plan",
                        "move",  "sum_up", "types", "let_go", "open", "over"};

/// All steps: the one named ends so where it comes for the `turn`th time, all others well.
template <class Machine>
std::string run(Machine m, const names& called, const std::string& at = "", quire_status why = QUIRE_OK, int turn = 1) {
  std::string all;
  for (auto s = m.begin();;) {
    const std::string name = called.at(static_cast<std::size_t>(s.what));
    all += (all.empty() ? "" : " ") + name;
    if (name == "over" || name == "give_up") return all + " " + std::to_string(static_cast<int>(s.why));
    s = m.on_done(name == at && --turn == 0 ? why : QUIRE_OK);
  }
}
std::string over(quire_status why) { return "over " + std::to_string(static_cast<int>(why)); }

TEST(services_together, node_0_leads_a_checkpoint) {
  EXPECT_EQ(run(checkpoint_save(true), saves),
            "path hold_names begin meet identity describe meet hold sync meet write meet let_go gather commit meet "
            "prune let_names_go " +
                over(QUIRE_OK));
  EXPECT_EQ(run(checkpoint_save(false), saves),
            "path meet identity describe meet hold sync meet write meet let_go gather meet " + over(QUIRE_OK));
}

TEST(services_together, a_checkpoint_that_fails_holds_nothing) {
  EXPECT_EQ(run(checkpoint_save(true), saves, "meet", QUIRE_SYSTEM, 4),
            "path hold_names begin meet identity describe meet hold sync meet write meet let_go abandon let_names_go " +
                over(QUIRE_SYSTEM));
  EXPECT_EQ(run(checkpoint_save(false), saves, "hold", QUIRE_BUSY),
            "path meet identity describe meet hold " + over(QUIRE_BUSY));
  EXPECT_EQ(run(checkpoint_save(true), saves, "path", QUIRE_INVALID), "path " + over(QUIRE_INVALID));
}

TEST(services_together, a_restart_passes_over_what_is_damaged) {
  EXPECT_EQ(run(checkpoint_restore(false), restores, "meet", QUIRE_DAMAGED, 3),
            "path look meet meet choose check meet choose check meet link tables meet content meet load meet " +
                over(QUIRE_OK));
  EXPECT_EQ(run(checkpoint_restore(false), restores, "meet", QUIRE_INVALID, 3),
            "path look meet meet choose check meet " + over(QUIRE_INVALID));
  EXPECT_EQ(run(checkpoint_restore(true), restores, "meet", QUIRE_DAMAGED, 4),
            "path look meet list meet choose check meet link tables meet " + over(QUIRE_DAMAGED))
      << "it has begun to change";
}

TEST(services_together, an_adoption_is_of_all_or_none) {
  adoption a(false, false);
  EXPECT_EQ(run(adoption(false, false), adopts, "meet", QUIRE_NO_MEMORY, 2),
            "check meet copy meet " + over(QUIRE_NO_MEMORY));
  EXPECT_EQ(run(adoption(true, true), adopts, "copy", QUIRE_NO_MEMORY), "check copy " + over(QUIRE_NO_MEMORY));
  for (auto s = a.begin(); s.what != adoption::work::tell;) s = a.on_done(QUIRE_OK);
  EXPECT_EQ(adoption(a).on_told(QUIRE_OK, true).what, adoption::work::over);
  EXPECT_EQ(adoption(a).on_told(QUIRE_LIMIT, true).what, adoption::work::give_up);
  EXPECT_EQ(a.on_told(QUIRE_LIMIT, false).what, adoption::work::put_back);
  const auto end = a.on_done(QUIRE_OK);
  EXPECT_EQ(end.what, adoption::work::over);
  EXPECT_EQ(end.why, QUIRE_LIMIT);
}

TEST(services_together, a_collection_that_fails_opens_again) {
  EXPECT_EQ(run(collection_call(), collects),
            "close types hold keep mark live plan let_go move open sum_up " + over(QUIRE_OK));
  EXPECT_EQ(run(collection_call(), collects, "close", QUIRE_SYSTEM), "close open " + over(QUIRE_SYSTEM));
  EXPECT_EQ(run(collection_call(), collects, "mark", QUIRE_BAD_ADDRESS),
            "close types hold keep mark let_go open " + over(QUIRE_BAD_ADDRESS));
}

}  // namespace
}  // namespace quire::services::services_together_test
