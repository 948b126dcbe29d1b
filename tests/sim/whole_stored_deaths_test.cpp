// SPDX-License-Identifier: BSD-3-Clause
// Regions that nobody writes, with a store that nodes reach, on whole nodes of which one or two die: survivors read on,
// and find what the store has. What nobody alive has in memory is filled again, by the node that is home then; it is
// lost only where that node does not reach the store.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "core/fault_ranges.hpp"
#include "core/frames.hpp"
#include "core/pins.hpp"
#include "core/replicas.hpp"
#include "core/stored_units.hpp"
#include "core/unit_calls.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/chance_crew.hpp"
#include "sim/whole/kept_store.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole::whole_stored_deaths_test {
namespace {

constexpr std::uint64_t page = 4096, granule = std::uint64_t{2} << 20, base = base_address + granule,
                        plain = base + granule;
constexpr std::uint16_t number = 7;
constexpr sim::time_ns latest_death = 3'000'000, longest_news = 300'000;

std::uint64_t content_at(std::uint64_t offset) { return std::uint64_t{1} << 63 | offset; }

/// One node's way to what all reach.
class disk final : public store::store {
 public:
  explicit disk(std::uint64_t& fills) : fills_(fills) {}
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    ++fills_;
    for (std::uint64_t done = 0; done < into.size(); done += 8) {
      const std::uint64_t word = content_at(at + done);
      std::memcpy(into.data() + done, &word, 8);
    }
    return 0;
  }
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    return ++tries_ % 3 == 0 ? fill(at, into) : EAGAIN;
  }
  /// Of what threads had the right to write, and did not. What has changed would be seen by who reads it again.
  [[nodiscard]] int flush(std::uint64_t, std::span<const std::byte>) noexcept override { return 0; }
  [[nodiscard]] std::size_t grain() const noexcept override { return page; }
  [[nodiscard]] const char* name() const noexcept override { return "simulated file"; }
  [[nodiscard]] const char* where() const noexcept override { return "a test"; }

 private:
  std::uint64_t& fills_;
  unsigned tries_ = 0;
};

struct plan {
  std::uint64_t seed = 1;
  unsigned nodes = 3, threads = 2, steps = 60;
  std::uint64_t pages = 24;
  model::placement where = model::placement::modulo;
  bool all_reach = true;  ///< the store; else the home alone
  bool replicas = false;
  unsigned fills_fail_percent = 0;
  std::uint64_t cache_limit = 0;
  std::map<unsigned, sim::time_ns> deaths{};  ///< of a node, when
};

world_options options_of(const plan& p) {
  static const std::array stores = {&kept_store::the_row};
  world_options o;
  o.net.seed = p.seed;
  o.net.nodes = p.nodes;
  o.net.reads_late = p.seed % 2 == 0;
  o.net.straggler_percent = p.seed % 5 == 0 ? 10 : 0;
  o.node.stores = stores;
  o.node.survives = true;
  o.node.replicas = p.replicas;
  o.node.cache_limit = p.cache_limit;
  o.store_delay = p.seed % 3 == 0 ? 300'000 : 20'000;
  o.fills_fail_percent = p.fills_fail_percent;
  o.intruding_percent = p.seed % 4 == 0 ? 30 : 0;
  return o;
}

class job {
 public:
  explicit job(const plan& p) : plan_(p), w_(options_of(p)) {
    core::region_description about;
    about.id = 1;
    about.base = base;
    about.bytes = p.pages * page;
    about.placement = static_cast<std::uint8_t>(p.where);
    about.home = 0;
    about.consistency = QUIRE_SEQUENTIAL;
    about.backing = number;
    for (unsigned n = 0; n < w_.nodes(); ++n) {
      if (p.all_reach || n == about.home) w_.at(n).core().stored.offer(number, std::make_unique<disk>(fills_));
    }
    w_.add_region(about);
    about.id = 2;
    about.base = plain;
    about.bytes = page;
    about.placement = QUIRE_PLACE_NODE;
    about.backing = 0;
    w_.add_region(about);
  }

