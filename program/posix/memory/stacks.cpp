// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/memory/stacks.hpp"

#include <quire/system.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "program/process/fail.hpp"
#include "program/process/modules.hpp"

namespace quire::program {
namespace {

constexpr std::size_t stack_page = 4096, most_stacks = 4096;

using range = stack_range;
std::array<range, most_stacks> g_stacks;
std::atomic<std::size_t> g_count{0};
std::mutex g_guard;  ///< of new stacks, and of those to spare
std::array<std::byte*, most_stacks> g_spare;
std::size_t g_spare_count = 0;
thread_local range t_last;  ///< the stack that the thread was seen on last

/// Stacks that threads of the program's own have given back, for others.
std::array<range, most_stacks> g_free;

thread_local constinit std::byte* t_private = nullptr;
bool g_compiles = false;

}  // namespace

void allow_code_in_memory() noexcept {
  const auto all = modules();
  const bool stacks = std::any_of(all.begin(), all.end(), [](const module& m) { return m.runs_stack && !m.known; });
  const bool compiles = std::getenv("QUIRE_EXEC_CODE") != nullptr;
  if (!stacks && !compiles) return;
  if (const quire_status why = quire_run_heap(); why != QUIRE_OK) fail("memory of the program cannot have code", why);
  g_compiles = compiles;
}

bool compiles_in_memory() noexcept { return g_compiles; }

/// Below each stack there are addresses for nothing but to be told of an overflow.
std::byte* make_stack(std::size_t bytes, const char* what_is_larger) noexcept {
  constexpr std::size_t below = 2u << 20;
  void* at = nullptr;
  if (const quire_status why = quire_aligned_alloc(stack_page, below + bytes, &at); why != QUIRE_OK)
    fail("no shared memory for the stack of a thread (raise QUIRE_RANGE, or lower ulimit -s)", why);
  char line[200];
  std::snprintf(line, sizeof line, "the stack of a thread, of %zu KiB, has run over: raise %s", bytes >> 10,
                what_is_larger);
  if (const quire_status why = quire_guard(at, below, line); why != QUIRE_OK)
    fail("the stack of a thread cannot be watched", why);
  at = static_cast<std::byte*>(at) + below;
  const std::lock_guard held(g_guard);
  const std::size_t number = g_count.load();
  if (number == most_stacks) fail("a node has too many threads", QUIRE_LIMIT);
  g_stacks[number] = {reinterpret_cast<std::uintptr_t>(at), bytes};
  g_count.store(number + 1, std::memory_order_release);
  return static_cast<std::byte*>(at) + bytes;
}

std::byte* take_stack(std::size_t bytes) noexcept {
  {
    const std::lock_guard held(g_guard);
    const auto found = std::find_if(g_free.begin(), g_free.end(), [bytes](const range& r) { return r.bytes == bytes; });
    if (found != g_free.end()) return reinterpret_cast<std::byte*>(std::exchange(*found, range{}).first) + bytes;
  }
  return make_stack(bytes, "the size that the program gives to its thread");
}

void give_stack_back(std::byte* end, std::size_t bytes) noexcept {
  const std::lock_guard held(g_guard);
  const auto room = std::find_if(g_free.begin(), g_free.end(), [](const range& r) { return r.bytes == 0; });
  if (room != g_free.end())
    *room = {reinterpret_cast<std::uintptr_t>(end) - bytes, bytes};  // else nobody uses it any more
}

void remember_private_stack() noexcept {
  constexpr std::size_t frames = 4096;  // of who remembers, and of call_on()
  t_private = static_cast<std::byte*>(__builtin_frame_address(0)) - frames;
}
std::byte* private_stack() noexcept { return t_private; }

stack_range stack_of(std::uintptr_t address) noexcept {
  for (std::size_t i = 0, count = g_count.load(std::memory_order_acquire); i < count; ++i) {
    if (address - g_stacks[i].first < g_stacks[i].bytes) return g_stacks[i];
  }
  return {};
}

bool on_stack(std::uintptr_t address) noexcept { return stack_of(address).bytes != 0; }

/// Bytes below an address, on its stack; 0: it is on none of these.
static std::size_t room_below(std::uintptr_t address) noexcept {
  if (address - t_last.first < t_last.bytes) return address - t_last.first;
  const range found = stack_of(address);
  if (found.bytes == 0) return 0;
  t_last = found;
  return address - t_last.first;
}

void call_with_room(std::size_t bytes, void (*body)(void*), void* argument) noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::size_t room = room_below(here);
  if (room >= t_last.bytes / 2 || room == 0)
    return body(argument);  // a thread of the program's own has a stack that nobody knows
  std::byte* top = nullptr;
  {
    const std::lock_guard held(g_guard);
    if (g_spare_count != 0) top = g_spare[--g_spare_count];
  }
  if (top == nullptr) top = make_stack(bytes);
  call_on(top, body, argument);
  const std::lock_guard held(g_guard);
  g_spare[g_spare_count++] = top;
}

[[gnu::noinline]] void call_on(std::byte* top, void (*body)(void*), void* argument) {
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
#else
#error "how does this processor change stacks?"
#endif
}

}  // namespace quire::program
