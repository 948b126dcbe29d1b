// SPDX-License-Identifier: BSD-3-Clause
// `quire clean`: what jobs leave whose `quire run`, nodes and helpers are killed at once is found and ended, and jobs
// that run beside notice nothing. As root in a machine of its own (processes, mounts, segments), so that what other
// tests kill is not seen here, nor ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command.hpp"
#include "os/mounts.hpp"
#include "os/process_mark.hpp"
#include "os/segments.hpp"
#include "processes.hpp"

namespace quire::test::clean_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using words = std::vector<std::string>;

constexpr const char* inside = "CLEAN_TEST_INSIDE";
const std::string program = QUIRE_PROGRAMS "/mount_program";
constexpr const char* nothing = "nothing is left by jobs that were killed\n";

/// Becomes the same test in namespaces of its own, if this process may have them. The shell waits for orphans.
struct own_machine {
  own_machine() {
    const std::string line = content_of("/proc/self/cmdline");
    if (::geteuid() != 0 || std::getenv(inside) != nullptr || line.find("gtest_list_tests") != line.npos) return;
    words all{"unshare", "--mount", "--ipc", "--pid", "--fork", "--mount-proc", "--kill-child"};
    std::string trial;
    for (const auto& word : all) trial += word + ' ';
    if (std::system((trial + "true >/dev/null 2>&1").c_str()) != 0) return;
    for (const char* const word : {"sh", "-c", "\"$@\"; exit $?", "sh"}) all.emplace_back(word);
    all.push_back(fs::read_symlink("/proc/self/exe"));
    std::istringstream rest(line.substr(line.find('\0') + 1));
    for (std::string word; std::getline(rest, word, '\0');) all.push_back(word);
    std::vector<char*> pointers;
    for (auto& word : all) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::setenv(inside, "1", 1);
    ::execvp(pointers[0], pointers.data());
  }
};
const own_machine g_own_machine;

bool may_mount() {
  return ::access("/dev/fuse", R_OK | W_OK) == 0 &&
         (::geteuid() == 0 || std::system("command -v fusermount3 >/dev/null") == 0);
}

bool is_mounted(const std::string& where) {
  return std::ranges::any_of(os::mounts(), [&](const auto& one) { return one.where == where; });
}

/// As when their cgroup ends: nobody sees another one die.
void kill_at_once(const std::vector<pid_t>& all) {
  for (const int signal : {SIGSTOP, SIGKILL})
    for (const pid_t pid : all) ::kill(pid, signal);
}

class cleaning : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/tmp/quire-clean-test.XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = fs::canonical(name);
    std::ofstream(folder_ / "data") << std::string(10'000, 'x');
    for (const char* const one : {"dead", "alive", "temporary"}) fs::create_directory(folder_ / one);
  }
  void TearDown() override {
    if (folder_.empty()) return;
    for (const auto& mount : os::mounts()) {  // a test has failed: who looks at it might wait for ever
      if (!mount.where.starts_with(folder_.string())) continue;
      os::abort_mount(mount.where);
      (void)os::detach(mount);
    }
    fs::remove_all(folder_);
  }

  [[nodiscard]] std::string at(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] command::settings variables() const { return {{"TMPDIR", at("temporary")}}; }
  /// A job that waits for ever, mounted, whose first node has left a process of its own.
  /// Where one may not mount, without that.
  [[nodiscard]] words mounted_job(const std::string& where, const std::string& pool) const {
    words all{QUIRE_TOOL, "run", "-n", "2", "--pool", pool};
    if (mounts_) all.insert(all.end(), {"--mount", at(where)});
    const std::string leaves = "sleep 1000 >/dev/null 2>&1 & exec \"$@\"";
    all.insert(all.end(), {"sh", "-c", leaves, "sh", program, "held", at("data")});
    return all;
  }
  [[nodiscard]] command_result quire(const words& more) const {
    words all{QUIRE_TOOL};
    all.insert(all.end(), more.begin(), more.end());
    return run(all, variables());
  }

  const bool mounts_ = may_mount();
  fs::path folder_;
};

