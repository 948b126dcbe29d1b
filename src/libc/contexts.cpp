// SPDX-License-Identifier: BSD-3-Clause
// getcontext(3) and its family, for contexts and stacks in shared memory: libc's own hand the signal mask within a
// context to the kernel, which finds no page, and go on from one context to the next without a call that anybody could
// stand in front of. So these are whole. As libc's: a context of theirs is good here, and the other way round.
//
// On AArch64 libc's are called.
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <cstdarg>
#include <cstddef>
#include <cstdlib>

#include "libc/signals.hpp"
#include "libc/table.hpp"
#include "os/raw_call.hpp"

#if defined(__x86_64__)

extern "C" {
QUIRE_HIDDEN int quire_own_getcontext(ucontext_t*);
QUIRE_HIDDEN int quire_own_setcontext(const ucontext_t*);
QUIRE_HIDDEN int quire_own_swapcontext(ucontext_t*, const ucontext_t*);
QUIRE_HIDDEN void quire_own_makecontext(ucontext_t*, void (*)(), int, ...);
QUIRE_HIDDEN void quire_own_end_of_context();
}

namespace {

constexpr long kernel_set_bytes = 8;

/// The set lies on the caller's stack, which may be shared: then the kernel may not find it, and has done nothing.
bool has_set(const sigset_t& now) noexcept {
  return quire::os::raw_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&now), 0, kernel_set_bytes) == 0;
}

int set_mask(const sigset_t& wanted) noexcept {
  const sigset_t now = quire::api::calls::without_faults(wanted);
  return has_set(now) ? 0 : quire::api::calls::change_mask(SIG_SETMASK, &now, nullptr);
}

}  // namespace

// ---- Called below
extern "C" {
QUIRE_HIDDEN int quire_own_keep_mask(ucontext_t* to) {
  const int saved = errno;
  sigset_t now{};
  if (quire::os::raw_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<long>(&now), kernel_set_bytes) != 0 &&
      quire::api::calls::change_mask(SIG_BLOCK, nullptr, &now) != 0)
    return -1;
  errno = saved;
  to->uc_sigmask = now;
  return 0;
}
QUIRE_HIDDEN int quire_own_take_mask(const ucontext_t* from) {
  const int saved = errno;
  if (set_mask(from->uc_sigmask) != 0) return -1;
  errno = saved;
  return 0;
}
QUIRE_HIDDEN int quire_own_change_masks(ucontext_t* to, const ucontext_t* from) {
  return quire_own_keep_mask(to) == 0 ? quire_own_take_mask(from) : -1;
}
}

// Where the assembly finds the parts of a context.
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_R8]) == 40);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_R12]) == 72);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RDI]) == 104);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RBP]) == 120);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RDX]) == 136);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RCX]) == 152);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP]) == 160);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP]) == 168);
static_assert(offsetof(ucontext_t, uc_mcontext.fpregs) == 224);
static_assert(offsetof(ucontext_t, __fpregs_mem) == 424);
static_assert(offsetof(ucontext_t, __fpregs_mem.mxcsr) == 448);

