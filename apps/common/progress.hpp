// SPDX-License-Identifier: BSD-3-Clause
// Progress on standard error while a run lasts: one line that grows on a terminal, a line now and then elsewhere.
// Used by one thread of one node.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

namespace apps {

class progress {
 public:
  progress(std::string label, std::size_t total, bool wanted)
      : label_(std::move(label)), total_(total), terminal_(isatty(STDERR_FILENO) != 0), wanted_(wanted && total > 0) {}

  /// `done` of `total` is finished.
  void show(std::size_t done) {
    if (!wanted_) return;
    const int step = terminal_ ? 1 : 20;
    const int percent = static_cast<int>(done * 100 / total_) / step * step;
    if (percent <= shown_) return;
    shown_ = percent;
    std::fprintf(stderr, "%s%s %3d %%%s", terminal_ ? "\r" : "", label_.c_str(), percent,
                 !terminal_ || percent == 100 ? "\n" : "");
  }

 private:
  std::string label_;
  std::size_t total_;
  bool terminal_;
  bool wanted_;
  int shown_ = 0;
};

}  // namespace apps
