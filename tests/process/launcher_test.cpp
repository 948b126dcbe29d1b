// SPDX-License-Identifier: BSD-3-Clause
// `quire run` with real processes: exit statuses, signals, deaths, and that nothing is ever left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "bootstrap/launcher/installed.hpp"
#include "command.hpp"
#include "launcher_job.hpp"

namespace quire::test::launcher_test {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

const std::string program = QUIRE_PROGRAMS "/launcher_program";

// ---- Exit status ----------------------------------------------------------------------------------------------------

TEST(ExitStatus, IsZeroWhenAllEndWell) { EXPECT_EQ(run(job({"-n", "3", "true"})).status, 0); }

TEST(EndWith, TheJobEndsWithAProcess) {
  command other({"sleep", "100"});
  command job_of_it(
      job({"-n", "2", "--end-with", std::to_string(other.pid()), "sh", "-c", "echo here; exec sleep 60"}));
  ASSERT_TRUE(job_of_it.wait_for("here\nhere\n", 30));
  ASSERT_EQ(::kill(other.pid(), SIGKILL), 0);
  const auto result = job_of_it.finish(20);
  EXPECT_EQ(result.status, 128 + SIGHUP);
  EXPECT_THAT(result.err, HasSubstr("the job ends as process " + std::to_string(other.pid()) + " has ended"));
  EXPECT_TRUE(job_of_it.left_behind(5).empty());
  (void)other.finish(5);
}

TEST(EndWith, AProcessThatIsNotThereIsTold) {
  for (const char* const number : {"0", "-3", "x", "99999999999", "4194305"}) {
    const auto result = run(job({"-n", "1", "--end-with", number, "true"}));
    EXPECT_NE(result.status, 0) << number;
    EXPECT_THAT(result.err, HasSubstr("--end-with")) << number;
  }
}

TEST(ExitStatus, IsThatOfTheNodeThatFailedFirst) {
  const auto result = run(job({"-n", "3", "sh", "-c", "test $QUIRE_JOB_NODE != 1 || exit 7; exec sleep 60"}));
  EXPECT_EQ(result.status, 7);
  EXPECT_THAT(result.err, ContainsRegex("^quire: node 1 \\(pid [0-9]+\\) exited with status 7; ending the job\n"));
  EXPECT_LT(result.seconds, 10);
}

TEST(ExitStatus, TellsTheSignal) {
  const auto result = run(job({"-n", "3", program, "killed", "2"}));
  EXPECT_EQ(result.status, 128 + SIGKILL);
  EXPECT_THAT(result.err,
              ContainsRegex("^quire: node 2 \\(pid [0-9]+\\) was killed by signal 9 \\(Killed\\); ending the job\n$"));
  EXPECT_EQ(count_of(result.out, "news: node_died 2"), 2u) << result.out;
  EXPECT_LT(result.seconds, 2) << "the others ended by themselves, there was nothing to wait for";
}

TEST(ExitStatus, OfAProgramThatCannotBeRun) {
  auto result = run(job({"-n", "2", "./no-such-program"}));
  EXPECT_EQ(result.status, 127);
  EXPECT_EQ(result.err, "quire: cannot run ./no-such-program: No such file or directory\n");
  result = run(job({"-n", "2", "/etc/passwd"}));
  EXPECT_EQ(result.status, 126);
  EXPECT_EQ(result.err, "quire: cannot run /etc/passwd: Permission denied\n");
}

TEST(ExitStatus, OfANodeThatEndsWithoutLeaving) {
  const auto result = run(job({"-n", "2", program, "unleft", "0"}));
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("exited without quire_end()"));
  EXPECT_THAT(result.out, HasSubstr("news: node_died 0"));
  EXPECT_LT(result.seconds, 2) << "the other ended by itself, there was nothing to wait for";
}

TEST(ExitStatus, OfANodeThatBecomesAnotherProgram) {
  const auto result = run(job({"-n", "2", program, "replaced", "0"}));
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("news: node_died 0"));
  EXPECT_THAT(result.err, HasSubstr("goes on without Quire"));
}

