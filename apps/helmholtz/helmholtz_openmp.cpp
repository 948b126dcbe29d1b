// SPDX-License-Identifier: BSD-3-Clause
// Helmholtz as a plain OpenMP program: what the one on Quire is measured against. Built without OpenMP it is the serial
// program.
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>

#include <fmt/format.h>

#include "common/crew_openmp.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/worker.hpp"
#include "helmholtz/kernel.hpp"
#include "helmholtz/settings.hpp"

int main(int argc, char** argv) try {
  const auto wanted = helmholtz::parse(argc, argv, apps::plain_variant);
  const auto& problem = wanted.problem;
  const std::size_t size = problem.size();
  std::array<std::unique_ptr<double[]>, 3> memory;
  for (auto& grid : memory) grid = std::make_unique_for_overwrite<double[]>(size);
  const helmholtz::grids grids{{memory[0].get(), size}, {memory[1].get(), size}, {memory[2].get(), size}};

  auto result = helmholtz::begin_report(wanted, apps::plain_variant);
  apps::progress shown("helmholtz", static_cast<std::size_t>(problem.iterations), wanted.progress);
  helmholtz::outcome found;
  const std::size_t row_bytes = problem.columns * sizeof(double);
  const auto rows_of = [&](const auto& me) { return apps::rows_of(me, problem.rows, row_bytes); };
  apps::openmp_crew(wanted).run(
      result, [&](auto& me) { helmholtz::initialise_rows(problem, grids, rows_of(me)); },
      [&](auto& me) {
        const bool first = me.thread() == 0;
        const auto mine = helmholtz::solve(me, problem, grids, rows_of(me), [&](int done) {
          if (first) shown.show(static_cast<std::size_t>(done));
        });
        if (first) found = mine;
      });
  return helmholtz::finish(wanted, result, grids.u, found);
} catch (const std::exception& e) {
  fmt::print(stderr, "helmholtz: {}\n", e.what());
  return 1;
}
