// SPDX-License-Identifier: BSD-3-Clause
// A node that hangs (here: is stopped) ends the job within the time set, on every transport and whatever the others do,
// with one message that says who it was, and leaves nothing. Nodes that merely compute, start late, end late, or are
// stopped together with all others are taken for dead by nobody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "command.hpp"
#include "control_group.hpp"

namespace quire::test::silence_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using words = std::vector<std::string>;

constexpr int nodes = 3;
constexpr double generous_seconds = 15;  ///< 2 s as a rule; the machine may be busy

words job_of(const std::string& program, const words& arguments, const words& options) {
  words all{QUIRE_TOOL, "run", "-n", std::to_string(nodes), "--timeout", "60"};
  all.insert(all.end(), options.begin(), options.end());
  all.push_back(QUIRE_PROGRAMS "/" + program);
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

/// The pids of all nodes, when all of them are at work; empty if they do not come.
std::vector<pid_t> pids_of(command& job) {
  std::vector<pid_t> pids;
  for (int node = 0; node < nodes; ++node) {
    const std::string line = "node " + std::to_string(node) + " is ([0-9]+)\n";
    auto found = matches_of(job.out(), line);
    for (; found.empty(); found = matches_of(job.out(), line))
      if (!job.wait_for("node " + std::to_string(node) + " is ", 30) || !job.wait_for("\n", 5)) return {};
    pids.push_back(std::atoi(found[0][1].c_str()));
  }
  ::poll(nullptr, 0, 300);
  return pids;
}

char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::ostringstream read;
  read << file.rdbuf();
  std::string text = read.str();
  const auto at = text.rfind(')');
  return at + 2 < text.size() ? text[at + 2] : '?';
}

bool comes_to(pid_t pid, bool stopped) {
  for (int tries = 0; tries < 500; ++tries) {
    if ((state_of(pid) == 'T') == stopped) return true;
    ::poll(nullptr, 0, 20);
  }
  return false;
}

double seconds_now() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

struct hang {
  const char *program, *what, *transport;
  int victim;
};
void PrintTo(const hang& h, std::ostream* out) { *out << h.what << ", " << h.transport << ", node " << h.victim; }

class silence : public testing::TestWithParam<hang> {};

TEST_P(silence, of_one_ends_all) {
  const hang& h = GetParam();
  command job(job_of(h.program, {h.what}, {"--peer-timeout", "2", "--transport", h.transport}));
  const auto pids = pids_of(job);
  ASSERT_FALSE(pids.empty()) << job.out();
  const pid_t victim = pids[static_cast<std::size_t>(h.victim)];
  const double begin = seconds_now();
  ASSERT_EQ(::kill(victim, SIGSTOP), 0);
  const auto result = job.finish(40);
  EXPECT_LT(seconds_now() - begin, generous_seconds);
  EXPECT_EQ(result.status, 128 + SIGKILL) << result.err;
  // Whoever comes first: the nodes that hear nothing, or the launcher that sees it stopped; both have the same limit.
  const std::string named = "quire: node " + std::to_string(h.victim) + " \\(pid " + std::to_string(victim) + "\\) ";
  EXPECT_THAT(result.err, ContainsRegex(named + "(does not answer: at [0-9:]+ node [0-9] had heard nothing from it for "
                                                "[0-9.]+ s, since |does not go on: it has been stopped )"));
  EXPECT_THAT(result.err, testing::Not(HasSubstr("error:"))) << "nodes repeat it";
  EXPECT_TRUE(job.left_behind(10).empty()) << "processes were left behind";
}
INSTANTIATE_TEST_SUITE_P(
    places, silence,
    testing::Values(hang{"silence_program", "idle", "shm", 1}, hang{"silence_program", "idle", "shm", 0},
                    hang{"silence_program", "idle", "tcp", 2}, hang{"silence_program", "idle", "tcp", 0},
                    hang{"death_program", "compute", "shm", 0}, hang{"death_program", "compute", "shm", 2},
                    hang{"death_program", "compute", "tcp", 1}, hang{"death_program", "private_loop", "shm", 1},
                    hang{"death_program", "at_barrier", "shm", 0}, hang{"death_program", "at_end", "tcp", 0},
                    hang{"death_program", "in_lock", "shm", 1}),
    [](const auto& info) {
      return std::string(info.param.what) + "_" + info.param.transport + "_node_" + std::to_string(info.param.victim);
    });

