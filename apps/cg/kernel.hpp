// SPDX-License-Identifier: BSD-3-Clause
// NAS CG: the largest eigenvalue of a sparse matrix by inverse iteration, each step of which solves a linear system by
// 25 steps of the conjugate gradient method (NAS Parallel Benchmarks, RNR-94-007; the program: NPB 2.3). The code that
// all programs share, for one worker, who owns some rows of the matrix and those of the vectors. Of what others own it
// reads p and z, to multiply them with the matrix.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "cg/matrix.hpp"
#include "common/partition.hpp"
#include "common/worker.hpp"

namespace cg {

inline constexpr int inner_steps = 25;

/// The vectors of the whole problem. Every span has n values.
struct vectors {
  std::span<double> x, z, p, q, r;
};

/// The rows of a worker. A page of a vector that has two owners costs more than blocks that are not quite equal.
template <apps::worker Worker>
[[nodiscard]] apps::row_range rows_of(const Worker& me, std::size_t n) {
  return apps::rows_of(me, n, sizeof(double), 2);
}

/// result = A v, for the rows at hand.
template <class Rows>
void multiply(const Rows& a, const double* v, double* result) {
  const std::size_t* start = a.start.data();
  const int* column = a.column.data();
  const double* value = a.value.data();
  for (std::size_t row = a.rows.begin; row < a.rows.end; ++row, ++start) {
    double sum = 0;
    for (std::size_t k = start[0]; k < start[1]; ++k) sum += value[k] * v[column[k]];
    result[row] = sum;
  }
}

[[nodiscard]] inline double dot(std::span<const double> a, std::span<const double> b, apps::row_range rows) {
  double sum = 0;
  for (std::size_t i = rows.begin; i < rows.end; ++i) sum += a[i] * b[i];
  return sum;
}

/// Solves A z = x approximately. Gives |x - A z|.
template <apps::worker Worker, class Rows>
double solve(Worker& me, const Rows& a, const vectors& v) {
  const auto [begin, end] = a.rows;
  for (std::size_t i = begin; i < end; ++i) v.z[i] = 0, v.r[i] = v.p[i] = v.x[i];
  double rho = me.sum(dot(v.r, v.r, a.rows));
  for (int step = 0; step < inner_steps; ++step) {
    me.will_read(v.p);
    multiply(a, v.p.data(), v.q.data());
    const double alpha = rho / me.sum(dot(v.p, v.q, a.rows));
    for (std::size_t i = begin; i < end; ++i) v.z[i] += alpha * v.p[i], v.r[i] -= alpha * v.q[i];
    const double before = rho;
    rho = me.sum(dot(v.r, v.r, a.rows));
    const double beta = rho / before;
    me.will_write(v.p.subspan(begin, end - begin));
    for (std::size_t i = begin; i < end; ++i) v.p[i] = v.r[i] + beta * v.p[i];
    me.wait();  // p is complete
  }
  me.will_read(v.z);
  multiply(a, v.z.data(), v.r.data());
  double error = 0;
  for (std::size_t i = begin; i < end; ++i) error += (v.x[i] - v.r[i]) * (v.x[i] - v.r[i]);
  return std::sqrt(me.sum(error));
}

/// x = 1, where each iteration begins.
template <class Rows>
void start(const Rows& a, const vectors& v) {
  for (std::size_t i = a.rows.begin; i < a.rows.end; ++i) v.x[i] = 1;
}

struct eigenvalue {
  double zeta = 0;
  double residual = 0;  ///< of the last linear system
};

/// One step of the inverse iteration.
template <apps::worker Worker, class Rows>
eigenvalue iterate(Worker& me, const Rows& a, const vectors& v, double shift) {
  const double residual = solve(me, a, v);
  const auto [xz, zz] = me.sum(std::array{dot(v.x, v.z, a.rows), dot(v.z, v.z, a.rows)});
  const double scale = 1.0 / std::sqrt(zz);
  for (std::size_t i = a.rows.begin; i < a.rows.end; ++i) v.x[i] = scale * v.z[i];
  return {shift + 1.0 / xz, residual};
}

/// What is not timed: all data is touched by an iteration, then put back.
template <apps::worker Worker, class Rows>
void warm_up(Worker& me, const Rows& a, const vectors& v, double shift) {
  start(a, v);
  iterate(me, a, v, shift);
  start(a, v);
}

}  // namespace cg
