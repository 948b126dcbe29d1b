// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/start/programs_mask.hpp"

#include <pthread.h>

#include <initializer_list>

namespace quire::openmp {
namespace {

sigset_t g_mask{};
thread_local constinit bool t_blocks = false;

}  // namespace

void note_programs_mask() noexcept {
  if (!t_blocks) (void)::pthread_sigmask(SIG_SETMASK, nullptr, &g_mask);
}

void note_own_mask() noexcept { t_blocks = true; }

void block_signals() noexcept {
  sigset_t others;
  ::sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) ::sigdelset(&others, own);
  (void)::pthread_sigmask(SIG_BLOCK, &others, nullptr);
  note_own_mask();
}

sigset_t mask_to_inherit() noexcept {
  if (t_blocks) return g_mask;
  sigset_t own;
  (void)::pthread_sigmask(SIG_SETMASK, nullptr, &own);
  return own;
}

programs_mask::programs_mask() noexcept {
  const sigset_t wanted = mask_to_inherit();
  (void)::pthread_sigmask(SIG_SETMASK, &wanted, &before_);
}

programs_mask::~programs_mask() { (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace quire::openmp
