// SPDX-License-Identifier: BSD-3-Clause
// A node dies: all others end within seconds, with an error that names it, whatever they were waiting for; no process
// and no file of theirs remains. The same when the launcher dies.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <random>

#include "command.hpp"
#include "shared_files.hpp"

namespace quire::test::death_test {
namespace {

constexpr int nodes = 3;
constexpr double limit_seconds = 8;  ///< 3 s as a rule; the machine may be busy

/// A job of death_program that has come to the place in question.
class running_job {
 public:
  /// `limit`: of a node's memory.
  running_job(const std::string& where, const std::string& detector, const std::string& transport,
              const std::string& limit = "0")
      : job_({QUIRE_TOOL, "run", "-n", std::to_string(nodes), "--timeout", "50", "--detect", detector, "--transport",
              transport, "--memory-limit", limit, QUIRE_PROGRAMS "/death_program", where}) {}

  /// The pids of all nodes, when all of them are there; empty if they do not come.
  std::vector<pid_t> wait_for_nodes() {
    std::vector<pid_t> pids(nodes);
    for (int node = 0; node < nodes; ++node) {
      const std::string words = "node " + std::to_string(node) + " is ";
      if (!job_.wait_for(words, 30)) return {};
      while (matches_of(job_.out(), words + "[0-9]+\n").empty())
        if (!job_.wait_for("\n", 1)) return {};
      pids[static_cast<std::size_t>(node)] = std::atoi(job_.out().c_str() + job_.out().find(words) + words.size());
    }
    ::poll(nullptr, 0, 200);  // until they wait
    return pids;
  }
  command& job() { return job_; }

  void leaves_nothing() {
    EXPECT_TRUE(job_.left_behind(5).empty()) << "processes were left behind";
    const std::string left = files_.left_behind();
    EXPECT_EQ(left, "") << "a file in /dev/shm was left behind";
  }

