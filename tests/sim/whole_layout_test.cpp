// SPDX-License-Identifier: BSD-3-Clause
// A layout that src does not know runs on whole nodes: it is a row that the nodes' configuration names
// (toy/two_sizes.hpp).
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "core/block_calls.hpp"
#include "core/counters.hpp"
#include "core/job_call.hpp"
#include "core/region_slot.hpp"
#include "core/sync_calls.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/world.hpp"
#include "tests/sim/toy/two_sizes.hpp"

namespace quire::whole::whole_layout_test {
namespace {

constexpr std::uint64_t page = 4096, large = 4 * page, bytes = 4 * large,
                        base = base_address + (std::uint64_t{2} << 20);

/// A barrier of all nodes.
base::status meet(node& here) {
  sync::call c;
  c.what = sync::operation::barrier_wait;
  return here.core().objects.synchronise(c, -1);
}

world_options two_sizes(std::uint64_t seed, unsigned nodes) {
  static const std::array rows = {&core::layouts::uniform, &toy::two_sizes_row};
  world_options o;
  o.net.seed = seed;
  o.net.nodes = nodes;
  o.node.layouts = rows;
  return o;
}

core::region_description region(quire_consistency consistency) {
  core::region_description about;
  about.id = 1;
  about.base = base;
  about.bytes = bytes;
  about.unit_bytes = large;
  about.placement = QUIRE_PLACE_MODULO;
  about.consistency = static_cast<std::uint8_t>(consistency);
  about.layout = toy::two_sizes_row.id;
  return about;
}

/// Threads of all nodes write words of their own, in all units, and read those of others when a barrier has passed.
std::string run(std::uint64_t seed, unsigned nodes, quire_consistency consistency) {
  sim::random draw(sim::mix(seed ^ 0x1a707));
  world_options o = two_sizes(seed, nodes);
  o.net.reads_late = draw.chance(50);
  o.node.read_ahead = draw.chance(70);
  if (draw.chance(30)) o.node.memory_limit = 16 * large;
  world w(o);
  w.add_region(region(consistency));
  const auto word = [](std::uint64_t at, unsigned n) { return base + at * page + n * sizeof(std::uint64_t); };
  for (unsigned n = 0; n < nodes; ++n) {
    w.start(n, [&, n, s = draw.next()](node& here) {
      sim::random mine(s);
      std::array<std::uint64_t, bytes / page> wrote{};
      for (std::uint64_t round = 1; round <= 6 && !w.failed(); ++round) {
        for (std::uint64_t at = 0; at < bytes / page; ++at) {
          if (mine.chance(60)) here.store(word(at, n), wrote[at] = round);
        }
        if (!meet(here).ok()) return w.fail("a barrier fails");
        for (unsigned i = 0; i < 8; ++i) {
          const std::uint64_t at = word(mine.below(bytes / page), static_cast<unsigned>(mine.below(nodes)));
          if (here.load(at) != w.latest(at)) w.fail("a word is old");
        }
        if (!meet(here).ok()) return w.fail("a barrier fails");
      }
    });
  }
  return w.run();
}

class other_layout : public testing::TestWithParam<quire_consistency> {};
TEST_P(other_layout, holds_for_every_seed) {
  for (const std::uint64_t seed : sim::seeds(1, 200)) {
    const std::string wrong = run(seed, 1 + static_cast<unsigned>(seed % 4), GetParam());
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}
INSTANTIATE_TEST_SUITE_P(consistencies, other_layout, testing::Values(QUIRE_SEQUENTIAL, QUIRE_RELEASE),
                         [](const auto& info) { return info.param == QUIRE_RELEASE ? "release" : "sequential"; });

/// One fault brings a unit, and no more.
TEST(toy_layout, moves_units_of_both_sizes) {
  world_options o = two_sizes(1, 2);
  o.node.read_ahead = false;
  world w(o);
  w.add_region(region(QUIRE_SEQUENTIAL));
  std::uint64_t small = 0, big = 0;
  w.start(0, [&](node& here) {
    for (std::uint64_t at = 0; at < bytes; at += page) here.store(base + at, 1);
    (void)meet(here);
    (void)meet(here);
  });
  w.start(1, [&](node& here) {
    (void)meet(here);
    const auto faults = [&] { return core::sequential_counters(here.core().regions, here.core().gone).read_faults; };
    const std::uint64_t before = faults();
    for (std::uint64_t at = 0; at < bytes / 2; at += page) (void)here.load(base + at);
    const std::uint64_t half = faults();
    for (std::uint64_t at = bytes / 2; at < bytes; at += page) (void)here.load(base + at);
    small = half - before;
    big = faults() - half;
    (void)meet(here);
  });
  ASSERT_EQ(w.run(), "");
  EXPECT_EQ(small, bytes / 2 / page);
  EXPECT_EQ(big, bytes / 2 / large);
}

/// Both nodes write both units' sizes in checked blocks, and one byte of each.
TEST(toy_layout, has_blocks) {
  world w(two_sizes(1, 2));
  w.add_region(region(QUIRE_SEQUENTIAL));
  for (unsigned n = 0; n < 2; ++n) {
    w.start(n, [&, n](node& here) {
      core::core& c = here.core();
      for (std::uint64_t round = 1; round <= 4; ++round) {
        const std::uint64_t both = round == 4 ? bytes - page : round == 3 ? page : 0;
        {
          const core::job_call together(c, sync::meeting::block_begin, "begin", 9);
          EXPECT_TRUE(c.blocks.begin(1, QUIRE_BLOCK_CHECK).ok());
        }
        for (std::uint64_t at = 0; at < bytes; at += 1024) here.store(base + at + n * 8, round << 8 | n);
        if (both != 0) here.store(base + both + 256, round * 2 + n);
        const core::job_call together(c, sync::meeting::block_end, "end", 9);
        quire_overlap found{};
        EXPECT_EQ(c.blocks.end(1, found).code(), both != 0 ? QUIRE_OVERLAP : QUIRE_OK);
        EXPECT_EQ(found.address, both != 0 ? reinterpret_cast<void*>(base + both + 256) : nullptr);
        for (std::uint64_t at = 0; at < bytes; at += 1024) {
          for (std::uint64_t other = 0; other < 2; ++other)
            EXPECT_EQ(here.load(base + at + other * 8), round << 8 | other);
        }
        EXPECT_TRUE(meet(here).ok());
      }
    });
  }
  EXPECT_EQ(w.run(), "");
}

TEST(toy_layout, gives_each_byte_to_one_unit) {
  const auto body = toy::two_sizes::make({.bytes = bytes, .unit_bytes = large});
  const auto layout = core::unit_layout::of(*body);
  std::uint64_t offset = 0;
  for (std::uint64_t unit = 0; unit < layout.units(); offset += layout.bytes_of(unit), ++unit) {
    EXPECT_EQ(layout.offset_of(unit), offset);
    EXPECT_EQ(layout.unit_of(offset), unit);
    EXPECT_EQ(layout.unit_of(offset + layout.bytes_of(unit) - 1), unit);
    const std::uint64_t most = 3 * page;
    const std::uint64_t fits = layout.fitting(unit, most);
    EXPECT_TRUE(fits == 1 || layout.bytes_of(unit, fits) <= most);
    EXPECT_TRUE(unit + fits == layout.units() || layout.bytes_of(unit, fits + 1) > most);
  }
  EXPECT_EQ(offset, bytes);
  EXPECT_EQ(toy::two_sizes::make({.bytes = bytes + page, .unit_bytes = large}), nullptr);
}

}  // namespace
}  // namespace quire::whole::whole_layout_test
