// SPDX-License-Identifier: BSD-3-Clause
// As apps/md: each node owns particles, and reads the positions of all for each of them.
#include <algorithm>

#include "common/partition.hpp"
#include "sim/timed/patterns.hpp"

namespace quire::timed {
namespace {

constexpr std::uint64_t particle_bytes = 3 * sizeof(double);
enum array : unsigned { position, velocity, acceleration };

void work(node& me, const md_shape& shape, apps::row_range mine) {
  const std::uint64_t first = mine.begin * particle_bytes, bytes = (mine.end - mine.begin) * particle_bytes;
  const std::uint64_t all = shape.particles * particle_bytes;

  const auto set_up = [&] {
    for (const unsigned array : {position, velocity, acceleration}) me.write(array, first, bytes);
  };
  const auto particle_ns = static_cast<time_ns>(shape.pair_ns * static_cast<double>(shape.particles));
  const auto compute = [&] {
    for (unsigned step = 0; step <= shape.steps; ++step) {
      if (step != 0) {  // new positions
        for (const unsigned array : {velocity, acceleration}) me.read(array, first, bytes);
        me.write(position, first, bytes);
        me.wait();
        if (shape.hints) me.prefetch(position, 0, all);
      }
      for (std::uint64_t i = mine.begin; i < mine.end; ++i) {
        me.work(particle_ns, {{position, 0, all}});
        for (const unsigned array : {velocity, acceleration}) me.write(array, i * particle_bytes, particle_bytes);
      }
      me.sum(2);  // energies
      if (step != 0 && shape.hints && bytes != 0) me.prefetch(position, first, bytes, access::write);
    }
  };
  run_crew(me, set_up, compute);
}

}  // namespace

pattern md(const md_shape& shape, unsigned nodes) {
  pattern p;
  p.regions.assign(3, {shape.particles * particle_bytes, page_bytes});
  p.thread_of = [shape, nodes](unsigned number) {
    return [shape, mine = apps::block_of_rows(number, nodes, shape.particles, particle_bytes)](node& me) {
      work(me, shape, mine);
    };
  };
  return p;
}

}  // namespace quire::timed
