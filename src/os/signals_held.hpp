// SPDX-License-Identifier: BSD-3-Clause
// Where Quire has what a signal handler of the program may need (a lock, the driver), signals wait. Any thread,
// async-signal-safe.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>

#include "os/raw_call.hpp"

namespace quire::os {

/// The kernel's mask of signals: signal N is bit N - 1.
using signal_bits = std::uint64_t;

constexpr signal_bits signal_bit(int signal) noexcept { return signal_bits{1} << (signal - 1); }

/// All but those that a thread causes itself. Among them is libc's SIGCANCEL, which no program can block: a thread that
/// blocks it is in code of Quire's that holds signals back.
constexpr signal_bits held_signals = ~(signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGFPE) |
                                       signal_bit(SIGILL) | signal_bit(SIGTRAP) | signal_bit(SIGABRT) |
                                       // libc's SIGSETXID: who changes the user waits for all threads
                                       signal_bit(33));

/// By the kernel itself: libc would neither block nor give back its own signals. The mask before.
inline signal_bits change_signal_mask(int how, signal_bits to) noexcept {
  signal_bits before = 0;
  (void)raw_call(SYS_rt_sigprocmask, how, reinterpret_cast<long>(&to), reinterpret_cast<long>(&before), sizeof to);
  return before;
}

/// To the end of the thread, or to `change_signal_mask(SIG_SETMASK, what this has returned)`.
inline signal_bits hold_signals() noexcept { return change_signal_mask(SIG_BLOCK, held_signals); }

/// As long as this lives. Threads that are started meanwhile hold them for good: they run no handler of the program.
class signals_held {
 public:
  signals_held() noexcept : before_(hold_signals()) {}
  ~signals_held() { (void)change_signal_mask(SIG_SETMASK, before_); }
  signals_held(const signals_held&) = delete;
  signals_held& operator=(const signals_held&) = delete;

 private:
  signal_bits before_;
};

inline signal_bits bits_of(const sigset_t& set) noexcept {
  signal_bits bits = 0;
  std::memcpy(&bits, &set, sizeof bits);
  return bits;
}
/// Whether what was interrupted holds signals.
inline bool are_held(const ucontext_t& interrupted) noexcept {
  constexpr int cancelling = 32;
  return (bits_of(interrupted.uc_sigmask) & signal_bit(cancelling)) != 0;
}
inline void set_bits(sigset_t& set, signal_bits bits) noexcept { std::memcpy(&set, &bits, sizeof bits); }

}  // namespace quire::os
