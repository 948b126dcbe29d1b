// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/programs_mask.hpp"

#include <pthread.h>

#include "os/signals_held.hpp"

namespace quire::program {
namespace {

sigset_t g_mask{};
thread_local constinit bool t_blocks = false;

}  // namespace

void note_programs_mask() noexcept {
  if (!t_blocks) (void)::pthread_sigmask(SIG_SETMASK, nullptr, &g_mask);
}

void note_own_mask() noexcept { t_blocks = true; }

void block_signals() noexcept {
  (void)os::hold_signals();
  note_own_mask();
}

sigset_t mask_to_inherit() noexcept {
  if (t_blocks) return g_mask;
  sigset_t own;
  (void)::pthread_sigmask(SIG_SETMASK, nullptr, &own);
  return own;
}

programs_mask::programs_mask() noexcept {
  before_ = os::change_signal_mask(SIG_SETMASK, os::bits_of(mask_to_inherit()));
}

programs_mask::~programs_mask() { (void)os::change_signal_mask(SIG_SETMASK, before_); }

}  // namespace quire::program
