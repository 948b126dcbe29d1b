// SPDX-License-Identifier: BSD-3-Clause
#include "detect/alternate_stack.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>

#include "os/memory.hpp"

namespace quire::detect {
namespace {

/// Serving a fault drives the transport, and a handler of the program may come on top. A guard page lies below.
constexpr std::size_t guard_bytes = 4096, stack_bytes = 256 * 1024, all_bytes = guard_bytes + stack_bytes;
/// On less than that no fault is served.
constexpr std::size_t roomy_bytes = 64 * 1024;

std::atomic<std::uint64_t> g_base{0}, g_bytes{0};
pthread_key_t g_at_thread_end;
bool g_has_key = false;
/// The thread has had one, and may have given it up: it gets no second.
thread_local constinit bool t_given __attribute__((tls_model("initial-exec"))) = false;

void free_stack(void* start) noexcept {
  const stack_t none{nullptr, SS_DISABLE, 0};
  stack_t now{};
  char* const stack = static_cast<char*>(start) + guard_bytes;
  if (::sigaltstack(nullptr, &now) == 0 && now.ss_sp == stack) (void)::sigaltstack(&none, nullptr);
  os::unmap(start, all_bytes);
}

/// A key that is made early has its place in the thread itself: setting it allocates nothing.
[[gnu::constructor]] void make_key() noexcept { g_has_key = ::pthread_key_create(&g_at_thread_end, free_stack) == 0; }

bool make_stack(stack_t& made) noexcept {
  int error = 0;
  auto* const start = static_cast<char*>(os::map_table(all_bytes, error));
  if (start == nullptr) return false;
  (void)os::protect(start, guard_bytes, PROT_NONE);
  made = {start + guard_bytes, 0, stack_bytes};
  constexpr pthread_key_t first_block = 32;
  if (g_has_key && g_at_thread_end < first_block) (void)::pthread_setspecific(g_at_thread_end, start);
  t_given = true;
  return true;
}

bool is_shared(std::uintptr_t address) noexcept {
  return address - g_base.load(std::memory_order_relaxed) < g_bytes.load(std::memory_order_relaxed);
}

/// Calls body(argument) on another stack. The frame pointer leads back, for debuggers too.
[[gnu::noinline]] void call_on(std::uintptr_t top, void (*body)(void*), void* argument) noexcept {
#if defined(__x86_64__)
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %1, %%rsp\n\t"
      "callq *%2\n\t"
      "movq %%rbx, %%rsp"
      : "+D"(argument)
      : "r"(top), "r"(body)
      : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#elif defined(__aarch64__)
  register void* first asm("x0") = argument;
  asm volatile(
      "mov x19, sp\n\t"
      "mov sp, %1\n\t"
      "blr %2\n\t"
      "mov sp, x19"
      : "+r"(first)
      : "r"(top), "r"(body)
      : "x19", "x30", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
        "x16", "x17", "x18", "memory", "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
        "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
        "v28", "v29", "v30", "v31");
#endif
}

}  // namespace

void keep_off_stacks_in(std::uint64_t base, std::uint64_t bytes) noexcept {
  g_base.store(base);
  g_bytes.store(bytes);
}

void give_alternate_stack() noexcept {
  stack_t now{}, made{};
  if (t_given || ::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  if (make_stack(made)) (void)::sigaltstack(&made, nullptr);
}

void give_alternate_stack(ucontext_t& interrupted) noexcept {
  if (t_given || (interrupted.uc_stack.ss_flags & SS_DISABLE) == 0) return;
  stack_t made{};
  if (make_stack(made)) interrupted.uc_stack = made;
}

bool needs_roomy_stack(const ucontext_t& interrupted) noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto& alternate = interrupted.uc_stack;
  const std::uintptr_t stack = stack_pointer(interrupted);
  const auto start = reinterpret_cast<std::uintptr_t>(alternate.ss_sp);
  const bool on_it = (alternate.ss_flags & SS_DISABLE) == 0 && here - start < alternate.ss_size;
  return on_it && alternate.ss_size < roomy_bytes && stack - start >= alternate.ss_size && !is_shared(stack);
}

void on_roomy_stack(const ucontext_t& interrupted, void (*body)(void*), void* argument) noexcept {
  if (!needs_roomy_stack(interrupted)) return body(argument);
  const std::uintptr_t stack = stack_pointer(interrupted);
  // Below what the interrupted function keeps beyond its stack pointer. Nothing comes to the alternate stack meanwhile:
  // such faults keep signals waiting, and a fault within a fault ends the process.
  constexpr std::uintptr_t red_zone = 128, alignment = 64;
  call_on((stack - red_zone) / alignment * alignment, body, argument);
}

}  // namespace quire::detect
