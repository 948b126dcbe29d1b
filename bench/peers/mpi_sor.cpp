// SPDX-License-Identifier: BSD-3-Clause
// SOR with messages: the kernel and the blocks of rows of apps/sor; before each half sweep neighbours exchange the rows
// at their border. Each process has the whole grid in its address space, and uses its block and a row on either side of
// it. Built by build_apps.sh.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>

#include "common/bits.hpp"
#include "common/partition.hpp"
#include "common/report.hpp"
#include "peers/mpi_job.hpp"
#include "sor/kernel.hpp"
#include "sor/settings.hpp"

namespace {

void exchange_borders(const peers::mpi_job& job, double* grid, std::size_t n, apps::row_range mine) {
  const int above = job.number() == 0 ? MPI_PROC_NULL : static_cast<int>(job.number()) - 1;
  const int below = job.number() + 1 == job.count() ? MPI_PROC_NULL : static_cast<int>(job.number()) + 1;
  const int count = static_cast<int>(n);
  double *const first = grid + mine.begin * n, *const last = grid + (mine.end - 1) * n;
  double* const before = above == MPI_PROC_NULL ? first : first - n;  // where there is nobody, nothing is received
  double* const behind = below == MPI_PROC_NULL ? last : last + n;
  MPI_Sendrecv(first, count, MPI_DOUBLE, above, 0, behind, count, MPI_DOUBLE, below, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(last, count, MPI_DOUBLE, below, 0, before, count, MPI_DOUBLE, above, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) try {
  const auto wanted = sor::parse(argc, argv, "mpi");
  peers::mpi_job me;
  const auto mine = apps::block_of_rows(me.number(), me.count(), wanted.size, wanted.row_bytes());
  const auto memory = std::make_unique_for_overwrite<double[]>(wanted.size * wanted.columns);
  const sor::grid grid = wanted.of(memory.get());
  auto result = sor::begin_report(wanted, "mpi");
  me.run(
      result, [&] { sor::initialise_rows(grid, mine); },
      [&] {
        for (int iteration = 0; iteration < wanted.iterations; ++iteration)
          for (unsigned colour : {0u, 1u}) {
            exchange_borders(me, grid.cells, grid.columns, mine);
            sor::relax_rows(grid, mine, colour);
          }
      });
  std::uint64_t sum = apps::checksum({grid.row(mine.begin), (mine.end - mine.begin) * grid.columns});
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  result.checksum = sum;
  return me.number() == 0 ? apps::print(result, wanted.json) : 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "sor: %s\n", e.what());
  return 1;
}
