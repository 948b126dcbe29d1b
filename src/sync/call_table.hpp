// SPDX-License-Identifier: BSD-3-Clause
// The calls of this node's threads that wait. A ticket names a slot and its generation; it travels in messages, and one
// that comes back late finds nothing. A slot can stand in one list (the threads of this node that wait for one mutex or
// one barrier). Memory is kept: nothing is allocated once as many threads have waited as ever will at one time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fault_heap.hpp"
#include "sync/call.hpp"

namespace quire::sync {

using ticket = base::strong<struct ticket_tag, std::uint64_t>;

/// How far a condition_wait has come; the others stay at `asked`.
enum class phase : std::uint8_t {
  asked,      ///< the request is on its way; a condition_wait still holds its mutex
  released,   ///< in the condition's queue, the mutex is released
  reacquire,  ///< woken, waits for the mutex; `result` is set
};

struct waiting_call {
  bool live = false;
  bool listed = false;  ///< in a call_list
  bool try_only = false;
  operation what{};
  phase at = phase::asked;
  quire_status result = QUIRE_OK;
  std::uint32_t generation = 0;
  std::uint32_t thread = 0;
  std::uint32_t next = 0, previous = 0;
  std::uint64_t token = 0;
  object_id object{};
  object_id mutex{};  ///< condition_wait
};

/// Slots in the order in which they came; the oldest first.
struct call_list {
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  std::uint32_t head = nobody, tail = nobody;
  [[nodiscard]] bool empty() const noexcept { return head == nobody; }
};

class call_table {
 public:
  /// A slot for `c`.
  [[nodiscard]] ticket add(const call& c);
  /// Null if the call has ended.
  [[nodiscard]] waiting_call* find(ticket t) noexcept;
  /// The waiting call with the caller's token, or ticket 0. Looks at every waiting call of the node: for cancels only.
  [[nodiscard]] ticket find_token(std::uint64_t token) const noexcept;
  /// Frees the slot of a live ticket, which must be in no list, and completes the call.
  action& finish(ticket t, quire_status status, actions& out);

  void push(call_list& list, ticket t) noexcept;
  [[nodiscard]] ticket front(const call_list& list) const noexcept { return ticket_of(list.head); }
  ticket pop(call_list& list) noexcept;
  void remove(call_list& list, ticket t) noexcept;

  template <class F>
  void for_each(F&& f) {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].live) f(ticket_of(i), slots_[i]);
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size() - free_.size(); }
  /// Calls that have waited and ended.
  [[nodiscard]] std::uint64_t ended() const noexcept { return ended_; }

 private:
  [[nodiscard]] ticket ticket_of(std::uint32_t index) const noexcept {
    return ticket{(std::uint64_t{slots_[index].generation} << 32) | index};
  }
  base::fault_vector<waiting_call> slots_;
  base::fault_vector<std::uint32_t> free_;
  std::uint64_t ended_ = 0;
};

}  // namespace quire::sync
