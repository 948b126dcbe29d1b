// SPDX-License-Identifier: BSD-3-Clause
// A heap is about to cut pages into minipages (heap/minipage_heap.hpp): all nodes write that into their tables, and say
// so, before an address of the pages is handed out. So no fault has to ask anybody where a minipage begins. Millipage
// keeps that table on one node (section 2.3), and asks it.
//
// The node whose slice it is tells all, itself too, by notices. Nobody waits for the dead. Who tells nonsense is
// refused, and the node ends, as with any other message: a page that is divided wrongly would show threads what is not
// theirs. Driver's thread, all of it.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>

#include "base/fault_heap.hpp"
#include "base/status.hpp"
#include "core/core.hpp"
#include "heap/allocator.hpp"
#include "model/message.hpp"
#include "region/announcement.hpp"

namespace quire::region {

class announcements {
 public:
  /// Of the region of this handle: all nodes that live know the plan now, or `why` they do not.
  using listener = void (*)(void* context, std::uint64_t handle, const heap::span_plan& plan,
                            base::status why) noexcept;

  /// Whether these addresses of the region of this handle lie in a part of its heap that `node` has.
  using question_of_owner = bool (*)(void* context, std::uint64_t handle, std::uint64_t first, std::uint64_t bytes,
                                     model::node_id node) noexcept;

  explicit announcements(core::core& e) : core_(e) {}
  /// Answers the services. Before the engine starts.
  void open(listener done, question_of_owner owns, void* context);
  void tell_all(std::uint64_t handle, const heap::span_plan& plan);

 private:
  struct question {
    std::uint64_t handle = 0;
    heap::span_plan plan{};
    unsigned left = 0;
    std::bitset<model::max_nodes> answered{};
    base::status why{};
  };
  [[nodiscard]] base::status lay(const model::message& m, const announcement& what) noexcept;
  void on_notice(const model::message& m, std::span<const std::byte> value) noexcept;
  void on_answer(const model::message& m) noexcept;
  void count(std::uint64_t number, unsigned node, base::status why) noexcept;
  void on_death(unsigned node) noexcept;

  core::core& core_;
  listener done_ = nullptr;
  question_of_owner owns_ = nullptr;
  void* context_ = nullptr;
  std::uint64_t number_ = 0;
  base::fault_map<std::uint64_t, question> questions_{};
};

}  // namespace quire::region
