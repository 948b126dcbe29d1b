// SPDX-License-Identifier: BSD-3-Clause
// Regions that come and go on whole nodes (the mix of whole_test has them as well, sim/whole/comings.hpp): one program
// that does little else, nodes that die while a region goes, threads that go on using one, and what the checkers say if
// a number is used again too early, or something stays.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include "core/fault_ranges.hpp"
#include "core/frames.hpp"
#include "core/hold.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "core/replicas.hpp"
#include "core/unit_calls.hpp"
#include "os/injection.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/job.hpp"

namespace quire::whole::whole_region_test {
namespace {

const job_options comings_only{.most_pages = 2,
                               .most_phases = 10,
                               .most_steps = 12,
                               .most_groups = 1,
                               .most_comings = 5,
                               .short_percent = 40,
                               .often = {.comings = 60}};

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

INSTANTIATE_TEST_SUITE_P(nodes, whole_regions, testing::Values(1u, 2u, 3u, 5u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

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

/// Node 0, which leads, or another one dies at a moment that chance decides. Nobody waits for ever; where node 0 lives
/// the region goes.
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
          prefetch_range(here.core(), at, 2 * 4096, access::write);
          const auto why = here.keeper().destroy(mine);
          if (why.ok()) {
            ++gone;
            if (here.core().regions.find(at) != nullptr && here.core().regions.of_handle(mine.id) != nullptr)
              w.fail("a region that went is there");
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

INSTANTIATE_TEST_SUITE_P(replicas, whole_region_deaths, testing::Bool(),
                         [](const auto& info) { return info.param ? "on_two_nodes" : "once"; });

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
        told =
            !here.core().calls.atomic(at, static_cast<std::uint32_t>(model::atomic_operation::add), 1, 0, found).ok();
        w.sleep(1000);
      }
    });
    const std::string wrong = w.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    EXPECT_TRUE(told);
  }
}

/// While content is held, as for a checkpoint, no region comes: who wants one asks again until all have let go. One
/// that was being made by then is there on all nodes, and held.
TEST(whole_region_holds, keep_regions_from_coming) {
  constexpr unsigned nodes = 3, rounds = 4;
  unsigned made = 0, held = 0;
  for (const std::uint64_t seed : sim::seeds(1, 200)) {
    world_options o;
    o.net.seed = seed;
    o.net.nodes = nodes;
    world w(o);
    const auto regions_of = [&w](node& here) {
      std::set<std::uint64_t> all;
      here.core().as_driver([&] {
        here.core().regions.for_each([&](const core::region_slot& r) {
          all.insert(core::handle_of(r.about));
          if (!r.change.frozen.has(core::freeze::hold)) w.fail("a region is there, and not held");
        });
      });
      return all;
    };
    std::array<std::set<std::uint64_t>, nodes> found;
    unsigned come = 0, over = 0;
    const auto meet = [&w, &come](unsigned times) {
      for (++come; come < times * nodes && !w.failed();) w.sleep(1'000);
    };
    for (unsigned n = 0; n < nodes; ++n) {
      w.start(n, [&, n](node& here) {
        for (unsigned round = 0; round < rounds && !w.failed(); ++round) {
          w.sleep(w.net().rng().below(100'000));
          here.expect_less(true);
          if (!here.core().holding.hold().ok()) w.fail("a hold ends badly");
          found[n] = regions_of(here);
          meet(2 * round + 1);
          if (found[n] != found[0]) w.fail("content is held, and a region is on some nodes only");
          w.sleep(30'000);
          if (regions_of(here) != found[n]) w.fail("a region has come or gone while content was held");
          held += found[n].size() > 0 ? 1 : 0;
          meet(2 * round + 2);
          here.core().holding.let_go();
          here.expect_less(false);
        }
        ++over;
      });
      w.start(n, [&](node& here) {
        while (over < nodes && !w.failed()) {
          std::uint64_t at = 0;
          const quire_region mine = make(here, seed % 2 == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL, at);
          if (at == 0) return w.fail("a region is not made");
          ++made;
          here.store(at, 1);
          while (here.keeper().destroy(mine).code() == QUIRE_BUSY && !w.failed()) w.sleep(5'000);
        }
      });
    }
    const std::string wrong = w.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
  std::cout << made << " regions came, " << held << " times some were held\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(made, 200u);
  EXPECT_GT(held, 200u);
}

/// There is no memory for a table of the region: the detector has not been told of it, and is not asked to forget it.
TEST(whole_region_preparation, that_fails_leaves_the_detector_alone) {
  core::region_description about;
  about.id = first_kept;
  about.base = base_address + first_kept * (std::uint64_t{2} << 20);
  about.bytes = 4 * 4096;
  about.consistency = QUIRE_RELEASE;
  about.detector = QUIRE_DETECT_SCAN;
  int failed = 0;
  for (int nth = 2; nth < 20; ++nth) {  // the first is the region's memory
    world w({.net = {.nodes = 1}});
    core::region_builder& builder = w.at(0).core().builder;
    os::inject(os::call::map, nth, ENOMEM);
    const auto why = builder.add(about);
    os::inject(os::call::none, 0, 0);
    if (why.ok()) break;
    EXPECT_EQ(why.code(), QUIRE_SYSTEM);
    ++failed;
    EXPECT_TRUE(builder.add(about).ok());  // then there is
    EXPECT_EQ(w.run(), "") << nth;
  }
  EXPECT_GT(failed, 1);
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

/// A unit of a region that has gone stays in a queue of frames: the node trips over it when it is short of memory, or
/// the checkers say so.
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
}  // namespace quire::whole::whole_region_test
