// SPDX-License-Identifier: BSD-3-Clause
// A node is killed at each write to a file that a container is over, and at each sync: what was synced is there after a
// restart, and nothing older.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <tuple>

#include "command.hpp"

namespace quire::test::container_kill_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class container_kill : public testing::TestWithParam<std::tuple<const char*, int>> {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "quire-kill-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }
  [[nodiscard]] std::vector<std::string> words(int nodes, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {
        QUIRE_TOOL, "run", "-n", std::to_string(nodes), "--timeout", "60", QUIRE_PROGRAMS "/container_kill_program",
        root_};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string root_{};
};

/// Until a job ends before its count does.
TEST_P(container_kill, loses_nothing_that_was_synced) {
  const auto [call, node] = GetParam();
  int killed = 0;
  for (bool dies = true; dies; ++killed) {
    ASSERT_LT(killed, 200);
    SCOPED_TRACE(std::string(call) + " " + std::to_string(killed + 1) + " of node " + std::to_string(node));
    fs::remove_all(root_);
    fs::create_directory(root_);
    const auto first = run(words(2, {std::to_string(node)}),
                           {{"QUIRE_FAIL", std::string(call) + ":" + std::to_string(killed + 1) + ":kill"}}, "", 70);
    dies = first.status != 0;
    if (dies) {
      ASSERT_THAT(first.err, HasSubstr("node " + std::to_string(node))) << first.out;
    }
    const auto second = run(words(killed % 3 + 1), {}, "", 70);
    ASSERT_EQ(second.status, 0) << first.err << second.out << second.err;
    ASSERT_THAT(second.out, HasSubstr("all is well"));
  }
  EXPECT_GE(killed, 4) << "each node writes and syncs in each round";
}

INSTANTIATE_TEST_SUITE_P(each, container_kill,
                         testing::Combine(testing::Values("file_write", "file_sync"), testing::Values(0, 1)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_of_node_" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace quire::test::container_kill_test
