// SPDX-License-Identifier: BSD-3-Clause
// Atomic blocks in the model (sim/timed): what they cost, derived by hand, and what becomes of those to which another
// node came first.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/timed/patterns.hpp"

namespace quire::timed::timed_transactions_test {
namespace {
using quire::model::access;

constexpr std::uint64_t page = 4096;

std::uint64_t counter_of(const outcome& found, std::string_view name) {
  for (std::size_t i = 0; i < found.counters.size(); ++i) {
    if (quire::core::counter_table[i].name == name) return found.counters[i];
  }
  throw std::invalid_argument(std::string(name));
}

node_options nodes_at(unsigned nodes, const prices& p) {
  node_options o;
  o.nodes = nodes;
  o.costs = p;
  return o;
}

prices distinct_prices() {
  prices p;
  p.fault_ns = 30'000;
  p.resume_ns = 4'000;
  p.permit_ns = 50'000;
  p.permit_page_ns = 7;
  p.protect_ns = 600'000;
  p.protect_page_ns = 3;
  p.begin_ns = 2'000'000;
  p.copy_page_ns = 70'000'000;
  p.publish_page_ns = 900'000'000;
  p.drop_page_ns = 11'000'000'000;
  return p;
}

/// A node alone, with so many pages in a unit, of which one is written in each of so many blocks.
time_ns time_of_blocks(const prices& p, unsigned blocks, std::uint64_t unit_pages) {
  pattern what;
  what.regions = {{.bytes = 4 * unit_pages * page, .unit_bytes = unit_pages * page, .transactional = true}};
  what.thread_of = [=](unsigned) {
    return [=](node& me) {
      me.begin_measuring();
      for (unsigned i = 0; i < blocks; ++i) me.atomically([&] { me.write(0, 0, 8); });
      me.end_measuring();
    };
  };
  return run_job(nodes_at(1, p), what).time;
}

TEST(timed_transactions, a_block_that_writes_costs_exactly_what_its_parts_do) {
  const prices p = distinct_prices();
  for (const std::uint64_t pages : {1u, 4u}) {
    const time_ns fault = p.fault_ns + p.permit_ns + pages * p.permit_page_ns + p.resume_ns;
    const time_ns commit = pages * p.publish_page_ns + p.protect_ns + pages * p.protect_page_ns;
    const time_ns first = p.begin_ns + fault + pages * p.copy_page_ns + commit;
    EXPECT_EQ(time_of_blocks(p, 1, pages), first) << pages;
    EXPECT_EQ(time_of_blocks(p, 3, pages), first + 2 * (p.begin_ns + fault + commit))
        << "the copy stays; pages " << pages;
  }
}

TEST(timed_transactions, one_that_reads_what_is_mapped_costs_its_begin) {
  const prices p = distinct_prices();
  pattern what;
  what.regions = {{.bytes = page, .transactional = true}};
  what.thread_of = [](unsigned) {
    return [](node& me) {
      me.atomically([&] { me.read(0, 0, 8); });
      me.begin_measuring();
      me.atomically([&] { me.read(0, 0, 8); });
      me.end_measuring();
    };
  };
  EXPECT_EQ(run_job(nodes_at(1, p), what).time, p.begin_ns);
}

/// Node 1 reads a page, computes for a while, and uses another one. Node 0 writes the first of them after a third of
/// the while, or another page.
outcome meet(bool same, unsigned& bodies) {
  const auto count = std::make_shared<unsigned>(0);
  pattern what;
  what.regions = {{.bytes = 4 * page, .home = 0, .transactional = true}};
  what.thread_of = [=](unsigned number) {
    return [=](node& me) {
      me.make_team();
      me.wait();
      me.begin_measuring();
      if (number == 0) {
        me.compute(1'000'000);
        me.atomically([&] { me.write(0, same ? 0 : 2 * page, 8); });
      } else {
        me.atomically([&] {
          ++*count;
          me.read(0, 0, 8);
          me.compute(3'000'000);
          me.write(0, page, 8);
        });
      }
      me.end_measuring();
      me.wait();
    };
  };
  const outcome found = run_job(nodes_at(2, prices{}), what);
  bodies = *count;
  return found;
}

TEST(timed_transactions, who_has_read_what_another_commits_begins_again) {
  unsigned bodies = 0;
  const outcome alone = meet(false, bodies);
  EXPECT_EQ(bodies, 1u);
  EXPECT_EQ(counter_of(alone, "dooms"), 0u);
  const outcome doomed = meet(true, bodies);
  EXPECT_EQ(bodies, 2u);
  EXPECT_EQ(counter_of(doomed, "dooms"), 1u);
  EXPECT_EQ(counter_of(doomed, "commits"), 2u);
  EXPECT_GE(doomed.time, alone.time + 3'000'000);
  EXPECT_LT(doomed.time, alone.time + 3'200'000);
}

// ---- Patterns

raytracer_shape picture() { return {.width = 1024, .height = 192, .papers_scene = true, .transactional = true}; }

// Tiles are whole pages, and nobody reads them: what read-ahead brings, and what a home has of its own, is not read by
// a transaction.
TEST(timed_transactions, nobody_comes_first_where_nobody_reads_what_others_write) {
  for (const unsigned nodes : {2u, 3u, 4u}) {
    const outcome found = run_job(nodes_at(nodes, preset("ib")), raytracer(picture(), nodes));
    EXPECT_EQ(counter_of(found, "commits"), 192u / 4) << nodes;
    EXPECT_EQ(counter_of(found, "published"), 192u) << nodes;
    EXPECT_EQ(counter_of(found, "dooms"), 0u) << nodes;
  }
}

TEST(timed_transactions, a_sweep_commits_all_its_rows) {
  for (const unsigned nodes : {1u, 2u, 5u, 12u}) {
    const sor_shape shape{.size = 1024, .iterations = 2, .cell_bytes = 4, .transactional = true};
    const outcome found = run_job(nodes_at(nodes, preset("ib")), sor(shape, nodes));
    EXPECT_EQ(counter_of(found, "published"), 2u * 2 * 1022) << "a row is a page";
    EXPECT_GT(counter_of(found, "commits"), 0u) << nodes;
    EXPECT_EQ(found, run_job(nodes_at(nodes, preset("ib")), sor(shape, nodes)))
        << "the same input gives the same result";
  }
}

TEST(timed_transactions, free_messages_give_the_ideal_speed_up_of_a_picture) {
  prices nothing{};
  for (const price_option& p : price_options()) nothing.*p.value = 0;
  const time_ns alone = run_job(nodes_at(1, nothing), raytracer(picture(), 1)).time;
  const time_ns together = run_job(nodes_at(4, nothing), raytracer(picture(), 4)).time;
  EXPECT_LT(together, alone / 4 + alone / 48 * 2)
      << "nobody waits for longer than a tile, of which some take twice as long as the mean";
}

}  // namespace
}  // namespace quire::timed::timed_transactions_test
