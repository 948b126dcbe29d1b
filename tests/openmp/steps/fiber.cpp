// SPDX-License-Identifier: BSD-3-Clause
// swapcontext() makes two system calls, which is most of an explorer's time; this makes none.
#include "fiber.hpp"

#include <cstdint>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#if !defined(__x86_64__)
#error "how does this processor change stacks?"
#endif

extern "C" void quire_change_stack(void** from, void* to);
asm(R"(
  .pushsection .text
  .globl quire_change_stack
  .type quire_change_stack, @function
quire_change_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size quire_change_stack, .-quire_change_stack
  .popsection
)");

namespace quire::program::steps {
namespace {
fiber* g_entered = nullptr;
}

fiber::fiber() : stack_(new std::byte[bytes]) {}

void fiber::begin() noexcept {
  fiber& self = *g_entered;
  self.body_(self.argument_);
  std::abort();  // a body leaves for good
}

void fiber::set(void (*body)(void*), void* argument) noexcept {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(stack_.get(), bytes);
#endif
  body_ = body;
  argument_ = argument;
  const auto top = (reinterpret_cast<std::uintptr_t>(stack_.get()) + bytes) & ~std::uintptr_t{15};
  auto** const frame = reinterpret_cast<void**>(top) - 8;  // six registers, where to begin, and where nobody returns to
  for (int i = 0; i < 8; ++i) frame[i] = nullptr;
  frame[6] = reinterpret_cast<void*>(&fiber::begin);
  inside_ = frame;
}

void fiber::enter() noexcept {
  g_entered = this;
  quire_change_stack(&outside_, inside_);
}
void fiber::leave() noexcept { quire_change_stack(&inside_, outside_); }

}  // namespace quire::program::steps
