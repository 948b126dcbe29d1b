// Shared by raytracer, raytracer_openmp and raytracer_serial.
#include "raytracer/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/png.hpp"

namespace raytracer {
namespace {

bool same_pixels(const settings& wanted, std::span<const std::uint32_t> pixels) {
  scene<std::allocator> plain;
  build(plain);
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
  CLI::App app{"Ray tracer (" + variant + ")"};
  app.add_option("--width", wanted.size.width, "pixels")->check(CLI::Range(1, 1 << 15))->capture_default_str();
  app.add_option("--height", wanted.size.height, "pixels")->check(CLI::Range(1, 1 << 15))->capture_default_str();
  app.add_option("--samples", wanted.size.samples, "rays per pixel in each direction")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--tile-rows", wanted.tile_rows, "rows of a tile; rounded up to whole pages where it can be")
      ->check(CLI::Range(1, 1 << 15))
      ->capture_default_str();
  app.add_option("--out", wanted.out, "write the picture to this PNG file");
  apps::parse(app, wanted, variant, "compare with a serial run in plain memory, pixel by pixel", argc, argv);
  return wanted;
}

int finish(const settings& wanted, apps::report result, std::span<const std::uint32_t> pixels) {
  result.program = "raytracer";
  result.problem = fmt::format("{} x {}, {} rays a pixel", wanted.size.width, wanted.size.height,
                               wanted.size.samples * wanted.size.samples);
  result.threads = wanted.threads;
  result.checksum = checksum(pixels);
  if (!wanted.out.empty()) apps::write_png(wanted.out, pixels, wanted.size.width, wanted.size.height);
  if (wanted.check) result.matches = same_pixels(wanted, pixels);
  return apps::print(result, wanted.json);
}

}  // namespace raytracer
