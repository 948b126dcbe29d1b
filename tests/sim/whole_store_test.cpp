// SPDX-License-Identifier: BSD-3-Clause
// Stores that src does not know, on whole nodes: a store is a folder and a row that the nodes' configuration names
// (toy/masked.hpp).
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "core/absent_units.hpp"
#include "core/counters.hpp"
#include "core/frames.hpp"
#include "core/hold.hpp"
#include "core/protocol_set.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/kept_store.hpp"
#include "sim/whole/world.hpp"
#include "tests/sim/toy/masked.hpp"

namespace quire::whole::whole_store_test {
namespace {

constexpr std::uint64_t page = 4096, granule = std::uint64_t{2} << 20, pages = 12;

std::span<const store::row* const> with_toy() {
  static const std::array all = {&kept_store::the_row, &toy::masked_row};
  return all;
}

core::region_description describe(std::uint16_t id, std::uint8_t store) {
  core::region_description about;
  about.id = id;
  about.base = base_address + id * granule;
  about.bytes = pages * page;
  about.store = store;
  return about;
}

world_options options_of(std::uint64_t seed, unsigned nodes) {
  world_options o;
  o.net.seed = seed;
  o.net.nodes = nodes;
  o.net.reads_late = seed % 2 == 0;
  o.node.memory_limit = 16 * page;
  o.node.pages_out = true;
  o.node.stores = with_toy();
  o.store_delay = seed % 3 == 0 ? 300'000 : 20'000;
  o.store_fails_percent = seed % 5 == 0 ? 10 : 0;
  return o;
}

/// Threads read and write words of three regions that do not fit, one of them in the page-out file, the others masked:
/// each read finds what was written last.
std::string run_with_toy(std::uint64_t seed, unsigned nodes) {
  world w(options_of(seed, nodes));
  for (const std::uint16_t id : {1, 2, 3}) {
    core::region_description about = describe(id, id == 1 ? 0 : toy::masked_row.id);
    about.consistency = QUIRE_SEQUENTIAL;
    w.add_region(about);
  }
  for (unsigned n = 0; n < nodes; ++n) {
    w.start(n, [&w, s = sim::mix(seed * 16 + n)](node& here) {
      sim::random draw(s);
      for (unsigned i = 0; i < 150 && !w.failed(); ++i) {
        if (draw.chance(30)) w.sleep(draw.below(30'000));
        const std::uint64_t at =
            base_address + (1 + draw.below(3)) * granule + draw.below(pages) * page + draw.below(2) * 8;
        if (draw.chance(50)) {
          here.store(at, w.unique());
        } else if (const std::uint64_t found = here.load(at); found != w.latest(at)) {
          w.fail("node " + std::to_string(here.self().value()) + " finds " + std::to_string(found) + " in " +
                 w.name_of(at));
        }
      }
    });
  }
  return w.run();
}

/// Node 0 owns and manages all, and writes; the others read, and give their copies up again and again. So there are
/// several messages of one node about a unit whose content node 0 has in its store only: that a copy is given up, then
/// that it is wanted again.
std::string run_with_readers(std::uint64_t seed, bool overtaking) {
  world_options o = options_of(seed, 3);
  o.store_delay = 1'000'000;
  o.think = 500;
  world w(o);
  core::region_description about = describe(1, 0);
  about.bytes = 3 * pages * page;
  about.placement = QUIRE_PLACE_NODE;
  about.consistency = QUIRE_SEQUENTIAL;
  w.add_region(about);
  for (unsigned n = 0; n < 3; ++n) {
    for (std::uint64_t thread = 0; thread < 3; ++thread) {
      w.start(n, [&w, n, s = sim::mix(seed * 64 + n * 8 + thread)](node& here) {
        sim::random draw(s);
        for (unsigned i = 0; i < 200 && !w.failed(); ++i) {
          w.sleep(draw.below(2'000));
          const std::uint64_t at = base_address + granule + draw.below(3 * pages) * page;
          if (n == 0) {
            here.store(at, w.unique());
          } else if (const std::uint64_t found = here.load(at); found != w.latest(at)) {
            w.fail("a reader finds " + std::to_string(found) + " in " + w.name_of(at));
          }
        }
      });
    }
  }
  if (overtaking) {
    w.on_turn([](node& n) {
      core::region_slot& r = *n.core().regions.slot(model::region_id{1});
      for (std::uint64_t unit = 0; unit < 3 * pages; ++unit) {
        std::vector<core::parked_unit> all;
        for (core::parked_unit next; n.core().absent.parked().pop(r, unit, next);) all.push_back(next);
        for (auto p = all.rbegin(); p != all.rend(); ++p) n.core().absent.parked().push(*p);
      }
    });
  }
  return w.run();
}

TEST(parked_messages, of_one_node_about_one_unit_keep_their_order) {
  for (const std::uint64_t seed : sim::seeds(1, 40))
    EXPECT_EQ(run_with_readers(seed, false), "") << "replay: QUIRE_SIM_SEED=" << seed;
}

TEST(parked_messages, that_overtake_each_other_are_seen) {
  unsigned found = 0;
  for (std::uint64_t seed = 1; seed <= 40 && found < 3; ++seed) found += run_with_readers(seed, true).empty() ? 0 : 1;
  EXPECT_EQ(found, 3u);
}

/// Diffs cannot be parked: where something waits for their units the driver waits for the store, and has that done
/// first. Words have one writer each.
TEST(parked_messages, go_before_diffs_that_come_later) {
  std::uint64_t awaited = 0;
  for (const std::uint64_t seed : sim::seeds(1, 40)) {
    world_options o = options_of(seed, 3);
    o.store_delay = 500'000;
    world w(o);
    core::region_description about = describe(1, 0);
    about.bytes = 2 * pages * page;
    about.placement = QUIRE_PLACE_NODE;
    about.consistency = QUIRE_RELEASE;
    w.add_region(about);
    for (unsigned n = 0; n < 3; ++n) {
      w.start(n, [&w, n, s = sim::mix(seed * 8 + n)](node& here) {
        sim::random draw(s);
        for (unsigned i = 0; i < 200 && !w.failed(); ++i) {
          w.sleep(draw.below(5'000));
          const std::uint64_t at = base_address + granule + draw.below(2 * pages) * page + n * 8;
          if (const std::uint64_t found = here.load(at); found != w.latest(at))
            w.fail("a thread finds " + std::to_string(found) + " in its own " + w.name_of(at));
          here.store(at, w.unique());
          if (draw.chance(30)) here.core().as_driver([&] { here.core().protocols.release(false); });
        }
      });
    }
    EXPECT_EQ(w.run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
    for (unsigned n = 0; n < 3; ++n) awaited += w.at(n).crew().count().awaited;
  }
  if (!sim::usual_seeds()) return;
  EXPECT_GT(awaited, 20u);
}

/// What the driver has waited for is told by the crew later. Until then its unit may leave and come again: who waits
/// for it then waits for the second fill.
TEST(fills, that_have_been_waited_for_are_not_found_again) {
  world_options o = options_of(1, 1);
  o.store_delay = 1'000'000;
  world w(o);
  w.add_region(describe(1, 0));
  w.start(0, [](node& here) {
    here.store(base_address + granule, 7);
    here.core().as_driver([&here] {
      core::frames& f = here.core().frames;
      core::region_slot& r = *here.core().regions.slot(model::region_id{1});
      for (unsigned times = 0; times < 3; ++times) {
        f.unlist(r, 0);
        f.begin_flush(r, 0, 1);  // the first time; then the store has it
        while (f.finish_one(r) != nullptr) continue;
        ASSERT_TRUE(f.is_away(r, 0));
        f.begin_fill(r, 0, 1);
        EXPECT_TRUE(f.any_under_way(r));
        EXPECT_EQ(f.finish_fill(r, 0).count, 0u);
        ASSERT_TRUE(f.is_here(r, 0) && !f.is_filling(r, 0)) << times;
        EXPECT_FALSE(f.any_under_way(r));
      }
    });
    EXPECT_EQ(here.load(base_address + granule), 7u);
  });
  EXPECT_EQ(w.run(), "");
}

class other_store : public testing::TestWithParam<unsigned> {};

TEST_P(other_store, holds_for_every_seed) {
  toy::masked::filled = 0;
  for (const std::uint64_t seed : sim::seeds(1, 100)) {
    const std::string wrong = run_with_toy(seed, GetParam());
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
  if (!sim::usual_seeds()) return;
  EXPECT_GT(toy::masked::filled, 1000u);
}

INSTANTIATE_TEST_SUITE_P(nodes, other_store, testing::Values(1u, 2u, 3u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

TEST(toy_store, is_caught_when_it_is_wrong) {
  toy::masked::forgets_its_mask = true;
  unsigned found = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) found += run_with_toy(seed, 2).empty() ? 0 : 1;
  toy::masked::forgets_its_mask = false;
  EXPECT_GT(found, 7u);
}

/// Nobody else has the content.
TEST(toy_store, ends_the_job_when_it_has_lost_something) {
  toy::masked::loses = true;
  EXPECT_EXIT((void)run_with_toy(1, 2), testing::ExitedWithCode(QUIRE_SYSTEM),
              "cannot read the page at 0x[0-9a-f]+ back from the masked store in a test: Input/output error");
  toy::masked::loses = false;
}

/// As at a restart: each node fills what it manages, and all nodes find it, whether it fits into memory or not.
TEST(toy_store, is_where_a_region_begins) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    world_options o = options_of(seed, 2);
    o.node.memory_limit = seed % 2 == 0 ? 0 : 16 * page;
    o.store_fails_percent = 0;
    world w(o);
    core::region_description about = describe(1, toy::masked_row.id);
    about.placement = QUIRE_PLACE_BLOCK;
    about.consistency = seed % 3 == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
    w.add_region(about);
    unsigned ready = 0;
    for (unsigned n = 0; n < 2; ++n) {
      w.start(n, [&, n](node& here) {
        toy::formula from;
        core::core& c = here.core();
        core::region_slot& r = *c.regions.slot(model::region_id{1});
        EXPECT_TRUE(c.holding.adopt(r, n * pages / 2, pages / 2, from).ok());
        for (++ready; ready < 2;) w.sleep(1'000);
        for (std::uint64_t at = 0; at < pages * page; at += 1024)
          EXPECT_EQ(here.load(about.base + at), toy::number_at(about.base - base_address + at));
      });
    }
    EXPECT_EQ(w.run(), "") << seed;
  }
}

TEST(toy_store, may_fail_at_a_restart) {
  world w(options_of(1, 1));
  w.add_region(describe(1, 0));
  w.start(0, [](node& here) {
    toy::formula from;
    from.ends_at = granule + 4 * page;
    core::region_slot& r = *here.core().regions.slot(model::region_id{1});
    EXPECT_EQ(here.core().holding.adopt(r, 0, pages, from).code(), QUIRE_DAMAGED);
  });
  EXPECT_EQ(w.run(), "");
}

TEST(toy_store, is_refused_if_nobody_has_it_or_units_do_not_fit) {
  world w(options_of(1, 1));
  EXPECT_EQ(w.at(0).core().builder.add(describe(1, 7)).code(), QUIRE_INVALID);
  EXPECT_TRUE(w.at(0).core().builder.add(describe(1, 1)).ok());
}

}  // namespace
}  // namespace quire::whole::whole_store_test
