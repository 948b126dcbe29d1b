// SPDX-License-Identifier: BSD-3-Clause
// The matrix of NAS CG (RNR-94-007): a sum of n outer products of sparse random vectors, with weights that fall from 1
// to `condition`, and a shifted diagonal. The random numbers are drawn in one sequence, so every
// process draws all vectors; every worker then adds up its own rows only.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/partition.hpp"
#include "common/random.hpp"

namespace cg {

inline constexpr double condition = 0.1;

struct element {
  int index;
  double value;
};
using sparse_vector = std::vector<element>;

/// `wanted` elements at random places below n. A place that is beyond n, or taken, costs its random numbers as well.
[[nodiscard]] inline sparse_vector random_vector(apps::random_numbers& random, int n, int wanted) {
  int places = 1;
  while (places < n) places *= 2;
  sparse_vector vector;
  const auto taken = [&](int place) {
    for (const element& e : vector)
      if (e.index == place) return true;
    return false;
  };
  while (static_cast<int>(vector.size()) < wanted) {
    const double value = random.next();
    const int place = static_cast<int>(places * random.next());
    if (place < n && !taken(place)) vector.push_back({place, value});
  }
  return vector;
}

/// The vectors of the whole matrix; that of number i has 0.5 at place i.
[[nodiscard]] inline std::vector<sparse_vector> random_vectors(int n, int nonzeros) {
  apps::random_numbers random(314159265);
  random.skip(1);  // what the reference program does before it makes the matrix
  std::vector<sparse_vector> vectors;
  vectors.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    sparse_vector& vector = vectors.emplace_back(random_vector(random, n, nonzeros));
    bool set = false;
    for (element& e : vector)
      if (e.index == i) e.value = 0.5, set = true;
    if (!set) vector.push_back({i, 0.5});
  }
  return vectors;
}

/// Some rows of the matrix, one after the other. The allocator decides where they are: quire::allocator puts them into
/// shared memory.
template <template <class> class Allocator>
struct matrix_rows {
  apps::row_range rows;
  std::vector<std::size_t, Allocator<std::size_t>> start;  ///< of each row in `column` and `value`, and the end
  std::vector<int, Allocator<int>> column;
  std::vector<double, Allocator<double>> value;
};

/// Where rows [begin, end) get their terms from: the vectors that have an element there, in order, with its value.
[[nodiscard]] inline std::vector<sparse_vector> terms_of(const std::vector<sparse_vector>& vectors,
                                                         apps::row_range rows) {
  std::vector<sparse_vector> terms(rows.end - rows.begin);
  for (std::size_t i = 0; i < vectors.size(); ++i)
    for (const element& e : vectors[i])
      if (const auto row = static_cast<std::size_t>(e.index); row >= rows.begin && row < rows.end)
        terms[row - rows.begin].push_back({static_cast<int>(i), e.value});
  return terms;
}

template <template <class> class Allocator>
[[nodiscard]] matrix_rows<Allocator> build_rows(const std::vector<sparse_vector>& vectors, double shift,
                                                apps::row_range rows) {
  const std::size_t n = vectors.size();
  const double ratio = std::pow(condition, 1.0 / static_cast<double>(n));
  std::vector<double> weight(n, 1.0);
  for (std::size_t i = 1; i < n; ++i) weight[i] = weight[i - 1] * ratio;

  const auto terms = terms_of(vectors, rows);
  std::size_t most = 0;  // elements, if no two fall on the same place
  for (const auto& row : terms)
    for (const element& term : row) most += vectors[static_cast<std::size_t>(term.index)].size();

  matrix_rows<Allocator> matrix{.rows = rows, .start = {}, .column = {}, .value = {}};
  matrix.start.reserve(terms.size() + 1);
  matrix.column.reserve(most);
  matrix.value.reserve(most);
  std::vector<double> sum(n, 0.0);
  std::vector<bool> seen(n, false);
  std::vector<int> places;  // of the row, in the order in which they come up
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    for (const element& term : terms[row - rows.begin]) {
      const auto vector = static_cast<std::size_t>(term.index);
      for (const element& e : vectors[vector]) {
        const auto place = static_cast<std::size_t>(e.index);
        sum[place] += term.value * (weight[vector] * e.value);
        if (!seen[place]) seen[place] = true, places.push_back(e.index);
      }
    }
    sum[row] += condition - shift;  // the row has a term on the diagonal: vector `row` has an element there
    matrix.start.push_back(matrix.value.size());
    for (const int place : places) {
      matrix.column.push_back(place);
      matrix.value.push_back(std::exchange(sum[static_cast<std::size_t>(place)], 0.0));
      seen[static_cast<std::size_t>(place)] = false;
    }
    places.clear();
  }
  matrix.start.push_back(matrix.value.size());
  return matrix;
}

}  // namespace cg
