// SPDX-License-Identifier: BSD-3-Clause
#include "detect/fault_place.hpp"

#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <span>

#include "detect/alternate_stack.hpp"
#include "detect/python_place.hpp"

namespace quire::detect {
namespace {

std::atomic<bool> g_kept{false};
struct bounds {
  std::uintptr_t low = 0, high = 0;
};
thread_local constinit bounds t_stack __attribute__((tls_model("initial-exec"))) = {};
thread_local constinit const ucontext_t* t_interrupted __attribute__((tls_model("initial-exec"))) = nullptr;

/// Where there is code: the program first, then libraries that were loaded when a thread was started last. Grows only.
constexpr std::size_t most_parts = 512;
std::array<bounds, most_parts> g_code;
std::atomic<std::size_t> g_code_parts{0}, g_program_parts{0};
std::atomic<bool> g_looking{false};

int add_code(dl_phdr_info* about, std::size_t, void* first) noexcept {
  for (int i = 0; i < about->dlpi_phnum; ++i) {
    const auto& part = about->dlpi_phdr[i];
    const std::size_t count = g_code_parts.load(std::memory_order_relaxed);
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || count == most_parts) continue;
    const bounds one{about->dlpi_addr + part.p_vaddr, about->dlpi_addr + part.p_vaddr + part.p_memsz};
    if (std::any_of(g_code.begin(), g_code.begin() + count,
                    [&](const bounds& b) { return b.low == one.low && b.high == one.high; }))
      continue;
    g_code[count] = one;
    g_code_parts.store(count + 1, std::memory_order_release);
  }
  if (*static_cast<bool*>(first))
    g_program_parts.store(g_code_parts.load(std::memory_order_relaxed), std::memory_order_release);
  *static_cast<bool*>(first) = false;
  return 0;
}
void look_for_code() noexcept {
  if (g_looking.exchange(true, std::memory_order_acquire)) return;  // another thread does
  bool first = g_code_parts.load(std::memory_order_relaxed) == 0;
  ::dl_iterate_phdr(add_code, &first);
  look_for_python();
  g_looking.store(false, std::memory_order_release);
}

bool within(std::size_t from, std::size_t end, std::uint64_t address) noexcept {
  for (std::size_t i = from; i < end; ++i)
    if (address - g_code[i].low < g_code[i].high - g_code[i].low) return true;
  return false;
}
bool in_program(std::uint64_t address) noexcept {
  return within(0, g_program_parts.load(std::memory_order_acquire), address);
}
bool in_library(std::uint64_t address) noexcept {
  return within(g_program_parts.load(std::memory_order_acquire), g_code_parts.load(std::memory_order_acquire), address);
}

/// Whether a call stands before this address of the program, whose code can be read as long as it runs.
bool follows_call(std::uint64_t address) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t longest = 7;
  if (!in_program(address - longest)) return false;
  unsigned char before[longest];
  __builtin_memcpy(before, reinterpret_cast<const void*>(address - longest), longest);
  constexpr unsigned char call_relative = 0xe8, group = 0xff;
  if (before[longest - 5] == call_relative) return true;
  for (std::size_t bytes = 2; bytes <= longest;
       ++bytes)  // call by register or memory: the operation stands in the second byte
    if (before[longest - bytes] == group && (before[longest - bytes + 1] >> 3 & 7) == 2) return true;
  return false;
#else
  std::uint32_t before = 0;
  if (!in_program(address - sizeof before)) return false;
  __builtin_memcpy(&before, reinterpret_cast<const void*>(address - sizeof before), sizeof before);
  return (before & 0xfc000000u) == 0x94000000u || (before & 0xfffffc1fu) == 0xd63f0000u;  // bl, blr
#endif
}
/// Libraries may be unloaded: their code is not looked at.
bool is_return(std::uint64_t address) noexcept {
  return in_library(address) || (in_program(address) && follows_call(address));
}

