// SPDX-License-Identifier: BSD-3-Clause
// Garbage-collected heaps: how long an allocation takes, and a collection of a graph of so many objects, most of whose
// references lead anywhere. Objects have three references and two words. Each node makes its part of the objects;
// floor_gc does the same with libgc and one thread.
#include <quire/gc.hpp>
#include <quire/quire.hpp>

#include <algorithm>
#include <vector>

#include "common/clock.hpp"
#include "common/graph.hpp"
#include "common/job.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

namespace gc = quire::gc;

struct object {
  gc::ref<object> left, right, anywhere;
  std::uint64_t number = 0, more = 0;
  QUIRE_GC_FIELDS(object, left, right, anywhere)
};

void measure(const quire::session& job, std::uint64_t rounds, std::uint64_t count) {
  const auto nodes = static_cast<std::uint64_t>(job.nodes()), node = static_cast<std::uint64_t>(job.node());
  const auto heap = gc::heap::create_or_open("bench", count * 64 * 2);
  auto all = heap.root<gc::ref<object>[]>("all");
  if (node == 0) all = heap.make_array<gc::ref<object>>(count);
  quire::barrier{}.arrive_and_wait();
  const std::uint64_t first = count * node / nodes, end = count * (node + 1) / nodes;
  bench::samples make("gc_make", "us"), whole("gc_collect", "ms"), pause("gc_pause", "ms"), cpu("gc_cpu", "ms"),
      messages("gc_messages", "messages");
  const std::uint64_t start = bench::now_ns();
  std::vector<gc::ref<object>> mine(end - first);
  for (auto& one : mine) one = heap.make<object>();
  make.add(static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(mine.size()));
  std::copy(mine.begin(), mine.end(), all.get().begin() + static_cast<std::ptrdiff_t>(first));
  quire::barrier{}.arrive_and_wait();
  for (std::uint64_t i = first; i < end; ++i) {
    const bench::edges to = bench::edges_of(i, count);
    if (to.left != 0) all[i]->left = all[to.left];
    if (to.right != 0) all[i]->right = all[to.right];
    all[i]->anywhere = all[to.anywhere];
    all[i]->number = i;
  }
  auto top = heap.root<object>("top");
  quire::barrier{}.arrive_and_wait();
  if (node == 0) {
    top = all[0];
    all = nullptr;  // what is measured are the objects, not an array of all
  }
  quire::barrier{}.arrive_and_wait();
  (void)heap.collect();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t cpu_start = bench::cpu_ns();
    const quire_gc_statistics s = heap.collect();
    cpu.add(static_cast<double>(bench::cpu_ns() - cpu_start) / 1e6);  // of this node
    if (s.marked_objects != count) throw std::runtime_error("not all objects were marked");
    if (node != 0) continue;
    whole.add(static_cast<double>(s.total_ns) / 1e6);
    pause.add(static_cast<double>(s.pause_ns) / 1e6);
    messages.add(static_cast<double>(s.messages));
  }
  if (node != 0) return;
  make.print();
  whole.print();
  pause.print();
  cpu.print();
  messages.print();
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t rounds = 15, count = 1'000'000;
  bench::program here("Collections of a garbage-collected heap. Start it as `quire run -n N quire_gc_speed`.");
  here.add_number("--rounds", rounds, 1, 100'000, "how often");
  here.add_number("--objects", count, 100, 100'000'000, "of all nodes");
  return here.run(argc, argv, [&] {
    const quire::session job;
    measure(job, rounds, count);
  });
}