/// Two at once: whichever is named, all end.
TEST(silence_of_two, ends_all) {
  command job(job_of("death_program", {"compute"}, {"--peer-timeout", "2"}));
  const auto pids = pids_of(job);
  ASSERT_FALSE(pids.empty()) << job.out();
  for (const int victim : {1, 2}) ASSERT_EQ(::kill(pids[static_cast<std::size_t>(victim)], SIGSTOP), 0);
  const auto result = job.finish(40);
  EXPECT_EQ(result.status, 128 + SIGKILL) << result.err;
  EXPECT_THAT(result.err, ContainsRegex("quire: node [12] .* does not (answer|go on)"));
  EXPECT_TRUE(job.left_behind(10).empty());
}

struct work {
  const char *what, *transport;
};
void PrintTo(const work& w, std::ostream* out) { *out << w.what << ", " << w.transport; }

class patience : public testing::TestWithParam<work> {};

/// For twice the time after which a node that hangs is dead.
TEST_P(patience, with_nodes_that_compute_or_start_or_end_late) {
  const work& w = GetParam();
  const auto result =
      run(job_of("silence_program", {w.what, "4"}, {"--peer-timeout", "2", "--transport", w.transport}));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
}
INSTANTIATE_TEST_SUITE_P(works, patience,
                         testing::Values(work{"busy", "shm"}, work{"busy", "tcp"}, work{"busy_with_lock", "shm"},
                                         work{"idle", "tcp"}, work{"share", "shm"}, work{"slow_start", "tcp"},
                                         work{"slow_end", "shm"}, work{"slow_end", "tcp"}),
                         [](const auto& info) { return std::string(info.param.what) + "_" + info.param.transport; });

TEST(no_silence, where_it_is_turned_off) {
  command job(job_of("silence_program", {"idle", "1"}, {"--peer-timeout", "0"}));
  const auto pids = pids_of(job);
  ASSERT_FALSE(pids.empty()) << job.out();
  ASSERT_EQ(::kill(pids[1], SIGSTOP), 0);
  ::poll(nullptr, 0, 8000);
  ASSERT_EQ(::kill(pids[1], SIGCONT), 0);
  const auto result = job.finish(40);
  EXPECT_EQ(result.status, 0) << result.err;
}

/// Ctrl-Z: the launcher stops all nodes and itself, and they go on together.
TEST(no_silence, where_the_whole_job_is_stopped) {
  for (const char* what : {"idle", "share"}) {
    command job(job_of("silence_program", {what, "2"}, {"--peer-timeout", "2"}));
    const auto pids = pids_of(job);
    ASSERT_FALSE(pids.empty()) << job.out();
    job.signal(SIGTSTP);
    ASSERT_TRUE(comes_to(job.pid(), true)) << "the launcher has not stopped";
    for (const pid_t pid : pids) EXPECT_TRUE(comes_to(pid, true)) << what;
    ::poll(nullptr, 0, 6000);
    EXPECT_EQ(state_of(pids[2]), 'T');
    job.signal(SIGCONT);
    for (const pid_t pid : pids) EXPECT_TRUE(comes_to(pid, false)) << what;
    const auto result = job.finish(40);
    EXPECT_EQ(result.status, 0) << what << result.err;
    EXPECT_EQ(result.err, "") << what;
  }
}

/// All threads of a process stand still without being stopped by a signal, as where others have all cores. Until the
/// end of its life.
class starved {
 public:
  explicit starved(pid_t pid) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
      const pid_t thread = std::atoi(entry.path().filename().c_str());
      if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) continue;
      threads_.push_back(thread);
      ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
      ::waitpid(thread, nullptr, __WALL);
    }
    reaper_ = std::thread([this] { reap(); });
  }
  ~starved() {
    over_ = true;
    reaper_.join();
    for (const pid_t thread : threads_) ::ptrace(PTRACE_DETACH, thread, nullptr, nullptr);
  }
  starved(const starved&) = delete;
  starved& operator=(const starved&) = delete;
  [[nodiscard]] bool all() const { return threads_.size() > 1; }

 private:
  /// A thread that is killed is gone for its parent only when its tracer has heard of it.
  void reap() const {
    for (; !over_; ::poll(nullptr, 0, 20))
      for (const pid_t thread : threads_) ::waitpid(thread, nullptr, __WALL | WNOHANG);
  }
  std::vector<pid_t> threads_;
  std::atomic<bool> over_{false};
  std::thread reaper_;
};

