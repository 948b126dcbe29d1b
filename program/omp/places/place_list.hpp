// SPDX-License-Identifier: BSD-3-Clause
// Places as OMP_PLACES lists them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire::program {

/// A processor that the process may use, as the system describes it. Equal numbers stand for the same core, cache,
/// socket or memory.
struct processor {
  int number = 0, core = 0, cache = 0, socket = 0, memory = 0;
};

/// Processors by number.
struct processor_set {
  static constexpr int most = 1024;
  std::array<std::uint64_t, most / 64> words{};
  void add(int number) noexcept { words[static_cast<std::size_t>(number) / 64] |= std::uint64_t{1} << (number % 64); }
  void remove(int number) noexcept {
    words[static_cast<std::size_t>(number) / 64] &= ~(std::uint64_t{1} << (number % 64));
  }
  [[nodiscard]] bool has(int number) const noexcept {
    return number >= 0 && number < most && (words[static_cast<std::size_t>(number) / 64] >> (number % 64) & 1) != 0;
  }
  [[nodiscard]] int count() const noexcept {
    int all = 0;
    for (const std::uint64_t w : words) all += __builtin_popcountll(w);
    return all;
  }
  bool operator==(const processor_set&) const = default;
};

/// What a text says: "cores", "sockets(2)", "{0:4}:2:4,!{2}". Of its processors those count that are available; places
/// without one do not. Empty, and why, if the text says nothing of that kind, or no place is left.
[[nodiscard]] std::vector<processor_set> read_places(std::string_view text, std::span<const processor> available,
                                                     std::string& why);

/// "{0,1,2}" of a place, "{0:3}" if its processors follow each other.
[[nodiscard]] std::string text_of(const processor_set& p);

/// Which of `places` are those of one of several nodes on a host: blocks, and at least one.
struct part_of_host {
  std::size_t first = 0, count = 0;
};
[[nodiscard]] constexpr part_of_host part_of(std::size_t places, std::size_t node, std::size_t nodes) noexcept {
  if (places < nodes) return {node % places, 1};
  const std::size_t first = places * node / nodes;
  return {first, places * (node + 1) / nodes - first};
}

}  // namespace quire::program
