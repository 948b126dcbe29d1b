// SPDX-License-Identifier: BSD-3-Clause
#include "program/loader/loading/linker_calls.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <cstddef>
#include <initializer_list>

#include "os/raw_call.hpp"
#include "program/loader/loading/plan.hpp"
#include "program/posix/heap/heap.hpp"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif

/// Where the kernel is told to go on behind a handler.
extern "C" void quire_after_linkers_call() noexcept __attribute__((visibility("hidden")));
asm(".pushsection .text\n"
    ".hidden quire_after_linkers_call\n"
    ".globl quire_after_linkers_call\n"
    ".type quire_after_linkers_call,@function\n"
    "quire_after_linkers_call:\n"
    "  mov $15, %eax\n"  // rt_sigreturn
    "  syscall\n"
    ".size quire_after_linkers_call,.-quire_after_linkers_call\n"
    ".popsection\n");

namespace quire::program {
namespace {

/// As the kernel has it.
struct kernel_action {
  void (*handler)(int, siginfo_t*, void*) = nullptr;
  unsigned long flags = 0;
  void (*restorer)() noexcept = nullptr;
  std::uint64_t mask = 0;
};
constexpr long mask_bytes = sizeof(std::uint64_t);
constexpr unsigned long with_restorer = 0x0400'0000;

struct {
  place_function place = nullptr;
  kernel_action before{};
  std::uint64_t mask = 0;
} g_now;
/// 1: the kernel hands calls over. Of the one thread that loads.
volatile unsigned char g_selector = 0;

template <class T>
long as_long(T* at) noexcept {
  return reinterpret_cast<long>(at);
}

/// Of the file behind a descriptor; 0: it has none.
std::uint64_t name_of(long descriptor) noexcept {
  char link[40], path[PATH_MAX];
  (void)::snprintf(link, sizeof link, "/proc/self/fd/%ld", descriptor);
  const long length = os::raw_call(SYS_readlink, as_long(link), as_long(path), sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return load_plan::name_of(path);
}

struct mapping {
  long address, bytes, protection, flags, descriptor, offset;
};

/// The first one of a library's file, which has all of its addresses; or those addresses, where the file wants more
/// than a page's alignment.
bool is_first(const mapping& m) noexcept {
  if (m.address != 0) return false;
  if ((m.flags & MAP_ANONYMOUS) != 0) return m.protection == PROT_NONE && (m.flags & MAP_NORESERVE) == 0;
  return (m.flags & MAP_DENYWRITE) != 0;
}

long map(mapping m) noexcept {
  if (is_first(m)) {
    const std::uint64_t name = (m.flags & MAP_ANONYMOUS) != 0 ? 0 : name_of(m.descriptor);
    if (const std::uint64_t at = g_now.place(name, static_cast<std::uint64_t>(m.bytes)); at != 0) {
      m.address = static_cast<long>(at);
      m.flags |= MAP_FIXED_NOREPLACE;
    }
  }
  return os::raw_call(SYS_mmap, m.address, m.bytes, m.protection, m.flags, m.descriptor, m.offset);
}

void make_call(int, siginfo_t*, void* context) noexcept {
  g_selector = 0;
  greg_t* const r = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const mapping as_mapping{r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
  r[REG_RAX] = r[REG_RAX] == SYS_mmap
                   ? map(as_mapping)
                   : os::raw_call(r[REG_RAX], r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
  g_selector = 1;
}

/// All code on this library's side of the dynamic linker's may call the kernel itself; none: there is no such linker.
span code_of_others() noexcept {
  constexpr std::uint64_t end_of_programs = std::uint64_t{1} << 47;
  const span linker = code_around(::dlsym(RTLD_DEFAULT, "__tls_get_addr"));
  const std::uint64_t end = linker.first + linker.bytes;
  if (linker.bytes == 0) return {};
  return reinterpret_cast<std::uint64_t>(&make_call) < linker.first ? span{0, linker.first}
                                                                    : span{end, end_of_programs - end};
}

}  // namespace

linker_calls::linker_calls(place_function place) noexcept {
  const span others = code_of_others();
  g_now.place = place;
  std::uint64_t blocked = ~std::uint64_t{0};
  for (const int open : {SIGSYS, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
    blocked &= ~(std::uint64_t{1} << (open - 1));
  (void)os::raw_call(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&blocked), as_long(&g_now.mask), mask_bytes);
  const kernel_action own{make_call, SA_SIGINFO | with_restorer, quire_after_linkers_call, 0};
  (void)os::raw_call(SYS_rt_sigaction, SIGSYS, as_long(&own), as_long(&g_now.before), mask_bytes);
  g_selector = 0;
  works_ = others.bytes != 0 &&
           os::raw_call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, static_cast<long>(others.first),
                        static_cast<long>(others.bytes), as_long(&g_selector)) == 0;
  if (works_) g_selector = 1;
}

linker_calls::~linker_calls() {
  g_selector = 0;
  if (works_) (void)os::raw_call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
  (void)os::raw_call(SYS_rt_sigaction, SIGSYS, as_long(&g_now.before), 0, mask_bytes);
  (void)os::raw_call(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&g_now.mask), 0, mask_bytes);
}

}  // namespace quire::program
