// SPDX-License-Identifier: BSD-3-Clause
// A call with any number of arguments: C++ has none whose number is known only when it runs.
#include "program/omp/kmp/abi.hpp"

#if !defined(__x86_64__)
#error "how does this processor pass arguments?"
#endif

/// System V: six arguments are in registers, the rest is on the stack, whose pointer is a multiple of 16 at the call.
/// The unwinder goes by the frame pointer.
asm(R"(
    .text
    .p2align 4
    .hidden quire_kmp_invoke
    .globl quire_kmp_invoke
    .type quire_kmp_invoke, @function
quire_kmp_invoke:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    movq %rdi, %r11
    movslq %ecx, %r10
    subq $4, %r10
    jle 2f
    leaq 1(%r10), %rax
    andq $-2, %rax
    shlq $3, %rax
    subq %rax, %rsp
1:  movq 24(%r8,%r10,8), %rax
    movq %rax, -8(%rsp,%r10,8)
    decq %r10
    jnz 1b
2:  movq %rsi, %rdi
    movq %rdx, %rsi
    movq (%r8), %rdx
    movq 8(%r8), %rcx
    movq 24(%r8), %r9
    movq 16(%r8), %r8
    xorl %eax, %eax
    callq *%r11
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size quire_kmp_invoke, .-quire_kmp_invoke
)");

extern "C" void quire_kmp_invoke(quire::program::kmp::microtask what, quire::program::kmp::id* thread,
                                 quire::program::kmp::id* thread_of_team, quire::program::kmp::id count,
                                 void* const* arguments);

namespace quire::program::kmp {

void invoke(microtask what, id* thread, id* thread_of_team, id count, void* const* arguments) noexcept(false) {
  quire_kmp_invoke(what, thread, thread_of_team, count, arguments);
}

}  // namespace quire::program::kmp
