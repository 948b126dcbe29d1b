// SPDX-License-Identifier: BSD-3-Clause
// Vectors of three doubles: points, directions and colours.
#pragma once

#include <algorithm>
#include <cmath>

namespace raytracer {

struct vec3 {
  double x = 0, y = 0, z = 0;

  friend constexpr vec3 operator+(vec3 a, vec3 b) noexcept { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend constexpr vec3 operator-(vec3 a, vec3 b) noexcept { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend constexpr vec3 operator-(vec3 a) noexcept { return {-a.x, -a.y, -a.z}; }
  friend constexpr vec3 operator*(vec3 a, vec3 b) noexcept { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
  friend constexpr vec3 operator*(double s, vec3 a) noexcept { return {s * a.x, s * a.y, s * a.z}; }
  constexpr vec3& operator+=(vec3 b) noexcept { return *this = *this + b; }
};

[[nodiscard]] constexpr double dot(vec3 a, vec3 b) noexcept { return a.x * b.x + a.y * b.y + a.z * b.z; }
[[nodiscard]] constexpr vec3 cross(vec3 a, vec3 b) noexcept {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
[[nodiscard]] inline double length(vec3 a) noexcept { return std::sqrt(dot(a, a)); }
[[nodiscard]] inline vec3 unit(vec3 a) noexcept { return (1 / length(a)) * a; }
[[nodiscard]] constexpr vec3 reflect(vec3 direction, vec3 normal) noexcept {
  return direction - 2 * dot(direction, normal) * normal;
}
[[nodiscard]] constexpr vec3 mix(vec3 a, vec3 b, double share_of_b) noexcept {
  return (1 - share_of_b) * a + share_of_b * b;
}

}  // namespace raytracer
