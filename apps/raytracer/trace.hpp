// SPDX-License-Identifier: BSD-3-Clause
// The ray tracer itself, after Whitted (1980): nearest hit, light with shadows, mirror rays. All programs share this
// code (raytracer, raytracer_openmp, raytracer_serial); a pixel depends on the scene alone, so every correct run gives
// the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "common/partition.hpp"
#include "raytracer/scene.hpp"

namespace raytracer {

struct ray {
  vec3 from;
  vec3 direction;  ///< of length 1
};

struct hit {
  double distance = std::numeric_limits<double>::infinity();
  vec3 place;
  vec3 normal;
  material surface;
};

inline constexpr double nearest = 1e-6;
inline constexpr double nowhere = std::numeric_limits<double>::infinity();

/// Distance at which a ray meets a sphere from outside or inside; infinity if it misses.
[[nodiscard]] inline double distance_to(const sphere& s, const ray& r) noexcept {
  const vec3 to_centre = s.centre - r.from;
  const double along = dot(to_centre, r.direction);
  const double under_root = s.radius * s.radius - (dot(to_centre, to_centre) - along * along);
  if (under_root < 0) return nowhere;
  const double half_chord = std::sqrt(under_root);
  if (along - half_chord > nearest) return along - half_chord;
  return along + half_chord > nearest ? along + half_chord : nowhere;
}

/// The same for a triangle (Moeller and Trumbore, 1997).
[[nodiscard]] inline double distance_to(const triangle& t, const ray& r) noexcept {
  const vec3 p = cross(r.direction, t.edge2);
  const double determinant = dot(t.edge1, p);
  if (std::abs(determinant) < 1e-12) return nowhere;
  const vec3 from_corner = r.from - t.corner;
  const double u = dot(from_corner, p) / determinant;
  if (u < 0 || u > 1) return nowhere;
  const vec3 q = cross(from_corner, t.edge1);
  const double v = dot(r.direction, q) / determinant;
  if (v < 0 || u + v > 1) return nowhere;
  const double distance = dot(t.edge2, q) / determinant;
  return distance > nearest ? distance : nowhere;
}

/// The floor is the plane y = 0, chequered.
[[nodiscard]] inline double distance_to_floor(const ray& r) noexcept {
  const double t = -r.from.y / r.direction.y;
  return r.direction.y < 0 && t > nearest ? t : nowhere;
}

[[nodiscard]] inline material floor_at(vec3 place) noexcept {
  const bool dark = (static_cast<long>(std::floor(place.x)) + static_cast<long>(std::floor(place.z))) % 2 != 0;
  return {dark ? vec3{0.03, 0.04, 0.06} : vec3{0.62, 0.60, 0.56}, 0.2, dark ? 0.22 : 0.10};
}

[[nodiscard]] inline hit find_hit(const scene_view& s, const ray& r) noexcept {
  hit found;
  const sphere* nearest_sphere = nullptr;
  for (const sphere& candidate : s.spheres) {
    const double t = distance_to(candidate, r);
    if (t < found.distance) found.distance = t, nearest_sphere = &candidate;
  }
  const triangle* nearest_triangle = nullptr;
  for (const triangle& candidate : s.triangles) {
    const double t = distance_to(candidate, r);
    if (t < found.distance) found.distance = t, nearest_triangle = &candidate;
  }
  const double floor = distance_to_floor(r);
  if (floor < found.distance) {
    found.distance = floor;
    found.place = r.from + floor * r.direction;
    found.normal = {0, 1, 0};
    found.surface = floor_at(found.place);
  } else if (nearest_triangle != nullptr) {
    const vec3 normal = nearest_triangle->normal();
    found.place = r.from + found.distance * r.direction;
    found.normal = dot(normal, r.direction) > 0 ? -normal : normal;
    found.surface = nearest_triangle->surface;
  } else if (nearest_sphere != nullptr) {
    found.place = r.from + found.distance * r.direction;
    found.normal = (1 / nearest_sphere->radius) * (found.place - nearest_sphere->centre);
    found.surface = nearest_sphere->surface;
  }
  return found;
}

[[nodiscard]] inline bool in_shadow(const scene_view& s, const ray& to_light, double distance) noexcept {
  const auto is_between = [&](const auto& object) { return distance_to(object, to_light) < distance; };
  return std::any_of(s.spheres.begin(), s.spheres.end(), is_between) ||
         std::any_of(s.triangles.begin(), s.triangles.end(), is_between);
}

/// The sky: pale at the horizon, deep blue above, with a glow where the first light stands.
[[nodiscard]] inline vec3 sky(const scene_view& s, vec3 direction) noexcept {
  const double height = std::max(direction.y, 0.0);
  const vec3 blue = mix({0.55, 0.66, 0.80}, {0.03, 0.09, 0.30}, std::sqrt(height));
  const double towards_sun = std::max(dot(direction, unit(s.lights.front().place)), 0.0);
  return blue + std::pow(towards_sun, 64) * s.lights.front().colour;
}

/// Light that a surface sends towards where the ray came from, without mirror images.
[[nodiscard]] inline vec3 shade(const scene_view& s, const ray& r, const hit& h) noexcept {
  vec3 colour = (0.11 + 0.06 * h.normal.y) * h.surface.colour;
  for (const light& lamp : s.lights) {
    const vec3 way = lamp.place - h.place;
    const double distance = length(way);
    const vec3 direction = (1 / distance) * way;
    const double facing = dot(direction, h.normal);
    if (facing <= 0 || in_shadow(s, {h.place + 1e-4 * h.normal, direction}, distance)) continue;
    const double highlight = std::pow(std::max(dot(reflect(r.direction, h.normal), direction), 0.0), 60);
    colour += lamp.colour * (facing * h.surface.colour + h.surface.shine * highlight * vec3{1, 1, 1});
  }
  return colour;
}

/// The colour that comes along a ray, followed over at most `depth` mirrors.
[[nodiscard]] inline vec3 trace(const scene_view& s, ray r, int depth) noexcept {
  vec3 colour;
  double weight = 1;
  for (; depth >= 0 && weight > 0.01; --depth) {
    const hit h = find_hit(s, r);
    if (h.distance == nowhere) return colour + weight * sky(s, r.direction);
    const double grazing = std::pow(1 - std::clamp(-dot(r.direction, h.normal), 0.0, 1.0), 5);
    const double mirror = h.surface.mirror + (1 - h.surface.mirror) * 0.5 * grazing * h.surface.shine;
    const double haze = 1 - std::exp(-0.0009 * h.distance * h.distance);
    colour += weight * (haze * sky(s, r.direction) + (1 - haze) * (1 - mirror) * shade(s, r, h));
    weight *= (1 - haze) * mirror;
    r = {h.place + 1e-4 * h.normal, unit(reflect(r.direction, h.normal))};
  }
  return colour;
}

/// A pixel as PNG wants it: red in the lowest byte, gamma 2.2, opaque.
[[nodiscard]] inline std::uint32_t to_pixel(vec3 colour) noexcept {
  const auto channel = [](double value) {
    return static_cast<std::uint32_t>(255 * std::pow(std::clamp(value, 0.0, 1.0), 1 / 2.2) + 0.5);
  };
  return channel(colour.x) | channel(colour.y) << 8 | channel(colour.z) << 16 | 0xff000000u;
}

struct picture_size {
  std::size_t width = 1024;
  std::size_t height = 768;
  int samples = 2;  ///< rays per pixel in each direction
};

/// Computes some rows of the picture.
inline void render(const scene_view& s, const picture_size& size, apps::row_range rows,
                   std::uint32_t* pixels) noexcept {
  const vec3 forward = unit(s.eye.towards - s.eye.place);
  const vec3 right = unit(cross(forward, {0, 1, 0}));
  const vec3 up = cross(right, forward);
  const double step = s.eye.width_at_one / static_cast<double>(size.width);
  const double share = 1.0 / (size.samples * size.samples);
  const auto offset = [&](std::size_t pixel, std::size_t pixels_across, int sample) {
    return static_cast<double>(pixel) + (sample + 0.5) / size.samples - 0.5 * static_cast<double>(pixels_across);
  };
  for (std::size_t y = rows.begin; y < rows.end; ++y) {
    for (std::size_t x = 0; x < size.width; ++x) {
      vec3 colour;
      for (int v = 0; v < size.samples; ++v)
        for (int u = 0; u < size.samples; ++u) {
          const vec3 direction =
              forward + step * offset(x, size.width, u) * right - step * offset(y, size.height, v) * up;
          colour += share * trace(s, {s.eye.place, unit(direction)}, 4);
        }
      pixels[y * size.width + x] = to_pixel(colour);
    }
  }
}

}  // namespace raytracer
