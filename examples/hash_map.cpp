// SPDX-License-Identifier: BSD-3-Clause
// A hash map without locks: its code is that of a map for one thread, and each call is a transaction. Several calls can
// be one, too: nodes move parts from one store to another, and whoever looks finds each part in exactly one of them.
// Run it: quire run -n 2 hash_map
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <random>
#include <span>

#include <quire/quire.hpp>
#include <quire/transaction.hpp>

namespace {

/// Lies in transactional memory, and allocates its entries there.
template <class Key, class Value>
class hash_map {
 public:
  explicit hash_map(quire::region memory) : memory_(memory), buckets_(memory.make_array<entry*>(8)) {}

  std::optional<Value> find(const Key& key) const {
    return quire::atomically([&]() -> std::optional<Value> {
      for (const entry* e = bucket_of(key); e != nullptr; e = e->next)
        if (e->key == key) return e->value;
      return std::nullopt;
    });
  }

  /// False if the key is there already.
  bool insert(const Key& key, const Value& value) {
    return quire::atomically([&] {
      std::size_t length = 1;
      for (const entry* e = bucket_of(key); e != nullptr; e = e->next, ++length)
        if (e->key == key) return false;
      bucket_of(key) = memory_.make<entry>(entry{key, value, bucket_of(key)});
      if (length > longest_chain) grow();
      return true;
    });
  }

  /// What was there.
  std::optional<Value> erase(const Key& key) {
    return quire::atomically([&]() -> std::optional<Value> {
      for (entry** at = &bucket_of(key); *at != nullptr; at = &(*at)->next) {
        entry* const e = *at;
        if (e->key != key) continue;
        const Value value = e->value;
        *at = e->next;
        quire::delete_object(e);  // its memory is free when the transaction has happened
        return value;
      }
      return std::nullopt;
    });
  }

  /// Calls f(key, value) for all entries as of one moment.
  template <class F>
  void for_each(F f) const {
    quire::atomically([&] {
      for (const entry* e : buckets_)
        for (; e != nullptr; e = e->next) f(e->key, e->value);
    });
  }
  [[nodiscard]] std::size_t buckets() const { return buckets_.size(); }

 private:
  struct entry {
    Key key;
    Value value;
    entry* next;
  };
  static constexpr std::size_t longest_chain = 6;

  entry*& bucket_of(const Key& key) const {
    const std::uint64_t mixed = std::hash<Key>{}(key)*0x9e3779b97f4a7c15;
    return buckets_[(mixed >> 32) % buckets_.size()];
  }
  void grow() {
    const std::span<entry*> old = buckets_;
    buckets_ = memory_.make_array<entry*>(2 * old.size());
    for (entry* e : old) {
      while (e != nullptr) {
        entry* const next = e->next;
        e->next = bucket_of(e->key);
        bucket_of(e->key) = e;
        e = next;
      }
    }
    quire::free_shared_array(old);
  }

  quire::region memory_;
  std::span<entry*> buckets_;
};

using part = std::uint64_t;
using price = std::int64_t;

struct shop {
  hash_map<part, price> shelf, sold;
  explicit shop(quire::region memory) : shelf(memory), sold(memory) {}
};

price price_of(part p) { return static_cast<price>(10 + p % 90); }

}  // namespace

int main() {
  constexpr part parts_of_a_node = 1000;
  constexpr int customers_of_a_node = 500;
  quire::session job;
  shop& all = *quire::from_node(0, [] {
    const auto memory =
        quire::region::create(16 << 20, {.consistency = quire::consistency::transactional, .heap = true});
    return quire::atomically([&] { return memory.make<shop>(memory); });
  });
  const part nodes = static_cast<part>(job.nodes()), first = static_cast<part>(job.node()),
             parts = parts_of_a_node * nodes;

  // All nodes fill the shelf. It grows meanwhile.
  bool right = true;
  for (part p = first; p < parts; p += nodes) right &= all.shelf.insert(p, price_of(p));
  quire::barrier{}.arrive_and_wait();

  // Customers take parts, and bring others back. Nobody sees a part in both places, or in none.
  std::minstd_rand random(static_cast<unsigned>(first) + 1);
  for (int i = 0; i < customers_of_a_node; ++i) {
    const part wanted = random() % parts, looked_at = random() % parts;
    quire::atomically([&] {
      if (const auto paid = all.shelf.erase(wanted)) {
        all.sold.insert(wanted, *paid);
      } else if (const auto back = all.sold.erase(wanted)) {
        all.shelf.insert(wanted, *back);
      }
    });
    right &= quire::atomically(
        [&] { return all.shelf.find(looked_at).has_value() != all.sold.find(looked_at).has_value(); });
  }

  // All of it, as of one moment, while other nodes may still be at it.
  struct sums {
    std::size_t on_shelf = 0, sold = 0;
    price worth = 0;
  };
  const auto found = quire::atomically([&] {
    sums s;
    all.shelf.for_each([&](part, price each) { ++s.on_shelf, s.worth += each; });
    all.sold.for_each([&](part, price each) { ++s.sold, s.worth += each; });
    return s;
  });
  price expected = 0;
  for (part p = 0; p < parts; ++p) expected += price_of(p);
  right &= found.on_shelf + found.sold == parts && found.worth == expected;
  std::printf("node %d sees %zu parts on the shelf and %zu sold, worth %lld, in %zu and %zu buckets: %s\n", job.node(),
              found.on_shelf, found.sold, static_cast<long long>(found.worth), all.shelf.buckets(), all.sold.buckets(),
              right ? "right" : "wrong");
  quire::barrier{}.arrive_and_wait();
  return right ? 0 : 1;
}
