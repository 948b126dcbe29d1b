// SPDX-License-Identifier: BSD-3-Clause
// Standard input for a program that is run several times: each run reads the same, from the beginning.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace quire::tools {

class kept_input {
 public:
  static constexpr double usual_seconds = 60;
  /// With `keeps` standard input becomes what each run can read: a pipe is read to its end first, a terminal is not
  /// read at all. What there is to say to people goes to `say`. Without `keeps` nothing is done. A pipe must end
  /// within `seconds`, and hold no more than memory can.
  kept_input(bool keeps, double seconds, const std::function<void(const std::string&)>& say);
  /// A sentence: runs would not read what they should. Empty: they do.
  [[nodiscard]] const std::string& why_not() const noexcept { return why_not_; }
  /// Before each run.
  void rewind() const;

 private:
  std::int64_t begin_ = -1;  ///< -1: it is no file
  std::string why_not_{};
};

}  // namespace quire::tools
