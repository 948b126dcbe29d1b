// SPDX-License-Identifier: BSD-3-Clause
// Compiled without vector registers, as the program has values in them; where more is to be done they are saved.
#include "program/process/watch/spin.hpp"

#include <quire/system.h>

#include <cstdint>

#include "program/process/watch/look.hpp"

namespace quire::program::watch {
namespace {

constexpr std::int32_t passes = 16;             ///< of a loop, between two looks
constexpr std::uint64_t longest_ticks = 16384;  ///< for so many: a loop that does anything else takes longer

struct spinner {
  std::int32_t left = passes - 1;
  std::uint64_t since = 0;  ///< by the processor's clock
};
thread_local constinit spinner t_spinner __attribute__((tls_model("initial-exec"))){};

}  // namespace

extern "C" {
std::uint8_t quire_own_has_spun() noexcept;
void quire_own_spin() noexcept;
void quire_own_spun();
}

/// Whether the thread waits, by how fast it came here.
extern "C" std::uint8_t quire_own_has_spun() noexcept {
  spinner& s = t_spinner;
  const std::uint64_t now = __builtin_ia32_rdtsc();
  const bool spins = now - s.since < longest_ticks;
  s.left = passes - 1;
  s.since = now;
  return spins ? 1 : 0;
}

extern "C" void quire_own_spin() noexcept {
  (void)quire_spin();
  t_spinner.since = __builtin_ia32_rdtsc();
}

std::int32_t place_of_count() noexcept {
  return static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(&t_spinner.left) -
                                   reinterpret_cast<std::intptr_t>(__builtin_thread_pointer()));
}

spun_function spun_for_stubs() noexcept { return look_for_stubs() != nullptr ? quire_own_spun : nullptr; }

void note_flush() noexcept {
  if (--t_spinner.left < 0 && quire_own_has_spun() != 0) quire_own_spin();
}

}  // namespace quire::program::watch

// The stack may be anywhere. 512 to 575: the header of what xsave writes, which has to be zero.
__asm__(R"(
  .text
  .p2align 4
  .globl quire_own_spun
  .hidden quire_own_spun
  .type quire_own_spun, @function
quire_own_spun:
  pushq %rbp
  movq %rsp, %rbp
  pushq %rax
  pushq %rcx
  pushq %rdx
  pushq %rsi
  pushq %rdi
  pushq %r8
  pushq %r9
  pushq %r10
  pushq %r11
  andq $-16, %rsp
  cld
  call quire_own_has_spun
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
  call quire_own_spin
  movl $-1, %eax
  movl $-1, %edx
  xrstor64 (%rsp)
1:
  leaq -72(%rbp), %rsp
  popq %r11
  popq %r10
  popq %r9
  popq %r8
  popq %rdi
  popq %rsi
  popq %rdx
  popq %rcx
  popq %rax
  popq %rbp
  ret
  .size quire_own_spun, .-quire_own_spun
)");