/// A node without a core for longer than it takes the others to accuse it: it is heard again before it is judged.
TEST(a_busy_core, is_no_dead_node) {
  command job(job_of("silence_program", {"idle", "4"}, {"--peer-timeout", "2"}));
  const auto pids = pids_of(job);
  ASSERT_FALSE(pids.empty()) << job.out();
  {
    const starved busy(pids[1]);
    ASSERT_TRUE(busy.all()) << "this user may not trace its own processes";
    ::poll(nullptr, 0, 2400);
  }
  const auto result = job.finish(40);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
}
/// Beside one that is stopped it is not taken for dead either.
TEST(a_busy_core, is_not_named_beside_a_stopped_node) {
  command job(job_of("silence_program", {"idle", "30"}, {"--peer-timeout", "2"}));
  const auto pids = pids_of(job);
  ASSERT_FALSE(pids.empty()) << job.out();
  command_result result;
  {
    const starved busy(pids[0]);
    ASSERT_TRUE(busy.all());
    ::poll(nullptr, 0, 100);
    ASSERT_EQ(::kill(pids[2], SIGSTOP), 0);
    result = job.finish(40);
  }
  EXPECT_EQ(result.status, 128 + SIGKILL) << result.err;
  EXPECT_THAT(result.err, ContainsRegex("quire: node 2 .pid [0-9]+. does not .* stopped by a signal"));
  EXPECT_THAT(result.err, testing::Not(HasSubstr("node 0 (pid")));
}
/// One that its control group gives a hundredth of a core, for longer than four times the limit.
TEST(a_busy_core, of_which_a_node_may_have_little_is_no_dead_node) {
  for (const char* const what : {"busy", "share"}) {
    const small_group group("cpu", "cpu.cfs_quota_us", 1000);
    if (!group.made()) GTEST_SKIP() << "making a control group takes root, and version 1 of them";
    command job(job_of("silence_program", {what, "8"}, {"--peer-timeout", "2"}));
    const auto pids = pids_of(job);
    ASSERT_FALSE(pids.empty()) << job.out();
    ASSERT_TRUE(group.take(pids[1]));
    const auto result = job.finish(60);
    EXPECT_EQ(result.status, 0) << what << result.err;
    EXPECT_EQ(result.err, "") << what;
  }
}
/// Stopped again and again, each time for less than the limit, by somebody who lets it go on.
TEST(a_stop, that_is_short_is_no_end) {
  command job(job_of("silence_program", {"share", "6"}, {"--peer-timeout", "2"}));
  const auto pids = pids_of(job);
  ASSERT_FALSE(pids.empty()) << job.out();
  for (int times = 0; times < 3; ++times) {
    ASSERT_EQ(::kill(pids[1], SIGSTOP), 0);
    ::poll(nullptr, 0, 1300);
    ASSERT_EQ(::kill(pids[1], SIGCONT), 0);
    ::poll(nullptr, 0, 200);
  }
  const auto result = job.finish(40);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
}
/// One that hangs without being stopped is lost all the same.
TEST(a_node_that_hangs, is_lost_after_the_limit_was_given_once_more) {
  command job(job_of("silence_program", {"idle", "60"}, {"--peer-timeout", "2"}));
  const auto pids = pids_of(job);
  ASSERT_FALSE(pids.empty()) << job.out();
  const double begin = seconds_now();
  const starved for_ever(pids[1]);
  const auto result = job.finish(40);
  EXPECT_LT(seconds_now() - begin, generous_seconds);
  EXPECT_EQ(result.status, 128 + SIGKILL) << result.err;
  EXPECT_THAT(result.err, ContainsRegex("quire: node 1 .pid [0-9]+. does not answer"));
}

/// Where nobody hears nodes, the kernel says who is stopped: before the start, after the end, and in a program that is
/// none of Quire's.
TEST(a_stopped_node, is_noticed_in_every_phase) {
  const std::string stop_one = "test $QUIRE_JOB_NODE = 1 && kill -STOP $$; ";
  const std::vector<std::pair<const char*, words>> phases{
      {"before the start", {"/bin/sh", "-c", stop_one + "exec " QUIRE_PROGRAMS "/silence_program idle 60"}},
      {"after the end", {QUIRE_PROGRAMS "/death_program", "stops_after_end"}},
      {"after the end, under a shell", {"/bin/sh", "-c", QUIRE_PROGRAMS "/death_program stops_after_end; sleep 1"}},
      {"no Quire program", {"/bin/sh", "-c", stop_one + "sleep 1"}}};
  for (const auto& [phase, program] : phases) {
    words all{QUIRE_TOOL, "run", "-n", "3", "--timeout", "60", "--peer-timeout", "1"};
    all.insert(all.end(), program.begin(), program.end());
    const auto result = run(all);
    EXPECT_EQ(result.status, 128 + SIGKILL) << phase << result.err;
    EXPECT_THAT(
        result.err,
        ContainsRegex("quire: node 1 .pid [0-9]+. does not go on: it has been stopped by a signal for [0-9.]+ s"))
        << phase;
    EXPECT_LT(result.seconds, generous_seconds) << phase;
  }
}

}  // namespace
}  // namespace quire::test::silence_test