 private:
  shared_files files_;
  command job_;
};

struct place {
  const char *where, *detector, *transport;
  int victim;
  const char* limit = "0";
};
void PrintTo(const place& p, std::ostream* out) {
  *out << p.where << ", " << p.detector << ", " << p.transport << ", node " << p.victim << ", limit " << p.limit;
}
std::string name_of(const testing::TestParamInfo<place>& info) {
  const std::string limit = info.param.limit;
  return std::string(info.param.where) + "_" + info.param.detector + "_" + info.param.transport + "_node_" +
         std::to_string(info.param.victim) + (limit == "0" ? "" : "_" + limit);
}

class death : public testing::TestWithParam<place> {};

TEST_P(death, of_one_ends_all) {
  const place& p = GetParam();
  running_job running(p.where, p.detector, p.transport, p.limit);
  const auto pids = running.wait_for_nodes();
  ASSERT_FALSE(pids.empty()) << running.job().out();
  const pid_t victim = pids[static_cast<std::size_t>(p.victim)];
  const int moment_ms = static_cast<int>(std::random_device{}() % 50);  // those that do not wait are anywhere
  SCOPED_TRACE(moment_ms);
  ::poll(nullptr, 0, moment_ms);
  timespec begin, end;
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  ASSERT_EQ(::kill(victim, SIGKILL), 0);
  const auto result = running.job().finish(40);
  ::clock_gettime(CLOCK_MONOTONIC, &end);
  EXPECT_LT(static_cast<double>(end.tv_sec - begin.tv_sec), limit_seconds);
  EXPECT_EQ(result.status, 128 + SIGKILL) << result.err;
  const std::string named =
      "node " + std::to_string(p.victim) + " (pid " + std::to_string(victim) + ") was killed by signal 9";
  EXPECT_NE(result.err.find("quire: " + named), std::string::npos) << result.err;
  // Once is enough: the other nodes do not repeat it.
  const std::string again = "was killed by signal 9";
  EXPECT_EQ(result.err.find(again, result.err.find(again) + 1), std::string::npos) << result.err;
  running.leaves_nothing();
}
INSTANTIATE_TEST_SUITE_P(
    places, death,
    testing::Values(place{"compute", "userfault", "shm", 0}, place{"compute", "userfault", "shm", 2},
                    place{"compute", "thread", "shm", 1}, place{"compute", "segv", "shm", 1},
                    place{"compute", "userfault", "tcp", 0}, place{"compute", "thread", "tcp", 2},
                    place{"private_loop", "userfault", "shm", 0}, place{"at_barrier", "userfault", "shm", 1},
                    place{"at_job_barrier", "userfault", "tcp", 0}, place{"at_end", "userfault", "shm", 0},
                    place{"in_lock", "userfault", "shm", 2}, place{"in_event", "userfault", "tcp", 1},
                    place{"in_semaphore", "userfault", "shm", 0}, place{"in_condition", "userfault", "shm", 1},
                    place{"in_lookup", "userfault", "shm", 0}, place{"in_join", "userfault", "shm", 2},
                    place{"in_fault", "userfault", "shm", 2}, place{"in_fault", "thread", "shm", 2},
                    place{"in_fault", "segv", "tcp", 1}, place{"reading_input", "userfault", "shm", 1},
                    place{"destroying", "userfault", "shm", 0}, place{"destroying", "userfault", "shm", 1},
                    place{"destroying", "thread", "tcp", 0}, place{"destroying", "segv", "tcp", 2},
                    place{"destroying", "userfault", "tcp", 0, "2M"}, place{"destroying", "userfault", "shm", 2, "2M"},
                    place{"destroying", "segv", "shm", 1, "2M"}, place{"transactions", "userfault", "shm", 0},
                    place{"transactions", "userfault", "shm", 1}, place{"transactions", "userfault", "shm", 2},
                    place{"transactions", "userfault", "tcp", 0}, place{"transactions", "segv", "tcp", 1},
                    place{"transactions", "segv", "shm", 2}, place{"in_retry", "userfault", "shm", 1},
                    place{"in_loop", "userfault", "shm", 0}, place{"in_turn", "userfault", "shm", 1},
                    place{"in_turn", "userfault", "tcp", 2}),
    name_of);

/// Without the launcher nobody is left to tell the nodes: they notice that it is gone.
TEST(death_of_the_launcher, ends_all_nodes) {
  for (const char* where : {"compute", "private_loop", "at_barrier", "in_lock", "transactions", "in_turn"}) {
    running_job running(where, "userfault", "shm");
    const auto pids = running.wait_for_nodes();
    ASSERT_FALSE(pids.empty());
    running.job().signal(SIGKILL);
    static_cast<void>(running.job().finish(5));
    running.leaves_nothing();
  }
}

TEST(leaving, without_the_end_ends_all) {
  running_job running("exit", "userfault", "shm");
  const auto result = running.job().finish(40);
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("exited without quire_end()"), std::string::npos) << result.err;
  EXPECT_LT(result.seconds, 30);
  running.leaves_nothing();
}
TEST(leaving, with_an_error_gives_it_to_the_caller) {
  for (const char* transport : {"shm", "tcp"}) {
    running_job running("exit_with_5", "userfault", transport);
    const auto result = running.job().finish(40);
    EXPECT_EQ(result.status, 5) << transport << result.err;
    EXPECT_NE(result.err.find("exited with status 5"), std::string::npos) << result.err;
    running.leaves_nothing();
  }
}

/// What cannot come is an error at once, on all who wait, and says who is where.
TEST(leaving, meets_no_barrier_of_others) {
  running_job running("end_meets_barrier", "userfault", "shm");
  const auto result = running.job().finish(40);
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_LT(result.seconds, 30);
  EXPECT_NE(result.err.find("node 0 is in quire_end() while node 1 is in quire_barrier_wait() of the job"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("exited with status 3"), std::string::npos) << result.err;
  running.leaves_nothing();
}
TEST(leaving, or_any_collective_another) {
  running_job running("checkpoint_meets_reduce", "userfault", "tcp");
  const auto result = running.job().finish(40);
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_NE(result.err.find("is in quire_checkpoint() while node 1 is in quire_reduce_f64() of 1 values by QUIRE_SUM"),
            std::string::npos)
      << result.err;
}
TEST(leaving, with_an_error_after_the_end_ends_all) {
  running_job running("fails_after_end", "userfault", "shm");
  const auto result = running.job().finish(40);
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_NE(result.err.find("node 1 (pid"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("exited with status 3; ending the job"), std::string::npos) << result.err;
  EXPECT_LT(result.seconds, 30);
  running.leaves_nothing();
}

/// Many kills: eight nodes, of which the others may die in any way before the launcher knows of the kill.
class first_cause : public testing::TestWithParam<const char*> {};
TEST_P(first_cause, is_the_node_that_was_killed) {
  constexpr int many = 8, rounds = 8;
  for (int round = 0; round < rounds; ++round) {
    command job({QUIRE_TOOL, "run", "-n", std::to_string(many), "--timeout", "50", "--transport", GetParam(),
                 QUIRE_PROGRAMS "/death_program", round % 2 == 0 ? "compute" : "at_job_barrier"});
    std::vector<pid_t> pids(many);
    for (int node = 0; node < many; ++node) {
      const std::string words = "node " + std::to_string(node) + " is ";
      ASSERT_TRUE(job.wait_for(words, 30));
      while (matches_of(job.out(), words + "[0-9]+\n").empty()) ASSERT_TRUE(job.wait_for("\n", 5));
      pids[static_cast<std::size_t>(node)] = std::atoi(job.out().c_str() + job.out().find(words) + words.size());
    }
    ::poll(nullptr, 0, round * 7);
    const int victim = (round * 3 + 1) % many;
    ASSERT_EQ(::kill(pids[static_cast<std::size_t>(victim)], SIGKILL), 0);
    const auto result = job.finish(40);
    EXPECT_EQ(result.status, 128 + SIGKILL) << result.err;
    EXPECT_EQ(result.err.find("quire: node " + std::to_string(victim) + " (pid"), result.err.find("quire: node "))
        << result.err;
    EXPECT_NE(result.err.find("was killed by signal 9"), std::string::npos) << result.err;
  }
}
INSTANTIATE_TEST_SUITE_P(transports, first_cause, testing::Values("shm", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace quire::test::death_test
