// SPDX-License-Identifier: BSD-3-Clause
// Code in the shared memory: a ray tracer whose shapes, with their virtual functions, are in a library that node 0
// alone loads. All nodes trace rays through objects in shared memory. Then the function that shades is replaced by a
// newer one, and the picture is made again. Run it: quire run -n 2 shapes [PICTURE.pgm]; on several hosts the two
// libraries need to be on the host of node 0 only.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <quire/code.hpp>
#include <quire/quire.hpp>

#include "code/shapes.hpp"

namespace {

constexpr int width = 160, height = 96;

struct world {
  std::vector<scene::shape*, quire::allocator<scene::shape*>> shapes;
  std::uint8_t picture[height][width] = {};
};

std::string beside_program(const char* library) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / library;
}

double brightness(const world& w, const quire::code::function<scene::shade>& shade, const scene::ray& r) {
  const scene::shape* nearest = nullptr;
  double least = 1e9;
  for (const scene::shape* const s : w.shapes) {
    if (const double distance = s->hit(r); distance > 0 && distance < least) least = distance, nearest = s;
  }
  if (nearest == nullptr) return 0.1;
  const scene::vector normal = nearest->normal(r.from + least * r.direction);
  return shade(dot(normal, scene::unit({1, 2, -1.5})));
}

/// Each node traces rows of its own. Gives the mean of the picture, the same on all nodes.
double trace(world& w, const quire::code::function<scene::shade>& shade) {
  for (int y = quire_node(); y < height; y += quire_nodes()) {
    for (int x = 0; x < width; ++x) {
      const scene::vector direction = scene::unit({(x - width / 2) / 80.0, (height / 2 - y) / 80.0, 1});
      w.picture[y][x] = static_cast<std::uint8_t>(255 * brightness(w, shade, {{0, 0.5, 0}, direction}));
    }
  }
  quire::barrier{}.arrive_and_wait();
  long sum = 0;
  for (const auto& row : w.picture) {
    for (const std::uint8_t point : row) sum += point;
  }
  quire::barrier{}.arrive_and_wait();
  return static_cast<double>(sum) / (width * height);
}

}  // namespace

int main(int argc, char** argv) {
  quire::session job;
  const bool loads = job.node() == 0;
  if (loads) (void)quire::code::load(beside_program("scene_shapes.so"), {.name = "shapes"});
  const auto shapes = quire::code::find("shapes");
  auto* const w = quire::from_node(0, [] { return quire::new_object<world>(); });

  // Every node makes some of the shapes, by a function that came to it as a page does.
  auto* const make = quire::code::symbol<scene::make_shape>(shapes, "make_scene_shape");
  quire::mutex turn = quire::from_node(0, quire::mutex::create);
  for (int n = job.node();; n += job.nodes()) {
    const std::scoped_lock guard(turn);
    scene::shape* const made = make(quire::make_shared_array<std::byte>(scene::shape_bytes).data(), n);
    if (made == nullptr) break;
    w->shapes.push_back(made);
  }
  quire::barrier{}.arrive_and_wait();

  const quire::code::function<scene::shade> shade(shapes, "shade_point");
  const double hard = trace(*w, shade);
  if (loads) quire::code::replace(shapes, "shade_point", quire::code::load(beside_program("scene_softer.so")));
  quire::barrier{}.arrive_and_wait();
  const double soft = trace(*w, shade);

  const long made = *quire::code::symbol<long>(shapes, "shapes_made");
  if (loads) {
    if (argc > 1) {
      std::ofstream file(argv[1], std::ios::binary);
      file << "P5 " << width << ' ' << height << " 255\n";
      file.write(reinterpret_cast<const char*>(w->picture), sizeof w->picture);
    }
    std::printf("%ld shapes of a library of node 0: mean brightness %.1f, and %.1f with softer light\n", made, hard,
                soft);
  }
  return quire::all_agree(made == 13 && hard > 1 && soft > hard) ? 0 : 1;
}
