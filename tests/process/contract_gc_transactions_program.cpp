// SPDX-License-Identifier: BSD-3-Clause
// A garbage-collected heap that transactions write. Collections come at any time: transactions of other threads begin
// when they are over, and find what was committed. Objects that move, attempts that were undone, a job that goes on
// from a checkpoint.
//
//   contract_gc_transactions_program [save DIRECTORY | go-on DIRECTORY]
#include <atomic>

#include <quire/gc.hpp>
#include <quire/quire.hpp>
#include <quire/transaction.hpp>

#include "node.hpp"

namespace {

using namespace quire::test;
namespace gc = quire::gc;

struct item {
  std::uint64_t value = 0, check = 0;
  gc::ref<item> next;
  QUIRE_GC_FIELDS(item, next)
};
struct stack {
  std::uint64_t count = 0, sum = 0;
  gc::ref<item> first;
  QUIRE_GC_FIELDS(stack, first)
};

gc::heap make_heap(const char* name, std::uint64_t bytes) {
  gc::heap_options about{};
  about.consistency = QUIRE_TRANSACTIONAL;
  return gc::heap::create_or_open(name, bytes, about);
}

gc::root<stack> make_stack(const gc::heap& heap, const std::string& name, int by) {
  auto made = heap.root<stack>(name);
  if (quire_node() == by) quire::atomically([&] { made = heap.make<stack>(); });
  barrier();
  return made;
}

void push(const gc::heap& heap, stack& to, std::uint64_t value) {
  const auto made = heap.make<item>(item{value, mix(value), to.first});
  to.first = made;
  ++to.count;
  to.sum += value;
}
/// 0 if it is empty.
std::uint64_t pop(stack& from) {
  if (from.count == 0) return 0;
  const std::uint64_t value = from.first->value;
  REQUIRE_EQUAL(from.first->check, mix(value));
  from.first = from.first->next;
  --from.count;
  from.sum -= value;
  return value;
}
void check(const stack& all) {
  std::uint64_t count = 0, sum = 0;
  for (gc::ref<item> at = all.first; at; at = at->next) {
    REQUIRE_EQUAL(at->check, mix(at->value));
    ++count;
    sum += at->value;
  }
  REQUIRE_EQUAL(count, all.count);
  REQUIRE_EQUAL(sum, all.sum);
}

/// Without other threads: what is marked is what transactions have left.
void exact() {
  const gc::heap heap = make_heap("exact", 8 << 20);
  auto own = heap.root<stack>("own" + std::to_string(quire_node()));
  quire::atomically([&] { own = heap.make<stack>(); });
  for (std::uint64_t i = 1; i <= 300; ++i) quire::atomically([&] { push(heap, *own, i); });
  // Objects of a transaction that is undone are garbage.
  const auto undone = quire_atomically(
      [](void* p) {
        const auto& h = *static_cast<const gc::heap*>(p);
        for (int i = 0; i < 100; ++i) (void)h.make<item>();
        quire_transaction_abort(QUIRE_BUSY);
      },
      const_cast<gc::heap*>(&heap), nullptr);
  REQUIRE_STATUS(undone, QUIRE_BUSY);
  for (std::uint64_t i = 0; i < 100; ++i) quire::atomically([&] { REQUIRE_EQUAL(pop(*own), 300 - i); });
  barrier();
  const auto nodes = static_cast<std::uint64_t>(quire_nodes());
  REQUIRE_EQUAL(heap.collect().marked_objects, 201 * nodes);
  REQUIRE_EQUAL(heap.collect().freed_bytes, 0);
  quire::atomically([&] { check(*own); });
  barrier();
  void* outside = nullptr;
  std::uint32_t type = 0;
  REQUIRE_OK(quire_gc_type(heap.native_handle(), "plain", 16, nullptr, 0, &type));
  REQUIRE_STATUS(quire_gc_allocate(heap.native_handle(), type, 1, &outside), QUIRE_INVALID);
  quire::atomically([&] { REQUIRE_STATUS(quire_gc_collect(heap.native_handle(), nullptr), QUIRE_INVALID); });
  barrier();
}

/// While a thread of each node collects, others push and pop.
void under_way() {
  const gc::heap heap = make_heap("under way", 2 << 20);
  const auto all = make_stack(heap, "all", 0);
  const auto own = make_stack(heap, "own", quire_nodes() - 1);  // of the last node; others read it
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> pushed{0}, popped{0}, times{0};
  std::thread worker([&] {
    for (std::uint64_t draw = static_cast<std::uint64_t>(quire_node()) + 5; !stop.load(); ++times) {
      draw = mix(draw);
      const std::uint64_t value = 1 + draw % 1000;
      if (draw % 16 == 7) {
        quire::atomically([&] { check(*all); });
      } else if (draw % 16 == 8 && quire_node() == quire_nodes() - 1) {
        quire::atomically([&] { push(heap, *own, value); });
      } else if (draw % 16 == 9 && quire_node() == 0) {
        quire::atomically([&] { check(*own); });
      } else if (draw % 2 == 0) {
        if (quire::atomically([&] {
              if (all->count > 200) return false;
              push(heap, *all, value);
              return true;
            }))
          pushed += value;
      } else {
        popped += quire::atomically([&] { return pop(*all); });
      }
    }
  });
  for (int i = 0; i < 20; ++i) {
    const auto seen = times.load();
    while (times.load() - seen < 20) std::this_thread::yield();
    (void)heap.collect();
  }
  stop = true;
  worker.join();
  barrier();
  std::int64_t left = static_cast<std::int64_t>(pushed.load()) - static_cast<std::int64_t>(popped.load());
  REQUIRE_OK(quire_reduce_i64(&left, 1, QUIRE_SUM));
  std::uint64_t objects = 0;
  quire::atomically([&] {
    check(*all);
    check(*own);
    REQUIRE_EQUAL(all->sum, left);
    objects = all->count + own->count + 2;
  });
  barrier();
  REQUIRE_EQUAL(heap.collect().marked_objects, objects);
  barrier();
}

/// Objects of two nodes in one unit move apart, and transactions that go on find them where they are.
void moved() {
  if (quire_nodes() < 2) return;
  const gc::heap heap = make_heap("moved", 2 << 20);
  constexpr std::uint64_t pairs = 8;
  auto list = heap.root<gc::ref<item>[]>("items");
  if (quire_node() == 0) {
    quire::atomically([&] {
      list = heap.make_array<gc::ref<item>>(2 * pairs);
      for (std::uint64_t i = 0; i < 2 * pairs; ++i) list[i] = heap.make<item>();
    });
  }
  barrier();
  std::atomic<bool> stop{false};
  std::uint64_t counted = 0;
  const auto self = static_cast<std::uint64_t>(quire_node());
  std::thread worker([&] {
    if (self > 1) return;
    while (!stop.load()) {
      quire::atomically([&] {
        for (std::uint64_t i = self; i < 2 * pairs; i += 2) ++list[i]->value;
      });
      ++counted;
    }
  });
  std::uint64_t objects = 0;
  for (int round = 0; round < 10; ++round) {
    if (self < 2) {
      for (std::uint64_t i = self; i < 2 * pairs; i += 2) {
        const auto at = quire::atomically([&] { return list[i].get(); });
        REQUIRE_OK(quire_gc_note_written(heap.native_handle(), at, sizeof(item)));
      }
    }
    objects += heap.collect().moved_objects;
  }
  REQUIRE(objects > 0);
  stop = true;
  worker.join();
  barrier();
  if (self < 2) {
    quire::atomically([&] {
      for (std::uint64_t i = self; i < 2 * pairs; i += 2) REQUIRE_EQUAL(list[i]->value, counted);
    });
  }
  barrier();
}

void save(const char* directory) {
  const gc::heap heap = make_heap("kept", 2 << 20);
  const auto all = make_stack(heap, "all", 0);
  for (std::uint64_t i = 1; i <= 50; ++i) quire::atomically([&] { push(heap, *all, i); });
  barrier();
  REQUIRE_OK(quire_checkpoint(directory));
}
void go_on(const char* directory) {
  REQUIRE_OK(quire_restore(directory));
  const gc::heap heap = gc::heap::open("kept");
  const auto all = heap.root<stack>("all");
  quire::atomically([&] { check(*all); });
  const std::uint64_t before = quire::atomically([&] { return all->count; });
  barrier();
  REQUIRE_EQUAL(heap.collect().marked_objects, before + 1);
  quire::atomically([&] { push(heap, *all, 7); });
  barrier();
  quire::atomically([&] { REQUIRE_EQUAL(all->count, before + static_cast<std::uint64_t>(quire_nodes())); });
  if (quire_node() == 0) std::printf("goes on with %" PRIu64 " objects\n", before);
  barrier();
}

}  // namespace

int main(int argc, char** argv) {
  return node_main([&] {
    const std::string what = argc > 2 ? argv[1] : "";
    if (what == "save") return save(argv[2]);
    if (what == "go-on") return go_on(argv[2]);
    section("exact", exact);
    section("under way", under_way);
    section("moved", moved);
  });
}
