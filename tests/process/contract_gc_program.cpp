// SPDX-License-Identifier: BSD-3-Clause
// Garbage-collected heaps: what roots lead to stays, all else goes, whichever nodes made it, changed it and have its
// units now. A random graph that all nodes change is compared with a shadow of it. Arguments: seconds of random graphs
// (2); `release` for release consistency; 1 and a unit; others for what stands in CMakeLists.txt.
#include <signal.h>

#include <algorithm>
#include <map>
#include <new>
#include <quire/gc.hpp>
#include <set>
#include <string>
#include <system_error>

#include "gc_random_graph.hpp"
#include "node.hpp"

namespace {

using namespace quire::test;

std::uint64_t sum(std::uint64_t mine) {
  auto value = static_cast<std::int64_t>(mine);
  REQUIRE_OK(quire_reduce_i64(&value, 1, QUIRE_SUM));
  return static_cast<std::uint64_t>(value);
}

void cycles() {
  const gc::heap heap = make_heap("cycles", 1 << 20);
  auto ring = heap.root<gc::ref<pair>[]>("ring");
  const int nodes = quire_nodes(), node = quire_node();
  if (node == 0) ring = heap.make_array<gc::ref<pair>>(static_cast<std::size_t>(nodes));
  barrier();
  ring[static_cast<std::size_t>(node)] = heap.make<pair>(pair{static_cast<std::uint64_t>(node), {}, {}});
  barrier();
  ring[static_cast<std::size_t>(node)]->first = ring[static_cast<std::size_t>((node + 1) % nodes)];
  ring[static_cast<std::size_t>((node + 1) % nodes)]->second = ring[static_cast<std::size_t>(node)];
  barrier();
  const auto all = heap.collect();
  REQUIRE_EQUAL(all.marked_objects, nodes + 1);
  auto one = heap.root<pair>("one");
  if (node == nodes - 1) {
    one = ring[0];
    ring = nullptr;
  }
  barrier();
  REQUIRE_EQUAL(heap.collect().marked_objects, nodes);  // the ring holds itself, by one root
  gc::ref<pair> at = one;
  for (int i = 0; i < nodes; ++i, at = at->first) REQUIRE_EQUAL(at->id, i);
  barrier();
  if (node == 0) one = nullptr;
  barrier();
  const auto none = heap.collect();
  REQUIRE_EQUAL(none.marked_objects, 0);
  REQUIRE_EQUAL(none.freed_bytes, static_cast<std::uint64_t>(nodes) * 32);
  REQUIRE_EQUAL(sum(heap.used_bytes()), 0);
  REQUIRE(none.pause_ns > 0);
  REQUIRE(none.total_ns >= none.pause_ns || quire_nodes() > 1);
  barrier();
  if (node == 0) heap.destroy();
  barrier();
  quire_gc_statistics gone{};
  gone.size = sizeof gone;
  REQUIRE_STATUS(quire_gc_collect(heap.native_handle(), &gone), QUIRE_NOT_FOUND);
}

void large_arrays() {
  const gc::heap heap = make_heap("arrays", 24 << 20);
  constexpr std::size_t length = 100'000;
  auto all = heap.root<gc::ref<pair>[]>("all");
  auto bytes = heap.root<char[]>("bytes");
  const auto nodes = static_cast<std::size_t>(quire_nodes()), node = static_cast<std::size_t>(quire_node());
  if (node == nodes - 1) {
    all = heap.make_array<gc::ref<pair>>(length);
    bytes = heap.make_array<char>(200'000);
    bytes[199'999] = 'x';
  }
  barrier();
  REQUIRE_EQUAL(all.get().size(), length);
  // Units of the array are everywhere: in turns of 700 elements, which are 5,600 bytes.
  for (std::size_t i = 0; i < length; ++i)
    if (i / 700 % nodes == node && i % 3 == 0) all[i] = heap.make<pair>(pair{i, {}, {}});
  barrier();
  REQUIRE_EQUAL(heap.collect().marked_objects, (length + 2) / 3 + 2);
  for (std::size_t i = 0; i < length; i += 3) REQUIRE_EQUAL(all[i]->id, i);
  barrier();
  for (std::size_t i = 0; i < length; ++i)
    if (i / 450 % nodes == node && i % 6 == 0) all[i] = nullptr;
  barrier();
  REQUIRE_EQUAL(heap.collect().marked_objects, (length + 2) / 3 - (length + 5) / 6 + 2);
  for (std::size_t i = 3; i < length; i += 6) REQUIRE_EQUAL(all[i]->id, i);
  REQUIRE_EQUAL(bytes[199'999], 'x');
  barrier();
  if (node == 0) all = nullptr;
  barrier();
  REQUIRE_EQUAL(heap.collect().marked_objects, 1);
  barrier();
  if (node == 0) heap.destroy();
}

void random_graphs(double seconds) {
  const double end = now_seconds() + seconds;
  for (std::uint64_t seed = 1;; ++seed) {
    random_graph graph(seed);
    for (int i = 0; i < 10; ++i) graph.round();
    std::int64_t more = now_seconds() < end ? 1 : 0;
    REQUIRE_OK(quire_reduce_i64(&more, 1, QUIRE_MIN));
    if (quire_node() == 0)
      std::printf("graph %lu: %lu objects did not fit, %lu messages, %lu moved\n", static_cast<unsigned long>(seed),
                  static_cast<unsigned long>(graph.full), static_cast<unsigned long>(graph.messages),
                  static_cast<unsigned long>(graph.moved));
    if (more == 0) break;
  }
}

void full() {
  const gc::heap heap = make_heap("full", 1 << 20);
  auto list = heap.root<pair>("list" + std::to_string(quire_node()));
  std::uint64_t made = 0;
  try {
    for (;; ++made) {
      pair p{made, list, {}};
      list = heap.make<pair>(p);
    }
  } catch (const std::bad_alloc&) {
    REQUIRE(std::string(quire_last_error()).find("collect") != std::string::npos);
  }
  const std::uint64_t all = sum(made);
  REQUIRE(all * 32 > 1'000'000);  // memory of other nodes, too
  REQUIRE_EQUAL(heap.collect().marked_objects, all);
  void* object = nullptr;
  std::uint32_t type = 0;
  REQUIRE_OK(quire_gc_type(heap.native_handle(), "bytes", 1, nullptr, 0, &type));
  REQUIRE_STATUS(quire_gc_allocate(heap.native_handle(), type, 100'000, &object), QUIRE_NO_MEMORY);
  REQUIRE_STATUS(quire_gc_allocate(heap.native_handle(), type, 100'000'000, &object), QUIRE_NO_MEMORY);
  REQUIRE(std::string(quire_last_error()).find("no object is larger") != std::string::npos);
  std::uint64_t found = 0;
  for (gc::ref<pair> p = list; p; p = p->first) REQUIRE_EQUAL(p->id, made - ++found);
  REQUIRE_EQUAL(found, made);
  barrier();
  list = nullptr;
  barrier();
  REQUIRE_EQUAL(heap.collect().marked_objects, 0);
  REQUIRE_OK(quire_gc_allocate(heap.native_handle(), type, 100'000, &object));
  barrier();
  if (quire_node() == 0) heap.destroy();
}

/// Threads of all nodes register the same names, and allocate, at a time.
void threads() {
  const gc::heap heap = make_heap("threads", 4 << 20);
  constexpr int count = 4;
  constexpr std::uint64_t length = 1000;
  constexpr std::size_t names = 30;
  std::vector<std::vector<std::uint32_t>> numbers(count, std::vector<std::uint32_t>(names));
  std::vector<std::vector<void**>> roots(count, std::vector<void**>(names));
  on_threads(count, [&](int thread) {
    const auto t = static_cast<std::size_t>(thread);
    for (std::size_t i = 0; i < names; ++i) {
      const std::string name =
          "of all " + std::to_string((i + t * 7 + static_cast<std::size_t>(quire_node()) * 3) % names);
      std::size_t which = static_cast<std::size_t>(std::stoul(name.substr(7)));
      REQUIRE_OK(quire_gc_type(heap.native_handle(), name.c_str(), 8 * (which + 1), nullptr, 0, &numbers[t][which]));
      REQUIRE_OK(quire_gc_root(heap.native_handle(), name.c_str(), &roots[t][which]));
    }
    const std::string own = "list of " + std::to_string(quire_node()) + "." + std::to_string(thread);
    auto list = heap.root<pair>(own);
    for (std::uint64_t i = 0; i < length; ++i) {
      list = heap.make<pair>(pair{i, list, {}});
      if (i % 4 == 0) (void)heap.make_array<char>(1 + i % 300);
    }
  });
  for (std::size_t i = 0; i < names; ++i) {
    for (std::size_t t = 0; t < count; ++t) {
      REQUIRE_EQUAL(numbers[t][i], numbers[0][i]);
      REQUIRE(roots[t][i] == roots[0][i]);
    }
    REQUIRE_EQUAL(sum(numbers[0][i]), numbers[0][i] * static_cast<std::uint32_t>(quire_nodes()));
  }
  REQUIRE_EQUAL(std::set<std::uint32_t>(numbers[0].begin(), numbers[0].end()).size(), names);
  const auto result = heap.collect();
  REQUIRE_EQUAL(result.marked_objects, length * count * static_cast<std::uint64_t>(quire_nodes()));
  const int next = (quire_node() + 1) % quire_nodes();
  on_threads(count, [&](int thread) {
    std::uint64_t left = length;
    for (gc::ref<pair> p = heap.root<pair>("list of " + std::to_string(next) + "." + std::to_string(thread)); p;
         p = p->first)
      REQUIRE_EQUAL(p->id, --left);
    REQUIRE_EQUAL(left, 0);
  });
  barrier();
  if (quire_node() == 0) heap.destroy();
}

/// As many types and roots as there may be, and one more.
void limits() {
  const gc::heap heap = make_heap("limits", 1 << 20);
  std::uint32_t type = 0;
  void** root = nullptr;
  if (quire_node() == quire_nodes() - 1) {
    for (int i = 0; i < 1000; ++i)
      REQUIRE_OK(quire_gc_type(heap.native_handle(), ("type " + std::to_string(i)).c_str(), 8, nullptr, 0, &type));
    REQUIRE_STATUS(quire_gc_type(heap.native_handle(), "one more", 8, nullptr, 0, &type), QUIRE_LIMIT);
    for (int i = 0; i < 1024; ++i)
      REQUIRE_OK(quire_gc_root(heap.native_handle(), ("root " + std::to_string(i)).c_str(), &root));
    REQUIRE_STATUS(quire_gc_root(heap.native_handle(), "one more", &root), QUIRE_LIMIT);
    REQUIRE_OK(quire_gc_type(heap.native_handle(), "type 999", 8, nullptr, 0, &type));
    void* last = nullptr;
    REQUIRE_OK(quire_gc_allocate(heap.native_handle(), type, 3, &last));
    REQUIRE_OK(quire_gc_root(heap.native_handle(), "root 1023", &root));
    *root = last;
  }
  barrier();
  REQUIRE_EQUAL(heap.collect().marked_objects, 1);
  barrier();
  if (quire_node() == 0) heap.destroy();
}

void errors() {
  const gc::heap heap = make_heap("errors", 1 << 20);
  const quire_gc_heap native = heap.native_handle();
  void* object = nullptr;
  std::uint32_t type = 0, again = 0;
  const std::uint32_t offsets[] = {0, 8}, wrong[] = {0, 12};
  REQUIRE_OK(quire_gc_type(native, "thing", 24, offsets, 2, &type));
  REQUIRE_OK(quire_gc_type(native, "thing", 24, offsets, 2, &again));
  REQUIRE_EQUAL(type, again);
  REQUIRE_EQUAL(sum(type), type * static_cast<std::uint32_t>(quire_nodes()));
  REQUIRE_STATUS(quire_gc_allocate(native, type, 0, &object), QUIRE_INVALID);
  REQUIRE_STATUS(quire_gc_allocate(native, type, std::uint64_t{1} << 60, &object), QUIRE_INVALID);
  REQUIRE_STATUS(quire_gc_allocate(native, 999, 1, &object), QUIRE_INVALID);
  REQUIRE_STATUS(quire_gc_allocate(native, ~0u, 1, &object), QUIRE_INVALID);
  REQUIRE_STATUS(quire_gc_allocate({12345}, type, 1, &object), QUIRE_NOT_FOUND);
  REQUIRE_STATUS(quire_gc_type(native, "other", 24, wrong, 2, &again), QUIRE_INVALID);
  REQUIRE_STATUS(quire_gc_type(native, "", 24, offsets, 2, &again), QUIRE_INVALID);
  REQUIRE_STATUS(quire_gc_type(native, nullptr, 24, offsets, 2, &again), QUIRE_INVALID);
  REQUIRE_STATUS(quire_gc_type(native, std::string(64, 'x').c_str(), 24, offsets, 2, &again), QUIRE_INVALID);
  std::uint64_t elements = 0;
  REQUIRE_STATUS(quire_gc_length(&elements, &elements), QUIRE_BAD_ADDRESS);
  void* base = nullptr;
  REQUIRE_OK(quire_region_range(quire_region{native.id}, &base, nullptr));
  REQUIRE_STATUS(quire_gc_length(base, &elements), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_gc_length(nullptr, &elements), QUIRE_BAD_ADDRESS);
  bool thrown = false;
  try {
    (void)heap.make_array<int>(0);
  } catch (const quire::error& e) {
    thrown = e.code() == quire::errc::invalid;
  }
  REQUIRE(thrown);
  quire_gc_options options{};
  quire_gc_heap none{};
  REQUIRE_STATUS(quire_gc_create(&options, 1000, &none), QUIRE_INVALID);  // no size
  options.size = sizeof options;
  options.name = "errors";
  if (quire_node() == 0) REQUIRE_STATUS(quire_gc_create(&options, 1000, &none), QUIRE_EXISTS);
  options.unit_bytes = 5000;
  REQUIRE_STATUS(quire_gc_create(&options, 1000, &none), QUIRE_INVALID);
  REQUIRE_STATUS(quire_gc_create(nullptr, 0, &none), QUIRE_INVALID);
  REQUIRE_STATUS(quire_gc_open("nowhere", 0, &none), QUIRE_NOT_FOUND);
  // The same name, and another layout: on the node that is last. What is said has both.
  barrier();
  if (quire_node() == quire_nodes() - 1) {
    REQUIRE_STATUS(quire_gc_type(native, "thing", 32, offsets, 2, &again), QUIRE_INVALID);
    REQUIRE(std::string(quire_last_error()).find("24 bytes") != std::string::npos);
    REQUIRE_STATUS(quire_gc_type(native, "thing", 24, offsets, 1, &again), QUIRE_INVALID);
  }
  // A reference to no object, on one node, is found by all; nothing changes, and without it all is well.
  void** root = nullptr;
  REQUIRE_OK(quire_gc_root(native, "one", &root));
  int private_one = 0;
  for (int i = 0; i < 4; ++i) {
    barrier();
    if (quire_node() == i % quire_nodes()) {
      if (*root == nullptr) {
        REQUIRE_OK(quire_gc_allocate(native, type, 2, &object));
        *root = object;
      }
      void** const field = static_cast<void**>(*root) + 4;  // of the second element
      char* const inside = static_cast<char*>(*root);
      void* const wrong[] = {&private_one, inside + 16, inside + 8, inside + 40'960};
      *field = wrong[i];
    }
    barrier();
    REQUIRE_STATUS(quire_gc_collect(native, nullptr), QUIRE_BAD_ADDRESS);
    REQUIRE(std::string(quire_last_error()).find("nothing has changed") != std::string::npos);
    barrier();
    if (quire_node() == 0) static_cast<void**>(*root)[4] = *root;
    barrier();
    quire_gc_statistics s{};
    s.size = sizeof s;
    REQUIRE_OK(quire_gc_collect(native, &s));
    REQUIRE_EQUAL(s.marked_objects, 1);
  }
  // Where content cannot be held still.
  barrier();
  REQUIRE_OK(quire_block_begin(quire_region{native.id}, 0));
  REQUIRE_STATUS(quire_gc_collect(native, nullptr), QUIRE_INVALID);
  REQUIRE(std::string(quire_last_error()).find("quire_block_end") != std::string::npos);
  quire_overlap none_such{};
  REQUIRE_OK(quire_block_end(quire_region{native.id}, &none_such));
  if (quire_node() == 0) REQUIRE_OK(quire_pin(root, 8, -1, nullptr));
  REQUIRE_STATUS(quire_gc_collect(native, nullptr), QUIRE_BUSY);
  REQUIRE(std::string(quire_last_error()).find("quire_unpin") != std::string::npos);
  if (quire_node() == 0) REQUIRE_OK(quire_unpin(root, 8));
  REQUIRE_OK(quire_gc_collect(native, nullptr));
  // Arguments that are wrong on one node are an error on all.
  quire_gc_statistics bad{};
  bad.size = quire_node() == 0 ? 3 : sizeof bad;
  REQUIRE_STATUS(quire_gc_collect(native, &bad), QUIRE_INVALID);
  const bool first = quire_node() == 0;
  if (quire_nodes() > 1)
    REQUIRE_STATUS(quire_gc_collect(first ? quire_gc_heap{77} : native, nullptr),
                   first ? QUIRE_NOT_FOUND : QUIRE_INVALID);
  barrier();
  if (quire_node() == 0) heap.destroy();
}

/// One node is in a collection, the others are in a barrier: all hear of it.
void mismatch() {
  if (quire_nodes() == 1) return;
  const gc::heap heap = make_heap("mismatch", 1 << 20);
  const quire_status got =
      quire_node() == 1 ? quire_gc_collect(heap.native_handle(), nullptr) : quire_barrier_wait(quire_barrier{0});
  REQUIRE_EQUAL(got, QUIRE_INVALID);
  barrier();
  if (quire_node() == 0) heap.destroy();
}

/// Two nodes write neighbours in turn: QUIRE_SHARING=1 sees it, and a collection parts them.
void false_sharing(bool by_hints) {
  const gc::heap heap = make_heap(by_hints ? "sharing by hints" : "sharing", 1 << 20);
  auto all = heap.root<gc::ref<pair>[]>("all");
  const auto nodes = static_cast<std::size_t>(quire_nodes()), node = static_cast<std::size_t>(quire_node());
  if (node == 0) {
    all = heap.make_array<gc::ref<pair>>(nodes);
    for (std::size_t i = 0; i < nodes; ++i) all[i] = heap.make<pair>(pair{i, {}, {}});
    for (std::size_t i = 0; i < nodes; ++i) all[i]->first = all[(i + 1) % nodes];
  }
  barrier();
  const auto in_turn = [&] {
    const gc::ref<pair> mine = all[node];  // the array stays beside what the first node writes
    const auto faults = [] {
      const quire_counters c = counters();
      return c.read_faults + c.write_faults + c.upgrade_faults;
    };
    const std::uint64_t before = faults();
    for (std::size_t turn = 0; turn < 20; ++turn) {
      for (std::size_t i = 0; i < nodes; ++i) {
        if (i == node) mine->id += nodes;
        barrier();
      }
    }
    return sum(faults() - before);
  };
  const std::uint64_t before = in_turn();
  if (by_hints) {
    heap.note_written(*all[node]);
    REQUIRE_STATUS(quire_gc_note_written(heap.native_handle(), &node, 8), QUIRE_BAD_ADDRESS);
  }
  const auto result = heap.collect();
  const std::uint64_t after = in_turn();
  if (node == 0)
    std::printf("faults of turns: %lu, after %lu objects have moved %lu\n", static_cast<unsigned long>(before),
                static_cast<unsigned long>(result.moved_objects), static_cast<unsigned long>(after));
  REQUIRE_EQUAL(result.moved_objects, nodes - 1);
  const bool one_memory = before == 0 && sum(counters().host_units) != 0;  // nobody takes turns
  REQUIRE(after < before / 2 || nodes == 1 || one_memory);  // one a turn before; on a busy machine a few are left
  for (std::size_t i = 0; i < nodes; ++i) {
    REQUIRE_EQUAL(all[i]->id, i + 40 * nodes);
    REQUIRE(all[i]->first == all[(i + 1) % nodes]);
  }
  barrier();
  REQUIRE_EQUAL(heap.collect().marked_objects, nodes + 1);
  barrier();
  if (node == 0) heap.destroy();
}

/// The last node dies in the midst of collections.
void die() {
  const gc::heap heap = make_heap("die", 32 << 20);
  auto list = heap.root<pair>("list" + std::to_string(quire_node()));
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    pair p{i, list, {}};
    list = heap.make<pair>(p);
  }
  barrier();
  for (int i = 0;; ++i) {
    if (i == 5 && quire_node() == quire_nodes() - 1) {
      std::thread([] {
        sleep_ms(20);
        ::kill(::getpid(), SIGKILL);
      }).detach();
    }
    (void)heap.collect();
  }
}

/// Lists of 100 elements, one of each node, and garbage; then a checkpoint.
void save(const char* path) {
  const gc::heap heap = make_heap("lasting", 1 << 20);
  auto list = heap.root<pair>("list" + std::to_string(quire_node()));
  for (std::uint64_t i = 0; i < 100; ++i) {
    list = heap.make<pair>(pair{i, list, {}});
    (void)heap.make<wide>();
  }
  barrier();
  REQUIRE_OK(quire_checkpoint(path));
}

/// On other nodes: until a collection has found what is free there is no memory. Types and roots are what they were.
void go_on(const char* path) {
  REQUIRE_OK(quire_restore(path));
  const gc::heap heap = gc::heap::open("lasting");
  bool none = false;
  try {
    (void)heap.make<pair>();
  } catch (const std::bad_alloc&) {
    none = std::string(quire_last_error()).find("after a restart") != std::string::npos;
  }
  REQUIRE(none);
  barrier();
  const auto result = heap.collect();
  REQUIRE_EQUAL(result.marked_objects, 300);
  auto mine = heap.root<pair>("new" + std::to_string(quire_node()));
  std::uint64_t made = 0;
  try {
    for (;; ++made) mine = heap.make<pair>(pair{made, mine, {}});
  } catch (const std::bad_alloc&) {
  }
  REQUIRE(sum(made) * 32 > 900'000);
  for (int node = 0; node < 3; ++node) {
    std::uint64_t left = 100;
    for (gc::ref<pair> p = heap.root<pair>("list" + std::to_string(node)); p; p = p->first)
      REQUIRE_EQUAL(p->id, --left);
    REQUIRE_EQUAL(left, 0);
  }
  for (gc::ref<pair> p = mine; p; p = p->first) REQUIRE_EQUAL(p->id, --made);
  // A type that the job before had, with another layout; a new type gets a new number.
  std::uint32_t type = 0, other = 0;
  REQUIRE_STATUS(quire_gc_type(heap.native_handle(), gc::detail::name_of<pair>().c_str(), 8, nullptr, 0, &type),
                 QUIRE_INVALID);
  REQUIRE_OK(quire_gc_type(heap.native_handle(), gc::detail::name_of<wide>().c_str(), sizeof(wide),
                           wide::quire_gc_fields().data(), 9, &type));
  REQUIRE_OK(quire_gc_type(heap.native_handle(), "new", 8, nullptr, 0, &other));
  REQUIRE_EQUAL(type, 2);
  REQUIRE_EQUAL(other, 3);
  barrier();
  REQUIRE_EQUAL(heap.collect().marked_objects, 300 + sum([&] {
                                                 std::uint64_t n = 0;
                                                 for (gc::ref<pair> p = mine; p; p = p->first) ++n;
                                                 return n;
                                               }()));
  if (quire_node() == 0) std::printf("goes on with 300 objects\n");
}

void refused() {
  quire_gc_heap heap{};
  quire_gc_options options{};
  options.size = sizeof options;
  REQUIRE_STATUS(quire_gc_create(&options, 1 << 20, &heap), QUIRE_UNSUPPORTED);
  REQUIRE(std::string(quire_last_error()).size() > 20);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "2";
  if (how == "release") g_options.consistency = QUIRE_RELEASE;
  if (argc > 2 && std::string(argv[2]) == "release") g_options.consistency = QUIRE_RELEASE;
  if (argc > 2 && how == "1") g_options.unit_bytes = std::strtoull(argv[2], nullptr, 10);
  return node_main([&] {
    if (how == "die") return die();
    if (how == "save") return save(argv[2]);
    if (how == "go-on") return go_on(argv[2]);
    if (how == "refused") return refused();
    if (how == "sharing") {
      false_sharing(false);
      return section("random graphs", [] { random_graphs(1); });
    }
    section("cycles over nodes", cycles);
    section("arrays over many units", large_arrays);
    section("a heap that is full", full);
    section("threads", threads);
    section("limits", limits);
    // In larger units the parts that are told apart are larger than these objects.
    if (g_options.unit_bytes <= 4096) section("hints of false sharing", [] { false_sharing(true); });
    section("errors", errors);
    section("calls that differ", mismatch);
    const double seconds = std::strtod(how.c_str(), nullptr);
    section("random graphs", [&] { random_graphs(seconds != 0 ? seconds : 1); });
  });
}
