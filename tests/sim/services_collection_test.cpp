// SPDX-License-Identifier: BSD-3-Clause
// Collections of a heap (services/collection_call.hpp) under delays, failures, and deaths at every message. Content is
// marked while all nodes hold it still; objects move when all nodes have planned and nobody's transaction runs; all
// nodes end alike, hold nothing then, and transactions begin again.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "services/collection_call.hpp"
#include "services_deaths.hpp"
#include "services_meetings.hpp"
#include "sim/seeds.hpp"
#include "sim/services/world.hpp"

namespace quire::services::services_collection_test {
namespace {

using work = collection_call::work;

class job {
 public:
  job(std::uint64_t seed, unsigned nodes) : w_(seed, nodes), together_(w_) {
    w_.on_message = [this](unsigned node, const message& m, std::string_view) {
      answers out;
      together_.on_message(m, out);
      w_.send(node, out);
    };
    w_.on_death = [this](unsigned node, unsigned) {
      answers out;
      if (node == 0) together_.on_death(out);
      w_.send(node, out);
    };
    here_.resize(nodes);
    for (unsigned n = 0; n < nodes; ++n) {
      w_.start(n, [this, n] {
        for (int i = 0; i < 5 && !w_.failed(); ++i) collect(n);
        here_[n].over = true;
      });
      w_.start(n, [this, n] { write(n); });
    }
  }
  world& around() { return w_; }
  std::string run() { return w_.run(); }
  std::uint64_t collected = 0, failed = 0, transactions = 0, waited = 0;

 private:
  struct node {
    bool closed = false, holds = false, planned = false, over = false;
    bool runs = false;  ///< a transaction of the program
    std::uint64_t content = 0, seen = 0;
    std::vector<quire_status> results{};
  };
  template <class F>
  [[nodiscard]] bool all_alive(F is) const {
    for (unsigned n = 0; n < w_.nodes(); ++n) {
      if (!w_.is_dead(n) && !is(here_[n])) return false;
    }
    return true;
  }

  /// Transactions of the program.
  void write(unsigned self) {
    node& me = here_[self];
    while (!me.over && !w_.failed() && !w_.any_dead()) {
      w_.sleep(w_.draw().below(4'000));
      if (me.closed) {
        ++waited;
        continue;
      }
      me.runs = true;
      w_.sleep(w_.draw().below(2'000));
      if (!me.holds) ++me.content;
      me.runs = false;
      ++transactions;
    }
  }

  void collect(unsigned self) {
    node& me = here_[self];
    w_.sleep(w_.draw().below(10'000));
    collection_call steps;
    auto s = steps.begin();
    while (s.what != work::over && !w_.failed()) {
      w_.sleep(w_.draw().below(2'000));
      s = steps.on_done(perform(self, s.what));
    }
    if (w_.failed()) return;
    me.results.push_back(s.why);
    const std::size_t turn = me.results.size() - 1;
    for (const node& other : here_) {
      if (!w_.any_dead() && other.results.size() > turn && other.results[turn] != s.why)
        w_.fail("nodes end in different ways");
    }
    if (me.holds) w_.fail("a node holds content after the end");
    if (me.closed) w_.fail("a node lets no transaction begin after the end");
    ++(s.why == QUIRE_OK ? collected : failed);
    (void)together_.meet(self, QUIRE_OK);  // before the next: those looked at are of this one
  }

  /// What all do together: all hear the worst.
  quire_status with_others(unsigned self) {
    return together_.meet(self, w_.draw().chance(3) ? QUIRE_SYSTEM : QUIRE_OK).why;
  }
  quire_status perform(unsigned self, work what) {
    node& me = here_[self];
    switch (what) {
      case work::close:
        me.planned = false;
        if (w_.draw().chance(95)) {
          me.closed = true;
          w_.wait_until([&] { return !me.runs; });
        }
        return together_.meet(self, me.closed ? QUIRE_OK : QUIRE_SYSTEM).why;
      case work::hold: {
        const quire_status why = with_others(self);
        me.holds = why == QUIRE_OK;
        me.seen = me.content;
        if (why == QUIRE_OK && together_.meet(self, QUIRE_OK).why != QUIRE_OK) {
          me.holds = false;
          return QUIRE_PEER_LOST;
        }
        return why;
      }
      case work::keep:
      case work::mark:
      case work::live:
        if (!w_.any_dead() && !all_alive([](const node& n) { return n.holds; }))
          w_.fail("a node looks at content that not all hold still");
        if (me.seen != me.content) w_.fail("content has changed under a node that looks at it");
        return with_others(self);
      case work::plan:
        me.planned = true;
        return with_others(self);
      case work::let_go:
        if (!me.holds) w_.fail("a node lets go of what it does not hold");
        me.holds = false;
        return QUIRE_OK;
      case work::move:
        if (!w_.any_dead() && !all_alive([](const node& n) { return n.planned; }))
          w_.fail("objects move, and a node has not planned");
        if (!w_.any_dead() && !all_alive([](const node& n) { return n.closed && !n.runs; }))
          w_.fail("objects move, and a transaction runs");
        if (me.holds) w_.fail("objects move on a node that holds content");
        return with_others(self);
      case work::open:
        me.closed = false;
        return QUIRE_OK;
      default:
        return with_others(self);
    }
  }

  world w_;
  test::meetings together_;
  std::vector<node> here_{};
};

class services_collection : public testing::TestWithParam<unsigned> {};

TEST_P(services_collection, holds_what_it_promises) {
  std::uint64_t collected = 0, failed = 0, transactions = 0, waited = 0;
  for (const std::uint64_t seed : sim::seeds(1, 300)) {
    job j(seed, GetParam());
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "\nreplay: QUIRE_SIM_SEED=" << seed;
    collected += j.collected;
    failed += j.failed;
    transactions += j.transactions;
    waited += j.waited;
  }
  std::cout << collected << " collections, " << failed << " that failed, " << transactions << " transactions, "
            << waited << " times one waits\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(collected, 100u);
  EXPECT_GT(failed, 100u);
  EXPECT_GT(waited, 100u);
}

TEST_P(services_collection, bears_a_death_at_every_message) {
  std::uint64_t collected = 0;
  const auto make = [](std::uint64_t seed) { return std::make_unique<job>(seed, GetParam()); };
  test::bear_a_death_at_every_message(6, GetParam(), make, [&](const job& j) { collected += j.collected; });
  std::cout << collected << " collections of jobs that a node's death has ended\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(collected, 100u);
}

INSTANTIATE_TEST_SUITE_P(nodes, services_collection, testing::Values(2u, 3u, 4u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::services::services_collection_test