  std::string run() {
    for (unsigned n = 0; n < w_.nodes(); ++n) {
      for (unsigned t = 0; t < plan_.threads; ++t) {
        w_.start(n, [this, which = n * plan_.threads + t](node& here) {
          sim::random draw(sim::mix(plan_.seed * 64 + which));
          std::uint64_t last = 0;
          for (unsigned i = 0; i < plan_.steps && !w_.failed(); ++i) {
            if (plan_.replicas && draw.chance(10)) count_up(here, which, last);
            step(here, draw);
          }
          w_.sleep(latest_death + 2'000'000);  // by then all deaths are over
          look_at_all(here);
        });
      }
    }
    for (const auto& [n, when] : plan_.deaths) {
      w_.net().after(when, [this, n = n] { w_.kill(n, longest_news); });
    }
    return w_.run();
  }
  [[nodiscard]] std::uint64_t fills() const noexcept { return fills_; }
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  /// False if the word cannot be had now, which may be right.
  bool read(node& here, std::uint64_t offset) {
    std::uint64_t found = 0;
    if (here.try_load(base + offset, found)) {
      if (found != content_at(offset))
        w_.fail("node " + std::to_string(here.self().value()) + " finds " + std::to_string(found) + " in " +
                w_.name_of(base + offset));
      return true;
    }
    if (!plan_.all_reach && w_.at(0).is_dead()) {
      ++lost_;
    } else if (plan_.fills_fail_percent != 0) {
      ++refused_;
    } else {
      w_.fail("a read is refused, and the store can be reached, and has not failed");
    }
    return false;
  }
  /// A word of the thread's own, in memory that no store keeps, and that may be kept on two nodes.
  void count_up(node& here, unsigned which, std::uint64_t& last) {
    std::uint64_t found = 0;
    const std::uint64_t at = plain + which * 8;
    if (!here.try_load(at, found)) return;
    if (found != last)
      return w_.fail("a thread finds " + std::to_string(found) + " where it has written " + std::to_string(last));
    if (here.try_store(at, last + 1)) ++last;
  }
  void step(node& here, sim::random& draw) {
    if (draw.chance(40)) w_.sleep(draw.below(60'000));
    const std::uint64_t unit = draw.below(plan_.pages), chance = draw.below(100), count = draw.between(1, 8);
    const std::uint64_t bytes = std::min(count, plan_.pages - unit) * page;
    if (chance < 65) return void(read(here, unit * page + draw.below(8) * 8));
    if (chance < 75)
      return prefetch_range(here.core(), base + unit * page, bytes, draw.chance(70) ? access::read : access::write);
    if (chance < 80) return pin(here, unit);
    if (chance < 85) return push(here, unit);
    const base::status why = here.core().stored.drop(base + unit * page, draw.chance(30) ? plan_.pages * page : bytes);
    if (why.ok()) return void(++dropped_);
    if (why != QUIRE_BUSY && plan_.fills_fail_percent == 0 && plan_.all_reach)
      w_.fail("nothing is dropped, and the store has not failed");
  }
  /// As calls on a container do that is atomic.
  void pin(node& here, std::uint64_t unit) {
    int holder = 0;
    if (!here.core().pins.acquire(base + unit * page, page, -1, holder).ok()) return;
    (void)read(here, unit * page + 8);
    (void)here.core().pins.release(base + unit * page, page);
  }
  void push(node& here, std::uint64_t unit) { (void)here.core().calls.push(base + unit * page, page); }
  void look_at_all(node& here) {
    for (std::uint64_t offset = 0; offset < plan_.pages * page; offset += page / 2) {
      for (unsigned tries = 0; !w_.failed() && !read(here, offset) && plan_.all_reach; ++tries) {
        if (tries == 1000) return w_.fail("a unit cannot be had at all");
        w_.sleep(10'000);
      }
    }
  }

  plan plan_;
  std::uint64_t fills_ = 0, lost_ = 0, refused_ = 0, dropped_ = 0;
  world w_;
};

plan plan_of(std::uint64_t seed, unsigned nodes) {
  sim::random draw(sim::mix(seed ^ 0xdead));
  plan p{.seed = seed, .nodes = nodes};
  p.where = std::array{model::placement::modulo, model::placement::node, model::placement::block}[draw.below(3)];
  p.all_reach = p.where != model::placement::node || draw.chance(60);
  p.replicas = draw.chance(30);
  p.fills_fail_percent = draw.chance(20) ? 10 : 0;
  p.cache_limit = draw.chance(30) ? 16 * page : 0;
  for (std::uint64_t d = nodes > 2 ? draw.between(1, 2) : 1; d != 0; --d)
    p.deaths[static_cast<unsigned>(draw.below(nodes))] = draw.below(latest_death);
  return p;
}

class whole_stored_deaths : public testing::TestWithParam<unsigned> {};

TEST_P(whole_stored_deaths, leave_content_that_can_be_filled_again) {
  std::uint64_t fills = 0, lost = 0, refused = 0, dropped = 0;
  for (const std::uint64_t seed : sim::seeds(1, 150)) {
    job j(plan_of(seed, GetParam()));
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    fills += j.fills();
    lost += j.lost();
    refused += j.refused();
    dropped += j.dropped();
  }
  if (!sim::usual_seeds()) return;
  EXPECT_GT(fills, 5000u);
  EXPECT_GT(lost, 100u);
  EXPECT_GT(refused, 20u);
  EXPECT_GT(dropped, 500u);
}

/// A frame that had been flushed, not synced, and given up; a fill while a flush was under way; a pin, while the answer
/// to a read of the node that has become the manager, and has all of the unit, was on its way to itself; two nodes
/// beyond their limit, one of which asked the other again and again to take units of a lost store.
TEST(whole_stored_deaths_at, seeds_that_once_failed) {
  for (const auto& [seed, nodes] : {std::pair{std::uint64_t{5628}, 3u}, std::pair{std::uint64_t{3303}, 4u},
                                    std::pair{std::uint64_t{3243412456996896}, 3u}, std::pair{std::uint64_t{6707}, 3u}})
    EXPECT_EQ(job(plan_of(seed, nodes)).run(), "") << seed;
}

INSTANTIATE_TEST_SUITE_P(nodes, whole_stored_deaths, testing::Values(2u, 3u, 4u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

/// Each node dies in turn at any moment of a short job of few units, so that what others wait for is at each of its
/// steps then.
TEST(whole_stored_deaths_at, any_moment) {
  for (const unsigned nodes : {2u, 3u}) {
    for (sim::time_ns when = 0; when < 500'000; when += 1'500) {
      plan p{.seed = 1 + when / 1'500 % 7, .nodes = nodes, .threads = 1, .steps = 16, .pages = 3};
      p.where = when / 1'500 % 2 == 0 ? model::placement::node : model::placement::modulo;
      p.deaths[static_cast<unsigned>(when / 3'000 % nodes)] = when;
      job j(p);
      ASSERT_EQ(j.run(), "") << nodes << " nodes, " << when << " ns";
    }
  }
}

/// A home dies that had content which another node has read: that stays, and costs no fill.
TEST(whole_stored_deaths_at, rest_leave_copies) {
  plan p{.nodes = 3, .where = model::placement::node};
  std::uint64_t fills = 0;
  world w(options_of(p));
  core::region_description about;
  about.id = 1;
  about.base = base;
  about.bytes = 8 * page;
  about.placement = QUIRE_PLACE_NODE;
  about.consistency = QUIRE_SEQUENTIAL;
  about.backing = number;
  for (unsigned n = 0; n < 3; ++n) w.at(n).core().stored.offer(number, std::make_unique<disk>(fills));
  w.add_region(about);
  w.start(2, [&](node& here) {
    for (std::uint64_t unit = 0; unit < 8; unit += 2) EXPECT_EQ(here.load(base + unit * page), content_at(unit * page));
    const std::uint64_t before = fills;
    w.kill(0, 1000);
    w.sleep(5'000'000);
    for (std::uint64_t unit = 0; unit < 8; unit += 2) EXPECT_EQ(here.load(base + unit * page), content_at(unit * page));
    EXPECT_EQ(fills, before);
    for (std::uint64_t unit = 1; unit < 8; unit += 2) EXPECT_EQ(here.load(base + unit * page), content_at(unit * page));
    EXPECT_GT(fills, before);
    EXPECT_GT(w.at(1).core().frames.count.read, 0u) << "the next node is home now";
  });
  EXPECT_EQ(w.run(), "");
}

}  // namespace
}  // namespace quire::whole::whole_stored_deaths_test