TEST(ExitStatus, OfANodeThatTheOthersWaitForInVain) {
  const auto result = run(job({"-n", "3", program, "absent", "1"}));
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, ContainsRegex("node 1 .* ended while others wait for it"));
  EXPECT_EQ(count_of(result.out, "exchange: status 30"), 2u) << result.out;
}

TEST(ExitStatus, OfAFailureAfterLeavingLeavesTheOthersAMomentToFinish) {
  const auto result = run(job({"-n", "3", program, "late", "1"}));
  EXPECT_EQ(result.status, 5);
  EXPECT_EQ(count_of(result.out, "finished"), 2u) << result.out;
}

// ---- Hints ----------------------------------------------------------------------------------------------------------

/// A folder with programs that do nothing: `heat`, and a copy of the one that joins a job (`joins`).
class Hints : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "quire-hints-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name + "/";
    std::filesystem::copy("/bin/true", folder + "heat");
    std::filesystem::copy(program, folder + "joins");
    { std::ofstream(folder + "notes") << "no program\n"; }
    { std::ofstream(folder + "script") << "#!" + folder + "pyhton\n"; }
    std::filesystem::permissions(folder + "script", std::filesystem::perms::owner_all);
    { std::ofstream(folder + "agent") << "#!/bin/sh\nshift\nexec sh -c \"$*\"\n"; }
    std::filesystem::permissions(folder + "agent", std::filesystem::perms::owner_all);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  /// In the folder, with the command's path for "quire".
  [[nodiscard]] command_result in_folder(const std::string& line) const {
    return run({"sh", "-c", "cd " + folder + "; quire() { " + QUIRE_TOOL + " \"$@\"; }; " + line});
  }

  std::string folder;
};

TEST_F(Hints, NameTheProgramThatAMisspeltOneResembles) {
  const std::pair<std::string, std::string> cases[] = {{"./haet", "did you mean ./heat?"},
                                                       {"haet", "did you mean ./heat?"},
                                                       {"heat", "did you mean ./heat?"},
                                                       {"./heat.cpp", "did you mean ./heat?"},
                                                       {folder + "heta", "did you mean " + folder + "heat?"},
                                                       {"hostnmae", "did you mean hostname?"},
                                                       {"./nowhere/heat", "there is no folder ./nowhere"},
                                                       {folder, "it is a folder"},
                                                       {"./script", "not its interpreter " + folder + "pyhton"}};
  for (const auto& [wrong, hint] : cases) {
    const auto result = in_folder("quire run -n 2 " + wrong);
    EXPECT_THAT(result.err, HasSubstr("cannot run " + wrong + ": "));
    EXPECT_THAT(result.err, HasSubstr(hint)) << wrong;
    EXPECT_THAT(result.status, AnyOf(126, 127)) << wrong;
  }
  // A file that cannot be run is no proposal, nor is what resembles nothing.
  for (const auto* const alone : {"./noets", "./completely-different"})
    EXPECT_THAT(in_folder(std::string("quire run -n 2 ") + alone).err, ::testing::Not(HasSubstr("did you mean")))
        << alone;
  EXPECT_THAT(in_folder("quire run --hosts a --agent ./agent ./haet").err,
              HasSubstr("host a: cannot run ./haet: No such file or directory; did you mean ./heat?"));
}

