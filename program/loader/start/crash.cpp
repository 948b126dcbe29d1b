// SPDX-License-Identifier: BSD-3-Clause
#include "program/loader/start/crash.hpp"
#include "program/posix/memory/own_addresses.hpp"
#include "program/posix/memory/private_notes.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "program/job/job.hpp"
#include "program/posix/memory/thread_data.hpp"
#include "program/process/interpose.hpp"

namespace quire::program {
namespace {

std::atomic<bool> g_stops{false};
pthread_t g_goes_on;

void say(std::uint64_t address) noexcept {
  const int thread_of = node_of_place(address), noted = thread_of >= 0 ? thread_of : node_of_note(address);
  const int node = noted >= 0 ? noted : node_of_private(address);
  if (node < 0 || node == job().node) return;
  char line[500];
  const int length = std::snprintf(
      line, sizeof line,
      "quire: OpenMP: node %d has accessed 0x%lx, private memory of node %d: %s are of "
      "the node that has made them (program/README.md, docs/mappings.md)\n",
      job().node, static_cast<unsigned long>(address), node,
      thread_of >= 0 ? "thread-local variables of libraries"
                     : "streams (FILE), handles of libc, mappings of files, at fixed addresses or with PROT_EXEC, and "
                       "System V segments");
  (void)!::write(2, line, static_cast<std::size_t>(length));
}

/// Then what would have happened without: the access is repeated.
void on_crash(int number, siginfo_t* about, void*) noexcept {
  if (g_stops.load() && ::pthread_equal(::pthread_self(), g_goes_on) == 0) {
    for (;;) ::pause();
  }
  if (about->si_code > 0) say(reinterpret_cast<std::uint64_t>(about->si_addr));
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  (void)::sigaction(number, &by_default, nullptr);
  if (about->si_code <= 0) (void)::raise(number);
}

}  // namespace

void explain_crashes() noexcept {
  struct sigaction ours {};
  ours.sa_sigaction = on_crash;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigfillset(&ours.sa_mask);
  (void)::sigaction(SIGSEGV, &ours, nullptr);
  (void)::sigaction(SIGBUS, &ours, nullptr);
}

void stop_others_at_faults() noexcept {
  g_goes_on = ::pthread_self();
  g_stops.store(true);
  explain_crashes();
}

}  // namespace quire::program
