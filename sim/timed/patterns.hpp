// SPDX-License-Identifier: BSD-3-Clause
// The access patterns of the applications in apps/, for any number of nodes with a thread each: the same division of
// rows, the same order of accesses, hints and synchronisation; what they compute is but a time. How long was measured
// with the serial programs.
#pragma once

#include "sim/timed/job.hpp"

namespace quire::timed {

struct sor_shape {
  std::uint64_t size = 4096;  ///< rows and columns
  unsigned iterations = 5;
  std::uint64_t cell_bytes = 8;  ///< or 4
  double cell_ns = 2.0;          ///< an update of a cell
  bool hints = true;
  bool transactional = false;  ///< bands of rows in atomic blocks
};
struct cg_shape {
  std::uint64_t rows = 14'000;  ///< class A
  double row_elements = 132.4;  ///< of the matrix: 1,853,104 in all
  unsigned iterations = 1;      ///< that are measured, of 15
  unsigned steps = 25;          ///< conjugate gradient steps of each
  double element_ns = 1.1;      ///< an element of the matrix, the vectors' part included
  bool hints = true;
};
struct md_shape {
  std::uint64_t particles = 2048;
  unsigned steps = 3;
  double pair_ns = 5.9;  ///< what one particle does to another
  bool hints = true;
};
struct helmholtz_shape {
  std::uint64_t rows = 1000, columns = 1000;
  unsigned iterations = 10;  ///< of 100
  double point_ns = 1.5;     ///< a new value
  double copy_ns = 0.4;      ///< and one that is copied
  bool hints = true;
};
struct ep_shape {
  std::uint64_t batches = 512;  ///< class W: 2^25 pairs, 2^16 in a batch
  double pair_ns = 14;
};
struct raytracer_shape {
  std::uint64_t width = 1024, height = 768;
  std::uint64_t tile_rows = 4;
  bool papers_scene = false;              ///< 99 spheres and 8 triangles
  double pixel_ns = 2'700;                ///< the mean; picture_costs.hpp has how rows differ
  std::uint64_t scene_bytes = 16 * 1024;  ///< which all read
  bool hints = true;
  bool transactional = false;  ///< a tile in an atomic block
};

/// A construct of OpenMP, again and again, by a thread of each node.
struct openmp_shape {
  enum class construct { barrier, region, sum_by_memory, sum_by_messages } what = construct::region;
  unsigned rounds = 20;
};

/// As apps::crew::run(): set_up(), then what is measured. Its last barrier, and the team's own, count.
template <class SetUp, class Compute>
void run_crew(node& me, const SetUp& set_up, const Compute& compute) {
  me.make_team();
  me.wait();
  set_up();
  me.wait();
  me.begin_measuring();
  compute();
  me.wait();
  me.wait();
  me.end_measuring();
}

[[nodiscard]] pattern sor(const sor_shape& shape, unsigned nodes);
[[nodiscard]] pattern cg(const cg_shape& shape, unsigned nodes);
[[nodiscard]] pattern md(const md_shape& shape, unsigned nodes);
[[nodiscard]] pattern helmholtz(const helmholtz_shape& shape, unsigned nodes);
[[nodiscard]] pattern ep(const ep_shape& shape, unsigned nodes);
[[nodiscard]] pattern raytracer(const raytracer_shape& shape, unsigned nodes);
[[nodiscard]] pattern openmp(const openmp_shape& shape);

}  // namespace quire::timed
