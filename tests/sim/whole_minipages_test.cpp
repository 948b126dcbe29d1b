// SPDX-License-Identifier: BSD-3-Clause
// Regions with units smaller than a page run on whole nodes: threads use words by the fine view of their unit, or by the natural view, whose pages are
// composed of several units.
#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "core/mapping.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole {
namespace {

constexpr std::uint64_t page = 4096, pages = 3, bytes = pages * page, base = base_address + (std::uint64_t{2} << 20);
constexpr std::uint64_t words = bytes / sizeof(std::uint64_t);

struct shape {
  const char* name;
  std::uint32_t unit_bytes;  ///< 4096: the dynamic layout
  std::uint16_t views;
  std::array<std::uint64_t, pages> of_page{};  ///< of the dynamic one; 0: whole
  friend void PrintTo(const shape& s, std::ostream* to) { *to << s.name; }
};
constexpr shape halves{"halves", 2048, 2}, quarters{"quarters", 1024, 4}, sixths{"of_672_bytes", 672, 6}, small{"of_256_bytes", 256, 16},
    smallest{"of_16_bytes", 16, 256}, mixed{"of_several_sizes", 4096, 16, {256, 0, 1360}};

core::region_description region(const shape& s, quire_consistency consistency) {
  core::region_description about;
  about.id = 1;
  about.base = base;
  about.bytes = bytes;
  about.unit_bytes = s.unit_bytes;
  about.views = s.views;
  about.placement = QUIRE_PLACE_MODULO;
  about.consistency = static_cast<std::uint8_t>(consistency);
  about.layout = core::layouts::divided.id;
  return about;
}

world_options options(std::uint64_t seed, unsigned nodes, sim::random& draw) {
  world_options o;
  o.net.seed = seed;
  o.net.nodes = nodes;
  o.net.reads_late = draw.chance(50);
  o.node.read_ahead = draw.chance(70);
  if (draw.chance(50)) o.intruding_percent = 30;
  if (draw.chance(30)) o.unmapped_permille = 20;
  if (draw.chance(30)) o.node.detector = detect::kind::userfault_thread;
  return o;
}

void add(world& w, const shape& s, quire_consistency consistency) {
  w.add_region(region(s, consistency));
  for (unsigned n = 0; s.unit_bytes == page && n < w.nodes(); ++n) {
    core::region_slot& r = *w.at(n).core().regions.slot(model::region_id{1});
    for (std::uint64_t p = 0; p < pages; ++p) EXPECT_TRUE(core::mapping::divide(r, p, 1, s.of_page[p]));
  }
}

base::status meet(node& here) {
  sync::call c;
  c.what = sync::operation::barrier_wait;
  return here.core().objects.synchronise(c, -1);
}

/// One of the addresses of a word.
std::uint64_t address_of(node& here, std::uint64_t word, unsigned natural_percent, sim::random& draw) {
  const std::uint64_t natural = base + word * sizeof(std::uint64_t);
  return draw.chance(natural_percent) ? natural : here.core().regions.find(natural)->fine(natural);
}

using checked = testing::TestWithParam<shape>;

/// Sequential: whoever reads a word reads what was written last, whichever way.
std::string in_order(const shape& of, std::uint64_t seed, bool pushes = false) {
  sim::random draw(sim::mix(seed ^ 0x3171));
  const unsigned nodes = 2 + static_cast<unsigned>(seed % 3), natural_percent = std::array{0u, 10u, 50u, 100u}[draw.below(4)];
  world w(options(seed, nodes, draw));
  add(w, of, QUIRE_SEQUENTIAL);
  const std::uint64_t spread = draw.chance(50) ? words : 64;  // all of it, or a few units of one page
  for (unsigned n = 0; n < nodes; ++n) {
    for (unsigned thread = 0; thread < 2; ++thread) {
      w.start(n, [&, s = draw.next(), id = std::uint64_t{n} * 2 + thread + 1](node& here) {
        sim::random mine(s);
        for (std::uint64_t i = 1; i <= 60 && !w.failed(); ++i) {
          const std::uint64_t at = address_of(here, mine.below(spread), natural_percent, mine);
          std::uint64_t latest = 0;
          if (pushes && mine.chance(10) && !here.core().calls.push(base + mine.below(pages) * page, page).ok()) w.fail("a push is refused");
          if (mine.chance(40)) {
            here.store(at, id << 32 | i);
          } else if (here.load(at, latest) != latest) {
            w.fail("a word is old");
          }
        }
      });
    }
  }
  return w.run();
}

class minipages_in_order : public checked {};
TEST_P(minipages_in_order, holds_for_every_seed) {
  for (const std::uint64_t seed : sim::seeds(1, GetParam().unit_bytes < 100 ? 4 : 150)) {
    const std::string wrong = in_order(GetParam(), seed);
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}
INSTANTIATE_TEST_SUITE_P(sizes, minipages_in_order, testing::Values(halves, quarters, sixths, small, smallest, mixed),
                         [](const auto& info) { return info.param.name; });

/// A unit without a frame came for a composed page, whose page was taken away before; then a thread used it by its own page, and faulted for ever.
TEST(minipages, map_what_was_left_for_later_though_it_has_no_frame) {
  EXPECT_EQ(in_order(halves, 4298), "");
  EXPECT_EQ(in_order(mixed, 6812), "");
}

/// A push found the pins of a claimed page, and took them for the program's.
TEST(minipages, are_pushed_while_their_pages_are_claimed) {
  for (const std::uint64_t seed : sim::seeds(1, 100)) {
    const std::string wrong = in_order(quarters, seed, true);
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}

/// Release: words of one's own, seen by all behind a barrier.
class minipages_released : public checked {};
TEST_P(minipages_released, holds_for_every_seed) {
  for (const std::uint64_t seed : sim::seeds(1, 100)) {
    sim::random draw(sim::mix(seed ^ 0x3172));
    const unsigned nodes = 2 + static_cast<unsigned>(seed % 3), natural_percent = std::array{0u, 10u, 50u, 100u}[draw.below(4)];
    world w(options(seed, nodes, draw));
    add(w, GetParam(), QUIRE_RELEASE);
    for (unsigned n = 0; n < nodes; ++n) {
      w.start(n, [&, n, s = draw.next()](node& here) {
        sim::random mine(s);
        for (std::uint64_t round = 1; round <= 4 && !w.failed(); ++round) {
          for (unsigned i = 0; i < 30; ++i) {
            const std::uint64_t word = mine.below(words / nodes) * nodes + n;
            here.store(address_of(here, word, natural_percent, mine), round << 32 | i | 1);
          }
          if (!meet(here).ok()) return w.fail("a barrier fails");
          for (unsigned i = 0; i < 30; ++i) {
            const std::uint64_t word = mine.below(words);
            if (here.load(address_of(here, word, natural_percent, mine)) != w.latest(base + word * sizeof(std::uint64_t))) w.fail("a word is old");
          }
          if (!meet(here).ok()) return w.fail("a barrier fails");
        }
      });
    }
    const std::string wrong = w.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}
INSTANTIATE_TEST_SUITE_P(sizes, minipages_released, testing::Values(halves, quarters, sixths, small, smallest, mixed),
                         [](const auto& info) { return info.param.name; });

/// Neighbours on one page do not send each other messages.
TEST(minipages, do_not_share_falsely) {
  sim::random draw(5);
  world_options o;
  o.net.seed = 5;
  o.net.nodes = 2;
  world w(o);
  add(w, small, QUIRE_SEQUENTIAL);
  std::array<std::uint64_t, 2> faults{};
  for (unsigned n = 0; n < 2; ++n) {
    w.start(n, [&, n](node& here) {
      const std::uint64_t at = here.core().regions.find(base)->fine(base + n * 256);
      here.store(at, 1);
      (void)meet(here);
      const auto count = [&] { return core::sequential_counters(here.core().regions, here.core().gone).write_faults; };
      const std::uint64_t before = count();
      for (std::uint64_t i = 2; i < 1000; ++i) here.store(at, i);
      faults[n] = count() - before;
      (void)meet(here);
    });
  }
  ASSERT_EQ(w.run(), "");
  EXPECT_EQ(faults[0] + faults[1], 0u);
}

/// A page of the natural view comes by one request, though it has many units.
TEST(minipages, bring_a_composed_page_at_once) {
  sim::random draw(5);
  world_options o;
  o.net.seed = 5;
  o.net.nodes = 2;
  o.node.read_ahead = false;
  world w(o);
  add(w, small, QUIRE_SEQUENTIAL);
  std::uint64_t sent = 0;
  w.start(0, [&](node& here) {
    for (std::uint64_t word = 0; word < words; ++word) here.store(base + word * 8, word + 1);
    (void)meet(here);
    (void)meet(here);
  });
  w.start(1, [&](node& here) {
    (void)meet(here);
    const std::uint64_t before = w.net().messages();
    for (std::uint64_t word = 0; word < page / 8; ++word) EXPECT_EQ(here.load(base + word * 8), word + 1);
    sent = w.net().messages() - before;
    (void)meet(here);
  });
  ASSERT_EQ(w.run(), "");
  EXPECT_LE(sent, 6u);
}

}  // namespace
}  // namespace quire::whole