std::vector<pid_t> sleepers_of(const std::vector<pid_t>& all) {
  std::vector<pid_t> found;
  for (const pid_t pid : all)
    if (content_of("/proc/" + std::to_string(pid) + "/comm") == "sleep\n" &&
        content_of("/proc/" + std::to_string(pid) + "/cmdline").find("1000") != std::string::npos)
      found.push_back(pid);
  return found;
}

/// Its `quire run`, its nodes, and what these have left; the helpers of a mount come and go.
std::vector<pid_t> lasting(const command& job) {
  auto all = job.left_behind(0);
  std::erase_if(all, [](pid_t pid) {
    const std::string line = content_of("/proc/" + std::to_string(pid) + "/cmdline");
    return line.find("quire-unmount") != line.npos ||
           (line.find("1000") == line.npos && line.find(program) == line.npos);
  });
  return all;
}

/// Kills a job and all that came of it but the processes that its nodes have left.
std::vector<pid_t> kill_all_but_sleepers(command& job) {
  auto all = job.left_behind(0);
  const auto stay = sleepers_of(all);
  std::erase_if(all, [&](pid_t pid) { return std::ranges::count(stay, pid) != 0; });
  std::ranges::partition(all, [&](pid_t pid) { return pid == job.pid(); });  // who would tell the others, first
  kill_at_once(all);
  (void)job.finish(10);
  return stay;
}

/// A segment whose maker was killed before it had marked it.
int left_segment() {
  int ends[2], id = -1;
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    id = os::make_segment(4096);
    ::_exit(::write(ends[1], &id, sizeof id) == sizeof id ? 0 : 1);
  }
  EXPECT_EQ(::read(ends[0], &id, sizeof id), static_cast<ssize_t>(sizeof id));
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  return id;
}
bool is_there(int segment) {
  shmid_ds about{};
  return ::shmctl(segment, IPC_STAT, &about) == 0;
}

class killed_jobs : public cleaning, public testing::WithParamInterface<std::string> {};

