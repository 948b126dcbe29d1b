// SPDX-License-Identifier: BSD-3-Clause
// What functions do with the block that their first argument points to, on code as compilers write it.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tests/openmp/argument_code.hpp"

namespace quire::program::sites {
namespace {

/// Functions that never run. Each ends where the next begins.
asm(R"(
.pushsection .text.argument, "ax", @progbits
.globl argument_empty
argument_empty:
  ret
.globl argument_reads
argument_reads:
  cmpl $8, 8(%rdi)
  je 1f
  ret
  1: movsd (%rdi), %xmm0
  movsd %xmm0, 0x2d1c(%rip)
  ret
.globl argument_writes
argument_writes:
  movl $1, 8(%rdi)
  ret
.globl argument_adds
argument_adds:
  lock addl %eax, 16(%rdi)
  ret
.globl argument_writes_late
argument_writes_late:
  mov %rdi, %rbx
  xor %eax, %eax
  1: mov 24(%rbx), %rcx
  inc %eax
  cmp $10, %eax
  jne 1b
  mov %rcx, (%rbx)
  ret
.globl argument_keeps_in_register
argument_keeps_in_register:
  push %rbp
  push %rbx
  mov %rdi, %rbx
  sub $8, %rsp
  call argument_nothing
  mov %eax, %ebp
  mov 20(%rbx), %r8d
  mov 8(%rbx), %rsi
  mov %rsi, (%rsi)
  add $8, %rsp
  pop %rbx
  pop %rbp
  ret
.globl argument_calls_others
argument_calls_others:
  mov %rdi, %rbx
  call argument_other
  mov (%rbx), %rax
  ret
.globl argument_calls_later
argument_calls_later:
  mov (%rdi), %rax
  mov 8(%rdi), %rdi
  call argument_other
  ret
.globl argument_hands_on
argument_hands_on:
  mov %rdi, %rsi
  xor %edi, %edi
  call argument_other
  ret
.globl argument_hands_on_at_end
argument_hands_on_at_end:
  jmp argument_other
.globl argument_stores
argument_stores:
  mov %rdi, 0x1000(%rip)
  ret
.globl argument_computes
argument_computes:
  lea 8(%rdi), %rax
  movl $0, (%rax)
  ret
.globl argument_adds_to
argument_adds_to:
  add $8, %rdi
  movl $0, (%rdi)
  ret
.globl argument_indexed
argument_indexed:
  mov (%rdi,%rcx,8), %rax
  ret
.globl argument_far
argument_far:
  mov 4096(%rdi), %rax
  ret
.globl argument_all
argument_all:
  mov 112(%rdi), %rax
  ret
.globl argument_one_more
argument_one_more:
  mov 113(%rdi), %rax
  ret
.globl argument_before
argument_before:
  mov -8(%rdi), %rax
  ret
.globl argument_frame
argument_frame:
  push %rbp
  mov %rsp, %rbp
  sub $48, %rsp
  mov %rdi, -40(%rbp)
  mov -40(%rbp), %rax
  mov 32(%rax), %edx
  mov %edx, -4(%rbp)
  call argument_nothing
  mov -40(%rbp), %rax
  mov 8(%rax), %rax
  leave
  ret
.globl argument_frame_written
argument_frame_written:
  push %rbp
  mov %rsp, %rbp
  sub $48, %rsp
  mov %rdi, -40(%rbp)
  mov -40(%rbp), %rax
  movl $3, 4(%rax)
  leave
  ret
.globl argument_frame_escapes
argument_frame_escapes:
  sub $48, %rsp
  mov %rdi, 24(%rsp)
  lea 24(%rsp), %rdi
  call argument_other
  add $48, %rsp
  ret
.globl argument_aligned_frame
argument_aligned_frame:
  push %rbp
  mov %rsp, %rbp
  and $-32, %rsp
  sub $64, %rsp
  mov %rdi, 40(%rsp)
  mov 40(%rsp), %rax
  vmovupd (%rax), %ymm0
  leave
  ret
.globl argument_on_the_stack
argument_on_the_stack:
  push %rdi
  call argument_other
  pop %rdi
  ret
.globl argument_jumps_by_table
argument_jumps_by_table:
  mov (%rdi), %eax
  jmp *(%rcx,%rax,8)
.globl argument_merges
argument_merges:
  test %esi, %esi
  je 1f
  mov %rdi, %rax
  jmp 2f
  1: mov %rdx, %rax
  2: movl $0, (%rax)
  ret
.globl argument_exchanges
argument_exchanges:
  xchg %rax, %rdi
  movl $0, (%rax)
  ret
.globl argument_string
argument_string:
  mov $4, %ecx
  rep stosl
  ret
.globl argument_vector
argument_vector:
  movq %rdi, %xmm0
  ret
.globl argument_half
argument_half:
  mov %rdi, %rax
  mov $1, %al
  movl $0, (%rax)
  ret
.globl argument_conditional
argument_conditional:
  cmove %rdi, %rax
  movl $0, (%rax)
  ret
.globl argument_clears
argument_clears:
  mov (%rdi), %rax
  xor %edi, %edi
  call argument_other
  ret
.globl argument_clears_half
argument_clears_half:
  mov (%rdi), %rax
  xor %di, %di
  movl $0, (%rdi)
  ret
.globl argument_push_where_unknown
argument_push_where_unknown:
  sub %rax, %rsp
  push %rdi
  pop %rcx
  movl $0, (%rcx)
  ret
.globl argument_frame_on_one_way
argument_frame_on_one_way:
  push %rbp
  test %esi, %esi
  je 1f
  mov %rsp, %rbp
  mov %rdi, -8(%rbp)
  1: mov -8(%rbp), %rax
  movl $0, (%rax)
  pop %rbp
  ret
.globl argument_falls_off
argument_falls_off:
  mov (%rdi), %rax
  nop
.globl argument_nothing
argument_nothing:
  ret
.globl argument_sine
argument_sine:
  ret
.globl argument_other
argument_other:
  ret
.globl argument_end
argument_end:
  ret
.popsection
)");

QUIRE_DECLARE(end);

#define QUIRE_READS(name, next, bytes) \
  QUIRE_DECLARE(name);                 \
  QUIRE_DECLARE(next);                 \
  TEST_F(Argument, name) { EXPECT_EQ(of(argument_##name, argument_##next), std::optional<std::uint32_t>(bytes)); }
#define QUIRE_REFUSES(name, next) \
  QUIRE_DECLARE(name);            \
  QUIRE_DECLARE(next);            \
  TEST_F(Argument, name) { EXPECT_EQ(of(argument_##name, argument_##next), std::nullopt); }

QUIRE_READS(empty, reads, 0)
QUIRE_READS(reads, writes, 12)
QUIRE_REFUSES(writes, adds)
QUIRE_REFUSES(writes_late, keeps_in_register)
QUIRE_READS(keeps_in_register, calls_others, 24)
QUIRE_REFUSES(calls_others, calls_later)
QUIRE_READS(calls_later, hands_on, 16)
QUIRE_REFUSES(hands_on, hands_on_at_end)
QUIRE_REFUSES(hands_on_at_end, stores)
QUIRE_REFUSES(stores, computes)
QUIRE_REFUSES(computes, adds_to)
QUIRE_REFUSES(adds_to, indexed)
QUIRE_REFUSES(indexed, far)
QUIRE_REFUSES(far, all)
QUIRE_READS(all, one_more, 120)
QUIRE_REFUSES(one_more, before)
QUIRE_REFUSES(before, frame)
QUIRE_READS(frame, frame_written, 36)
QUIRE_REFUSES(frame_written, frame_escapes)
QUIRE_REFUSES(frame_escapes, aligned_frame)
QUIRE_READS(aligned_frame, on_the_stack, 32)
QUIRE_REFUSES(on_the_stack, jumps_by_table)
QUIRE_REFUSES(jumps_by_table, merges)
QUIRE_REFUSES(merges, exchanges)
QUIRE_REFUSES(exchanges, string)
QUIRE_REFUSES(string, vector)
QUIRE_REFUSES(vector, half)
QUIRE_REFUSES(half, conditional)
QUIRE_REFUSES(conditional, clears)
QUIRE_READS(clears, clears_half, 8)
QUIRE_REFUSES(clears_half, push_where_unknown)
QUIRE_REFUSES(push_where_unknown, frame_on_one_way)
QUIRE_REFUSES(frame_on_one_way, falls_off)
QUIRE_REFUSES(falls_off, nothing)
QUIRE_READS(nothing, other, 0)

TEST_F(Argument, AnyBytes) { of_any(argument_empty, argument_end); }

}  // namespace
}  // namespace quire::program::sites
