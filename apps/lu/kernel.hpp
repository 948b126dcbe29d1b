// SPDX-License-Identifier: BSD-3-Clause
// LU factorisation of a dense matrix without pivoting, in blocks: the method of SPLASH-2's contiguous LU (Woo, Ohara,
// Torrie, Singh and Gupta, "The SPLASH-2 Programs", ISCA 1995), from its description. The code that all programs share,
// for one worker, who owns blocks here and there in the matrix, so that all have work until the end, and alone writes
// them.
//
// Each element is computed by the same operations in the same order whoever owns its block: results have the bits of a
// serial run.
#pragma once

#include <cstddef>
#include <span>

#include "common/random.hpp"
#include "common/worker.hpp"

namespace lu {

/// `size` rows and columns, in square blocks of `edge`, each block in one piece. The blocks of a row follow each other.
struct matrix {
  std::span<double> elements;
  std::size_t size = 0;
  std::size_t edge = 0;

  [[nodiscard]] std::size_t blocks() const { return size / edge; }  ///< in a row, and in a column
  [[nodiscard]] std::span<double> block(std::size_t row, std::size_t column) const {
    return elements.subspan((row * blocks() + column) * edge * edge, edge * edge);
  }
};

/// Workers as a rectangle, as near to a square as their number allows, laid over the blocks again and again.
class owners {
 public:
  explicit owners(std::size_t workers) : workers_(workers) {
    for (std::size_t rows = 1; rows * rows <= workers; ++rows)
      if (workers % rows == 0) rows_ = rows;
  }
  [[nodiscard]] std::size_t of(std::size_t row, std::size_t column) const {
    const std::size_t columns = workers_ / rows_;
    return row % rows_ * columns + column % columns;
  }

 private:
  std::size_t workers_;
  std::size_t rows_ = 1;
};

/// Random numbers in (0, 1); the diagonal is large enough to do without pivoting.
inline void fill_block(const matrix& a, std::size_t row, std::size_t column) {
  const std::span<double> block = a.block(row, column);
  for (std::size_t r = 0; r < a.edge; ++r) {
    apps::random_numbers random(314159265);
    random.skip((row * a.edge + r) * a.size + column * a.edge);
    for (std::size_t c = 0; c < a.edge; ++c) {
      const bool diagonal = row == column && r == c;
      block[r * a.edge + c] = random.next() + (diagonal ? static_cast<double>(a.size) : 0);
    }
  }
}

/// A block of the diagonal becomes its factors: below the diagonal L, whose diagonal is 1, and U.
inline void factor(std::span<double> block, std::size_t edge) {
  for (std::size_t k = 0; k < edge; ++k)
    for (std::size_t r = k + 1; r < edge; ++r) {
      const double share = block[r * edge + k] /= block[k * edge + k];
      for (std::size_t c = k + 1; c < edge; ++c) block[r * edge + c] -= share * block[k * edge + c];
    }
}

/// A block beneath: multiplied by the inverse of U from the right.
inline void divide_by_upper(std::span<double> block, std::span<const double> diagonal, std::size_t edge) {
  for (std::size_t r = 0; r < edge; ++r)
    for (std::size_t k = 0; k < edge; ++k) {
      const double share = block[r * edge + k] /= diagonal[k * edge + k];
      for (std::size_t c = k + 1; c < edge; ++c) block[r * edge + c] -= share * diagonal[k * edge + c];
    }
}

/// A block to the right: multiplied by the inverse of L from the left.
inline void divide_by_lower(std::span<double> block, std::span<const double> diagonal, std::size_t edge) {
  for (std::size_t k = 0; k < edge; ++k)
    for (std::size_t r = k + 1; r < edge; ++r) {
      const double share = diagonal[r * edge + k];
      for (std::size_t c = 0; c < edge; ++c) block[r * edge + c] -= share * block[k * edge + c];
    }
}

/// A block inside loses the product of the one to its left and the one above.
inline void subtract_product(std::span<double> block, std::span<const double> left, std::span<const double> above,
                             std::size_t edge) {
  for (std::size_t r = 0; r < edge; ++r)
    for (std::size_t k = 0; k < edge; ++k) {
      const double share = left[r * edge + k];
      for (std::size_t c = 0; c < edge; ++c) block[r * edge + c] -= share * above[k * edge + c];
    }
}

/// The worker's own blocks of the matrix as it is at first.
template <apps::worker Worker>
void fill(const Worker& me, const matrix& a) {
  const owners by(me.count());
  for (std::size_t row = 0; row < a.blocks(); ++row)
    for (std::size_t column = 0; column < a.blocks(); ++column)
      if (by.of(row, column) == me.number()) fill_block(a, row, column);
}

/// What one worker does; shown(done) after each of a.blocks() steps.
template <apps::worker Worker, class Shown>
void factorise(Worker& me, const matrix& a, const Shown& shown) {
  const owners by(me.count());
  const auto is_mine = [&](std::size_t row, std::size_t column) { return by.of(row, column) == me.number(); };
  for (std::size_t k = 0; k < a.blocks(); ++k) {
    const std::span<double> diagonal = a.block(k, k);
    if (is_mine(k, k)) factor(diagonal, a.edge);
    me.wait();  // the diagonal block is there

    for (std::size_t i = k + 1; i < a.blocks(); ++i) {
      if (is_mine(i, k)) divide_by_upper(a.block(i, k), diagonal, a.edge);
      if (is_mine(k, i)) divide_by_lower(a.block(k, i), diagonal, a.edge);
    }
    me.wait();  // its row and its column are

    // Blocks of one row lie beside each other, those of a column do not.
    if (k + 1 < a.blocks()) {
      const std::size_t behind = (k * a.blocks() + k + 1) * a.edge * a.edge;
      me.will_read(a.elements.subspan(behind, (a.blocks() - k - 1) * a.edge * a.edge));
    }
    for (std::size_t row = k + 1; row < a.blocks(); ++row)
      if (!is_mine(row, k)) me.will_read(a.block(row, k));
    for (std::size_t row = k + 1; row < a.blocks(); ++row)
      for (std::size_t column = k + 1; column < a.blocks(); ++column)
        if (is_mine(row, column)) subtract_product(a.block(row, column), a.block(row, k), a.block(k, column), a.edge);
    shown(k + 1);
  }
}

}  // namespace lu
