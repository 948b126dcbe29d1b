// SPDX-License-Identifier: BSD-3-Clause
// What a node says when somebody wants it to leave its job (`quire leave`): to the launcher, which passes it on to who
// asked.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace quire::bootstrap {

struct leave_word {
  enum class what : std::uint32_t {
    asked,    ///< nothing keeps it, and its program has not looked yet
    noticed,  ///< its program knows
    goes,     ///< quire_leave() runs
    not_now,  ///< it was tried, and refused; it may be tried again
    never,
    last = never
  };
  what state = what::asked;
  std::uint64_t units = 0;  ///< that have not gone yet, of `goes`
  std::string text{};       ///< why not, for people; of `not_now` and `never`
};

[[nodiscard]] inline std::string pack(const leave_word& word) {
  std::string packed(sizeof word.state + sizeof word.units, '\0');
  std::memcpy(packed.data(), &word.state, sizeof word.state);
  std::memcpy(packed.data() + sizeof word.state, &word.units, sizeof word.units);
  return packed + word.text;
}

/// Nothing if it is no such word.
[[nodiscard]] inline std::optional<leave_word> unpack_leave_word(std::string_view packed) {
  leave_word word;
  constexpr std::size_t head = sizeof word.state + sizeof word.units;
  if (packed.size() < head) return std::nullopt;
  std::memcpy(&word.state, packed.data(), sizeof word.state);
  std::memcpy(&word.units, packed.data() + sizeof word.state, sizeof word.units);
  if (word.state > leave_word::what::last) return std::nullopt;
  word.text = packed.substr(head);
  return word;
}

}  // namespace quire::bootstrap
