// SPDX-License-Identifier: BSD-3-Clause
// The table of counters: where values come from, and sums over regions.
#include "core/counter_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cctype>
#include <set>
#include <string>

#include "base/add_counts.hpp"

namespace quire::core::counter_table_test {
namespace {

constexpr std::size_t source_count = sizeof(counter_sources) / sizeof(std::uint64_t);

/// A node that has counted `value` in its n-th number, and nothing else.
counter_sources only(std::size_t n, std::uint64_t value) {
  std::array<std::uint64_t, source_count> words{};
  words[n] = value;
  return std::bit_cast<counter_sources>(words);
}

TEST(CounterTable, EachNumberIsToldByOneCounterAtMost) {
  std::set<std::string> told;
  for (std::size_t n = 0; n < source_count; ++n) {
    const counter_row* by = nullptr;
    for (const counter_row& row : counter_table) {
      const std::uint64_t value = row.value(only(n, 7));
      if (value == 0) continue;
      EXPECT_EQ(value, 7u) << row.name;
      EXPECT_EQ(by, nullptr) << row.name << " and " << by->name << " count the same";
      by = &row;
      told.insert(row.name);
    }
  }
  EXPECT_EQ(told.size(), std::size(counter_table)) << "a counter that counts nothing";
}

TEST(CounterTable, BothConsistenciesCountWhatTheyShare) {
  counter_sources all;
  all.sequential.read_faults = 3, all.release.read_faults = 4;
  all.sequential.pin_waits = 5, all.release.pin_waits = 6;
  all.wire.refused = 1, all.refused = 2;
  all.release.kept = 8;
  quire_counters read{};
  read_counters(all, read);
  EXPECT_EQ(read.read_faults, 7u);
  EXPECT_EQ(read.pin_waits, 11u);
  EXPECT_EQ(read.messages_refused, 3u);
  EXPECT_EQ(read.units_kept, 8u);
  EXPECT_EQ(read.write_faults, 0u);
}

TEST(CounterTable, RowsHaveASentence) {
  for (const counter_row& row : counter_table) {
    const std::string meaning = row.meaning;
    EXPECT_FALSE(meaning.empty() || meaning.ends_with('.') || std::islower(static_cast<unsigned char>(meaning[0])))
        << row.name;
  }
}

TEST(AddCounts, AddsEveryField) {
  using words = std::array<std::uint64_t, sizeof(release::counters) / sizeof(std::uint64_t)>;
  words first{}, second{};
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = i, second[i] = 100 * i + 1;
  auto sum = std::bit_cast<release::counters>(first);
  base::add_counts(sum, std::bit_cast<release::counters>(second));
  const auto found = std::bit_cast<words>(sum);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], 101 * i + 1);
}

}  // namespace
}  // namespace quire::core::counter_table_test
