// A node that hangs (here: is stopped) ends the job within the time set, on every transport and whatever the others do,
// with one message that says who it was, and leaves nothing. Nodes that merely compute, start late, end late, or are
// stopped together with all others are taken for dead by nobody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include "command.hpp"

namespace quire::test {
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
    const std::regex line("node " + std::to_string(node) + " is ([0-9]+)\n");
    std::smatch found;
    std::string out;
    while (out = job.out(), !std::regex_search(out, found, line))
      if (!job.wait_for("node " + std::to_string(node) + " is ", 30) || !job.wait_for("\n", 5)) return {};
    pids.push_back(std::atoi(found[1].str().c_str()));
  }
  ::poll(nullptr, 0, 300);
  return pids;
}

char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
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
  const std::string named =
      "node " + std::to_string(h.victim) + " \\(pid " + std::to_string(victim) + "\\) does not answer: at ";
  EXPECT_THAT(result.err,
              ContainsRegex("quire: " + named + "[0-9:]+ node [0-9] had heard nothing from it for [0-9.]+ s, since "));
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
  EXPECT_THAT(result.err, ContainsRegex("quire: node [12] .* does not answer"));
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

}  // namespace
}  // namespace quire::test
