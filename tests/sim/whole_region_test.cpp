// SPDX-License-Identifier: BSD-3-Clause
// Regions that come and go on whole nodes (the mix of whole_test has them as well, sim/whole/comings.hpp): one program that does little else, nodes
// that die while a region goes, threads that go on using one, and what the checkers say if a number is used again too early, or something stays.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>
#include <string>

#include "sim/seeds.hpp"
#include "sim/whole/job.hpp"

namespace quire::whole {
namespace {

const job_options comings_only{.most_pages = 2, .most_phases = 10, .most_steps = 12, .most_groups = 1, .most_comings = 5, .short_percent = 40, .often = {.comings = 60}};

class whole_regions : public testing::TestWithParam<unsigned> {};

TEST_P(whole_regions, come_and_go) {
  std::uint64_t gone = 0, again = 0;
  job_options one = comings_only;
  one.nodes = GetParam();
  for (const std::uint64_t seed : sim::seeds(1, 200)) {
    one.seed = seed;
    job j(one);
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    gone += j.done().at("regions that went");
    again += j.done().at("regions at old addresses");
  }
  std::cout << gone << " regions went; " << again << " were made at old addresses\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(gone, 20u);
  EXPECT_GT(again, 20u);
}

INSTANTIATE_TEST_SUITE_P(nodes, whole_regions, testing::Values(1u, 2u, 3u, 5u), [](const auto& info) { return "of_" + std::to_string(info.param); });

/// A region of two units, by node `maker`. Its first address, in `at`.
quire_region make(node& here, quire_consistency consistency, std::uint64_t& at) {
  quire_region_options how{};
  how.consistency = consistency;
  how.placement = QUIRE_PLACE_MODULO;
  quire_region made{};
  at = 0;
  if (!here.keeper().create(how, 2 * 4096, made).ok()) return made;
  at = here.core().regions.of_handle(made.id)->about.base;
  return made;
}

/// Node 0, which leads, or another one dies at a moment that chance decides. Nobody waits for ever; where node 0 lives the region goes.
class whole_region_deaths : public testing::TestWithParam<bool> {};

TEST_P(whole_region_deaths, keep_nobody_waiting) {
  unsigned lost = 0, gone = 0;
  for (const std::uint64_t seed : sim::seeds(1, 600)) {
    world_options o;
    o.net.seed = seed;
    o.net.nodes = 4;
    o.node.survives = true;
    o.node.replicas = GetParam();
    world w(o);
    sim::random draw(sim::mix(seed));
    const auto victim = static_cast<unsigned>(draw.below(4));
    const std::uint64_t when = draw.below(150'000);
    w.net().after(when, [&w, victim] { w.kill(victim, 50'000); });
    for (unsigned n = 1; n < 4; ++n) {
      w.start(n, [&, n](node& here) {
        for (int round = 0; round < 4 && !w.failed(); ++round) {
          std::uint64_t at = 0, found = 0;
          const quire_region mine = make(here, QUIRE_SEQUENTIAL, at);
          if (at == 0) return void(++lost);  // node 0 is dead
          bool good = here.try_store(at + 8 * n, n) && here.try_store(at + 4096, n);
          good = good && here.try_load(at + 8, found);
          here.core().faults.prefetch(at, 2 * 4096, access::write);
          const auto why = here.keeper().destroy(mine);
          if (why.ok()) {
            ++gone;
            if (here.core().regions.find(at) != nullptr && here.core().regions.of_handle(mine.id) != nullptr) w.fail("a region that went is there");
          } else if (why.code() != QUIRE_LOST) {
            w.fail("the end of a region ends with status " + std::to_string(why.code()));
          } else if (victim != 0) {
            w.fail("node 0 lives, and does not answer");
          }
        }
      });
    }
    const std::string wrong = w.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
  std::cout << gone << " regions went, and " << lost << " times node 0 was dead before\n";
  EXPECT_GT(gone, 20u);
}

INSTANTIATE_TEST_SUITE_P(replicas, whole_region_deaths, testing::Bool(), [](const auto& info) { return info.param ? "on_two_nodes" : "once"; });

/// A thread that goes on using a region that goes is told so, and nobody waits.
TEST(whole_region_misuse, a_thread_that_goes_on_is_told) {
  for (const std::uint64_t seed : sim::seeds(1, 200)) {
    world_options o;
    o.net.seed = seed;
    o.net.nodes = 3;
    world w(o);
    std::uint64_t at = 0;
    quire_region region{};
    bool told = false;
    w.start(0, [&](node& here) {
      region = make(here, seed % 2 == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL, at);
      w.sleep(w.net().rng().below(200'000));
      if (!here.keeper().destroy(region).ok()) w.fail("the region stays");
    });
    w.start(2, [&](node& here) {
      while (at == 0) w.sleep(1000);
      for (std::uint64_t found = 0; !told && !w.failed();) {
        told = !here.core().calls.atomic(at, static_cast<std::uint32_t>(model::atomic_operation::add), 1, 0, found).ok();
        w.sleep(1000);
      }
    });
    const std::string wrong = w.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    EXPECT_TRUE(told);
  }
}

// ---- Do the checkers see?

/// Ends the process by what the checkers say, or by an error that a node itself finds; with 0 if all is well.
template <class F>
[[noreturn]] void die_of(F&& break_it, job_options what) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    what.seed = seed;
    what.nodes = 2 + static_cast<unsigned>(seed % 3);
    job j(what);
    break_it(j.nodes());
    if (std::string failure = j.run(); !failure.empty()) {
      std::fputs(failure.substr(0, failure.find('\n')).c_str(), stderr);
      std::abort();
    }
  }
  std::_Exit(0);
}

TEST(whole_region_mutation, the_unbroken_protocol_passes) {
  EXPECT_EXIT(die_of([](world&) {}, comings_only), testing::ExitedWithCode(0), "");
}

/// A unit of a region that has gone stays in a queue of frames: the node trips over it when it is short of memory, or the checkers say so.
TEST(whole_region_mutation, a_queue_entry_that_is_left) {
  std::map<const node*, std::set<std::uint16_t>> seen;
  const auto leaves_one = [&](world& w) {
    seen.clear();
    w.on_turn([&](node& n) {
      core::core& c = n.core();
      if (!c.frames.limited()) return;
      for (std::uint16_t id = first_kept; id < first_kept + 16; ++id) {
        const bool there = c.regions.slot(model::region_id{id}) != nullptr;
        if (there) seen[&n].insert(id);
        if (!there && seen[&n].erase(id) != 0) c.frames.own.push({id, 0}, 4096);
      }
    });
  };
  job_options short_of_memory = comings_only;
  short_of_memory.short_percent = 100;
  short_of_memory.replicas_percent = 0;
  EXPECT_DEATH(die_of(leaves_one, short_of_memory), "");
}

}  // namespace
}  // namespace quire::whole
