// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/memory/stacks.hpp"

#include <quire/quire.h>

#include <array>
#include <atomic>
#include <mutex>

#include "openmp/start/fail.hpp"

namespace quire::openmp {
namespace {

constexpr std::size_t page = 4096, most_stacks = 4096;

struct range {
  std::uintptr_t first = 0, bytes = 0;
};
std::array<range, most_stacks> g_stacks;
std::atomic<std::size_t> g_count{0};
std::mutex g_guard;  ///< of new stacks, and of those to spare
std::array<std::byte*, most_stacks> g_spare;
std::size_t g_spare_count = 0;
thread_local range t_last;  ///< the stack that the thread was seen on last

}  // namespace

std::byte* make_stack(std::size_t bytes) noexcept {
  void* at = nullptr;
  if (const quire_status why = quire_aligned_alloc(page, bytes, &at); why != QUIRE_OK) fail("no shared memory for the stack of a thread", why);
  const std::lock_guard held(g_guard);
  const std::size_t number = g_count.load();
  if (number == most_stacks) fail("a node has too many threads", QUIRE_LIMIT);
  g_stacks[number] = {reinterpret_cast<std::uintptr_t>(at), bytes};
  g_count.store(number + 1, std::memory_order_release);
  return static_cast<std::byte*>(at) + bytes;
}

bool on_stack(std::uintptr_t address) noexcept {
  for (std::size_t i = 0, count = g_count.load(std::memory_order_acquire); i < count; ++i) {
    if (address - g_stacks[i].first < g_stacks[i].bytes) return true;
  }
  return false;
}

/// Bytes below an address, on its stack; 0: it is on none of these.
static std::size_t room_below(std::uintptr_t address) noexcept {
  if (address - t_last.first < t_last.bytes) return address - t_last.first;
  for (std::size_t i = 0, count = g_count.load(std::memory_order_acquire); i < count; ++i) {
    if (address - g_stacks[i].first >= g_stacks[i].bytes) continue;
    t_last = g_stacks[i];
    return address - t_last.first;
  }
  return 0;
}

void call_with_room(std::size_t bytes, void (*body)(void*), void* argument) noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::size_t room = room_below(here);
  if (room >= t_last.bytes / 2 || room == 0) return body(argument);  // a thread of the program's own has a stack that nobody knows
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

[[gnu::noinline]] void call_on(std::byte* top, void (*body)(void*), void* argument) noexcept {
#if defined(__x86_64__)
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %1, %%rsp\n\t"
      "callq *%2\n\t"
      "movq %%rbx, %%rsp"
      : "+D"(argument)
      : "r"(top), "r"(body)
      : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
        "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#else
#error "how does this processor change stacks?"
#endif
}

}  // namespace quire::openmp
