// SPDX-License-Identifier: BSD-3-Clause
// Whole nodes, as they run in processes, in simulated time: several threads a node, regions of both consistencies, all that they can ask for
// at random (sim/whole/job.hpp).
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "model/atomic_operation.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/job.hpp"

namespace quire::whole {
namespace {

class whole : public testing::TestWithParam<unsigned> {};

TEST_P(whole, holds_for_every_seed) {
  std::map<std::string, std::uint64_t> done;
  for (const std::uint64_t seed : sim::seeds(1, 300)) {
    job j({.seed = seed, .nodes = GetParam()});
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    for (const auto& [what, often] : j.done()) done[what] += often;
  }
  if (!sim::usual_seeds()) return;
  for (const char* const what : {"pins", "atomics", "pushes", "blocks", "productions", "changes", "holds"}) EXPECT_GT(done[what], 20u) << what;
}

class whole_many : public testing::TestWithParam<unsigned> {};

TEST_P(whole_many, nodes_at_once) {
  for (const std::uint64_t seed : sim::seeds(1, GetParam() > 100 ? 1 : 5)) {
    job j({.seed = seed, .nodes = GetParam(), .most_threads = 1, .most_pages = 3, .most_phases = 2, .most_steps = 6});
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(nodes, whole_many, testing::Values(17u, 64u, 1000u), [](const auto& info) { return "of_" + std::to_string(info.param); });

/// What a home's threads write under a pin is told by that home's next grant: it must not be another node's, to which the home has moved.
TEST(whole_pins, see_what_was_written_under_the_last_one) {
  for (const std::uint64_t seed : sim::seeds(1, 400)) {
    job j({.seed = seed, .nodes = 3, .most_pages = 2, .most_phases = 3, .most_steps = 20, .pins_percent = 50});
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}

/// A copy that a home sends may be read from its memory for as long as it travels, and in a checked block must not have what the home's threads
/// write meanwhile: an overlap would be missed. (Once in 20 runs of contract_block_program under load.)
TEST(whole_blocks, find_all_overlaps) {
  for (const std::uint64_t seed : sim::seeds(1, 400)) {
    job j({.seed = seed, .nodes = 2, .most_pages = 2, .most_phases = 12, .most_steps = 4, .blocks = true});
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}

/// Who finds a value by an atomic operation sees what the thread that left it had written before, under release consistency too.
class whole_atomics : public testing::TestWithParam<unsigned> {};

TEST_P(whole_atomics, take_memory_along) {
  constexpr std::uint64_t granule = std::uint64_t{2} << 20, data = base_address + granule, flag = base_address + 2 * granule;
  constexpr auto add = static_cast<std::uint32_t>(model::atomic_operation::add), exchange = static_cast<std::uint32_t>(model::atomic_operation::exchange);
  for (const std::uint64_t seed : sim::seeds(1, 100)) {
    world_options o;
    o.net.seed = seed;
    o.net.nodes = GetParam();
    world w(o);
    for (const std::uint16_t id : {1, 2}) {
      core::region_description about;
      about.id = id;
      about.base = base_address + id * granule;
      about.bytes = 2 * 4096;
      about.placement = QUIRE_PLACE_NODE;
      about.home = static_cast<std::uint16_t>((seed / id) % GetParam());
      about.consistency = QUIRE_RELEASE;
      w.add_region(about);
    }
    for (unsigned n = 0; n < GetParam(); ++n) {
      w.start(n, [&w, n](node& here) {
        std::uint64_t found = 0;
        for (std::uint64_t i = 1; i <= 20 && !w.failed(); ++i) {
          w.sleep(w.net().rng().below(20'000));
          if (n == 0) here.store(data, i);
          const auto why = n == 0 ? here.core().calls.atomic(flag, exchange, i, 0, found) : here.core().calls.atomic(flag, add, 0, 0, found);
          if (!why.ok()) w.fail("an atomic operation ends with status " + std::to_string(why.code()));
          if (const std::uint64_t seen = here.load(data); seen < found) w.fail("the flag says " + std::to_string(found) + ", and the word has " + std::to_string(seen));
        }
      });
    }
    const std::string wrong = w.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(nodes, whole_atomics, testing::Values(2u, 3u, 5u), [](const auto& info) { return "of_" + std::to_string(info.param); });
INSTANTIATE_TEST_SUITE_P(nodes, whole, testing::Values(1u, 2u, 3u, 5u), [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::whole
