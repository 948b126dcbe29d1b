// SPDX-License-Identifier: BSD-3-Clause
// What functions do with the block that their first argument points to, on code as compilers write it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "program/sites/argument.hpp"

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

#define QUIRE_DECLARE(name) extern "C" const std::byte argument_##name[]
QUIRE_DECLARE(nothing);
QUIRE_DECLARE(sine);
QUIRE_DECLARE(end);

struct calls : known_calls {
  [[nodiscard]] arguments_taken taken_by(std::uint64_t at, bool word) const noexcept override {
    const auto is = [at](const std::byte* what) { return at == reinterpret_cast<std::uint64_t>(what); };
    if (word || (!is(argument_nothing) && !is(argument_sine))) return arguments_taken::anything;
    return is(argument_sine) ? arguments_taken::numbers : arguments_taken::none;
  }
};

class Argument : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    by_ = decoder::open(why);
    if (by_ == nullptr) GTEST_SKIP() << why;
  }
  [[nodiscard]] std::optional<block_use> use(const std::byte* from, const std::byte* to) const {
    return use_of_block(*by_, {from, to}, reinterpret_cast<std::uint64_t>(from), 120, calls{});
  }
  [[nodiscard]] std::optional<std::uint32_t> of(const std::byte* from, const std::byte* to) const {
    const auto found = use(from, to);
    return found && found->sums.count == 0 ? std::optional(found->read) : std::nullopt;
  }
  /// Of its words to which it adds, as `summed_word` has them.
  [[nodiscard]] std::vector<summed_word> sums(const std::byte* from, const std::byte* to) const {
    const auto found = use(from, to);
    return found ? std::vector(found->sums.begin(), found->sums.end()) : std::vector<summed_word>();
  }
  const decoder* by_ = nullptr;
};

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

/// Whatever the bytes are, it ends, and reads nothing beyond them.
TEST_F(Argument, AnyBytes) {
  const auto length = static_cast<std::size_t>(argument_end - argument_empty);
  for (std::size_t from = 0; from < length; ++from) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{3}, std::size_t{17}, length - from})
      (void)of(argument_empty + from, argument_empty + std::min(from + bytes, length));
  }
}

// ---- Words that are added to (sums.hpp)

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
QUIRE_SUMS(kept_across_a_call, sum_kept_when_done)
QUIRE_SUMS(kept_when_done, sum_left_in_a_register)
QUIRE_SUMS(left_in_a_register, sum_on_one_way, {8, 8, false, combining::add}, {0, 4, false, combining::add})
QUIRE_SUMS(on_one_way, sum_too_many)
QUIRE_SUMS(too_many, argument_nothing)

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
