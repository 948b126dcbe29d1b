// SPDX-License-Identifier: BSD-3-Clause
// A place in a program's code that tells how its threads synchronise, beside the calls of OpenMP: what `--memory auto`
// looks for (README.md).
#pragma once

#include <array>
#include <cstdint>

namespace quire::program::sites {

enum class site_kind : std::uint8_t {
  update,       ///< reads and writes memory in one step: an instruction with LOCK, or xchg
  fence,        ///< mfence, or an update of the stack that changes nothing
  spin,         ///< pause: a loop that waits for a plain variable
  transaction,  ///< xbegin
};

struct site {
  static constexpr std::uint8_t most_bytes = 15;

  std::uint64_t address = 0;
  site_kind kind = site_kind::update;
  std::uint8_t length = 0;
  // Of an update: what is needed to execute it elsewhere, and to compute the address of its operand.
  std::array<std::uint8_t, most_bytes> bytes{};
  std::uint8_t modrm_at = 0;         ///< where in `bytes` the operand's description begins
  std::uint8_t displacement_at = 0;  ///< where its displacement stands, if it has one
  std::uint8_t rex = 0;              ///< the prefix that extends its registers; 0: none
  bool has_displacement = false;
  bool relative = false;     ///< to the instruction's end
  bool harmless = false;     ///< the operand lies on the stack, or is thread-local
  bool keeps_flags = false;  ///< it reads flags, or leaves some as they are
  bool movable = true;       ///< false: of a form that Quire does not execute elsewhere
};

}  // namespace quire::program::sites
