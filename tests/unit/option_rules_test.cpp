// SPDX-License-Identifier: BSD-3-Clause
// Options that do not go with one another, and the table of docs/limits.md, which says the same.
#include "base/option_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace quire::base::option_rules_test {
namespace {

using testing::HasSubstr;
using testing::IsNull;

TEST(option_rules, let_the_defaults_pass) { EXPECT_THAT(broken_rule(option_values()), IsNull()); }

/// Makes one side of a rule hold.
void bring_about(const option_state& s, option_values& values) {
  const option_row& row = row_of(s.which);
  if (s.how == option_state::kind::is) values.set(s.which, s.value);
  if (s.how != option_state::kind::set) return;
  if (row.type == option_type::path || row.type == option_type::text) return values.set(s.which, "/somewhere");
  values.set(s.which, row.bounds.most);
}

TEST(option_rules, refuse_both_sides_and_neither_alone) {
  for (const option_rule& r : option_rules()) {
    option_values both;
    bring_about(r.one, both);
    bring_about(r.other, both);
    EXPECT_TRUE(r.one.holds(both) && r.other.holds(both)) << r.why;
    const option_rule* const broken = broken_rule(both);
    ASSERT_NE(broken, nullptr) << r.why;
    option_values other;
    bring_about(r.other, other);
    EXPECT_FALSE(r.one.holds(other)) << r.why;
    EXPECT_NE(r.status, QUIRE_OK);
    EXPECT_THAT(r.why, HasSubstr(row_of(r.one.which).variable)) << "names what to change";
  }
}

TEST(option_rules, are_named_as_people_write_them) {
  const option_rule& first = option_rules().front();
  EXPECT_EQ(first.one.text(), "QUIRE_HEAP_GROUPING");
  EXPECT_EQ(first.other.text(), "no QUIRE_HEAP_VIEWS");
  EXPECT_EQ((option_state{option::pool, option_state::kind::is, static_cast<int>(pool_choice::fork)}).text(),
            "QUIRE_POOL=fork");
}

/// Rows of the table in docs/limits.md whose first cell begins with an option.
std::set<std::string> rows_of_page() {
  std::ifstream file(QUIRE_SOURCE_DIR "/docs/limits.md");
  std::set<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) inside = line == "## Options that do not go together";
    if (inside && line.starts_with("| `")) rows.insert(line);
  }
  return rows;
}

TEST(option_rules, are_what_people_read) {
  std::set<std::string> wanted;
  for (const option_rule& r : option_rules()) {
    const std::string status = r.status == QUIRE_UNSUPPORTED ? "QUIRE_UNSUPPORTED" : "QUIRE_BAD_OPTION";
    wanted.insert("| `" + r.one.text() + "` | `" + r.other.text() + "` | `" + status + "` |");
  }
  EXPECT_EQ(rows_of_page(), wanted) << "docs/limits.md has other rows than src/base/option_rules.cpp";
}

}  // namespace
}  // namespace quire::base::option_rules_test