TEST_F(Hints, ProgramsWithoutQuireAreSaidToBeCopies) {
  const std::string warning = "ran as 3 independent copies: it is not linked with libquire";
  for (const std::string line :
       {"quire run -n 3 ./heat", "quire run --set nodes=3 ./heat", "PATH=$PWD:$PATH; quire run -n 3 heat",
        "quire run --hosts a,b,c --agent ./agent ./heat"}) {
    const auto result = in_folder(line);
    EXPECT_EQ(result.status, 0) << line;
    EXPECT_EQ(count_of(result.err, warning), 1u) << line << "\n" << result.err;
  }
  // One copy; nothing said; programs that join, or that run without Quire on purpose; no program at all.
  for (const std::string line :
       {"quire run -n 1 ./heat", "QUIRE_LOG=error quire run -n 3 ./heat", "quire run -n 3 --set log=error ./heat",
        "quire run -n 3 ./joins exchange 8", "quire run -n 3 /bin/true", "quire run -n 3 sh -c ./heat",
        "cp /bin/sh dash-0.5; quire run -n 3 ./dash-0.5 -c true", "quire run -n 3 --copies ./heat",
        "quire run -n 3 ./haet"})
    EXPECT_EQ(count_of(in_folder(line).err, "copies"), 0u) << line;
}

TEST_F(Hints, ThreadsOfProgramsOfTheSystemAreSaidToBeOfEachCopy) {
  const auto result = in_folder("quire run -n 2 cmake --version");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(count_of(result.err, "cmake ran as 2 independent copies, as programs of the system do"), 1u) << result.err;
  EXPECT_THAT(result.err, HasSubstr("write `quire exec --any` before it"));
  // What makes them may be a library. Others have such a library, and no threads.
  if (std::system("command -v xz >/dev/null") == 0) {
    EXPECT_EQ(count_of(in_folder("quire run -n 2 xz --version").err, "xz ran as 2 independent copies"), 1u);
  }
  for (const std::string line : {"quire run -n 2 ps", "quire run -n 2 ldd --version"})
    EXPECT_EQ(count_of(in_folder(line).err, "copies"), 0u) << line;
  for (const std::string line : {"quire run -n 2 --copies cmake --version", "quire run -n 1 cmake --version",
                                 "QUIRE_LOG=error quire run -n 2 cmake --version"})
    EXPECT_EQ(count_of(in_folder(line).err, "copies"), 0u) << line;
}

TEST(WrongValues, AreRefusedWithWhatIsLegal) {
  const std::pair<words, std::string> cases[] = {
      {{"-n", "four", "true"}, "--nodes: four is not allowed; it may be 1 to 1024"},
      {{"-n", "4x", "true"}, "--nodes: 4x is not allowed; did you mean 4? It may be 1 to 1024"},
      {{"-n", "99999999999999", "true"}, "it may be 1 to 1024"},
      {{"--timeout", "10s", "true"}, "--timeout: 10s is not allowed; did you mean 10?"},
      {{"--timeout", "long", "true"}, "--timeout: long is not allowed; it may be more than 0"},
      {{"--detect", "usefault", "true"}, "did you mean userfault? It may be auto|userfault|thread|segv"}};
  for (const auto& [wrong, hint] : cases) {
    const auto result = run(job(wrong));
    EXPECT_EQ(result.status, 125);
    EXPECT_THAT(result.err, HasSubstr(hint));
  }
  const std::pair<words, std::string> others[] = {{{"info", "--jsn"}, "did you mean --json?"},
                                                  {{"config", "--lib"}, "did you mean --libs?"},
                                                  {{"config", "libs"}, "`quire config` takes no libs"},
                                                  {{"bench", "page-update", "--quik"}, "did you mean --quick?"}};
  for (auto [wrong, hint] : others) {
    wrong.insert(wrong.begin(), QUIRE_TOOL);
    const auto result = run(wrong, {}, "", 5);
    EXPECT_EQ(result.status, 125) << hint;
    EXPECT_THAT(result.err, HasSubstr(hint));
  }
}

TEST(Timeout, MayBeDecades) {
  const auto result = run(job({"-n", "2", "--timeout", "1000000000", "sleep", "0.2"}));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(run(job({"-n", "2", "--timeout", "1000000001", "true"})).err, HasSubstr("at most 1000000000"));
}

TEST(Timeout, EndsAHangingJob) {
  const auto result = run(job({"-n", "2", "--timeout", "0.3", "sleep", "60"}));
  EXPECT_EQ(result.status, 124);
  EXPECT_THAT(result.err, HasSubstr("time limit"));
  EXPECT_GE(result.seconds, 0.3);
  EXPECT_LT(result.seconds, 5);
}

