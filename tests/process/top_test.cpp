// SPDX-License-Identifier: BSD-3-Clause
// `quire top`: it finds a job, shows what nodes do, and ends with it; the job does not notice. In a terminal of its own
// it draws, obeys keys and sizes, and leaves the terminal as it was.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command.hpp"

namespace quire::test::top_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string program = std::string(QUIRE_PROGRAMS) + "/report_program";
const std::string enters = "\x1b[?1049h", leaves = "\x1b[?1049l";

/// A job that runs until it is ended. It says so when its nodes have met.
class job {
 public:
  explicit job(std::vector<std::string> how = {"-n", "2"}, const std::string& more = "")
      : command_(words(std::move(how), more)) {
    EXPECT_TRUE(command_.wait_for("here\nhere\n", 30)) << command_.out();
  }
  ~job() {
    command_.signal(SIGTERM);
    ended_ = command_.finish(30);
    EXPECT_EQ(ended_.status, 128 + SIGTERM) << ended_.err;
    EXPECT_THAT(command_.left_behind(5), testing::IsEmpty());
  }
  job(const job&) = delete;
  job& operator=(const job&) = delete;
  [[nodiscard]] std::string pid() const { return std::to_string(command_.pid()); }

 private:
  static std::vector<std::string> words(std::vector<std::string> how, const std::string& more) {
    std::vector<std::string> all{QUIRE_TOOL, "run", "--timeout", "100", "--set=host_frames=0"};
    all.insert(all.end(), how.begin(), how.end());
    all.insert(all.end(), {program, "forever"});
    if (!more.empty()) all.push_back(more);
    return all;
  }
  command command_;
  command_result ended_;
};

json shown(const std::string& pid) {
  const auto once = run({QUIRE_TOOL, "top", "--once", "--json", pid});
  EXPECT_EQ(once.status, 0) << once.err;
  json all = json::parse(once.out, nullptr, false);
  EXPECT_TRUE(all.is_object()) << once.out;
  return all;
}

/// Once every node has been seen at work: on a loaded machine one may do nothing for as long as it is looked at.
json shown_at_work(const std::string& pid) {
  json all;
  for (int tries = 0; tries < 20; ++tries) {
    all = shown(pid);
    const bool at_work = std::all_of(all["nodes"].begin(), all["nodes"].end(), [](const json& node) {
      const json& rates = node["a_second"];
      const auto some = [&](const char* name) { return rates[name].get<double>() > 0; };
      return rates.is_object() && some("faults") && some("fault_wait") && some("sent_bytes") && some("cores");
    });
    if (at_work) break;
  }
  return all;
}

TEST(Top, ShowsWhatNodesDo) {
  const job one;
  const json all = shown_at_work(one.pid());
  EXPECT_EQ(std::to_string(all["pid"].get<int>()), one.pid());
  EXPECT_THAT(all["command"].get<std::string>(), HasSubstr("report_program forever"));
  ASSERT_EQ(all["nodes"].size(), 2u);
  for (const json& node : all["nodes"]) {
    EXPECT_EQ(node["state"], "runs");
    EXPECT_GT(
        node["counters"]["read_faults"].get<std::uint64_t>() + node["counters"]["local_faults"].get<std::uint64_t>(),
        0u);
    ASSERT_TRUE(node["a_second"].is_object()) << node;
    EXPECT_GT(node["a_second"]["faults"].get<double>(), 0);
    EXPECT_GT(node["a_second"]["fault_wait"].get<double>(), 0);
    EXPECT_GT(node["a_second"]["sent_bytes"].get<double>(), 0);
    EXPECT_GT(node["a_second"]["cores"].get<double>(), 0);
  }
  const auto table = run({QUIRE_TOOL, "top", one.pid()});  // no terminal: one table
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("job " + one.pid() + ": 2 nodes"));
  EXPECT_THAT(table.out, HasSubstr("faults/s"));
  EXPECT_THAT(table.out, Not(HasSubstr("\x1b")));
}

TEST(Top, OverHosts) {
  char folder[] = "/tmp/quire-top-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string agent = std::string(folder) + "/agent";
  std::ofstream(agent) << "#!/bin/sh\nexec sh -c \"$2\"\n";
  fs::permissions(agent, fs::perms::owner_all);
  {
    const job one({"--hosts", "east,west", "--agent", agent});
    const json all = shown_at_work(one.pid());
    ASSERT_EQ(all["nodes"].size(), 2u);
    EXPECT_EQ(all["nodes"][0]["host"], "east");
    EXPECT_EQ(all["nodes"][1]["host"], "west");
    for (const json& node : all["nodes"]) EXPECT_GT(node["a_second"]["faults"].get<double>(), 0);
  }
  fs::remove_all(folder);
}

