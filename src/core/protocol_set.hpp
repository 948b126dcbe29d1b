// SPDX-License-Identifier: BSD-3-Clause
// The protocols that regions of this node may have, and their domains. What concerns memory as a whole, a release or an
// acquire, concerns the domains of all protocols whose consistency is weaker than sequential. Driver's thread.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "core/region_slot.hpp"
#include "protocol/contract/row.hpp"

namespace quire::core {

class protocol_set {
 public:
  /// The rows outlive it; no two have the same number.
  protocol_set(std::span<const protocol::row* const> rows, const protocol::job& node, protocol::domain::effects& to);
  protocol_set(const protocol_set&) = delete;
  protocol_set& operator=(const protocol_set&) = delete;

  [[nodiscard]] std::span<const protocol::row* const> rows() const noexcept { return rows_; }
  /// Null if there is none.
  [[nodiscard]] const protocol::row* find(model::protocol_id id) const noexcept {
    return id.value() < by_id_.size() ? by_id_[id.value()].what : nullptr;
  }
  [[nodiscard]] const protocol::abilities& of(const region_slot& r) const noexcept { return r.can(); }
  /// Of a protocol that the node has.
  [[nodiscard]] protocol::domain& domain(model::protocol_id id) const noexcept { return *by_id_[id.value()].shared; }
  [[nodiscard]] protocol::domain& domain_of(const region_slot& r) const noexcept {
    return domain(r.machine->protocol());
  }
  /// Null, with errno in `error`, if there is no memory for it.
  [[nodiscard]] std::unique_ptr<model::machine> make_machine(const protocol::row& of,
                                                             const protocol::region_shape& shape, int& error) const {
    return of.make_machine(node_, shape, domain(of.id), error);
  }

  // All domains of a weaker consistency.
  void acquire() const {
    for (protocol::domain* d : relaxed_) d->acquire();
  }
  void release(bool all_end) const {
    for (protocol::domain* d : relaxed_) d->release(all_end);
  }
  void release_ahead(model::node_id next) const {
    for (protocol::domain* d : relaxed_) d->release_ahead(next);
  }
  /// What they remember of the rounds of a group.
  using marks = std::array<protocol::round_marks, region_slot::most_protocols>;
  void on_gathered(marks& group) const {
    for (std::size_t i = 0; i < relaxed_.size(); ++i) relaxed_[i]->on_gathered(group[i]);
  }
  void on_round_end(marks& group, bool refused) const {
    for (std::size_t i = 0; i < relaxed_.size(); ++i)
      refused ? relaxed_[i]->on_round_refused(group[i]) : relaxed_[i]->on_epoch(group[i]);
  }
  [[nodiscard]] bool leaves(model::node_id to, const model::message& m, std::span<const std::byte> value,
                            model::edge what) const {
    for (protocol::domain* d : relaxed_) {
      if (d->leaves(to, m, value, what)) return true;
    }
    return false;
  }
  // All domains that tell something before messages that synchronise.
  void tell(model::node_id to) const {
    for (protocol::domain* d : telling_) d->tell(to);
  }
  [[nodiscard]] bool waits(const model::message& m, std::span<const std::byte> value) const {
    return std::ranges::any_of(telling_, [&](protocol::domain* d) { return d->waits(m, value); });
  }
  [[nodiscard]] bool keeps_back(const model::message& m, std::span<const std::byte> value) const {
    for (protocol::domain* d : relaxed_) {
      if (d->keeps_back(m, value)) return true;
    }
    return false;
  }
  // Of any domain.
  [[nodiscard]] bool commits() const {
    for (const entry& e : by_id_) {
      if (e.shared != nullptr && e.shared->commits()) return true;
    }
    return false;
  }
  [[nodiscard]] bool busy() const {
    for (const entry& e : by_id_) {
      if (e.shared != nullptr && e.shared->busy()) return true;
    }
    return false;
  }

 private:
  struct entry {
    const protocol::row* what = nullptr;
    std::unique_ptr<protocol::domain> shared{};
  };
  std::span<const protocol::row* const> rows_;
  protocol::job node_;
  std::array<entry, region_slot::most_protocols> by_id_{};
  std::vector<protocol::domain*> relaxed_{}, telling_{};
};

}  // namespace quire::core
