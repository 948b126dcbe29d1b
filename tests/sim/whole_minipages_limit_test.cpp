// SPDX-License-Identifier: BSD-3-Clause
// Regions with units smaller than a page on whole nodes that are short of memory: a page leaves memory with all its
// units, and comes back with all of them, whoever wants one. Threads use words by the fine view of their unit, or by
// the natural view.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>
#include <string>
#include <unordered_map>

#include "core/absent_units.hpp"
#include "core/content.hpp"
#include "core/fault_ranges.hpp"
#include "core/frames.hpp"
#include "core/pins.hpp"
#include "core/region_slot.hpp"
#include "core/unit_calls.hpp"
#include "model/atomic_operation.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/actor.hpp"
#include "sim/whole/world.hpp"
#include "tests/sim/minipage_regions.hpp"

namespace quire::whole::whole_minipages_limit_test {
namespace {

using namespace minipage_regions;

constexpr std::uint64_t least_limit = 16 * page;
constexpr std::uint64_t counter_word = 2,
                        used_words = 40;  ///< of a page: threads use some words at its begin, and as many at its end

/// Of a region: checks look at all its units after each turn.
constexpr std::uint64_t pages_of(const shape& s) { return s.views > 16 ? 20 : 40; }

world_options options(std::uint64_t seed, unsigned nodes, sim::random& draw) {
  world_options o;
  o.net.seed = seed;
  o.net.nodes = nodes;
  o.net.reads_late = draw.chance(50);
  o.net.max_delay = draw.chance(20) ? 200'000 : o.net.max_delay;
  o.node.read_ahead = draw.chance(70);
  o.node.memory_limit = least_limit + page * draw.below(8);
  o.node.pages_out = true;
  o.limited_percent = draw.chance(70) ? 100 : 60;
  o.store_delay = draw.chance(50) ? 20'000 : 300'000;
  o.store_fails_percent = draw.chance(20) ? 10 : 0;
  if (draw.chance(50)) o.intruding_percent = 30;
  if (draw.chance(30)) o.unmapped_permille = 20;
  if (draw.chance(30)) o.node.detector = detect::kind::userfault_thread;
  if (draw.chance(30)) o.node.twin_bytes = page << draw.below(4);
  return o;
}

core::region_description region(const shape& s, quire_consistency consistency, unsigned nodes, std::uint64_t seed,
                                sim::random& draw) {
  core::region_description about =
      minipage_regions::region(s, consistency, pages_of(s), static_cast<core::grouping>(sim::mix(seed ^ 0x3174) % 3));
  about.placement = static_cast<std::uint8_t>(
      std::array{QUIRE_PLACE_MODULO, QUIRE_PLACE_BLOCK, QUIRE_PLACE_NODE, QUIRE_PLACE_FIRST_TOUCH}[draw.below(4)]);
  about.home = static_cast<std::uint16_t>(draw.below(nodes));
  return about;
}

/// A word that threads write, in any page: some units of it are used, and words of one page in several.
std::uint64_t word_in(std::uint64_t p, sim::random& draw) {
  const std::uint64_t at = 4 + draw.below(used_words);
  return p * words_of_page + (draw.chance(50) ? at : words_of_page - 1 - at);
}

/// Counters are added to by all nodes: no two additions find the same.
class counters {
 public:
  void add(world& w, actor& t, std::uint64_t at) {
    const std::uint64_t natural = t.here.core().regions.find(at)->natural(at);
    const std::uint64_t before = t.operate(at, model::atomic_operation::add, 1);
    if (!before_[natural].insert(before).second)
      w.fail("two atomic additions found " + std::to_string(before) + " in " + w.name_of(natural));
    w.wrote(natural, before_[natural].size(), t.here.self());
  }

