// SPDX-License-Identifier: BSD-3-Clause
// Shared by lu, lu_openmp and lu_serial.
#include "lu/settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "common/bits.hpp"

namespace lu {
namespace {

constexpr double allowed_residual = 1e-12;

double element(const matrix& m, std::size_t row, std::size_t column) {
  return m.block(row / m.edge, column / m.edge)[row % m.edge * m.edge + column % m.edge];
}

/// How far L U is from the matrix, by their products with one vector: the largest difference, relative to the largest
/// value.
double residual(const matrix& factors, const matrix& a) {
  const std::size_t n = a.size;
  apps::random_numbers random(271828183);
  std::vector<double> x(n), ux(n), product(n), expected(n);
  for (double& value : x) value = random.next();
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t column = 0; column < n; ++column) {
      expected[row] += element(a, row, column) * x[column];
      if (column >= row) ux[row] += element(factors, row, column) * x[column];
    }
  double worst = 0, largest = 0;
  for (std::size_t row = 0; row < n; ++row) {
    product[row] = ux[row];
    for (std::size_t column = 0; column < row; ++column) product[row] += element(factors, row, column) * ux[column];
    worst = std::max(worst, std::abs(product[row] - expected[row]));
    largest = std::max(largest, std::abs(expected[row]));
  }
  return worst / largest;
}

bool verified(const settings& wanted, const matrix& factors) {
  std::vector<double> memory(factors.elements.size());
  const matrix serial{memory, wanted.size, wanted.edge};
  apps::lone_worker me;
  fill(me, serial);
  const std::vector<double> at_first = memory;
  factorise(me, serial, [](std::size_t) {});
  bool fine = apps::same_bits("lu", factors.elements, serial.elements, wanted.edge * wanted.edge);
  std::vector<double> copy = at_first;
  const double found = residual(factors, {copy, wanted.size, wanted.edge});
  if (!(found <= allowed_residual)) {
    fmt::print(stderr, "lu: L times U differs from the matrix by {}, more than {}\n", found, allowed_residual);
    fine = false;
  }
  return fine;
}

}  // namespace

settings parse(int argc, char** argv, const std::string& variant) {
  settings wanted;
  apps::command_line app("LU factorisation of a dense matrix, in blocks", variant);
  app.add<std::size_t>("--size", wanted.size, 1, 1 << 16, "rows and columns: a multiple of --block");
  app.add<std::size_t>("--block", wanted.edge, 1, 1024, "rows and columns of a block");
  app.add_hints(wanted);
  app.parse(wanted, "compare with a serial run, bit by bit, and see that L times U is the matrix", argc, argv);
  if (wanted.size % wanted.edge != 0) {
    fmt::print(stderr, "lu: --size {} is no multiple of --block {}\n", wanted.size, wanted.edge);
    std::exit(1);
  }
  return wanted;
}

apps::report begin_report(const settings& wanted, const std::string& variant) {
  apps::report result;
  result.program = "lu";
  result.variant = variant;
  result.problem = fmt::format("{0} x {0} matrix, {1} x {1} blocks", wanted.size, wanted.edge);
  result.threads = wanted.threads;
  return result;
}

int finish(const settings& wanted, apps::report result, const matrix& factors) {
  result.checksum = apps::checksum(factors.elements);
  if (wanted.check) result.matches = verified(wanted, factors);
  return apps::print(result, wanted.json);
}

}  // namespace lu
