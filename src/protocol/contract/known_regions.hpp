// SPDX-License-Identifier: BSD-3-Clause
// The regions of a node, by number, as a domain knows them: which of all that have had the number it is, and its
// machine, if that is one of the domain's protocol. A region comes on any thread, before anybody knows it; all else is
// the driver's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/fault_heap.hpp"
#include "base/published.hpp"
#include "model/ids.hpp"

namespace quire::protocol {

template <class Machine>
class known_regions {
 public:
  /// Of a region that is not here, as this node has not heard of it yet, or has given it up: nothing told of it counts.
  static constexpr std::uint32_t no_life = ~std::uint32_t{0};

  known_regions() = default;
  known_regions(const known_regions&) = delete;
  known_regions& operator=(const known_regions&) = delete;
  ~known_regions() {
    for (const auto& place : pages_) {
      if (page* const p = place.get(); p != nullptr) base::fault_delete<page>{}(p);
    }
  }

  /// Null: another protocol decides for it.
  void set(model::region_id region, Machine* in_charge, std::uint32_t life) noexcept {
    entry& e = make(region);
    e.life.set(std::uint64_t{life} + 1);
    e.in_charge.set(in_charge);
  }
  void forget(model::region_id region) noexcept {
    entry* const e = find(region);
    if (e == nullptr) return;
    e->in_charge.set(nullptr);
    e->life.set(0);
  }
  [[nodiscard]] Machine* machine_of(model::region_id region) const noexcept {
    const entry* const e = find(region);
    return e != nullptr ? e->in_charge.get() : nullptr;
  }
  [[nodiscard]] std::uint32_t life_of(model::region_id region) const noexcept {
    const entry* const e = find(region);
    const std::uint64_t life = e != nullptr ? e->life.get() : 0;
    return life != 0 ? static_cast<std::uint32_t>(life - 1) : no_life;
  }

 private:
  struct entry {
    base::published<Machine*> in_charge{};
    base::published<std::uint64_t> life{};  ///< and one; 0: there is no such region
  };
  static constexpr std::size_t of_page = 256;
  using page = std::array<entry, of_page>;

  [[nodiscard]] entry* find(model::region_id region) const noexcept {
    page* const p = pages_[region.value() / of_page].get();
    return p != nullptr ? &(*p)[region.value() % of_page] : nullptr;
  }
  [[nodiscard]] entry& make(model::region_id region) noexcept {
    base::published<page*>& place = pages_[region.value() / of_page];
    if (place.get() == nullptr) {
      auto made = base::make_fault<page>();
      if (place.replace(nullptr, made.get())) (void)made.release();  // two threads may make it
    }
    return *find(region);
  }

  std::array<base::published<page*>, 65'536 / of_page> pages_{};
};

}  // namespace quire::protocol
