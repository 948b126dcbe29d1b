// SPDX-License-Identifier: BSD-3-Clause
// Shared by cg, cg_openmp and cg_serial.
#include "cg/settings.hpp"

#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>

namespace cg {
namespace {

constexpr std::array classes{
    problem_class{"S", 1400, 7, 15, 10, 8.5971775078648},
    problem_class{"W", 7000, 8, 15, 12, 10.362595087124},
    problem_class{"A", 14000, 11, 15, 20, 17.130235054029},
    problem_class{"B", 75000, 13, 75, 60, 22.712745482631},
};
constexpr double tolerance = 1e-10;  // of NPB

double serial_zeta(const problem_class& problem) {
  const auto n = static_cast<std::size_t>(problem.n);
  const auto a = build_rows<std::allocator>(random_vectors(problem.n, problem.nonzeros), problem.shift, {0, n});
  std::array<std::vector<double>, 5> memory;
  for (auto& vector : memory) vector.resize(n);
  const vectors v{memory[0], memory[1], memory[2], memory[3], memory[4]};
  apps::lone_worker me;
  start(a, v);
  double zeta = 0;
  for (int i = 0; i < problem.iterations; ++i) zeta = iterate(me, a, v, problem.shift).zeta;
  return zeta;
}

}  // namespace

settings parse(int argc, char** argv, const std::string& variant) {
  settings wanted;
  std::string name = "S";
  int iterations = 0;
  apps::command_line app("NAS CG: the largest eigenvalue of a sparse matrix by conjugate gradients", variant);
  app.add_choice("--class", name, {"S", "W", "A", "B"}, "size of the problem: S, W, A or B");
  app.add("--iterations", iterations, 1, 1000000, "of the inverse iteration; not given: those of the class", false);
  app.add_unit(wanted.unit_kib, "4");
  app.add_hints(wanted);
  app.parse(wanted, "compare with a serial run where there is no official result (others are compared)", argc, argv);
  for (const problem_class& known : classes)
    if (name == known.name) wanted.problem = known;
  wanted.official = iterations == 0 || iterations == wanted.problem.iterations;
  if (iterations != 0) wanted.problem.iterations = iterations;
  return wanted;
}

std::vector<sparse_vector> random_vectors(const settings& wanted) {
  return random_vectors(wanted.problem.n, wanted.problem.nonzeros);
}

apps::report begin_report(const settings& wanted, const std::string& variant) {
  apps::report result;
  result.program = "cg";
  result.variant = variant;
  result.problem =
      fmt::format("class {}, {} rows, {} iterations", wanted.problem.name, wanted.problem.n, wanted.problem.iterations);
  result.threads = wanted.threads;
  return result;
}

int finish(const settings& wanted, apps::report result, const eigenvalue& found) {
  result.values = {{"zeta", found.zeta}, {"residual", found.residual}};
  if (wanted.official || wanted.check) {
    const double expected = wanted.official ? wanted.problem.zeta : serial_zeta(wanted.problem);
    result.matches = std::abs(found.zeta - expected) <= tolerance * std::abs(expected);
    result.reference = fmt::format("{} zeta {:.14g}", wanted.official ? "the official" : "the serial", expected);
  }
  return apps::print(result, wanted.json);
}

}  // namespace cg
