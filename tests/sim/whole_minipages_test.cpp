// SPDX-License-Identifier: BSD-3-Clause
// Regions with units smaller than a page run on whole nodes: threads use words by the fine view of their unit, or by
// the natural view, whose pages are composed of several units.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "core/counters.hpp"
#include "core/fault.hpp"
#include "core/minipages/whole_pages.hpp"
#include "core/pins.hpp"
#include "core/region_slot.hpp"
#include "core/unit_calls.hpp"
#include "directory/pins.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/world.hpp"
#include "tests/sim/minipage_regions.hpp"

namespace quire::whole::whole_minipages_test {
namespace {

using namespace minipage_regions;

constexpr std::uint64_t pages = 3, bytes = pages * page, words = bytes / sizeof(std::uint64_t);

core::grouping grouping_of(std::uint64_t seed) { return static_cast<core::grouping>(sim::mix(seed ^ 0x3173) % 3); }

void add(world& w, const shape& s, quire_consistency consistency, core::grouping how = core::grouping::none) {
  add(w, s, region(s, consistency, pages, how));
}

using checked = testing::TestWithParam<shape>;

/// Sequential: whoever reads a word reads what was written last, whichever way.
std::string in_order(const shape& of, std::uint64_t seed, core::grouping how, bool pushes = false) {
  sim::random draw(sim::mix(seed ^ 0x3171));
  const unsigned nodes = 2 + static_cast<unsigned>(seed % 3),
                 natural_percent = std::array{0u, 10u, 50u, 100u}[draw.below(4)];
  world w(options(seed, nodes, draw));
  add(w, of, QUIRE_SEQUENTIAL, how);
  const std::uint64_t spread = draw.chance(50) ? words : 64;  // all of it, or a few units of one page
  for (unsigned n = 0; n < nodes; ++n) {
    for (unsigned thread = 0; thread < 2; ++thread) {
      w.start(n, [&, s = draw.next(), id = std::uint64_t{n} * 2 + thread + 1](node& here) {
        sim::random mine(s);
        for (std::uint64_t i = 1; i <= 60 && !w.failed(); ++i) {
          const std::uint64_t at = address_of(here, mine.below(spread), natural_percent, mine);
          std::uint64_t latest = 0;
          if (pushes && mine.chance(10) && !here.core().calls.push(base + mine.below(pages) * page, page).ok())
            w.fail("a push is refused");
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
    const std::string wrong = in_order(GetParam(), seed, grouping_of(seed));
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}
INSTANTIATE_TEST_SUITE_P(sizes, minipages_in_order, testing::Values(halves, quarters, sixths, small, smallest, mixed),
                         [](const auto& info) { return info.param.name; });

/// A unit without a frame came for a composed page, whose page was taken away before; then a thread used it by its own
/// page, and faulted for ever.
TEST(minipages, map_what_was_left_for_later_though_it_has_no_frame) {
  EXPECT_EQ(in_order(halves, 4298, core::grouping::none), "");
  EXPECT_EQ(in_order(mixed, 6812, core::grouping::none), "");
}

/// A push found the pins of a claimed page, and took them for the program's.
TEST(minipages, are_pushed_while_their_pages_are_claimed) {
  for (const std::uint64_t seed : sim::seeds(1, 100)) {
    const std::string wrong = in_order(quarters, seed, grouping_of(seed), true);
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}

/// A page that all nodes want at a time, as a whole and by units.
std::string contended(std::uint64_t seed, sim::time_ns least_delay, sim::time_ns most_delay) {
  sim::random draw(sim::mix(seed ^ 0x3175));
  world_options o = options(seed, 3, draw);
  o.net.min_delay = least_delay;
  o.net.max_delay = most_delay;
  const unsigned natural_percent = draw.chance(50) ? 100 : 80;
  world w(o);
  add(w, quarters, QUIRE_SEQUENTIAL, grouping_of(seed));
  for (unsigned n = 0; n < w.nodes(); ++n) {
    w.start(n, [&w, natural_percent, s = draw.next()](node& here) {
      sim::random mine(s);
      for (unsigned i = 0; i < 60 && !w.failed(); ++i) {
        const std::uint64_t at = address_of(here, words_of_page + mine.below(words_of_page), natural_percent, mine);
        std::uint64_t latest = 0;
        if (mine.chance(60)) {
          here.store(at, w.unique());
        } else if (here.load(at, latest) != latest) {
          w.fail("a word is old");
        }
      }
    });
  }
  return w.run();
}

/// Threads that came again later than after half a millisecond never claimed a page.
TEST(minipages, are_used_as_pages_whatever_time_messages_take) {
  for (const std::uint64_t seed : sim::seeds(1, 20)) {
    ASSERT_EQ(contended(seed, 200'000, 600'000), "") << "replay: QUIRE_SIM_SEED=" << seed;
    ASSERT_EQ(contended(seed, 5'000'000, 9'000'000), "") << "replay: QUIRE_SIM_SEED=" << seed;
  }
}

/// Release: words of one's own, seen by all behind a barrier.
class minipages_released : public checked {};
TEST_P(minipages_released, holds_for_every_seed) {
  for (const std::uint64_t seed : sim::seeds(1, 100)) {
    sim::random draw(sim::mix(seed ^ 0x3172));
    const unsigned nodes = 2 + static_cast<unsigned>(seed % 3),
                   natural_percent = std::array{0u, 10u, 50u, 100u}[draw.below(4)];
    world w(options(seed, nodes, draw));
    add(w, GetParam(), QUIRE_RELEASE, grouping_of(seed));
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
            if (here.load(address_of(here, word, natural_percent, mine)) !=
                w.latest(base + word * sizeof(std::uint64_t)))
              w.fail("a word is old");
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

/// A thread that writes a page of the natural view needs twins of all its units at a time, however few twins there may
/// be.
TEST(minipages, of_one_page_keep_their_twins_until_all_have_one) {
  for (const shape& of : {small, smallest}) {
    world_options o;
    o.net.seed = 5;
    o.net.nodes = 2;
    o.node.twin_bytes = page;
    world w(o);
    core::region_description about = region(of, QUIRE_RELEASE, pages);
    about.placement = QUIRE_PLACE_NODE;
    add(w, of, about);
    w.start(1, [&](node& here) {
      for (std::uint64_t i = 0; i < 3 * pages; ++i) here.store(base + i % pages * page + i * 8, i + 1);
    });
    EXPECT_EQ(w.run(), "") << of.name;
  }
}

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

struct counts {
  std::uint64_t messages = 0, faults = 0;
};

/// Two nodes, in turns: node 0 writes the first word of units [first, end) of the first page, node 1 reads those of
/// [first, read_end). What the last of so many rounds cost node 1.
counts read_in_turns(core::grouping how, std::uint64_t end, std::uint64_t read_end, unsigned rounds) {
  world_options o;
  o.net.seed = 5;
  o.net.nodes = 2;
  world w(o);
  add(w, small, QUIRE_SEQUENTIAL, how);
  counts last;
  for (unsigned n = 0; n < 2; ++n) {
    w.start(n, [&, n](node& here) {
      const auto at = [&](std::uint64_t i) { return here.core().regions.find(base)->fine(base + i * 7 % 16 * 256); };
      for (unsigned round = 1; round <= rounds; ++round) {
        for (std::uint64_t i = 0; n == 0 && i < end; ++i) here.store(at(i), round);
        (void)meet(here);
        const counts before{w.net().messages(),
                            core::sequential_counters(here.core().regions, here.core().gone).read_faults};
        for (std::uint64_t i = 0; n == 1 && i < read_end; ++i) EXPECT_EQ(here.load(at(i)), round);
        if (n == 1)
          last = {w.net().messages() - before.messages,
                  core::sequential_counters(here.core().regions, here.core().gone).read_faults - before.faults};
        (void)meet(here);
      }
    });
  }
  EXPECT_EQ(w.run(), "");
  return last;
}

TEST(minipages, come_together_where_they_are_used_together) {
  EXPECT_EQ(read_in_turns(core::grouping::none, 16, 16, 8).faults, 16u);
  for (const auto how : {core::grouping::page, core::grouping::adaptive}) {
    for (const unsigned rounds : {1, 8, 40}) EXPECT_EQ(read_in_turns(how, 16, 16, rounds).faults, 1u);
    EXPECT_LE(read_in_turns(how, 16, 16, 8).messages, read_in_turns(core::grouping::none, 16, 16, 8).messages / 4);
  }
}

/// Node 0 keeps 14 of 16 to itself: they stay where they are as soon as they have come for nothing.
TEST(minipages, stay_apart_where_they_are_used_apart) {
  EXPECT_EQ(read_in_turns(core::grouping::none, 16, 2, 8).faults, 2u);
  EXPECT_EQ(read_in_turns(core::grouping::adaptive, 16, 2, 8).faults, 1u);
  EXPECT_LE(read_in_turns(core::grouping::adaptive, 16, 2, 8).messages,
            read_in_turns(core::grouping::none, 16, 2, 8).messages);
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

/// The end of a job drops what the program has left pinned; a page that this node has just had as a whole is none of
/// that, and its pins end once.
TEST(minipages, pins_of_a_whole_page_end_before_the_rest_is_dropped) {
  world_options o;
  o.net.nodes = 1;
  world w(o);
  add(w, quarters, QUIRE_SEQUENTIAL);
  w.start(0, [&](node& here) {
    here.store(base, 1);
    core::core& c = here.core();
    c.as_driver([&] {
      for (int i = 0; i < 100 && c.whole.empty(); ++i) c.whole.note_try(slot(here), 0, model::access::write);
      EXPECT_FALSE(c.whole.empty());
      (void)c.whole.look();
      EXPECT_NE(c.pinned.size(), 0u);
      c.pins.drop_pins();
      EXPECT_TRUE(c.whole.empty());
      EXPECT_EQ(c.pinned.size(), 0u);
    });
    w.sleep(10'000'000);
    here.store(base, 2);
  });
  EXPECT_EQ(w.run(), "");
}

}  // namespace
}  // namespace quire::whole::whole_minipages_test
