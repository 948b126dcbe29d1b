// SPDX-License-Identifier: BSD-3-Clause
// The table of options: parsing, bounds, names, suggestions.
#include "base/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "base/log.hpp"

namespace quire::base::options_test {
namespace {

using ::testing::HasSubstr;

result<option_values> read(std::initializer_list<const char*> environment, std::string& why) {
  std::vector<const char*> entries(environment);
  entries.push_back(nullptr);
  return read_options(entries.data(), why);
}

TEST(OptionTable, RowsStandInTheOrderOfTheEnumeration) {
  std::set<std::string> names;
  int position = 0;
  for (const auto& row : option_table()) {
    EXPECT_EQ(static_cast<int>(row.id), position++) << row.variable;
    EXPECT_EQ(&row_of(row.id), &row);
    EXPECT_TRUE(std::string_view(row.variable).starts_with("QUIRE_"));
    names.insert(row.variable);
    std::string why;
    EXPECT_TRUE(parse_option(row, row.standard, why).ok()) << why;
  }
  EXPECT_EQ(names.size(), option_count);
}

TEST(OptionTable, ProgramsNeedFew) {
  const auto rows = option_table();
  EXPECT_LE(std::ranges::count(rows, option_use::programs, &option_row::use), 15);
  EXPECT_GT(std::ranges::count(rows, option_use::experiments, &option_row::use), 15);
}

TEST(OptionTable, ANumberIsBetweenItsBoundsOrBesideThem) {
  for (const auto& row : option_table()) {
    const auto& [least, most, multiple, power_of_two, besides] = row.bounds;
    if (row.type == option_type::path || row.type == option_type::text) continue;
    EXPECT_LT(least, most) << row.variable;
    EXPECT_TRUE(is_legal(row, least) && is_legal(row, most)) << row.variable;
    EXPECT_EQ(is_legal(row, least - 1), besides == least - 1) << row.variable;
    EXPECT_FALSE(is_legal(row, most + 1)) << row.variable;
    EXPECT_EQ(is_legal(row, 0), besides == 0 || least == 0) << row.variable;
  }
}

TEST(Options, DefaultsWithoutAnEnvironment) {
  std::string why;
  const auto values = read({"PATH=/bin", "QUIREX=1"}, why);
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values.value().choice<transport_choice>(option::transport), transport_choice::automatic);
  EXPECT_EQ(values.value().choice<pool_choice>(option::pool), pool_choice::memfd);
  EXPECT_EQ(values.value().number(option::range), 1LL << 40);
  EXPECT_EQ(values.value().number(option::base), 0x200000000000);
  EXPECT_EQ(values.value().number(option::spin_us), spin_automatic);
  EXPECT_TRUE(values.value().flag(option::read_ahead));
  EXPECT_EQ(values.value().number(option::unit), 4096);
  EXPECT_EQ(values.value().choice<log_level>(option::log), log_level::warning);
  EXPECT_FALSE(values.value().given(option::range));
}

TEST(Options, AreReadFromTheEnvironment) {
  std::string why;
  const auto values = read(
      {"QUIRE_TRANSPORT=tcp", "QUIRE_DETECT=segv", "QUIRE_RANGE=64g", "QUIRE_BASE=300000000000", "QUIRE_SPIN_US=-1",
       "QUIRE_READ_AHEAD=0", "QUIRE_UNIT=2M", "QUIRE_LOG=debug", "QUIRE_NODES=", "QUIRE_TAG=1"},
      why);
  ASSERT_TRUE(values.ok()) << why;
  EXPECT_EQ(values.value().choice<transport_choice>(option::transport), transport_choice::tcp);
  EXPECT_EQ(values.value().choice<detect_choice>(option::detect), detect_choice::segv);
  EXPECT_EQ(values.value().number(option::range), 64LL << 30);
  EXPECT_EQ(values.value().number(option::base), 0x300000000000);
  EXPECT_EQ(values.value().number(option::spin_us), spin_automatic);
  EXPECT_FALSE(values.value().flag(option::read_ahead));
  EXPECT_EQ(values.value().number(option::unit), 2 << 20);
  EXPECT_EQ(values.value().choice<log_level>(option::log), log_level::debug);
  EXPECT_TRUE(values.value().given(option::range));
  EXPECT_FALSE(values.value().given(option::nodes)) << "an empty value means the default";
}

TEST(Options, BadValuesAreRefusedByName) {
  for (const char* entry : {"QUIRE_TRANSPORT=udp",
                            "QUIRE_TRANSPORT=TCP",
                            "QUIRE_RANGE=1T1",
                            "QUIRE_RANGE=65T",
                            "QUIRE_RANGE=1M",
                            "QUIRE_RANGE=3000001",
                            "QUIRE_RANGE=-2M",
                            "QUIRE_RANGE=99999999999T",
                            "QUIRE_RANGE=K",
                            "QUIRE_RANGE= 4M",
                            "QUIRE_BASE=0x1000",
                            "QUIRE_BASE=0x200000001000",
                            "QUIRE_BASE=0xffffffffffffffffff",
                            "QUIRE_BASE=zz",
                            "QUIRE_SPIN_US=-2",
                            "QUIRE_SPIN_US=1000001",
                            "QUIRE_SPIN_US=1.5",
                            "QUIRE_READ_AHEAD=2",
                            "QUIRE_READ_AHEAD=yes",
                            "QUIRE_READ_AHEAD=-1",
                            "QUIRE_UNIT=5K",
                            "QUIRE_UNIT=2K",
                            "QUIRE_UNIT=4M",
                            "QUIRE_UNIT=12K",
                            "QUIRE_NODES=0",
                            "QUIRE_NODES=1025",
                            "QUIRE_LOG=loud"}) {
    std::string why;
    EXPECT_EQ(read({entry}, why).why(), QUIRE_BAD_OPTION) << entry;
    EXPECT_TRUE(why.starts_with(entry)) << why;
  }
}

TEST(Options, UnknownNamesAreRefusedWithTheNearest) {
  const std::pair<const char*, const char*> cases[] = {
      {"QUIRE_TRANPORT=shm", "did you mean QUIRE_TRANSPORT?"}, {"QUIRE_READAHEAD=1", "did you mean QUIRE_READ_AHEAD?"},
      {"QUIRE_RNAGE=1T", "did you mean QUIRE_RANGE?"},         {"QUIRE_SPIN=3", "did you mean QUIRE_SPIN_US?"},
      {"QUIRE_log=info", "did you mean QUIRE_LOG?"},           {"QUIRE_DETECTOR", "did you mean QUIRE_DETECT?"}};
  for (const auto& [entry, suggestion] : cases) {
    std::string why;
    EXPECT_EQ(read({entry}, why).why(), QUIRE_BAD_OPTION) << entry;
    EXPECT_THAT(why, HasSubstr(suggestion));
  }
  std::string why;
  EXPECT_FALSE(read({"QUIRE_COMPLETELY_DIFFERENT=1"}, why).ok());
  EXPECT_EQ(why.find("did you mean"), why.npos) << why;
}

TEST(Options, WrongValuesAreRefusedWithTheNearestRightOne) {
  const std::pair<const char*, const char*> cases[] = {{"QUIRE_DETECT=userfalt", "userfault"},
                                                       {"QUIRE_DETECT=SEGV", "segv"},
                                                       {"QUIRE_TRANSPORT=TCP", "tcp"},
                                                       {"QUIRE_TRANSPORT=smh", "shm"},
                                                       {"QUIRE_POOL=mem", "memfd"},
                                                       {"QUIRE_LOG=warn", "warning"},
                                                       {"QUIRE_CONSISTENCY=relaese", "release"},
                                                       {"QUIRE_READ_AHEAD=yes", "1"},
                                                       {"QUIRE_TAG=OFF", "0"},
                                                       {"QUIRE_READ_AHEAD=2", "1"},
                                                       {"QUIRE_SPIN_US=atuo", "auto"},
                                                       {"QUIRE_SPIN_US=-2", "auto"},
                                                       {"QUIRE_SPIN_US=1000001", "1000000"},
                                                       {"QUIRE_NODES=0", "1"},
                                                       {"QUIRE_NODES=2000", "1024"},
                                                       {"QUIRE_UNIT=5K", "4K"},
                                                       {"QUIRE_UNIT=7K", "8K"},
                                                       {"QUIRE_UNIT=64KiB", "64K"},
                                                       {"QUIRE_UNIT=64kb", "64K"},
                                                       {"QUIRE_UNIT=1G", "2M"},
                                                       {"QUIRE_RANGE=1", "4M"},
                                                       {"QUIRE_RANGE=65T", "64T"},
                                                       {"QUIRE_RANGE=7M", "8M"},
                                                       {"QUIRE_MEMORY_LIMIT=64", "1M"},
                                                       {"QUIRE_BASE=0x1000", "0x10000000"},
                                                       {"QUIRE_BASE=0x200000001000", "0x200000000000"},
                                                       {"QUIRE_PEER_TIMEOUT=5s", "5"},
                                                       {"QUIRE_PEER_TIMEOUT=100000", "86400"}};
  for (const auto& [entry, nearest] : cases) {
    std::string why;
    EXPECT_EQ(read({entry}, why).why(), QUIRE_BAD_OPTION) << entry;
    EXPECT_THAT(why, HasSubstr(std::string(entry) + " is not allowed; did you mean " + nearest + "? It may be "))
        << entry;
    // What is proposed is allowed.
    const std::string name = std::string(entry).substr(0, std::string_view(entry).find('='));
    EXPECT_TRUE(parse_option(*find_option(name), nearest, why).ok()) << why;
  }
  for (const char* entry :
       {"QUIRE_TRANSPORT=rc", "QUIRE_DETECT=x", "QUIRE_LOG=loud", "QUIRE_UNIT=many", "QUIRE_SPIN_US=1.5"}) {
    std::string why;
    EXPECT_FALSE(read({entry}, why).ok());
    EXPECT_EQ(why.find("did you mean"), why.npos) << why;
  }
}

TEST(Options, VariablesOfTheLauncherAreAccepted) {
  std::string why;
  EXPECT_TRUE(read({"QUIRE_JOB_FD=5", "QUIRE_JOB_NODE=0", "QUIRE_JOB_NODES=2", "QUIRE_JOB_LOCAL=2",
                    "QUIRE_FAIL=memfd:1:28", "QUIRE_EXEC_LD_PRELOAD=x", "QUIRE_EXEC_STACK=y"},
                   why)
                  .ok())
      << why;
}

TEST(Options, NamesMayBeWrittenShort) {
  for (const char* name : {"QUIRE_READ_AHEAD", "read_ahead", "read-ahead", "Read-Ahead"}) {
    ASSERT_NE(find_option(name), nullptr) << name;
    EXPECT_EQ(find_option(name)->id, option::read_ahead);
  }
  EXPECT_EQ(find_option("readahead"), nullptr);
  EXPECT_EQ(find_option(""), nullptr);
}

/// The manual tells of each option in the words of the table.
TEST(OptionTable, StandsInTheManual) {
  std::ifstream file(QUIRE_SOURCE_DIR "/docs/quire.7");
  const std::string manual{std::istreambuf_iterator<char>(file), {}};
  const auto escaped = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('-', at)) != text.npos; at += 2) text.insert(at, 1, '\\');
    return text;
  };
  for (const auto& row : option_table()) {
    const std::string standard = *row.standard == '\0' ? "none" : row.standard;
    const std::string entry = ".TP\n.B " + std::string(row.variable) + "\n" + escaped(row.meaning) + ".\n.br\n" +
                              escaped(row.legal) + "; default " + escaped(standard) + ".\n";
    EXPECT_THAT(manual, HasSubstr(entry)) << "docs/quire.7, ENVIRONMENT, should have this entry";
  }
}

TEST(NearestWord, IsTheOneWithTheFewestEdits) {
  const std::string_view words[] = {"--tag", "--timeout", "--stats"};
  EXPECT_EQ(nearest_word("--tga", words), "--tag");
  EXPECT_EQ(nearest_word("--time-out", words), "--timeout");
  EXPECT_EQ(nearest_word("--frobnicate", words), "");
}

}  // namespace
}  // namespace quire::base::options_test
