// SPDX-License-Identifier: BSD-3-Clause
// What constructs of OpenMP send (program/omp/team): a region is a broadcast of 64 bytes from node 0 and a barrier of
// all nodes. Sums of a region come together as gcc makes them, each thread adding to a word of its master, or as clang
// does, by a reduction.
#include "sim/timed/patterns.hpp"

namespace quire::timed {
namespace {

void take_part(node& me, openmp_shape::construct what) {
  constexpr unsigned command_bytes = 64, master = 0;
  if (what != openmp_shape::construct::barrier) me.broadcast(command_bytes, master);
  if (what == openmp_shape::construct::sum_by_memory) me.write(0, 0, 8);
  if (what == openmp_shape::construct::sum_by_messages) me.reduce(1);
  me.barrier();
}

}  // namespace

pattern openmp(const openmp_shape& shape) {
  pattern what;
  what.regions = {{page_bytes, page_bytes, 0}};
  what.thread_of = [shape](unsigned) {
    return [shape](node& me) {
      take_part(me, shape.what);
      me.barrier();
      me.begin_measuring();
      for (unsigned i = 0; i < shape.rounds; ++i) take_part(me, shape.what);
      me.end_measuring();
    };
  };
  return what;
}

}  // namespace quire::timed
