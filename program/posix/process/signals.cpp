// SPDX-License-Identifier: BSD-3-Clause
// Handlers of the program run on the alternate stack that Quire gives each thread: the kernel cannot put a signal's
// frame on a shared stack whose page is elsewhere. Async-signal-safe.
#include "program/posix/process/signals.hpp"

#include <signal.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "program/posix/errands/errand.hpp"
#include "program/posix/errands/where.hpp"
#include "program/process/interpose.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/job/shared_state.hpp"

using namespace quire::openmp;

namespace {

using action_function = int(int, const struct sigaction*, struct sigaction*);

action_function* real() noexcept { return QUIRE_NEXT_AS(action_function, "sigaction"); }

/// Private: libc and the kernel read and write it.
thread_local struct sigaction t_now, t_before;

/// Versions of what this node has, by signal, and the last of all.
std::array<std::atomic<std::uint32_t>, signal_actions::most> g_versions{};
std::atomic<std::uint32_t> g_version{0};

/// The program has handlers.
std::atomic<bool> g_handles{false};
void look_for_handler(const struct sigaction& now) noexcept {
  if (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN) g_handles.store(true);
}

/// A thread of the program has set it: other nodes follow when they need it.
void note(int number, const struct sigaction& now) noexcept {
  if (number <= 0 || number >= signal_actions::most) return;
  signal_actions& all = shared().actions;
  const auto at = static_cast<std::size_t>(number);
  all.set[at] = now;
  g_versions[at].store(__atomic_add_fetch(&all.versions[at], 1, __ATOMIC_ACQ_REL));
  __atomic_fetch_add(&all.version, 1, __ATOMIC_ACQ_REL);
  look_for_handler(now);
  prepare_for_handlers();
  // Node 0 writes for all, and the kernel sends it this one.
  if (number == SIGPIPE && files::apart && job().node != 0) (void)call_on_node(0, [] { return repeat_actions(), 0; });
}

int install(int number, const struct sigaction* now, struct sigaction* before, const void* caller) noexcept {
  if (now != nullptr) {
    t_now = *now;
    t_now.sa_flags |= SA_ONSTACK;
  }
  const int result = real()(number, now != nullptr ? &t_now : nullptr, &t_before);
  if (result == 0 && now != nullptr && for_program(caller)) note(number, t_now);
  if (result == 0 && before != nullptr) *before = t_before;
  return result;
}

sighandler_t replace(int number, sighandler_t handler, int flags, const void* caller) noexcept {
  struct sigaction now {
  }, before{};
  now.sa_handler = handler;
  now.sa_flags = flags;
  return install(number, &now, &before, caller) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

namespace quire::openmp {

void repeat_actions() noexcept {
  const signal_actions& all = shared().actions;
  const std::uint32_t version = __atomic_load_n(&all.version, __ATOMIC_ACQUIRE);
  if (g_version.load() == version) return;
  for (std::size_t at = 1; at < g_versions.size(); ++at) {
    const std::uint32_t wanted = __atomic_load_n(&all.versions[at], __ATOMIC_ACQUIRE);
    if (g_versions[at].load() == wanted) continue;
    t_now = all.set[at];
    look_for_handler(t_now);
    (void)real()(static_cast<int>(at), &t_now, nullptr);
    g_versions[at].store(wanted);
  }
  g_version.store(version);  // behind: another thread that sees it sends signals
}

void prepare_for_handlers() noexcept {
  if (g_handles.load() && files::apart && files::is_node()) prepare_clerks();
}

}  // namespace quire::openmp

#define QUIRE_EXPORT extern "C" __attribute__((visibility("default")))

QUIRE_EXPORT int sigaction(int number, const struct sigaction* now, struct sigaction* before) noexcept {
  return install(number, now, before, QUIRE_CALLER);
}
QUIRE_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  return replace(number, handler, SA_RESTART, QUIRE_CALLER);
}
QUIRE_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) noexcept {
  return replace(number, handler, SA_RESTART, QUIRE_CALLER);
}
QUIRE_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler) noexcept {
  return replace(number, handler, SA_RESETHAND | SA_NODEFER, QUIRE_CALLER);
}
QUIRE_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  return replace(number, handler, SA_RESETHAND | SA_NODEFER, QUIRE_CALLER);
}
