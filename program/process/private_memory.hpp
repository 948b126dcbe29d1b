// SPDX-License-Identifier: BSD-3-Clause
// Memory for records of tasks, which only one node uses: what threads of the program get by malloc(3) is shared.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace quire::program {

/// The driver's (process/private_memory.cpp), or a test's. Never null.
[[nodiscard]] void* take_private(std::size_t bytes) noexcept;
void give_private(void* at) noexcept;

template <class T>
struct private_allocator {
  using value_type = T;
  private_allocator() noexcept = default;
  template <class U>
  private_allocator(const private_allocator<U>&) noexcept {}
  T* allocate(std::size_t count) { return static_cast<T*>(take_private(count * sizeof(T))); }
  void deallocate(T* at, std::size_t) noexcept { give_private(at); }
  friend bool operator==(const private_allocator&, const private_allocator&) noexcept { return true; }
};

template <class T, class... Arguments>
[[nodiscard]] T* make_private(Arguments&&... arguments) {
  return new (take_private(sizeof(T))) T(std::forward<Arguments>(arguments)...);
}
template <class T>
void destroy_private(T* object) noexcept {
  if (object == nullptr) return;
  object->~T();
  give_private(object);
}

}  // namespace quire::program
