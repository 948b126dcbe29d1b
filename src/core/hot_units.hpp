// SPDX-License-Identifier: BSD-3-Clause
// Which units the threads of this node wait for: for each the faults, and the time that they took. The table has a
// fixed size. Where it is full, a new unit counts against the one with the fewest faults nearby, and takes its place in
// the end (Misra and Gries, Finding Repeated Elements, 1982). So units that threads wait for often are in it. Any
// thread, fault context too: a few instructions, no lock. Two threads that count at the same moment may lose a count.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace quire::core {

class hot_units {
 public:
  struct item {
    std::uint16_t region = 0;
    std::uint64_t unit = 0;
    std::uint64_t faults = 0, writes = 0;  ///< of the faults, those that write
    std::uint64_t ns = 0;
  };

  void add(std::uint16_t region, std::uint64_t unit, bool write, std::uint64_t ns) noexcept {
    const std::uint64_t key = in_use | std::uint64_t{region} << 46 | (unit & unit_mask);
    place* fewest = nullptr;
    for (std::size_t i = 0, at = (key * 0x9e3779b97f4a7c15u) >> (64 - places_log2); i < looked_at; ++i) {
      place& p = table_[(at + i) & (places - 1)];
      std::uint64_t found = p.key.load(std::memory_order_relaxed);
      if (found == 0 && p.key.compare_exchange_strong(found, key, std::memory_order_relaxed)) found = key;
      if (found == key) return p.count(write, ns);
      if (fewest == nullptr ||
          p.faults.load(std::memory_order_relaxed) < fewest->faults.load(std::memory_order_relaxed))
        fewest = &p;
    }
    std::uint64_t left = fewest->faults.load(std::memory_order_relaxed);
    if (left > 1) {
      fewest->faults.compare_exchange_strong(left, left - 1, std::memory_order_relaxed);
      return;
    }
    fewest->key.store(key, std::memory_order_relaxed);
    fewest->faults.store(0, std::memory_order_relaxed);
    fewest->writes.store(0, std::memory_order_relaxed);
    fewest->ns.store(0, std::memory_order_relaxed);
    fewest->count(write, ns);
  }

  /// Of a region that goes.
  void forget(std::uint16_t region) noexcept {
    for (std::size_t i = 0; i < places; ++i) {
      place& p = table_[i];
      const std::uint64_t key = p.key.load(std::memory_order_relaxed);
      if (key == 0 || static_cast<std::uint16_t>(key >> 46) != region) continue;
      p.faults.store(0, std::memory_order_relaxed);
      p.writes.store(0, std::memory_order_relaxed);
      p.ns.store(0, std::memory_order_relaxed);
      p.key.store(0, std::memory_order_relaxed);
    }
  }
  /// Those that cost the most time, first; at most `count`.
  [[nodiscard]] std::vector<item> most(std::size_t count) const {
    std::vector<item> all;
    for (std::size_t i = 0; i < places; ++i) {
      const place& p = table_[i];
      const std::uint64_t key = p.key.load(std::memory_order_relaxed);
      if (key == 0) continue;
      all.push_back({static_cast<std::uint16_t>(key >> 46), key & unit_mask, p.faults.load(std::memory_order_relaxed),
                     p.writes.load(std::memory_order_relaxed), p.ns.load(std::memory_order_relaxed)});
    }
    const auto more = [](const item& a, const item& b) { return a.ns != b.ns ? a.ns > b.ns : a.faults > b.faults; };
    const std::size_t kept = std::min(count, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(), more);
    all.resize(kept);
    return all;
  }

 private:
  static constexpr unsigned places_log2 = 12;
  static constexpr std::size_t places = std::size_t{1} << places_log2, looked_at = 8;
  static constexpr std::uint64_t in_use = std::uint64_t{1} << 63, unit_mask = (std::uint64_t{1} << 46) - 1;
  struct place {
    std::atomic<std::uint64_t> key{0}, faults{0}, writes{0}, ns{0};
    void count(bool write, std::uint64_t more_ns) noexcept {
      faults.fetch_add(1, std::memory_order_relaxed);
      if (write) writes.fetch_add(1, std::memory_order_relaxed);
      ns.fetch_add(more_ns, std::memory_order_relaxed);
    }
  };
  std::unique_ptr<place[]> table_ = std::make_unique<place[]>(places);
};

}  // namespace quire::core
