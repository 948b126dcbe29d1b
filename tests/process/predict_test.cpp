// SPDX-License-Identifier: BSD-3-Clause
// `quire predict`: its figures for programs whose time can be computed, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"

namespace quire::test::predict_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using words = std::vector<std::string>;

const std::string program = std::string(QUIRE_PROGRAMS) + "/predict_program";

command_result predict(const words& how, const std::string& input = "", const command::settings& environment = {}) {
  words all{QUIRE_TOOL, "predict"};
  all.insert(all.end(), how.begin(), how.end());
  return run(all, environment, input, 120);
}
std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of('\n');
  const auto begin = text.find_last_of('\n', end);
  return text.substr(begin == text.npos ? 0 : begin + 1, end - begin);
}
json predictions(words how) {
  how.insert(how.begin(), "--json");
  const auto ran = predict(how);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.status == 0 ? json::parse(ran.out)["predictions"] : json::array();
}
double seconds_of_turns(const std::string& network) {
  const json all = predictions({"-n", "2", "--network", network, program, "turns", "200"});
  return all.size() == 1 ? all[0]["seconds"].get<double>() : 0;
}

TEST(Predict, WorkThatNodesShareGains) {
  const json all = predictions({"-n", "1,2", "--network", "ib-hdr", program, "work", "400"});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_NEAR(all[0]["seconds"].get<double>(), 0.4, 0.04);
  EXPECT_NEAR(all[1]["speed_up"].get<double>(), 2, 0.15);
  EXPECT_LE(all[1]["least_speed_up"], all[1]["speed_up"]);
  EXPECT_GE(all[1]["most_speed_up"], all[1]["speed_up"]);
  EXPECT_GT(all[1]["work_percent"], 85.0);
}

/// A turn takes a barrier, and the page from the other node, with a latency or more for each of their messages.
TEST(Predict, LatencyOfTheNetworkCountsForEachTurn) {
  char name[] = "/tmp/quire-predict-test-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string file = std::string(name) + "/slow";
  std::ofstream(file) << "latency_us 1000\nsend_us 0\nreceive_us 0\nmegabytes_a_second 1000\n";
  const double slow = seconds_of_turns(file), fast = seconds_of_turns("ib-hdr");
  std::filesystem::remove_all(name);
  EXPECT_GE(slow, 200 * 2 * 1e-3) << "there and back, at the least";
  EXPECT_LE(slow, 200 * 8 * 1e-3);
  EXPECT_LT(fast, slow / 5);
}

