// SPDX-License-Identifier: BSD-3-Clause
// dlsym(3) goes by where its caller is: the functions here exchange the handle and jump, with the caller's return
// address.
#include "program/loader/loading/handles.hpp"

#include <dlfcn.h>
#include <string.h>

#include <array>
#include <atomic>

#include "program/process/interpose.hpp"
#include "program/process/symbols.hpp"
#include "program/sites/known_libraries.hpp"

namespace quire::program {
namespace {

std::atomic<loaded_library*> g_all{nullptr};
std::array<std::atomic<void*>, loaded_library::most> g_own;

thread_local char t_error[512];
thread_local bool t_failed = false;

struct search {
  const char* name;
  const void* found = nullptr;
};

/// Where dlsym(3) lies depends on libc's version.
int look_for(dl_phdr_info* info, std::size_t, void* argument) {
  auto& s = *static_cast<search*>(argument);
  const char* const file = sites::last_part(info->dlpi_name);
  if (!sites::begins(file, "libc.so") && !sites::begins(file, "libdl.so")) return 0;
  for (const ElfW(Phdr)* h = info->dlpi_phdr; h != info->dlpi_phdr + info->dlpi_phnum; ++h) {
    if (h->p_type != PT_DYNAMIC) continue;
    const auto* const dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + h->p_vaddr);
    s.found = dynamic_symbols{dynamic, info->dlpi_addr}.newest(s.name);
  }
  return s.found != nullptr ? 1 : 0;
}

/// Libc's own, which goes by who calls it.
void* real_call(const char* name) noexcept {
  search s{name};
  ::dl_iterate_phdr(look_for, &s);
  return const_cast<void*>(s.found);
}

}  // namespace

void open_handles(loaded_library* all) noexcept { g_all.store(all); }
void* own_handle(std::size_t number) noexcept { return g_own[number].load(std::memory_order_acquire); }
void set_own_handle(std::size_t number, void* own) noexcept { g_own[number].store(own, std::memory_order_release); }

std::size_t number_of_own(const void* own) noexcept {
  std::size_t number = 0;
  while (number < loaded_library::most && (own == nullptr || g_own[number].load() != own)) ++number;
  return number;
}

std::size_t number_of_handle(const void* handle) noexcept {
  const auto* const all = g_all.load(std::memory_order_relaxed);
  if (all == nullptr) return loaded_library::most;
  const auto from = reinterpret_cast<std::uintptr_t>(handle) - reinterpret_cast<std::uintptr_t>(all);
  const std::size_t number = from / sizeof(loaded_library);
  return from % sizeof(loaded_library) == 0 && number < loaded_library::most && own_handle(number) != nullptr
             ? number
             : loaded_library::most;
}

void set_load_error(const char* text) noexcept {
  strncpy(t_error, text, sizeof t_error - 1);
  t_failed = true;
}

}  // namespace quire::program

using namespace quire::program;

extern "C" {
#define QUIRE_HIDDEN __attribute__((visibility("hidden"), used))
QUIRE_HIDDEN void* quire_real_dlsym = nullptr;
QUIRE_HIDDEN void* quire_real_dlvsym = nullptr;

/// Of a handle of the program's; others stay as they are.
QUIRE_HIDDEN void* quire_exchange_handle(void* handle) noexcept {
  if (quire_real_dlvsym == nullptr) [[unlikely]] {
    quire_real_dlsym = real_call("dlsym");
    quire_real_dlvsym = real_call("dlvsym");
  }
  const std::size_t number = number_of_handle(handle);
  if (number == loaded_library::most) return handle;
  t_failed = false;
  return own_handle(number);
}
}

#define QUIRE_JUMP_WITH_OWN_HANDLE(function)      \
  asm(".pushsection .text\n"                      \
      ".globl " #function                         \
      "\n"                                        \
      ".type " #function ",@function\n" #function \
      ":\n"                                       \
      ".cfi_startproc\n"                          \
      "  push %rdi\n  .cfi_adjust_cfa_offset 8\n" \
      "  push %rsi\n  .cfi_adjust_cfa_offset 8\n" \
      "  push %rdx\n  .cfi_adjust_cfa_offset 8\n" \
      "  call quire_exchange_handle\n"            \
      "  pop %rdx\n  .cfi_adjust_cfa_offset -8\n" \
      "  pop %rsi\n  .cfi_adjust_cfa_offset -8\n" \
      "  pop %rdi\n  .cfi_adjust_cfa_offset -8\n" \
      "  mov %rax, %rdi\n"                        \
      "  jmp *quire_real_" #function              \
      "(%rip)\n"                                  \
      ".cfi_endproc\n"                            \
      ".size " #function ",.-" #function          \
      "\n"                                        \
      ".popsection\n")
QUIRE_JUMP_WITH_OWN_HANDLE(dlsym);
QUIRE_JUMP_WITH_OWN_HANDLE(dlvsym);

QUIRE_LIBC int dlinfo(void* handle, int request, void* to) noexcept {
  return QUIRE_NEXT(dlinfo)(quire_exchange_handle(handle), request, to);
}

QUIRE_LIBC char* dlerror() noexcept {
  char* const libcs = QUIRE_NEXT(dlerror)();
  if (!t_failed) return libcs;
  t_failed = false;
  return t_error;
}
