// SPDX-License-Identifier: BSD-3-Clause
// Threads that others ask for (services/threads.hpp) under delays, and deaths at every message. Each thread that has
// started is joined by one call, which gets what its function has returned, after that; who comes too late hears so;
// and where who waits for a thread is lost another one may.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "services_deaths.hpp"
#include "services/threads.hpp"
#include "sim/seeds.hpp"
#include "sim/services/world.hpp"

namespace quire::services::services_threads_test {
namespace {

enum service : std::uint32_t { spawn, join };
constexpr unsigned threads_each = 2;
constexpr sim::time_ns never = ~sim::time_ns{0};

struct join_call {
  unsigned node = 0;
  sim::time_ns begun = 0;
  bool over = false, good = false;
};
/// What the program knows of a thread that it has spawned.
struct spawned {
  std::uint64_t result = 0;
  sim::time_ns finished = never;
  std::vector<join_call> joins{};
};

class job {
 public:
  job(std::uint64_t seed, unsigned nodes) : w_(seed, nodes), known_(nodes, std::vector<sim::time_ns>(nodes, never)) {
    w_.on_message = [this](unsigned node, const message& m, std::string_view) {
      if (m.operation == spawn) return on_spawn(node, m);
      answers out;
      all_[node].on_join(m, out);
      w_.send(node, out);
    };
    w_.on_death = [this](unsigned node, unsigned dead) {
      known_[node][dead] = w_.net().now();
      all_[node].on_death(node_of(dead));
    };
    for (unsigned n = 0; n < nodes; ++n) {
      all_.emplace_back(node_of(n));
      for (unsigned i = 0; i < threads_each; ++i) w_.start(n, [this, n] { use(n); });
    }
  }
  world& around() { return w_; }
  std::string run() {
    std::string wrong = w_.run();
    for (const threads& t : all_) {
      if (wrong.empty() && !w_.any_dead() && t.count() != 0) wrong = "a node keeps threads that were joined";
    }
    return wrong;
  }
  std::uint64_t joined = 0, late = 0, again = 0;

 private:
  void on_spawn(unsigned node, const message& m) {
    w_.after(w_.draw().below(10'000), node, [this, node, m] {
      const std::uint64_t chance = w_.draw().below(20);
      answers out;
      const std::uint64_t number = all_[node].on_started(m,
                                                         chance == 0   ? QUIRE_NOT_FOUND
                                                         : chance == 1 ? QUIRE_NO_MEMORY
                                                                       : QUIRE_OK,
                                                         out);
      w_.send(node, out);
      if (number == 0) return;
      if (threads::node_of(number) != node) w_.fail("a thread's number names another node");
      spawned& s = made_[number];
      s.result = 1'000'000 + number % 1000 + m.a;
      w_.after(w_.draw().below(200'000), node, [this, node, number, &s] {
        s.finished = w_.net().now();
        answers end;
        all_[node].on_finished(number, s.result, end);
        w_.send(node, end);
      });
    });
  }

  void use(unsigned self) {
    std::vector<std::uint64_t> mine;
    mine.reserve(4);
    for (unsigned i = 0; i < 4 && !w_.failed(); ++i) {
      message m;
      m.a = w_.draw().below(1000);
      const auto got = w_.ask(self, static_cast<unsigned>(w_.draw().below(w_.nodes())), spawn, m);
      if (got.why == QUIRE_OK) mine.push_back(got.a);
      w_.sleep(w_.draw().below(50'000));
      if (w_.draw().chance(60) && !made_.empty()) {
        auto any = made_.begin();
        std::advance(any, static_cast<std::ptrdiff_t>(w_.draw().below(made_.size())));
        end(self, any->first);
      }
    }
    for (const std::uint64_t number : mine) end(self, number);
  }

  void end(unsigned self, std::uint64_t number) {
    spawned& s = made_[number];
    const unsigned at = threads::node_of(number);
    const std::size_t mine = s.joins.size();
    const sim::time_ns begun = w_.net().now();
    s.joins.push_back({self, begun});
    message m;
    m.a = number;
    const auto got = w_.ask(self, at, join, m);
    if (got.why == QUIRE_LOST && w_.is_dead(at)) return;  // whether it would have got it nobody knows
    s.joins[mine].over = true;
    s.joins[mine].good = got.why == QUIRE_OK;
    bool others = false, lost = false;  // who may have joined it, and who was to and cannot
    for (std::size_t i = 0; i < s.joins.size(); ++i) {
      const join_call& j = s.joins[i];
      if (i == mine || (j.over && !j.good)) continue;
      const sim::time_ns heard = known_[at][j.node];
      const bool is_gone = !j.over && heard <= begun && heard < s.finished;
      (is_gone ? lost : others) = true;
      if (j.good && got.why == QUIRE_OK) w_.fail("two calls have joined a thread");
    }
    if (got.why == QUIRE_OK) {
      if (s.finished == never || got.a != s.result) w_.fail("a thread is joined that has not returned that");
      ++joined;
      again += lost ? 1 : 0;
    } else if (got.why != QUIRE_NOT_FOUND) {
      w_.fail("a join ends strangely");
    } else {
      if (!others) w_.fail("a thread that nobody joins cannot be joined");
      ++late;
    }
  }

  world w_;
  std::vector<threads> all_{};
  std::map<std::uint64_t, spawned> made_{};
  std::vector<std::vector<sim::time_ns>> known_;  ///< when a node has heard of another one's death
};

class services_threads : public testing::TestWithParam<unsigned> {};

TEST_P(services_threads, hold_what_they_promise) {
  std::uint64_t joined = 0, late = 0;
  for (const std::uint64_t seed : sim::seeds(1, 600)) {
    job j(seed, GetParam());
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "\nreplay: QUIRE_SIM_SEED=" << seed;
    joined += j.joined;
    late += j.late;
  }
  std::cout << joined << " threads joined, " << late << " calls came too late\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(joined, 200u);
  EXPECT_GT(late, 100u);
}

TEST_P(services_threads, bear_a_death_at_every_message) {
  std::uint64_t again = 0;
  const auto make = [](std::uint64_t seed) { return std::make_unique<job>(seed, GetParam()); };
  test::bear_a_death_at_every_message(30, GetParam(), make, [&](const job& j) { again += j.again; });
  std::cout << again << " threads joined after who waited for them was lost\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(again, 5u);
}

INSTANTIATE_TEST_SUITE_P(nodes, services_threads, testing::Values(2u, 3u, 4u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::services::services_threads_test
