// SPDX-License-Identifier: BSD-3-Clause
// The table of protocols: each kind of message is one protocol's, and docs/limits.md says of each consistency what its
// row says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "protocol/table/table.hpp"

namespace quire::protocol::protocol_table_test {
namespace {

using model::message_kind;
using testing::AnyOf;

/// Of all tables that a job may have.
std::vector<const row*> all_rows() {
  std::vector<const row*> all(built_in().begin(), built_in().end());
  for (const row* const r : with_token()) {
    if (std::ranges::find(all, r) == all.end()) all.push_back(r);
  }
  return all;
}

TEST(protocol_table, has_each_protocol_once) {
  std::set<std::string> names;
  for (const row* const r : all_rows()) EXPECT_TRUE(names.insert(r->name).second);
  for (const auto table : {built_in(), with_token()}) {
    std::set<unsigned> ids;
    for (const row* const r : table) {
      EXPECT_TRUE(ids.insert(r->id.value()).second);
      EXPECT_NE(r->make_domain, nullptr);
      EXPECT_NE(r->make_machine, nullptr);
    }
    EXPECT_EQ(ids, (std::set<unsigned>{0, 1, 2})) << "what programs ask for: quire_consistency";
  }
}

/// Of each kind about units there is one row; what the core itself asks of nodes with memory limits, and with stores,
/// is no protocol's.
TEST(protocol_table, has_each_message_once) {
  std::map<unsigned, std::string> owner;
  for (const row* const r : all_rows()) {
    for (const message_traits& m : r->messages) {
      const auto [at, fresh] = owner.emplace(static_cast<unsigned>(m.kind), r->name);
      EXPECT_TRUE(fresh) << "kind " << at->first << " is of " << at->second << " and of " << r->name;
    }
  }
  for (auto k = static_cast<unsigned>(message_kind::read_request); k < static_cast<unsigned>(message_kind::other_first);
       ++k) {
    const auto kind = static_cast<message_kind>(k);
    const bool of_stores = kind == message_kind::write_back || kind == message_kind::written_back;
    const bool of_core = kind == message_kind::please_take || kind == message_kind::room || of_stores;
    EXPECT_EQ(owner.contains(k), !of_core) << "kind " << k;
  }
  EXPECT_FALSE(owner.contains(static_cast<unsigned>(message_kind::other_first)));
}

std::string plain(std::string cell) {
  std::erase_if(cell, [](char c) { return c == '*' || c == '`'; });
  const auto first = cell.find_first_not_of(' '), last = cell.find_last_not_of(' ');
  return first == std::string::npos ? "" : cell.substr(first, last - first + 1);
}

/// The first table of docs/limits.md: by row and column.
std::map<std::string, std::map<std::string, std::string>> limits() {
  std::ifstream file(QUIRE_SOURCE_DIR "/docs/limits.md");
  std::map<std::string, std::map<std::string, std::string>> table;
  std::vector<std::string> head;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] != '|') {
      if (!head.empty()) break;
      continue;
    }
    std::vector<std::string> cells;
    std::istringstream in(line.substr(1));
    for (std::string cell; std::getline(in, cell, '|');) cells.push_back(plain(cell));
    if (head.empty()) {
      head = cells;
    } else {
      for (std::size_t i = 1; i < cells.size() && i < head.size(); ++i) table[cells[0]][head[i]] = cells[i];
    }
  }
  return table;
}

TEST(protocol_table, is_what_people_read) {
  const auto table = limits();
  EXPECT_EQ(table.size() - 1, std::size(named_abilities)) << "a row for each, beside that of lines";
  for (const row* const r : all_rows()) {
    for (const ability& a : named_abilities) {
      const std::string says = table.at(a.name).at(std::string(r->name) + " consistency");
      EXPECT_THAT(says, AnyOf("yes", "no"));
      EXPECT_EQ(says == "yes", r->can.*a.flag) << a.name << " and " << r->name << " consistency";
    }
  }
}

}  // namespace
}  // namespace quire::protocol::protocol_table_test
