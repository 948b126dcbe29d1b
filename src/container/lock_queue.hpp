// SPDX-License-Identifier: BSD-3-Clause
// Who waits for locks of ranges (lock_table.hpp), in the order in which they came, for the whole job. Who waits asks
// again and again; here stands whether it is its turn. Pure; in processes the driver of node 0 has it. lock_queue.cpp.
//
// A request does not get what an earlier one waits for, too: nobody waits for ever because others take turns. But an
// earlier one that itself waits for the later one's owner, through whatever others, does not stop it. So what cannot go
// on are owners of locks of fcntl that wait for each other's locks in a circle, and who closes the circle is told.
#pragma once

#include <cstdint>

#include "base/fault_heap.hpp"
#include "container/lock_table.hpp"

namespace quire::container {

/// What is to happen if a lock is not free.
enum class lock_wait : std::uint8_t {
  none,
  queues,     ///< it waits: the same is asked for again, until it is done or withdrawn
  withdraws,  ///< it waits no more. Always done
};

class lock_queue {
 public:
  static constexpr std::size_t most_waiting =
      4096;  ///< of all containers; each is looked for in the order of the queue
  enum class outcome : std::uint8_t { done, in_the_way, full, deadlock };

  [[nodiscard]] outcome set(std::uint16_t container, const range_lock& wanted, lock_wait how);
  [[nodiscard]] const range_lock* conflict(std::uint16_t container, const range_lock& wanted) const noexcept {
    return held_.conflict(container, wanted);
  }
  /// The container has gone, and nobody can wait for its locks.
  void drop(std::uint16_t container) noexcept;
  /// The node is lost, and with it all owners there: they hold nothing, and wait for nothing.
  void lost(unsigned node) noexcept;
  [[nodiscard]] std::size_t count() const noexcept { return held_.count(); }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }

 private:
  struct request {
    std::uint16_t container;
    range_lock wanted;
  };
  using owners = base::fault_vector<lock_owner>;
  [[nodiscard]] std::size_t place_of(std::uint16_t container, const range_lock& wanted) const noexcept;
  /// Whether `from` waits, through whatever others, for a lock of `to`; with `behind` also for who came earlier.
  [[nodiscard]] bool waits_for(const lock_owner& from, const lock_owner& to, bool behind) const;
  void add_hindering(std::size_t place, bool behind, owners& into) const;
  [[nodiscard]] bool has_turn(std::size_t place) const;

  lock_table held_{};
  base::fault_vector<request> waiting_{};  ///< as they came
};

}  // namespace quire::container
