// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/errands/actions.hpp"

#include <array>
#include <atomic>
#include <cstdint>

#include "program/job/shared_state.hpp"
#include "program/process/interpose.hpp"

namespace quire::program {
namespace {

using action_function = int(int, const struct sigaction*, struct sigaction*);

/// Private: libc and the kernel read it.
thread_local struct sigaction t_repeated;

/// Versions of what this node has, by signal, and the last of all.
std::array<std::atomic<std::uint32_t>, signal_actions::most> g_versions{};
std::atomic<std::uint32_t> g_version{0};

/// The program has handlers.
std::atomic<bool> g_handles{false};
void look_for_handler(const struct sigaction& now) noexcept {
  if (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN) g_handles.store(true);
}

}  // namespace

void note_action(int number, const struct sigaction& now) noexcept {
  signal_actions& all = shared().actions;
  const auto at = static_cast<std::size_t>(number);
  all.set[at] = now;
  g_versions[at].store(__atomic_add_fetch(&all.versions[at], 1, __ATOMIC_ACQ_REL));
  __atomic_fetch_add(&all.version, 1, __ATOMIC_ACQ_REL);
  look_for_handler(now);
}

void repeat_actions() noexcept {
  const signal_actions& all = shared().actions;
  const std::uint32_t version = __atomic_load_n(&all.version, __ATOMIC_ACQUIRE);
  if (g_version.load() == version) return;
  for (std::size_t at = 1; at < g_versions.size(); ++at) {
    const std::uint32_t wanted = __atomic_load_n(&all.versions[at], __ATOMIC_ACQUIRE);
    if (g_versions[at].load() == wanted) continue;
    t_repeated = all.set[at];
    look_for_handler(t_repeated);
    (void)QUIRE_NEXT_AS(action_function, "sigaction")(static_cast<int>(at), &t_repeated, nullptr);
    g_versions[at].store(wanted);
  }
  g_version.store(version);  // behind: another thread that sees it sends signals
}

bool are_there_handlers() noexcept { return g_handles.load(); }

}  // namespace quire::program
