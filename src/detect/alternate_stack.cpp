// SPDX-License-Identifier: BSD-3-Clause
#include "detect/alternate_stack.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>

#include "base/log.hpp"
#include "detect/private_stack.hpp"
#include "os/limits.hpp"
#include "os/memory.hpp"
#include "os/raw_call.hpp"

namespace quire::detect {
namespace {

/// Serving a fault drives the transport, and a handler of the program may come on top. A guard page lies below.
constexpr std::size_t guard_bytes = 4096, stack_bytes = 256 * 1024, all_bytes = guard_bytes + stack_bytes;
/// On less than that no fault is served.
constexpr std::size_t roomy_bytes = 64 * 1024;

std::atomic<bool (*)(std::uint64_t) noexcept> g_shared{nullptr};
pthread_key_t g_at_thread_end;
bool g_has_key = false;
/// The thread has had this one, and may have given it up: it gets no second.
thread_local constinit char* t_given __attribute__((tls_model("initial-exec"))) = nullptr;

/// sigaltstack(2), which programs call by Quire.
bool change(const stack_t* now, stack_t* before) noexcept {
  return os::raw_call(SYS_sigaltstack, reinterpret_cast<long>(now), reinterpret_cast<long>(before), 0) == 0;
}

void free_stack(void* start) noexcept {
  const stack_t none{nullptr, SS_DISABLE, 0};
  stack_t now{};
  char* const stack = static_cast<char*>(start) + guard_bytes;
  if (change(nullptr, &now) && now.ss_sp == stack) (void)change(&none, nullptr);
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
  t_given = start + guard_bytes;
  return true;
}

}  // namespace

bool is_shared_stack(std::uintptr_t stack) noexcept {
  const auto shared = g_shared.load(std::memory_order_relaxed);
  return shared != nullptr && shared(stack);
}

void keep_off_stacks_at(bool (*shared)(std::uint64_t) noexcept) noexcept { g_shared.store(shared); }

void give_alternate_stack() noexcept {
  stack_t now{}, made{};
  if (t_given != nullptr || !change(nullptr, &now) || (now.ss_flags & SS_DISABLE) == 0) return;
  // Its first fault on a stack in shared memory would end the process without a word.
  if (!make_stack(made))
    base::die(QUIRE_NO_MEMORY, "no memory for a thread's stack for signals%s", os::explain_error(ENOMEM).text);
  (void)change(&made, nullptr);
}

void give_alternate_stack(ucontext_t& interrupted) noexcept {
  if (t_given != nullptr || (interrupted.uc_stack.ss_flags & SS_DISABLE) == 0) return;
  stack_t made{};
  if (make_stack(made)) interrupted.uc_stack = made;
}

stack_t given_alternate_stack() noexcept {
  stack_t made{};
  if (t_given == nullptr && !make_stack(made)) return {};
  return {t_given, 0, stack_bytes};
}

bool needs_roomy_stack(const ucontext_t& interrupted) noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto& alternate = interrupted.uc_stack;
  const std::uintptr_t stack = stack_pointer(interrupted);
  const auto start = reinterpret_cast<std::uintptr_t>(alternate.ss_sp);
  const bool on_it = (alternate.ss_flags & SS_DISABLE) == 0 && here - start < alternate.ss_size;
  return on_it && alternate.ss_size < roomy_bytes && stack - start >= alternate.ss_size && !is_shared_stack(stack);
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
