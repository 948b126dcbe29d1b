// Shared by sor, sor_openmp and sor_serial.
#include "sor/settings.hpp"

#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/bits.hpp"
#include "sor/kernel.hpp"

namespace sor {

settings parse(int argc, char** argv, const std::string& variant) {
  settings wanted;
  CLI::App app{"Red-black successive over-relaxation on a square grid of doubles (" + variant + ")"};
  app.add_option("--size", wanted.size, "rows and columns")->check(CLI::Range(3, 1 << 20))->capture_default_str();
  app.add_option("--iterations", wanted.iterations, "sweeps over red and black")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  apps::add_unit(app, wanted.unit_kib, variant, "a row, where it can be");
  apps::add_hints(app, wanted, variant);
  if (variant == "quire") {
    app.add_option("--checkpoint", wanted.checkpoint, "write checkpoints to this directory, and go on from the last one there");
    app.add_option("--every", wanted.every, "iterations between checkpoints; 0: a tenth of all")->check(CLI::Range(0, 1000000));
  }
  apps::parse(app, wanted, variant, "compare with a serial run in plain memory, bit by bit", argc, argv);
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
