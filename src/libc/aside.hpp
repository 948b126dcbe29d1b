// SPDX-License-Identifier: BSD-3-Clause
// Calls during which libc holds all signals, as pthread_create(3) does, or gives the kernel something that lies on its
// own stack. A thread whose stack is shared makes them on a private one: a page of the stack that another node has
// taken could not come meanwhile, and the thread would be killed (SIGBUS).
#pragma once

#include <new>
#include <type_traits>

#include "detect/private_stack.hpp"
#include "runtime/range.hpp"

namespace quire::api::calls {

/// What call() returns; `otherwise` if there is no memory for a private stack. Nothing may be unwound through it.
template <class Call>
[[gnu::noinline]] auto made_aside(const Call& call, decltype(call()) otherwise) noexcept {
  if (!is_away(__builtin_frame_address(0))) return call();
  struct block {
    Call call;
    decltype(call()) result;
  };
  static_assert(sizeof(block) <= detect::private_stack::argument_bytes && std::is_trivially_destructible_v<block>);
  const detect::private_stack own = detect::private_stack_of_thread();
  if (own.arguments == nullptr) return otherwise;
  auto& b = *new (own.arguments) block{call, otherwise};
  detect::call_on(
      own.top, [](void* at) { static_cast<block*>(at)->result = static_cast<block*>(at)->call(); }, &b);
  return b.result;
}

}  // namespace quire::api::calls
