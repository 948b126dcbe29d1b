// SPDX-License-Identifier: BSD-3-Clause
// The program of docs/guide/garbage.md: objects that nobody frees.
// Run it: quire run -n 2 guide/garbage
#include <cstdio>

#include <quire/gc.hpp>
#include <quire/quire.hpp>

// [types]
namespace gc = quire::gc;

struct person {
  int age = 0;
  gc::ref<person> partner;
  gc::ref<gc::ref<person>[]> friends;               // an array of references
  QUIRE_GC_FIELDS(person, partner, friends)         // where references are
};
// [/types]

int main() {
  quire::session job;
  // [heap]
  const auto heap = gc::heap::create_or_open("people", 16 << 20);   // node 0 makes it, the others find it
  auto everybody = heap.root<gc::ref<person>[]>("everybody");       // what it leads to stays
  if (job.node() == 0) everybody = heap.make_array<gc::ref<person>>(static_cast<std::size_t>(job.nodes()));
  quire::barrier{}.arrive_and_wait();
  // [/heap]

  // [make]
  const auto self = static_cast<std::size_t>(job.node());
  const auto me = heap.make<person>();              // in this node's part of the heap, without a message
  me->age = 30 + job.node();
  me->partner = heap.make<person>();
  me->partner->partner = me;                        // a cycle
  everybody[self] = me;
  for (int i = 0; i < 1000; ++i) (void)heap.make<person>();         // nothing leads to these
  // [/make]

  // [collect]
  quire::barrier{}.arrive_and_wait();
  const auto done = heap.collect();                 // one thread of each node calls, and no thread uses the heap meanwhile
  // [/collect]
  const auto nodes = static_cast<std::uint64_t>(job.nodes());
  if (job.node() == 0) {
    std::printf("%lu objects stay, %lu bytes are free again\n", static_cast<unsigned long>(done.marked_objects), static_cast<unsigned long>(done.freed_bytes));
  }
  bool right = done.marked_objects == 2 * nodes + 1 && done.freed_bytes >= 1000 * nodes * sizeof(person);

  // [drop]
  if (job.node() == 0) everybody = nullptr;         // the cycles hold themselves, and nobody holds them
  quire::barrier{}.arrive_and_wait();
  const auto rest = heap.collect();
  // [/drop]
  right = right && rest.marked_objects == 0;
  return right ? 0 : 1;
}
