// SPDX-License-Identifier: BSD-3-Clause
// CG on Quire. The vectors lie in shared memory, and so do the rows of the matrix, which each worker builds for itself.
// What a worker needs of the others' part of a vector it asks for beforehand, or it comes by page faults; dot products
// are added by messages.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <vector>

#include <fmt/format.h>
#include <quire/quire.hpp>

#include "cg/kernel.hpp"
#include "cg/matrix.hpp"
#include "cg/settings.hpp"
#include "common/crew.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/shared_array.hpp"

int main(int argc, char** argv) try {
  const auto wanted = cg::parse(argc, argv, "quire");
  quire::session job;
  const auto n = static_cast<std::size_t>(wanted.problem.n);
  const auto vectors = quire::from_node(0, [&] {
    const auto make = [&] { return apps::make_shared_array(wanted, n, wanted.unit_kib); };
    return cg::vectors{make(), make(), make(), make(), make()};
  });
  const auto terms = cg::random_vectors(wanted);

  auto result = cg::begin_report(wanted, "quire");
  const auto iterations = static_cast<std::size_t>(wanted.problem.iterations);
  apps::progress shown("cg", iterations, wanted.progress && job.node() == 0);
  std::vector<cg::matrix_rows<quire::allocator>> matrix(static_cast<std::size_t>(wanted.threads));
  cg::eigenvalue found;
  apps::crew(wanted, {vectors.p})
      .run(
          result,
          [&](auto& me) {
            const auto mine = cg::rows_of(me, n);
            matrix[me.thread()] = cg::build_rows<quire::allocator>(terms, wanted.problem.shift, mine);
            cg::warm_up(me, matrix[me.thread()], vectors, wanted.problem.shift);
          },
          [&](auto& me) {
            for (std::size_t i = 0; i < iterations; ++i) {
              const auto now = cg::iterate(me, matrix[me.thread()], vectors, wanted.problem.shift);
              if (me.thread() == 0) found = now, shown.show(i + 1);
            }
          });
  return quire::broadcast(job.node() == 0 ? cg::finish(wanted, result, found) : 0);
} catch (const std::exception& e) {
  fmt::print(stderr, "cg: {}\n", e.what());
  return 1;
}
