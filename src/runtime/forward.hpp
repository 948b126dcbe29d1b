// SPDX-License-Identifier: BSD-3-Clause
// A call of the API in a split node (pool 'fork') is made in the engine's process: arguments and results travel by
// value, also those behind pointers. So does a call of a thread whose stack is shared: it is made on a private one.
// Memory of the application never does: what must be read or written there is done here.
#pragma once

#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtime/runtime.hpp"
#include "base/detail.hpp"
#include "detect/private_stack.hpp"
#include "split/application_side.hpp"

namespace quire::api {

/// In the application's process of a split node: the way to the engine's. Else null.
[[nodiscard]] split::application_side* elsewhere() noexcept;
void set_elsewhere(split::application_side* there) noexcept;
/// Whether the node is split, said as what is wrong with the call: `what` needs a process that has both the engine and
/// the program's view of memory.
[[nodiscard]] bool is_split(const char* call, const char* what) noexcept;

/// A value; an address in shared memory, or of a function.
template <class T>
struct carried {
  T value;
  explicit carried(T v) noexcept : value(v) {}
  [[nodiscard]] T get() noexcept { return value; }
  void give_back(T) noexcept {}
};
/// What a pointer leads to, there and back; null stays null.
template <class T>
requires(std::is_object_v<T> && !std::is_const_v<T>) struct carried<T*> {
  bool given;
  T value{};
  explicit carried(T* v) noexcept : given(v != nullptr) {
    if (given) value = *v;
  }
  [[nodiscard]] T* get() noexcept { return given ? &value : nullptr; }
  void give_back(T* to) noexcept {
    if (given) *to = value;
  }
};
/// A name. What is too long here is too long for all calls that take one.
template <>
struct carried<const char*> {
  bool given;
  char text[256] = {};
  explicit carried(const char* v) noexcept : given(v != nullptr) {
    if (given) std::strncpy(text, v, sizeof text - 1);
  }
  [[nodiscard]] const char* get() noexcept { return given ? text : nullptr; }
  void give_back(const char*) noexcept {}
};

template <auto function>
struct forwarder;

/// What the calling thread's server has to say of the call that it has just made (base/detail.hpp).
struct detail_text {
  char text[base::detail_bytes];
};
quire_status fetch_detail(detail_text* into) noexcept;
void keep_detail(split::application_side& there) noexcept;
template <class... P, quire_status (*function)(P...)>
struct forwarder<function> {
  struct block {
    quire_status result;
    std::tuple<carried<P>...> arguments;
  };
  static_assert(sizeof(block) <= split::argument_capacity);

  static void run(std::byte* at) noexcept {
    auto& b = *reinterpret_cast<block*>(at);
    b.result = std::apply([](auto&... a) { return function(a.get()...); }, b.arguments);
  }
  static quire_status call(split::application_side& there, P... p) noexcept {
    base::clear_detail();
    block b{QUIRE_SYSTEM, {carried<P>(p)...}};
    there.call(run, reinterpret_cast<std::byte*>(&b), sizeof b, quire_thread());
    std::apply([&](auto&... a) { (a.give_back(p), ...); }, b.arguments);
    if (b.result != QUIRE_OK) keep_detail(there);
    return b.result;
  }
  /// The same in this process, for a thread whose stack is shared.
  static quire_status call_aside(P... p) noexcept {
    static_assert(sizeof(block) <= detect::private_stack::argument_bytes);
    const detect::private_stack aside = detect::private_stack_of_thread();
    if (aside.arguments == nullptr)
      return base::explain(QUIRE_NO_MEMORY,
                           "there is no memory for a private stack of this thread, whose own is shared");
    auto& b = *new (aside.arguments) block{QUIRE_SYSTEM, {carried<P>(p)...}};
    detect::call_on(
        aside.top, [](void* at) { run(static_cast<std::byte*>(at)); }, &b);
    std::apply([&](auto&... a) { (a.give_back(p), ...); }, b.arguments);
    return b.result;
  }
};

}  // namespace quire::api

/// Opens the body of a call that is made here, by others: returns why there is no runtime, if there is none.
#define QUIRE_STARTED()                                                 \
  ::quire::base::clear_detail();                                        \
  if (::quire::api::elsewhere() == nullptr) {                           \
    ::quire::base::status why_not;                                      \
    if (::quire::api::enter(why_not) == nullptr) return why_not.code(); \
  }

/// Opens the body of a function that the engine's process must run, or that runs on a private stack.
#define QUIRE_FORWARD(function, ...)                                                    \
  if (auto* const there = ::quire::api::elsewhere())                                    \
    return ::quire::api::forwarder<&function>::call(*there __VA_OPT__(, ) __VA_ARGS__); \
  if (::quire::api::on_shared_stack()) [[unlikely]]                                     \
  return ::quire::api::forwarder<&function>::call_aside(__VA_ARGS__)
