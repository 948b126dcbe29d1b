// SPDX-License-Identifier: BSD-3-Clause
// Jobs that are killed, and go on from their last checkpoint on another number of nodes: the end is that of one that
// nobody has disturbed. Disks that are full, and checkpoints that are damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "command.hpp"

namespace quire::test::checkpoint_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class checkpoint : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "quire-restart-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    path_ = root_ + "/state";
  }
  void TearDown() override { fs::remove_all(root_); }

  /// A job of `nodes`: `steps` in all, a checkpoint after every second.
  command_result job(int nodes, const std::string& steps, const command::settings& environment = {},
                     const std::string& stop = "", const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {QUIRE_TOOL, "run", "-n", std::to_string(nodes), "--timeout", "100"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {QUIRE_PROGRAMS "/checkpoint_program", path_, steps, "2"});
    if (!stop.empty()) words.push_back(stop);
    auto result = run(words, environment, "", 110);
    EXPECT_NE(result.status, 124) << "it hung: " << result.out << result.err;
    EXPECT_EQ(result.err.find("FAILED"), std::string::npos) << result.err;
    return result;
  }
  void expect_all_right(const command_result& result, const std::string& steps) {
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("all " + steps + " steps are right"));
  }
  /// Goes on to the end, one node after another in number.
  void go_around(const command::settings& environment = {}, const std::vector<std::string>& options = {}) {
    ASSERT_EQ(job(2, "14", environment, "3", options).status, 0);
    int stop = 6;
    for (const int nodes : {3, 1, 4}) {
      const auto result = job(nodes, "14", environment, std::to_string(stop), options);
      ASSERT_EQ(result.status, 0) << result.out << result.err;
      ASSERT_THAT(result.out, HasSubstr("goes on after step"));
      stop += 3;
    }
    expect_all_right(job(2, "14", environment, "", options), "14");
  }
  [[nodiscard]] std::string newest() const {
    std::string last;
    for (const auto& entry : fs::directory_iterator(path_)) last = std::max(last, entry.path().string());
    return last;
  }
  std::string root_, path_;
};

TEST_F(checkpoint, goes_on_on_fewer_and_more_nodes) { go_around(); }
TEST_F(checkpoint, goes_on_over_tcp) { go_around({}, {"--transport", "tcp"}); }
TEST_F(checkpoint, goes_on_with_release_consistency) { go_around({{"QUIRE_CONSISTENCY", "release"}}); }
TEST_F(checkpoint, goes_on_with_the_engine_in_another_process) { go_around({}, {"--pool", "fork"}); }
TEST_F(checkpoint, goes_on_with_sigsegv) { go_around({}, {"--detect", "segv"}); }
TEST_F(checkpoint, goes_on_with_a_handler_thread) { go_around({}, {"--detect", "thread"}); }
TEST_F(checkpoint, goes_on_with_system_v_segments) { go_around({}, {"--pool", "sysv", "--detect", "segv"}); }
TEST_F(checkpoint, goes_on_with_little_memory) { go_around({}, {"--memory-limit", "1M"}); }
TEST_F(checkpoint, goes_on_with_minipages) { go_around({{"CHECKPOINT_MINIPAGES", "1"}}); }
TEST_F(checkpoint, goes_on_with_minipages_and_sigsegv) {
  go_around({{"CHECKPOINT_MINIPAGES", "1"}}, {"--detect", "segv"});
}
TEST_F(checkpoint, goes_on_with_minipages_and_a_handler_thread) {
  go_around({{"CHECKPOINT_MINIPAGES", "1"}}, {"--detect", "thread", "--transport", "tcp"});
}
TEST_F(checkpoint, goes_on_with_minipages_and_little_memory) {
  go_around({{"CHECKPOINT_MINIPAGES", "1"}}, {"--memory-limit", "1M"});
}
TEST_F(checkpoint, goes_on_with_a_heap_of_minipages_and_little_memory) {
  go_around({{"QUIRE_HEAP_VIEWS", "16"}}, {"--memory-limit", "1M"});
}
TEST_F(checkpoint, goes_on_with_a_heap_of_minipages) { go_around({{"QUIRE_HEAP_VIEWS", "16"}}); }
TEST_F(checkpoint, goes_on_with_a_heap_of_minipages_beside_release) {
  go_around({{"QUIRE_HEAP_VIEWS", "64"}, {"CHECKPOINT_MINIPAGES", "1"}, {"QUIRE_CONSISTENCY", "release"}});
}
TEST_F(checkpoint, goes_on_with_transactions_under_way) { go_around({{"CHECKPOINT_TRANSACTIONS", "1"}}); }
TEST_F(checkpoint, goes_on_with_transactions_and_sigsegv) {
  go_around({{"CHECKPOINT_TRANSACTIONS", "1"}}, {"--detect", "segv", "--transport", "tcp"});
}
TEST_F(checkpoint, goes_on_with_transactions_and_little_memory) {
  go_around({{"CHECKPOINT_TRANSACTIONS", "1"}}, {"--memory-limit", "1M"});
}
TEST_F(checkpoint, goes_on_with_large_units) { go_around({{"QUIRE_UNIT", "64K"}}); }

