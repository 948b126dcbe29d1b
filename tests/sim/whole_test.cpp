// SPDX-License-Identifier: BSD-3-Clause
// Whole nodes, as they run in processes, in simulated time: several threads a node, regions of both consistencies, all
// that they can ask for at random (sim/whole/job.hpp). Beside the mix, programs that do one thing more often than the
// mix does.
#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <set>
#include <string>

#include "core/diffs.hpp"
#include "core/protocol_set.hpp"
#include "core/unit_calls.hpp"
#include "model/atomic_operation.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/job.hpp"

namespace quire::whole::whole_test {
namespace {

struct program {
  const char* name;
  std::uint64_t seeds;
  job_options what;
  std::vector<const char*> seen;  ///< what all runs together must have done more than 20 times
};

/// Every program of the table on each of its numbers of nodes.
struct extent {
  program about;
  unsigned nodes;
  friend void PrintTo(const extent& e, std::ostream* to) { *to << e.about.name << " of " << e.nodes; }
};

class whole : public testing::TestWithParam<extent> {};

TEST_P(whole, holds_for_every_seed) {
  std::map<std::string, std::uint64_t> done;
  job_options one = GetParam().about.what;
  one.nodes = GetParam().nodes;
  for (const std::uint64_t seed : sim::seeds(1, GetParam().about.seeds)) {
    one.seed = seed;
    job j(one);
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    for (const auto& [name, often] : j.done()) done[name] += often;
  }
  for (const auto& [name, often] : done) std::cout << often << " " << name << "; ";
  std::cout << "\n";
  if (!sim::usual_seeds() || one.nodes == 1) return;
  for (const char* const name : GetParam().about.seen)
    EXPECT_GT(done[name], 20u) << name << ": too few to mean anything";
}

const program mix{"mix",
                  300,
                  {},
                  {"pins", "atomics", "pushes", "blocks", "productions", "changes", "holds", "races", "group threads",
                   "home moves", "replicas", "packings"}};

/// The same on many nodes, with little to do for each.
const program crowd{"crowd", 5, {.most_threads = 1, .most_pages = 3, .most_phases = 2, .most_steps = 6}, {}};
const program city{"city", 1, crowd.what, {}};

/// What a home's threads write under a pin is told by that home's next grant: it must not be another node's, to which
/// the home has moved.
const program pins{"pins",
                   200,
                   {.most_pages = 2,
                    .most_phases = 8,
                    .most_steps = 10,
                    .most_groups = 0,
                    .rotates = true,
                    .replicas_percent = 0,
                    .scans_percent = 80,
                    .often = {.pins = 60}},
                   {"pins", "pin waits"}};

/// A copy that a home sends may be read from its memory for as long as it travels, and in a checked block must not have
/// what the home's threads write meanwhile: an overlap would be missed. (Once in 20 runs of contract_block_program
/// under load.)
const program blocks{
    "blocks",
    400,
    {.most_pages = 2, .most_phases = 12, .most_steps = 4, .most_groups = 0, .blocks = true, .replicas_percent = 0},
    {"blocks", "overlaps"}};

/// Homes move to the only writer, and back, while diffs and requests that were sent to where they were are under way.
const program homes{"homes",
                    200,
                    {.most_pages = 2,
                     .most_phases = 12,
                     .most_steps = 8,
                     .most_groups = 2,
                     .rotates = true,
                     .short_percent = 15,
                     .replicas_percent = 0,
                     .often = {.phased = 60}},
                    {"home moves", "forwarded", "told early", "kept back"}};
const program scanned_homes{"scanned_homes",
                            100,
                            [] {
                              job_options o = homes.what;
                              o.scans_percent = 100;
                              return o;
                            }(),
                            {"home moves"}};

/// Words that are written and read without synchronisation.
const program racing{"races",
                     150,
                     {.most_pages = 2,
                      .most_phases = 10,
                      .most_steps = 15,
                      .rotates = true,
                      .races_only = true,
                      .short_percent = 20,
                      .replicas_percent = 0},
                     {"races", "patches", "home moves"}};

/// Content that comes unasked, by way of other nodes, meets requests, updates, notices, pins, page-out and homes that
/// move.
const program pushes{"pushes",
                     100,
                     {.least_pages = 3,
                      .most_pages = 4,
                      .most_steps = 12,
                      .short_percent = 60,
                      .replicas_percent = 0,
                      .often = {.phased = 20, .pushes = 30}},
                     {"pushes", "copies given up"}};

/// Nodes that are short of memory: copies are given up, owners' and homes' content leaves, other nodes take units over.
const program few_frames{"few_frames",
                         150,
                         {.least_pages = 3,
                          .most_phases = 6,
                          .most_steps = 20,
                          .short_percent = 100,
                          .replicas_percent = 0,
                          .often = {.phased = 20}},
                         {"copies given up", "written to stores", "fills", "read from stores"}};

/// Most content is in stores: what is asked of a unit waits for it, beside page-out, changes of consistency, holds and
/// blocks.
const program stores{"stores",
                     60,
                     {.least_pages = 7,
                      .most_pages = 14,
                      .most_phases = 6,
                      .most_steps = 25,
                      .short_percent = 100,
                      .replicas_percent = 0,
                      .often = {.phased = 30, .pushes = 5}},
                     {"written to stores", "fills", "read from stores", "changes", "holds", "blocks", "pins"}};

/// Words that say by atomic operations that others may go on, whose homes go to other nodes while what was written
/// before is on its way.
const program flags{"flags",
                    150,
                    {.least_pages = 3,
                     .most_pages = 4,
                     .most_phases = 2,
                     .most_steps = 12,
                     .most_groups = 6,
                     .flags_only = true,
                     .short_percent = 100,
                     .replicas_percent = 0},
                    {"copies given up", "group threads"}};

/// Twins are always short: what was written leaves before it is released, and units that keep their right lose it at
/// any time.
const program few_twins{"few_twins",
                        150,
                        {.least_pages = 6,
                         .most_pages = 10,
                         .most_phases = 8,
                         .most_steps = 25,
                         .rotates = true,
                         .short_percent = 0,
                         .few_twins_percent = 100,
                         .replicas_percent = 0,
                         .scans_percent = 10,
                         .often = {.phased = 40, .races = 20}},
                        {"early diffs", "kept units", "home moves"}};

/// Flags in a region with sequential consistency that orders say who may use words of release consistency.
const program turned{"turns",
                     150,
                     {.least_pages = 2,
                      .most_pages = 4,
                      .most_phases = 6,
                      .most_steps = 40,
                      .most_groups = 2,
                      .turns = true,
                      .replicas_percent = 0},
                     {"turns", "home moves", "told early", "changes"}};

/// The same with content in stores: homes move between barriers while operations wait for it.
const program turned_stores{"turned_stores",
                            60,
                            {.least_pages = 7,
                             .most_pages = 14,
                             .most_phases = 6,
                             .most_steps = 25,
                             .turns = true,
                             .short_percent = 100,
                             .replicas_percent = 0},
                            {"turns", "home moves", "fills", "read from stores"}};

/// Nodes ask at the beginning of a phase for what they used in it before, with the right to write: often in vain, as
/// owners change from phase to phase.
const program planned{"planned",
                      100,
                      {.most_pages = 3,
                       .most_phases = 14,
                       .most_steps = 10,
                       .most_groups = 1,
                       .most_comings = 1,  // so many phases would fill the range with regions
                       .rotates = true,
                       .plans = true,
                       .short_percent = 10,
                       .often = {.phased = 60}},
                      {"planned", "planned in vain", "home moves", "migrated"}};

std::vector<extent> all() {
  std::vector<extent> list;
  const auto add = [&](const program& p, std::initializer_list<unsigned> nodes) {
    for (const unsigned n : nodes) list.push_back({p, n});
  };
  add(mix, {1, 2, 3, 5});
  add(crowd, {17, 64, 65});
  add(city, {1000});
  add(pins, {3});
  add(blocks, {2});
  add(homes, {2, 3, 5});
  add(scanned_homes, {2, 3});
  add(racing, {2, 3, 4});
  add(pushes, {2, 4, 8});
  add(few_frames, {2, 3});
  add(stores, {1, 2, 3, 5});
  add(flags, {3, 5});
  add(few_twins, {2, 3, 5});
  add(turned, {2, 3, 5});
  add(turned_stores, {2, 3});
  add(planned, {2, 3, 5});
  return list;
}

/// Who finds a value by an atomic operation sees what the thread that left it had written before, under release
/// consistency too.
class whole_atomics : public testing::TestWithParam<unsigned> {};

TEST_P(whole_atomics, take_memory_along) {
  constexpr std::uint64_t granule = std::uint64_t{2} << 20, data = base_address + granule,
                          flag = base_address + 2 * granule;
  constexpr auto add = static_cast<std::uint32_t>(model::atomic_operation::add),
                 exchange = static_cast<std::uint32_t>(model::atomic_operation::exchange);
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
          const auto why = n == 0 ? here.core().calls.atomic(flag, exchange, i, 0, found)
                                  : here.core().calls.atomic(flag, add, 0, 0, found);
          if (!why.ok()) w.fail("an atomic operation ends with status " + std::to_string(why.code()));
          if (const std::uint64_t seen = here.load(data); seen < found)
            w.fail("the flag says " + std::to_string(found) + ", and the word has " + std::to_string(seen));
        }
      });
    }
    const std::string wrong = w.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}

