// SPDX-License-Identifier: BSD-3-Clause
// The Helmholtz equation u_xx + u_yy - alpha u = f on [-1, 1] x [-1, 1] by Jacobi's method with over-relaxation, after
// the OpenMP sample jacobi.f (J. Robicheaux and S. Shah, Kuck and Associates, 1998). The code that all programs share,
// for one worker, who owns some rows. It reads one row of each neighbour.
//
// The right-hand side is that of u = (1 - x^2)(1 - y^2). New values depend on old ones only, so the grid of any correct
// run has the very bits of the serial one; the error, added per worker, has not.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "common/partition.hpp"
#include "common/worker.hpp"

namespace helmholtz {

struct equation {
  std::size_t rows = 1000;
  std::size_t columns = 1000;
  double alpha = 0.0543;
  double relax = 0.9;
  double tolerance = 1e-10;
  int iterations = 100;  ///< at most

  [[nodiscard]] std::size_t size() const { return rows * columns; }
  [[nodiscard]] double dx() const { return 2.0 / static_cast<double>(columns - 1); }
  [[nodiscard]] double dy() const { return 2.0 / static_cast<double>(rows - 1); }
  [[nodiscard]] double solution(std::size_t row, std::size_t column) const {
    const double x = -1 + dx() * static_cast<double>(column);
    const double y = -1 + dy() * static_cast<double>(row);
    return (1 - x * x) * (1 - y * y);
  }
  [[nodiscard]] double right_side(std::size_t row, std::size_t column) const {
    const double x = -1 + dx() * static_cast<double>(column);
    const double y = -1 + dy() * static_cast<double>(row);
    return -alpha * (1 - x * x) * (1 - y * y) - 2 * (1 - x * x) - 2 * (1 - y * y);
  }
};

/// Three grids, row by row.
struct grids {
  std::span<double> u, old, f;
};

inline void initialise_rows(const equation& e, const grids& g, apps::row_range rows) {
  for (std::size_t i = rows.begin; i < rows.end; ++i)
    for (std::size_t j = 0; j < e.columns; ++j) {
      const std::size_t at = i * e.columns + j;
      g.u[at] = g.old[at] = 0;
      g.f[at] = e.right_side(i, j);
    }
}

/// New values of rows inside the grid; gives the sum of the squares of the residuals.
[[nodiscard]] inline double relax_rows(const equation& e, const grids& g, apps::row_range rows) {
  const double ax = 1 / (e.dx() * e.dx());
  const double ay = 1 / (e.dy() * e.dy());
  const double b = -2 * ax - 2 * ay - e.alpha;
  double sum = 0;
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    double* __restrict u = &g.u[i * e.columns];
    const double* __restrict old = &g.old[i * e.columns];
    const double* __restrict f = &g.f[i * e.columns];
    const double* above = old - e.columns;
    const double* below = old + e.columns;
    for (std::size_t j = 1; j + 1 < e.columns; ++j) {
      const double residual = (ax * (old[j - 1] + old[j + 1]) + ay * (above[j] + below[j]) + b * old[j] - f[j]) / b;
      u[j] = old[j] - e.relax * residual;
      sum += residual * residual;
    }
  }
  return sum;
}

struct outcome {
  int iterations = 0;
  double residual = std::numeric_limits<double>::infinity();  ///< root of the sum of squares, over the number of points
};

/// What one worker does; shown(done) after each iteration.
template <apps::worker Worker, class Shown>
outcome solve(Worker& me, const equation& e, const grids& g, apps::row_range mine, const Shown& shown) {
  const apps::row_range inside{std::max<std::size_t>(mine.begin, 1), std::min(mine.end, e.rows - 1)};
  const auto row = [&](const std::span<double> grid, std::size_t i) { return grid.subspan(i * e.columns, e.columns); };
  outcome found;
  while (found.iterations < e.iterations && found.residual > e.tolerance) {
    for (std::size_t i = mine.begin; i < mine.end; ++i) std::ranges::copy(row(g.u, i), row(g.old, i).begin());
    me.wait();  // the neighbours' rows are in place
    double error = 0;
    if (const auto [first, end] = inside; first < end) {
      me.will_read(row(g.old, first - 1));
      me.will_read(row(g.old, end));
      // The rows that need them come last.
      const std::size_t last = end - 1;
      error += relax_rows(e, g, {first + 1, last});
      error += relax_rows(e, g, {first, first + 1});
      if (last > first) error += relax_rows(e, g, {last, end});
    }
    found.residual = std::sqrt(me.sum(error)) / static_cast<double>(e.size());  // all have read their neighbours' rows
    if (mine.begin < mine.end) {
      me.will_write(row(g.old, mine.begin));
      me.will_write(row(g.old, mine.end - 1));
    }
    shown(++found.iterations);
  }
  return found;
}

/// How far the grid is from the solution of the differential equation.
[[nodiscard]] inline double distance_from_solution(const equation& e, std::span<const double> u) {
  double sum = 0;
  for (std::size_t i = 0; i < e.rows; ++i)
    for (std::size_t j = 0; j < e.columns; ++j) {
      const double difference = u[i * e.columns + j] - e.solution(i, j);
      sum += difference * difference;
    }
  return std::sqrt(sum) / static_cast<double>(e.size());
}

}  // namespace helmholtz