TEST_F(checkpoint, another_pool_detector_and_consistency_may_go_on) {
  ASSERT_EQ(job(2, "8", {}, "2").status, 0);
  ASSERT_EQ(job(3, "8", {{"QUIRE_CONSISTENCY", "release"}}, "4", {"--detect", "segv", "--pool", "posix"}).status, 0);
  ASSERT_EQ(job(1, "8", {}, "6", {"--memory-limit", "1M"}).status, 0);
  expect_all_right(job(2, "8", {}, "", {"--pool", "fork"}), "8");
}

TEST_F(checkpoint, what_cannot_be_is_refused_on_all_nodes) {
  const auto result =
      run({QUIRE_TOOL, "run", "-n", "3", "--timeout", "60", QUIRE_PROGRAMS "/checkpoint_program", path_, "errors"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("parallel block"));
  EXPECT_THAT(result.err, HasSubstr("pinned"));
  EXPECT_THAT(result.err, HasSubstr("quire_restore() comes first"));
}

/// Killed at each of the calls that make a checkpoint, on node 0, which does most of them, and on another.
TEST_F(checkpoint, a_kill_at_any_step_leaves_one_to_go_on_from) {
  std::mt19937 random(1);
  int killed = 0, round = 0;
  const std::vector<std::string> calls = {"file_make:2",   "file_make:5",   "file_write:1",  "file_write:3",
                                          "file_write:9",  "file_write:12", "file_sync:2",   "file_sync:3",
                                          "file_sync:4",   "file_sync:6",   "file_rename:1", "file_rename:2",
                                          "file_rename:4", "file_remove:1", "file_remove:3"};
  for (const std::string& call : calls) {
    for (const char* node : {"0", "1"}) {
      if (node[0] == '1' && call.find("file_write") != 0 && call.find("file_sync") != 0) continue;  // node 0's alone
      const int nodes = 1 + (round++ + (node[0] - '0')) % 4;
      const auto result = job(std::max(nodes, node[0] - '0' + 1), "1000",
                              {{"CHECKPOINT_FAIL", node + (":" + call) + ":kill"}}, std::to_string(round * 6));
      if (result.status != 0) ++killed;
      if (result.status == 0) continue;
      EXPECT_THAT(result.err, HasSubstr("signal 9")) << call << result.err;
      if (round > 2) {
        EXPECT_THAT(result.out, HasSubstr("goes on after step")) << call;
      }
    }
  }
  EXPECT_GT(killed, 10);
  const auto last = job(3, std::to_string(round * 6 + 2));
  expect_all_right(last, std::to_string(round * 6 + 2));
}

enum class state_kind { pages, below_a_page, transactions };
constexpr const char* names_of_states[] = {"pages", "below_a_page", "transactions"};
class killed_checkpoint : public checkpoint, public testing::WithParamInterface<state_kind> {};
TEST_P(killed_checkpoint, costs_the_steps_since) {
  command::settings settings;
  if (GetParam() == state_kind::below_a_page) settings = {{"CHECKPOINT_MINIPAGES", "1"}, {"QUIRE_HEAP_VIEWS", "16"}};
  if (GetParam() == state_kind::transactions) settings = {{"CHECKPOINT_TRANSACTIONS", "1"}};
  for (int i = 0; i < 4; ++i) {
    command running({QUIRE_TOOL, "run", "-n", std::to_string(1 + (i + 2) % 4), "--timeout", "60",
                     QUIRE_PROGRAMS "/checkpoint_program", path_, "900", "2"},
                    settings);
    ASSERT_TRUE(running.wait_for("checkpoint after step", 50));
    running.signal(SIGKILL);
    (void)running.finish(20);
    EXPECT_TRUE(running.left_behind(20).empty());
  }
  // As many steps as the last one has done, and some more.
  const auto result = job(2, "1", settings, "1");
  const auto at = result.out.find("goes on after step ");
  ASSERT_NE(at, std::string::npos) << result.out << result.err;
  const int step = std::atoi(result.out.c_str() + at + 19);
  ASSERT_LT(step, 990);
  expect_all_right(job(3, std::to_string(step + 3), settings), std::to_string(step + 3));
}
INSTANTIATE_TEST_SUITE_P(units, killed_checkpoint,
                         testing::Values(state_kind::pages, state_kind::below_a_page, state_kind::transactions),
                         [](const auto& info) { return names_of_states[static_cast<std::size_t>(info.param)]; });

/// A job of `nodes` with 12 chains of `length` tasks, or one that goes on with what is left of them.
std::vector<std::string> chains_of_tasks(int nodes, const std::string& directory, const std::string& length) {
  return {QUIRE_TOOL, "run", "-n",  std::to_string(nodes), "--timeout", "80", QUIRE_PROGRAMS "/lasting_tasks_program",
          directory,  "12",  length};
}

/// Everything is killed, again and again: the loop of transactions goes on with the tasks that it had.
TEST_F(checkpoint, tasks_go_on_where_they_were) {
  const auto words = [&](int nodes) { return chains_of_tasks(nodes, path_, "1000"); };
  int killed = 0;
  for (const int nodes : {3, 2, 4, 1}) {
    command running(words(nodes));
    ASSERT_TRUE(running.wait_for("checkpoint 3", 50));
    if (killed != 0) {
      EXPECT_TRUE(running.wait_for("goes on with", 1));
    }
    running.signal(SIGKILL);
    (void)running.finish(20);
    EXPECT_TRUE(running.left_behind(20).empty());
    ++killed;
  }
  const auto result = run(words(2), {}, "", 70);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("goes on with"));
  EXPECT_THAT(result.out, HasSubstr("all 12000 tasks were run once"));
}

