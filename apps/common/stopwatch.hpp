// SPDX-License-Identifier: BSD-3-Clause
// Seconds since construction.
#pragma once

#include <chrono>

namespace apps {

class stopwatch {
 public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
};

}  // namespace apps
