// SPDX-License-Identifier: BSD-3-Clause
// Content that stays where it is and what it is while a checkpoint writes it, and content that comes from files at a
// restart: hold.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "core/kept_run.hpp"
#include "core/region_slot.hpp"

namespace quire::core {

class core;
struct totals;

class content_hold {
 public:
  explicit content_hold(core& node) : core_(node) {}

  /// One thread of each node calls, and waits for the others: from its return to let_go() content stays where it is and
  /// what it is. Threads that write shared memory, or need more of it than they have, wait; only regions that find
  /// writes by scans go on changing. QUIRE_INVALID on all nodes if a region is in a parallel block, QUIRE_BUSY if some
  /// units are pinned; then nothing is held.
  [[nodiscard]] base::status hold() noexcept;
  void let_go() noexcept;
  // Node 0, driver's thread: no region is made from hold() to let_go(), and hold() waits for those that are being made.
  [[nodiscard]] bool is_under_way() const noexcept { return under_way_; }
  void on_making(bool begins) noexcept { making_ += begins ? 1 : -1; }
  /// Of all regions, or of one. Not what a store keeps beyond the job (region_slot::backing) and memory has no newer
  /// version of.
  [[nodiscard]] std::vector<kept_run> kept(const region_slot* only = nullptr) noexcept;
  /// The rest of a region that has such a store, up to byte `bytes`: units that this node keeps, and whose last version
  /// the store gives.
  [[nodiscard]] std::vector<kept_run> kept_in_backing(region_slot& r, std::uint64_t bytes) noexcept;
  /// Content of a unit of kept() that is not in memory. 0 or errno. Any thread.
  [[nodiscard]] int read_paged_out(const region_slot& r, std::uint64_t unit, std::span<std::byte> into) const noexcept;
  /// At a restart: units of a region that nobody has used yet, whose manager this node is, get the content that they
  /// have in another store. QUIRE_DAMAGED if that cannot be read from there; QUIRE_SYSTEM, and a line, if it cannot be
  /// kept here.
  [[nodiscard]] base::status adopt(region_slot& r, std::uint64_t first, std::uint64_t count,
                                   store::store& from) noexcept;

 private:
  void freeze_all(totals& t) noexcept;
  void stop_writers(totals& t) noexcept;
  void wait_for_stores() noexcept;
  [[nodiscard]] bool is_in_backing(const region_slot& r, std::uint64_t unit) const noexcept;

  core& core_;
  bool writers_stopped_ = false, under_way_ = false;
  int making_ = 0;
};

}  // namespace quire::core
