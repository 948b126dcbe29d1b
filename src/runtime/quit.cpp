// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/quit.hpp"

#include <signal.h>

#include <cerrno>

#include "runtime/forward.hpp"
#include "runtime/runtime.hpp"

namespace quire::api {
namespace {

struct sigaction g_action_before {};

/// The handler may run in any thread at any moment: it rings a bell, and the service thread speaks.
void on_quit(int, siginfo_t* info, void*) {
  const int saved = errno;
  runtime* const r = current();
  // The terminal's has come to `quire run` as well, which asks all nodes.
  const bool asked_by_launcher = info->si_code == SI_KERNEL && r != nullptr && r->job->descriptor() >= 0;
  if (auto* const there = elsewhere()) {
    there->signal_engine(SIGQUIT);
  } else if (r != nullptr && !asked_by_launcher) {
    r->node->threads().ask_for_waits();
  }
  errno = saved;
}

}  // namespace

bool is_quit_handler(const void* handler) noexcept { return handler == reinterpret_cast<const void*>(on_quit); }

void install_quit() noexcept {
  struct sigaction now {};
  if (::sigaction(SIGQUIT, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0) return;
  if (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN) return;
  g_action_before = now;
  struct sigaction ours {};
  ours.sa_sigaction = on_quit;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  (void)::sigaction(SIGQUIT, &ours, nullptr);
}

void remove_quit() noexcept {
  struct sigaction now {};
  if (::sigaction(SIGQUIT, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) == 0 || now.sa_sigaction != on_quit)
    return;
  (void)::sigaction(SIGQUIT, &g_action_before, nullptr);
}

}  // namespace quire::api
