// SPDX-License-Identifier: BSD-3-Clause
// What goes into the synchronisation machine and what comes out of it: calls of this node's threads, and actions for
// the engine or the simulator to perform, in order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/fault_heap.hpp"
#include "base/status.hpp"
#include "model/message.hpp"
#include "sync/object_id.hpp"

namespace quire::sync {

using model::message;

// clang-format off
/// One for each function of quire.h; a try or timed variant is the same operation.
enum class operation : std::uint8_t {
  mutex_create, mutex_lock, mutex_unlock, mutex_destroy,
  rwlock_create, rwlock_read_lock, rwlock_write_lock, rwlock_unlock, rwlock_destroy,
  condition_create, condition_wait, condition_notify_one, condition_notify_all, condition_destroy,
  barrier_create, barrier_wait, barrier_destroy,
  event_create, event_set, event_reset, event_wait, event_destroy,
  semaphore_create, semaphore_acquire, semaphore_release, semaphore_destroy,
  reduce_f64, reduce_i64, broadcast, await_nodes,
  group_create, group_destroy, group_join, group_leave,
  group_wait, group_reduce_f64, group_reduce_i64, group_broadcast,
};
inline constexpr operation last_operation = operation::group_broadcast;
// clang-format on

/// The kind of object that an operation is about; none for reduce, broadcast and await_nodes of the job.
[[nodiscard]] constexpr object_kind object_of(operation what) noexcept {
  if (what <= operation::mutex_destroy) return object_kind::mutex;
  if (what <= operation::rwlock_destroy) return object_kind::rwlock;
  if (what <= operation::condition_destroy) return object_kind::condition;
  if (what <= operation::barrier_destroy) return object_kind::barrier;
  if (what <= operation::event_destroy) return object_kind::event;
  if (what <= operation::semaphore_destroy) return object_kind::semaphore;
  return what >= operation::group_create ? object_kind::group : object_kind::none;
}

/// Calls of the API that consist of collectives. All collectives of one carry its name, so that they match those of no
/// other.
enum class meeting : std::uint8_t {
  none,  ///< the collective itself: quire_barrier_wait(), quire_reduce_f64() ...
  start,
  end,
  produce_end,
  set_consistency,
  block_begin,
  block_end,
  checkpoint,
  restore,
  group_create,
  group_destroy,
  adopt,
  gc_collect,
  last = gc_collect
};

/// Up to 192 bytes that travel as the payload of a message. Most calls have none: a copy takes what there is.
class value {
 public:
  static constexpr std::size_t capacity = 192;
  static constexpr std::size_t array_capacity = 64;  ///< of a group's arrays: larger ones travel in pieces
  value() noexcept {}  // a defaulted one would have all of it cleared wherever a call is made
  value(const value& other) noexcept : value(other.bytes()) {}
  value& operator=(const value& other) noexcept {
    size_ = other.size_;
    std::copy_n(other.bytes_.begin(), size_, bytes_.begin());
    return *this;
  }
  ~value() = default;
  /// Takes at most `capacity` bytes.
  explicit value(std::span<const std::byte> from) noexcept
      : size_(static_cast<std::uint8_t>(std::min(from.size(), capacity))) {
    std::copy_n(from.begin(), size_, bytes_.begin());
  }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {bytes_.data(), size_}; }
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {bytes_.data(), size_}; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::array<std::byte, capacity> bytes_;
  std::uint8_t size_ = 0;
};

/// A call of a thread of this node.
struct call {
  operation what{};
  bool try_only = false;     ///< answer QUIRE_BUSY rather than wait
  std::uint32_t thread = 0;  ///< number of the thread on this node; locks belong to it
  std::uint64_t token = 0;   ///< names the call in its completion; unique among the calls that wait on this node
  std::uint64_t object = 0;  ///< the handle, as the application gave it
  std::uint64_t now_ns =
      0;  ///< when, by a clock of this node; 0: the caller has none, and cannot perform action_kind::linger
  /// condition_wait: the mutex. semaphore_create, _release: count. barrier_create: participants. broadcast: root, a
  /// node or a member of the group. group_join: the place.
  std::uint64_t operand = 0;
  std::uint32_t count = 0;         ///< reduce: values; broadcast: bytes
  std::uint32_t combine = 0;       ///< reduce: quire_operation
  meeting within = meeting::none;  ///< collectives: the call of the API that this is a step of
  value values{};                  ///< reduce: this thread's; broadcast: the root's
  /// Collectives of groups with more than `value::array_capacity` bytes: the array, here and in the end; private memory
  /// that lasts until the call has ended. group_create: threads, a std::uint32_t for each node.
  std::span<std::byte> data{};
};

enum class action_kind : std::uint8_t {
  send,      ///< `m` with `values` as its payload to node `to`, which may be this node
  complete,  ///< the call of `token` has ended with `status`
  linger,    ///< machine::on_linger_over(`object`) is to be called after sync::linger_ns, or a little later
};

struct action {
  action_kind kind = action_kind::send;
  quire_status status = QUIRE_OK;  ///< complete
  node_id to{};                    ///< send
  std::uint64_t token = 0;         ///< complete
  std::uint64_t object = 0;        ///< complete: the new handle, after a create. linger: a mutex
  message m{};                     ///< send
  value values{};  ///< send: payload; complete: result of reduce and broadcast; of a refused collective a `mismatch`
  std::span<const std::byte> piece{};  ///< send: payload in place of `values`; to be copied before the next step
  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return piece.empty() ? values.bytes() : piece; }
};

/// The actions of one step, in order. Memory is kept, so that only the largest step so far allocates.
class actions {
 public:
  action& add(action_kind kind) {
    action& next = items_.emplace_back();
    next.kind = kind;
    return next;
  }
  action& complete(std::uint64_t token, quire_status status) {
    action& a = add(action_kind::complete);
    a.token = token;
    a.status = status;
    return a;
  }
  void clear() noexcept { items_.clear(); }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  [[nodiscard]] const action* begin() const noexcept { return items_.data(); }
  [[nodiscard]] const action* end() const noexcept { return items_.data() + items_.size(); }
  [[nodiscard]] const action& operator[](std::size_t i) const noexcept { return items_[i]; }

 private:
  base::fault_vector<action> items_;
};

}  // namespace quire::sync
