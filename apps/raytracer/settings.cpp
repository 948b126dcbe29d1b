// SPDX-License-Identifier: BSD-3-Clause
// Shared by raytracer, raytracer_openmp and raytracer_serial.
#include "raytracer/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "common/png.hpp"

namespace raytracer {
namespace {

bool same_pixels(const settings& wanted, std::span<const std::uint32_t> pixels) {
  scene<std::allocator> plain;
  build(wanted, plain);
  std::vector<std::uint32_t> expected(wanted.pixels());
  render(plain.view(), wanted.size, {0, wanted.size.height}, expected.data());
  const auto [computed, differs] = std::mismatch(pixels.begin(), pixels.end(), expected.begin(), expected.end());
  if (differs == expected.end()) return true;
  const auto at = static_cast<std::size_t>(differs - expected.begin());
  fmt::print(stderr, "raytracer: pixel {}, {} is {:08x} instead of {:08x}\n", at % wanted.size.width,
             at / wanted.size.width, *computed, *differs);
  return false;
}

/// Depends on every pixel and its place (FNV-1a).
std::uint64_t checksum(std::span<const std::uint32_t> pixels) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (std::uint32_t pixel : pixels) sum = (sum ^ pixel) * 0x100000001b3u;
  return sum;
}

}  // namespace

settings parse(int argc, char** argv, const std::string& variant) {
  settings wanted;
  apps::command_line app("Ray tracer", variant);
  app.add<std::size_t>("--width", wanted.size.width, 1, 1 << 15, "pixels");
  app.add<std::size_t>("--height", wanted.size.height, 1, 1 << 15, "pixels");
  app.add("--samples", wanted.size.samples, 1, 64, "rays per pixel in each direction");
  app.add<std::size_t>("--tile-rows", wanted.tile_rows, 1, 1 << 15,
                       "rows of a tile; rounded up to whole pages where it can be");
  app.add_choice("--scene", wanted.scene, {"spiral", "paper"},
                 "paper: 99 spheres, 8 triangles, 3 lights, as many as in the measurements of Kerrighed and Plurix");
  app.add_text("--out", wanted.out, "write the picture to this PNG file");
  app.has_transactions();
  app.parse(wanted, "compare with a serial run in plain memory, pixel by pixel", argc, argv);
  return wanted;
}

int finish(const settings& wanted, apps::report result, std::span<const std::uint32_t> pixels) {
  result.program = "raytracer";
  result.problem = fmt::format("{} x {}, {} ray{} a pixel{}", wanted.size.width, wanted.size.height,
                               wanted.size.samples * wanted.size.samples, wanted.size.samples == 1 ? "" : "s",
                               wanted.scene == "paper" ? ", 99 spheres and 8 triangles" : "");
  result.threads = wanted.threads;
  result.checksum = checksum(pixels);
  if (!wanted.out.empty()) apps::write_png(wanted.out, pixels, wanted.size.width, wanted.size.height);
  if (wanted.check) result.matches = same_pixels(wanted, pixels);
  return apps::print(result, wanted.json);
}

}  // namespace raytracer
