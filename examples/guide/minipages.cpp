// SPDX-License-Identifier: BSD-3-Clause
// Sharing units below a page, of docs/guide/minipages.md: quire run -n 2 guide/minipages
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <quire/quire.hpp>

namespace {

struct molecule {
  double position[3] = {};
  double force[3] = {};
};

std::uint64_t faults() {
  const auto now = quire::counters();
  return now.read_faults + now.write_faults + now.upgrade_faults;
}

}  // namespace

int main() {
  quire::session job;
  const auto self = static_cast<std::size_t>(job.node()), nodes = static_cast<std::size_t>(job.nodes());
  // [create]
  const auto heap = quire::from_node(0, [] { return quire::minipage_heap::create(64 << 20, {.views = 16}); });
  // [/create]
  // [make]
  auto* const all = quire::from_node(0, [&] {
    auto* const made = quire::new_object<std::vector<molecule*, quire::allocator<molecule*>>>();
    for (std::size_t i = 0; i < 8 * nodes; ++i) made->push_back(heap.make<molecule>());   // 16 of them lie in a page
    return made;
  });
  // [/make]
  for (std::size_t i = self; i < all->size(); i += nodes) (*all)[i]->force[0] = 1;
  quire::barrier{}.arrive_and_wait();
  const std::uint64_t before = faults();
  // [write]
  for (int step = 0; step < 1000; ++step) {
    for (std::size_t i = self; i < all->size(); i += nodes) (*all)[i]->force[0] += 1.0;   // neighbours belong to different nodes
  }
  // [/write]
  bool right = faults() == before;
  quire::barrier{}.arrive_and_wait();
  for (const molecule* m : *all) right = right && m->force[0] == 1001.0;
  // [array]
  const auto grid = quire::from_node(0, [] { return quire::minipage_array<molecule>::create(1000); });
  for (std::size_t i = self; i < grid.size(); i += nodes) grid[i].position[0] = static_cast<double>(i);  // one by one
  // [/array]
  quire::barrier{}.arrive_and_wait();
  // [natural]
  double sum = 0;
  for (std::size_t i = 0; i < grid.size(); ++i) sum += grid.natural(i).position[0];  // page by page
  // [/natural]
  right = right && sum == 999.0 * 1000.0 / 2;
  quire::barrier{}.arrive_and_wait();
  {
    // [groups]
    const auto heap = quire::from_node(0, [] { return quire::minipage_heap::create(64 << 20, {.views = 16, .grouping = quire::grouping::adaptive}); });
    // [/groups]
    auto* const own = heap.make<molecule>();
    own->force[0] = 2;
    right = right && own->force[0] == 2.0;
  }
  // [containers]
  using allocator = quire::minipage_allocator<std::pair<const int, double>>;
  using map = std::map<int, double, std::less<int>, allocator>;
  auto* const best = quire::from_node(0, [&] { return heap.make<map>(allocator{heap}); });  // each node of the tree by itself
  // [/containers]
  auto* const guard = quire::from_node(0, [] { return quire::new_object<quire::mutex>(quire::mutex::create()); });
  {
    const std::scoped_lock lock(*guard);
    (*best)[job.node()] = 0.5;
  }
  quire::barrier{}.arrive_and_wait();
  right = right && best->size() == nodes;
  quire::barrier{}.arrive_and_wait();
  // [chunk]
  heap.set_chunk(3);                                        // three objects of a size move together, of what this node makes from now on
  // [/chunk]
  auto* const more = heap.make<molecule>();
  right = right && more->force[2] == 0.0;
  heap.free(more);
  if (job.node() == 0) std::printf("%zu molecules are %s\n", all->size(), right ? "right" : "WRONG");
  return right ? 0 : 1;
}
