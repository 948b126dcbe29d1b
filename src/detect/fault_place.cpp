// SPDX-License-Identifier: BSD-3-Clause
#include "detect/fault_place.hpp"

#include <pthread.h>

#include <atomic>

#include "detect/alternate_stack.hpp"

namespace quire::detect {
namespace {

std::atomic<bool> g_kept{false};
struct bounds {
  std::uintptr_t low = 0, high = 0;
};
thread_local constinit bounds t_stack __attribute__((tls_model("initial-exec"))) = {};
thread_local constinit const ucontext_t* t_interrupted __attribute__((tls_model("initial-exec"))) = nullptr;

__attribute__((no_sanitize("address"))) std::uint64_t word_at(std::uintptr_t address) noexcept {
  std::uint64_t word = 0;
  __builtin_memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

struct registers {
  std::uint64_t instruction, caller, frame;  ///< `caller`: of a function that has made no frame yet, as those of libc; 0: on the stack
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

}  // namespace

void keep_places() noexcept {
  g_kept.store(true, std::memory_order_relaxed);
  prepare_place();
}

void prepare_place() noexcept {
  if (!g_kept.load(std::memory_order_relaxed)) return;
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

place_scope::place_scope(const ucontext_t& interrupted) noexcept : outer_(t_interrupted) { t_interrupted = &interrupted; }
place_scope::~place_scope() { t_interrupted = outer_; }

fault_place place_of_fault() noexcept {
  fault_place found{};
  if (t_interrupted == nullptr || !g_kept.load(std::memory_order_relaxed)) return found;
  const registers at = registers_of(*t_interrupted);
  found[0] = at.instruction;
  found[1] = at.caller;
  const std::uintptr_t stack = stack_pointer(*t_interrupted);
  constexpr std::uintptr_t word = sizeof(std::uint64_t);
  const bool inside = stack >= t_stack.low && stack < t_stack.high && stack % word == 0;
  if (!inside || t_stack.high - stack < 2 * word) return found;
  if (found[1] == 0) found[1] = word_at(stack);
  std::uintptr_t frame = at.frame, least = stack;
  for (std::size_t i = 2; i < found.size(); ++i) {
    if (frame < least || frame % word != 0 || frame >= t_stack.high - 2 * word) break;
    found[i] = word_at(frame + word);
    least = frame + word;
    frame = word_at(frame);
  }
  return found;
}

}  // namespace quire::detect
