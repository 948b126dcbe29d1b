// SPDX-License-Identifier: BSD-3-Clause
// Memory of the program that nodes make shared (services/adoption.hpp) under delays, failures, and deaths at every
// message. The region is made when all nodes have their content aside; in the end all nodes have the region, or all
// have the memory that they had; where neither can be the job ends.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "services/adoption.hpp"
#include "services_deaths.hpp"
#include "services_meetings.hpp"
#include "sim/seeds.hpp"
#include "sim/services/world.hpp"

namespace quire::services::services_adoption_test {
namespace {

using work = adoption::work;
enum class memory { own, lost, shared };

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
    for (unsigned round = 0; round < rounds; ++round) {
      pieces_.emplace_back();
      pieces_.back().maker = static_cast<unsigned>(w_.draw().below(nodes));
      pieces_.back().has.resize(nodes, memory::own);
      pieces_.back().aside.resize(nodes);
    }
    for (unsigned n = 0; n < nodes; ++n) {
      w_.start(n, [this, n] {
        for (unsigned round = 0; round < rounds && !w_.failed() && !ended_; ++round) adopt(n, pieces_[round]);
      });
    }
  }
  world& around() { return w_; }
  std::string run() {
    const std::string wrong = w_.run();
    if (!wrong.empty() || w_.any_dead() || ended_) return wrong;
    for (const piece& p : pieces_) {
      for (const memory has : p.has) {
        if (has != p.has.front()) return "some nodes share memory, and others do not";
        if (has == memory::lost) return "memory is neither shared nor a node's own";
      }
    }
    return {};
  }
  std::uint64_t shared = 0, kept = 0, put_back = 0, given_up = 0;

 private:
  static constexpr unsigned rounds = 4;
  struct piece {
    unsigned maker = 0;
    std::vector<memory> has{};
    std::vector<bool> aside{};
    quire_status why = QUIRE_OK;  ///< of the maker
    bool made = false;
  };

  quire_status perform(unsigned self, piece& p, work what) {
    w_.sleep(w_.draw().below(5'000));
    switch (what) {
      case work::check:
        return w_.draw().chance(5) ? QUIRE_INVALID : QUIRE_OK;
      case work::copy:
        if (w_.draw().chance(5)) return QUIRE_NO_MEMORY;
        p.aside[self] = true;
        return QUIRE_OK;
      case work::make:
        for (unsigned n = 0; n < w_.nodes(); ++n) {
          if (!w_.is_dead(n) && !p.aside[n]) w_.fail("a region is made, and a node's content is not aside");
        }
        if (self != p.maker) w_.fail("a node makes a region of what does not count");
        for (memory& has : p.has) has = memory::lost;  // its place is where the program had its own
        p.why = w_.draw().chance(25) ? QUIRE_NO_MEMORY : QUIRE_OK;
        p.made = p.why == QUIRE_OK || w_.draw().chance(20);
        return p.why;
      case work::put_back:
        if (p.made) w_.fail("a node takes its memory back, and others have the region");
        if (w_.draw().chance(5)) return QUIRE_SYSTEM;
        p.has[self] = memory::own;
        ++put_back;
        return QUIRE_OK;
      default:
        if (p.why == QUIRE_OK) w_.fail("a job ends whose memory is shared");
        ended_ = true;
        ++given_up;
        w_.after(1'000, 0, [this] {  // the job ends: nobody waits any more
          answers out;
          together_.on_death(out);
          w_.send(0, out);
        });
        return QUIRE_OK;
    }
  }

  void adopt(unsigned self, piece& p) {
    w_.sleep(w_.draw().below(10'000));
    adoption steps(self == p.maker, false);
    quire_status mine = QUIRE_OK;
    auto s = steps.begin();
    while (s.what != work::over && !w_.failed()) {
      if (s.what == work::meet) {
        s = steps.on_done(together_.meet(self, std::exchange(mine, QUIRE_OK)).why);
      } else if (s.what == work::tell) {
        const auto why = together_.meet(self, QUIRE_OK).why;
        s = why == QUIRE_OK ? steps.on_told(p.why, p.made) : steps.on_done(why);
      } else {
        const bool gives_up = s.what == work::give_up;
        mine = perform(self, p, s.what);
        if (gives_up) return;
        s = steps.on_done(mine);
      }
    }
    if (w_.failed()) return;
    if (s.why == QUIRE_OK) {
      if (!p.made) w_.fail("memory is said to be shared, and no region was made");
      p.has[self] = memory::shared;
      ++shared;
    } else if (s.why != QUIRE_PEER_LOST) {
      if (p.has[self] != memory::own) w_.fail("a call fails, and the node has not its memory back");
      ++kept;
    }
  }

  world w_;
  test::meetings together_;
  std::vector<piece> pieces_{};
  bool ended_ = false;
};

class services_adoption : public testing::TestWithParam<unsigned> {};

TEST_P(services_adoption, holds_what_it_promises) {
  std::uint64_t shared = 0, kept = 0, put_back = 0, given_up = 0;
  for (const std::uint64_t seed : sim::seeds(1, 400)) {
    job j(seed, GetParam());
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "\nreplay: QUIRE_SIM_SEED=" << seed;
    shared += j.shared;
    kept += j.kept;
    put_back += j.put_back;
    given_up += j.given_up;
  }
  std::cout << shared << " times shared, " << kept << " times not, " << put_back << " times put back, " << given_up
            << " times neither\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(shared, 100u);
  EXPECT_GT(kept, 100u);
  EXPECT_GT(put_back, 50u);
  EXPECT_GT(given_up, 10u);
}

TEST_P(services_adoption, bears_a_death_at_every_message) {
  std::uint64_t shared = 0;
  const auto make = [](std::uint64_t seed) { return std::make_unique<job>(seed, GetParam()); };
  test::bear_a_death_at_every_message(20, GetParam(), make, [&](const job& j) { shared += j.shared; });
  std::cout << shared << " times shared in jobs that a node's death has ended\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(shared, 100u);
}

INSTANTIATE_TEST_SUITE_P(nodes, services_adoption, testing::Values(2u, 3u, 4u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::services::services_adoption_test
