// SPDX-License-Identifier: BSD-3-Clause
// Threads that wait for units: woken when a unit has come, or may be asked for again. Driver's thread only; no heap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/ops.hpp"
#include "core/region_slot.hpp"
#include "core/waiting.hpp"

namespace quire::core {

class unit_waiters {
 public:
  void add(fault_op& o) noexcept {
    fault_op*& first = waiters_[bucket_of(*o.region, o.unit)];
    o.next_waiter = first;
    first = &o;
    ++waiting_;
  }
  /// `o` waits no longer, if it did.
  void remove(const fault_op& o) noexcept {
    for (fault_op** link = &waiters_[bucket_of(*o.region, o.unit)]; *link != nullptr; link = &(*link)->next_waiter) {
      if (*link != &o) continue;
      *link = o.next_waiter;
      --waiting_;
      return;
    }
  }
  /// All that wait for units of a range are done.
  void wake(const region_slot& r, std::uint64_t first, std::uint64_t count) noexcept { end(r, first, count, {}); }
  /// What was asked for cannot be had. Who joined it later asks anew: `why` is older than his question.
  void end(const region_slot& r, std::uint64_t first, std::uint64_t count, base::status why) noexcept {
    for (std::uint64_t unit = first; waiting_ != 0 && unit < first + count; ++unit) {
      for (fault_op** link = &waiters_[bucket_of(r, unit)]; *link != nullptr;) {
        fault_op* const o = *link;
        if (o->region.get() != &r || o->unit != unit) {
          link = &o->next_waiter;
          continue;
        }
        *link = o->next_waiter;
        --waiting_;
        o->anew = o->joined && !why.ok();
        o->complete(o->anew ? base::status{} : why);
      }
    }
  }

  /// All that wait for units of a region are done.
  void end(const region_slot& r, base::status why) noexcept {
    for (fault_op*& first : waiters_) {
      for (fault_op** link = &first; *link != nullptr;) {
        fault_op* const o = *link;
        if (o->region.get() != &r) {
          link = &o->next_waiter;
          continue;
        }
        *link = o->next_waiter;
        --waiting_;
        o->complete(why);
      }
    }
  }

 private:
  static constexpr std::size_t buckets = 256;
  [[nodiscard]] static std::size_t bucket_of(const region_slot& r, std::uint64_t unit) noexcept {
    return (unit * 0x9e3779b97f4a7c15u >> 56 ^ r.about.id) % buckets;
  }
  std::array<fault_op*, buckets> waiters_{};
  std::size_t waiting_ = 0;
};

/// The calling thread is about to wait for a unit, if it has to. Any thread.
[[nodiscard]] note_scope note_memory(const char* name, const region_slot& r, std::uint64_t unit) noexcept;

}  // namespace quire::core
