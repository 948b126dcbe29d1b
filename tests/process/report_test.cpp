// SPDX-License-Identifier: BSD-3-Clause
// `quire run --report`, `quire report`: the page names planted false sharing by its lines, its sums are those of the
// counters, and it needs nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"

namespace quire::test::report_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string program = std::string(QUIRE_PROGRAMS) + "/report_program";
const std::string source = std::string(QUIRE_SOURCE_DIR) + "/tests/process/report_program.cpp";

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// "report_program.cpp:17" for the line that says so.
std::string planted(const std::string& which) {
  std::ifstream file(source);
  int number = 1;
  for (std::string line; std::getline(file, line); ++number)
    if (line.ends_with("planted: " + which)) return "report_program.cpp:" + std::to_string(number) + " ";
  return "no such line";
}

using words = std::vector<std::string>;

json data_of(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="data">)";
  const std::size_t at = page.find(begin) + begin.size();
  return json::parse(page.substr(at, page.find("</script>", at) - at));
}

class Report : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/quire-report-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] command_result run_program(const std::string& how, const command::settings& more = {}) const {
    return run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "50", "--report", path("page.html"), "--perfetto",
                path("events.json"), program, how},
               more);
  }
  fs::path directory_;
};

/// The planted lines and bytes, by both nodes.
void expect_users(const json& data) {
  ASSERT_EQ(data["sharing"].size(), 1u) << data["sharing"];
  const json& found = data["sharing"][0];
  ASSERT_EQ(found["users"].size(), 2u);
  for (const json& user : found["users"]) {
    const bool even = user["node"] == 0;
    ASSERT_FALSE(user["lines"].empty()) << user;
    EXPECT_THAT(user["lines"][0]["line"].get<std::string>(), HasSubstr(planted(even ? "even" : "odd")));
    EXPECT_EQ(user["what"], even ? "writes bytes 0-7" : "writes bytes 512-519");
    EXPECT_EQ(user["objects"][0], "planted <words>");
  }
}

void expect_planted(const json& data, bool likely) {
  ASSERT_EQ(data["sharing"].size(), 1u) << data["sharing"];
  const json& found = data["sharing"][0];
  EXPECT_EQ(found["name"], "planted <words>");
  EXPECT_EQ(found["kind"], "false");
  EXPECT_EQ(found["likely"], likely);
  EXPECT_GT(found["ns"].get<std::uint64_t>(), 0u);
  EXPECT_THAT(found["allocated"].get<std::string>(), HasSubstr("report_program.cpp:"));
  expect_users(data);
}

TEST_F(Report, NamesPlantedFalseSharingByItsLines) {
  for (const char* const consistency : {"sequential", "release"}) {
    const auto result = run_program("plain", {{"QUIRE_CONSISTENCY", consistency}});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("the report is in " + path("page.html")));
    expect_planted(data_of(content_of(path("page.html"))), std::string(consistency) == "sequential");
    EXPECT_FALSE(fs::exists(path("page.html.records"))) << "the records go";
  }
}

TEST_F(Report, FaultsWithinTheCLibraryAreOfTheLineThatCallsIt) {
  for (const std::string what : {"copy", "sort"}) {
    const auto result = run_program(what == "copy" ? "memcpy" : "qsort");
    ASSERT_EQ(result.status, 0) << result.err;
    const json data = data_of(content_of(path("page.html")));
    ASSERT_EQ(data["sharing"].size(), 1u) << data["sharing"];
    for (const json& user : data["sharing"][0]["users"]) {
      std::string writes;  // what is compared is read elsewhere
      for (const json& line : user["lines"])
        if (line["writes"] > 0) writes += line["line"].get<std::string>() + "\n";
      EXPECT_THAT(writes, testing::StartsWith(planted((user["node"] == 0 ? "even " : "odd ") + what)));
    }
  }
}

TEST_F(Report, AReadBesideAMinipageIsOfThatMinipageAndOfNoneOfItsBytes) {
  const auto result = run_program("beside");
  ASSERT_EQ(result.status, 0) << result.err;
  const json data = data_of(content_of(path("page.html")));
  ASSERT_EQ(data["sharing"].size(), 1u) << data["sharing"];
  EXPECT_EQ(data["sharing"][0]["kind"], "false");
  EXPECT_EQ(data["sharing"][0]["bytes"], 512);
  for (const json& user : data["sharing"][0]["users"]) {
    if (user["node"] == 0) continue;
    EXPECT_EQ(user["what"], "writes bytes 256-263");
    EXPECT_THAT(user["lines"].dump(), HasSubstr(planted("beside")));
  }
}

TEST_F(Report, OfANodeThatIsKilledThereIsWhatItHadRecorded) {
  const auto result = run_program("die");
  EXPECT_EQ(result.status, 128 + 9) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the report is in " + path("page.html")));
  EXPECT_FALSE(fs::exists(path("page.html.records"))) << "nothing is left of the memory that was kept";
  const json data = data_of(content_of(path("page.html")));
  ASSERT_EQ(data["nodes"].size(), 2u);
  EXPECT_THAT(data["dead"], testing::Contains(1));
  const json& dead = data["nodes"][1];
  EXPECT_EQ(dead["phases"][0], "writes");
  ASSERT_FALSE(dead["threads"].empty());
  EXPECT_GT(dead["threads"][0]["waits"][1].get<std::uint64_t>(), 0u) << "it had waited to write";
  expect_users(data);
}