 private:
  std::unordered_map<std::uint64_t, std::set<std::uint64_t>> before_{};
};

struct totals {
  std::uint64_t written = 0, read = 0, pins = 0;
};

void add_up(world& w, totals& t) {
  for (unsigned n = 0; n < w.nodes(); ++n) {
    t.written += w.at(n).core().frames.count.written;
    t.read += w.at(n).core().frames.count.read;
  }
}

/// Uses a page that the thread has pinned, by any view.
void use_pinned(world& w, actor& t, std::uint64_t p, totals& done) {
  int holder = -1;
  const auto why = t.here.core().pins.acquire(base + p * page, page, t.draw.chance(80) ? -1 : 1, holder);
  if (why.code() == QUIRE_TIMED_OUT) return;
  t.must(why, "a pin");
  ++done.pins;
  for (unsigned i = 0; i < 3 && !w.failed(); ++i) {
    const std::uint64_t at = address_of(t.here, word_in(p, t.draw), 50, t.draw);
    t.draw.chance(50) ? t.write(at) : (void)t.read(at);
  }
  t.must(t.here.core().pins.release(base + p * page, page), "the end of a pin");
}

void hint(actor& t, std::uint64_t p, std::uint64_t pages) {
  const std::uint64_t at = base + p * page, bytes = page * (1 + t.draw.below(std::min<std::uint64_t>(pages - p, 6)));
  const auto want = t.draw.chance(50) ? access::write : access::read;
  switch (t.draw.below(4)) {
    case 0:
      return prefetch_range(t.here.core(), at, bytes, want);
    case 1:
      return advise_range(t.here.core(), at, bytes, t.draw.chance(50));
    case 2:
      return void(touch_range(t.here.core(), at, std::min<std::uint64_t>(bytes, 2 * page), want));
    default:
      t.must(t.here.core().calls.push(at, page), "a push", QUIRE_BUSY);
  }
}

using checked = testing::TestWithParam<shape>;

/// Sequential: whoever reads a word reads what was written last, whichever way.
std::string in_order(const shape& of, std::uint64_t seed, totals& done) {
  sim::random draw(sim::mix(seed ^ 0x3173));
  const unsigned nodes = 1 + static_cast<unsigned>(seed % 3),
                 natural_percent = std::array{0u, 10u, 50u, 100u}[draw.below(4)];
  world w(options(seed, nodes, draw));
  add(w, of, region(of, QUIRE_SEQUENTIAL, nodes, seed, draw));
  const std::uint64_t pages = pages_of(of), steps = 90,
                      few = draw.chance(50) ? 100 : 40;  // percent of steps that go to any page
  counters counted;
  for (unsigned n = 0; n < nodes; ++n) {
    for (unsigned thread = 0; thread < 2; ++thread) {
      w.start(n, [&, s = draw.next(), thread](node& here) {
        actor t(w, here, thread + 1, s);
        for (std::uint64_t i = 0; i < steps && !w.failed(); ++i) {
          const std::uint64_t p = t.draw.below(t.draw.chance(static_cast<unsigned>(few)) ? pages : 4);
          const std::uint64_t what = t.draw.below(100);
          if (what < 5) {
            use_pinned(w, t, p, done);
          } else if (what < 10) {
            hint(t, p, pages);
          } else if (what < 20) {
            counted.add(w, t, address_of(here, p * words_of_page + counter_word, natural_percent, t.draw));
          } else {
            const std::uint64_t at = address_of(here, word_in(p, t.draw), natural_percent, t.draw);
            what < 60 ? t.write(at) : (void)t.read(at);
          }
        }
      });
    }
  }
  const std::string wrong = w.run();
  add_up(w, done);
  return wrong;
}

class minipages_limited : public checked {};
TEST_P(minipages_limited, hold_for_every_seed) {
  totals done;
  for (const std::uint64_t seed : sim::seeds(1, GetParam().views > 16 ? 10 : 40)) {
    const std::string wrong = in_order(GetParam(), seed, done);
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
  if (!sim::usual_seeds()) return;
  EXPECT_GT(done.written, 10u);
  EXPECT_GT(done.read, 10u);
  EXPECT_GT(done.pins, 5u);
}
INSTANTIATE_TEST_SUITE_P(sizes, minipages_limited, testing::Values(halves, quarters, sixths, small, tiny, mixed),
                         [](const auto& info) { return info.param.name; });

/// Three nodes took the units of a page from each other for ever: messages took so long that no thread came back soon
/// enough to claim it.
TEST(minipages_limited_pinned, pages_that_all_nodes_want_on_a_slow_network) {
  totals done;
  EXPECT_EQ(in_order(quarters, 41182494502879268, done), "");
}

/// Release: words of one's own, seen by all behind a barrier. Of a dynamic layout half of the pages are divided after a
/// while, which threads have looked at before: a heap grows.
std::string released(const shape& of, std::uint64_t seed, totals& done) {
  sim::random draw(sim::mix(seed ^ 0x3174));
  const unsigned nodes = 1 + static_cast<unsigned>(seed % 3),
                 natural_percent = std::array{0u, 10u, 50u, 100u}[draw.below(4)];
  const auto consistency = draw.chance(75) ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
  const std::uint64_t pages = pages_of(of);
  world w(options(seed, nodes, draw));
  w.add_region(region(of, consistency, nodes, seed, draw));
  for (unsigned n = 0; n < nodes; ++n) divide(w.at(n), of, 0, pages / 2);
  counters counted;
  for (unsigned n = 0; n < nodes; ++n) {
    w.start(n, [&, n, s = draw.next()](node& here) {
      actor t(w, here, 1, s);
      std::uint64_t used = pages / 2;
      for (unsigned round = 0; round < 4 && !w.failed(); ++round) {
        const bool grows = round == 1;
        for (unsigned i = 0; grows && i < 10; ++i)
          t.check(base + (pages / 2 + i) * page, here.load(base + (pages / 2 + i) * page));
        t.must(meet(here), "a barrier");
        if (grows) here.core().as_driver([&] { divide(here, of, pages / 2, pages / 2); });
        if (grows) used = pages;
        t.must(meet(here), "a barrier");
        for (unsigned i = 0; i < 40 && !w.failed(); ++i) {
          const std::uint64_t word = word_in(t.draw.below(used), t.draw);
          if (t.draw.chance(10))
            counted.add(w, t, address_of(here, word / words_of_page * words_of_page + counter_word, 50, t.draw));
          if (t.draw.chance(5)) hint(t, t.draw.below(used), used);
          if (word % nodes == n) t.write(address_of(here, word, natural_percent, t.draw));
        }
        t.must(meet(here), "a barrier");
        for (unsigned i = 0; i < 30 && !w.failed(); ++i) {
          const std::uint64_t word = word_in(t.draw.below(used), t.draw);
          t.check(base + word * sizeof(std::uint64_t), here.load(address_of(here, word, natural_percent, t.draw)));
        }
      }
    });
  }
  const std::string wrong = w.run();
  add_up(w, done);
  return wrong;
}

class minipages_limited_and_released : public checked {};
TEST_P(minipages_limited_and_released, hold_for_every_seed) {
  totals done;
  for (const std::uint64_t seed : sim::seeds(1, GetParam().views > 16 ? 10 : 40)) {
    const std::string wrong = released(GetParam(), seed, done);
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
  if (!sim::usual_seeds()) return;
  EXPECT_GT(done.written, 10u);
  EXPECT_GT(done.read, 10u);
}
INSTANTIATE_TEST_SUITE_P(sizes, minipages_limited_and_released,
                         testing::Values(halves, quarters, sixths, small, tiny, mixed),
                         [](const auto& info) { return info.param.name; });

/// A page of 16 units on a node of its own: word 0 of its unit 0 is 7, and the page is in its store. Then the driver
/// goes on.
template <class F>
void with_page_in_store(F&& go_on) {
  world_options o;
  o.net.seed = 1;
  o.net.nodes = 1;
  o.node.memory_limit = least_limit;
  o.node.pages_out = true;
  world w(o);
  add(w, small, minipage_regions::region(small, QUIRE_SEQUENTIAL, 4));
  w.start(0, [&](node& here) {
    here.store(base, 7);
    here.core().as_driver([&] {
      core::frames& f = here.core().frames;
      core::region_slot& r = slot(here);
      f.own.forget(r.about.id, [](std::uint64_t) { return page; });
      f.begin_flush(r, 0, 1);
      while (f.finish_one(r) != nullptr) continue;
      ASSERT_TRUE(f.is_away(r, 0) && here.peek(base) == 0 && f.used() == 0);
      go_on(here, f, r);
    });
    EXPECT_EQ(here.load(base), 7u);
  });
  EXPECT_EQ(w.run(), "");
}

TEST(frames_of_minipages, come_back_before_content_of_a_unit_lands_in_them) {
  with_page_in_store([](node& here, core::frames& f, core::region_slot& r) {
    use_content(f, r, 5, 1, core::content::replaced);
    EXPECT_TRUE(f.is_here(r, 0));
    EXPECT_EQ(here.peek(base), 7u);
    EXPECT_EQ(f.used(), page);
    use_content(f, r, 6, 2, core::content::replaced);  // before the first has been received
    core::content_landed(r, 5, 1);
    EXPECT_TRUE(f.is_moving(r, 0));
    core::content_landed(r, 6, 2);
    EXPECT_FALSE(f.is_moving(r, 0));
  });
}

TEST(frames_of_minipages, that_are_on_their_way_back_come_before_others_use_them) {
  with_page_in_store([](node& here, core::frames& f, core::region_slot& r) {
    f.begin_fill(r, 0, 1);
    EXPECT_TRUE(here.core().absent.must_wait(r, 9, 1));  // no content of its own is needed for that
    use_content(f, r, 5, 1, core::content::promised);
    EXPECT_TRUE(f.is_here(r, 0) && !f.is_filling(r, 0));
    EXPECT_EQ(here.peek(base), 7u);
  });
}

/// What comes is all of the page.
TEST(frames_of_minipages, are_not_read_where_all_units_come_at_once) {
  with_page_in_store([](node& here, core::frames& f, core::region_slot& r) {
    use_content(f, r, 0, 16, core::content::replaced);
    core::content_landed(r, 0, 16);
    EXPECT_EQ(f.count.read, 0u);
    EXPECT_EQ(here.peek(base), 0u);
    const std::uint64_t seven = 7;
    std::memcpy(r.system(0), &seven, sizeof seven);
  });
}

}  // namespace
}  // namespace quire::whole::whole_minipages_limit_test
