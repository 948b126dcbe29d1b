// SPDX-License-Identifier: BSD-3-Clause
// Instructions of x86-64, by Zydis. Its library is loaded when it is needed first: a Quire without it runs, and finds
// no sites.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "program/sites/effects.hpp"
#include "program/sites/site.hpp"

namespace quire::program::sites {

struct instruction {
  std::uint8_t length = 0;
  bool is_site = false;
  site what{};         ///< if it is one, with its address
  bool jumps = false;  ///< to `target`, directly
  std::uint64_t target = 0;
};

class decoder {
 public:
  /// Null with the reason in `why`, which follows "as".
  [[nodiscard]] static const decoder* open(std::string& why);
  /// The instruction at the start of `code`. False if there is none, or not all of it.
  [[nodiscard]] bool decode(std::span<const std::byte> code, std::uint64_t address, instruction& into) const noexcept;
  /// The same, and what it does.
  [[nodiscard]] bool decode(std::span<const std::byte> code, std::uint64_t address, effects& into) const noexcept;

 private:
  decoder() = default;
};

}  // namespace quire::program::sites
