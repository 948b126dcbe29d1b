// SPDX-License-Identifier: BSD-3-Clause
#include "detect/private_stack.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include "os/memory.hpp"

namespace quire::detect {
namespace {

/// As much as faults are served on. A guard page lies between the arguments and the stack.
constexpr std::size_t private_bytes = 256 * 1024,
                      mapped_bytes = private_stack::argument_bytes + os::page_bytes + private_bytes;

thread_local constinit std::byte* t_private __attribute__((tls_model("initial-exec"))) = nullptr;
pthread_key_t g_private_key;
bool g_has_private_key = false;

/// A key that is made early has its place in the thread itself: setting it allocates nothing.
[[gnu::constructor]] void make_private_key() noexcept {
  g_has_private_key = ::pthread_key_create(&g_private_key, [](void* start) {
                        t_private = nullptr;
                        os::unmap(start, mapped_bytes);
                      }) == 0;
}

std::byte* make_private() noexcept {
  int error = 0;
  auto* const start = static_cast<std::byte*>(os::map_table(mapped_bytes, error));
  if (start == nullptr) return nullptr;
  (void)!os::protect(start + private_stack::argument_bytes, os::page_bytes, PROT_NONE);
  constexpr pthread_key_t first_block = 32;
  if (g_has_private_key && g_private_key < first_block) (void)::pthread_setspecific(g_private_key, start);
  return start;
}

}  // namespace

private_stack private_stack_of_thread() noexcept {
  if (t_private == nullptr) t_private = make_private();
  if (t_private == nullptr) return {};
  return {t_private, reinterpret_cast<std::uintptr_t>(t_private) + mapped_bytes};
}

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

}  // namespace quire::detect
