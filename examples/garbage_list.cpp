// SPDX-License-Identifier: BSD-3-Clause
// Lists in a garbage-collected heap: nodes take elements from each other's lists in turn and make new ones; nobody
// frees any. When the heap is full, all collect. Run it: quire run -n 2 garbage_list
#include <cstdio>
#include <new>
#include <string>

#include <quire/gc.hpp>
#include <quire/quire.hpp>

namespace {

namespace gc = quire::gc;

struct element {
  std::uint64_t number = 0;
  gc::ref<element> next;
  QUIRE_GC_FIELDS(element, next)
};

/// Of the numbers first + n - 1 to first, each once.
bool is_right(gc::ref<element> list, std::uint64_t first, std::uint64_t n) {
  for (; list; list = list->next)
    if (n-- == 0 || list->number != first + n) return false;
  return n == 0;
}

}  // namespace

int main() {
  quire::session job;
  constexpr std::uint64_t length = 2000;
  constexpr int steps = 40;
  const auto heap = gc::heap::create_or_open("lists", 300'000);
  auto mine = heap.root<element>("list of node " + std::to_string(job.node()));
  auto other = heap.root<element>("list of node " + std::to_string((job.node() + 1) % job.nodes()));
  bool right = true;
  std::uint64_t collections = 0;
  for (int step = 0; step < steps; ++step) {
    // A new list; the old one is garbage. Who has no room for all of it begins again after the collection.
    bool full = false;
    const auto first = static_cast<std::uint64_t>(step) * length;
    mine = nullptr;
    try {
      for (std::uint64_t i = 0; i < length; ++i) {
        const auto made = heap.make<element>();
        made->number = first + i;
        made->next = mine;
        mine = made;
      }
    } catch (const std::bad_alloc&) {
      full = true;
    }
    std::int64_t any_full = full ? 1 : 0;
    quire::detail::check(quire_reduce_i64(&any_full, 1, QUIRE_MAX), "reduce");
    if (any_full != 0) {
      ++collections;
      (void)heap.collect();
      --step;  // all begin this step again
      continue;
    }
    right = right && is_right(other, first, length);
    quire::barrier{}.arrive_and_wait();
  }
  std::printf("node %d made %d lists, with %lu collections\n", job.node(), steps,
              static_cast<unsigned long>(collections));
  return right && collections != 0 ? 0 : 1;
}
