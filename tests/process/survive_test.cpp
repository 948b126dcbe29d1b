// SPDX-License-Identifier: BSD-3-Clause
// A node of a job that is run with --on-failure notify dies: all others hear of it, go on, and end well, whatever they
// were at; `quire run` ends with status 0, and nothing is left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "command.hpp"
#include "shared_files.hpp"

namespace quire::test::survive_test {
namespace {

using ::testing::HasSubstr;
using words = std::vector<std::string>;

struct trial {
  std::string what, detector = "userfault";
  int victim = 1;
  int signal = SIGKILL;
  int nodes = 3;
  int second = -1;  ///< a node that dies `pause_ms` after
  int pause_ms = 0;
  bool replicas = false;
  int minipages = 0;   ///< bytes of the units; 0: pages
  bool small = false;  ///< small objects of the heap are minipages
  std::string transport = "auto";
  bool release = false;  ///< consistency, of the heap as well
};

words command_of(const trial& t) {
  words all{QUIRE_TOOL,
            "run",
            "-n",
            std::to_string(t.nodes),
            "--timeout",
            "100",
            "--peer-timeout",
            t.signal == SIGSTOP ? "2" : "20",
            "--detect",
            t.detector,
            "--transport",
            t.transport};
  const words how = t.replicas ? words{"--replicas", "1"} : words{"--on-failure", "notify"};
  all.insert(all.end(), how.begin(), how.end());
  all.insert(all.end(), {QUIRE_PROGRAMS "/survive_program", t.what, t.second < 0 ? "1" : "2"});
  return all;
}

class running_job {
 public:
  explicit running_job(const trial& t) : nodes_(t.nodes), job_(command_of(t), settings_of(t, ledger_)) {}
  /// Empty if they do not come.
  std::vector<pid_t> wait_for_nodes() {
    std::vector<pid_t> pids(static_cast<std::size_t>(nodes_));
    for (int node = 0; node < nodes_; ++node) {
      const std::string line = "node " + std::to_string(node) + " is ([0-9]+)\n";
      auto found = matches_of(job_.out(), line);
      for (int tries = 0; found.empty(); found = matches_of(job_.out(), line), ++tries)
        if (tries == 60 || (!job_.wait_for("node " + std::to_string(node) + " is ", 30) || !job_.wait_for("\n", 1)))
          return {};
      pids[static_cast<std::size_t>(node)] = std::stoi(found[0][1]);
    }
    ::poll(nullptr, 0, 100);
    return pids;
  }
  command& job() { return job_; }
  void leaves_nothing() {
    EXPECT_TRUE(job_.left_behind(5).empty()) << "processes were left behind";
    const std::string left = files_.left_behind();
    EXPECT_EQ(left, "") << "a file in /dev/shm was left behind";
  }

 private:
  /// An empty file for what the nodes know to be acknowledged.
  struct file {
    std::string path = (std::filesystem::temp_directory_path() / "quire-ledger-XXXXXX").string();
    file() {
      const int made = ::mkstemp(path.data());
      if (made < 0 || ::ftruncate(made, 4096) != 0) throw std::runtime_error("cannot make a file in " + path);
      ::close(made);
    }
    ~file() { ::unlink(path.c_str()); }
  };
  static command::settings settings_of(const trial& t, const file& ledger) {
    command::settings all{{"TEST_VICTIM", std::to_string(t.victim)}};
    if (t.replicas) all.push_back({"TEST_LEDGER", ledger.path});
    const std::string grouping = t.victim % 2 == 0 ? "adaptive" : "none";
    if (t.minipages != 0)
      all.insert(all.end(), {{"CONTRACT_MINIPAGES", std::to_string(t.minipages)}, {"CONTRACT_GROUPING", grouping}});
    if (t.small) all.insert(all.end(), {{"QUIRE_HEAP_VIEWS", "16"}, {"QUIRE_HEAP_GROUPING", grouping}});
    if (t.release) all.insert(all.end(), {{"TEST_RELEASE", "1"}, {"QUIRE_CONSISTENCY", "release"}});
    return all;
  }

