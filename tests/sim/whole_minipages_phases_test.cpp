// SPDX-License-Identifier: BSD-3-Clause
// Regions with units smaller than a page while all nodes do something together: changes of consistency, parallel
// blocks, holds as of a checkpoint, and the restart from what was held.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/block_calls.hpp"
#include "core/change.hpp"
#include "core/hold.hpp"
#include "core/job_call.hpp"
#include "core/region_slot.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/world.hpp"
#include "tests/sim/minipage_regions.hpp"

namespace quire::whole::whole_minipages_phases_test {
namespace {

using namespace minipage_regions;

constexpr std::uint64_t pages = 3, bytes = pages * page, words = bytes / sizeof(std::uint64_t);

void add(world& w, const shape& s, quire_consistency consistency) { add(w, s, region(s, consistency, pages)); }

using checked = testing::TestWithParam<shape>;

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
  unsigned left = 0;                                                     ///< leaders that have not ended
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
      const std::uint64_t first = run.region->layout.offset_of(run.first) / 8,
                          end = first + run.region->bytes_of(run.first, run.count) / 8;
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
    if (!w.is_unknown(base + word * 8) && p.image[word] != w.latest(base + word * 8))
      w.fail("what is kept is not what was written last");
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
      if (here.load(at(word)) != (mine || expected.empty() ? latest(word) : expected[word]))
        w.fail("a word is old, or too new");
    }
  };
  std::uint64_t round = 0;
  for (const together& t : p.all) {
    if (w.failed()) break;
    const bool block = t.kind == together::what::block || t.kind == together::what::checked_block,
               checked = t.kind == together::what::checked_block;
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
      } else if (why.code() != QUIRE_OVERLAP ||
                 found.address != reinterpret_cast<void*>(c.regions.find(place)->fine(place)) ||
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

/// Others go on with words of their own all the while, each for some time: who changes to another word may have to wait
/// for it.
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
  const unsigned nodes = 1 + static_cast<unsigned>(draw.below(3)),
                 natural_percent = std::array{0u, 50u, 100u}[draw.below(3)];
  world w(options(seed, nodes, draw));
  add(w, of, draw.chance(50) ? QUIRE_SEQUENTIAL : QUIRE_RELEASE);
  for (unsigned n = 0; n < nodes; ++n) {
    w.start(n, [&, n, s = draw.next()](node& here) {
      sim::random mine(s);
      core::region_slot& r = *here.core().regions.slot(model::region_id{1});
      saved_store from(saved, r.position);
      for (std::uint64_t unit = 0; unit < r.layout.units(); ++unit) {
        const std::uint64_t first = r.layout.offset_of(unit) / 8, end = first + r.bytes_of(unit) / 8;
        const auto at = saved.begin() + static_cast<std::ptrdiff_t>(first),
                   behind = saved.begin() + static_cast<std::ptrdiff_t>(end);
        if (unit / r.layout.units_a_page() % nodes != n ||
            std::all_of(at, behind, [](std::uint64_t word) { return word == 0; }))
          continue;
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
        if (here.load(address_of(here, word, natural_percent, mine)) != saved[word] + 1)
          w.fail("a word is not what was saved");
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
    phases p{
        .all = {}, .nodes = nodes, .natural_percent = std::array{0u, 10u, 50u, 100u}[draw.below(4)], .left = nodes};
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

}  // namespace
}  // namespace quire::whole::whole_minipages_phases_test
