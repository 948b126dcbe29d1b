// SPDX-License-Identifier: BSD-3-Clause
// The workers of a plain program: the threads of one OpenMP team, or a single one where OpenMP is off. The counterpart
// of crew.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "common/report.hpp"
#include "common/settings.hpp"
#include "common/stopwatch.hpp"
#include "common/worker.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace apps {

#ifdef _OPENMP
inline constexpr const char* plain_variant = "openmp";
inline std::size_t thread_number() { return static_cast<std::size_t>(omp_get_thread_num()); }
inline std::size_t thread_count() { return static_cast<std::size_t>(omp_get_num_threads()); }
#else
inline constexpr const char* plain_variant = "serial";
inline std::size_t thread_number() { return 0; }
inline std::size_t thread_count() { return 1; }
#endif

class openmp_crew {
 public:
  class member;

  explicit openmp_crew(const run_settings& wanted) : threads_(wanted.threads) {
    for (auto& round : partial_) round.resize(static_cast<std::size_t>(threads_));
  }

  /// Runs set_up(me), then compute(me), on every worker, and fills in the times of the report.
  template <class SetUp, class Compute>
  void run(report& result, const SetUp& set_up, const Compute& compute);

 private:
  struct alignas(64) values {
    std::array<double, most_values> of;
  };

  int threads_;
  /// By round and thread. Two rounds: a thread that is ahead writes into one while others still read the other.
  std::array<std::vector<values>, 2> partial_;
};

class openmp_crew::member {
 public:
  explicit member(openmp_crew& all) : crew_(all) {}

  [[nodiscard]] std::size_t number() const { return thread_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t thread() const { return thread_; }

  void wait() {
#pragma omp barrier
  }

  template <class T>
  void will_read(std::span<T>) {}
  template <class T>
  void will_write(std::span<T>) {}

  template <std::size_t N>
  [[nodiscard]] std::array<double, N> sum(const std::array<double, N>& mine) {
    static_assert(N <= most_values);
    auto& partial = crew_.partial_[round_++ % 2];
    std::copy(mine.begin(), mine.end(), partial[thread_].of.begin());
    wait();
    std::array<double, N> total;
    std::copy_n(partial[0].of.begin(), N, total.begin());
    for (std::size_t t = 1; t < count_; ++t)
      for (std::size_t i = 0; i < N; ++i) total[i] += partial[t].of[i];
    return total;
  }
  [[nodiscard]] double sum(double mine) { return sum(std::array{mine})[0]; }

 private:
  openmp_crew& crew_;
  std::size_t thread_ = thread_number();
  std::size_t count_ = thread_count();
  std::size_t round_ = 0;
};
static_assert(worker<openmp_crew::member>);

template <class SetUp, class Compute>
void openmp_crew::run(report& result, const SetUp& set_up, const Compute& compute) {
#pragma omp parallel num_threads(threads_)
  {
    member me(*this);
    const bool first = me.number() == 0;
    const stopwatch set_up_watch;
    set_up(me);
    me.wait();
    if (first) result.set_up_s = set_up_watch.seconds();
    const stopwatch watch;
    compute(me);
    me.wait();
    if (first) result.time_s = watch.seconds();
  }
}

}  // namespace apps
