// SPDX-License-Identifier: BSD-3-Clause
// Which line of the user's program a call comes from, by addr2line (binutils).
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace quire::tools {

/// For calls "file+0x1234" the functions and lines there, inlined ones too, the innermost first.
class source_lines {
 public:
  struct line {
    std::string function, file;
    int number = 0;  ///< 0: not known
  };
  /// Looks all of them up, one process a file. Calls that cannot be looked up are left out.
  explicit source_lines(std::span<const std::vector<std::string>> stacks);
  /// The innermost line of the user's own program: not of the C++ library, nor of Quire's headers. "heat.cpp:57 in
  /// make_grid()"; without debug information the function's name, of a stub of the linker that of the function it
  /// calls, or the place in the file; empty if nothing is known.
  [[nodiscard]] std::string own_line(const std::vector<std::string>& calls) const;
  /// The same; empty without debug information.
  [[nodiscard]] std::string line_of(const std::vector<std::string>& calls) const;

 private:
  /// Of one call; empty: not known, or not of the program.
  [[nodiscard]] std::string line_at(const std::string& call) const;
  [[nodiscard]] std::string function_at(const std::string& call) const;
  /// Names what calls in `file` jump to, where they are stubs of the linker.
  void find_stubs(const std::string& file, const std::set<std::string>& offsets);
  std::map<std::string, std::vector<line>> lines_;
  std::map<std::string, std::string> jumps_to_;  ///< by call: the function's name
};

}  // namespace quire::tools
