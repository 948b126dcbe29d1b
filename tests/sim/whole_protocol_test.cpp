// SPDX-License-Identifier: BSD-3-Clause
// A protocol that src does not know runs on whole nodes: it is a row that the nodes' configuration names
// (toy/migrating.hpp).
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "core/block_calls.hpp"
#include "core/change.hpp"
#include "core/fault_ranges.hpp"
#include "core/hold.hpp"
#include "core/job_call.hpp"
#include "core/pins.hpp"
#include "core/region_builder.hpp"
#include "core/unit_calls.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/world.hpp"
#include "tests/sim/toy/migrating.hpp"

namespace quire::whole::whole_protocol_test {
namespace {

constexpr std::uint64_t page = 4096, granule = std::uint64_t{2} << 20;

/// All built-in protocols, and one more.
std::span<const protocol::row* const> with_toy() {
  static const std::array all = {protocol::built_in()[0], protocol::built_in()[1], protocol::built_in()[2], &toy::row};
  return all;
}

/// Threads of all nodes read and write words of two regions, one of them the toy's: each read finds what was written
/// last.
class toy_job {
 public:
  toy_job(std::uint64_t seed, unsigned nodes) : draw_(sim::mix(seed ^ 0x70f)), world_(options_of(seed, nodes)) {
    for (const std::uint16_t id : {1, 2}) {
      core::region_description about;
      about.id = id;
      about.base = base_address + id * granule;
      about.bytes = pages_ * page;
      about.placement = static_cast<std::uint8_t>(draw_.chance(50) ? QUIRE_PLACE_BLOCK : QUIRE_PLACE_MODULO);
      about.consistency = id == 2 ? toy::id.value() : std::uint8_t{QUIRE_SEQUENTIAL};
      world_.add_region(about);
    }
    for (unsigned n = 0; n < nodes; ++n) {
      for (std::uint64_t t = 1 + draw_.below(3); t != 0; --t) {
        world_.start(n, [this, s = draw_.next()](node& here) { live(here, sim::random(s)); });
      }
    }
  }
  std::string run() { return world_.run(); }
  world& nodes() { return world_; }

 private:
  world_options options_of(std::uint64_t seed, unsigned nodes) {
    world_options o;
    o.net.seed = seed;
    o.net.nodes = nodes;
    o.net.straggler_percent = draw_.chance(30) ? 5 : 0;
    o.net.reads_late = draw_.chance(50);
    o.node.read_ahead = draw_.chance(70);
    o.node.protocols = with_toy();
    pages_ = 1 + static_cast<unsigned>(draw_.below(4));
    return o;
  }
  void live(node& here, sim::random draw) {
    for (unsigned i = 0; i < 40 && !world_.failed(); ++i) {
      if (draw.chance(60)) world_.sleep(draw.below(30'000));
      const std::uint64_t at =
          base_address + (1 + draw.below(2)) * granule + draw.below(pages_) * page + draw.below(4) * 8;
      if (draw.chance(50)) {
        here.store(at, ++last_);
      } else if (const std::uint64_t found = here.load(at); found != world_.latest(at)) {
        world_.fail("node " + std::to_string(here.self().value()) + " finds " + std::to_string(found) + " where " +
                    std::to_string(world_.latest(at)) + " was written last");
      }
    }
  }

  sim::random draw_;
  unsigned pages_ = 1;
  world world_;
  std::uint64_t last_ = 0;
};

class other_protocol : public testing::TestWithParam<unsigned> {};

TEST_P(other_protocol, holds_for_every_seed) {
  for (const std::uint64_t seed : sim::seeds(1, 300)) {
    toy_job j(seed, GetParam());
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(nodes, other_protocol, testing::Values(1u, 2u, 3u, 5u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

/// The checker sees a protocol that leaves a unit mapped where it is not any more.
TEST(toy_protocol, is_caught_when_it_is_wrong) {
  toy::machine::forgets_to_protect = true;
  unsigned found = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) found += toy_job(seed, 3).run().empty() ? 0 : 1;
  toy::machine::forgets_to_protect = false;
  EXPECT_GT(found, 15u);
}

/// What its row does not say is refused, before the machine hears of it.
TEST(toy_protocol, is_asked_only_for_what_it_can) {
  toy_job j(1, 2);
  for (unsigned n = 0; n < 2; ++n) {
    j.nodes().start(n, [&, n](node& here) {
      core::core& c = here.core();
      const std::uint64_t at = base_address + 2 * granule;
      int holder = -1;
      std::uint64_t before = 0;
      EXPECT_EQ(c.pins.acquire(at, page, -1, holder).code(), QUIRE_UNSUPPORTED);
      EXPECT_EQ(c.pins.release(at, page).code(), QUIRE_NOT_OWNER);
      EXPECT_EQ(c.calls.push(at, page).code(), QUIRE_UNSUPPORTED);
      EXPECT_EQ(c.calls.produce(at, page, false).code(), QUIRE_UNSUPPORTED);
      EXPECT_EQ(c.calls.atomic(at, 0, 1, 0, before).code(), QUIRE_UNSUPPORTED);
      advise_range(c, at, page, true);
      prefetch_range(c, at, page, access::write);
      const core::job_call together(c, sync::meeting::set_consistency, "change", 9);
      EXPECT_EQ(c.changes.set_consistency(2, QUIRE_RELEASE).code(), QUIRE_INVALID);
      EXPECT_EQ(c.changes.set_consistency(1, static_cast<quire_consistency>(toy::id.value())).code(), QUIRE_INVALID);
      EXPECT_EQ(c.changes.set_consistency(1, static_cast<quire_consistency>(9)).code(), QUIRE_INVALID);
      EXPECT_EQ(c.changes.set_consistency(2, static_cast<quire_consistency>(toy::id.value())).code(), QUIRE_OK);
      EXPECT_EQ(c.blocks.begin(2, 0).code(), QUIRE_INVALID);
      EXPECT_EQ(c.holding.hold().code(), QUIRE_UNSUPPORTED);
    });
  }
  EXPECT_EQ(j.run(), "");
}

TEST(toy_protocol, is_refused_where_nodes_may_die) {
  world_options o;
  o.node.survives = true;
  o.node.protocols = with_toy();
  world w(o);
  core::region_description about;
  about.id = 1;
  about.base = base_address + granule;
  about.bytes = page;
  about.consistency = toy::id.value();
  EXPECT_EQ(w.at(0).core().builder.add(about).code(), QUIRE_UNSUPPORTED);
  about.consistency = 9;
  EXPECT_EQ(w.at(0).core().builder.add(about).code(), QUIRE_INVALID);
  about.consistency = QUIRE_SEQUENTIAL;
  EXPECT_TRUE(w.at(0).core().builder.add(about).ok());
}

}  // namespace
}  // namespace quire::whole::whole_protocol_test
