// SPDX-License-Identifier: BSD-3-Clause
// What the counts of all nodes for one unit say: false sharing (nodes use different parts of it, and at least one
// writes), true sharing (they use the same), or both; and what to do. Pure: the `quire` command calls it after the job,
// with what nodes have told.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sharing/parts.hpp"

namespace quire::sharing {

/// What one node did with a unit.
struct node_use {
  int node = 0;
  std::uint64_t moves = 0, ns = 0;
  std::array<std::uint64_t, lines> reads{};
  std::array<std::uint64_t, words> writes{};
};

/// A thing of the program that has bytes on the unit: an allocation, or a static object.
struct object {
  std::uint64_t address = 0, bytes = 0;
  std::string name{};
};

struct unit_use {
  int region = 0;
  std::uint64_t address = 0, bytes = 0;
  bool release = false;              ///< has release consistency
  std::vector<node_use> nodes{};     ///< those that have told of it
  std::vector<object> objects{};     ///< as far as they are known
  std::string data{};                ///< "file+0x1234" of static data
  std::vector<std::string> calls{};  ///< that led to an allocation there, "file+0x1234", the innermost first
};

enum class sharing_kind : std::uint8_t {
  none,     ///< one node, or nobody writes, or it came back a few times only
  falsely,  ///< nodes use different parts
  truly,    ///< nodes use the same parts
  both,
};

/// So often a unit must come back to nodes, all together, before anything is said of it.
inline constexpr std::uint64_t least_switches = 16;

/// What a node did there, without what happened by the way.
struct spots {
  line_mask read{};
  word_mask written{};
  /// What is read of a line that is written, too, is taken to be what is written.
  [[nodiscard]] word_mask used() const noexcept { return written | words_of(read & ~lines_of(written)); }
};

struct verdict {
  sharing_kind kind = sharing_kind::none;
  std::uint64_t switches = 0, ns = 0;  ///< of all nodes
  line_mask shared{};                  ///< lines of which several nodes use the same, and one writes
  std::vector<spots> of_nodes{};       ///< by entry of unit_use::nodes
};

/// Two nodes that write one line use the same if they write the same words of it. Of a node that only reads a line the
/// first word that it touches says little of what it reads: it uses the same as who writes the line.
[[nodiscard]] verdict judge(const unit_use& unit);

/// What to do about it: the rest of a sentence, and maybe more. Empty for sharing_kind::none.
[[nodiscard]] std::string advice(const unit_use& unit, const verdict& of);

/// The objects that have some of these words, in the order of their addresses.
[[nodiscard]] std::vector<object> objects_in(const unit_use& unit, const word_mask& parts);

/// "0", "0-3, 17": the numbers of what is set, each and the next ones as `scale` of them.
template <std::size_t N>
[[nodiscard]] std::string ranges_of(const std::bitset<N>& mask, std::uint64_t scale = 1) {
  std::string text;
  for (std::size_t first = 0; first < N; ++first) {
    if (!mask[first]) continue;
    std::size_t end = first + 1;
    while (end < N && mask[end]) ++end;
    if (!text.empty()) text += ", ";
    text += std::to_string(first * scale);
    if (end * scale - 1 != first * scale) text += "-" + std::to_string(end * scale - 1);
    first = end;
  }
  return text;
}

}  // namespace quire::sharing
