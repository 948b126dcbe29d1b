// SPDX-License-Identifier: BSD-3-Clause
// As apps/raytracer: node 0 has made scene, counter and picture in its part of the heap; each node takes the next tile
// from the counter. In transactions, a tile in each: the picture lies in a region of its own.
#include <algorithm>

#include "common/partition.hpp"
#include "sim/timed/patterns.hpp"
#include "sim/timed/picture_costs.hpp"

namespace quire::timed {
namespace {

constexpr std::uint64_t pixel_bytes = 4;
enum part : unsigned { scene, counter, picture };

void work(node& me, const raytracer_shape& shape, unsigned number, std::uint64_t rows_of_tile) {
  const std::uint64_t row_bytes = shape.width * pixel_bytes;
  me.make_team();
  if (number == 0) me.write(scene, 0, shape.scene_bytes);
  me.barrier();
  me.reduce(1);
  me.begin_measuring();
  for (;;) {
    const std::uint64_t first = me.count_up(counter, 0) * rows_of_tile,
                        end = std::min(first + rows_of_tile, shape.height);
    if (first >= shape.height) break;
    if (shape.hints) me.prefetch(picture, first * row_bytes, (end - first) * row_bytes, access::write);
    const auto render = [&] {
      for (std::uint64_t row = first; row < end; ++row) {
        me.read(scene, 0, shape.scene_bytes);
        const double row_ns =
            shape.pixel_ns * cost_of_row(shape.papers_scene, row, shape.height) * static_cast<double>(shape.width);
        me.work(static_cast<time_ns>(row_ns), {{picture, row * row_bytes, row_bytes, access::write}});
      }
    };
    shape.transactional ? me.atomically(render) : render();
  }
  me.wait();
  me.reduce(1);
  me.end_measuring();
}

}  // namespace

pattern raytracer(const raytracer_shape& shape, unsigned nodes) {
  pattern what;
  what.regions = {{.bytes = shape.scene_bytes, .home = 0}, {.bytes = page_bytes, .home = 0}};
  what.regions.push_back({.bytes = shape.width * shape.height * pixel_bytes,
                          .home = shape.transactional ? -1 : 0,
                          .transactional = shape.transactional});
  const std::uint64_t rows_of_tile =
      apps::rows_of_tile(shape.tile_rows, shape.height, shape.width * pixel_bytes, nodes);
  what.thread_of = [shape, rows_of_tile](unsigned number) {
    return [shape, number, rows_of_tile](node& me) { work(me, shape, number, rows_of_tile); };
  };
  return what;
}

}  // namespace quire::timed
