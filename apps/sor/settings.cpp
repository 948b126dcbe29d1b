// SPDX-License-Identifier: BSD-3-Clause
// Shared by sor, sor_openmp and sor_serial.
#include "sor/settings.hpp"

#include <memory>

#include <fmt/format.h>

#include "common/bits.hpp"
#include "sor/kernel.hpp"

namespace sor {

settings parse(int argc, char** argv, const std::string& variant) {
  settings wanted;
  apps::command_line app("Red-black successive over-relaxation on a square grid of doubles", variant);
  app.add<std::size_t>("--size", wanted.size, 3, 1 << 20, "rows and columns");
  app.add("--iterations", wanted.iterations, 0, 1000000, "sweeps over red and black");
  app.add_unit(wanted.unit_kib, "a row, where it can be");
  app.add_hints(wanted);
  if (app.is_quire()) {
    app.add_text("--checkpoint", wanted.checkpoint, "write checkpoints to this directory, and go on from the last one there");
    app.add("--every", wanted.every, 0, 1000000, "iterations between checkpoints; 0: a tenth of all", false);
  }
  app.parse(wanted, "compare with a serial run in plain memory, bit by bit", argc, argv);
  return wanted;
}

bool equals_serial(const settings& wanted, const double* grid) {
  const std::size_t n = wanted.size;
  const auto expected = std::make_unique_for_overwrite<double[]>(n * n);
  initialise_rows(expected.get(), n, {0, n});
  for (int iteration = 0; iteration < wanted.iterations; ++iteration)
    for (unsigned colour : {0u, 1u}) relax_rows(expected.get(), n, {0, n}, colour);
  return apps::same_bits("sor", {grid, n * n}, {expected.get(), n * n}, n);
}

apps::report begin_report(const settings& wanted, const std::string& variant) {
  apps::report result;
  result.program = "sor";
  result.variant = variant;
  result.problem = fmt::format("{0} x {0}, {1} iterations", wanted.size, wanted.iterations);
  result.threads = wanted.threads;
  return result;
}

}  // namespace sor
