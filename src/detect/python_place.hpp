// SPDX-License-Identifier: BSD-3-Clause
// Which line of Python the calling thread is at. CPython 3.11 to 3.13, as built by default, keeps for each thread a
// chain of frames; a thread that faults looks at its own, with or without the interpreter's lock: nothing else changes
// it meanwhile. Nothing of it is written, and no object of Python is made. Where there is another version, or no
// Python, no line is known. Lines are numbers from `first_line` on, which no address has; what they stand for is kept
// until the end of the process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::detect {

inline constexpr std::uint64_t first_line = 0xfff0'0000'0000'0000;

struct python_line {
  const char* file;  ///< its path, cut on the left where it is long
  const char* function;
  int number;
};

/// Looks for Python among what is loaded. Not for handlers.
void look_for_python() noexcept;
/// The line of the program that the calling thread is at: of the innermost frame that is not of an installed package;
/// 0: none is known. Fault context.
[[nodiscard]] std::uint64_t python_place() noexcept;
/// How many numbers there may be, and what first_line + n stands for: a line of number 0 for nothing yet. Any thread.
[[nodiscard]] std::size_t python_lines() noexcept;
[[nodiscard]] python_line python_line_at(std::size_t n) noexcept;

}  // namespace quire::detect
