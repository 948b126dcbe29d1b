// SPDX-License-Identifier: BSD-3-Clause
// Unit, consistency, placement and hints, of docs/guide/regions.md: quire run -n 2 guide/regions
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <quire/quire.hpp>

namespace {

constexpr std::size_t bytes = 1 << 20;

/// The part of an array that a node works on.
std::span<double> part_of(std::span<double> all, int node, int nodes) {
  const std::size_t share = all.size() / static_cast<std::size_t>(nodes);
  return all.subspan(share * static_cast<std::size_t>(node), share);
}

double sum(std::span<const double> values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

}  // namespace

int main() {
  quire::session job;
  // [release]
  auto grid = quire::from_node(0, [] {
    return quire::region::create(bytes, {.consistency = quire::consistency::release}).span<double>();
  });
  // [/release]
  // [unit]
  auto table = quire::from_node(0, [] {
    return quire::region::create(bytes, {.unit_bytes = 64 << 10, .place = quire::placement::modulo}).span<double>();
  });
  // [/unit]
  const auto mine = part_of(grid, job.node(), job.nodes());
  const auto next = part_of(grid, (job.node() + 1) % job.nodes(), job.nodes());
  std::fill(mine.begin(), mine.end(), 1.0);
  quire::barrier{}.arrive_and_wait();
  // [hints]
  quire::prefetch(next.first(512));                         // will be read soon: the copies start to come
  quire::advise(mine, quire::advice::will_write);           // a read brings a copy that may be written
  // [/hints]
  bool right = sum(next) == static_cast<double>(next.size());
  quire::barrier{}.arrive_and_wait();
  // [produce]
  {
    const quire::production phase(table, 0);                // node 0 writes, all others read next
    if (job.node() == 0) std::fill(table.begin(), table.end(), 2.0);
  }                                                         // every node has its copies now
  const double total = sum(table);                          // no fault
  // [/produce]
  right = right && total == 2.0 * static_cast<double>(table.size());
  // [block]
  const auto area = quire::region::of(grid.data());
  area.begin_block();                                       // every node has copies of its own
  for (std::size_t i = static_cast<std::size_t>(job.node()); i < grid.size(); i += static_cast<std::size_t>(job.nodes())) {
    grid[i] = 3.0;                                          // neighbours belong to different nodes
  }
  area.end_block();                                         // merged, exact to the byte
  // [/block]
  right = right && sum(grid) == 3.0 * static_cast<double>(grid.size());
  // [orders]
  auto flags = quire::from_node(0, [] { return quire::region::create(4096, {.orders = true}).span<int>(); });
  if (job.node() == 0) {
    grid[0] = 4.0;                                          // of a region with release consistency
    std::atomic_ref(flags[0]).store(1, std::memory_order_release);
  }
  while (std::atomic_ref(flags[0]).load(std::memory_order_acquire) == 0) std::this_thread::yield();
  const double seen = grid[0];                              // 4, on all nodes
  // [/orders]
  right = right && seen == 4.0;
  auto scratch = quire::from_node(0, [] { return quire::region::create(bytes).span<double>(); });
  right = right && scratch[static_cast<std::size_t>(job.node())] == 0.0;
  // [destroy]
  quire::barrier{}.arrive_and_wait();                       // nobody uses it any more
  if (job.node() == 0) quire::region::of(scratch.data()).destroy();
  // [/destroy]
  // [heap]
  const auto nodes = quire::from_node(0, [] {
    return quire::region::create(bytes, {.consistency = quire::consistency::release, .heap = true});
  });
  std::vector<double, quire::allocator<double>> own(1000, 1.0, quire::allocator<double>{nodes});
  auto* const pair = nodes.make<std::pair<int, int>>(3, 4);
  // [/heap]
  right = right && quire::region::of(own.data()) == nodes && quire::region::of(pair) == nodes && sum(own) == 1000.0;
  if (job.node() == 0) std::printf("%zu and %zu numbers are %s\n", grid.size(), table.size(), right ? "right" : "WRONG");
  return right ? 0 : 1;
}