__attribute__((no_sanitize("address"))) std::uint64_t word_at(std::uintptr_t address) noexcept {
  std::uint64_t word = 0;
  __builtin_memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

struct registers {
  std::uint64_t instruction, caller,
      frame;  ///< `caller`: of a function that has made no frame yet, as those of libc; 0: on the stack
};
registers registers_of(const ucontext_t& of) noexcept {
#if defined(__x86_64__)
  const auto& all = of.uc_mcontext.gregs;
  return {static_cast<std::uint64_t>(all[REG_RIP]), 0, static_cast<std::uint64_t>(all[REG_RBP])};
#elif defined(__aarch64__)
  return {of.uc_mcontext.pc, of.uc_mcontext.regs[30], of.uc_mcontext.regs[29]};
#else
#error "where does this processor keep the instruction and the frame?"
#endif
}

/// Functions of libraries, such as memcpy(), have no frame pointers: who has called them is found among the words of
/// the stack, up to the first that leads into the program. How many of `found` are known then.
std::size_t callers_of_library(std::span<std::uint64_t> found, std::uintptr_t stack) noexcept {
  constexpr std::size_t longest_words = 128;
  constexpr std::uintptr_t word = sizeof(std::uint64_t);
  std::size_t known = found[1] != 0 ? 2 : 1;
  if (known == 2 && in_program(found[1])) return known;
  for (std::size_t i = 0; i < longest_words && stack + (i + 1) * word <= t_stack.high && known < found.size(); ++i) {
    const std::uint64_t one = word_at(stack + i * word);
    if (!is_return(one)) continue;
    // The last place is for the program.
    if (!in_program(one) && known + 1 == found.size()) continue;
    found[known++] = one;
    if (in_program(one)) break;
  }
  return known;
}

}  // namespace

void keep_places() noexcept {
  look_for_code();
  g_kept.store(true, std::memory_order_relaxed);
  prepare_place();
}

void prepare_place() noexcept {
  if (!g_kept.load(std::memory_order_relaxed)) return;
  look_for_code();
  pthread_attr_t about;
  if (::pthread_getattr_np(::pthread_self(), &about) != 0) return;
  void* low = nullptr;
  std::size_t bytes = 0;
  if (::pthread_attr_getstack(&about, &low, &bytes) == 0) {
    t_stack.low = reinterpret_cast<std::uintptr_t>(low);
    t_stack.high = t_stack.low + bytes;
  }
  ::pthread_attr_destroy(&about);
}

place_scope::place_scope(const ucontext_t& interrupted) noexcept : outer_(t_interrupted) {
  t_interrupted = &interrupted;
}
place_scope::~place_scope() { t_interrupted = outer_; }

fault_place place_of_fault() noexcept {
  fault_place found{};
  if (t_interrupted == nullptr || !g_kept.load(std::memory_order_relaxed)) return found;
  const std::uint64_t python = python_place();
  if (python != 0) found.back() = python;
  const std::span<std::uint64_t> native = std::span(found).first(found.size() - (python != 0 ? 1 : 0));
  const registers at = registers_of(*t_interrupted);
  found[0] = at.instruction;
  found[1] = at.caller;
  const std::uintptr_t stack = stack_pointer(*t_interrupted);
  constexpr std::uintptr_t word = sizeof(std::uint64_t);
  const bool inside = stack >= t_stack.low && stack < t_stack.high && stack % word == 0;
  if (!inside || t_stack.high - stack < 2 * word) return found;
  std::size_t known = 2;
  if (in_library(at.instruction)) {
    known = callers_of_library(native, stack);
  } else if (found[1] == 0) {
    found[1] = word_at(stack);
  }
  std::uintptr_t frame = at.frame, least = stack;
  for (std::size_t i = known; i < native.size(); ++i) {
    if (frame < least || frame % word != 0 || frame >= t_stack.high - 2 * word) break;
    found[i] = word_at(frame + word);
    least = frame + word;
    frame = word_at(frame);
  }
  return found;
}

}  // namespace quire::detect
