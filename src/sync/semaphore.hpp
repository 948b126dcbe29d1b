// SPDX-License-Identifier: BSD-3-Clause
// Counting semaphores, kept at their home: first come first served.
#pragma once

#include "sync/context.hpp"
#include "sync/object_table.hpp"
#include "sync/saved.hpp"

namespace quire::sync {

class semaphore_part {
 public:
  explicit semaphore_part(context& c) : shared_(c) {}
  [[nodiscard]] object_id create(std::uint64_t initial);
  void on_request(const message& m, actions& out);
  /// Takes a call out of the queue; false if it is not there.
  bool withdraw(const message& m);
  /// Nodes have died: their threads wait no longer.
  void cut() noexcept;
  [[nodiscard]] bool is_valid() const noexcept;
  /// For checkpoints: those whose home is here, and their counts.
  void save(std::vector<saved_object>& to) const;
  void load(object_id id, std::uint64_t count);

 private:
  struct entry {
    std::uint64_t count = 0;
    waiter_queue queue{};
  };
  void on_acquire(const message& m, entry& e, actions& out);
  void on_release(const message& m, entry& e, actions& out);

  context& shared_;
  object_table<entry> home_;
};

}  // namespace quire::sync