// The registers of the caller go to the context at %rdi, as they will be when the call has returned.
asm(R"(
.macro quire_save_context
  movq %rbx, 128(%rdi)
  movq %rbp, 120(%rdi)
  movq %r12, 72(%rdi)
  movq %r13, 80(%rdi)
  movq %r14, 88(%rdi)
  movq %r15, 96(%rdi)
  movq %rdi, 104(%rdi)
  movq %rsi, 112(%rdi)
  movq %rdx, 136(%rdi)
  movq %rcx, 152(%rdi)
  movq %r8, 40(%rdi)
  movq %r9, 48(%rdi)
  movq (%rsp), %rcx
  movq %rcx, 168(%rdi)
  leaq 8(%rsp), %rcx
  movq %rcx, 160(%rdi)
  leaq 424(%rdi), %rcx
  movq %rcx, 224(%rdi)
  fnstenv (%rcx)
  fldenv (%rcx)
  stmxcsr 448(%rdi)
.endm

.text
.hidden quire_own_getcontext
.globl quire_own_getcontext
.type quire_own_getcontext, @function
.p2align 4
quire_own_getcontext:
.cfi_startproc
  quire_save_context
  subq $8, %rsp
.cfi_adjust_cfa_offset 8
  call quire_own_keep_mask
  addq $8, %rsp
.cfi_adjust_cfa_offset -8
  ret
.cfi_endproc
.size quire_own_getcontext, .-quire_own_getcontext

.hidden quire_own_swapcontext
.globl quire_own_swapcontext
.type quire_own_swapcontext, @function
.p2align 4
quire_own_swapcontext:
.cfi_startproc
  quire_save_context
  pushq %rsi
.cfi_adjust_cfa_offset 8
  call quire_own_change_masks
  popq %rdx
.cfi_adjust_cfa_offset -8
  testl %eax, %eax
  je quire_own_go_on
  ret
.cfi_endproc
.size quire_own_swapcontext, .-quire_own_swapcontext

.hidden quire_own_setcontext
.globl quire_own_setcontext
.type quire_own_setcontext, @function
.p2align 4
quire_own_setcontext:
.cfi_startproc
  pushq %rdi
.cfi_adjust_cfa_offset 8
  call quire_own_take_mask
  popq %rdx
.cfi_adjust_cfa_offset -8
  testl %eax, %eax
  je quire_own_go_on
  ret
.cfi_endproc
.size quire_own_setcontext, .-quire_own_setcontext

// The context at %rdx goes on.
.type quire_own_go_on, @function
quire_own_go_on:
.cfi_startproc
.cfi_undefined rip
  movq 224(%rdx), %rcx
  fldenv (%rcx)
  ldmxcsr 448(%rdx)
  movq 128(%rdx), %rbx
  movq 120(%rdx), %rbp
  movq 72(%rdx), %r12
  movq 80(%rdx), %r13
  movq 88(%rdx), %r14
  movq 96(%rdx), %r15
  movq 40(%rdx), %r8
  movq 48(%rdx), %r9
  movq 104(%rdx), %rdi
  movq 112(%rdx), %rsi
  movq 168(%rdx), %rax
  movq 160(%rdx), %rsp
  pushq %rax
  movq 152(%rdx), %rcx
  movq 136(%rdx), %rdx
  xorl %eax, %eax
  ret
.cfi_endproc
.size quire_own_go_on, .-quire_own_go_on

// Where the function of a context returns to: %rbx is where the next context's address stands.
.hidden quire_own_end_of_context
.globl quire_own_end_of_context
.type quire_own_end_of_context, @function
.p2align 4
  nop
quire_own_end_of_context:
.cfi_startproc
.cfi_undefined rip
  movq (%rbx), %rdi
  movq %rbx, %rsp
  andq $-16, %rsp
  testq %rdi, %rdi
  je 1f
  call quire_own_setcontext
  movl %eax, %edi
1:
  call exit@PLT
  hlt
.cfi_endproc
.size quire_own_end_of_context, .-quire_own_end_of_context
)");

#define QUIRE_IN_ASSEMBLY(name)            \
  QUIRE_TABLE_ROW(name, quire_own_##name); \
  asm(".globl " #name "\n.type " #name ", @function\n.set " #name ", quire_own_" #name)
QUIRE_IN_ASSEMBLY(getcontext);
QUIRE_IN_ASSEMBLY(setcontext);
QUIRE_IN_ASSEMBLY(swapcontext);
QUIRE_IN_ASSEMBLY(makecontext);

extern "C" void quire_own_makecontext(ucontext_t* of, void (*body)(), int count, ...) {
  constexpr int in_registers = 6;
  static constexpr int registers[in_registers] = {REG_RDI, REG_RSI, REG_RDX, REG_RCX, REG_R8, REG_R9};
  const auto stacked = static_cast<std::size_t>(count > in_registers ? count - in_registers : 0);
  auto* const end = reinterpret_cast<greg_t*>(static_cast<char*>(of->uc_stack.ss_sp) + of->uc_stack.ss_size);
  // As after a call: where to return to, arguments, and, behind them, the next context.
  auto* const top = reinterpret_cast<greg_t*>((reinterpret_cast<std::uintptr_t>(end - stacked - 1) & ~15ul) - 8);
  greg_t* const link = top + stacked + 1;
  greg_t* const to = of->uc_mcontext.gregs;
  to[REG_RIP] = reinterpret_cast<greg_t>(body);
  to[REG_RBX] = reinterpret_cast<greg_t>(link);
  to[REG_RSP] = reinterpret_cast<greg_t>(top);
  top[0] = reinterpret_cast<greg_t>(&quire_own_end_of_context);
  *link = reinterpret_cast<greg_t>(of->uc_link);
  va_list arguments;
  va_start(arguments, count);
  for (int i = 0; i < count; ++i) {
    const greg_t one = va_arg(arguments, greg_t);  // a pointer, too, as libc has it
    (i < in_registers ? to[registers[i]] : top[i - in_registers + 1]) = one;
  }
  va_end(arguments);
}

#endif