TEST(Top, EndsWithTheJobWhileItLooks) {
  auto one = std::make_unique<job>();
  command looks({QUIRE_TOOL, "top", "--json", one->pid()});
  ASSERT_TRUE(looks.wait_for("\n", 20));
  const std::string pid = one->pid();
  one.reset();
  const auto result = looks.finish(20);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("job " + pid + " has ended with exit status 143"));
}

TEST(Top, ItsDeathLeavesTheJobAlone) {
  const job one;
  for (int i = 0; i < 20; ++i) {  // more than may look at a time
    command looks({QUIRE_TOOL, "top", "--json", one.pid()});
    ASSERT_TRUE(looks.wait_for("\n", 20)) << i;
    looks.signal(SIGKILL);
    EXPECT_EQ(looks.finish(10).status, 128 + SIGKILL);
  }
  const json before = shown(one.pid()), after = shown(one.pid());
  EXPECT_GT(after["nodes"][0]["counters"]["barriers"].get<std::uint64_t>(),
            before["nodes"][0]["counters"]["barriers"].get<std::uint64_t>())
      << "it goes on";
}

TEST(Top, OneThatDoesNotReadIsNotWaitedFor) {
  const job one;
  command sleeps({QUIRE_TOOL, "top", "--json", one.pid()});
  ASSERT_TRUE(sleeps.wait_for("\n", 20));
  sleeps.signal(SIGSTOP);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(shown(one.pid())["nodes"].size(), 2u);
  sleeps.signal(SIGKILL);
  (void)sleeps.finish(10);
}

TEST(Top, FindsJobsOrListsThem) {
  const job one, other;
  const auto which = run({QUIRE_TOOL, "top", "--once"});
  EXPECT_EQ(which.status, 125);
  EXPECT_THAT(which.err, HasSubstr("which job?"));
  EXPECT_THAT(which.err, HasSubstr("\n  " + one.pid() + "  "));
  EXPECT_THAT(which.err, HasSubstr("\n  " + other.pid() + "  "));
  const auto none = run({QUIRE_TOOL, "top", "--once", "999999999"});
  EXPECT_EQ(none.status, 125);
  EXPECT_THAT(none.err, HasSubstr("there is no job 999999999"));
  EXPECT_EQ(run({QUIRE_TOOL, "top", "--once", "-1"}).status, 125);
}

/// Of a command line, which anybody may have written.
TEST(Top, NothingIsShownThatATerminalObeys) {
  const std::string evil =
      "\xc2\x9b"
      "31m\x9b"
      "1m\x1b[2J";
  const job one({"-n", "2"}, evil), other({"-n", "2"}, evil);
  for (const auto& shown :
       {run({QUIRE_TOOL, "top", "--once", one.pid()}).out, run({QUIRE_TOOL, "top", "--once"}).err}) {
    EXPECT_THAT(shown, HasSubstr("report_program forever ?31m1m"));
    EXPECT_TRUE(std::ranges::none_of(shown, [](char c) { return c != '\n' && (c < ' ' || c > '~'); })) << shown;
  }
}

TEST(Top, JobsOfAnotherUserAreRefused) {
  if (::geteuid() != 0 || !fs::exists("/usr/bin/setpriv")) GTEST_SKIP() << "needs root and setpriv, to be another user";
  const job one;
  const std::vector<std::string> as_nobody{"/usr/bin/setpriv", "--reuid=65534", "--clear-groups",
                                           QUIRE_TOOL,         "top",           "--once"};
  auto named = as_nobody;
  named.push_back(one.pid());
  const auto refused = run(named);
  EXPECT_EQ(refused.status, 125);
  EXPECT_THAT(refused.err, HasSubstr("only they and root may look at it"));
  EXPECT_THAT(run(as_nobody).err, HasSubstr("no job of yours runs on this machine"));
}

// ---- In a terminal
// ------------------------------------------------------------------------------------------------------

class in_terminal {
 public:
  in_terminal(const std::string& pid, unsigned short rows, unsigned short columns) {
    const winsize size{rows, columns, 0, 0};
    pid_ = ::forkpty(&master_, nullptr, nullptr, &size);
    if (pid_ != 0) return;
    ::execl(QUIRE_TOOL, QUIRE_TOOL, "top", pid.c_str(), nullptr);
    ::_exit(127);
  }
  ~in_terminal() {
    if (pid_ > 0) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
    ::close(master_);
  }
  in_terminal(const in_terminal&) = delete;
  in_terminal& operator=(const in_terminal&) = delete;

