// SPDX-License-Identifier: BSD-3-Clause
// What transactions do with the machines of their regions, of whichever kind a job has: undo, hide, and know them.
#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "protocol/contract/known_regions.hpp"
#include "protocol/transaction/domain.hpp"

namespace quire::transaction {

template <class Machine>
class domain_of : public domain {
 public:
  void undo() override {
    CHECK(!under_way_);
    word_.end();
    for (const written_unit& w : writes_) {
      actions_.clear();
      machine_of(w).on_undo(w.unit, actions_);
      agenda_.perform(w.region, actions_);
    }
    agenda_.perform_all();
    writes_.clear();
  }
  void hide(model::region_id region, std::uint64_t first, std::uint64_t count) override {
    Machine* const units = machine_of(region);
    if (units == nullptr) return;
    word_.end();
    for (std::uint64_t unit = first; unit != first + count; ++unit) {
      actions_.clear();
      units->on_hide(unit, actions_);
      agenda_.perform(region, actions_);
    }
    agenda_.perform_all();
  }
  void on_region(model::region_id region, model::machine& in_charge, std::uint32_t life) noexcept override {
    regions_.set(region, in_charge.protocol() == id ? static_cast<Machine*>(&in_charge) : nullptr, life);
  }
  void forget(model::region_id region) override {
    regions_.forget(region);
    domain::forget(region);
  }

 protected:
  using domain::domain;
  /// Null if there is no such region any more, or one that is not transactional has its number.
  [[nodiscard]] Machine* machine_of(model::region_id region) const noexcept { return regions_.machine_of(region); }
  [[nodiscard]] Machine& machine_of(const written_unit& w) const noexcept { return *regions_.machine_of(w.region); }
  [[nodiscard]] std::uint32_t life_of(model::region_id region) const noexcept { return regions_.life_of(region); }

 private:
  protocol::known_regions<Machine> regions_{};
};

}  // namespace quire::transaction
