// SPDX-License-Identifier: BSD-3-Clause
// The ray tracer as a plain OpenMP program, with the same tiles: what the one on Quire is measured against. Built
// without OpenMP it is the serial program.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/stopwatch.hpp"
#include "raytracer/scene.hpp"
#include "raytracer/settings.hpp"
#include "raytracer/trace.hpp"

#ifdef _OPENMP
#include <omp.h>
constexpr const char* variant = "openmp";
static int thread_number() { return omp_get_thread_num(); }
#else
constexpr const char* variant = "serial";
static int thread_number() { return 0; }
#endif

int main(int argc, char** argv) try {
  const auto wanted = raytracer::parse(argc, argv, variant);
  apps::report result;
  result.variant = variant;

  const apps::stopwatch set_up;
  raytracer::scene<std::allocator> scene;
  raytracer::build(wanted, scene);
  std::vector<std::uint32_t> pixels(wanted.pixels());
  const auto view = scene.view();
  const raytracer::tiling tiles(wanted, static_cast<std::size_t>(wanted.threads));
  apps::progress shown("raytracer", tiles.count(), wanted.progress);
  result.set_up_s = set_up.seconds();

  const apps::stopwatch watch;
#pragma omp parallel for schedule(dynamic) num_threads(wanted.threads)
  for (std::size_t tile = 0; tile < tiles.count(); ++tile) {
    raytracer::render(view, wanted.size, tiles[tile], pixels.data());
    if (thread_number() == 0) shown.show(tile + 1);
  }
  result.time_s = watch.seconds();
  shown.show(tiles.count());
  return raytracer::finish(wanted, result, pixels);
} catch (const std::exception& e) {
  fmt::print(stderr, "raytracer: {}\n", e.what());
  return 1;
}