TEST_F(Report, OnOtherHostsToo) {
  const std::string agent = path("agent");
  std::ofstream(agent) << "#!/bin/sh\nexec sh -c \"$2\"\n";
  fs::permissions(agent, fs::perms::owner_all);
  const auto result = run({QUIRE_TOOL, "run", "--hosts", "a,b", "--agent", agent, "--timeout", "50", "--report",
                           path("page.html"), program, "die"});
  EXPECT_EQ(result.status, 128 + 9) << result.err;
  const json data = data_of(content_of(path("page.html")));
  EXPECT_EQ(data["nodes"].size(), 2u);
  EXPECT_THAT(data["dead"], testing::Contains(1));
}

TEST_F(Report, SumsAreThoseOfTheCounters) {
  ASSERT_EQ(run_program("plain").status, 0);
  const json data = data_of(content_of(path("page.html")));
  ASSERT_EQ(data["nodes"].size(), 2u);
  for (const json& node : data["nodes"]) {
    std::array<std::uint64_t, 5> waits{};
    std::uint64_t in_phase = 0;
    for (std::size_t i = 0; i < waits.size(); ++i) waits[i] = node["rest"][i];
    for (const json& thread : node["threads"]) {
      for (std::size_t i = 0; i < waits.size(); ++i) waits[i] += thread["waits"][i].get<std::uint64_t>();
      for (const json& phase : thread["phases"])
        if (phase[0] != 0) in_phase += phase[1].get<std::uint64_t>();
    }
    const auto counter = [&](const std::string& name) {
      for (const json& one : node["counters"])
        if (one[0] == name) return one[1].get<std::uint64_t>();
      return std::uint64_t{0};
    };
    EXPECT_GT(waits[1], 0u);
    EXPECT_EQ(waits[0] + waits[1], counter("fault_ns"));
    EXPECT_EQ(waits[2], counter("lock_ns"));
    EXPECT_EQ(waits[3], counter("barrier_ns"));
    EXPECT_GT(in_phase, 0u);
    EXPECT_GT(node["peers"][1 - node["node"].get<int>()][1].get<std::uint64_t>(), 4096u) << "units have moved";
  }
}

TEST_F(Report, PageNeedsNothingElseAndHoldsNoMarkupOfTheProgram) {
  ASSERT_EQ(run_program("plain").status, 0);
  const std::string page = content_of(path("page.html"));
  EXPECT_LT(page.size(), 5u << 20);
  EXPECT_THAT(page, Not(HasSubstr("http:")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  EXPECT_THAT(page, Not(HasSubstr(" src=")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("<words>")));
  const json data = data_of(page);
  EXPECT_FALSE(data["maps"].empty());
  EXPECT_EQ(data["nodes"][0]["phases"][0], "writes");
}

TEST_F(Report, EventsAreStrictlyNested) {
  ASSERT_EQ(run_program("plain").status, 0);
  const json events = json::parse(content_of(path("events.json")));
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> of_threads;
  int phases = 0;
  for (const json& e : events["traceEvents"]) {
    if (e["ph"] != "X") continue;
    phases += e["name"] == "writes" ? 1 : 0;
    of_threads[{e["pid"], e["tid"]}].emplace_back(e["ts"], e["ts"].get<double>() + e["dur"].get<double>());
  }
  EXPECT_GE(phases, 2);
  EXPECT_GE(of_threads.size(), 2u);
  constexpr double rounding_us = 0.002;
  for (auto& [thread, all] : of_threads) {
    std::ranges::sort(
        all, [](const auto& a, const auto& b) { return a.first != b.first ? a.first < b.first : a.second > b.second; });
    std::vector<double> open;
    for (const auto& [begin, end] : all) {
      while (!open.empty() && open.back() <= begin + rounding_us) open.pop_back();
      if (!open.empty()) {
        EXPECT_LE(end, open.back() + rounding_us);
      }
      open.push_back(end);
    }
  }
}

TEST_F(Report, AnExitLeavesARecordToo) {
  const auto result = run_program("exit");
  ASSERT_EQ(result.status, 0) << result.err;
  const json data = data_of(content_of(path("page.html")));
  EXPECT_EQ(data["nodes"].size(), 2u);
}

TEST_F(Report, RecordsOfAnotherLauncherBecomeAPageLater) {
  const std::string records = path("records");
  ASSERT_EQ(run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "50", program}, {{"QUIRE_REPORT", records}}).status, 0);
  EXPECT_TRUE(fs::exists(fs::path(records) / "quire.1.record"));
  ASSERT_EQ(run({QUIRE_TOOL, "report", records, "-o", path("later.html")}).status, 0);
  EXPECT_EQ(data_of(content_of(path("later.html")))["nodes"].size(), 2u);
  // A node without a record is told, and a damaged one refused.
  fs::remove(fs::path(records) / "quire.0.record");
  ASSERT_EQ(run({QUIRE_TOOL, "report", records, "-o", path("later.html")}).status, 0);
  EXPECT_EQ(data_of(content_of(path("later.html")))["size"], 2);
  fs::resize_file(fs::path(records) / "quire.1.record", 1000);
  const auto damaged = run({QUIRE_TOOL, "report", records, "-o", path("later.html")});
  EXPECT_EQ(damaged.status, 125);
  EXPECT_THAT(damaged.err, HasSubstr("quire.1.record: it is damaged, or cut off"));
}

