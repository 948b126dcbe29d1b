// SPDX-License-Identifier: BSD-3-Clause
// Diffs that are not known to be in the content of their homes: those of this node, counted by the nodes that they were
// sent to; or those of others that it has passed on, by the nodes that they came from. They form groups, of which two
// are on their way at most: diffs leave in the present one, and it becomes the one before when a message waits for it
// and the one before has arrived. So who waits for a group does not wait for diffs that leave later.
//
// Driver's thread only.
#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "base/fault_heap.hpp"
#include "model/ids.hpp"

namespace quire::release {

class diff_groups {
 public:
  static constexpr unsigned any = 2;

  explicit diff_groups(unsigned nodes) {
    present_.of.resize(nodes);
    before_.of.resize(nodes);
  }

  /// The group in which diffs leave now. The first is 1.
  [[nodiscard]] std::uint64_t present() const noexcept { return number_; }
  /// The last group in which a diff has left that is on its way; a smaller one if none is.
  [[nodiscard]] std::uint64_t last_used() const noexcept { return present_.all != 0 ? number_ : number_ - 1; }
  /// All diffs of the groups up to this one have arrived.
  [[nodiscard]] std::uint64_t settled() const noexcept {
    return before_.all != 0 ? number_ - 2 : present_.all != 0 ? number_ - 1 : number_;
  }
  /// None of the diffs of `n` that left in groups up to `last` is on its way.
  [[nodiscard]] bool settled_of(model::node_id n, std::uint64_t last) const noexcept {
    return (last < number_ || present_.of[n.value()] == 0) && (last + 1 < number_ || before_.of[n.value()] == 0);
  }
  /// Of the groups up to `last` none but diffs to `to` are on their way: whatever is sent to `to` now comes behind all
  /// of them.
  [[nodiscard]] bool lead_only_to(model::node_id to, std::uint64_t last) const noexcept {
    if (last >= number_ && present_.all != present_.of[to.value()]) return false;
    return last + 1 < number_ || before_.all == before_.of[to.value()];
  }
  [[nodiscard]] bool any_to(model::node_id to) const noexcept {
    return present_.of[to.value()] + before_.of[to.value()] != 0;
  }

  /// A diff leaves. What to say of it when it has arrived.
  unsigned sent(model::node_id to) noexcept {
    ++present_.of[to.value()];
    ++present_.all;
    return static_cast<unsigned>(number_ % 2);
  }
  /// `count` diffs that were sent to `to` have arrived. Of diffs whose group is not known, the later ones are taken to
  /// be there first: nothing is told too early.
  void arrived(model::node_id to, std::uint32_t count, unsigned group) noexcept {
    std::uint32_t& late = present_.of[to.value()];
    std::uint32_t& early = before_.of[to.value()];
    const bool known_late = group != any && group == number_ % 2;
    CHECK(count <= std::uint64_t{late} + early && (!known_late || count <= late) &&
          (group == any || known_late || count <= early));
    const std::uint32_t of_late = group == any ? (count < late ? count : late) : known_late ? count : 0;
    late -= of_late;
    present_.all -= of_late;
    early -= count - of_late;
    before_.all -= count - of_late;
  }
  /// The group before the present one has arrived.
  [[nodiscard]] bool may_turn() const noexcept { return before_.all == 0; }
  void turn() noexcept {
    CHECK(may_turn());
    ++number_;
    before_.of.swap(present_.of);  // zeroes come back
    before_.all = present_.all;
    present_.all = 0;
  }

 private:
  struct group {
    std::uint64_t all = 0;
    base::fault_vector<std::uint32_t> of{};  ///< by node
  };
  std::uint64_t number_ = 1;
  group present_{}, before_{};
};

}  // namespace quire::release