/// The board of tasks of two nodes has room for 16: one more is told so, and leaves the tasks as they were.
TEST_F(checkpoint, tasks_go_on_on_as_many_nodes_as_their_board_has_room_for) {
  command running(chains_of_tasks(2, path_, "150"));
  ASSERT_TRUE(running.wait_for("checkpoint 1", 50));
  running.signal(SIGKILL);
  (void)running.finish(20);
  const auto beyond = run(chains_of_tasks(17, path_, "150"), {}, "", 90);
  EXPECT_NE(beyond.status, 0);
  EXPECT_NE(beyond.status, 124) << "it hung: " << beyond.out << beyond.err;
  EXPECT_THAT(
      beyond.err,
      HasSubstr(
          "status 22: quire_loop_run(): the checkpoint that the job went on from has room for tasks of 16 nodes"));
  EXPECT_THAT(beyond.out, testing::Not(HasSubstr("were run once")));
  const auto last = run(chains_of_tasks(16, path_, "150"), {}, "", 90);
  EXPECT_EQ(last.status, 0) << last.out << last.err;
  EXPECT_THAT(last.out, HasSubstr("goes on with"));
  EXPECT_THAT(last.out, HasSubstr("all 1800 tasks were run once"));
}

/// Found: who had written its own file went on, and wanted pages of a node that had not: they were in no file.
TEST_F(checkpoint, nobody_goes_on_before_the_slowest_has_written) {
  for (const int nodes : {2, 3}) {
    // Made, but nothing in it: the first file of a node that makes no directories.
    const std::string slow = std::to_string(nodes - 1) + ":file_make:1:wait";
    ASSERT_EQ(job(nodes, "20", {{"CHECKPOINT_FAIL", slow}}, "2").status, 0);
    expect_all_right(job(2, "3"), "3");
    fs::remove_all(path_);
  }
}