TEST_F(Report, OfAProgramThatWasBuiltAnewHasNoNamesOfTheNewOne) {
  const std::string copy = path("copy"), records = path("records");
  fs::copy_file(program, copy);
  ASSERT_EQ(run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "50", copy}, {{"QUIRE_REPORT", records}}).status, 0);
  const auto report = [&] { return run({QUIRE_TOOL, "report", records, "-o", path("page.html")}); };
  EXPECT_EQ(report().err, "");
  EXPECT_THAT(content_of(path("page.html")), HasSubstr(planted("even")));
  fs::remove(copy);
  fs::copy_file(QUIRE_TOOL, copy);
  const auto result = report();
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err,
            "quire report: " + copy + " was built anew since the job began: lines and names of it are left out\n");
  EXPECT_THAT(content_of(path("page.html")), Not(HasSubstr(planted("even"))));
}

TEST_F(Report, OneJobAtATimeWritesIt) {
  const std::string quire = QUIRE_TOOL, page = path("page.html");
  const auto both =
      run({"sh", "-c",
           "\"$0\" run -n 1 --report \"$1\" sleep 100 & first=$!; until test -d \"$1.records\"; do sleep 0.1; "
           "done; sleep 0.3; \"$0\" run -n 1 --report \"$1\" \"$2\"; status=$?; kill $first; wait $first; exit $status",
           quire, page, program});
  EXPECT_EQ(both.status, 125) << both.err;
  EXPECT_THAT(both.err,
              HasSubstr("--report " + page + ": another job that runs now writes it: give this one a file of its own"));
  EXPECT_EQ(run_program("plain").status, 0);
}

TEST_F(Report, WhatCannotBeWrittenIsNoSuccess) {
  const std::string full = path("full.html");
  fs::create_symlink("/dev/full", full);
  const words wanted[] = {{"--report", full}, {"--perfetto", full}, {"--stats=" + full}};
  for (const words& option : wanted) {
    words all{QUIRE_TOOL, "run", "-n", "1"};
    all.insert(all.end(), option.begin(), option.end());
    all.push_back(program);
    const auto result = run(all);
    EXPECT_EQ(result.status, 125) << option[0] << result.err;
    EXPECT_THAT(result.err, HasSubstr("cannot write")) << option[0];
    EXPECT_THAT(result.err, HasSubstr("No space left on device")) << option[0];
  }
  for (const char* const rest : {"info", "info --options", "--version", "config --libs", "run --help"}) {
    const auto result = run({"sh", "-c", std::string("\"$0\" ") + rest + " >/dev/full", QUIRE_TOOL});
    EXPECT_EQ(result.status, 125) << rest;
    EXPECT_THAT(result.err,
                testing::AnyOf(HasSubstr("No space left on device"), HasSubstr("cannot write to standard output")))
        << rest;
  }
}

TEST_F(Report, OfWhatLiesWhereRecordsDoOnlyRecordsGo) {
  fs::create_directory(path("page.html.records"));
  std::ofstream(path("page.html.records/quire.7.record")) << "of a job before";
  std::ofstream(path("page.html.records/mine")) << "precious";
  const auto result = run_program("plain");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the report is in"));
  EXPECT_EQ(content_of(path("page.html.records/mine")), "precious");
  EXPECT_FALSE(fs::exists(path("page.html.records/quire.7.record")));
  EXPECT_EQ(run({QUIRE_TOOL, "run", "-n", "1", "--report", "/proc/page.html", program}).status, 125);
}

TEST_F(Report, RefusesWhatItCannotUse) {
  EXPECT_THAT(run({QUIRE_TOOL, "report", path("nowhere"), "-o", "x"}).err, HasSubstr("cannot read the directory"));
  EXPECT_THAT(run({QUIRE_TOOL, "report", directory_, "-o", "x"}).err, HasSubstr("there is no record in"));
  EXPECT_THAT(run({QUIRE_TOOL, "report", directory_}).err, HasSubstr("what shall be made?"));
  std::ofstream(path("quire.0.record")) << "something else";
  EXPECT_THAT(run({QUIRE_TOOL, "report", directory_, "-o", "x"}).err, HasSubstr("it is no record of a node"));
  const auto unwritable = run({QUIRE_TOOL, "run", "-n", "1", program}, {{"QUIRE_REPORT", "/proc/nothing"}});
  EXPECT_NE(unwritable.status, 0);
  EXPECT_THAT(unwritable.err, HasSubstr("(QUIRE_REPORT)"));
}

}  // namespace
}  // namespace quire::test::report_test
