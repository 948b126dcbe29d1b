// SPDX-License-Identifier: BSD-3-Clause
// Histories of transactions whose values tell who wrote them, and whether some serial order explains what all attempts
// have seen. Pure: it knows nothing of nodes, pages and protocols.
//
// After Elle (Kingsbury and Alvaro, VLDB 2020), whose anomalies have the names of Adya's thesis: a write that is read
// (wr), versions of a variable that follow each other (ww), a read whose version is overwritten (rw), and an attempt
// that ends before another one begins (real time) order two attempts. The order of versions is known, and not inferred:
// it is that of publication. A cycle is what no serial order explains. Aborted attempts are in it as transactions that
// only read: no body, even one that will not commit, may see a mixture (opacity; Guerraoui and Kapalka, PPoPP 2008).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace quire::sim::history {

/// The initial value of each variable. Nobody writes it.
inline constexpr std::uint64_t initial = 0;

struct operation {
  std::uint64_t variable = 0;
  std::uint64_t value = 0;  ///< seen or written; no value is written twice in a history
  bool writes = false;
};

/// One execution of a transaction's body. Positions are in one order of all events of the history; `begin`, `published`
/// and `end` ascend.
struct attempt {
  unsigned node = 0;
  std::uint64_t number = 0;  ///< of the attempt on its node, for people
  bool committed = false;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< its commit or abort is known here
  std::uint64_t published =
      0;  ///< its writes are visible from here on. Of committed attempts that write; no two have the same
  std::vector<operation> operations{};  ///< in the order of the program
  /// Where commits are seen at once on their own node only: by node, up to which position it has been told of what
  /// others had ended before it began, and is behind that. Empty: behind all that has ended.
  std::vector<std::uint64_t> knows{};
};

/// A variable, for people.
using variable_name = std::function<std::string(std::uint64_t variable)>;

/// What is wrong with a history, a text each: first reads of values that no committed attempt has published, reads that
/// miss an attempt's own writes, and what no history can contain (a value written twice, say); then cycles, the
/// shortest ones first, each with its edges, one a line. Of attempts that are in cycles together one shortest cycle is
/// told. Nothing: the history is strictly serializable, and all its attempts were opaque. Time: O(n log n) for n
/// operations of a history without errors.
[[nodiscard]] std::vector<std::string> find_errors(std::span<const attempt> all, const variable_name& name = {});

/// The same as one text; empty if nothing is wrong.
[[nodiscard]] std::string check(std::span<const attempt> all, const variable_name& name = {});

}  // namespace quire::sim::history