TEST_F(checkpoint, a_full_disk_is_told_on_all_nodes_and_the_job_goes_on) {
  const auto result = job(3, "6", {{"CHECKPOINT_FAIL", "1:file_write:2:28"}});
  expect_all_right(result, "6");
  EXPECT_THAT(result.err, HasSubstr("No space left on device"));
  EXPECT_THAT(result.err, HasSubstr("node-1"));
  EXPECT_THAT(result.err, HasSubstr("node 1 could not"));
  EXPECT_THAT(result.out, HasSubstr("checkpoint after step 2: the operating system refused"));
  // Node 0 says so: it knows what node 1 has met.
  EXPECT_THAT(result.out, testing::ContainsRegex(
                              "quire_checkpoint\\(\\): node 1: cannot write [^\n]*/node-1: No space left on device; "
                              "checkpoints before are as they were"));
}

/// A real one: there is room for one checkpoint, not for another beside it.
TEST_F(checkpoint, a_file_system_without_room_keeps_the_checkpoint_it_has) {
  if (::mount("tmpfs", root_.c_str(), "tmpfs", 0, "size=3m") != 0)
    GTEST_SKIP() << "this needs the right to mount a tmpfs";
  const auto result = job(2, "8", {{"CHECKPOINT_TOLERATE", "1"}});
  const auto later = job(3, "8", {{"CHECKPOINT_TOLERATE", "1"}});
  EXPECT_EQ(::umount(root_.c_str()), 0);
  expect_all_right(result, "8");
  EXPECT_THAT(result.out, HasSubstr("checkpoint after step 2: success"));
  EXPECT_THAT(result.out, HasSubstr("checkpoint after step 8: the operating system refused"));
  EXPECT_THAT(result.err, HasSubstr("No space left on device"));
  expect_all_right(later, "8");
  EXPECT_THAT(later.out, HasSubstr("goes on after step 2"));
}

TEST_F(checkpoint, a_damaged_one_is_refused_and_the_one_before_is_taken) {
  ASSERT_EQ(job(2, "20", {}, "6").status, 0);
  const std::string file = newest() + "/node-1";
  std::fstream content(file, std::ios::in | std::ios::out | std::ios::binary);
  content.seekp(10'000);
  content.put('x').put('y').put('z');
  content.close();
  auto result = job(3, "20", {}, "6");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(file));
  EXPECT_THAT(result.err, HasSubstr("checksum"));
  EXPECT_THAT(result.err, HasSubstr("which is older"));
  EXPECT_THAT(result.out, HasSubstr("goes on after step 4"));
  // None is whole: the job hears of it, and starts nothing.
  for (const auto& entry : fs::directory_iterator(path_)) fs::resize_file(entry.path() / "node-0", 5000);
  result =
      run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "60", QUIRE_PROGRAMS "/checkpoint_program", path_, "20", "2"});
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("5000 bytes instead of"));
  EXPECT_THAT(result.err, HasSubstr("gave 23"));
  EXPECT_THAT(result.err,
              testing::ContainsRegex(
                  "quire_restore\\(\\): node [01]: [^\n]*5000 bytes instead of [^\n]*; nor can an older one be taken"));
}

TEST_F(checkpoint, other_settings_are_named) {
  ASSERT_EQ(job(2, "20", {}, "2").status, 0);
  const std::vector<std::string> words = {
      QUIRE_TOOL, "run", "-n", "2", "--timeout", "60", QUIRE_PROGRAMS "/checkpoint_program", path_, "20", "2"};
  for (const auto& [name, value] : command::settings{{"QUIRE_UNIT", "8K"},
                                                     {"QUIRE_RANGE", "64G"},
                                                     {"QUIRE_BASE", "0x210000000000"},
                                                     {"QUIRE_HEAP_VIEWS", "16"}}) {
    const auto result = run(words, {{name, value}});
    EXPECT_NE(result.status, 0);
    EXPECT_THAT(result.err, HasSubstr("was written by a job with")) << name;
    EXPECT_THAT(result.err, HasSubstr("quire_restore(): node ")) << name;
    EXPECT_THAT(result.err, HasSubstr(name)) << name;
  }
}

}  // namespace
}  // namespace quire::test::checkpoint_test
