// SPDX-License-Identifier: BSD-3-Clause
// Push, and page broadcasting (KOAN): a phase in which threads of this node write a range, and all others read it
// afterwards (push.cpp).
#pragma once

#include <cstdint>

#include "protocol/sequential/node.hpp"
#include "protocol/sequential/replica_marks.hpp"
#include "protocol/sequential/unit_table.hpp"

namespace quire::sequential {

class broadcasts final : public model::broadcasting {
 public:
  broadcasts(unit_table& table, node_side& node, replica_marks& marks) noexcept
      : table_(table), node_(node), marks_(marks) {}

  void on_push(std::uint64_t unit, std::uint64_t token, actions& out) override;
  void on_produce_begin(std::uint64_t unit, actions& out) override;
  /// True if this node has written `unit` in the phase, and nobody else since: push it.
  [[nodiscard]] bool on_produce_end(std::uint64_t unit) override;
  void on_fetch_push(const message& m, actions& out);
  void on_push_copy(const message& m, actions& out);

 private:
  void push_on(const message& m, node_id owner, actions& out);
  void send_copy(node_id to, message copy, const unit_state& s, actions& out);

  unit_table& table_;
  node_side& node_;
  replica_marks& marks_;
};

}  // namespace quire::sequential