TEST(Timeout, KillsWhatIgnoresSigterm) {
  const auto result = run(job({"-n", "2", "--timeout", "0.3", "sh", "-c", "trap '' TERM; sleep 60; sleep 60"}));
  EXPECT_EQ(result.status, 124);
  EXPECT_LT(result.seconds, 10);
}

TEST(Timeout, TellsTheNodesOfAQuireProgram) {
  const auto result = run(job({"-n", "2", "--timeout", "1", "--tag", program, "news"}));
  EXPECT_EQ(result.status, 124);
  EXPECT_EQ(count_of(result.out, "job_ends"), 2u) << result.out;
}

// ---- Deaths ---------------------------------------------------------------------------------------------------------

TEST(Death, OfANodeEndsOthersThatDoNotListen) {
  const auto result = run(job({"-n", "3", program, "stubborn", "1"}));
  EXPECT_EQ(result.status, 128 + SIGKILL);
  EXPECT_GE(result.seconds, 2.9) << "2 s of grace, 1 s after SIGTERM";
  EXPECT_LT(result.seconds, 10);
}

TEST(Death, OfTheLauncherEndsAllNodes) {
  command started(job({"-n", "4", program, "news"}));
  ASSERT_TRUE(started.wait_for("ready\nready\nready\nready\n", 30));
  started.signal(SIGKILL);
  EXPECT_EQ(started.finish(10).status, 128 + SIGKILL);
  EXPECT_TRUE(started.left_behind(10).empty());
}

TEST(Death, OfTheLauncherEndsNodesBehindAWrapper) {
  // The shell dies with the launcher; its child, the node, hears it over the control socket.
  command started(job({"-n", "2", "sh", "-c", program + " news; true"}));
  ASSERT_TRUE(started.wait_for("ready\nready\n", 30));
  started.signal(SIGKILL);
  EXPECT_EQ(started.finish(10).status, 128 + SIGKILL);
  EXPECT_TRUE(started.left_behind(10).empty());
}

TEST(Death, LeavesNoOrphans) {
  EXPECT_EQ(run(job({"-n", "2", "sh", "-c", "sleep 60 & (setsid sleep 60 &) ; true"})).status, 0);
  EXPECT_EQ(run(job({"-n", "2", "sh", "-c", "setsid sh -c 'trap \"\" TERM; sleep 60; sleep 60' & exit 3"})).status, 3);
}

// ---- Signals --------------------------------------------------------------------------------------------------------

TEST(Signals, GoOnToAllNodes) {
  for (const int number : {SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGTERM}) {
    const std::string script =
        "trap 'echo got; exit 0' " + std::to_string(number) + "; echo up; while :; do sleep 0.05; done";
    command started(job({"-n", "2", "--tag", "sh", "-c", script}));
    ASSERT_TRUE(started.wait_for("[0] up\n", 30));
    ASSERT_TRUE(started.wait_for("[1] up\n", 30));
    started.signal(number);
    const auto result = started.finish(20);
    EXPECT_EQ(result.status, 0) << "signal " << number << ": " << result.err;
    EXPECT_THAT(result.out, HasSubstr("[0] got\n"));
    EXPECT_THAT(result.out, HasSubstr("[1] got\n"));
    EXPECT_TRUE(started.left_behind(0).empty());
  }
}

TEST(Signals, EndAJobThatDoesNotHandleThem) {
  command started(job({"-n", "2", program, "news"}));
  ASSERT_TRUE(started.wait_for("ready\nready\n", 30));
  started.signal(SIGTERM);
  const auto result = started.finish(20);
  EXPECT_EQ(result.status, 128 + SIGTERM);
  EXPECT_EQ(result.err, "quire: the job ends by signal 15 (Terminated)\n");
  EXPECT_TRUE(started.left_behind(0).empty());
}

