// SPDX-License-Identifier: BSD-3-Clause
// Which parts of which units the threads of this node use, for the report on false sharing: for each unit that moves
// between nodes, how often it came here or changes of it left, how long threads waited for it, for each line how often
// a read was seen, and for each word how often a write. Seen are the accesses that fault, and with release consistency
// what diffs contain.
//
// The table has a fixed size. Where it is full, what happens on a new unit counts against the unit with the least
// nearby, and takes its place in the end (Misra and Gries, Finding Repeated Elements, 1982). So units that move often
// are in it. Any thread, fault context too: a few instructions, no heap, no lock. Threads that count at the moment when
// a unit loses its place may lose a count, or leave one with the wrong unit: the report weighs counts, and a few do not
// matter.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sharing/parts.hpp"

namespace quire::sharing {

/// What an access means for its unit.
enum class event : std::uint8_t {
  seen,   ///< no other node had part in it: it counts if the unit is known already
  used,   ///< others may hear of it, but it moved nothing by itself
  moved,  ///< the unit came from another node, or rights to it, or changes of it left
};

class table {
 public:
  struct item {
    std::uint16_t region = 0;
    std::uint64_t unit = 0;
    std::uint64_t moves = 0, ns = 0;
    std::array<std::uint32_t, lines> reads{};
    std::array<std::uint32_t, words> writes{};
  };

  static constexpr unsigned usual_places_log2 = 10;
  explicit table(unsigned places_log2 = usual_places_log2)
      : shift_(64 - places_log2), places_(std::size_t{1} << places_log2), table_(std::make_unique<place[]>(places_)) {}

  /// An access to a word.
  void add(std::uint16_t region, std::uint64_t unit, unsigned word, bool write, event what) noexcept {
    place* const p = find(region, unit, what);
    if (p == nullptr) return;
    p->count(what);
    (write ? p->writes[word] : p->reads[word / words_a_line]).fetch_add(1, std::memory_order_relaxed);
    p->last_read.store(write ? 0 : word + 1, std::memory_order_relaxed);
  }
  /// A thread has waited for a unit.
  void add_wait(std::uint16_t region, std::uint64_t unit, std::uint64_t ns) noexcept {
    if (place* const p = find(region, unit, event::seen); p != nullptr) p->ns.fetch_add(ns, std::memory_order_relaxed);
  }
  /// The unit that was asked for has come. Where a thread has asked to read, and may write as well, it is because
  /// writes follow such reads, and they do not fault: the write is taken to be where the read was.
  void came(std::uint16_t region, std::uint64_t unit, bool writable) noexcept {
    place* const p = find(region, unit, event::seen);
    const std::uint32_t word = p != nullptr ? p->last_read.exchange(0, std::memory_order_relaxed) : 0;
    if (writable && word != 0) p->writes[word - 1].fetch_add(1, std::memory_order_relaxed);
  }
  /// These words were written.
  void add_changes(std::uint16_t region, std::uint64_t unit, const word_mask& written, event what) noexcept {
    place* const p = find(region, unit, what);
    if (p == nullptr) return;
    p->count(what);
    for (unsigned word = 0; word < words; ++word)
      if (written[word]) p->writes[word].fetch_add(1, std::memory_order_relaxed);
  }

  /// Of a region that goes.
  void forget(std::uint16_t region) noexcept {
    for (std::size_t i = 0; i < places_; ++i) {
      place& p = table_[i];
      const std::uint64_t key = p.key.load(std::memory_order_relaxed);
      if (key == 0 || static_cast<std::uint16_t>(key >> 46) != region) continue;
      p.clear();
      p.key.store(0, std::memory_order_relaxed);
    }
  }

  /// Those that moved most, first; at most `count`.
  [[nodiscard]] std::vector<item> most(std::size_t count) const {
    std::vector<item> all;
    for (std::size_t i = 0; i < places_; ++i) {
      const place& p = table_[i];
      const std::uint64_t key = p.key.load(std::memory_order_relaxed);
      if (key == 0) continue;
      item& one = all.emplace_back();
      one.region = static_cast<std::uint16_t>(key >> 46);
      one.unit = key & unit_mask;
      one.moves = p.moves.load(std::memory_order_relaxed);
      one.ns = p.ns.load(std::memory_order_relaxed);
      for (unsigned line = 0; line < lines; ++line) one.reads[line] = p.reads[line].load(std::memory_order_relaxed);
      for (unsigned word = 0; word < words; ++word) one.writes[word] = p.writes[word].load(std::memory_order_relaxed);
    }
    std::sort(all.begin(), all.end(),
              [](const item& a, const item& b) { return a.moves != b.moves ? a.moves > b.moves : a.ns > b.ns; });
    all.resize(std::min(count, all.size()));
    return all;
  }

 private:
  static constexpr std::size_t looked_at = 8;
  static constexpr std::uint64_t in_use = std::uint64_t{1} << 63, unit_mask = (std::uint64_t{1} << 46) - 1;

  struct place {
    std::atomic<std::uint64_t> key{0}, weight{0}, moves{0}, ns{0};  ///< `weight`: against the units that want the place
    std::atomic<std::uint32_t> last_read{0};  ///< a word, from 1 on: a thread has asked to read it
    std::array<std::atomic<std::uint32_t>, lines> reads{};
    std::array<std::atomic<std::uint32_t>, words> writes{};

    void count(event what) noexcept {
      if (what != event::seen) weight.fetch_add(1, std::memory_order_relaxed);
      if (what == event::moved) moves.fetch_add(1, std::memory_order_relaxed);
    }
    void clear() noexcept {
      weight.store(0, std::memory_order_relaxed);
      moves.store(0, std::memory_order_relaxed);
      ns.store(0, std::memory_order_relaxed);
      last_read.store(0, std::memory_order_relaxed);
      for (auto& n : reads) n.store(0, std::memory_order_relaxed);
      for (auto& n : writes) n.store(0, std::memory_order_relaxed);
    }
  };

  /// The place of a unit; a new one if there is none, and the event is worth it. Null: it is not counted.
  [[nodiscard]] place* find(std::uint16_t region, std::uint64_t unit, event what) noexcept {
    const std::uint64_t key = in_use | std::uint64_t{region} << 46 | (unit & unit_mask);
    place* least = nullptr;
    std::uint64_t least_weight = 0;
    for (std::size_t i = 0, at = (key * 0x9e3779b97f4a7c15u) >> shift_; i < std::min(looked_at, places_); ++i) {
      place& p = table_[(at + i) & (places_ - 1)];
      std::uint64_t found = p.key.load(std::memory_order_relaxed);
      if (found == 0 && what == event::seen) continue;
      if (found == 0 && p.key.compare_exchange_strong(found, key, std::memory_order_relaxed)) found = key;
      if (found == key) return &p;
      const std::uint64_t weight = p.weight.load(std::memory_order_relaxed);
      if (least == nullptr || weight < least_weight) least = &p, least_weight = weight;
    }
    if (what == event::seen) return nullptr;
    if (least_weight > 1) {
      least->weight.compare_exchange_strong(least_weight, least_weight - 1, std::memory_order_relaxed);
      return nullptr;
    }
    least->clear();
    least->key.store(key, std::memory_order_relaxed);
    return least;
  }

  unsigned shift_;
  std::size_t places_;
  std::unique_ptr<place[]> table_;
};

}  // namespace quire::sharing
