// SPDX-License-Identifier: BSD-3-Clause
// Which word of a command line is the program, where another one stands before it that only starts it: nice, time, env,
// `quire exec` itself. Asked by `quire run`, once for all nodes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace quire::tools {

struct found_program {
  std::size_t at = 0;    ///< the program's word
  bool by_exec = false;  ///< `quire exec` stands before it, at `exec_at`; between them are its options
  std::size_t exec_at = 0;
  std::string why_not;  ///< a sentence: nothing can be started so
};

/// Looks through programs of the system of which only the last word counts. What it does not know is the program.
[[nodiscard]] found_program find_program_in(const std::vector<std::string>& words);

/// A program that `quire exec` could start, in the arguments of another one (valgrind ./program), or in the text of a
/// script: it would run as copies. Empty if there is none, or if `quire exec` stands before it.
[[nodiscard]] std::string hidden_program(const std::vector<std::string>& words);

}  // namespace quire::tools
