// SPDX-License-Identifier: BSD-3-Clause
// Killed while it starts: kill -9 of a node, of `quire run`, of an agent, of all at once, at any time of the first
// moments, leaves no process, no file, no segment. Where nothing has a name at any moment, none can be left: that is
// looked at, too.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "command.hpp"
#include "os/process.hpp"
#include "own_shm.hpp"

namespace quire::test::early_death_test {
namespace {

/// A folder for this test, removed with all that is in it.
class folder {
 public:
  folder() {
    char name[] = "/tmp/quire-early-death.XXXXXX";
    path_ = ::mkdtemp(name) != nullptr ? name : "";
  }
  ~folder() { std::filesystem::remove_all(path_); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// What is made in a directory: every name, however short its life.
class name_watch {
 public:
  explicit name_watch(const char* directory) : descriptor_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    EXPECT_GE(::inotify_add_watch(descriptor_.number(), directory, IN_CREATE | IN_MOVED_TO), 0);
  }
  [[nodiscard]] std::string seen() const {
    alignas(inotify_event) char buffer[4096];
    std::string all;
    for (ssize_t got; (got = ::read(descriptor_.number(), buffer, sizeof buffer)) > 0;)
      for (ssize_t at = 0; at < got;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(buffer + at);
        all += std::string(event->len > 0 ? event->name : "?") + " ";
        at += static_cast<ssize_t>(sizeof *event + event->len);
      }
    return all;
  }

 private:
  os::descriptor descriptor_;
};

std::vector<std::string> job_of(const std::string& pool, const std::string& where) {
  return {QUIRE_TOOL,
          "run",
          "-n",
          "3",
          "--timeout",
          "50",
          "--transport",
          "shm",
          "--pool",
          pool,
          QUIRE_PROGRAMS "/death_program",
          where};
}

class names : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(pools, names, testing::Values("memfd", "posix", "file", "fork"),
                         [](const auto& p) { return std::string(p.param); });

TEST_P(names, are_never_given_to_memory) {
  OWN_SHM_OR_SKIP(shm, 64u << 20);
  const folder temporary;
  const name_watch objects("/dev/shm"), files(temporary.path().c_str());
  { const std::ofstream one("/dev/shm/seen"); }
  ASSERT_EQ(objects.seen(), "seen ") << "this test would see no name";
  const auto result = run(job_of(GetParam(), "ends"), {{"TMPDIR", temporary.path()}, {"QUIRE_MEMORY_LIMIT", "1M"}});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(objects.seen(), "");
  EXPECT_EQ(files.seen(), "");
}

/// Segments of System V that no process is attached to.
std::vector<std::string> lonely_segments() {
  std::ifstream table("/proc/sysvipc/shm");
  std::vector<std::string> found;
  std::string line;
  for (std::getline(table, line); std::getline(table, line);) {
    std::istringstream words(line);
    std::array<std::string, 7> word;  // key, id, mode, bytes, creator, last user, attached
    for (auto& w : word) words >> w;
    if (word[6] == "0") found.push_back(word[1]);
  }
  return found;
}

std::string program_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

enum class victim { launcher, node, agent, all, count };

/// A job that is killed when its time has come.
class doomed {
 public:
  doomed(const std::vector<std::string>& words, const std::string& temporary, victim who)
      : job_(words, {{"TMPDIR", temporary}, {"QUIRE_MEMORY_LIMIT", "1M"}}), who_(who) {}
  void kill() const {
    if (who_ == victim::launcher) return job_.signal(SIGKILL);
    for (const pid_t pid : job_.left_behind(0)) {
      const bool node = program_of(pid) == "death_program";
      if (who_ == victim::node && !node) continue;
      if (who_ == victim::agent && (node || pid == job_.pid())) continue;
      ::kill(pid, SIGKILL);
      if (who_ == victim::node) return;
    }
    // Killed before there was any: then all go.
    job_.signal(who_ == victim::all ? SIGKILL : SIGTERM);
  }
  void leaves_no_process() {
    const auto result = job_.finish(20);
    EXPECT_FALSE(result.timed_out) << "victim " << static_cast<int>(who_) << result.err;
    EXPECT_TRUE(job_.left_behind(10).empty()) << "processes were left behind";
  }

 private:
  command job_;
  victim who_;
};

/// Several at a time: the machine is then busy, and each takes long to start.
TEST(early_death, leaves_nothing_whenever_it_comes) {
  OWN_SHM_OR_SKIP(shm, 256u << 20);
  const folder temporary, scripts;
  const std::string agent = scripts.path() + "/agent";
  { std::ofstream(agent) << "#!/bin/sh\nexec sh -c \"$2\"\n"; }
  ASSERT_EQ(::chmod(agent.c_str(), 0700), 0);
  const auto before = lonely_segments();

  const char* const pools[] = {"memfd", "posix", "file", "sysv", "fork"};
  const auto seed = std::random_device{}();
  std::mt19937 random(seed);
  constexpr int rounds = 5, at_once = 4;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::unique_ptr<doomed>> jobs;
    std::vector<int> times;
    for (int i = 0; i < at_once; ++i) {
      const auto who = static_cast<victim>(i % static_cast<int>(victim::count));
      auto words = job_of(pools[(round + i) % static_cast<int>(std::size(pools))], "compute");
      if (who == victim::agent) words.insert(words.begin() + 2, {"--hosts", "here:3", "--agent", agent});
      jobs.push_back(std::make_unique<doomed>(words, temporary.path(), who));
      times.push_back(static_cast<int>(random() % 300));
    }
    for (int ms = 0; ms < 300; ++ms, ::poll(nullptr, 0, 1))
      for (int i = 0; i < at_once; ++i)
        if (times[static_cast<std::size_t>(i)] == ms) jobs[static_cast<std::size_t>(i)]->kill();
    for (auto& job : jobs) job->leaves_no_process();
    // A process that ends has no environment any more, and may still have its files.
    for (int tries = 0; own_shm::used_bytes() != 0 && own_shm::names().empty() && tries < 500; ++tries)
      ::poll(nullptr, 0, 10);
    EXPECT_EQ(own_shm::used_bytes(), 0u) << testing::PrintToString(own_shm::names()) << ", seed " << seed;
    EXPECT_TRUE(own_shm::names().empty()) << own_shm::names()[0] << ", seed " << seed;
    EXPECT_TRUE(std::filesystem::is_empty(temporary.path())) << "seed " << seed;
  }
  // A segment that was killed before it was marked for removal goes with the next job.
  EXPECT_EQ(run(job_of("sysv", "ends")).status, 0);
  // Those of other programs come and go.
  const auto left = [&before] {
    auto now = lonely_segments();
    std::erase_if(now, [&before](const std::string& id) { return std::ranges::find(before, id) != before.end(); });
    return now;
  };
  for (int tries = 0; !left().empty() && tries < 1000; ++tries) ::poll(nullptr, 0, 10);
  EXPECT_TRUE(left().empty()) << left()[0] << ", seed " << seed;
}

}  // namespace
}  // namespace quire::test::early_death_test
