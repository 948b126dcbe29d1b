// SPDX-License-Identifier: BSD-3-Clause
// Handlers of the program run on the alternate stack that Quire gives each thread: the kernel cannot put a signal's frame on a shared stack whose page
// is elsewhere. Async-signal-safe.
#include "openmp/start/signals.hpp"

#include <dlfcn.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "openmp/memory/heap.hpp"
#include "openmp/threads/records.hpp"
#include "openmp/threads/waiting.hpp"

using namespace quire::openmp;

namespace {

using action_function = int (*)(int, const struct sigaction*, struct sigaction*);

action_function real() noexcept {
  static const auto next = reinterpret_cast<action_function>(::dlsym(RTLD_NEXT, "sigaction"));
  return next;
}

/// Private: libc and the kernel read and write it.
thread_local struct sigaction t_now, t_before;

/// Versions of what this node has, by signal, and the last of all.
std::array<std::atomic<std::uint32_t>, threads_state::most_signals> g_versions{};
std::atomic<std::uint32_t> g_version{0};

/// A thread of the program has set it: other nodes follow when they need it.
void note(int number, const struct sigaction& now) noexcept {
  const bool by_program = are_threads_open() && own() != nullptr && in_heap(__builtin_frame_address(0));  // Quire is on a private stack
  if (!by_program || number <= 0 || number >= threads_state::most_signals) return;
  threads_state& all = threads();
  const auto at = static_cast<std::size_t>(number);
  all.actions[at] = now;
  g_versions[at].store(__atomic_add_fetch(&all.action_versions[at], 1, __ATOMIC_ACQ_REL));
  __atomic_fetch_add(&all.actions_version, 1, __ATOMIC_ACQ_REL);
}

int install(int number, const struct sigaction* now, struct sigaction* before) noexcept {
  if (now != nullptr) {
    t_now = *now;
    t_now.sa_flags |= SA_ONSTACK;
  }
  const int result = real()(number, now != nullptr ? &t_now : nullptr, &t_before);
  if (result == 0 && now != nullptr) note(number, t_now);
  if (result == 0 && before != nullptr) *before = t_before;
  return result;
}

sighandler_t replace(int number, sighandler_t handler, int flags) noexcept {
  struct sigaction now {}, before {};
  now.sa_handler = handler;
  now.sa_flags = flags;
  return install(number, &now, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

namespace quire::openmp {

void repeat_actions() noexcept {
  if (!are_threads_open()) return;
  const threads_state& all = threads();
  const std::uint32_t version = load(all.actions_version);
  if (g_version.exchange(version) == version) return;
  for (std::size_t at = 1; at < g_versions.size(); ++at) {
    const std::uint32_t wanted = load(all.action_versions[at]);
    if (g_versions[at].exchange(wanted) == wanted) continue;
    t_now = all.actions[at];
    (void)real()(static_cast<int>(at), &t_now, nullptr);
  }
}

}  // namespace quire::openmp

#define QUIRE_EXPORT extern "C" __attribute__((visibility("default")))

QUIRE_EXPORT int sigaction(int number, const struct sigaction* now, struct sigaction* before) noexcept { return install(number, now, before); }
QUIRE_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept { return replace(number, handler, SA_RESTART); }
QUIRE_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) noexcept { return replace(number, handler, SA_RESTART); }
QUIRE_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler) noexcept { return replace(number, handler, SA_RESETHAND | SA_NODEFER); }
QUIRE_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept { return replace(number, handler, SA_RESETHAND | SA_NODEFER); }
