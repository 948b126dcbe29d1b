// SPDX-License-Identifier: BSD-3-Clause
// The workers of a Quire job: a quire::team, with parallel blocks between its barriers where the settings want them,
// and clocks.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>

#include <quire/quire.hpp>

#include "common/phases.hpp"
#include "common/report.hpp"
#include "common/settings.hpp"
#include "common/stopwatch.hpp"
#include "common/traffic.hpp"
#include "common/worker.hpp"

namespace apps {

class crew {
 public:
  class member;

  /// One on each node, within the session; the same settings on all. `written`: the arrays that phases write, see
  /// phases.hpp.
  explicit crew(const run_settings& wanted, std::initializer_list<phased_array> written = {})
      : hints_(wanted.hints),
        one_thread_(wanted.threads == 1),
        phases_(wanted, written),
        team_(static_cast<unsigned>(wanted.threads)) {}

  /// Runs set_up(me), then compute(me), on every worker, and fills in what the report says of times and of sharing.
  template <class SetUp, class Compute>
  void run(report& result, const SetUp& set_up, const Compute& compute);

 private:
  bool hints_, one_thread_;
  phases phases_;
  quire::team team_;
};

class crew::member {
 public:
  member(crew& all, quire::member& me) : crew_(all), me_(me) {}

  [[nodiscard]] std::size_t number() const { return me_.number(); }
  [[nodiscard]] std::size_t count() const { return me_.count(); }
  [[nodiscard]] std::size_t thread() const { return me_.place(); }

  void wait() {
    if (!crew_.phases_.are_blocks()) return me_.wait();
    alone([this] { crew_.phases_.next_block(); });
  }
  /// f() on one thread of each node, while all others wait. A barrier, if f() is one of the nodes.
  template <class F>
  void alone(const F& f) {
    if (crew_.one_thread_) return f();
    me_.wait();
    if (thread() == 0) f();
    me_.wait();
  }

  template <class T>
  void will_read(std::span<T> range) {
    if (crew_.hints_) quire::prefetch(range);
  }
  template <class T>
  void will_write(std::span<T> range) {
    if (crew_.hints_) quire::prefetch(range, quire::access::write);
  }

  template <std::size_t N>
  [[nodiscard]] std::array<double, N> sum(std::array<double, N> values) {
    static_assert(N <= most_values);
    me_.reduce(std::span<double>(values), quire::operation::sum);
    if (crew_.phases_.are_blocks()) wait();
    return values;
  }
  [[nodiscard]] double sum(double mine) { return sum(std::array{mine})[0]; }

 private:
  crew& crew_;
  quire::member& me_;
};
static_assert(worker<crew::member>);

template <class SetUp, class Compute>
void crew::run(report& result, const SetUp& set_up, const Compute& compute) {
  std::optional<quire_counters> before;
  team_.run([&](quire::member& one) {
    member me(*this, one);
    const bool first = me.thread() == 0;
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
