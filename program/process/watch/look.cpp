// SPDX-License-Identifier: BSD-3-Clause
// Where stubs go with an address that is not in the common heap. What they interrupt may have values in any register:
// the general ones are kept here; the others only where the address is of a large object, as saving them takes longer
// than all else.
#include <cpuid.h>

#include <cstdint>

#include "program/process/watch/demotion.hpp"
#include "program/process/watch/look.hpp"
#include "program/process/watch/ranges.hpp"

namespace quire::program::watch {

extern "C" {
/// Of what xsave writes.
std::uint64_t quire_own_state_bytes = 0;
std::uint8_t quire_own_is_release(std::uint64_t address) noexcept;
void quire_own_look();
}

extern "C" std::uint8_t quire_own_is_release(std::uint64_t address) noexcept { return is_release(address) ? 1 : 0; }

look_function look_for_stubs() noexcept {
  constexpr unsigned state_leaf = 0xd, extended_leaf = 1, xsave_on = 1u << 27;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(extended_leaf, &a, &b, &c, &d) == 0 || (c & xsave_on) == 0) return nullptr;
  if (__get_cpuid_count(state_leaf, 0, &a, &b, &c, &d) == 0) return nullptr;
  quire_own_state_bytes = b;
  return quire_own_look;
}

}  // namespace quire::program::watch

// %rax: the address. The stack may be anywhere. 512 to 575: the header of what xsave writes, which has to be zero.
__asm__(R"(
  .text
  .p2align 4
  .globl quire_own_look
  .hidden quire_own_look
  .type quire_own_look, @function
quire_own_look:
  pushq %rbp
  movq %rsp, %rbp
  pushq %rbx
  pushq %rdx
  pushq %rsi
  pushq %rdi
  pushq %r8
  pushq %r9
  pushq %r10
  pushq %r11
  movq %rax, %rbx
  movq %rax, %rdi
  andq $-16, %rsp
  cld
  call quire_own_is_release
  testb %al, %al
  je 1f
  subq quire_own_state_bytes(%rip), %rsp
  andq $-64, %rsp
  xorl %eax, %eax
  movq %rax, 512(%rsp)
  movq %rax, 520(%rsp)
  movq %rax, 528(%rsp)
  movq %rax, 536(%rsp)
  movq %rax, 544(%rsp)
  movq %rax, 552(%rsp)
  movq %rax, 560(%rsp)
  movq %rax, 568(%rsp)
  movl $-1, %eax
  movl $-1, %edx
  xsave64 (%rsp)
  movq %rbx, %rdi
  call quire_own_demote
  movl $-1, %eax
  movl $-1, %edx
  xrstor64 (%rsp)
1:
  leaq -64(%rbp), %rsp
  popq %r11
  popq %r10
  popq %r9
  popq %r8
  popq %rdi
  popq %rsi
  popq %rdx
  popq %rbx
  popq %rbp
  ret
  .size quire_own_look, .-quire_own_look
)");
