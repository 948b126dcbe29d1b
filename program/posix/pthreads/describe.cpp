// SPDX-License-Identifier: BSD-3-Clause
// A thread's attributes, which libc keeps in memory of the node that has set them.
#include "program/posix/heap/heap.hpp"
#include "program/posix/memory/release_heap.hpp"
#include "program/posix/pthreads/starting.hpp"
#include "program/process/programs_mask.hpp"

namespace quire::program {
namespace {

std::size_t stack_bytes(const pthread_attr_t* about) noexcept {
  constexpr std::size_t usual = 8u << 20, most = std::size_t{1} << 36;
  std::size_t bytes = usual;
  if (about != nullptr) (void)::pthread_attr_getstacksize(about, &bytes);
  return bytes > most ? usual : (bytes + 4095) / 4096 * 4096;
}

/// The stack that the program has chosen, if that is shared: the thread itself gets another one then. So do its
/// functions, where that one has release consistency: variables on stacks may be flags.
void describe_stack(const pthread_attr_t* about, new_thread& to) noexcept {
  void* stack = nullptr;
  std::size_t bytes = 0;
  to.stack_bytes = stack_bytes(about);
  if (about == nullptr || ::pthread_attr_getstack(about, &stack, &bytes) != 0 || !in_heap(stack)) return;
  to.has_shared_stack = true;
  if (in_release_heap(stack)) return;
  to.top = static_cast<std::byte*>(stack) + bytes;
  to.chosen_bytes = bytes;
}

void describe_schedule(const pthread_attr_t* about, new_thread& to) noexcept {
  int inherits = PTHREAD_INHERIT_SCHED;
  (void)::pthread_attr_getinheritsched(about, &inherits);
  to.has_schedule = inherits == PTHREAD_EXPLICIT_SCHED;
  (void)::pthread_attr_getschedpolicy(about, &to.policy);
  (void)::pthread_attr_getschedparam(about, &to.parameters);
}

/// All processors, as libc says where nothing was set, are no choice.
void describe_affinity(const pthread_attr_t* about, new_thread& to) noexcept {
  cpu_set_t set;
  if (::pthread_attr_getaffinity_np(about, sizeof set, &set) != 0) return;
  to.has_affinity = CPU_COUNT(&set) != CPU_SETSIZE;
  to.affinity = set;
}

/// Signals that the attributes block, if they say anything of that: else the maker's mask holds.
void describe_mask([[maybe_unused]] const pthread_attr_t* about, [[maybe_unused]] new_thread& to) noexcept {
#ifdef PTHREAD_ATTR_NO_SIGMASK_NP
  sigset_t mask;
  if (::pthread_attr_getsigmask_np(about, &mask) == 0) to.mask = mask;
#endif
}

void copy_stack(const pthread_attr_t& from, pthread_attr_t& to) noexcept {
  void* stack = nullptr;
  std::size_t bytes = 0, guard = 0;
  if (::pthread_attr_getstack(&from, &stack, &bytes) == 0 && reinterpret_cast<std::uintptr_t>(stack) + bytes != 0)
    (void)::pthread_attr_setstack(&to, stack, bytes);
  else if (::pthread_attr_getstacksize(&from, &bytes) == 0)
    (void)::pthread_attr_setstacksize(&to, bytes);
  if (::pthread_attr_getguardsize(&from, &guard) == 0) (void)::pthread_attr_setguardsize(&to, guard);
}

}  // namespace

void copy_attributes(const pthread_attr_t& from, pthread_attr_t& to) noexcept {
  const new_thread said = describe(&from, nullptr, nullptr);
  (void)::pthread_attr_init(&to);
  copy_stack(from, to);
  int inherits = PTHREAD_INHERIT_SCHED, scope = PTHREAD_SCOPE_SYSTEM;
  if (::pthread_attr_getinheritsched(&from, &inherits) == 0) (void)::pthread_attr_setinheritsched(&to, inherits);
  if (::pthread_attr_getscope(&from, &scope) == 0) (void)::pthread_attr_setscope(&to, scope);
  (void)::pthread_attr_setschedpolicy(&to, said.policy);
  (void)::pthread_attr_setschedparam(&to, &said.parameters);
  if (said.has_affinity) (void)::pthread_attr_setaffinity_np(&to, sizeof said.affinity, &said.affinity);
#ifdef PTHREAD_ATTR_NO_SIGMASK_NP
  sigset_t mask;
  if (::pthread_attr_getsigmask_np(&from, &mask) == 0) (void)::pthread_attr_setsigmask_np(&to, &mask);
#endif
}

new_thread describe(const pthread_attr_t* about, void* (*body)(void*), void* argument) noexcept {
  new_thread found;
  found.body = body;
  found.argument = argument;
  describe_stack(about, found);
  found.mask = mask_to_inherit();
  if (about == nullptr) return found;
  int detached = PTHREAD_CREATE_JOINABLE;
  (void)::pthread_attr_getdetachstate(about, &detached);
  found.detached = detached == PTHREAD_CREATE_DETACHED;
  describe_schedule(about, found);
  describe_affinity(about, found);
  describe_mask(about, found);
  return found;
}

}  // namespace quire::program
