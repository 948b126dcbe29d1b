// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/process/exit_stack.hpp"

#include "program/posix/errands/where.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/posix/memory/stacks.hpp"

namespace quire::program {
namespace {

constexpr std::size_t spare_bytes = 8u << 20;
std::byte* g_spare = nullptr;
thread_local constinit std::byte* t_top = nullptr;

}  // namespace

void open_exit_stack() noexcept { g_spare = make_stack(spare_bytes, "nothing: a handler of exit(3) has no end"); }

void end_below(std::byte* top) noexcept { t_top = top; }

void call_at_end(void (*what)(void*), void* at) {
  if (!is_heap_open() || in_heap(__builtin_frame_address(0)) || !files::is_node()) return what(at);
  std::byte* const top = t_top != nullptr ? t_top : g_spare;
  if (top == nullptr) return what(at);
  remember_private_stack();
  call_on(top, what, at);
}

}  // namespace quire::program
