// SPDX-License-Identifier: BSD-3-Clause
// The floor of garbage collection: libgc (Boehm, Demers, Weiser) on the graph of job/gc.cpp, in one process, with one
// thread that marks. The objects are those of a program in C: libgc takes each word for a pointer.
#include <gc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "common/clock.hpp"
#include "common/graph.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

struct object {
  object *left, *right, *anywhere;
  std::uint64_t number, more, header;  // the last one makes it as large as Quire's with its header
};
object* g_top = nullptr;

void make(std::uint64_t count, bench::samples& speed) {
  auto** const all = static_cast<object**>(GC_MALLOC_UNCOLLECTABLE(count * sizeof(object*)));
  const std::uint64_t start = bench::now_ns();
  for (std::uint64_t i = 0; i < count; ++i) all[i] = static_cast<object*>(GC_MALLOC(sizeof(object)));
  speed.add(static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    const bench::edges to = bench::edges_of(i, count);
    if (to.left != 0) all[i]->left = all[to.left];
    if (to.right != 0) all[i]->right = all[to.right];
    all[i]->anywhere = all[to.anywhere];
    all[i]->number = i;
  }
  g_top = all[0];
  GC_FREE(all);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t rounds = 15, count = 1'000'000;
  bench::program here("Collections of libgc, as a floor of quire_gc_speed.");
  here.add_number("--rounds", rounds, 1, 100'000, "how often");
  here.add_number("--objects", count, 100, 100'000'000, "objects");
  return here.run(argc, argv, [&] {
    ::setenv("GC_MARKERS", "1", 1);
    GC_INIT();
    bench::samples speed("gc_make", "us"), whole("gc_collect", "ms"), cpu("gc_cpu", "ms");
    make(count, speed);
    GC_gcollect();
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const std::uint64_t start = bench::now_ns(), cpu_start = bench::cpu_ns();
      GC_gcollect();
      cpu.add(static_cast<double>(bench::cpu_ns() - cpu_start) / 1e6);
      whole.add(static_cast<double>(bench::now_ns() - start) / 1e6);
    }
    if (g_top == nullptr || g_top->number != 0) throw std::runtime_error("the graph is gone");
    speed.print();
    whole.print();
    cpu.print();
  });
}