TEST(Predict, RealTimeInWhichAProgramSleepsCountsAndIsTold) {
  const auto ran = predict({"--json", "-n", "2", program, "sleep", "300"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NEAR(json::parse(ran.out)["predictions"][0]["seconds"].get<double>(), 0.3, 0.05);
  EXPECT_THAT(ran.err, HasSubstr("on 2 nodes threads slept 0."));
}

TEST(Predict, RealTimeInWhichAProgramWaitsForASocketCountsAndIsTold) {
  const auto ran = predict({"--json", "-n", "2", program, "socket", "300"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NEAR(json::parse(ran.out)["predictions"][0]["seconds"].get<double>(), 0.3, 0.05);
  EXPECT_THAT(ran.err, HasSubstr("on 2 nodes threads slept 0."));
}

/// Threads that ask Quire for nothing, on machines with a core for each.
TEST(Predict, WorkOfThreadsOfANodeCounts) {
  const auto ran = predict({"--json", "-n", "1,2", "--threads", "2", program, "team", "200"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  for (const auto& one : json::parse(ran.out)["predictions"]) {
    EXPECT_NEAR(one["seconds"].get<double>(), 0.2, 0.05);
    EXPECT_NEAR(one["unseen_work_seconds"].get<double>(), 0.4 * one["nodes"].get<int>(), 0.1);
    EXPECT_GT(one["work_percent"], 80.0);
  }
  EXPECT_THAT(ran.err, HasSubstr("of the work is of threads while they ask Quire for nothing"));
}

TEST(Predict, NodesOfAHostUseNoLink) {
  const auto alone = predictions({"-n", "2", "--network", "1g", program, "turns", "200"});
  const auto together = predictions({"-n", "2", "--per-host", "2", "--network", "1g", program, "turns", "200"});
  ASSERT_EQ(alone.size() + together.size(), 2u);
  EXPECT_GT(alone[0]["busiest_link_percent"], 0.0);
  EXPECT_EQ(together[0]["busiest_link_percent"], 0.0);
  EXPECT_LT(together[0]["seconds"].get<double>(), alone[0]["seconds"].get<double>() / 2);
}

/// What the program's nodes would decide depends on how long messages take: so they take as long while it runs.
TEST(Predict, TheRunHasTheNetworksLatency) {
  const auto delay = [](const words& how) {
    words all{"-n", "4", "--show"};
    all.insert(all.end(), how.begin(), how.end());
    for (const char* const word : {"/bin/sh", "-c", "echo delay $QUIRE_DELAY."}) all.emplace_back(word);
    return predict(all).out;
  };
  EXPECT_THAT(delay({"--network", "1g"}), testing::ContainsRegex("delay [1-9][0-9.]*:[1-9][0-9.]*:1\\."));
  EXPECT_THAT(delay({"--network", "1g", "--per-host", "2"}),
              testing::ContainsRegex("delay [1-9][0-9.]*:[1-9][0-9.]*:2\\."));
  EXPECT_THAT(delay({"--network", "1g", "--per-host", "4"}), HasSubstr("delay .")) << "no link is used";
  EXPECT_THAT(delay({"--network", "loopback"}), HasSubstr("delay ."));
  const auto wrong = run({QUIRE_TOOL, "run", "-n", "2", program, "work", "10"}, {{"QUIRE_DELAY", "soon"}});
  EXPECT_NE(wrong.status, 0);
  EXPECT_THAT(wrong.err, HasSubstr("QUIRE_DELAY=soon: microseconds, MB/s and nodes of a host, as in 50:118:1"));
}

/// Threads that had not asked for anything when the run was ended have done what nobody knows.
TEST(Predict, ARunThatWasEndedInTheMidstOfWorkSaysSo) {
  const auto ran = predict({"-n", "2", "--seconds", "2", QUIRE_PROGRAMS "/predict_threads", "300000"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("before the run was ended: what it did then is not in the prediction"));
}

/// Two threads of the program: on one node, and each on one of its own.
TEST(Predict, APlainProgramWithThreads) {
  const json all = predictions({"-n", "1,2", "--network", "10g", QUIRE_PROGRAMS "/predict_threads", "300"});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_NEAR(all[0]["seconds"].get<double>(), 0.3, 0.15);
  EXPECT_NEAR(all[1]["seconds"].get<double>(), 0.3, 0.15);
  EXPECT_GT(all[1]["messages"], 0);
}

TEST(Predict, APlainProgramWithOpenMP) {
  const std::string jacobi = QUIRE_BINARY_DIR "/tests/openmp/openmp_jacobi";
  if (!std::filesystem::exists(jacobi)) GTEST_SKIP() << "programs with OpenMP have not been built";
  const json all = predictions({"-n", "1,2", "--threads", "2", "--network", "10g", jacobi, "64", "20"});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_GT(all[0]["seconds"], 0.0);
  EXPECT_GT(all[1]["messages"], 0);
  EXPECT_GT(all[1]["barriers_percent"], 0.0);
}

TEST(Predict, APythonProgram) {
  const std::string python = "/usr/bin/python3";
  if (run({python, "-c", "import numpy"}).status != 0) GTEST_SKIP() << "there is no numpy";
  char name[] = "/tmp/quire-predict-test-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string file = std::string(name) + "/shares.py";
  std::ofstream(file) << "import time\nimport quire as q\ncells = q.zeros(4096)\n"
                         "until = time.thread_time() + 0.4 / q.nodes\nwhile time.thread_time() < until: pass\n"
                         "cells[q.node] = 1\nq.barrier()\nassert cells[: q.nodes].sum() == q.nodes\n";
  const json all = predictions({"-n", "1,2", "--network", "10g", python, file});
  std::filesystem::remove_all(name);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_GT(all[0]["seconds"], 0.4);
  EXPECT_GT(all[1]["seconds"], 0.2);
  EXPECT_LT(all[1]["seconds"], all[0]["seconds"]);
}

TEST(Predict, TheAdvisorEndsWithACommand) {
  const auto ran = predict({"-n", "1,2", "--network", "ib-hdr", "--auto", program, "work", "400"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, testing::EndsWith("\nOMP_NUM_THREADS=2 quire run -n 2 " + program + " work 400\n"));
  EXPECT_THAT(predict({"--auto", "--json", program, "work", "10"}).err, HasSubstr("without --json and --seconds"));
}

/// Whether the command has this option. Where the machine is busy the advisor may take another one as well, or see no
/// gain.
bool ends_with_option(const command_result& ran, const std::string& option) {
  return ran.status == 0 && last_line(ran.out).find(" " + option + " ") != std::string::npos;
}
command_result predict_until(const words& how, const std::string& option) {
  constexpr int most = 3;
  auto ran = predict(how);
  for (int again = 1; again < most && !ends_with_option(ran, option); ++again) ran = predict(how);
  return ran;
}

/// The command as it is printed does what was predicted.
void runs(const std::string& line) {
  const auto ran = run({"/bin/sh", "-c", "PATH=$(dirname " QUIRE_TOOL "):$PATH; " + line});
  EXPECT_EQ(ran.status, 0) << line << ran.err;
}

/// Two threads write other lines of the same pages all the time, on machines with one core each.
TEST(Predict, TheAdvisorGivesReleaseToAProgramThatGainsByIt) {
  const auto ran = predict_until(
      {"-n", "1,2", "--cores", "1", "--network", "10g", "--auto", QUIRE_PROGRAMS "/predict_threads", "200", "lines"},
      "--memory auto");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("quire predict: runs on 2 nodes ...")) << "progress";
  EXPECT_THAT(ran.err, HasSubstr("tried --memory auto on 2 nodes, because waiting for pages takes "));
  EXPECT_THAT(last_line(ran.out), HasSubstr(" quire run -n 2 "));
  EXPECT_TRUE(ends_with_option(ran, "--memory auto")) << ran.out << ran.err;
  runs(last_line(ran.out));
}

TEST(Predict, TheAdvisorLeavesAProgramOnOneNodeThatMustStayThere) {
  const auto ran =
      predict({"-n", "1,2", "--network", "1g", "--auto", QUIRE_PROGRAMS "/predict_threads", "20", "turns"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(last_line(ran.out), HasSubstr(" quire run -n 1 " QUIRE_PROGRAMS "/predict_threads 20 turns")) << ran.err;
  runs(last_line(ran.out));
}

TEST(Predict, TheAdvisorGivesLargerUnitsToAProgramThatWantsThem) {
  const auto ran = predict_until({"-n", "1,2", "--network", "10g", "--auto", program, "sweep", "6"}, "--set unit=64K");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("tried --set unit=64K on 2 nodes, because threads wait "));
  EXPECT_THAT(last_line(ran.out), HasSubstr(" quire run -n 2 "));
  EXPECT_TRUE(ends_with_option(ran, "--set unit=64K")) << ran.out << ran.err;
  runs(last_line(ran.out));
}

TEST(Predict, TheAdvisorOfAProgramThatDoesNotEndSaysSo) {
  const auto ran = predict({"-n", "1,2", "--auto", "--within", "2", program, "ever"});
  EXPECT_EQ(ran.status, 125);
  EXPECT_LT(ran.seconds, 20);
  EXPECT_THAT(ran.err, HasSubstr("had not ended after "));
  EXPECT_THAT(ran.err, testing::Not(HasSubstr("what the job waits for"))) << "nobody asked, and it was to end";
  EXPECT_THAT(ran.err, testing::Not(HasSubstr("its time limit is over")));
}

TEST(Predict, TheAdvisorOfAProgramThatFailsSaysSo) {
  const auto ran = predict({"-n", "1,2", "--auto", program, "fail"});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("on 1 nodes the program ended with status 3"));
}

/// What the user has set stays as it is, in the command, too. Without, the advisor tries --memory for this program.
TEST(Predict, OptionsOfTheUsersAreThoseOfEveryRun) {
  const auto ran = predict({"-n", "1,2", "--cores", "1", "--memory", "sequential", "--set", "read_ahead=0", "--auto",
                            QUIRE_PROGRAMS "/predict_threads", "200", "lines"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, testing::Not(HasSubstr("tried --memory")));
  EXPECT_THAT(last_line(ran.out), HasSubstr(" --memory sequential --set read_ahead=0 "));
  EXPECT_THAT(predict({"-n", "1", "--set", "nonsense=1", program, "work", "10"}).err, HasSubstr("nonsense"));
  EXPECT_THAT(predict({"-n", "1", "--memory", "none", program}).err, HasSubstr("--memory"));
}

/// Wherever it is set: without, the advisor tries larger units for this program, and --memory for that one.
TEST(Predict, TheAdvisorTriesNothingThatTheUserHasSet) {
  const words sweep{"-n", "1,2", "--network", "10g", "--auto", "--set", "unit=4K", program, "sweep", "6"};
  const words same{"-n", "1,2", "--network", "10g", "--auto", program, "sweep", "6"};
  for (const auto& ran : {predict(sweep), predict(same, "", {{"QUIRE_UNIT", "4K"}})}) {
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("looks where the program waits on 2 nodes"));
    EXPECT_THAT(ran.err, testing::Not(HasSubstr("tried --set unit=")));
  }
  const auto lines = predict({"-n", "1,2", "--cores", "1", "--network", "10g", "--auto", QUIRE_TOOL, "exec", "--memory",
                              "sequential", QUIRE_PROGRAMS "/predict_threads", "200", "lines"});
  ASSERT_EQ(lines.status, 0) << lines.err;
  EXPECT_THAT(lines.err, testing::Not(HasSubstr("tried --memory")));
}

TEST(Predict, StandardInputThatDoesNotEndIsRefused) {
  const auto ran = run({"/bin/sh", "-c", "sleep 4 | " QUIRE_TOOL " predict -n 1 --seconds 1 " + program + " input"});
  EXPECT_EQ(ran.status, 125);
  EXPECT_THAT(ran.err, HasSubstr("standard input has not ended after 1 s"));
  EXPECT_THAT(ran.err, HasSubstr("< /dev/null"));
}

TEST(Predict, EachRunReadsAllOfStandardInput) {
  const auto piped = predict({"-n", "1,2", program, "input"}, "all of it\n");
  EXPECT_EQ(piped.status, 0) << piped.err;
  char name[] = "/tmp/quire-predict-test-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string file = std::string(name) + "/input";
  std::ofstream(file) << "all of it\n";
  const auto shell = run({"/bin/sh", "-c", QUIRE_TOOL " predict -n 1,2 " + program + " input <" + file});
  std::filesystem::remove_all(name);
  EXPECT_EQ(shell.status, 0) << shell.err;
  const auto none = predict({"-n", "1,2", program, "input"});
  EXPECT_EQ(none.status, 5);
  EXPECT_THAT(none.err, HasSubstr("on 1 nodes the program ended with status 5"));
  const auto late =
      run({"/bin/sh", "-c", "(sleep 6; echo all of it) | " QUIRE_TOOL " predict -n 1 " + program + " input"});
  EXPECT_EQ(late.status, 0) << late.err;
  EXPECT_THAT(late.err, HasSubstr("waits for the end of standard input"));
}

/// 16 nodes on the cores that are here: at most three times what as many runs on one core would take.
TEST(Predict, ManyNodesAreCheap) {
  constexpr double own_s = 0.5, nodes = 16;
  const auto ran = predict({"--json", "-n", "16", "--network", "25g", program, "work", "500"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_LE(ran.seconds, 3 * own_s * nodes);
  EXPECT_NEAR(json::parse(ran.out)["predictions"][0]["seconds"].get<double>(), own_s / nodes, own_s / nodes);
}

/// Nothing is more than the whole, of the shortest programs either.
TEST(Predict, SharesOfAShortProgramAreShares) {
  for (const auto& one : predictions({"-n", "1,2,4", program, "turns", "4"})) {
    const auto share = [&](const char* of) { return one[std::string(of) + "_percent"].get<double>(); };
    EXPECT_NEAR(share("work") + share("faults") + share("barriers") + share("locks") + share("other"), 100, 0.1);
  }
}

TEST(Predict, ReasonsNameTheLineThatWaits) {
  const auto ran = predict({"-n", "1,2", "--network", "1g", "--why", program, "turns", "200"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("on 2 nodes "));
  EXPECT_THAT(ran.out, HasSubstr(" % of the waiting for pages, at predict_program.cpp:"));
}

TEST(Predict, ThePageHoldsWhatItShows) {
  char name[] = "/tmp/quire-predict-test-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string file = std::string(name) + "/gain.html";
  const auto ran = predict({"-n", "1,2", "--why", "-o", file, program, "turns", "50"});
  std::ifstream from(file);
  const std::string page{std::istreambuf_iterator<char>(from), {}};
  std::filesystem::remove_all(name);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string mark = R"(<script type="application/json" id="data">)";
  const auto begin = page.find(mark);
  ASSERT_NE(begin, std::string::npos);
  const auto data = begin + mark.size();
  const json all = json::parse(page.substr(data, page.find("</script>", data) - data));
  ASSERT_EQ(all["predictions"].size(), 2u);
  EXPECT_EQ(all["command"], "quire predict -n 1,2 --network 10g " + program + " turns 50");
  ASSERT_GE(all["reasons"].size(), 1u);
  EXPECT_THAT(all["reasons"][0].get<std::string>(), HasSubstr("on 2 nodes "));
  const auto& grid = all["predictions"][1]["grid"];
  ASSERT_EQ(grid.size(), all["latencies_us"].size());
  ASSERT_EQ(grid[0].size(), all["megabytes_a_second"].size());
  EXPECT_GT(grid.back()[0]["seconds"], 10 * grid[0].back()["seconds"].get<double>()) << "latency counts";
  EXPECT_EQ(page.find("://"), page.find("://www.w3.org/2000/svg")) << "nothing is fetched";
}

TEST(Predict, AProgramThatFailsIsNotPredicted) {
  const auto ran = predict({"-n", "2", program, "fail"});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("on 2 nodes the program ended with status 3"));
}

TEST(Predict, AProgramThatDoesNotEndIsCut) {
  const json all = predictions({"-n", "1,2", "--seconds", "1", "--network", "ib-hdr", program, "ever"});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1]["was_cut"], true);
  EXPECT_GT(all[1]["speed_up"], 0.0);
}

TEST(Predict, WhatIsNoUseIsRefused) {
  const auto refused = [](const words& how) { return predict(how).err; };
  EXPECT_THAT(refused({"--network", "25gb", program}), HasSubstr("did you mean 25g?"));
  EXPECT_THAT(refused({"--network", "/etc/passwd", program}), HasSubstr("is no file of a network: line 1"));
  EXPECT_THAT(refused({"--network", "/tmp", program}), HasSubstr("--network /tmp: neither a file nor one of"));
  EXPECT_THAT(refused({"-n", "0", program}), HasSubstr("numbers from 1 to 1024"));
  EXPECT_THAT(refused({"-n", "1,two", program}), HasSubstr("-n 1,two: numbers from 1 to 1024"));
  for (const char* const numbers : {"2000", "-1", "", "1,,2", "1,2,", "2.5", "99999999999"})
    EXPECT_THAT(refused({"-n", numbers, program}), HasSubstr("umber")) << numbers;
  for (const char* const option : {"--per-host", "--threads", "--cores", "--speed", "--seconds", "--within"})
    for (const char* const value : {"0", "-1", "many", "1e99", "nan"})
      EXPECT_THAT(refused({option, value, "-n", "1", program}), HasSubstr(option)) << value;
  EXPECT_THAT(refused({"--cores", "2", "--per-host", "4", program}), HasSubstr("a host with 4 nodes"));
  EXPECT_THAT(refused({"-o", "/nowhere/gain.html", program}), HasSubstr("cannot write /nowhere/gain.html"));
  EXPECT_THAT(refused({"-n", "1", "/nowhere/program"}), HasSubstr("/nowhere/program"));
  EXPECT_THAT(refused({"-n", "1", ""}), HasSubstr("which program?"));
  EXPECT_THAT(refused({"-n", "2"}), HasSubstr("which program?"));
  EXPECT_THAT(refused({"--netwrok", "1g", program}), HasSubstr("did you mean --network?"));
  EXPECT_THAT(refused({"-n", "1", "/bin/true"}), HasSubstr("did not use Quire"));
}

}  // namespace
}  // namespace quire::test::predict_test
