// SPDX-License-Identifier: BSD-3-Clause
// `quire run` with real processes: output and input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "launcher_job.hpp"

namespace quire::test::launcher_output_test {
namespace {

using ::testing::HasSubstr;

TEST(Output, PassesUntouchedByDefault) { EXPECT_EQ(run(job({"-n", "1", "printf", "no newline"})).out, "no newline"); }

TEST(Output, TagsLinesAndKeepsTheStreamsApart) {
  const auto result = run(job({"-n", "3", "--tag", "sh", "-c", "echo a; echo; printf b; printf c >&2"}));
  for (const std::string node : {"[0] ", "[1] ", "[2] "}) {
    EXPECT_THAT(result.out, HasSubstr(node + "a\n"));
    EXPECT_THAT(result.out, HasSubstr(node + "\n"));
    EXPECT_THAT(result.out, HasSubstr(node + "b\n")) << "a last line without newline";
    EXPECT_THAT(result.err, HasSubstr(node + "c\n"));
  }
  EXPECT_EQ(lines_of(result.out).size(), 9u);
  EXPECT_EQ(lines_of(result.err).size(), 3u);
}

TEST(Output, KeepsLinesWholeThatComeInPieces) {
  const auto result = run(job(
      {"-n", "4", "--tag", "sh", "-c", "for i in 1 2 3; do printf x; sleep 0.02; printf y; sleep 0.02; echo z; done"}));
  const auto lines = lines_of(result.out);
  EXPECT_EQ(lines.size(), 12u);
  for (const auto& line : lines) EXPECT_FALSE(matches_of(line, "^\\[[0-3]\\] xyz$").empty()) << line;
}

TEST(Output, KeepsLongLinesWhole) {
  const auto result =
      run(job({"-n", "3", "--tag", "sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x; echo; echo end"}));
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const auto& l) { return l.size() == 4 + 300000 && l.find('[', 1) == l.npos; }),
            3);
}

TEST(Output, BreaksEndlessLines) {
  const auto result = run(job({"-n", "1", "--tag", "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x"}));
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 3u);
  std::size_t bytes = 0;
  for (const auto& line : lines) {
    EXPECT_TRUE(line.starts_with("[0] x"));
    bytes += line.size() - 4;
  }
  EXPECT_EQ(bytes, 3000000u);
}

TEST(Output, ToNobodyEndsTheJob) {
  const auto result = run({"sh", "-c", std::string(QUIRE_TOOL) + " run -n 2 --tag yes | head -n 3"});
  EXPECT_EQ(lines_of(result.out).size(), 3u);
}

TEST(Output, ToNobodyGivesTheStatusOfABrokenPipeAndNoWord) {
  const std::string begin = "set -o pipefail; " + std::string(QUIRE_TOOL) + " run -n 2 --tag ";
  const auto result = run({"bash", "-c", begin + "yes | head -n 3"});
  EXPECT_EQ(result.status, 128 + SIGPIPE);
  EXPECT_EQ(result.err, "");
  const auto full = run({"bash", "-c", begin + "yes > /dev/full"});
  EXPECT_EQ(full.status, 125);
  EXPECT_EQ(full.err, "quire: cannot write standard output: No space left on device\n");
  EXPECT_EQ(run({"bash", "-c", begin + "echo > /dev/full"}).status, 125) << "with the last piece of it";
}

TEST(Input, GoesToNodeZero) {
  const auto result = run(job({"-n", "3", "--tag", "cat"}), {}, "one\ntwo\n");
  EXPECT_EQ(result.out, "[0] one\n[0] two\n");
}

TEST(Input, FromATerminalGoesToNodeZeroAndInterruptsEndTheJob) {
  int terminal = -1;
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    ::signal(SIGINT, SIG_DFL);
    ::execl(QUIRE_TOOL, "quire", "run", "-n", "2", "--tag", "--timeout", "30", "sh", "-c",
            "test $QUIRE_JOB_NODE = 0 || exec sleep 60; read line; echo got $line; exec sleep 60", nullptr);
    ::_exit(127);
  }
  std::string shown;
  const auto show_until = [&](const std::string& text) {
    char buffer[4096];
    ssize_t bytes;
    while (shown.find(text) == shown.npos && (bytes = ::read(terminal, buffer, sizeof buffer)) > 0)
      shown.append(buffer, static_cast<std::size_t>(bytes));
    return shown.find(text) != shown.npos;
  };
  ASSERT_EQ(::write(terminal, "hello\n", 6), 6);
  EXPECT_TRUE(show_until("[0] got hello")) << shown;
  ASSERT_EQ(::write(terminal, "\x03", 1), 1);
  EXPECT_TRUE(show_until("the job ends by signal 2 (Interrupt)")) << shown;
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT);
  ::close(terminal);
}

}  // namespace
}  // namespace quire::test::launcher_output_test