  int nodes_;
  shared_files files_;
  file ledger_;
  command job_;
};

void PrintTo(const trial& t, std::ostream* out) {
  *out << t.what << ", " << t.detector << (t.replicas ? ", replicas" : "") << ", node " << t.victim;
}
std::string name_of(const testing::TestParamInfo<trial>& info) {
  const trial& t = info.param;
  std::string name = t.what + "_" + t.detector + (t.replicas ? "_replicas" : "") + "_node_" + std::to_string(t.victim);
  if (t.signal == SIGSTOP) name += "_hangs";
  if (t.second >= 0) name += "_then_" + std::to_string(t.second) + "_after_" + std::to_string(t.pause_ms);
  if (t.minipages != 0) name += "_minipages_" + std::to_string(t.minipages);
  if (t.small) name += "_small";
  if (t.transport != "auto") name += "_" + t.transport;
  if (t.release) name += "_release";
  return name + "_of_" + std::to_string(t.nodes);
}

class survive : public testing::TestWithParam<trial> {};

TEST_P(survive, others_go_on) {
  const trial& t = GetParam();
  running_job running(t);
  const auto pids = running.wait_for_nodes();
  ASSERT_FALSE(pids.empty()) << running.job().out() << running.job().finish(1).err;
  const auto victim = static_cast<std::size_t>(t.victim), second = static_cast<std::size_t>(t.second);
  ASSERT_EQ(::kill(pids[victim], t.signal), 0);
  if (t.second >= 0) {
    ::poll(nullptr, 0, t.pause_ms);
    ASSERT_EQ(::kill(pids[second], SIGKILL), 0);
  }
  const auto result = running.job().finish(110);
  EXPECT_EQ(result.status, 0) << result.err << result.out;
  EXPECT_THAT(result.err,
              HasSubstr("quire: node " + std::to_string(t.victim) + " (pid " + std::to_string(pids[victim]) + ") " +
                        (t.signal == SIGSTOP ? "does not answer" : "was killed by signal 9")));
  EXPECT_THAT(result.err, HasSubstr("; the others go on"));
  for (int node = 0; node < t.nodes; ++node) {
    if (node == t.victim || node == t.second) continue;
    const std::string own = "node " + std::to_string(node);
    EXPECT_THAT(result.out, HasSubstr(own + " hears of " + std::to_string(t.victim) + "\n"));
    if (t.second >= 0) {
      EXPECT_THAT(result.out, HasSubstr(own + " hears of " + std::to_string(t.second) + "\n"));
    }
    EXPECT_THAT(result.out, HasSubstr(own + " ends well"));
  }
  running.leaves_nothing();
}

/// With release consistency. A thread that waits in a fault would wait for a pin, and there are none.
void add_release(std::vector<trial>& all) {
  for (const char* const transport : {"tcp", "shm"}) {
    for (const int victim : {0, 1, 2}) {
      for (const char* const what : {"idle", "compute", "rounds", "in_lock", "destroying"})
        all.push_back({.what = what, .victim = victim, .transport = transport, .release = true});
      all.push_back({.what = "compute", .victim = victim, .signal = SIGSTOP, .transport = transport, .release = true});
    }
    for (const int pause_ms : {0, 3, 500})
      all.push_back({.what = "compute",
                     .victim = 0,
                     .nodes = 4,
                     .second = 1,
                     .pause_ms = pause_ms,
                     .transport = transport,
                     .release = true});
  }
  for (const char* const what : {"at_barrier", "group_rounds", "home_of_lock", "objects", "allocating", "private_loop",
                                 "waiting_for_lock", "in_rwlock", "counted_barrier"})
    for (const int victim : {0, 1}) all.push_back({.what = what, .victim = victim, .release = true});
  for (const char* const what : {"compute", "in_lock"})
    all.push_back({.what = what, .detector = "segv", .release = true});
}

std::vector<trial> trials() {
  std::vector<trial> all;
  for (const char* const what : {"idle", "compute", "at_barrier", "rounds", "group_rounds", "in_lock", "home_of_lock",
                                 "in_fault", "objects", "destroying", "allocating"})
    for (const int victim : {0, 1, 2}) all.push_back({.what = what, .victim = victim});
  for (const char* const what : {"private_loop", "waiting_for_lock", "in_rwlock", "counted_barrier"})
    for (const int victim : {0, 1}) all.push_back({.what = what, .victim = victim});
  for (const char* const what : {"compute", "in_fault", "in_lock", "destroying"})
    all.push_back({.what = what, .detector = "segv"});
  for (const char* const what : {"idle", "compute", "in_lock", "allocating"})
    for (const int victim : {0, 2}) all.push_back({.what = what, .victim = victim, .signal = SIGSTOP});
  for (const int pause_ms : {0, 1, 3, 500}) {
    all.push_back({.what = "compute", .victim = 0, .nodes = 4, .second = 1, .pause_ms = pause_ms});
    all.push_back({.what = "rounds", .victim = 3, .nodes = 4, .second = 0, .pause_ms = pause_ms});
  }
  // Content on two nodes: no acknowledged write is lost.
  for (const int victim : {0, 1, 2}) {
    for (const char* const what : {"idle", "compute", "acknowledged", "destroying"})
      all.push_back({.what = what, .victim = victim, .replicas = true});
    all.push_back({.what = "acknowledged", .detector = "segv", .victim = victim, .replicas = true});
  }
  // Units below a page.
  for (const int victim : {0, 1, 2})
    all.push_back({.what = "compute", .victim = victim, .minipages = victim == 1 ? 672 : 256});
  all.push_back({.what = "compute", .detector = "segv", .minipages = 2048});
  all.push_back({.what = "compute", .victim = 2, .signal = SIGSTOP, .minipages = 256, .small = true});
  all.push_back({.what = "compute", .victim = 0, .nodes = 4, .second = 1, .pause_ms = 3, .minipages = 1024});
  all.push_back({.what = "in_fault", .minipages = 256});
  all.push_back({.what = "acknowledged", .victim = 2, .replicas = true, .minipages = 512});
  for (const int victim : {0, 1}) all.push_back({.what = "in_lock", .victim = victim, .small = true});
  for (const int victim : {0, 1, 2, 3})
    all.push_back({.what = "acknowledged",
                   .victim = victim,
                   .nodes = 4,
                   .second = 3 - victim,
                   .pause_ms = 1000,
                   .replicas = true});
  // As over the network; all others by shared memory.
  for (const int victim : {0, 1, 2}) {
    for (const char* const what : {"idle", "compute", "rounds", "in_lock", "in_fault"})
      all.push_back({.what = what, .victim = victim, .transport = "tcp"});
    all.push_back({.what = "compute", .victim = victim, .signal = SIGSTOP, .transport = "tcp"});
    all.push_back({.what = "acknowledged", .victim = victim, .replicas = true, .transport = "tcp"});
  }
  for (const int pause_ms : {0, 3, 500})
    all.push_back({.what = "compute", .victim = 0, .nodes = 4, .second = 1, .pause_ms = pause_ms, .transport = "tcp"});
  all.push_back({.what = "compute", .transport = "shm"});
  all.push_back({.what = "acknowledged", .replicas = true, .transport = "shm"});
  add_release(all);
  return all;
}
INSTANTIATE_TEST_SUITE_P(trials, survive, testing::ValuesIn(trials()), name_of);

/// What cannot go on is refused at once, by a sentence that says what to do.
TEST(survival, is_refused_where_it_cannot_work) {
  const words run{QUIRE_TOOL, "run", "-n", "2", "--timeout", "30", "--on-failure", "notify"};
  const std::vector<words> settings = {
      {"--detect", "thread"}, {"--set", "consistency=transactional"}, {"--memory-limit", "64M"}, {"--pool", "fork"}};
  for (const auto& setting : settings) {
    words all = run;
    all.insert(all.end(), setting.begin(), setting.end());
    all.push_back(QUIRE_PROGRAMS "/survive_program");
    const auto result = test::run(all);
    EXPECT_NE(result.status, 0) << setting[1];
    EXPECT_THAT(result.err,
                HasSubstr("cannot go on when a node is lost: leave that out, or set QUIRE_ON_FAILURE to end"))
        << setting[1];
  }
}

}  // namespace
}  // namespace quire::test::survive_test
