// SPDX-License-Identifier: BSD-3-Clause
// Every option that is a size or a count, at its smallest and its largest legal value: a small job runs. Just beyond,
// it is refused by its name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "command.hpp"

namespace quire::test::limits_test {
namespace {

using testing::HasSubstr;

const std::string program = QUIRE_PROGRAMS "/limits_program";

struct extremes {
  const char* name;
  const char* least;
  const char* most;
  const char* below;
  const char* above;
};
constexpr extremes all[] = {
    {"QUIRE_RANGE", "4M", "64T", "2M", "67108866M"},
    {"QUIRE_BASE", "0x10000000", "0x7e0000000000", "0xfe00000", "0x7e0000200000"},
    {"QUIRE_SPIN_US", "0", "1000000", "-2", "1000001"},
    {"QUIRE_PEER_TIMEOUT", "0", "86400", "-1", "86401"},
    {"QUIRE_PIN_LIMIT", "1", "1048576", "0", "1048577"},
    {"QUIRE_RESTART_EVERY", "0", "1000000", "-1", "1000001"},
    {"QUIRE_REPLICAS", "0", "1", "-1", "2"},
    {"QUIRE_ORDERS", "0", "2", "-1", "3"},
    {"QUIRE_MEMORY_LIMIT", "1M", "64T", "1048575", "70368744177665"},
    {"QUIRE_CACHE_LIMIT", "1M", "64T", "1048575", "70368744177665"},
    {"QUIRE_WRITE_BACK", "0", "86400", "-1", "86401"},
    {"QUIRE_IO_TIMEOUT", "0", "86400", "-1", "86401"},
    {"QUIRE_CHECKPOINT_KEEP", "1", "1000", "0", "1001"},
    {"QUIRE_TWIN_LIMIT", "64K", "1T", "65535", "1099511627777"},
    {"QUIRE_FREE_BATCH", "1", "62", "0", "63"},
    {"QUIRE_UNIT", "4K", "2M", "2K", "4M"},
    {"QUIRE_HEAP_VIEWS", "0", "256", "-1", "257"},
    {"QUIRE_NODES", "1", "1024", "0", "1025"},
    {"QUIRE_RANK", "0", "1023", "-2", "1024"},
    {"QUIRE_SIZE", "1", "1024", "0", "1025"},
    {"QUIRE_RENDEZVOUS_TIMEOUT", "1", "86400", "0", "86401"},
};

class extreme : public testing::TestWithParam<extremes> {
 protected:
  /// A job with the option at `value`.
  static command_result job_with(const std::string& name, const std::string& value) {
    command::settings environment = {{name, value}};
    std::vector<std::string> words = {QUIRE_TOOL, "run", "--timeout", "50"};
    if (name == "QUIRE_NODES") {  // the whole of so many jobs would take long
      words.push_back("true");
      return run(words, environment);
    }
    const bool smallest_range = name == "QUIRE_RANGE" && value == "4M";  // for one node: the range has a part for each
    words.insert(words.end(), {"-n", smallest_range ? "1" : "2"});
    if (name == "QUIRE_RANGE" && value == "64T")
      environment.emplace_back("QUIRE_BASE", "0x10000000");  // below the program
    if (name == "QUIRE_BASE") environment.emplace_back("QUIRE_RANGE", "8M");
    const bool replicas = name == "QUIRE_REPLICAS" && value == "1";
    if (replicas) environment.emplace_back("QUIRE_ON_FAILURE", "notify");
    words.insert(words.end(), {program, "4096", replicas ? "sequential" : "release"});
    if (name != "QUIRE_CHECKPOINT_KEEP") return run(words, environment);
    char directory[] = "/tmp/quire_limits_XXXXXX";
    if (::mkdtemp(directory) == nullptr) return {};
    words.push_back(directory);
    const auto result = run(words, environment);
    std::size_t kept = 0;
    for (const auto& one : std::filesystem::directory_iterator(directory)) kept += one.is_directory() ? 1 : 0;
    std::filesystem::remove_all(directory);
    EXPECT_EQ(kept, value == "1" ? 1u : 3u);
    return result;
  }
};

TEST_P(extreme, the_smallest_value_works) {
  const auto result = job_with(GetParam().name, GetParam().least);
  EXPECT_EQ(result.status, 0) << result.err;
}
TEST_P(extreme, the_largest_value_works) {
  const auto result = job_with(GetParam().name, GetParam().most);
  EXPECT_EQ(result.status, 0) << result.err;
}
TEST_P(extreme, beyond_it_is_refused_by_its_name) {
  for (const char* const value : {GetParam().below, GetParam().above}) {
    const auto result = run({QUIRE_TOOL, "run", "-n", "2", "true"}, {{GetParam().name, value}});
    EXPECT_EQ(result.status, 125) << value;
    EXPECT_THAT(result.err, HasSubstr(std::string(GetParam().name) + "=" + value + " is not allowed"));
  }
}
INSTANTIATE_TEST_SUITE_P(all, extreme, testing::ValuesIn(all),
                         [](const auto& info) { return std::string(info.param.name + 6); });

TEST(extremes, of_all_sizes_and_counts_are_tried) {
  std::set<std::string> tried;
  for (const auto& e : all) tried.insert(e.name);
  for (const auto& row : base::option_table()) {
    using base::option_type;
    const bool has_extremes =
        row.type == option_type::number || row.type == option_type::bytes || row.type == option_type::address;
    EXPECT_EQ(tried.contains(row.variable), has_extremes) << row.variable;
  }
}

/// Two options at a time, one of which limits what the other needs: the job runs, or is refused by the name of one of
/// them.
TEST(limits_below_a_unit, fewest_twins_serve_units_of_every_size) {
  for (const char* const unit : {"4096", "65536", "262144", "2097152"}) {
    const auto region =
        run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "50", program, unit, "release"}, {{"QUIRE_TWIN_LIMIT", "64K"}});
    EXPECT_EQ(region.status, 0) << unit << region.err;
    const auto heap = run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "50", program, "4096", "release"},
                          {{"QUIRE_TWIN_LIMIT", "64K"}, {"QUIRE_UNIT", unit}, {"QUIRE_CONSISTENCY", "release"}});
    EXPECT_EQ(heap.status, 0) << unit << heap.err;
  }
}
TEST(limits_below_a_unit, little_memory_serves_units_of_a_sixteenth_and_names_the_limit_for_others) {
  for (const char* const consistency : {"release", "sequential"}) {
    const auto fits = run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "50", program, "65536", consistency},
                          {{"QUIRE_MEMORY_LIMIT", "1M"}});
    EXPECT_EQ(fits.status, 0) << consistency << fits.err;
    const auto larger = run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "50", program, "131072", consistency},
                            {{"QUIRE_MEMORY_LIMIT", "1M"}});
    EXPECT_NE(larger.status, 0);
    EXPECT_THAT(larger.err, HasSubstr("QUIRE_MEMORY_LIMIT"));
  }
}
TEST(limits_below_a_unit, too_small_a_range_for_the_nodes_or_the_unit_is_refused_by_its_name) {
  const std::pair<const char*, const char*> small[] = {{"4K", "4M"}, {"2M", "8M"}};
  for (const auto& [unit, range] : small) {
    const auto result = run({QUIRE_TOOL, "run", "-n", "4", "--timeout", "50", program, "4096", "release"},
                            {{"QUIRE_RANGE", range}, {"QUIRE_UNIT", unit}});
    EXPECT_NE(result.status, 0);
    EXPECT_THAT(result.err, HasSubstr("set QUIRE_RANGE to"));
  }
}

}  // namespace
}  // namespace quire::test::limits_test
