// SPDX-License-Identifier: BSD-3-Clause
// Containers that many nodes fill at the same time. They are cut into shards, each of which has a lock and memory of
// its own, so that nodes that use different shards do not disturb each other. Handles, as those of sync.hpp: one thread
// makes a container and gives it to the others, for example by quire::from_node().
//
//     auto counts = quire::from_node(0, [] { return quire::sharded_map<word, std::uint64_t>::create(); });
//     counts.update(w, [](std::uint64_t& n) { ++n; });       // any thread of any node
//     counts.merge(mine);                                    // many at a time: one lock and one visit a shard
//     counts.for_each_of(me, [](const word& w, std::uint64_t n) { ... });  // this member's shards
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <quire/group.hpp>
#include <quire/memory.hpp>
#include <quire/sync.hpp>

namespace quire {
namespace detail {

/// std::hash of a number is the number on many systems: its bits are mixed here, so that shards and places are filled
/// evenly.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t h) noexcept {
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
  h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
  return h ^ (h >> 31);
}

}  // namespace detail

/// A hash map. Keys and values are plain data. Nothing can be erased; clear() empties it.
template <class Key, class Value, class Hash = std::hash<Key>>
class sharded_map {
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>,
                "keys and values are plain data");

 public:
  /// `shards`: best several times as many as threads; 0: 16 for each node.
  [[nodiscard]] static sharded_map create(std::size_t shards = 0) {
    sharded_map m;
    m.count_ = shards != 0 ? shards : 16 * static_cast<std::size_t>(nodes());
    m.shards_ = static_cast<shard*>(detail::allocate(m.count_ * sizeof(shard), alignof(shard)));
    for (std::size_t i = 0; i < m.count_; ++i) std::construct_at(m.shards_ + i)->guard = mutex::create();
    return m;
  }
  /// Once nobody uses it any more.
  void destroy() {
    for (std::size_t i = 0; i < count_; ++i) {
      shards_[i].guard.destroy();
      if (shards_[i].places != nullptr) detail::deallocate(shards_[i].places);
    }
    detail::deallocate(shards_);
    *this = {};
  }

  /// change(value), under the shard's lock; a key that is not there comes in with Value{} first. change() must not use
  /// the map.
  template <class Change>
  void update(const Key& key, Change&& change) const {
    const std::uint64_t h = hash_of(key);
    shard& s = shard_of(h);
    const std::scoped_lock lock(s.guard);
    change(s.place_for(key, h)->value);
  }
  void insert_or_assign(const Key& key, const Value& value) const {
    update(key, [&](Value& v) { v = value; });
  }
  [[nodiscard]] std::optional<Value> find(const Key& key) const {
    const std::uint64_t h = hash_of(key);
    shard& s = shard_of(h);
    const std::scoped_lock lock(s.guard);
    const place* const p = s.find(key, h);
    return p != nullptr ? std::optional<Value>(p->value) : std::nullopt;
  }
  /// combine(value here, value there) for all of a private map: one visit to each shard, from another one on each node,
  /// so that nodes do not wait for each other.
  template <class Map, class Combine>
  void merge(const Map& from, Combine&& combine) const {
    std::vector<std::vector<std::pair<std::uint64_t, const typename Map::value_type*>>> by_shard(count_);
    for (const auto& entry : from) {
      const std::uint64_t h = hash_of(entry.first);
      by_shard[h % count_].emplace_back(h, &entry);
    }
    const std::size_t first = count_ * static_cast<std::size_t>(node()) / static_cast<std::size_t>(nodes());
    for (std::size_t i = 0; i < count_; ++i) {
      const std::size_t at = (first + i) % count_;
      if (by_shard[at].empty()) continue;
      const std::scoped_lock lock(shards_[at].guard);
      shards_[at].expect(by_shard[at].size());
      for (const auto& [h, entry] : by_shard[at]) combine(shards_[at].place_for(entry->first, h)->value, entry->second);
    }
  }
  /// The same of sums.
  template <class Map>
  void merge(const Map& from) const {
    merge(from, [](Value& here, const Value& there) { here += there; });
  }

  /// f(key, value) for the shards of one member of a group (any partition of them), each under its lock. f() must not
  /// use the map.
  template <class F>
  void for_each_of(const member& me, F&& f) const {
    const index_range mine = me.my_part(count_);
    for (std::size_t i = mine.first; i < mine.last; ++i) {
      const std::scoped_lock lock(shards_[i].guard);
      for (std::size_t p = 0; p < shards_[i].capacity; ++p) {
        place& at = shards_[i].places[p];
        if (at.used) f(std::as_const(at.key), at.value);
      }
    }
  }
  /// Keys that are in it, as far as they are while it counts.
  [[nodiscard]] std::size_t size() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::scoped_lock lock(shards_[i].guard);
      sum += shards_[i].size;
    }
    return sum;
  }
  void clear() const {
    for (std::size_t i = 0; i < count_; ++i) {
      const std::scoped_lock lock(shards_[i].guard);
      for (std::size_t p = 0; p < shards_[i].capacity; ++p) shards_[i].places[p].used = false;
      shards_[i].size = 0;
    }
  }

 private:
  struct place {
    bool used;
    Key key;
    Value value;
  };
  /// On pages of its own: what one node changes does not take another one's shards along.
  struct alignas(4096) shard {
    static constexpr std::size_t least_places = 64;
    mutex guard{};
    std::size_t size = 0, capacity = 0;
    place* places = nullptr;

    /// The place of a key, or where it would be: linear probing.
    [[nodiscard]] place* probe(const Key& key, std::uint64_t h) const {
      std::size_t at = (h >> 32) & (capacity - 1);
      while (places[at].used && !(places[at].key == key)) at = (at + 1) & (capacity - 1);
      return &places[at];
    }
    [[nodiscard]] const place* find(const Key& key, std::uint64_t h) const {
      if (capacity == 0) return nullptr;
      const place* const p = probe(key, h);
      return p->used ? p : nullptr;
    }
    [[nodiscard]] place* place_for(const Key& key, std::uint64_t h) {
      if ((size + 1) * 4 > capacity * 3) grow();
      place* const p = probe(key, h);
      if (!p->used) {
        ++size;
        *p = {true, key, Value{}};
      }
      return p;
    }
    /// So many keys come, in the order of no address: their pages are asked for together, and an empty shard has room
    /// for all of them at once.
    void expect(std::size_t keys) {
      constexpr std::size_t page = 4096;
      if (capacity == 0) {
        std::size_t places_wanted = least_places;
        while (keys * 4 > places_wanted * 3) places_wanted *= 2;
        grow(places_wanted);
      } else if (keys >= capacity * sizeof(place) / page) {
        prefetch(std::span(places, capacity), access::write);
      }
    }
    void grow() { grow(capacity == 0 ? least_places : capacity * 2); }
    /// Into memory of the node that wants more.
    void grow(std::size_t wanted) {
      place* const before = places;
      const std::size_t old = capacity;
      capacity = wanted;
      places = static_cast<place*>(detail::allocate(capacity * sizeof(place), alignof(place)));
      for (std::size_t i = 0; i < capacity; ++i) places[i].used = false;
      for (std::size_t i = 0; i < old; ++i) {
        if (before[i].used) *probe(before[i].key, hash_of(before[i].key)) = before[i];
      }
      if (before != nullptr) detail::deallocate(before);
    }
  };

  [[nodiscard]] static std::uint64_t hash_of(const Key& key) { return detail::mixed(Hash{}(key)); }
  [[nodiscard]] shard& shard_of(std::uint64_t h) const { return shards_[h % count_]; }
  std::size_t count_ = 0;
  shard* shards_ = nullptr;
};

