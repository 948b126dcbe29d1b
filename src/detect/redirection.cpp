// SPDX-License-Identifier: BSD-3-Clause
#include "detect/redirection.hpp"

#include <cstdint>
#include <cstring>

#include "detect/alternate_stack.hpp"
#include "detect/private_stack.hpp"

namespace quire::detect {
namespace {

/// Where a function may put its frame.
std::uintptr_t room_below(const ucontext_t& interrupted) noexcept {
  constexpr std::uintptr_t red_zone = 128, alignment = 16;
  const std::uintptr_t stack = stack_pointer(interrupted);
  if (is_shared_stack(stack)) {
    if (const private_stack own = private_stack_of_thread(); own.arguments != nullptr) return own.top;
  }
  return (stack - red_zone) / alignment * alignment;
}

#if defined(__x86_64__)
/// The register file as a function expects it: an empty x87 stack, and upper halves of vectors at zero, which keeps
/// later SSE fast.
void clear_floating_point(ucontext_t& interrupted) noexcept {
  const auto state = interrupted.uc_mcontext.fpregs;
  if (state == nullptr) return;
  state->ftw = 0;
  state->swd = 0;
  // Behind the 512 bytes of FXSAVE, where their last 48 say so, lies the header of XSAVE: bits of the parts that are
  // not in their initial state.
  constexpr std::size_t reserved = 464, header = 512;
  constexpr std::uint32_t magic = 0x46505853;       // FP_XSTATE_MAGIC1
  constexpr std::uint64_t upper_halves = 4 | 0xe0;  // AVX, AVX-512
  auto* const bytes = reinterpret_cast<std::byte*>(state);
  std::uint32_t told = 0;
  std::memcpy(&told, bytes + reserved, sizeof told);
  if (told != magic) return;
  std::uint64_t parts = 0;
  std::memcpy(&parts, bytes + header, sizeof parts);
  parts &= ~upper_halves;
  std::memcpy(bytes + header, &parts, sizeof parts);
}
#endif

}  // namespace

void redirect(ucontext_t& interrupted, redirection to) noexcept {
  const std::uintptr_t top = room_below(interrupted);
  auto& machine = interrupted.uc_mcontext;
#if defined(__x86_64__)
  constexpr greg_t trap = 0x100, direction = 0x400;
  machine.gregs[REG_RSP] = static_cast<greg_t>(
      top - 8);  // where a call has put its return address: nothing is written, as the page may be elsewhere
  machine.gregs[REG_RIP] = reinterpret_cast<greg_t>(to);
  machine.gregs[REG_EFL] &= ~(trap | direction);
  clear_floating_point(interrupted);
#elif defined(__aarch64__)
  constexpr std::uint64_t branch_type = 0xc00;
  machine.sp = top;
  machine.pc = reinterpret_cast<std::uint64_t>(to);
  machine.regs[30] = 0;
  machine.pstate &= ~branch_type;
#else
#error "how does a function begin on this processor?"
#endif
}

}  // namespace quire::detect
