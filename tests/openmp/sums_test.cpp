// SPDX-License-Identifier: BSD-3-Clause
// Words of a block to which functions only add (sums.hpp), on code as compilers write it.
#include "program/sites/sums.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "tests/openmp/argument_code.hpp"

namespace quire::program::sites {
namespace {

/// Functions that never run. Each ends where the next begins.
asm(R"(
.pushsection .text.argument_sums, "ax", @progbits
.globl sum_real
sum_real:
  mov (%rdi), %rdx
  1: movq %rdx, %xmm3
  mov %rdx, %rax
  addsd %xmm1, %xmm3
  movq %xmm3, %rcx
  lock cmpxchg %rcx, (%rdi)
  jne 2f
  ret
  2: mov %rax, %rdx
  jmp 1b
.globl sum_short_real
sum_short_real:
  mov 12(%rdi), %edx
  1: movd %edx, %xmm0
  mov %edx, %eax
  addss %xmm1, %xmm0
  movd %xmm0, %esi
  lock cmpxchg %esi, 12(%rdi)
  mov %eax, %edx
  jne 1b
  ret
.globl sum_by_vex
sum_by_vex:
  mov 8(%rdi), %rdx
  1: vmovq %rdx, %xmm2
  mov %rdx, %rax
  vmaxsd %xmm1, %xmm2, %xmm0
  vmovq %xmm0, %rcx
  lock cmpxchg %rcx, 8(%rdi)
  mov %rax, %rdx
  jne 1b
  ret
.globl sum_whole
sum_whole:
  mov (%rdi), %rax
  add (%rax), %ecx
  lock addl %ecx, 16(%rdi)
  lock subq $3, 24(%rdi)
  ret
.globl sum_pair
sum_pair:
  mov %rdi, %rbx
  call argument_nothing
  movupd (%rbx), %xmm0
  addpd 0x1000(%rip), %xmm0
  movups %xmm0, (%rbx)
  xor %edi, %edi
  jmp argument_nothing
.globl sum_beside
sum_beside:
  movsd %xmm1, %xmm0
  addsd 8(%rdi), %xmm0
  movsd %xmm0, 8(%rdi)
  ret
.globl sum_is_read
sum_is_read:
  lock addl %ecx, 16(%rdi)
  mov 16(%rdi), %eax
  mov %eax, 0x1000(%rip)
  ret
.globl sum_is_compared
sum_is_compared:
  lock addl %ecx, 16(%rdi)
  cmpl $8, 16(%rdi)
  je 1f
  ret
  1: movl $0, 0x1000(%rip)
  ret
.globl sum_is_converted
sum_is_converted:
  lock addl %ecx, 16(%rdi)
  cvtsi2sdl 16(%rdi), %xmm0
  movsd %xmm0, 0x1000(%rip)
  ret
.globl sum_decides
sum_decides:
  lock decl 16(%rdi)
  je 1f
  ret
  1: movl $0, 0x1000(%rip)
  ret
.globl sum_captured
sum_captured:
  mov $1, %eax
  lock xaddl %eax, 16(%rdi)
  ret
.globl sum_kept
sum_kept:
  mov 8(%rdi), %rdx
  1: mov %rdx, %rax
  lea 1(%rdx), %rcx
  lock cmpxchg %rcx, 8(%rdi)
  mov %rax, %rdx
  jne 1b
  ret
.globl sum_old_value
sum_old_value:
  movsd 8(%rdi), %xmm2
  movsd %xmm2, %xmm0
  addsd %xmm1, %xmm0
  movsd %xmm0, 8(%rdi)
  movsd %xmm2, 0x1000(%rip)
  ret
.globl sum_compares
sum_compares:
  movsd 8(%rdi), %xmm2
  comisd %xmm2, %xmm1
  jbe 1f
  movsd %xmm1, 8(%rdi)
  1: ret
.globl sum_and_product
sum_and_product:
  movsd 8(%rdi), %xmm0
  addsd %xmm1, %xmm0
  mulsd %xmm1, %xmm0
  movsd %xmm0, 8(%rdi)
  ret
.globl sum_then_product
sum_then_product:
  movsd 8(%rdi), %xmm0
  addsd %xmm1, %xmm0
  movsd %xmm0, 8(%rdi)
  movsd 8(%rdi), %xmm0
  mulsd %xmm1, %xmm0
  movsd %xmm0, 8(%rdi)
  ret
.globl sum_less_word
sum_less_word:
  subsd 8(%rdi), %xmm1
  movsd %xmm1, 8(%rdi)
  ret
.globl sum_elsewhere
sum_elsewhere:
  movsd 8(%rdi), %xmm0
  addsd %xmm1, %xmm0
  movsd %xmm0, 16(%rdi)
  ret
.globl sum_twice
sum_twice:
  movsd 8(%rdi), %xmm0
  addsd %xmm0, %xmm0
  movsd %xmm0, 8(%rdi)
  ret
.globl sum_is_set
sum_is_set:
  movsd %xmm1, 8(%rdi)
  ret
.globl sum_of_a_part
sum_of_a_part:
  movupd (%rdi), %xmm0
  addpd %xmm1, %xmm0
  movups %xmm0, (%rdi)
  addl $1, 4(%rdi)
  ret
.globl sum_in_sine
sum_in_sine:
  mov %rdi, %rbx
  movsd (%rbx), %xmm0
  addsd %xmm1, %xmm0
  movsd %xmm0, (%rbx)
  call argument_sine
  movsd %xmm0, 0x1000(%rip)
  ret
.globl sum_before_a_call
sum_before_a_call:
  mov %rdi, %rbx
  movsd (%rbx), %xmm0
  addsd %xmm1, %xmm0
  movsd %xmm0, (%rbx)
  call argument_nothing
  movsd (%rbx), %xmm0
  mulsd %xmm0, %xmm1
  movsd %xmm1, 0x1000(%rip)
  ret
.globl sum_kept_across_a_call
sum_kept_across_a_call:
  mov %rdi, %rbx
  mov 8(%rbx), %r12
  call argument_nothing
  add $1, %r12
  mov %r12, 8(%rbx)
  ret
.globl sum_kept_across_a_wait
sum_kept_across_a_wait:
  mov 8(%rdi), %rdx
1:
  mov 0x1000(%rip), %eax
  test %eax, %eax
  je 1b
  add $1, %rdx
  mov %rdx, 8(%rdi)
  ret
.globl sum_kept_across_a_late_wait
sum_kept_across_a_late_wait:
  mov 8(%rdi), %rdx
  add $1, %rdx
  jmp 2f
1:
  mov 0x1000(%rip), %eax
2:
  cmpl $0, 0x1000(%rip)
  je 1b
  mov %rdx, 8(%rdi)
  ret
.globl sum_before_a_loop
sum_before_a_loop:
  mov 8(%rdi), %rax
1:
  mov %rax, %rdx
  add %rcx, %rdx
  lock cmpxchg %rdx, 8(%rdi)
  jne 1b
  movsd (%rdi), %xmm1
  addsd %xmm0, %xmm1
  movsd %xmm1, (%rdi)
2:
  sub $1, %esi
  jne 2b
  ret
.globl sum_kept_when_done
sum_kept_when_done:
  mov %rdi, %rbx
  mov 8(%rbx), %r12
  add $1, %r12
  mov %r12, 8(%rbx)
  call argument_nothing
  mov %r12, 8(%rbx)
  ret
.globl sum_left_in_a_register
sum_left_in_a_register:
  mov %rdi, %rbx
  mov 8(%rbx), %rax
  add $1, %rax
  mov %rax, 8(%rbx)
  call argument_nothing
  lock addl %ecx, (%rbx)
  ret
.globl sum_on_one_way
sum_on_one_way:
  movsd 8(%rdi), %xmm0
  test %ecx, %ecx
  je 1f
  movsd %xmm1, %xmm0
  pxor %xmm0, %xmm0
  1: addsd %xmm1, %xmm0
  movsd %xmm0, 8(%rdi)
  ret
.globl sum_too_many
sum_too_many:
  lock addl %ecx, (%rdi)
  lock addl %ecx, 4(%rdi)
  lock addl %ecx, 8(%rdi)
  lock addl %ecx, 12(%rdi)
  lock addl %ecx, 16(%rdi)
  ret
.globl sum_end
sum_end:
  ret
.globl argument_lock
argument_lock:
  ret
.globl argument_unlock
argument_unlock:
  ret
.globl lock_of_words
lock_of_words:
  push %rbx
  mov %rdi, %rbx
  sub $32, %rsp
  movsd %xmm1, 8(%rsp)
  movapd %xmm2, 16(%rsp)
  call argument_lock
  movapd 16(%rsp), %xmm2
  movupd 8(%rbx), %xmm0
  addpd %xmm2, %xmm0
  add %rcx, (%rbx)
  movups %xmm0, 8(%rbx)
  add $32, %rsp
  pop %rbx
  jmp argument_unlock
.globl lock_by_frame
lock_by_frame:
  push %rbp
  mov %rsp, %rbp
  sub $32, %rsp
  mov %rdi, -24(%rbp)
  movsd %xmm1, -8(%rbp)
  call argument_lock
  mov -24(%rbp), %rax
  movsd (%rax), %xmm0
  addsd -8(%rbp), %xmm0
  mov -24(%rbp), %rax
  movsd %xmm0, (%rax)
  call argument_unlock
  leave
  ret
.globl lock_twice
lock_twice:
  mov %rdi, %rbx
  call argument_lock
  lock addl %ecx, 16(%rbx)
  call argument_unlock
  test %r12, %r12
  je 1f
  call argument_lock
  add %r12, 8(%rbx)
  jmp argument_unlock
  1: ret
.globl lock_of_more
lock_of_more:
  mov %rdi, %rbx
  call argument_lock
  add %r12, 8(%rbx)
  add %r12, 0x1000(%rip)
  jmp argument_unlock
.globl lock_once_of_more
lock_once_of_more:
  mov %rdi, %rbx
  call argument_lock
  add %r12, 8(%rbx)
  call argument_unlock
  call argument_lock
  movsd 0x1000(%rip), %xmm0
  call argument_unlock
  ret
.globl lock_of_elsewhere
lock_of_elsewhere:
  mov %rdi, %rbx
  call argument_lock
  add %r12, 8(%rbx)
  fldt (%r12)
  call argument_unlock
  ret
.globl lock_of_either
lock_of_either:
  mov %rdi, %rbx
  add %r12, 8(%rbx)
  test %r12, %r12
  je 1f
  mov 0x1000(%rip), %rbx
1:
  call argument_lock
  fldt 16(%rbx)
  call argument_unlock
  ret
.globl lock_of_a_told_frame
lock_of_a_told_frame:
  mov %rdi, %rbx
  sub $32, %rsp
  lea 8(%rsp), %rdx
  mov %rdx, 0x1000(%rip)
  call argument_lock
  movsd 8(%rsp), %xmm0
  add %r12, 8(%rbx)
  add $32, %rsp
  jmp argument_unlock
.globl lock_around_a_call
lock_around_a_call:
  mov %rdi, %rbx
  call argument_lock
  add %r12, 8(%rbx)
  call argument_nothing
  jmp argument_unlock
.globl lock_on_one_way
lock_on_one_way:
  mov %rdi, %rbx
  test %r12, %r12
  je 1f
  call argument_lock
  1: add %r12, 8(%rbx)
  jmp argument_unlock
.globl lock_kept
lock_kept:
  mov %rdi, %rbx
  call argument_lock
  add %r12, 8(%rbx)
  ret
.globl lock_kept_elsewhere
lock_kept_elsewhere:
  mov %rdi, %rbx
  call argument_lock
  add %r12, 8(%rbx)
  jmp argument_nothing
.globl lock_end
lock_end:
  ret
.popsection
)");

#define QUIRE_SUMS(name, next, ...)        \
  extern "C" const std::byte sum_##name[]; \
  extern "C" const std::byte next[];       \
  TEST_F(Argument, sum_##name) { EXPECT_EQ(sums(sum_##name, next), (std::vector<summed_word>{__VA_ARGS__})) << #name; }

QUIRE_SUMS(real, sum_short_real, {0, 8, true, combining::add})
QUIRE_SUMS(short_real, sum_by_vex, {12, 4, true, combining::add})
QUIRE_SUMS(by_vex, sum_whole, {8, 8, true, combining::greatest})
QUIRE_SUMS(whole, sum_pair, {16, 4, false, combining::add}, {24, 8, false, combining::add})
QUIRE_SUMS(pair, sum_beside, {0, 8, true, combining::add}, {8, 8, true, combining::add})
QUIRE_SUMS(beside, sum_is_read, {8, 8, true, combining::add})
QUIRE_SUMS(is_read, sum_is_compared)
QUIRE_SUMS(is_compared, sum_is_converted)
QUIRE_SUMS(is_converted, sum_decides)
QUIRE_SUMS(decides, sum_captured)
QUIRE_SUMS(captured, sum_kept)
QUIRE_SUMS(kept, sum_old_value)
QUIRE_SUMS(old_value, sum_compares)
QUIRE_SUMS(compares, sum_and_product)
QUIRE_SUMS(and_product, sum_then_product)
QUIRE_SUMS(then_product, sum_less_word)
QUIRE_SUMS(less_word, sum_elsewhere)
QUIRE_SUMS(elsewhere, sum_twice)
QUIRE_SUMS(twice, sum_is_set)
QUIRE_SUMS(is_set, sum_of_a_part)
QUIRE_SUMS(of_a_part, sum_in_sine)
QUIRE_SUMS(in_sine, sum_before_a_call)
QUIRE_SUMS(before_a_call, sum_kept_across_a_call)
QUIRE_SUMS(kept_across_a_call, sum_kept_across_a_wait)
QUIRE_SUMS(kept_across_a_wait, sum_kept_across_a_late_wait)
QUIRE_SUMS(kept_across_a_late_wait, sum_before_a_loop)
QUIRE_SUMS(before_a_loop, sum_kept_when_done, {8, 8, false, combining::add}, {0, 8, true, combining::add})
QUIRE_SUMS(kept_when_done, sum_left_in_a_register)
QUIRE_SUMS(left_in_a_register, sum_on_one_way, {8, 8, false, combining::add}, {0, 4, false, combining::add})
QUIRE_SUMS(on_one_way, sum_too_many)
QUIRE_SUMS(too_many, sum_end)

TEST_F(Argument, AnyBytesOfSums) { of_any(sum_real, sum_end); }

#define QUIRE_LOCKS(name, next, expected)                         \
  extern "C" const std::byte lock_##name[];                       \
  extern "C" const std::byte next[];                              \
  TEST_F(Argument, lock_##name) {                                 \
    EXPECT_EQ(locks_words(lock_##name, next), expected) << #name; \
    EXPECT_FALSE(sums(lock_##name, next).empty()) << #name;       \
  }

QUIRE_LOCKS(of_words, lock_by_frame, true)
QUIRE_LOCKS(by_frame, lock_twice, true)
QUIRE_LOCKS(twice, lock_of_more, true)
QUIRE_LOCKS(of_more, lock_once_of_more, false)
QUIRE_LOCKS(once_of_more, lock_of_elsewhere, false)
QUIRE_LOCKS(of_elsewhere, lock_of_either, false)
QUIRE_LOCKS(of_either, lock_of_a_told_frame, false)
QUIRE_LOCKS(of_a_told_frame, lock_around_a_call, false)
QUIRE_LOCKS(around_a_call, lock_on_one_way, false)
QUIRE_LOCKS(on_one_way, lock_kept, false)
QUIRE_LOCKS(kept, lock_kept_elsewhere, false)
QUIRE_LOCKS(kept_elsewhere, lock_end, false)

TEST_F(Argument, AnyBytesOfLocks) { of_any(lock_of_words, lock_end); }
TEST_F(Argument, a_sum_without_a_lock_has_none) { EXPECT_FALSE(locks_words(sum_real, sum_short_real)); }

QUIRE_DECLARE(adds);
QUIRE_DECLARE(writes_late);
TEST_F(Argument, a_sum_is_no_block_that_is_only_read) {
  const auto found = use(argument_adds, argument_writes_late);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->read, 20u);
  EXPECT_EQ(found->sums.count, 1);
}

/// What is combined with nothing stays as it is.
TEST(Sums, nothing_changes_nothing) {
  for (const combining how : {combining::add, combining::multiply, combining::least, combining::greatest}) {
    alignas(8) std::byte block[16];
    set_to_nothing({8, 8, true, how}, block);
    double nothing = 5;
    std::memcpy(&nothing, block + 8, sizeof nothing);
    for (const double any : {-0.0, 0.0, 3.5, -1e300}) {
      const double sum = any + nothing, product = any * nothing;
      const bool holds = how == combining::add        ? std::memcmp(&sum, &any, sizeof sum) == 0
                         : how == combining::multiply ? product == any
                         : how == combining::least    ? any < nothing
                                                      : any > nothing;
      EXPECT_TRUE(holds) << static_cast<int>(how) << " " << any;
    }
  }
}

}  // namespace
}  // namespace quire::program::sites