/// A home that keeps a unit answers with its twin, with which the patches behind the answer begin. An answer that is
/// read on its way must not have what the twin has become meanwhile: the first of two patches would put some bytes of
/// its value into the value of the second.
TEST(whole_patches, are_put_on_what_they_begin_with) {
  constexpr std::uint64_t first = base_address + (std::uint64_t{2} << 20), units = 3;
  std::uint64_t patches = 0;
  for (const std::uint64_t seed : sim::seeds(1, 200)) {
    world_options o;
    o.net.seed = seed;
    o.net.nodes = 3;
    o.net.reads_late = true;
    o.think = 10'000;
    world w(o);
    core::region_description about;
    about.id = 1;
    about.base = first;
    about.bytes = units * 4096;
    about.placement = QUIRE_PLACE_NODE;
    about.consistency = QUIRE_RELEASE;
    w.add_region(about);
    bool over = false;
    std::array<std::set<std::uint64_t>, units> written;
    for (auto& all : written) all.insert(0);
    for (unsigned n = 0; n < 3; ++n) {
      w.start(n, [&, n](node& here) {
        actor a(w, here, 1, sim::mix(seed * 4 + n));
        const auto write = [&](std::uint64_t unit) {  // another value of one byte
          const std::uint64_t at = first + unit * 4096, value = w.latest(at) ^ (1 + a.draw.below(255))
                                                                                   << 8 * a.draw.below(8);
          written[unit].insert(value);
          a.write(at, value);
        };
        for (unsigned round = 0; round < 36;
             ++round) {  // node 1 reads what node 0 writes, again and again: it is sent it, and units are kept
          for (std::uint64_t unit = 0; unit < units && n == 0; ++unit) write(unit);
          a.must_call(sync::operation::barrier_wait, 0);
          for (std::uint64_t unit = 0; unit < units && n == 1; ++unit) (void)a.read(first + unit * 4096);
          a.must_call(sync::operation::barrier_wait, 0);
        }
        for (unsigned i = 0; i < 40 && n == 0 && !w.failed(); ++i) {
          for (std::uint64_t unit = 0; unit < units; ++unit) write(unit);
          here.core().as_driver([&here] { here.core().protocols.release(false); });
          a.rest();
        }
        if (n == 0) w.sleep(100'000);
        over |= n == 0;
        while (n == 2 && !over && !w.failed()) {
          w.sleep(a.draw.below(1'000));
          const std::uint64_t unit = a.draw.below(units), at = first + unit * 4096, found = here.load(at);
          if (!written[unit].contains(found)) w.fail("a thread finds parts of several values in " + w.name_of(at));
        }
      });
    }
    const std::string wrong = w.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    patches += w.at(0).core().diffs.count().patches;
  }
  if (!sim::usual_seeds()) return;
  EXPECT_GT(patches, 1000u);
}

/// Seeds that the soak has found, of bugs that are rare in the daily ones.
TEST(whole_pins, hold) {
  const struct {
    const program& about;
    unsigned nodes;
    std::uint64_t seed;
  } pins[] = {
      {stores, 2, 23'703'215'131'197'497},  // in a production phase units were offered to the other node for ever, and
                                            // threads waited for room
      {stores, 3, 47'419'048'997'158'985},  // the same
      {few_twins, 2, 77},                   // a push left in the middle of a step's actions
      {stores, 2, 24'237'172'291'665'969},  // an operation, which had waited for its unit's content, was done after the
                                            // home had gone
      {turned_stores, 3, 713},  // an invalidation left in the middle of a reply's leaving, and came before it
  };
  for (const auto& pin : pins) {
    job_options one = pin.about.what;
    one.nodes = pin.nodes;
    one.seed = pin.seed;
    job j(one);
    EXPECT_EQ(j.run(), "") << pin.about.name << " of " << pin.nodes << ", seed " << pin.seed;
  }
}

INSTANTIATE_TEST_SUITE_P(nodes, whole_atomics, testing::Values(2u, 3u, 5u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });
INSTANTIATE_TEST_SUITE_P(programs, whole, testing::ValuesIn(all()), [](const auto& info) {
  return std::string(info.param.about.name) + "_of_" + std::to_string(info.param.nodes);
});

}  // namespace
}  // namespace quire::whole::whole_test
