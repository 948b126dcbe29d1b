// SPDX-License-Identifier: BSD-3-Clause
// The protocols that regions of this node may have, and their domains. What concerns memory as a whole, a release or an
// acquire, concerns the domains of all protocols whose consistency is weaker than sequential. What a domain is told of
// it may ask for actions, which are performed before the call returns. Driver's thread.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "core/region_slot.hpp"
#include "protocol/contract/row.hpp"

namespace quire::core {

class node_effects;

class protocol_set {
 public:
  /// The rows outlive it; no two have the same number.
  protocol_set(std::span<const protocol::row* const> rows, const protocol::job& node, node_effects& to);
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

  /// Tells a domain of an event, and performs what it asks for: `event(d)`.
  template <class Domain, class Event>
  void feed(Domain& d, Event&& event) const {
    protocol::feed(d, event, [this, &d](const protocol::domain_action& a) { perform(d, a); });
  }

  // All domains of a weaker consistency, or that of a region.
  void acquire() const {
    for (protocol::domain* d : relaxed_) acquire(*d);
  }
  void acquire(protocol::domain& d) const {
    feed(d, [](protocol::domain& of) { of.acquire(); });
  }
  void release(bool all_end) const {
    for (protocol::domain* d : relaxed_) release(*d, all_end);
  }
  void release(protocol::domain& d, bool all_end) const {
    if (std::ranges::find(relaxed_, &d) == relaxed_.end()) return;
    find_written();
    feed(d, [all_end](protocol::domain& of) { of.release(all_end); });
  }
  void release_ahead(model::node_id next) const {
    find_written();
    for (protocol::domain* d : relaxed_) feed(*d, [next](protocol::domain& of) { of.release_ahead(next); });
  }
  void relieve(const region_slot& r) const {
    feed(domain_of(r), [](protocol::domain& of) { of.relieve(); });
  }
  void on_met() const {
    for (protocol::domain* d : relaxed_) d->on_met();
  }
  /// What they remember of the rounds of a group.
  using marks = std::array<protocol::round_marks, region_slot::most_protocols>;
  void on_gathered(marks& group) const {
    for (std::size_t i = 0; i < relaxed_.size(); ++i) relaxed_[i]->on_gathered(group[i]);
  }
  void on_round_end(marks& group, bool refused) const {
    for (std::size_t i = 0; i < relaxed_.size(); ++i) {
      feed(*relaxed_[i],
           [&](protocol::domain& of) { refused ? of.on_round_refused(group[i]) : of.on_epoch(group[i]); });
    }
  }
  [[nodiscard]] bool leaves(model::node_id to, const model::message& m, std::span<const std::byte> value,
                            model::edge what) const {
    if (what == model::edge::releases) find_written();
    bool taken = false;
    for (protocol::domain* d : relaxed_) {
      feed(*d, [&](protocol::domain& of) { taken = of.leaves(to, m, value, what); });
      if (taken) return true;
    }
    return false;
  }
  /// A node has died, and the others go on.
  void cut(std::uint64_t dead) const {
    for (protocol::domain* d : relaxed_) feed(*d, [dead](protocol::domain& of) { of.cut(dead); });
  }
  void rebuild() const {
    for (protocol::domain* d : relaxed_) d->rebuild();
  }
  // All domains that tell something before messages that synchronise.
  void tell(model::node_id to) const {
    for (protocol::domain* d : telling_) feed(*d, [to](protocol::domain& of) { of.tell(to); });
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
  void perform(protocol::domain& d, const protocol::domain_action& a) const noexcept;
  void find_written() const noexcept;

  struct entry {
    const protocol::row* what = nullptr;
    std::unique_ptr<protocol::domain> shared{};
  };
  std::span<const protocol::row* const> rows_;
  protocol::job node_;
  node_effects& to_;
  std::array<entry, region_slot::most_protocols> by_id_{};
  std::vector<protocol::domain*> relaxed_{}, telling_{};
};

}  // namespace quire::core