/// A sequence to which all nodes append at the same time: each node to a part of its own, in its own memory. The
/// elements have numbers once all have been appended: those of node 0 first, in the order of their appending.
template <class T>
class sharded_vector {
  static_assert(std::is_trivially_copyable_v<T>, "elements are plain data");

 public:
  [[nodiscard]] static sharded_vector create() {
    sharded_vector v;
    v.count_ = static_cast<std::size_t>(nodes());
    v.shards_ = static_cast<shard*>(detail::allocate(v.count_ * sizeof(shard), alignof(shard)));
    for (std::size_t i = 0; i < v.count_; ++i) std::construct_at(v.shards_ + i)->guard = mutex::create();
    return v;
  }
  /// Once nobody uses it any more.
  void destroy() {
    for (std::size_t i = 0; i < count_; ++i) {
      shards_[i].guard.destroy();
      if (shards_[i].elements != nullptr) detail::deallocate(shards_[i].elements);
    }
    detail::deallocate(shards_);
    *this = {};
  }

  void push_back(const T& value) const { append({&value, 1}); }
  /// Some together, in their order.
  void append(std::span<const T> values) const {
    shard& s = shards_[static_cast<std::size_t>(node())];
    const std::scoped_lock lock(s.guard);
    s.reserve(s.size + values.size());
    std::uninitialized_copy(values.begin(), values.end(), s.elements + s.size);
    s.size += values.size();
  }
  /// The part of one node. Valid while nobody appends there.
  [[nodiscard]] std::span<T> part(int of_node) const { return {shards_[of_node].elements, shards_[of_node].size}; }
  [[nodiscard]] std::size_t size() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count_; ++i) sum += shards_[i].size;
    return sum;
  }
  /// Element `i` of all. While nobody appends.
  [[nodiscard]] T& operator[](std::size_t i) const {
    std::size_t at = 0;
    while (i >= shards_[at].size) i -= shards_[at++].size;
    return shards_[at].elements[i];
  }

 private:
  struct alignas(4096) shard {
    mutex guard{};
    std::size_t size = 0, capacity = 0;
    T* elements = nullptr;
    void reserve(std::size_t wanted) {
      if (wanted <= capacity) return;
      capacity = std::max(wanted, capacity * 2);
      T* const more = static_cast<T*>(detail::allocate(capacity * sizeof(T), alignof(T)));
      std::uninitialized_copy_n(elements, size, more);
      if (elements != nullptr) detail::deallocate(elements);
      elements = more;
    }
  };
  std::size_t count_ = 0;
  shard* shards_ = nullptr;
};

}  // namespace quire
