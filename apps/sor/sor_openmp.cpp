// SPDX-License-Identifier: BSD-3-Clause
// SOR as a plain OpenMP program: what the one on Quire is measured against. Built without OpenMP it is the serial
// program.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "common/bits.hpp"
#include "common/partition.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/stopwatch.hpp"
#include "sor/kernel.hpp"
#include "sor/settings.hpp"

namespace {

#ifdef _OPENMP
constexpr const char* variant = "openmp";
#else
constexpr const char* variant = "serial";
#endif

template <class Cell>
apps::report compute(const sor::settings& wanted, const sor::grid_of<Cell>& grid) {
  const int parts = wanted.threads;
  const auto rows_of = [&](int part) {
    return apps::block_of_rows(static_cast<std::size_t>(part), static_cast<std::size_t>(parts), wanted.size,
                               wanted.row_bytes());
  };
  auto result = sor::begin_report(wanted, variant);
  apps::progress shown("sor", static_cast<std::size_t>(wanted.iterations), wanted.progress);

  const apps::stopwatch set_up;
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int part = 0; part < parts; ++part) sor::initialise_rows(grid, rows_of(part));
  result.set_up_s = set_up.seconds();

  const apps::stopwatch watch;
  for (int iteration = 0; iteration < wanted.iterations; ++iteration) {
    for (unsigned colour : {0u, 1u}) {
#pragma omp parallel for schedule(static) num_threads(parts)
      for (int part = 0; part < parts; ++part) sor::relax_rows(grid, rows_of(part), colour);
    }
    shown.show(static_cast<std::size_t>(iteration + 1));
  }
  result.time_s = watch.seconds();
  result.checksum = apps::checksum(std::span<const Cell>(grid.cells, grid.size()));
  return result;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto wanted = sor::parse(argc, argv, variant);
  return sor::with_cell(wanted, [&]<class Cell>(Cell) {
    const auto memory = std::make_unique_for_overwrite<Cell[]>(wanted.size * wanted.columns);
    const sor::grid_of<Cell> grid = wanted.of(memory.get());
    auto result = compute(wanted, grid);
    if (wanted.check) result.matches = sor::equals_serial(wanted, grid);
    return apps::print(result, wanted.json);
  });
} catch (const std::exception& e) {
  fmt::print(stderr, "sor: {}\n", e.what());
  return 1;
}