TEST(Signals, ASecondOneKills) {
  command started(job({"-n", "2", "--tag", "sh", "-c", "trap 'echo no' INT; echo up; while :; do sleep 0.05; done"}));
  ASSERT_TRUE(started.wait_for("[0] up\n", 30));
  ASSERT_TRUE(started.wait_for("[1] up\n", 30));
  started.signal(SIGINT);
  ASSERT_TRUE(started.wait_for("no\n", 30));
  started.signal(SIGINT);
  const auto result = started.finish(5);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.status, 128 + SIGINT);
  EXPECT_TRUE(started.left_behind(0).empty());
}

// ---- Bad use --------------------------------------------------------------------------------------------------------

struct bad_use {
  words arguments;
  command::settings environment;
  const char* message;
};

TEST(BadUse, IsRefusedBeforeAnythingStarts) {
  const bad_use cases[] = {
      {{"-n", "0", "echo", "started"}, {}, "1 to 1024"},
      {{"-n", "1025", "echo", "started"}, {}, "1 to 1024"},
      {{"-n", "x", "echo", "started"}, {}, "-"},
      {{}, {}, "which program"},
      {{"--tga", "echo", "started"}, {}, "did you mean --tag?"},
      {{"--timeout", "0", "echo", "started"}, {}, "more than 0"},
      {{"--set", "raed-ahead=0", "echo", "started"}, {}, "did you mean QUIRE_READ_AHEAD?"},
      {{"--set", "unit=5K", "echo", "started"}, {}, "a power of two"},
      {{"--set", "unit", "echo", "started"}, {}, "NAME=VALUE"},
      {{"--detect", "sgv", "echo", "started"}, {}, "auto|userfault|thread|segv"},
      {{"--detect", "userfalt", "echo", "started"},
       {},
       "QUIRE_DETECT=userfalt is not allowed; did you mean userfault?"},
      {{"--set", "transport=TCP", "echo", "started"}, {}, "did you mean tcp?"},
      {{"--launcher", "mpiexec", "echo", "started"}, {}, "--launcher mpiexec is not allowed"},
      {{"--launcher", "srnu", "echo", "started"}, {}, "did you mean srun?"},
      {{"echo", "started"}, {{"QUIRE_POOL", "memdf"}}, "did you mean memfd?"},
      {{"echo", "started"}, {{"QUIRE_TRANPORT", "tcp"}}, "did you mean QUIRE_TRANSPORT?"},
      {{"echo", "started"}, {{"QUIRE_RANGE", "1"}}, "4M to 64T"},
      {{"--stats=/no/such/directory/file", "echo", "started"}, {}, "cannot write"},
      {{"--stats=sharng", "echo", "started"}, {}, "it may be sharing"},
  };
  for (const auto& use : cases) {
    const auto result = run(job(use.arguments), use.environment);
    EXPECT_EQ(result.status, 125) << use.message;
    EXPECT_THAT(result.err, HasSubstr(use.message));
    EXPECT_EQ(result.out, "");
  }
}

// ---- Who starts the nodes on hosts
// ------------------------------------------------------------------------------------

/// A machine on which Open MPI and Slurm are installed, as far as `quire run` can see: programs that tell their own
/// name. And an agent that reaches any host, here.
class Launchers : public ::testing::Test {
 protected:
  Launchers() {
    for (const char* name : {"mpirun", "ompi_info", "srun"}) add(name, "echo started by " + std::string(name));
    add("ssh", "while test \"$1\" != a -a \"$1\" != b; do shift; done; shift; echo by ssh >&2; exec sh -c \"$1\"");
    add("agent", "shift; echo by the agent >&2; exec sh -c \"$1\"");
  }
  ~Launchers() override { std::filesystem::remove_all(folder_); }
  void add(const std::string& name, const std::string& does) const {
    const std::string path = folder_ + "/" + name;
    { std::ofstream(path) << "#!/bin/sh\n" << does << "\n"; }
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  /// `quire run --hosts a,b OPTIONS printenv QUIRE_JOB_NODE`
  [[nodiscard]] command_result start(const words& options, const std::string& variable = "NOTHING=1") const {
    words all{"env", "PATH=" + folder_ + ":/usr/local/bin:/usr/bin:/bin", variable, QUIRE_TOOL, "run", "--hosts",
              "a,b"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"printenv", "QUIRE_JOB_NODE"});
    return run(all, {}, "", 20);
  }
  [[nodiscard]] std::string agent() const { return folder_ + "/agent"; }

