// SPDX-License-Identifier: BSD-3-Clause
// What examples/shapes.cpp and its module both know: an interface, and no shape.
#pragma once

#include <cmath>
#include <cstddef>

namespace scene {

struct vector {
  double x = 0, y = 0, z = 0;
  friend vector operator+(const vector& a, const vector& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend vector operator-(const vector& a, const vector& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend vector operator*(double f, const vector& v) { return {f * v.x, f * v.y, f * v.z}; }
};
inline double dot(const vector& a, const vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline vector unit(const vector& v) { return 1 / std::sqrt(dot(v, v)) * v; }

struct ray {
  vector from, direction;
};

/// Objects lie in shared memory; their functions do, too.
class shape {
 public:
  virtual ~shape() = default;
  /// How far the ray goes to the shape; below zero: it misses.
  virtual double hit(const ray& of) const = 0;
  virtual vector normal(const vector& at) const = 0;
};

/// What the module exports: puts the n-th shape of its scene at a place of `shape_bytes`, or gives null.
inline constexpr std::size_t shape_bytes = 64;
using make_shape = shape*(void* at, int n);
/// And how bright a point is whose normal meets the light so: replaced while the program runs.
using shade = double(double cosine);

}  // namespace scene
