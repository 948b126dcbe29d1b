// Shared by sor, sor_openmp and sor_serial.
#include "sor/settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sor/kernel.hpp"

namespace sor {

settings parse(int argc, char** argv, const std::string& variant) {
  settings wanted;
  CLI::App app{"Red-black successive over-relaxation on a square grid of doubles (" + variant + ")"};
  app.add_option("--size", wanted.size, "rows and columns")->check(CLI::Range(3, 1 << 20))->capture_default_str();
  app.add_option("--iterations", wanted.iterations, "sweeps over red and black")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  if (variant != "serial")
    app.add_option("--threads", wanted.threads, variant == "quire" ? "threads per node" : "threads")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
  if (variant == "quire")
    app.add_option("--unit", wanted.unit_kib, "sharing unit in KiB; 0: a row, where it can be")
        ->check(CLI::IsMember({0, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048}));
  app.add_flag("--check", wanted.check, "compare with a serial run in plain memory, bit by bit");
  app.add_flag("--progress", wanted.progress, "show progress on standard error");
  app.add_flag("--json", wanted.json, "print the result as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
  return wanted;
}

std::unique_ptr<double[]> serial_result(const settings& wanted) {
  const std::size_t n = wanted.size;
  auto cells = std::make_unique_for_overwrite<double[]>(n * n);
  initialise_rows(cells.get(), n, {0, n});
  for (int iteration = 0; iteration < wanted.iterations; ++iteration)
    for (unsigned colour : {0u, 1u}) relax_rows(cells.get(), n, {0, n}, colour);
  return cells;
}

bool same_bits(const double* computed, const double* expected, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (std::memcmp(computed + i * n, expected + i * n, n * sizeof(double)) == 0) continue;
    std::size_t j = 0;
    while (std::memcmp(computed + i * n + j, expected + i * n + j, sizeof(double)) == 0) ++j;
    fmt::print(stderr, "sor: row {}, column {} is {} instead of {}\n", i, j, computed[i * n + j], expected[i * n + j]);
    return false;
  }
  return true;
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
