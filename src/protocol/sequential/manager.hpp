// SPDX-License-Identifier: BSD-3-Clause
// The manager's side: requests of a unit, one after the other (manager.cpp).
#pragma once

#include <cstdint>

#include "protocol/sequential/flush.hpp"
#include "protocol/sequential/node.hpp"
#include "protocol/sequential/replica_marks.hpp"
#include "protocol/sequential/unit_table.hpp"

namespace quire::sequential {

class manager_side {
 public:
  manager_side(unit_table& table, node_side& node, replica_marks& marks, flushes& stores) noexcept
      : table_(table), node_(node), marks_(marks), flushes_(stores) {}

  void on_request(const message& m, actions& out);
  void on_done(const message& m, actions& out);
  void on_manager_ack(const message& m, actions& out);
  void on_push_ack(const message& m, actions& out);

  [[nodiscard]] bool settle(const message& m, directory_entry& e, actions& out);
  void serve(std::uint64_t unit, directory_entry& e, actions& out);
  void finish(std::uint64_t unit, directory_entry& e, actions& out);

 private:
  [[nodiscard]] node_id neighbour_of(node_id node, const directory_entry& e) const;
  [[nodiscard]] bool has_neighbour(node_id node, const directory_entry& e) const;
  [[nodiscard]] bool settle_read(const message& m, directory_entry& e, actions& out);
  [[nodiscard]] bool settle_write(const message& m, directory_entry& e, actions& out);
  [[nodiscard]] bool writes_beside_others(std::uint64_t unit) const;
  [[nodiscard]] bool settle_atomic(const message& m, directory_entry& e, actions& out);
  void serve_read(const message& m, directory_entry& e, actions& out);
  void serve_write(const message& m, directory_entry& e, actions& out);
  void serve_atomic(const message& m, directory_entry& e, actions& out);
  void serve_push(const message& m, directory_entry& e, actions& out);
  void forward_atomic(const message& m, directory_entry& e, actions& out);
  void refuse_lost(const message& m, actions& out) const;

  unit_table& table_;
  node_side& node_;
  replica_marks& marks_;
  flushes& flushes_;
};

}  // namespace quire::sequential
