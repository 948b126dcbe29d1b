// SPDX-License-Identifier: BSD-3-Clause
// What there is to see: spheres over a chequered floor, and lights. The lists are standard vectors, so that the scene
// can live in shared memory (quire::allocator) or in plain memory (std::allocator); the tracer sees both through
// scene_view.
#pragma once

#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "raytracer/vector.hpp"

namespace raytracer {

struct material {
  vec3 colour;
  double shine = 0;   ///< strength of highlights
  double mirror = 0;  ///< share of light reflected straight on
};

struct sphere {
  vec3 centre;
  double radius = 1;
  material surface;
};

/// Seen from both sides.
struct triangle {
  vec3 corner, edge1, edge2;  ///< the other corners: corner + edge1, corner + edge2
  material surface;

  [[nodiscard]] vec3 normal() const noexcept { return unit(cross(edge1, edge2)); }
};

struct light {
  vec3 place;
  vec3 colour;
};

struct camera {
  vec3 place;
  vec3 towards;
  double width_at_one = 1;  ///< width of the picture, one unit of length in front of the camera
};

struct scene_view {
  std::span<const sphere> spheres;
  std::span<const triangle> triangles;
  std::span<const light> lights;
  camera eye;
};

template <template <class> class Allocator>
struct scene {
  std::vector<sphere, Allocator<sphere>> spheres;
  std::vector<triangle, Allocator<triangle>> triangles;
  std::vector<light, Allocator<light>> lights;
  camera eye;

  [[nodiscard]] scene_view view() const noexcept { return {spheres, triangles, lights, eye}; }
};

/// A colour of the rainbow; `turn` goes from 0 to 1 once around.
[[nodiscard]] inline vec3 hue(double turn) {
  const auto part = [turn](double shift) { return 0.5 + 0.5 * std::cos(2 * std::numbers::pi * (turn + shift)); };
  return {part(0), part(2.0 / 3), part(1.0 / 3)};
}

/// Three large spheres within a double spiral of small ones that rises around them.
template <class Scene>
void build(Scene& s) {
  s.spheres.push_back({{0, 1.35, 0}, 1.35, {{0.95, 0.95, 0.97}, 1.0, 0.75}});
  s.spheres.push_back({{-2.3, 0.85, 0.9}, 0.85, {{0.70, 0.03, 0.03}, 0.8, 0.14}});
  s.spheres.push_back({{2.2, 0.80, 1.0}, 0.80, {{0.85, 0.45, 0.08}, 0.9, 0.35}});
  constexpr int beads = 26;
  for (int arm = 0; arm < 2; ++arm) {
    for (int i = 0; i < beads; ++i) {
      const double share = static_cast<double>(i) / beads;
      const double angle = std::numbers::pi * (arm + 2.3 * share);
      const double distance = 3.7 - 1.5 * share;
      const double radius = 0.30 - 0.16 * share;
      const double height = radius + 2.9 * share * share;
      s.spheres.push_back({{distance * std::cos(angle), height, distance * std::sin(angle)},
                           radius,
                           {0.9 * hue(share + 0.5 * arm) * hue(share + 0.5 * arm), 0.7, 0.16}});
    }
  }
  s.lights.push_back({{-6, 9, 7}, {0.95, 0.90, 0.80}});
  s.lights.push_back({{7, 6, 4}, {0.30, 0.34, 0.45}});
  s.lights.push_back({{0, 8, -8}, {0.22, 0.20, 0.26}});
  s.eye = {{0.9, 2.7, 8.2}, {0, 1.15, 0}, 1.02};
}

/// As many objects as the scene of Fakler, Frenz, Schoettner, Morin and others has ("Comparison of Kerrighed and
/// Plurix", section 4.3): 99 spheres, 8 triangles, 3 lights. Where they are, it does not say: here a pyramid of spheres
/// stands between two mirrors, before a pyramid of triangles.
template <class Scene>
void build_paper(Scene& s) {
  constexpr int layers = 6;  // 36 + 25 + 16 + 9 + 4 + 1 spheres, and 8 around them
  constexpr double radius = 0.3;
  for (int layer = 0; layer < layers; ++layer) {
    const int side = layers - layer;
    for (int i = 0; i < side * side; ++i) {
      const double x = (2 * (i % side) - (side - 1)) * radius, z = (2 * (i / side) - (side - 1)) * radius;
      s.spheres.push_back({{x, radius + layer * radius * std::numbers::sqrt2, z},
                           radius,
                           {0.9 * hue(i / 36.0) * hue(layer / 6.0), 0.8, 0.2}});
    }
  }
  constexpr int around = 8;
  for (int i = 0; i < around; ++i) {
    const double angle = 2 * std::numbers::pi * i / around;
    s.spheres.push_back(
        {{3.4 * std::cos(angle), 0.4, 3.4 * std::sin(angle)}, 0.4, {hue(static_cast<double>(i) / around), 1.0, 0.35}});
  }
  const material mirror{{0.8, 0.85, 0.9}, 0.6, 0.7};
  s.triangles.push_back({{-5, 0, -3}, {2, 0, -2}, {0, 3.5, 0}, mirror});
  s.triangles.push_back({{-3, 3.5, -5}, {-2, 0, 2}, {0, -3.5, 0}, mirror});
  s.triangles.push_back({{5, 0, -3}, {-2, 0, -2}, {0, 3.5, 0}, mirror});
  s.triangles.push_back({{3, 3.5, -5}, {2, 0, 2}, {0, -3.5, 0}, mirror});
  const vec3 top{0, 3.2, -4.5};
  const vec3 corners[] = {{-1.5, 0, -3}, {1.5, 0, -3}, {1.5, 0, -6}, {-1.5, 0, -6}};
  for (int i = 0; i < 4; ++i)
    s.triangles.push_back({top, corners[i] - top, corners[(i + 1) % 4] - top, {0.7 * hue(0.25 * i), 0.4, 0.1}});
  s.lights.push_back({{-6, 9, 7}, {0.95, 0.90, 0.80}});
  s.lights.push_back({{7, 6, 4}, {0.30, 0.34, 0.45}});
  s.lights.push_back({{0, 8, -8}, {0.22, 0.20, 0.26}});
  s.eye = {{0.9, 2.7, 8.2}, {0, 1.15, 0}, 1.02};
}

}  // namespace raytracer
