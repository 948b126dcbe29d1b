// SPDX-License-Identifier: BSD-3-Clause
// Regions with units smaller than a page run on whole nodes: threads use words by the fine view of their unit, or by the natural view, whose pages are
// composed of several units.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/job_call.hpp"
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

core::grouping grouping_of(std::uint64_t seed) { return static_cast<core::grouping>(sim::mix(seed ^ 0x3173) % 3); }

core::region_description region(const shape& s, quire_consistency consistency, core::grouping how) {
  core::region_description about;
  about.id = 1;
  about.base = base;
  about.bytes = bytes;
  about.unit_bytes = s.unit_bytes;
  about.views = s.views;
  about.placement = QUIRE_PLACE_MODULO;
  about.consistency = static_cast<std::uint8_t>(consistency);
  about.layout = core::layouts::divided.id;
  about.grouping = static_cast<std::uint8_t>(how);
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

void add(world& w, const shape& s, quire_consistency consistency, core::grouping how = core::grouping::none) {
  w.add_region(region(s, consistency, how));
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
std::string in_order(const shape& of, std::uint64_t seed, core::grouping how) {
  sim::random draw(sim::mix(seed ^ 0x3171));
  const unsigned nodes = 2 + static_cast<unsigned>(seed % 3), natural_percent = std::array{0u, 10u, 50u, 100u}[draw.below(4)];
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

/// A unit without a frame came for a composed page, whose page was taken away before; then a thread used it by its own page, and faulted for ever.
TEST(minipages, map_what_was_left_for_later_though_it_has_no_frame) {
  EXPECT_EQ(in_order(halves, 4298, core::grouping::none), "");
  EXPECT_EQ(in_order(mixed, 6812, core::grouping::none), "");
}

/// Release: words of one's own, seen by all behind a barrier.
class minipages_released : public checked {};
TEST_P(minipages_released, holds_for_every_seed) {
  for (const std::uint64_t seed : sim::seeds(1, 100)) {
    sim::random draw(sim::mix(seed ^ 0x3172));
    const unsigned nodes = 2 + static_cast<unsigned>(seed % 3), natural_percent = std::array{0u, 10u, 50u, 100u}[draw.below(4)];
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

/// What all nodes do together with the region, before its words are compared.
struct together {
  enum class what { nothing, change, block, checked_block, hold };
  what kind = what::nothing;
  quire_consistency to = QUIRE_SEQUENTIAL;  ///< of a change
  bool meets = false;                       ///< within the block
  std::uint64_t both_write = 0;             ///< a word, whose first byte two nodes change in a checked block; 0: none
  unsigned a = 0, b = 0;                    ///< these
};
constexpr std::uint64_t mixed_words = 11;  ///< each of so many is for overlaps

struct phases {
  std::vector<together> all;
  unsigned nodes, natural_percent;
  unsigned left = 0;  ///< leaders that have not ended
  std::vector<std::uint64_t> image = std::vector<std::uint64_t>(words);  ///< what nodes keep, while they are held
  std::vector<bool> kept = std::vector<bool>(words);
  std::vector<std::uint64_t> saved{};  ///< of the last time
};

/// A word of one's own: each node has two threads.
std::uint64_t own_word(unsigned thread, unsigned nodes, sim::random& draw) {
  for (;;) {
    const std::uint64_t word = draw.below(words / (2 * nodes)) * 2 * nodes + thread;
    if (word % mixed_words != 0) return word;
  }
}

/// As for a checkpoint: each word has one keeper, and stays what it is.
void hold(world& w, phases& p, node& here, sim::random& draw) {
  core::core& c = here.core();
  const core::job_call call(c, sync::meeting::checkpoint, "hold", 1);
  here.expect_less(true);
  if (!c.holding.hold().ok()) return w.fail("a hold fails");
  const auto look = [&](auto&& at_word) {
    for (const core::kept_run& run : c.holding.kept()) {
      const std::uint64_t first = run.region->layout.offset_of(run.first) / 8, end = first + run.region->bytes_of(run.first, run.count) / 8;
      for (std::uint64_t word = first; word < end; ++word) at_word(word, here.peek(base + word * 8));
    }
  };
  look([&](std::uint64_t word, std::uint64_t value) {
    if (p.kept[word]) w.fail("a word has two keepers");
    p.kept[word] = true;
    p.image[word] = value;
  });
  w.sleep(draw.below(50'000));
  look([&](std::uint64_t word, std::uint64_t value) {
    if (p.image[word] != value) w.fail("a word changes while it is held");
  });
  if (!meet(here).ok()) w.fail("a barrier fails");
  for (std::uint64_t word = 0; word < words; ++word) {
    if (!w.is_unknown(base + word * 8) && p.image[word] != w.latest(base + word * 8)) w.fail("what is kept is not what was written last");
  }
  if (!meet(here).ok()) w.fail("a barrier fails");
  c.holding.let_go();
  here.expect_less(false);
}

/// One of each node begins and ends blocks, changes the consistency, and holds content still.
void lead(world& w, phases& p, unsigned n, node& here, sim::random draw) {
  core::core& c = here.core();
  const auto must = [&w](base::status why, const char* what) {
    if (!why.ok()) w.fail(std::string(what) + " fails with status " + std::to_string(why.code()));
  };
  const auto at = [&](std::uint64_t word) { return address_of(here, word, p.natural_percent, draw); };
  const auto latest = [&w](std::uint64_t word) { return w.latest(base + word * sizeof(std::uint64_t)); };
  const auto write = [&](std::uint64_t value) {
    for (unsigned i = 0; i < 20; ++i) here.store(at(own_word(2 * n, p.nodes, draw)), value << 32 | i | 1);
  };
  // Words of leaders: nobody writes them meanwhile.
  const auto check = [&](const std::vector<std::uint64_t>& expected) {
    for (unsigned i = 0; i < 30; ++i) {
      const std::uint64_t word = own_word(2 * static_cast<unsigned>(draw.below(p.nodes)), p.nodes, draw);
      const bool mine = word % (2 * p.nodes) == 2 * n;
      if (here.load(at(word)) != (mine || expected.empty() ? latest(word) : expected[word])) w.fail("a word is old, or too new");
    }
  };
  std::uint64_t round = 0;
  for (const together& t : p.all) {
    if (w.failed()) break;
    const bool block = t.kind == together::what::block || t.kind == together::what::checked_block, checked = t.kind == together::what::checked_block;
    if (t.kind == together::what::change) {
      const core::job_call call(c, sync::meeting::set_consistency, "change", 1);
      must(c.changes.set_consistency(1, t.to), "a change");
    }
    if (t.kind == together::what::hold) hold(w, p, here, draw);
    std::vector<std::uint64_t> before(words);
    for (std::uint64_t word = 0; word < words; ++word) before[word] = latest(word);
    if (block) {
      const core::job_call call(c, sync::meeting::block_begin, "begin", 1);
      must(c.blocks.begin(1, checked ? QUIRE_BLOCK_CHECK : 0), "the begin of a block");
    }
    write(++round);
    if (t.meets) must(meet(here), "a barrier");
    if (checked) check(before);
    write(++round);
    if (t.both_write != 0 && (n == t.a || n == t.b)) {
      const std::uint64_t word = at(t.both_write);
      here.store(word, here.load(word) + (n == t.a ? 1 : 2));
      w.forget(base + t.both_write * sizeof(std::uint64_t));
    }
    if (block) {
      const core::job_call call(c, sync::meeting::block_end, "end", 1);
      quire_overlap found{};
      const auto why = c.blocks.end(1, found);
      const std::uint64_t place = base + t.both_write * sizeof(std::uint64_t);
      if (t.both_write == 0) {
        must(why, "the end of a block");
      } else if (why.code() != QUIRE_OVERLAP || found.address != reinterpret_cast<void*>(c.regions.find(place)->fine(place)) ||
                 found.node_a != static_cast<int>(t.a) || found.node_b != static_cast<int>(t.b)) {
        w.fail("an overlap is told wrong");
      }
    }
    must(meet(here), "a barrier");
    check({});
    if (n == 0 && t.kind == together::what::hold) {
      p.saved = std::exchange(p.image, std::vector<std::uint64_t>(words));
      p.kept.assign(words, false);
    }
    must(meet(here), "a barrier");
  }
  --p.left;
}

/// Others go on with words of their own all the while, each for some time: who changes to another word may have to wait for it.
void follow(world& w, phases& p, unsigned n, node& here, sim::random draw) {
  std::uint64_t word = 0, at = 0;
  for (std::uint64_t i = 1; p.left != 0 && !w.failed(); ++i) {
    if (at == 0 || draw.chance(10)) {
      word = own_word(2 * n + 1, p.nodes, draw);
      at = address_of(here, word, p.natural_percent, draw);
    }
    if (here.load(at) != w.latest(base + word * sizeof(std::uint64_t))) w.fail("a word of one's own is lost");
    here.store(at, i << 16 | n);
    w.sleep(draw.below(20'000));
  }
}

class saved_store final : public store::store {
 public:
  saved_store(const std::vector<std::uint64_t>& from, std::uint64_t position) : from_(from), position_(position) {}
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    std::memcpy(into.data(), std::as_bytes(std::span(from_)).data() + (at - position_), into.size());
    return 0;
  }
  [[nodiscard]] int flush(std::uint64_t, std::span<const std::byte>) noexcept override { return EROFS; }
  [[nodiscard]] const char* name() const noexcept override { return "test"; }
  [[nodiscard]] const char* where() const noexcept override { return "memory"; }

 private:
  const std::vector<std::uint64_t>& from_;
  std::uint64_t position_;
};

/// Other nodes go on from what was held: each has the units that it manages, some of which nobody has written.
std::string restart(const shape& of, const std::vector<std::uint64_t>& saved, std::uint64_t seed, sim::random& draw) {
  const unsigned nodes = 1 + static_cast<unsigned>(draw.below(3)), natural_percent = std::array{0u, 50u, 100u}[draw.below(3)];
  world w(options(seed, nodes, draw));
  add(w, of, draw.chance(50) ? QUIRE_SEQUENTIAL : QUIRE_RELEASE);
  for (unsigned n = 0; n < nodes; ++n) {
    w.start(n, [&, n, s = draw.next()](node& here) {
      sim::random mine(s);
      core::region_slot& r = *here.core().regions.slot(model::region_id{1});
      saved_store from(saved, r.position);
      for (std::uint64_t unit = 0; unit < r.layout.units(); ++unit) {
        const std::uint64_t first = r.layout.offset_of(unit) / 8, end = first + r.bytes_of(unit) / 8;
        const auto at = saved.begin() + static_cast<std::ptrdiff_t>(first), behind = saved.begin() + static_cast<std::ptrdiff_t>(end);
        if (unit / r.layout.units_a_page() % nodes != n || std::all_of(at, behind, [](std::uint64_t word) { return word == 0; })) continue;
        std::uint64_t count = 1;  // and some behind it, to the end of the page
        while (mine.chance(50) && (unit + count) % r.layout.units_a_page() != 0) ++count;
        if (!here.core().holding.adopt(r, unit, count, from).ok()) w.fail("content cannot be adopted");
        unit += count - 1;
      }
      if (!meet(here).ok()) w.fail("a barrier fails");
      for (std::uint64_t word = 0; word < words; ++word) {
        if (word % nodes == n) here.store(address_of(here, word, natural_percent, mine), saved[word] + 1);
      }
      if (!meet(here).ok()) w.fail("a barrier fails");
      for (std::uint64_t word = 0; word < words; ++word) {
        if (here.load(address_of(here, word, natural_percent, mine)) != saved[word] + 1) w.fail("a word is not what was saved");
      }
      if (!meet(here).ok()) w.fail("a barrier fails");
    });
  }
  return w.run();
}

/// Changes of consistency, parallel blocks, checked or not, and holds, on words of one's own by any view.
class minipages_phased : public checked {};
TEST_P(minipages_phased, holds_for_every_seed) {
  for (const std::uint64_t seed : sim::seeds(1, 60)) {
    sim::random draw(sim::mix(seed ^ 0x3173));
    const unsigned nodes = 2 + static_cast<unsigned>(seed % 3);
    phases p{.all = {}, .nodes = nodes, .natural_percent = std::array{0u, 10u, 50u, 100u}[draw.below(4)], .left = nodes};
    for (std::uint64_t i = 2 + draw.below(6); i > 0; --i) {
      together& t = p.all.emplace_back();
      t.kind = static_cast<together::what>(draw.below(5));
      t.to = draw.chance(50) ? QUIRE_SEQUENTIAL : QUIRE_RELEASE;
      t.meets = draw.chance(50);
      if (t.kind != together::what::checked_block || draw.chance(50)) continue;
      t.both_write = (1 + draw.below(words / mixed_words - 1)) * mixed_words;
      t.a = static_cast<unsigned>(draw.below(nodes - 1));
      t.b = t.a + 1 + static_cast<unsigned>(draw.below(nodes - 1 - t.a));
    }
    world w(options(seed, nodes, draw));
    add(w, GetParam(), draw.chance(50) ? QUIRE_SEQUENTIAL : QUIRE_RELEASE);
    for (unsigned n = 0; n < nodes; ++n) {
      w.start(n, [&, n, s = draw.next()](node& here) { lead(w, p, n, here, sim::random(s)); });
      w.start(n, [&, n, s = draw.next()](node& here) { follow(w, p, n, here, sim::random(s)); });
    }
    std::string wrong = w.run();
    if (wrong.empty() && !p.saved.empty()) wrong = restart(GetParam(), p.saved, seed, draw);
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}
INSTANTIATE_TEST_SUITE_P(sizes, minipages_phased, testing::Values(halves, quarters, sixths, small, mixed),
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

struct counts {
  std::uint64_t messages = 0, faults = 0;
};

/// Two nodes, in turns: node 0 writes the first word of units [first, end) of the first page, node 1 reads those of [first, read_end). What the last
/// of so many rounds cost node 1.
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
        const counts before{w.net().messages(), core::sequential_counters(here.core().regions, here.core().gone).read_faults};
        for (std::uint64_t i = 0; n == 1 && i < read_end; ++i) EXPECT_EQ(here.load(at(i)), round);
        if (n == 1) last = {w.net().messages() - before.messages, core::sequential_counters(here.core().regions, here.core().gone).read_faults - before.faults};
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
  EXPECT_LE(read_in_turns(core::grouping::adaptive, 16, 2, 8).messages, read_in_turns(core::grouping::none, 16, 2, 8).messages);
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
