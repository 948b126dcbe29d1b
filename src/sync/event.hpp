// SPDX-License-Identifier: BSD-3-Clause
// Events, kept at their home: one that is set lets every waiter pass until it is reset (KOAN).
#pragma once

#include "sync/context.hpp"
#include "sync/object_table.hpp"
#include "sync/saved.hpp"

namespace quire::sync {

class event_part {
 public:
  explicit event_part(context& c) : shared_(c) {}
  [[nodiscard]] object_id create();
  void on_request(const message& m, actions& out);
  /// Takes a call out of the queue; false if it is not there.
  bool withdraw(const message& m);
  /// Nodes have died: their threads wait no longer.
  void cut() noexcept;
  [[nodiscard]] bool is_valid() const noexcept;
  /// For checkpoints: those whose home is here, and whether they are set.
  void save(std::vector<saved_object>& to) const;
  void load(object_id id, std::uint64_t set);

 private:
  struct entry {
    bool set = false;
    waiter_queue queue{};
  };
  context& shared_;
  object_table<entry> home_;
};

}  // namespace quire::sync
