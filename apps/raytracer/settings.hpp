// SPDX-License-Identifier: BSD-3-Clause
// The command line of the ray tracers, and what of a run does not depend on how it is parallel.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/partition.hpp"
#include "common/report.hpp"
#include "common/settings.hpp"
#include "raytracer/trace.hpp"

namespace raytracer {

struct settings : apps::run_settings {
  picture_size size;
  std::size_t tile_rows = 4;
  std::string scene = "spiral";  ///< or "paper"
  std::string out;               ///< PNG file; empty: none

  [[nodiscard]] std::size_t pixels() const noexcept { return size.width * size.height; }
};

/// The picture is handed out in tiles of whole rows.
struct tiling {
  std::size_t rows_per_tile;
  std::size_t rows;

  tiling(const settings& wanted, std::size_t workers)
      : rows_per_tile(apps::rows_of_tile(wanted.tile_rows, wanted.size.height,
                                         wanted.size.width * sizeof(std::uint32_t), workers)),
        rows(wanted.size.height) {}
  [[nodiscard]] std::size_t count() const noexcept { return (rows + rows_per_tile - 1) / rows_per_tile; }
  [[nodiscard]] apps::row_range operator[](std::size_t tile) const noexcept {
    return {tile * rows_per_tile, std::min((tile + 1) * rows_per_tile, rows)};
  }
};

/// Fills in the scene that is wanted.
template <class Scene>
void build(const settings& wanted, Scene& s) {
  wanted.scene == "paper" ? build_paper(s) : build(s);
}

/// Reads the command line; prints and exits on --help and on errors.
[[nodiscard]] settings parse(int argc, char** argv, const std::string& variant);

/// Ends a run, on node 0: writes the picture, compares it with a serial run if wanted, prints the report; the exit
/// status.
[[nodiscard]] int finish(const settings& wanted, apps::report result, std::span<const std::uint32_t> pixels);

}  // namespace raytracer
