// SPDX-License-Identifier: BSD-3-Clause
// CG as a plain OpenMP program: what the one on Quire is measured against. Built without OpenMP it is the serial
// program.
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "cg/kernel.hpp"
#include "cg/matrix.hpp"
#include "cg/settings.hpp"
#include "common/crew_openmp.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"

int main(int argc, char** argv) try {
  const auto wanted = cg::parse(argc, argv, apps::plain_variant);
  std::array<std::vector<double>, 5> memory;
  const auto n = static_cast<std::size_t>(wanted.problem.n);
  for (auto& vector : memory) vector.resize(n);
  const cg::vectors vectors{memory[0], memory[1], memory[2], memory[3], memory[4]};
  const auto terms = cg::random_vectors(wanted);

  auto result = cg::begin_report(wanted, apps::plain_variant);
  const auto iterations = static_cast<std::size_t>(wanted.problem.iterations);
  apps::progress shown("cg", iterations, wanted.progress);
  std::vector<cg::matrix_rows<std::allocator>> matrix(static_cast<std::size_t>(wanted.threads));
  cg::eigenvalue found;
  apps::openmp_crew(wanted).run(
      result,
      [&](auto& me) {
        const auto mine = cg::rows_of(me, n);
        matrix[me.thread()] = cg::build_rows<std::allocator>(terms, wanted.problem.shift, mine);
        cg::warm_up(me, matrix[me.thread()], vectors, wanted.problem.shift);
      },
      [&](auto& me) {
        for (std::size_t i = 0; i < iterations; ++i) {
          const auto now = cg::iterate(me, matrix[me.thread()], vectors, wanted.problem.shift);
          if (me.thread() == 0) found = now, shown.show(i + 1);
        }
      });
  return cg::finish(wanted, result, found);
} catch (const std::exception& e) {
  fmt::print(stderr, "cg: {}\n", e.what());
  return 1;
}
