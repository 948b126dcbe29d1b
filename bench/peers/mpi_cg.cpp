// SPDX-License-Identifier: BSD-3-Clause
// CG with messages: the kernel and the blocks of rows of apps/cg. What its workers say they will read of others is
// gathered then. Built by build_apps.sh.
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "cg/kernel.hpp"
#include "cg/matrix.hpp"
#include "cg/settings.hpp"
#include "common/partition.hpp"
#include "common/worker.hpp"
#include "peers/mpi_job.hpp"

namespace {

/// Each process has the vectors as a whole, and writes to its own rows.
class message_worker : public peers::mpi_job {
 public:
  explicit message_worker(std::size_t n) {
    for (std::size_t i = 0; i < count(); ++i) {
      const auto rows = apps::block_of_rows(i, count(), n, sizeof(double), 2);  // cg::rows_of()
      begins_.push_back(static_cast<int>(rows.begin));
      lengths_.push_back(static_cast<int>(rows.end - rows.begin));
    }
  }
  [[nodiscard]] std::size_t thread() const { return 0; }
  void wait() {}  // nobody reads what another writes
  /// A whole vector, which all are about to read.
  void will_read(std::span<const double> vector) {
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, const_cast<double*>(vector.data()), lengths_.data(),
                   begins_.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  }
  void will_write(std::span<const double>) {}
  template <std::size_t N>
  [[nodiscard]] std::array<double, N> sum(std::array<double, N> values) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(N), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return values;
  }
  [[nodiscard]] double sum(double mine) { return sum(std::array{mine})[0]; }

 private:
  std::vector<int> begins_, lengths_;
};
static_assert(apps::worker<message_worker>);

}  // namespace

int main(int argc, char** argv) try {
  const auto wanted = cg::parse(argc, argv, "mpi");
  const auto n = static_cast<std::size_t>(wanted.problem.n);
  message_worker me(n);
  std::array<std::vector<double>, 5> memory;
  for (auto& vector : memory) vector.resize(n);
  const cg::vectors vectors{memory[0], memory[1], memory[2], memory[3], memory[4]};
  const auto terms = cg::random_vectors(wanted);
  cg::matrix_rows<std::allocator> matrix;
  cg::eigenvalue found;
  auto result = cg::begin_report(wanted, "mpi");
  me.run(
      result,
      [&] {
        matrix = cg::build_rows<std::allocator>(terms, wanted.problem.shift, cg::rows_of(me, n));
        cg::warm_up(me, matrix, vectors, wanted.problem.shift);
      },
      [&] {
        for (int i = 0; i < wanted.problem.iterations; ++i)
          found = cg::iterate(me, matrix, vectors, wanted.problem.shift);
      });
  return me.number() == 0 ? cg::finish(wanted, result, found) : 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "cg: %s\n", e.what());
  return 1;
}
