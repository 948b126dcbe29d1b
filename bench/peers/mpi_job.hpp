// SPDX-License-Identifier: BSD-3-Clause
// A process of a job that sends messages instead of sharing memory, for mpi_sor.cpp and mpi_cg.cpp.
#pragma once

#include <cstddef>

#include <mpi.h>

#include "common/report.hpp"
#include "common/stopwatch.hpp"

namespace peers {

/// MPI lasts as long as this does.
class mpi_job {
 public:
  mpi_job() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~mpi_job() { MPI_Finalize(); }
  mpi_job(const mpi_job&) = delete;
  mpi_job& operator=(const mpi_job&) = delete;

  [[nodiscard]] std::size_t number() const { return static_cast<std::size_t>(rank_); }
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(size_); }

  /// Runs set_up(), then compute(), on every process, and fills in the times of the report, between barriers.
  template <class SetUp, class Compute>
  void run(apps::report& result, const SetUp& set_up, const Compute& compute) {
    result.nodes = size_;
    MPI_Barrier(MPI_COMM_WORLD);
    const apps::stopwatch set_up_watch;
    set_up();
    MPI_Barrier(MPI_COMM_WORLD);
    result.set_up_s = set_up_watch.seconds();
    const apps::stopwatch watch;
    compute();
    MPI_Barrier(MPI_COMM_WORLD);
    result.time_s = watch.seconds();
  }

 private:
  int rank_ = 0, size_ = 1;
};

}  // namespace peers
