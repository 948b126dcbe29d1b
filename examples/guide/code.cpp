// SPDX-License-Identifier: BSD-3-Clause
// Code in the shared memory, of docs/guide/code.md: quire run -n 2 guide/code. The module is this file, too, compiled with -DIS_MODULE.
#include <cstdio>
#include <filesystem>
#include <new>
#include <string>

#include <quire/code.hpp>
#include <quire/quire.hpp>

// [interface]
struct shape {                       // program and module both know this
  virtual ~shape() = default;
  virtual double area() const = 0;
};
// [/interface]

#if defined(IS_MODULE)

// [module]
struct square final : shape {        // the module alone knows this
  explicit square(double size) : side(size) {}
  double area() const override { return side * side; }
  double side;
};

extern "C" int shapes_made = 0;      // one variable, of all nodes

extern "C" shape* make_square(void* at, double size) {
  ++shapes_made;
  return new (at) square(size);
}

extern "C" double price(double area) { return 2 * area; }
// [/module]

#elif defined(IS_NEWER)

extern "C" double price(double area) { return 3 * area; }

#else

int main() {
  quire::session job;
  const std::string folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string path = folder + "/guide_shapes.so", newer_path = folder + "/guide_newer.so";
  // [load]
  const auto shapes = quire::from_node(0, [&] { return quire::code::load(path); });   // the file is needed on node 0
  auto* const make = quire::code::symbol<shape*(void*, double)>(shapes, "make_square");
  // [/load]
  // [use]
  auto* const one = quire::from_node(0, [&] { return make(quire::make_shared_array<double>(2).data(), 3.0); });
  const double area = one->area();   // a virtual call, on every node
  // [/use]
  // [replace]
  const quire::code::function<double(double)> price(shapes, "price");
  const double before = price(area);
  quire::barrier{}.arrive_and_wait();
  if (job.node() == 0) quire::code::replace(shapes, "price", quire::code::load(newer_path));
  quire::barrier{}.arrive_and_wait();
  const double after = price(area);  // the newer one
  // [/replace]
  const bool right = area == 9 && before == 18 && after == 27 && *quire::code::symbol<int>(shapes, "shapes_made") == 1;
  if (right && job.node() == 0) std::printf("the price rises from %.0f to %.0f on %d nodes\n", before, after, job.nodes());
  return quire::all_agree(right) ? 0 : 1;
}

#endif
