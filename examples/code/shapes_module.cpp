// SPDX-License-Identifier: BSD-3-Clause
// The shapes of examples/shapes.cpp: a library that one node alone has.
#include <new>

#include "shapes.hpp"

namespace {

using namespace scene;

class sphere final : public shape {
 public:
  sphere(vector centre, double radius) : centre_(centre), radius_(radius) {}
  double hit(const ray& of) const override {
    const vector to = centre_ - of.from;
    const double along = dot(to, of.direction), root = along * along - dot(to, to) + radius_ * radius_;
    return root < 0 ? -1 : along - std::sqrt(root);
  }
  vector normal(const vector& at) const override { return 1 / radius_ * (at - centre_); }

 private:
  vector centre_;
  double radius_;
};

class floor_plane final : public shape {
 public:
  explicit floor_plane(double height) : height_(height) {}
  double hit(const ray& of) const override { return of.direction.y >= 0 ? -1 : (height_ - of.from.y) / of.direction.y; }
  vector normal(const vector&) const override { return {0, 1, 0}; }

 private:
  double height_;
};

static_assert(sizeof(sphere) <= shape_bytes && sizeof(floor_plane) <= shape_bytes);
constexpr int spheres = 12;

}  // namespace

extern "C" {
long shapes_made = 0;  // one variable of all nodes

shape* make_scene_shape(void* at, int n) {
  if (n > spheres) return nullptr;
  ++shapes_made;
  if (n == spheres) return new (at) floor_plane(-1);
  return new (at) sphere({2.2 * (n % 4) - 3.3, 1.6 * (n / 4) - 0.5, 8.0 + n % 3}, 0.8);
}
double shade_point(double cosine) { return cosine > 0 ? cosine : 0; }
}
