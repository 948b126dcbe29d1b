// SPDX-License-Identifier: BSD-3-Clause
// Files read whole: small ones, and those of /proc, whose process may end meanwhile.
#pragma once

#include <string>

namespace quire::os {

struct file_content {
  std::string text;  ///< as far as it came
  int error = 0;     ///< errno of what went wrong; 0: this is all
};

/// Throws nothing for what goes wrong with the file, unlike the iterators of std::streambuf.
[[nodiscard]] file_content content_of(const std::string& path);

}  // namespace quire::os