 private:
  static std::string make_folder() {
    char name[] = "/tmp/quire-launchers.XXXXXX";
    return ::mkdtemp(name) != nullptr ? name : "/nowhere";
  }
  const std::string folder_ = make_folder();
};

TEST_F(Launchers, AreNotUsedUnlessAskedFor) {
  for (const std::string variable : {"NOTHING=1", "SLURM_JOB_ID=7"}) {
    const auto by_ssh = start({}, variable);
    EXPECT_EQ(by_ssh.status, 0) << by_ssh.err;
    EXPECT_THAT(lines_of(by_ssh.out), ::testing::UnorderedElementsAre("0", "1"));
    EXPECT_EQ(by_ssh.err, "by ssh\nby ssh\n");
    for (const words& options : {words{"--agent", agent()}, words{"--agent", agent(), "--launcher", "ssh"},
                                 words{"--agent", agent(), "--launcher", "auto"}}) {
      const auto by_agent = start(options, variable);
      EXPECT_EQ(by_agent.status, 0) << by_agent.err;
      EXPECT_THAT(lines_of(by_agent.out), ::testing::UnorderedElementsAre("0", "1"));
      EXPECT_EQ(by_agent.err, "by the agent\nby the agent\n");
    }
  }
}

TEST_F(Launchers, AreUsedWhenAskedFor) {
  if (quire::bootstrap::launcher::speaks_pmix()) {
    EXPECT_EQ(start({"--launcher", "mpirun"}).out, "started by mpirun\n");
    EXPECT_EQ(start({"--launcher", "mpirun", "--agent", agent()}).out, "started by mpirun\n");
    EXPECT_EQ(start({"--launcher", "srun"}).out, "started by srun\n");
    EXPECT_EQ(start({"--launcher", "auto"}).out, "started by mpirun\n");
    EXPECT_EQ(start({"--launcher", "auto"}, "SLURM_JOB_ID=7").out, "started by srun\n");
    EXPECT_EQ(start({"--launcher", "auto", "--timeout", "20"}).err, "by ssh\nby ssh\n");
    EXPECT_EQ(start({"--launcher", "auto", "--stats=/dev/null"}).err, "by ssh\nby ssh\n");
  }
  const auto confused = start({"--launcher", "srun", "--agent", agent()});
  EXPECT_EQ(confused.status, 125);
  EXPECT_EQ(confused.out, "");
}

TEST(BadUse, OfTheCommandItself) {
  EXPECT_THAT(run({QUIRE_TOOL, "rnu"}).err, HasSubstr("did you mean run?"));
  EXPECT_EQ(run({QUIRE_TOOL}).status, 125);
  EXPECT_EQ(run({QUIRE_TOOL, "info", "more", "more"}).status, 125);
  EXPECT_EQ(run({QUIRE_TOOL, "info", "--options", "more"}).status, 125);
  EXPECT_THAT(run({QUIRE_TOOL, "exce"}).err, HasSubstr("did you mean exec?"));
}

TEST(Arguments, OfTheProgramAreLeftAlone) {
  EXPECT_EQ(run(job({"-n", "1", "echo", "-n", "3", "--tag", "--", "--help"})).out, "3 --tag -- --help");
  EXPECT_EQ(run(job({"-n", "1", "--", "echo", "a", "--", "b"})).out, "a -- b\n");
}

