// SPDX-License-Identifier: BSD-3-Clause
// A queue between threads of all nodes: work goes in on one node and comes out on another.
//
//     auto work = quire::from_node(0, [] { return quire::channel<task>::create(100); });
//     if (job.node() == 0) { for (...) work.send(t); work.close(); }
//     while (auto t = work.receive()) ...            // any thread of any node; empty at the end
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>

#include <quire/memory.hpp>
#include <quire/sync.hpp>

namespace quire {

/// A handle of a queue of at most so many values; copies name the same one. First in, first out. A value that has been
/// received has been written before, with all that its sender wrote before it sent it.
template <class T>
class channel {
  static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>, "values travel as bytes");

 public:
  /// For `capacity` values. One thread makes it, and gives it to the others.
  [[nodiscard]] static channel create(std::size_t capacity) {
    if (capacity == 0) throw error(QUIRE_INVALID, "channel::create", "a channel has room for one value at least");
    channel c;
    c.state_ = new_object<state>();
    c.state_->capacity = capacity;
    c.state_->values = allocator<T>{}.allocate(capacity);
    c.state_->guard = mutex::create();
    c.state_->more = condition_variable::create();
    c.state_->room = condition_variable::create();
    return c;
  }
  /// Once nobody uses it any more. Values that are in it are gone.
  void destroy() {
    state_->more.destroy();
    state_->room.destroy();
    state_->guard.destroy();
    allocator<T>{}.deallocate(state_->values, state_->capacity);
    delete_object(state_);
    state_ = nullptr;
  }
  /// True if it names a channel.
  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

  /// Waits for room. False if the channel is closed: then nobody gets the value.
  bool send(const T& value) const {
    std::unique_lock lock(state_->guard);
    state_->room.wait(lock, [this] { return state_->closed || state_->count() < state_->capacity; });
    return put(value);
  }
  /// The same without waiting; false also if there is no room.
  [[nodiscard]] bool try_send(const T& value) const {
    const std::unique_lock lock(state_->guard);
    return state_->count() < state_->capacity && put(value);
  }
  /// Waits for a value. None if the channel is closed, and all that was sent has been received.
  [[nodiscard]] std::optional<T> receive() const {
    std::unique_lock lock(state_->guard);
    state_->more.wait(lock, [this] { return state_->closed || state_->count() != 0; });
    return take();
  }
  /// The same without waiting; none also if there is nothing just then.
  [[nodiscard]] std::optional<T> try_receive() const {
    const std::unique_lock lock(state_->guard);
    return take();
  }
  /// Nothing more is sent; what has been sent is still received. Who waits goes on.
  void close() const {
    const std::unique_lock lock(state_->guard);
    state_->closed = true;
    state_->more.notify_all();
    state_->room.notify_all();
  }
  /// Values that are in it just then.
  [[nodiscard]] std::size_t size() const {
    const std::unique_lock lock(state_->guard);
    return state_->count();
  }

 private:
  struct state {
    mutex guard{};
    condition_variable more{}, room{};
    std::size_t capacity = 0;
    std::uint64_t sent = 0, received = 0;
    bool closed = false;
    T* values = nullptr;
    [[nodiscard]] std::size_t count() const noexcept { return sent - received; }
  };
  /// Locked, and there is room.
  bool put(const T& value) const {
    if (state_->closed) return false;
    state_->values[state_->sent++ % state_->capacity] = value;
    state_->more.notify_one();
    return true;
  }
  /// Locked.
  [[nodiscard]] std::optional<T> take() const {
    if (state_->count() == 0) return std::nullopt;
    const T value = state_->values[state_->received++ % state_->capacity];
    state_->room.notify_one();
    return value;
  }
  state* state_ = nullptr;
};

}  // namespace quire