  void type(const std::string& keys) const {
    EXPECT_EQ(::write(master_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void resize(unsigned short rows, unsigned short columns) const {
    const winsize size{rows, columns, 0, 0};
    EXPECT_EQ(::ioctl(master_, TIOCSWINSZ, &size), 0);
  }
  /// Whether keys are shown as they are typed, as in a terminal that nobody has changed.
  [[nodiscard]] bool echoes() const {
    termios now{};
    return ::tcgetattr(master_, &now) == 0 && (now.c_lflag & ECHO) != 0 && (now.c_lflag & ICANON) != 0;
  }
  /// Reads until what came since the last call holds `text`.
  [[nodiscard]] bool wait_for(const std::string& text) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (std::string found; std::chrono::steady_clock::now() < until;) {
      read_some();
      if (const std::size_t at = seen_.find(text); at != seen_.npos) {
        last_ = seen_.substr(0, at + text.size());
        seen_.erase(0, at + text.size());
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] const std::string& last() const { return last_; }
  void kill(int signal) const { ::kill(pid_, signal); }
  /// Its exit status; -1: it does not end.
  [[nodiscard]] int finish() {
    for (int i = 0; i < 200; ++i) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      read_some();  // at once, if the other end is closed
      ::usleep(50'000);
    }
    return -1;
  }

 private:
  void read_some() {
    pollfd entry{master_, POLLIN, 0};
    char buffer[4096];
    if (::poll(&entry, 1, 100) <= 0) return;
    if (const ssize_t got = ::read(master_, buffer, sizeof buffer); got > 0)
      seen_.append(buffer, static_cast<std::size_t>(got));
  }
  int master_ = -1;
  pid_t pid_ = -1;
  std::string seen_, last_;
};

TEST(Top, DrawsInATerminalAndLeavesItAsItWas) {
  const job one;
  for (const std::string ends : {"q", "\x03"}) {
    in_terminal top(one.pid(), 24, 120);
    ASSERT_TRUE(top.wait_for(enters));
    ASSERT_TRUE(top.wait_for("    1 here"));
    ASSERT_TRUE(top.wait_for("  all "));
    EXPECT_FALSE(top.echoes());
    top.type("\x1b[Bjx");  // keys that scroll, or mean nothing
    ASSERT_TRUE(top.wait_for("  all "));
    top.type(ends);
    ASSERT_TRUE(top.wait_for(leaves));
    EXPECT_TRUE(top.echoes());
    EXPECT_EQ(top.finish(), 0);
  }
}

TEST(Top, FitsTheTerminalWhateverItsSize) {
  const job one({"-n", "4"});
  in_terminal top(one.pid(), 24, 120);
  ASSERT_TRUE(top.wait_for("    3 here"));
  top.resize(6, 30);  // two nodes, cut
  ASSERT_TRUE(top.wait_for("nodes 0 to 1 of 4"));
  ASSERT_TRUE(top.wait_for("\x1b[H")) << "the next picture";
  ASSERT_TRUE(top.wait_for("\x1b[J"));
  std::istringstream lines(top.last());
  int rows = 0;
  for (std::string line; std::getline(lines, line); ++rows)
    EXPECT_LE(line.substr(0, line.find("\x1b[K")).size(), 30u) << line;
  EXPECT_LE(rows, 6);
  top.type("j");
  ASSERT_TRUE(top.wait_for("nodes 1 to 2 of 4"));
  top.type("k");
  ASSERT_TRUE(top.wait_for("nodes 0 to 1 of 4"));
  top.resize(1, 1);
  top.type("q");
  ASSERT_TRUE(top.wait_for(leaves));
  EXPECT_EQ(top.finish(), 0);
}

TEST(Top, RestoresTheTerminalWhenTheJobEndsOrItIsTerminated) {
  auto one = std::make_unique<job>();
  {
    in_terminal top(one->pid(), 24, 120);
    ASSERT_TRUE(top.wait_for("  all "));
    top.kill(SIGTERM);
    ASSERT_TRUE(top.wait_for(leaves));
    EXPECT_TRUE(top.echoes());
    EXPECT_EQ(top.finish(), 0);
  }
  in_terminal top(one->pid(), 24, 120);
  ASSERT_TRUE(top.wait_for("  all "));
  one.reset();
  ASSERT_TRUE(top.wait_for(leaves));
  ASSERT_TRUE(top.wait_for("has ended with exit status 143"));
  EXPECT_EQ(top.finish(), 0);
}

}  // namespace
}  // namespace quire::test::top_test
