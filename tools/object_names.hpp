// SPDX-License-Identifier: BSD-3-Clause
// Which static objects of the user's program lie in a range of memory, by nm (binutils).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sharing/verdict.hpp"

namespace quire::tools {

class object_names {
 public:
  struct range {
    std::string place;  ///< "file+0x1234", where it begins; empty: no static data
    std::uint64_t bytes = 0;
  };
  /// Reads the symbols of all files, one process each. A file that was stripped has none.
  explicit object_names(std::span<const range> ranges);
  /// "colidx", "grid, norm, sum, turn and 3 more": the largest first. Empty if no object of the range is known.
  [[nodiscard]] std::string in(const range& r) const;
  /// All of them, with addresses as if the range began at `address`.
  [[nodiscard]] std::vector<sharing::object> all_in(const range& r, std::uint64_t address) const;

 private:
  struct object {
    std::uint64_t first = 0, bytes = 0;
    std::string name;
  };
  std::map<std::string, std::vector<object>> by_file_;
};

}  // namespace quire::tools