TEST(Environment, IsSetForTheNodes) {
  const auto result = run(job({"-n", "1", "--detect", "segv", "--set", "read-ahead=0", "env"}),
                          {{"QUIRE_UNIT", "64K"}, {"QUIRE_DETECT", "thread"}});
  EXPECT_THAT(result.out, HasSubstr("QUIRE_DETECT=segv\n"));
  EXPECT_THAT(result.out, HasSubstr("QUIRE_READ_AHEAD=0\n"));
  EXPECT_THAT(result.out, HasSubstr("QUIRE_UNIT=64K\n"));
  EXPECT_EQ(count_of(result.out, "QUIRE_DETECT="), 1u);
}

// ---- Quire programs -------------------------------------------------------------------------------------------------

class Exchange : public ::testing::TestWithParam<int> {};

TEST_P(Exchange, GivesEachNodeTheAddressesOfAll) {
  const int nodes = GetParam();
  const auto result = run(job({"-n", std::to_string(nodes), program, "exchange", "4000"}));
  EXPECT_EQ(result.status, 0) << result.err;
  std::set<std::string> expected;
  for (int node = 0; node < nodes; ++node)
    expected.insert("node " + std::to_string(node) + " of " + std::to_string(nodes) + ", " + std::to_string(nodes) +
                    " here");
  const auto lines = lines_of(result.out);
  EXPECT_EQ(lines.size(), expected.size());
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()), expected);
}

INSTANTIATE_TEST_SUITE_P(Nodes, Exchange, ::testing::Values(1, 2, 16, 64));

TEST(QuireProgram, RunsAloneWithoutALauncher) {
  EXPECT_EQ(run({program, "exchange", "10"}).out, "node 0 of 1, 1 here\n");
}

TEST(QuireProgram, IsToldWhatClosedItsSocket) {
  const auto result =
      run({program, "exchange", "10"},
          {{"QUIRE_JOB_FD", "99"}, {"QUIRE_JOB_NODE", "0"}, {"QUIRE_JOB_NODES", "2"}, {"QUIRE_JOB_LOCAL", "2"}});
  EXPECT_EQ(result.status, 43);
  EXPECT_THAT(result.err, HasSubstr("descriptor 99"));
  EXPECT_EQ(run({program, "exchange", "10"}, {{"QUIRE_JOB_NODE", "3"}}).status, 43);
}

TEST(QuireProgram, HidesItsPlaceFromProgramsThatItStarts) {
  // What ls sees: what it would see without any job.
  const std::string without = run({"ls", "/proc/self/fd"}).out;
  EXPECT_EQ(run(job({"-n", "1", program, "environment"})).out, without);
}

TEST(QuireProgram, LiesAtTheSameAddressOnAllNodes) {
  const auto lines = lines_of(run(job({"-n", "4", program, "address"})).out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), 1u);
}

TEST(QuireProgram, MayFollowAnotherOnTheSameNode) {
  const auto result = run(job({"-n", "2", "sh", "-c", program + " exchange 5 && " + program + " exchange 6"}));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(lines_of(result.out).size(), 4u);
}

TEST(QuireProgram, RunsForAnOrdinaryUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "all tests run as an ordinary user already";
  char directory[] = "/tmp/launcher_test.XXXXXX";  // the build directory may be closed to others
  ASSERT_NE(::mkdtemp(directory), nullptr);
  const std::filesystem::path place(directory);
  std::filesystem::permissions(place, std::filesystem::perms(0755));
  std::filesystem::copy(QUIRE_TOOL, place / "quire");
  std::filesystem::copy(program, place / "program");
  const words nobody = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  const auto as_nobody = [&](words more) {
    more.insert(more.begin(), nobody.begin(), nobody.end());
    return run(more);
  };
  const auto good = as_nobody({place / "quire", "run", "-n", "3", place / "program", "exchange", "10"});
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_EQ(lines_of(good.out).size(), 3u);
  EXPECT_EQ(as_nobody({place / "quire", "run", "-n", "3", place / "program", "killed", "0"}).status, 128 + SIGKILL);
  const auto info = nlohmann::json::parse(as_nobody({place / "quire", "info", "--json"}).out, nullptr, false);
  ASSERT_TRUE(info.is_object());
  const auto& kernel_faults = info["userfaultfd"].value("kernel_faults", nlohmann::json::object());
  EXPECT_FALSE(kernel_faults.value("cap_sys_ptrace", false));
  std::filesystem::remove_all(place);
}

