// SPDX-License-Identifier: BSD-3-Clause
// Jobs with containers that are killed, and go on from their last checkpoint on another number of nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "command.hpp"

namespace quire::test::container_checkpoint_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class container_checkpoint : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "quire-containers-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    state_ = root_ + "/state";
    data_ = root_ + "/data";
    fs::create_directory(data_);
  }
  void TearDown() override { fs::remove_all(root_); }

  [[nodiscard]] std::vector<std::string> words(int nodes, const std::vector<std::string>& more,
                                               const std::vector<std::string>& options = {}) const {
    std::vector<std::string> all = {QUIRE_TOOL, "run", "-n", std::to_string(nodes), "--timeout", "100"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {QUIRE_PROGRAMS "/container_checkpoint_program", state_, data_});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// A job that makes the checkpoint after `round`, spoils everything, and is killed. What it has said.
  std::string killed_after(int round, int nodes, const std::vector<std::string>& options = {},
                           const command::settings& environment = {}, const std::vector<std::string>& more = {}) {
    command running(words(nodes, more, options), environment);
    const bool reached = running.wait_for("spoilt", 90);
    running.signal(SIGKILL);
    const command_result result = running.finish(20);
    EXPECT_TRUE(reached) << result.out << result.err;
    EXPECT_TRUE(running.left_behind(20).empty());
    EXPECT_THAT(result.out, HasSubstr("round " + std::to_string(round) + " is right")) << result.err;
    return result.out + result.err;
  }
  void expect_right(int round, int nodes, const std::vector<std::string>& options = {}) {
    const auto result = run(words(nodes, {"end"}, options), {}, "", 110);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("round " + std::to_string(round) + " is right")) << result.err;
  }
  void go_around(const std::vector<std::string>& options = {}) {
    int round = 0;
    for (const int nodes : {2, 3, 1, 4}) {
      EXPECT_THAT(killed_after(round, nodes, options),
                  HasSubstr("checkpoint " + std::to_string(round + 1) + ": success"));
      ++round;
    }
    expect_right(round, 2, options);
  }
  std::string root_, state_, data_;
};

TEST_F(container_checkpoint, goes_on_on_fewer_and_more_nodes) { go_around(); }
TEST_F(container_checkpoint, goes_on_over_tcp_with_sigsegv) { go_around({"--transport", "tcp", "--detect", "segv"}); }
TEST_F(container_checkpoint, goes_on_with_little_memory) { go_around({"--memory-limit", "1M"}); }

TEST_F(container_checkpoint, a_read_only_file_that_has_changed_is_named) {
  (void)killed_after(0, 2);
  {
    std::ofstream more(data_ + "/input", std::ios::app);
    more << "more";
  }
  const auto longer = run(words(3, {"end"}), {}, "", 60);
  EXPECT_EQ(longer.status, 3) << longer.out << longer.err;
  EXPECT_THAT(longer.err, HasSubstr("container 'input' is read-only, and " + data_ + "/input is not what it was"));
  EXPECT_THAT(longer.err, HasSubstr("it has 81929 bytes instead of 81925"));
  fs::resize_file(data_ + "/input", 81925);
  const auto rewritten = run(words(2, {"end"}), {}, "", 60);
  EXPECT_EQ(rewritten.status, 3) << rewritten.out << rewritten.err;
  EXPECT_THAT(rewritten.err, HasSubstr("it was written since"));
  fs::remove(data_ + "/input");
  const auto gone = run(words(1, {"end"}), {}, "", 60);
  EXPECT_EQ(gone.status, 3) << gone.out << gone.err;
  EXPECT_THAT(gone.err, HasSubstr(data_ + "/input cannot be read any more: No such file or directory"));
}

TEST_F(container_checkpoint, a_file_that_was_removed_comes_back) {
  (void)killed_after(0, 2);
  fs::remove(data_ + "/table");
  fs::remove(data_ + "/slow");
  expect_right(1, 3);
}

TEST_F(container_checkpoint, a_damaged_copy_is_refused_and_the_one_before_is_taken) {
  (void)killed_after(0, 2);
  (void)killed_after(1, 2);
  std::string copy;
  for (const auto& entry : fs::directory_iterator(state_ + "/gen-00000002")) {
    if (entry.path().filename().string().starts_with("container-")) copy = entry.path();
  }
  ASSERT_FALSE(copy.empty());
  {
    std::fstream content(copy, std::ios::in | std::ios::out | std::ios::binary);
    content.seekp(10'000);
    content.put('x').put('y').put('z');
  }
  const auto result = run(words(2, {"end"}), {}, "", 60);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr(copy + ": its checksum is wrong"));
  EXPECT_THAT(result.out, HasSubstr("round 1 is right"));
  fs::resize_file(copy, 1000);
  const auto shorter = run(words(3, {"end"}), {}, "", 60);
  EXPECT_THAT(shorter.err, HasSubstr(copy + ": it has 1000 bytes instead of"));
  EXPECT_THAT(shorter.out, HasSubstr("round 1 is right"));
}

TEST_F(container_checkpoint, other_threads_go_on_with_containers_meanwhile) {
  for (const int nodes : {3, 2}) {
    const auto result = run(words(nodes, {"busy", "end"}), {}, "", 90);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("round 0 is right"));
  }
  expect_right(0, 4);
}

/// A real one: there is room for one checkpoint, not for another that is larger.
TEST_F(container_checkpoint, a_full_disk_leaves_the_checkpoint_before) {
  fs::create_directory(state_);
  if (::mount("tmpfs", state_.c_str(), "tmpfs", 0, "size=3m") != 0)
    GTEST_SKIP() << "this needs the right to mount a tmpfs";
  const std::string first = killed_after(0, 2), second = killed_after(1, 3, {}, {}, {"large"});
  expect_right(1, 2);
  EXPECT_EQ(::umount(state_.c_str()), 0);
  EXPECT_THAT(first, HasSubstr("checkpoint 1: success"));
  EXPECT_THAT(second, HasSubstr("No space left on device"));
  EXPECT_THAT(second, HasSubstr("checkpoint 2: the operating system refused"));
}

/// Killed at each of the calls that put files back and make the next checkpoint, on whichever node comes to it.
TEST_F(container_checkpoint, a_kill_at_any_step_leaves_one_to_go_on_from) {
  (void)killed_after(0, 2);
  int killed = 0;
  for (const char* const call : {"file_make:1", "file_make:2", "file_make:3", "file_write:1", "file_write:2",
                                 "file_write:5", "file_sync:1", "file_sync:2", "file_sync:4", "file_rename:1"}) {
    const auto result = run(words(2, {"stop"}), {{"QUIRE_FAIL", std::string(call) + ":kill"}}, "", 60);
    EXPECT_NE(result.status, 124) << call << " hung: " << result.out << result.err;
    EXPECT_EQ(result.err.find("FAILED"), std::string::npos) << call << result.err;
    killed += result.err.find("signal 9") != std::string::npos ? 1 : 0;
    const auto next = run(words(3, {"end"}), {}, "", 60);
    EXPECT_EQ(next.status, 0) << call << next.out << next.err;
    EXPECT_THAT(next.out, HasSubstr("is right")) << call;
  }
  EXPECT_GT(killed, 6);
}

}  // namespace
}  // namespace quire::test::container_checkpoint_test