TEST_P(killed_jobs, leave_what_is_found_and_ended_and_jobs_that_run_go_on) {
  command alive(mounted_job("alive", GetParam()), variables()), dead(mounted_job("dead", GetParam()), variables());
  ASSERT_TRUE(alive.wait_for("ready", 60)) << alive.finish(1).err;
  ASSERT_TRUE(dead.wait_for("ready", 60)) << dead.finish(1).err;
  const auto live = lasting(alive);
  const auto sleepers = kill_all_but_sleepers(dead);
  EXPECT_EQ(sleepers.size(), 2u);
  ASSERT_EQ(is_mounted(at("dead")), mounts_) << "nobody was left to unmount it";
  int segment = left_segment();
  const std::string file = at("temporary/quire.unnamed.abcdef");
  std::ofstream(file) << "x";
  std::ofstream(at("temporary/of the user")) << "x";

  const auto unharmed = [&] {
    EXPECT_EQ(lasting(alive), live);
    EXPECT_EQ(is_mounted(at("alive")), mounts_);
    if (mounts_) {
      EXPECT_EQ(fs::file_size(at("alive/memory")), 4096u);
    }
  };
  const auto listed = quire({"clean", "--dry-run"});
  EXPECT_EQ(listed.status, 1) << listed.err;
  const auto info = nlohmann::json::parse(quire({"info", "--json"}).out)["left_over"];
  EXPECT_EQ(info["mounts"].size(), mounts_ ? 1u : 0u);
  const auto lists_segment = [&](const std::string& text) {
    EXPECT_THAT(text, HasSubstr(std::to_string(segment) + " (4096 bytes)"));
  };
  lists_segment(listed.out);
  lists_segment(info.dump());
  if (!is_there(segment)) segment = left_segment();  // `quire info` tries pools, and each new one removes such segments
  const auto done = quire({"clean"});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  lists_segment(done.out);
  for (const auto& text : {listed.out, done.out, info.dump()}) {
    for (const pid_t pid : sleepers) EXPECT_THAT(text, HasSubstr(std::to_string(pid) + " (sleep 1000): `quire run`"));
    EXPECT_EQ(text.find(at("dead")) != text.npos, mounts_) << text;
    EXPECT_THAT(text, HasSubstr(file));
    EXPECT_THAT(text, Not(HasSubstr(at("alive"))));
    for (const pid_t pid : live) EXPECT_THAT(text, Not(HasSubstr("process " + std::to_string(pid) + " (")));
  }
  unharmed();
  EXPECT_FALSE(is_mounted(at("dead")));
  EXPECT_FALSE(is_there(segment));
  EXPECT_FALSE(fs::exists(file));
  EXPECT_TRUE(fs::exists(at("temporary/of the user")));
  EXPECT_THAT(dead.left_behind(0), testing::IsEmpty());
  const auto again = quire({"clean"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(again.out, nothing);
  EXPECT_EQ(nlohmann::json::parse(quire({"info", "--json"}).out)["left_over"]["mounts"].size(), 0u);
  unharmed();
  alive.signal(SIGTERM);
  EXPECT_EQ(alive.finish(30).status, 128 + SIGTERM);
  EXPECT_THAT(alive.left_behind(5), testing::IsEmpty());
  EXPECT_EQ(quire({"clean", "--dry-run"}).out, nothing);
}

INSTANTIATE_TEST_SUITE_P(pools, killed_jobs, testing::Values("memfd", "posix", "sysv"),
                         [](const auto& one) { return one.param; });

TEST_F(cleaning, a_job_that_is_stopped_is_not_dead) {
  if (!mounts_) GTEST_SKIP() << "this process may not mount";
  command job(mounted_job("alive", "memfd"), variables());
  ASSERT_TRUE(job.wait_for("ready", 60)) << job.finish(1).err;
  const auto all = lasting(job);
  for (const pid_t pid : all) ::kill(pid, SIGSTOP);  // what is mounted does not answer
  EXPECT_EQ(quire({"clean"}).out, nothing);
  EXPECT_TRUE(is_mounted(at("alive")));
  for (const pid_t pid : all) ::kill(pid, SIGCONT);
  EXPECT_EQ(fs::file_size(at("alive/memory")), 4096u);
  EXPECT_EQ(lasting(job), all);
  job.signal(SIGTERM);
  EXPECT_EQ(job.finish(30).status, 128 + SIGTERM);
}

TEST_F(cleaning, ends_a_node_that_was_killed_and_waits_for_its_own_file) {
  if (!mounts_) GTEST_SKIP() << "this process may not mount";
  command job({QUIRE_TOOL, "run", "-n", "1", "--mount", at("dead"), program, "held", at("data"), "self"}, variables());
  ASSERT_TRUE(job.wait_for("ready", 60)) << job.finish(1).err;
  const std::string pid = job.out().substr(6, job.out().find('\n') - 6);
  const auto waits = [&] {
    const std::string where = content_of("/proc/" + pid + "/wchan");
    return where == "request_wait_answer" || where == "fuse_get_req";
  };
  // Until then the kernel takes the call back from a node that is killed.
  const auto serves_it = [&] {
    return std::ranges::any_of(fs::directory_iterator("/proc/" + pid + "/task"), [](const auto& thread) {
      return content_of(thread.path() / "comm") == "quire-linker\n" &&
             content_of(thread.path() / "wchan").ends_with("nanosleep");
    });
  };
  for (int i = 0; i < 1000 && !(waits() && serves_it()); ++i) ::usleep(10'000);
  ASSERT_TRUE(waits() && serves_it());
  (void)kill_all_but_sleepers(job);
  EXPECT_TRUE(waits()) << "the kernel ends it by itself now";
  EXPECT_EQ(quire({"clean", "--dry-run"}).status, 1);
  const auto done = quire({"clean"});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("process " + pid));
  EXPECT_FALSE(is_mounted(at("dead")));
  EXPECT_FALSE(waits());
}

TEST_F(cleaning, a_job_is_mounted_where_a_killed_one_was) {
  if (!mounts_) GTEST_SKIP() << "this process may not mount";
  command dead(mounted_job("dead", "memfd"), variables());
  ASSERT_TRUE(dead.wait_for("ready", 60)) << dead.finish(1).err;
  kill_at_once(kill_all_but_sleepers(dead));
  ASSERT_TRUE(is_mounted(at("dead")));
  const auto next = quire({"run", "-n", "2", "--timeout", "50", "--mount", at("dead"), program, "late"});
  EXPECT_EQ(next.status, 0) << next.err;
  EXPECT_EQ(next.err, "quire run: --mount " + at("dead") + ": unmounted a job that was killed\n");
  EXPECT_FALSE(is_mounted(at("dead")));
}

TEST_F(cleaning, ends_what_ignores_signals) {
  // A node is killed with its `quire run`, and what it has started is not.
  const std::string quiet = "exec >/dev/null 2>&1; ";
  const std::string ignores = "trap '' TERM; sleep 1000 >/dev/null 2>&1 & echo ready; " + quiet + "wait";
  command job({QUIRE_TOOL, "run", "-n", "1", "sh", "-c", "sh -c \"$1\" & wait", "sh", ignores});
  ASSERT_TRUE(job.wait_for("ready", 30));
  ::kill(job.pid(), SIGKILL);
  (void)job.finish(10);
  EXPECT_GE(job.left_behind(0).size(), 2u);
  const auto done = quire({"clean"});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("all of it is ended"));
  EXPECT_THAT(job.left_behind(0), testing::IsEmpty());
}

TEST_F(cleaning, finds_what_becomes_another_program_all_the_time) {
  const fs::path again = folder_ / "again";
  std::ofstream(again) << "#!/bin/sh\nexec \"$0\"\n";
  fs::permissions(again, fs::perms::owner_all);
  const std::string leaves = "\"$0\" >/dev/null 2>&1 & echo ready; exec >/dev/null 2>&1; wait";
  command job({QUIRE_TOOL, "run", "-n", "1", "sh", "-c", leaves, again});
  ASSERT_TRUE(job.wait_for("ready", 30));
  ::kill(job.pid(), SIGKILL);
  (void)job.finish(10);
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(job.left_behind(0).empty()) << i;
  for (int i = 0; i < 30; ++i) {
    const auto listed = quire({"clean", "--dry-run"});
    ASSERT_THAT(listed.out, HasSubstr("process ")) << i;
  }
  const auto done = quire({"clean"});
  EXPECT_THAT(done.out, HasSubstr("all of it is ended"));
  EXPECT_THAT(job.left_behind(0), testing::IsEmpty());
}

TEST_F(cleaning, a_job_that_a_killed_job_has_started_is_a_job_that_runs) {
  const std::string tool = QUIRE_TOOL;
  command job({tool, "run", "-n", "1", "sh", "-c", tool + " run -n 2 sh -c 'echo ready; exec sleep 1000' & wait"});
  ASSERT_TRUE(job.wait_for("ready\nready\n", 30));
  ::kill(job.pid(), SIGKILL);
  (void)job.finish(10);
  const auto done = quire({"clean"});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  const auto goes_on = job.left_behind(0);
  EXPECT_EQ(goes_on.size(), 3u) << done.out;
  EXPECT_EQ(sleepers_of(goes_on).size(), 2u);
  kill_at_once(goes_on);
}

TEST(process_mark, tells_whether_a_process_lives) {
  using state = os::marked_process::state;
  EXPECT_EQ(os::find_marked(os::own_mark()).is, state::alive);
  EXPECT_EQ(os::find_marked(os::own_mark()).pid, ::getpid());
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string mark = os::own_mark();
    ::_exit(::write(ends[1], mark.data(), mark.size()) > 0 ? 0 : 1);
  }
  char text[200];
  const auto length = ::read(ends[0], text, sizeof text);
  ASSERT_GT(length, 0);
  const std::string mark(text, static_cast<std::size_t>(length));
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  EXPECT_EQ(os::find_marked(mark).is, state::gone) << "it has ended";
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(os::find_marked(mark).is, state::gone);
  EXPECT_EQ(os::find_marked(mark).pid, child);
  EXPECT_EQ(os::find_marked(os::own_mark() + "1").is, state::gone) << "another one has the pid";
  for (const std::string& other : {std::string("1") + mark, std::string(), std::string("x"), mark + ":", mark + "x",
                                   mark.substr(0, mark.rfind(':'))})
    EXPECT_EQ(os::find_marked(other).is, state::elsewhere) << other;
}

}  // namespace
}  // namespace quire::test::clean_test
