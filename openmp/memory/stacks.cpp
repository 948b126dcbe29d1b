// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/memory/stacks.hpp"

#include <quire/quire.h>

#include <array>
#include <atomic>

#include "openmp/start/fail.hpp"

namespace quire::openmp {
namespace {

constexpr std::size_t page = 4096, most_stacks = 4096;

struct range {
  std::uintptr_t first = 0, bytes = 0;
};
std::array<range, most_stacks> g_stacks;
std::atomic<std::size_t> g_count{0};

}  // namespace

std::byte* make_stack(std::size_t bytes) noexcept {
  void* at = nullptr;
  if (const quire_status why = quire_aligned_alloc(page, bytes, &at); why != QUIRE_OK) fail("no shared memory for the stack of a thread", why);
  const std::size_t number = g_count.load();  // one thread makes stacks
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
