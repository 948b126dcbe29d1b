// SPDX-License-Identifier: BSD-3-Clause
// A heap for what is made while a fault is served. A thread that faults may do so in any state of the program, and
// libc's heap may be any that the program brings along: so nothing takes memory from it in fault context. This one asks
// the kernel, has no lock, and keeps what is given back for the next of about the same size.
//
// Any thread, fault context and signal handlers too. Where the kernel has no memory the process ends with a line, as
// for a page of a stack.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace quire::base {

/// At least `bytes`, aligned to 64, of any content.
[[nodiscard]] void* fault_allocate(std::size_t bytes) noexcept;
/// With the number of bytes that was asked for; null is nothing.
void fault_free(void* memory, std::size_t bytes) noexcept;

template <class T>
struct fault_allocator {
  using value_type = T;
  fault_allocator() noexcept = default;
  template <class U>
  fault_allocator(const fault_allocator<U>&) noexcept {}
  [[nodiscard]] T* allocate(std::size_t count) noexcept {
    static_assert(alignof(T) <= 64);
    return static_cast<T*>(fault_allocate(count * sizeof(T)));
  }
  void deallocate(T* at, std::size_t count) noexcept { fault_free(at, count * sizeof(T)); }
  template <class U>
  friend bool operator==(const fault_allocator&, const fault_allocator<U>&) noexcept {
    return true;
  }
};

template <class T>
using fault_vector = std::vector<T, fault_allocator<T>>;
template <class T>
using fault_deque = std::deque<T, fault_allocator<T>>;
template <class Key, class T>
using fault_map = std::map<Key, T, std::less<Key>, fault_allocator<std::pair<const Key, T>>>;
template <class Key, class T, class Hash = std::hash<Key>>
using fault_hash_map = std::unordered_map<Key, T, Hash, std::equal_to<Key>, fault_allocator<std::pair<const Key, T>>>;

template <class T>
struct fault_delete {
  void operator()(T* at) const noexcept {
    std::destroy_at(at);
    fault_free(at, sizeof(T));
  }
};
template <class T>
using fault_ptr = std::unique_ptr<T, fault_delete<T>>;
template <class T, class... Arguments>
[[nodiscard]] fault_ptr<T> make_fault(Arguments&&... with) {
  static_assert(alignof(T) <= 64);
  return fault_ptr<T>(::new (fault_allocate(sizeof(T))) T(std::forward<Arguments>(with)...));
}

}  // namespace quire::base
