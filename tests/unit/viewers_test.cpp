// SPDX-License-Identifier: BSD-3-Clause
// What `quire run` shows of a job to `quire top`, which may be of another version.
#include "bootstrap/launcher/viewers.hpp"

#include <gtest/gtest.h>

#include "bootstrap/leave_word.hpp"

namespace quire::bootstrap::launcher::viewers_test {
namespace {

job_view sample() { return {"./heat 100", 12.5, {{"east", "runs", "{\"now_ns\":1}"}, {"", "has ended", ""}}}; }

TEST(viewers, a_view_comes_back_as_it_was) {
  const auto again = unpack_view(pack(sample()));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->command, "./heat 100");
  EXPECT_EQ(again->seconds, 12.5);
  ASSERT_EQ(again->nodes.size(), 2u);
  EXPECT_EQ(again->nodes[0].host, "east");
  EXPECT_EQ(again->nodes[0].counters, "{\"now_ns\":1}");
  EXPECT_EQ(again->nodes[1].state, "has ended");
}

TEST(viewers, what_is_no_view_or_of_another_version_is_refused) {
  const std::string packed = pack(sample());
  EXPECT_FALSE(unpack_view(""));
  EXPECT_FALSE(unpack_view("nonsense"));
  for (std::size_t bytes = 0; bytes < packed.size(); ++bytes) {
    const auto cut = unpack_view(std::string_view(packed).substr(0, bytes));
    EXPECT_TRUE(!cut || cut->nodes.size() < 2) << bytes;
  }
  const std::string words[] = {std::to_string(local::protocol_version + 1), "./heat", "1"};
  EXPECT_FALSE(unpack_view(local::pack_addresses(words)));
  const std::string no_time[] = {std::to_string(local::protocol_version), "./heat", "soon"};
  EXPECT_FALSE(unpack_view(local::pack_addresses(no_time)));
}

TEST(viewers, what_a_node_says_of_its_leaving_comes_back) {
  const leave_word word{leave_word::what::not_now, 12, "2 threads run"};
  const auto again = unpack_leave_word(pack(word));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->state, word.state);
  EXPECT_EQ(again->units, 12u);
  EXPECT_EQ(again->text, "2 threads run");
  const std::string packed = pack(leave_word{});
  for (std::size_t bytes = 0; bytes < packed.size(); ++bytes)
    EXPECT_FALSE(unpack_leave_word(std::string_view(packed).substr(0, bytes))) << bytes;
  leave_word strange;
  strange.state = static_cast<leave_word::what>(99);
  EXPECT_FALSE(unpack_leave_word(pack(strange)));
}

}  // namespace
}  // namespace quire::bootstrap::launcher::viewers_test
