// A set of measurements and the line of JSON that run.py reads: {"name", "unit", "count", "median", "min", "p90"}.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/clock.hpp"

namespace bench {

class samples {
 public:
  samples(std::string name, std::string unit) : name_(std::move(name)), unit_(std::move(unit)) {}

  void reserve(std::size_t count) { values_.reserve(count); }
  void add(double value) { values_.push_back(value); }
  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }

  /// The time, in microseconds, that `work` takes.
  template <class Work>
  void time(Work&& work) {
    const std::uint64_t start = now_ns();
    work();
    add(static_cast<double>(now_ns() - start) / 1000);
  }

  /// The same values under another name.
  [[nodiscard]] samples renamed(std::string name) const {
    samples other = *this;
    other.name_ = std::move(name);
    return other;
  }
  [[nodiscard]] double median() const { return quantile(0.5); }

  void print() const {
    if (empty()) return;
    fmt::print("{{\"name\": \"{}\", \"unit\": \"{}\", \"count\": {}, \"median\": {:.6g}, \"min\": {:.6g}, \"p90\": {:.6g}}}\n",
               name_, unit_, values_.size(), median(), quantile(0), quantile(0.9));
    std::fflush(stdout);
  }

 private:
  [[nodiscard]] double quantile(double share) const {
    auto sorted = values_;
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size() - 1));
    std::nth_element(sorted.begin(), at, sorted.end());
    return *at;
  }

  std::string name_, unit_;
  std::vector<double> values_;
};

}  // namespace bench
