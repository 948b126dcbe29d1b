// SPDX-License-Identifier: BSD-3-Clause
// Whole nodes of which one or two die while threads of all of them use a region with sequential consistency, and the others go on. A word that a
// survivor has written last is there, unless nobody has its unit any more; with content on two nodes one death loses no unit.
#include <gtest/gtest.h>

#include <string>

#include "base/log.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole {
namespace {

constexpr std::uint64_t page = 4096, region_base = base_address + (2u << 20);

class mourning_job {
 public:
  mourning_job(std::uint64_t seed, unsigned nodes, bool replicas) : draw_(sim::mix(seed ^ 0xdead)), replicas_(replicas), world_(options_of(seed, nodes)) {
    core::region_description about;
    about.id = 1;
    about.base = region_base;
    about.bytes = pages_ * page;
    about.placement = draw_.chance(50) ? QUIRE_PLACE_BLOCK : QUIRE_PLACE_MODULO;
    world_.add_region(about);
    const auto deaths = replicas || nodes < 4 ? 1 : 1 + draw_.below(2);
    for (unsigned n = 0; n < nodes; ++n) {
      for (std::uint64_t t = 1 + draw_.below(3); t != 0; --t) {
        world_.start(n, [this, s = draw_.next()](node& here) { live(here, sim::random(s)); });
      }
    }
    for (std::uint64_t d = 0; d < deaths; ++d) {
      world_.net().after(draw_.below(1'500'000), [this, n = static_cast<unsigned>(draw_.below(nodes))] {
        if (!world_.at(n).is_dead()) world_.kill(n, 300'000);
      });
    }
  }
  std::string run() { return world_.run(); }
  std::uint64_t lost = 0;

 private:
  world_options options_of(std::uint64_t seed, unsigned nodes) {
    world_options o;
    o.net.seed = seed;
    o.net.nodes = nodes;
    o.net.straggler_percent = draw_.chance(30) ? 5 : 0;
    o.net.reads_late = draw_.chance(50);
    o.node.survives = true;
    o.node.replicas = replicas_;
    o.node.read_ahead = draw_.chance(70);
    pages_ = 1 + static_cast<unsigned>(draw_.below(5));
    return o;
  }
  void live(node& here, sim::random draw) {
    for (unsigned i = 0; i < 60 && !world_.failed(); ++i) {
      if (draw.chance(60)) world_.sleep(draw.below(30'000));
      const std::uint64_t at = region_base + draw.below(pages_) * page + draw.below(4) * 8;
      if (draw.chance(50)) {
        const std::uint64_t value = ++last_;
        here.try_store(at, value) ? past_[at].push_back({value, here.self().value()}) : note_lost();
      } else {
        look(here, at);
      }
    }
    world_.sleep(4'000'000);  // by then all deaths are over
    for (const auto& [at, value] : std::unordered_map(world_.all_written())) look(here, at);
  }
  void note_lost() {
    ++lost;
    if (replicas_) world_.fail("a unit is lost, though its content was on two nodes");
  }
  void look(node& here, std::uint64_t at) {
    std::uint64_t found = 0;
    if (!here.try_load(at, found)) return note_lost();
    if (found == world_.latest(at)) return;
    // What a dead node wrote last may have died with it: then what was there before is there again, for all.
    auto& past = past_[at];
    while (!past.empty() && past.back().value != found && world_.at(past.back().by).is_dead()) past.pop_back();
    if (past.empty() ? found != 0 : past.back().value != found) {
      world_.fail("node " + std::to_string(here.self().value()) + " finds " + std::to_string(found) + " where " + std::to_string(world_.latest(at)) +
                  " was written last");
    }
    world_.wrote(at, found, here.self());
  }

  sim::random draw_;
  bool replicas_;
  unsigned pages_ = 1;
  world world_;
  std::uint64_t last_ = 0;
  struct written {
    std::uint64_t value = 0;
    unsigned by = 0;
  };
  std::unordered_map<std::uint64_t, std::vector<written>> past_{};  ///< of each word, oldest first
};

class whole_deaths : public testing::TestWithParam<unsigned> {};

void run_all(unsigned nodes, bool replicas, std::uint64_t& lost) {
  for (const std::uint64_t seed : sim::seeds(1, 300)) {
    mourning_job j(seed, nodes, replicas);
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    lost += j.lost;
  }
}

TEST_P(whole_deaths, lose_only_what_nobody_has) {
  std::uint64_t lost = 0;
  run_all(GetParam(), false, lost);
  if (!sim::usual_seeds()) return;
  EXPECT_GT(lost, 20u) << "too few to mean anything";
}

TEST_P(whole_deaths, lose_nothing_that_is_on_two_nodes) {
  std::uint64_t lost = 0;
  run_all(GetParam(), true, lost);
}

INSTANTIATE_TEST_SUITE_P(nodes, whole_deaths, testing::Values(2u, 3u, 5u), [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::whole
