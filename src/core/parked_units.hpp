// SPDX-License-Identifier: BSD-3-Clause
// What waits for the content of units: operations, messages, and faults of threads that the kernel holds, a queue a
// frame. Driver's thread only; no heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/fault_heap.hpp"
#include "core/op.hpp"
#include "core/region_slot.hpp"
#include "model/message.hpp"

namespace quire::core {

struct parked_unit {
  region_slot* region = nullptr;
  std::uint64_t frame = 0;
  // One of these.
  op* operation = nullptr;
  model::message m{};         ///< of one unit; of no kind: there is none
  std::uint64_t address = 0;  ///< of a fault that the kernel tells
  bool write = false;
};

class parked_units {
 public:
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] bool has(const region_slot& r, std::uint64_t frame) const noexcept {
    if (empty()) return false;
    const list& bucket = buckets_[bucket_of(r, frame)];
    return std::any_of(bucket.begin(), bucket.end(),
                       [&](const parked_unit& p) { return p.region == &r && p.frame == frame; });
  }
  [[nodiscard]] bool has_any_of(const region_slot& r) const noexcept {
    const auto of_it = [&](const parked_unit& p) { return p.region == &r; };
    return !empty() && std::any_of(buckets_.begin(), buckets_.end(),
                                   [&](const list& b) { return std::any_of(b.begin(), b.end(), of_it); });
  }
  /// Behind all others of its frame.
  void push(const parked_unit& p) noexcept {
    buckets_[bucket_of(*p.region, p.frame)].push_back(p);
    ++count_;
  }
  /// Takes the first of a frame. False if there is none.
  [[nodiscard]] bool pop(const region_slot& r, std::uint64_t frame, parked_unit& first) noexcept {
    return take(
        r, frame, [](const parked_unit&) { return true; }, first);
  }
  /// Takes all messages, in the order of each frame. What this node's own threads wait for stays.
  template <class F>
  void take_messages(F&& f) noexcept {
    for (list& b : buckets_) {
      list taken;
      const auto is_message = [](const parked_unit& p) { return p.m.kind != model::message_kind::invalid; };
      std::copy_if(b.begin(), b.end(), std::back_inserter(taken), is_message);
      count_ -= std::erase_if(b, is_message);
      for (const parked_unit& p : taken) f(p);
    }
  }
  /// `o` waits no longer, if it did.
  void remove(const region_slot& r, std::uint64_t frame, const op& o) noexcept {
    parked_unit removed;
    (void)take(
        r, frame, [&](const parked_unit& p) { return p.operation == &o; }, removed);
  }

 private:
  using list = base::fault_vector<parked_unit>;
  static constexpr std::size_t buckets = 256;
  [[nodiscard]] static std::size_t bucket_of(const region_slot& r, std::uint64_t frame) noexcept {
    return (frame * 0x9e3779b97f4a7c15u >> 56 ^ r.about.id) % buckets;
  }
  template <class Predicate>
  [[nodiscard]] bool take(const region_slot& r, std::uint64_t frame, Predicate&& which, parked_unit& taken) noexcept {
    if (empty()) return false;
    list& b = buckets_[bucket_of(r, frame)];
    const auto found = std::find_if(
        b.begin(), b.end(), [&](const parked_unit& p) { return p.region == &r && p.frame == frame && which(p); });
    if (found == b.end()) return false;
    taken = *found;
    b.erase(found);
    --count_;
    return true;
  }
  std::array<list, buckets> buckets_{};
  std::size_t count_ = 0;
};

}  // namespace quire::core
