// SPDX-License-Identifier: BSD-3-Clause
// A set of measurements and the line of JSON that run.py reads: {"name", "unit", "count", "median", "mean", "min",
// "p90"}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.hpp"

namespace bench {

class samples {
 public:
  samples(std::string name, std::string unit) : name_(std::move(name)), unit_(std::move(unit)) {
    values_.reserve(1 << 15);
  }

  void add(double value) { values_.push_back(value); }
  /// All of another set too.
  void append(const samples& other) { values_.insert(values_.end(), other.values_.begin(), other.values_.end()); }
  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }

  /// Adds the time, in microseconds, that `work` takes.
  template <class Work>
  void time(Work&& work) {
    const std::uint64_t start = now_ns();
    work();
    add(static_cast<double>(now_ns() - start) / 1000);
  }

  [[nodiscard]] double median() const { return quantile(0.5); }
  /// The same values under another name.
  [[nodiscard]] samples renamed(std::string name) const {
    samples other = *this;
    other.name_ = std::move(name);
    return other;
  }
  /// Prints the line; nothing if nothing was measured.
  void print() const;

 private:
  [[nodiscard]] double quantile(double share) const;

  std::string name_, unit_;
  std::vector<double> values_;
};

}  // namespace bench
