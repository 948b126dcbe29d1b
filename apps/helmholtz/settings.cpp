// SPDX-License-Identifier: BSD-3-Clause
// Shared by helmholtz, helmholtz_openmp and helmholtz_serial.
#include "helmholtz/settings.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "common/bits.hpp"

namespace helmholtz {
namespace {

bool equals_serial(const equation& problem, std::span<const double> u, const outcome& found) {
  std::vector<double> memory(3 * problem.size());
  const std::span all(memory);
  const std::size_t size = problem.size();
  const grids g{all.first(size), all.subspan(size, size), all.last(size)};
  apps::lone_worker me;
  initialise_rows(problem, g, {0, problem.rows});
  const outcome expected = solve(me, problem, g, {0, problem.rows}, [](int) {});
  bool equal = apps::same_bits("helmholtz", u, g.u, problem.columns);
  if (found.iterations != expected.iterations ||
      std::abs(found.residual - expected.residual) > 1e-9 * expected.residual) {
    fmt::print(stderr, "helmholtz: {} iterations and residual {} instead of {} and {}\n", found.iterations,
               found.residual, expected.iterations, expected.residual);
    equal = false;
  }
  return equal;
}

}  // namespace

settings parse(int argc, char** argv, const std::string& variant) {
  settings wanted;
  equation& problem = wanted.problem;
  std::size_t columns = 0;
  apps::command_line app("Helmholtz equation by Jacobi's method with over-relaxation", variant);
  app.add<std::size_t>("--size", problem.rows, 3, 1 << 16, "rows of the grid");
  app.add<std::size_t>("--columns", columns, 3, 1 << 16, "columns; not given: as many as rows", false);
  app.add("--iterations", problem.iterations, 1, 1000000, "at most");
  app.add("--alpha", problem.alpha, 0.0, 1e6, "constant of the equation");
  app.add("--relax", problem.relax, 0.0, 2.0, "relaxation factor");
  app.add("--tolerance", problem.tolerance, 0.0, 1.0, "residual to stop at");
  app.add_unit(wanted.unit_kib, "4");
  app.add_hints(wanted);
  app.parse(wanted, "compare with a serial run in plain memory, bit by bit", argc, argv);
  problem.columns = columns != 0 ? columns : problem.rows;
  return wanted;
}

apps::report begin_report(const settings& wanted, const std::string& variant) {
  apps::report result;
  result.program = "helmholtz";
  result.variant = variant;
  result.problem =
      fmt::format("{} x {}, {} iterations", wanted.problem.rows, wanted.problem.columns, wanted.problem.iterations);
  result.threads = wanted.threads;
  return result;
}

int finish(const settings& wanted, apps::report result, std::span<const double> u, const outcome& found) {
  result.values = {{"iterations", found.iterations},
                   {"residual", found.residual},
                   {"solution_error", distance_from_solution(wanted.problem, u)}};
  result.checksum = apps::checksum(u);
  if (wanted.check) result.matches = equals_serial(wanted.problem, u, found);
  return apps::print(result, wanted.json);
}

}  // namespace helmholtz
