// SPDX-License-Identifier: BSD-3-Clause
// A random graph in a garbage-collected heap, which all nodes change: it is compared with a shadow of it.
#pragma once

#include <algorithm>
#include <map>
#include <new>
#include <quire/gc.hpp>
#include <set>
#include <string>
#include <vector>

#include "node.hpp"

namespace quire::test {

namespace gc = quire::gc;

struct pair {
  std::uint64_t id = 0;
  gc::ref<pair> first, second;
  QUIRE_GC_FIELDS(pair, first, second)
};

struct wide {
  std::uint64_t id = 0;
  gc::ref<pair> all[9];
  std::uint64_t behind = 0;
  QUIRE_GC_FIELDS(wide, all)
};

inline gc::heap_options g_options;

inline gc::heap make_heap(const char* name, std::uint64_t bytes) {
  return gc::heap::create_or_open(name, bytes, g_options);
}

/// A graph by numbers, which all nodes have; what the heap has must be the same.
class random_graph {
 public:
  explicit random_graph(std::uint64_t seed)
      : random_(seed), heap_(make_heap(("random" + std::to_string(seed)).c_str(), 150'000)) {
    const std::string name = "places" + std::to_string(seed);
    places_ = shared_object<std::uint64_t>(name, most_ids);
    for (std::size_t i = 0; i < root_count; ++i) roots_.push_back(heap_.root<pair>("root" + std::to_string(i)));
    root_ids_.assign(root_count, 0);
  }
  void round() {
    for (int i = 0; i < 300; ++i) step();
    barrier();
    const std::set<std::uint64_t> wanted = reachable();
    const auto result = heap_.collect();
    REQUIRE_EQUAL(result.marked_objects, wanted.size());
    moved += result.moved_objects;
    messages += result.messages;
    std::erase_if(objects_, [&](const auto& o) { return !wanted.contains(o.first); });
    if (quire_node() == static_cast<int>(random_.below(static_cast<std::uint64_t>(quire_nodes())))) walk();
    barrier();
    for (const auto& [id, o] : objects_)
      if (random_.below(2) == 0) check(id, o);
    barrier();
  }
  ~random_graph() {
    barrier();
    if (quire_node() == 0) heap_.destroy();
  }
  std::uint64_t moved = 0, full = 0, messages = 0;

 private:
  enum class kind : std::uint8_t { pair, wide, array, bytes };
  struct object {
    kind what{};
    std::size_t length = 1;
    std::vector<std::uint64_t> fields{};
  };
  static constexpr std::size_t most_ids = 200'000, root_count = 5;

  std::uint64_t any() {
    if (objects_.empty()) return 0;
    const auto found = objects_.lower_bound(random_.below(next_));
    return (found == objects_.end() ? objects_.begin() : found)->first;
  }
  /// All nodes draw the same.
  void step() {
    const bool mine = static_cast<int>(random_.below(static_cast<std::uint64_t>(quire_nodes()))) == quire_node();
    const auto draw = random_.below(100);
    if (draw < 30 && next_ < most_ids) return add(mine);
    if (draw < 34) {
      const std::size_t root = random_.below(root_count);
      return set_root(root, random_.below(3) == 0 ? 0 : any());
    }
    const std::uint64_t from = any(), to = random_.below(4) == 0 ? 0 : any();
    if (from == 0 || objects_[from].fields.empty()) return;
    const std::size_t field = random_.below(objects_[from].fields.size());
    set_field(from, field, to);
  }
  // A word is written by one node, so that its last value is the same as the shadow's.
  static bool writes(std::uint64_t what) {
    return static_cast<int>(what % static_cast<std::uint64_t>(quire_nodes())) == quire_node();
  }
  void set_field(std::uint64_t from, std::size_t field, std::uint64_t to) {
    objects_[from].fields[field] = to;
    if (writes(from + field)) fields_of(from)[field] = gc::ref<pair>(at(to));
  }
  void set_root(std::size_t root, std::uint64_t to) {
    root_ids_[root] = to;
    if (writes(root)) roots_[root] = gc::ref<pair>(at(to));
  }
  void add(bool mine) {
    object o;
    o.what = static_cast<kind>(random_.below(4));
    if (o.what == kind::array) o.length = 1 + random_.below(random_.below(10) == 0 ? 2000 : 20);
    if (o.what == kind::bytes) o.length = 1 + random_.below(random_.below(10) == 0 ? 9000 : 100);
    o.fields.assign(o.what == kind::pair ? 2 : o.what == kind::wide ? 9 : o.what == kind::array ? o.length : 0, 0);
    const std::uint64_t id = next_++;
    std::int64_t done = 0;
    if (mine) {
      try {
        places_[id] = reinterpret_cast<std::uint64_t>(make(id, o));
        done = 1;
      } catch (const std::bad_alloc&) {
      }
    }
    REQUIRE_OK(quire_reduce_i64(&done, 1, QUIRE_MAX));  // also: who uses it comes after who has made it
    if (done == 0) {
      ++full;
      return;
    }
    objects_[id] = o;
    // A chain to what was made before, so that much is alive.
    if (!o.fields.empty()) {
      set_field(id, 0, any());
    }
    if (random_.below(8) == 0) set_root(id % root_count, id);
  }
  void* make(std::uint64_t id, const object& o) {
    switch (o.what) {
      case kind::pair:
        return heap_.make<pair>(pair{id, {}, {}}).get();
      case kind::wide: {
        const auto made = heap_.make<wide>();
        REQUIRE(std::ranges::all_of(made->all, [](const gc::ref<pair>& r) { return !r; }));
        made->id = made->behind = id;
        return made.get();
      }
      case kind::array: {
        const auto made = heap_.make_array<gc::ref<pair>>(o.length);
        REQUIRE(std::ranges::all_of(made, [](const gc::ref<pair>& r) { return !r; }));
        return made.get();
      }
      case kind::bytes: {
        const auto made = heap_.make_array<unsigned char>(o.length);
        REQUIRE(std::ranges::all_of(made, [](unsigned char c) { return c == 0; }));
        for (std::size_t i = 0; i < o.length; ++i) made[i] = static_cast<unsigned char>(mix(id) + i);
        return made.get();
      }
    }
    return nullptr;
  }
  pair* at(std::uint64_t id) const { return id == 0 ? nullptr : reinterpret_cast<pair*>(places_[id]); }
  gc::ref<pair>* fields_of(std::uint64_t id) {
    switch (objects_[id].what) {
      case kind::pair:
        return &at(id)->first;
      case kind::wide:
        return reinterpret_cast<wide*>(at(id))->all;
      default:
        return reinterpret_cast<gc::ref<pair>*>(at(id));
    }
  }
  std::set<std::uint64_t> reachable() const {
    std::set<std::uint64_t> found;
    std::vector<std::uint64_t> waiting;
    const auto visit = [&](std::uint64_t id) {
      if (id != 0 && found.insert(id).second) waiting.push_back(id);
    };
    for (const std::uint64_t id : root_ids_) visit(id);
    while (!waiting.empty()) {
      const std::uint64_t id = waiting.back();
      waiting.pop_back();
      for (const std::uint64_t to : objects_.at(id).fields) visit(to);
    }
    return found;
  }
  /// From the roots, by references alone: objects may have moved.
  void walk() {
    std::set<std::uint64_t> met;
    std::vector<std::uint64_t> waiting;
    const auto visit = [&](std::uint64_t id, const void* address) {
      REQUIRE_EQUAL(id == 0, address == nullptr);
      if (id == 0) return;
      if (met.insert(id).second) {
        if (places_[id] != reinterpret_cast<std::uint64_t>(address))
          places_[id] = reinterpret_cast<std::uint64_t>(address);
        waiting.push_back(id);
      }
      REQUIRE_EQUAL(places_[id], reinterpret_cast<std::uint64_t>(address));
    };
    for (std::size_t i = 0; i < root_count; ++i) visit(root_ids_[i], roots_[i].get().get());
    while (!waiting.empty()) {
      const std::uint64_t id = waiting.back();
      waiting.pop_back();
      const auto& fields = objects_.at(id).fields;
      for (std::size_t i = 0; i < fields.size(); ++i) visit(fields[i], fields_of(id)[i].get());
    }
    REQUIRE_EQUAL(met.size(), objects_.size());
  }
  void check(std::uint64_t id, const object& o) {
    std::uint64_t length = 0;
    REQUIRE_OK(quire_gc_length(at(id), &length));
    REQUIRE_EQUAL(length, o.length);
    if (o.what == kind::pair) REQUIRE_EQUAL(at(id)->id, id);
    if (o.what == kind::wide) {
      REQUIRE_EQUAL(reinterpret_cast<wide*>(at(id))->id, id);
      REQUIRE_EQUAL(reinterpret_cast<wide*>(at(id))->behind, id);
    }
    const auto* const bytes = reinterpret_cast<const unsigned char*>(at(id));
    for (std::size_t i = 0; o.what == kind::bytes && i < o.length; ++i)
      REQUIRE_EQUAL(bytes[i], static_cast<unsigned char>(mix(id) + i));
    for (std::size_t i = 0; i < o.fields.size(); ++i) REQUIRE(fields_of(id)[i].get() == at(o.fields[i]));
  }

  random_numbers random_;
  gc::heap heap_;
  std::uint64_t* places_ = nullptr;
  std::vector<gc::root<pair>> roots_{};
  std::vector<std::uint64_t> root_ids_{};
  std::map<std::uint64_t, object> objects_{};
  std::uint64_t next_ = 1;
};

}  // namespace quire::test