// ---- Counters and info ----------------------------------------------------------------------------------------------

TEST(Statistics, AreATableOnStandardError) {
  const auto result = run(job({"-n", "2", "--stats", program, "statistics"}));
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, ContainsRegex("counter +node 0 +node 1 +total\n"));
  EXPECT_THAT(result.err, ContainsRegex("faults +10 +20 +30\n"));
  EXPECT_THAT(result.err, ContainsRegex("only_one +- +-3 +-3\n"));
  const auto many = run(job({"-n", "9", "--stats", program, "statistics"}));
  EXPECT_THAT(many.err, ContainsRegex("counter +total\n")) << "no column a node beyond eight";
  EXPECT_THAT(many.err, ContainsRegex("faults +450\n"));
}

TEST(Statistics, AreAJsonFile) {
  char name[] = "/tmp/launcher_test.XXXXXX";
  const int file = ::mkstemp(name);
  ASSERT_GE(file, 0);
  ::close(file);
  EXPECT_EQ(run(job({"-n", "3", std::string("--stats=") + name, program, "statistics"})).err, "");
  const auto document = nlohmann::json::parse(std::ifstream(name), nullptr, false);
  ::unlink(name);
  ASSERT_TRUE(document.is_object());
  EXPECT_EQ(document["nodes"], 3);
  EXPECT_EQ(document["exit_status"], 0);
  EXPECT_EQ(document["total"]["faults"], 60);
  EXPECT_EQ(document["total"]["constant"], 21);
  EXPECT_EQ(document["by_node"][1]["only_one"], -3);
  EXPECT_FALSE(document["by_node"][0].contains("only_one"));
}

TEST(Statistics, SayWhichNodesToldNothing) {
  EXPECT_THAT(run(job({"-n", "2", "--stats", "true"})).err, HasSubstr("2 of 2 nodes gave no counters"));
}

TEST(Info, IsReadableAndMachineReadable) {
  const auto people = run({QUIRE_TOOL, "info"});
  EXPECT_EQ(people.status, 0);
  for (const char* part : {"kernel", "userfaultfd", "UCX", "detector", "does not work"})
    EXPECT_THAT(people.out, HasSubstr(part));
  const auto document = nlohmann::json::parse(run({QUIRE_TOOL, "info", "--json"}).out, nullptr, false);
  ASSERT_TRUE(document.is_object());
  EXPECT_EQ(document["machine"]["page_bytes"], ::sysconf(_SC_PAGESIZE));
  EXPECT_THAT(document["choice"]["detector"].get<std::string>(), AnyOf("userfault", "segv"));
}

TEST(Info, FollowsTheOptions) {
  const auto asked = [](const char* detector) {
    return nlohmann::json::parse(
        run({QUIRE_TOOL, "info", "--json"}, {{"QUIRE_DETECT", detector}, {"QUIRE_RANGE", "64G"}}).out, nullptr,
        false)["choice"];
  };
  EXPECT_EQ(asked("segv")["detector"], "segv");
  EXPECT_EQ(asked("segv")["range"]["bytes"], 64LL << 30);
  EXPECT_THAT(asked("thread")["detector"].get<std::string>(), AnyOf("thread", "none"));
}

TEST(Info, PrintsTheOptions) {
  const auto text = run({QUIRE_TOOL, "info", "--options"}).out;
  EXPECT_THAT(text, HasSubstr("QUIRE_READ_AHEAD"));
  EXPECT_THAT(text, HasSubstr("default 0x200000000000"));
}

}  // namespace
}  // namespace quire::test::launcher_test
