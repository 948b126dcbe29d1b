// SPDX-License-Identifier: BSD-3-Clause
// The workers of a Quire job: so many threads on each node. Threads of a node meet at a barrier of their own; the last
// one to arrive meets the other nodes on behalf of all.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include <quire/quire.hpp>

#include "common/meeting.hpp"
#include "common/phases.hpp"
#include "common/report.hpp"
#include "common/settings.hpp"
#include "common/stopwatch.hpp"
#include "common/team.hpp"
#include "common/traffic.hpp"
#include "common/worker.hpp"

namespace apps {

class crew {
 public:
  class member;

  /// One on each node, within the session; the same settings on all. `written`: the arrays that phases write, see phases.hpp.
  explicit crew(const run_settings& wanted, std::initializer_list<std::span<double>> written = {})
      : hints_(wanted.hints),
        phases_(wanted, written),
        partial_(static_cast<std::size_t>(wanted.threads)),
        arrived_(wanted.threads, meet{&phases_}),
        added_(wanted.threads, add{this}) {}

  /// Runs set_up(me), then compute(me), on every worker, and fills in what the report says of times and of sharing.
  template <class SetUp, class Compute>
  void run(report& result, const SetUp& set_up, const Compute& compute);

 private:
  struct meet {
    phases* of;
    void operator()() noexcept { of->meet(); }
  };
  struct add {
    crew* mine;
    void operator()() noexcept { mine->add_up(); }
  };
  /// The values of one thread, on a cache line of their own.
  struct alignas(64) values {
    std::array<double, most_values> of;
  };

  /// First the threads in their order, then the nodes: all_reduce() has a fixed order, too.
  void add_up() {
    total_ = partial_[0].of;
    for (std::size_t t = 1; t < partial_.size(); ++t)
      for (std::size_t i = 0; i < count_; ++i) total_[i] += partial_[t].of[i];
    quire::all_reduce(std::span(total_).first(count_), quire::operation::sum);
    phases_.meet_after_reduction();
  }

  bool hints_;
  phases phases_;
  std::vector<values> partial_;  ///< by thread
  std::size_t count_ = 0;        ///< of values that are being added
  std::array<double, most_values> total_{};
  meeting<meet> arrived_;
  meeting<add> added_;
};

class crew::member {
 public:
  member(crew& all, int thread) : crew_(all), thread_(static_cast<std::size_t>(thread)) {}

  [[nodiscard]] std::size_t number() const {
    return static_cast<std::size_t>(quire::node()) * crew_.partial_.size() + thread_;
  }
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(quire::nodes()) * crew_.partial_.size();
  }
  [[nodiscard]] std::size_t thread() const { return thread_; }

  void wait() { crew_.arrived_.arrive_and_wait(); }

  void will_read(std::span<const double> range) {
    if (crew_.hints_) quire::prefetch(range);
  }
  void will_write(std::span<const double> range) {
    if (crew_.hints_) quire::prefetch(range, quire::access::write);
  }

  template <std::size_t N>
  [[nodiscard]] std::array<double, N> sum(const std::array<double, N>& mine) {
    static_assert(N <= most_values);
    std::copy(mine.begin(), mine.end(), crew_.partial_[thread_].of.begin());
    if (thread_ == 0) crew_.count_ = N;
    crew_.added_.arrive_and_wait();
    std::array<double, N> total;
    std::copy_n(crew_.total_.begin(), N, total.begin());
    return total;
  }
  [[nodiscard]] double sum(double mine) { return sum(std::array{mine})[0]; }

 private:
  crew& crew_;
  std::size_t thread_;
};
static_assert(worker<crew::member>);

template <class SetUp, class Compute>
void crew::run(report& result, const SetUp& set_up, const Compute& compute) {
  std::optional<quire_counters> before;
  run_team(static_cast<int>(partial_.size()), [&](int thread) {
    member me(*this, thread);
    const bool first = thread == 0;
    me.wait();
    const stopwatch set_up_watch;
    set_up(me);
    me.wait();
    if (first) result.set_up_s = set_up_watch.seconds(), before = quire::counters();
    const stopwatch watch;
    compute(me);
    me.wait();
    if (first) result.time_s = watch.seconds();
  });
  phases_.end();
  result.nodes = quire::nodes();
  result.shared = traffic_between(*before, quire::counters());
  result.set_up_s = quire::all_reduce(result.set_up_s, quire::operation::max);
  result.time_s = quire::all_reduce(result.time_s, quire::operation::max);
}

}  // namespace apps
