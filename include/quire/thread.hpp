// SPDX-License-Identifier: BSD-3-Clause
// Threads on other nodes: the programming model of Millipage, where one node starts work on the others. The class has
// the manners of std::jthread; what runs is code of the program, found on the other node even when it is loaded
// elsewhere.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <quire/error.hpp>
#include <quire/memory.hpp>

namespace quire {
namespace detail {

/// Values of at most a pointer's size travel inside the pointer.
template <class T>
inline constexpr bool fits_pointer = sizeof(T) <= sizeof(void*) && std::is_trivially_copyable_v<T>;

template <class T>
[[nodiscard]] void* pack(const T& value) noexcept {
  static_assert(fits_pointer<T>);
  void* packed = nullptr;
  std::memcpy(&packed, &value, sizeof value);
  return packed;
}

template <class T>
[[nodiscard]] T unpack(void* packed) noexcept {
  static_assert(fits_pointer<T> && std::is_default_constructible_v<T>);
  T value{};
  std::memcpy(&value, &packed, sizeof value);
  return value;
}

/// What runs on the other node. A function object without captures is remade there from its type alone, which is the
/// same in every process of the program. An exception that leaves it ends the program, as with std::thread.
template <class Function, class Argument>
void* run_remotely(void* packed) noexcept {
  const auto call = [&]() -> decltype(auto) {
    if constexpr (fits_pointer<Argument>) {
      return Function{}(unpack<Argument>(packed));
    } else {
      auto* stored = static_cast<Argument*>(packed);
      const Argument argument = *stored;
      delete_object(stored);
      return Function{}(argument);
    }
  };
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    return nullptr;
  } else {
    return pack(call());
  }
}

/// What the constructor of quire::thread takes.
template <class Function, class Argument>
concept remote_function = std::is_empty_v<Function> && std::is_default_constructible_v<Function> &&
    std::is_trivially_copyable_v<Argument> && std::is_invocable_v<Function, Argument>;

}  // namespace detail

/// A thread on another node (or on this one). Movable, not copyable; the destructor joins.
class thread {
 public:
  thread() noexcept = default;

  /// Runs function(argument) in a new thread of `node`. `function` is a lambda or function object without captures;
  /// the argument a trivially copyable value, best a pointer or a handle: whatever it points to must be shared. A
  /// result of at most 8 bytes is given by join().
  template <class Argument, detail::remote_function<Argument> Function>
  thread(int node, Function, Argument argument) {
    if constexpr (detail::fits_pointer<Argument>) {
      start(node, detail::run_remotely<Function, Argument>, detail::pack(argument));
    } else {
      Argument* stored = new_object<Argument>(argument);
      try {
        start(node, detail::run_remotely<Function, Argument>, stored);
      } catch (...) {
        delete_object(stored);
        throw;
      }
    }
  }

  /// The same for a plain function, as quire_spawn() has it.
  thread(int node, void* (*function)(void*), void* argument) { start(node, function, argument); }

  thread(thread&& other) noexcept : native_(other.native_), joinable_(std::exchange(other.joinable_, false)) {}
  thread& operator=(thread&& other) noexcept {
    std::swap(native_, other.native_);
    std::swap(joinable_, other.joinable_);
    return *this;
  }
  ~thread() {
    void* result = nullptr;
    if (joinable_) quire_join(native_, &result);
  }

  [[nodiscard]] bool joinable() const noexcept { return joinable_; }

  /// Waits for the end of the thread and gives what its function returned: `auto sum = t.join<double>()`.
  template <class Result = void>
  Result join() {
    void* result = nullptr;
    if (!std::exchange(joinable_, false)) throw error(QUIRE_INVALID, "thread::join");
    detail::check(quire_join(native_, &result), "thread::join");
    if constexpr (!std::is_void_v<Result>) return detail::unpack<Result>(result);
  }

  [[nodiscard]] quire_remote_thread native_handle() const noexcept { return native_; }
  /// Gives the handle away; some node joins it with quire_join().
  [[nodiscard]] quire_remote_thread release() noexcept {
    joinable_ = false;
    return native_;
  }

 private:
  void start(int node, void* (*function)(void*), void* argument) {
    detail::check(quire_spawn(node, function, argument, &native_), "thread");
    joinable_ = true;
  }
  quire_remote_thread native_{};
  bool joinable_ = false;
};

}  // namespace quire
