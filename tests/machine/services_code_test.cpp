// SPDX-License-Identifier: BSD-3-Clause
// The steps of a thread that loads a module of code for all nodes, or unloads it.
#include <gtest/gtest.h>

#include <string>

#include "services/code_call.hpp"

namespace quire::services::services_code_test {
namespace {

using work = code_call::work;

std::string text_of(const code_call::step& s) {
  static constexpr const char* orders[] = {"attach", "run_exits", "detach"};
  static constexpr const char* names[] = {"order",    "prepare",      "construct",    "publish",      "look", "claim",
                                          "destruct", "destroy_data", "destroy_code", "attach_again", "over"};
  if (s.what == work::order) return std::string(orders[static_cast<unsigned>(s.order)]) + std::to_string(s.node);
  if (s.what == work::over) return "over " + std::to_string(static_cast<int>(s.why));
  return names[static_cast<unsigned>(s.what)];
}

/// All steps of a call: those named in `why` end so, all others well.
std::string run(code_call call, const std::string& at = "", quire_status why = QUIRE_OK) {
  std::string all;
  for (auto s = call.begin();; s = call.on_done(text_of(s) == at ? why : QUIRE_OK)) {
    all += (all.empty() ? "" : " ") + text_of(s);
    if (s.what == work::over) return all;
  }
}
std::string over(quire_status why) { return "over " + std::to_string(static_cast<int>(why)); }

TEST(services_code, a_load_attaches_everywhere_before_constructors) {
  EXPECT_EQ(run(code_call::load(1, 3)), "prepare attach0 attach1 attach2 construct publish " + over(QUIRE_OK));
  EXPECT_EQ(run(code_call::load(1, 2), "attach0", QUIRE_LOST), "prepare attach0 attach1 construct publish over 0");
}

TEST(services_code, a_load_that_is_given_up_leaves_nothing) {
  EXPECT_EQ(run(code_call::load(0, 2), "prepare", QUIRE_INVALID),
            "prepare destroy_data destroy_code " + over(QUIRE_INVALID));
  EXPECT_EQ(run(code_call::load(0, 2), "attach1", QUIRE_NOT_FOUND),
            "prepare attach0 attach1 run_exits1 run_exits0 detach1 detach0 destroy_data destroy_code " +
                over(QUIRE_NOT_FOUND));
  EXPECT_EQ(run(code_call::load(0, 2), "publish", QUIRE_EXISTS),
            "prepare attach0 attach1 construct publish run_exits1 run_exits0 destruct detach1 detach0 destroy_data "
            "destroy_code " +
                over(QUIRE_EXISTS));
}

TEST(services_code, an_unload_is_claimed_before_destructors) {
  EXPECT_EQ(run(code_call::unload(1, 3)),
            "look run_exits2 run_exits0 run_exits1 claim destruct destroy_data detach2 detach0 detach1 destroy_code " +
                over(QUIRE_OK));
  EXPECT_EQ(run(code_call::unload(0, 2), "claim", QUIRE_BUSY), "look run_exits1 run_exits0 claim " + over(QUIRE_BUSY));
  EXPECT_EQ(run(code_call::unload(0, 2), "claim", QUIRE_EXISTS),
            "look run_exits1 run_exits0 claim " + over(QUIRE_BUSY));
}

TEST(services_code, an_unload_goes_on_where_another_was_refused) {
  EXPECT_EQ(run(code_call::unload(0, 2), "destroy_data", QUIRE_BUSY),
            "look run_exits1 run_exits0 claim destruct destroy_data " + over(QUIRE_BUSY));
  EXPECT_EQ(run(code_call::unload(0, 2), "look", QUIRE_EXISTS),
            "look destroy_data detach1 detach0 destroy_code " + over(QUIRE_OK));
  EXPECT_EQ(run(code_call::unload(0, 2), "look", QUIRE_NOT_FOUND),
            "look detach1 detach0 destroy_code " + over(QUIRE_OK));
  EXPECT_EQ(run(code_call::unload(0, 2), "detach1", QUIRE_NO_MEMORY),  // this node knows it as long as another does
            "look run_exits1 run_exits0 claim destruct destroy_data detach1 " + over(QUIRE_NO_MEMORY));
  EXPECT_EQ(run(code_call::unload(0, 1), "destroy_code", QUIRE_BUSY),
            "look run_exits0 claim destruct destroy_data detach0 destroy_code attach_again " + over(QUIRE_BUSY));
}

}  // namespace
}  // namespace quire::services::services_code_test
