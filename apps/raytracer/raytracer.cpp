// SPDX-License-Identifier: BSD-3-Clause
// The ray tracer on Quire. Node 0 builds the scene in shared memory and publishes it; every thread of every node takes
// the next tile from a shared counter and writes its pixels into the shared picture; node 0 writes the file.
//
// With --consistency other than sequential the picture lies in a region of its own. Transactional: a tile is a
// transaction, which writes the picture only; scene and counter stay in the heap.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>

#include <fmt/format.h>
#include <quire/quire.hpp>
#include <quire/transaction.hpp>

#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/shared_array.hpp"
#include "common/stopwatch.hpp"
#include "common/traffic.hpp"
#include "raytracer/scene.hpp"
#include "raytracer/settings.hpp"
#include "raytracer/trace.hpp"

namespace {

using shared_scene = raytracer::scene<quire::allocator>;

/// The next tile to compute, alone on its page: what many nodes change must not lie beside what all of them read.
struct alignas(apps::page_bytes) tile_counter {
  std::uint64_t next = 0;
};

struct shared_work {
  const shared_scene* scene = nullptr;
  tile_counter* counter = nullptr;
  std::span<std::uint32_t> pixels;
};

std::span<std::uint32_t> make_picture(const raytracer::settings& wanted) {
  if (wanted.consistency == "sequential") return quire::make_shared_array<std::uint32_t>(wanted.pixels());
  return apps::make_shared_array<std::uint32_t>(wanted, wanted.pixels());
}

/// Node 0 makes it all; the others find it by its name.
shared_work* prepare(const raytracer::settings& wanted) {
  if (quire::node() == 0) {
    auto* scene = quire::new_object<shared_scene>();
    raytracer::build(wanted, *scene);
    quire::publish("raytracer/work", quire::new_object<shared_work>(
                                         shared_work{scene, quire::new_object<tile_counter>(), make_picture(wanted)}));
  }
  return quire::lookup<shared_work>("raytracer/work");
}

void render_tiles(const raytracer::settings& wanted, const raytracer::tiling& tiles, const shared_work& work,
                  apps::progress* shown) {
  const auto view = work.scene->view();
  const quire::atomic_ref next(work.counter->next);
  for (std::size_t tile = next.fetch_add(1); tile < tiles.count(); tile = next.fetch_add(1)) {
    const auto rows = tiles[tile];
    quire::prefetch(work.pixels.subspan(rows.begin * wanted.size.width, (rows.end - rows.begin) * wanted.size.width),
                    quire::access::write);
    if (wanted.consistency == "transactional") {
      quire::atomically([&] { raytracer::render(view, wanted.size, rows, work.pixels.data()); });
    } else {
      raytracer::render(view, wanted.size, rows, work.pixels.data());
    }
    if (shown != nullptr) shown->show(tile + 1);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const auto wanted = raytracer::parse(argc, argv, "quire");
  if (wanted.consistency == "blocks")
    throw std::runtime_error("--consistency blocks: tiles are given out by a counter, not between barriers");
  quire::session job;
  quire::team all(static_cast<unsigned>(wanted.threads));
  apps::report result;
  result.variant = "quire";
  result.nodes = job.nodes();

  const apps::stopwatch set_up;
  const shared_work work = *prepare(wanted);
  const raytracer::tiling tiles(wanted, static_cast<std::size_t>(job.nodes() * wanted.threads));
  apps::progress shown("raytracer", tiles.count(), wanted.progress && job.node() == 0);
  result.set_up_s = quire::all_reduce(set_up.seconds(), quire::operation::max);

  const quire_counters before = quire::counters();
  const apps::stopwatch watch;
  all.run([&](quire::member& me) { render_tiles(wanted, tiles, work, me.place() == 0 ? &shown : nullptr); });
  result.time_s = quire::all_reduce(watch.seconds(), quire::operation::max);
  result.shared = apps::traffic_between(before, quire::counters());
  shown.show(tiles.count());

  return quire::broadcast(job.node() == 0 ? raytracer::finish(wanted, result, work.pixels) : 0);
} catch (const std::exception& e) {
  fmt::print(stderr, "raytracer: {}\n", e.what());
  return 1;
}
