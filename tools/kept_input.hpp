// SPDX-License-Identifier: BSD-3-Clause
// Standard input for a program that is run several times: each run reads the same, from the beginning.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace quire::tools {

class kept_input {
 public:
  /// With `keeps` standard input becomes what each run can read: a pipe is read to its end first, a terminal is not
  /// read at all. What there is to say to people goes to `say`. Without `keeps` nothing is done.
  kept_input(bool keeps, const std::function<void(const std::string&)>& say);
  /// Before each run.
  void rewind() const;

 private:
  std::int64_t begin_ = -1;  ///< -1: it is no file
};

}  // namespace quire::tools
