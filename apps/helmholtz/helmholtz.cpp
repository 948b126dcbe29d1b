// SPDX-License-Identifier: BSD-3-Clause
// Helmholtz on Quire. Three grids in shared memory; each worker owns a block of rows. The rows at the border of a block
// come from the neighbour by page faults; the error is added by messages.
#include <cstddef>
#include <cstdio>
#include <exception>

#include <fmt/format.h>
#include <quire/quire.hpp>

#include "common/crew.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/shared_array.hpp"
#include "common/worker.hpp"
#include "helmholtz/kernel.hpp"
#include "helmholtz/settings.hpp"

int main(int argc, char** argv) try {
  const auto wanted = helmholtz::parse(argc, argv, "quire");
  const auto& problem = wanted.problem;
  quire::session job;
  const auto grids = quire::from_node(0, [&] {
    const auto make = [&] { return apps::make_shared_array(wanted, problem.size(), wanted.unit_kib); };
    return helmholtz::grids{make(), make(), make()};
  });

  auto result = helmholtz::begin_report(wanted, "quire");
  apps::progress shown("helmholtz", static_cast<std::size_t>(problem.iterations), wanted.progress && job.node() == 0);
  helmholtz::outcome found;
  const std::size_t row_bytes = problem.columns * sizeof(double);
  const auto rows_of = [&](const auto& me) { return apps::rows_of(me, problem.rows, row_bytes); };
  apps::crew(wanted, {grids.u, grids.old})
      .run(
          result, [&](auto& me) { helmholtz::initialise_rows(problem, grids, rows_of(me)); },
          [&](auto& me) {
            const bool first = me.thread() == 0;
            const auto mine = helmholtz::solve(me, problem, grids, rows_of(me), [&](int done) {
              if (first) shown.show(static_cast<std::size_t>(done));
            });
            if (first) found = mine;
          });
  return quire::broadcast(job.node() == 0 ? helmholtz::finish(wanted, result, grids.u, found) : 0);
} catch (const std::exception& e) {
  fmt::print(stderr, "helmholtz: {}\n", e.what());
  return 1;
}
