// SPDX-License-Identifier: BSD-3-Clause
// Two sides that are measured in turn, in one process: what one takes, to what the other does.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "common/samples.hpp"

namespace bench {

class ratio {
 public:
  ratio(const std::string& name, const std::string& unit)
      : rounds_(name + " ratio", unit), least_(name + " least", unit) {}
  /// What each took in a round.
  void add(double one, double other) {
    rounds_.add(one / other);
    one_ = std::min(one_, one);
    other_ = std::min(other_, other);
  }
  /// The ratios of the rounds; and that of the least times, which other work on the machine disturbs less. Nothing if
  /// nothing was measured.
  void print() {
    if (rounds_.empty()) return;
    rounds_.print();
    least_.add(one_ / other_);
    least_.print();
  }

 private:
  samples rounds_, least_;
  double one_ = std::numeric_limits<double>::infinity(), other_ = one_;
};

}  // namespace bench
