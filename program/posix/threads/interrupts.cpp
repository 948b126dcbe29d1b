// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/threads/interrupts.hpp"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>

#include "os/signals_held.hpp"
#include "program/process/fail.hpp"
#include "program/process/interpose.hpp"

namespace quire::program {
namespace {

/// libc's SIGSETXID, by which all threads change their user. The program can neither block nor handle it.
constexpr int interrupting = 33, most_signals = 65;
/// What the signal brings: which one to let in; 0: none. Nobody else has their addresses.
constinit char g_marks[most_signals] = {};

/// As the kernel has it: libc would not set it.
struct kernel_action {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void* restorer;
  std::uint64_t blocked;
};
constexpr std::size_t mask_bytes = sizeof(kernel_action::blocked);
kernel_action g_before{};

long call_kernel(long number, long a = 0, const void* b = nullptr, const void* c = nullptr, long d = 0) noexcept {
  return QUIRE_NEXT(syscall)(number, a, b, c, d);
}

bool send(pid_t thread, int brings) noexcept {
  static thread_local siginfo_t info;  // the kernel reads private memory
  info = {};
  info.si_signo = interrupting;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_ptr = g_marks + brings;
  return QUIRE_NEXT(syscall)(SYS_rt_tgsigqueueinfo, ::getpid(), thread, interrupting, &info) == 0;
}

/// On the alternate stack. The signal's own handler runs within.
void open_to(int number) noexcept {
  const os::signal_bits before = os::change_signal_mask(SIG_UNBLOCK, os::signal_bit(number));
  (void)os::change_signal_mask(SIG_SETMASK, before);
}

/// What was interrupted holds signals, and the handler may want what it has: the driver, a lock. So this one comes
/// again when they are not held any more.
void come_again(int brings, ucontext_t& interrupted) noexcept {
  const os::signal_bits self = os::signal_bit(interrupting);
  (void)os::change_signal_mask(SIG_BLOCK, self);
  os::set_bits(interrupted.uc_sigmask, os::bits_of(interrupted.uc_sigmask) | self);
  (void)send(::gettid(), brings);
}

void on_interrupt(int number, siginfo_t* info, void* context) noexcept {
  const auto which =
      reinterpret_cast<std::uintptr_t>(info->si_value.sival_ptr) - reinterpret_cast<std::uintptr_t>(g_marks);
  auto& interrupted = *static_cast<ucontext_t*>(context);
  if (info->si_code == SI_QUEUE && info->si_pid == ::getpid() && which < most_signals) {
    const int saved = errno;
    if (which != 0 && os::are_held(interrupted)) {
      come_again(static_cast<int>(which), interrupted);
    } else if (which != 0) {
      open_to(static_cast<int>(which));
    }
    errno = saved;
  } else if (g_before.handler != nullptr) {
    g_before.handler(number, info, context);
  }
}

/// Of teams. They live as long as the job.
struct blocking_thread {
  pthread_t handle{};
  pid_t number = 0;
  blocking_thread* next = nullptr;
};
std::atomic<blocking_thread*> g_blocking{nullptr};

}  // namespace

void interruptible::begin(std::uint32_t turn) noexcept {
  if (depth_++ != 0) return;
  if (thread_ == 0) thread_ = ::gettid();
  state_.store(turn * mask + inside);
}

bool interruptible::end() noexcept {
  if (--depth_ != 0) return false;
  std::uint64_t now = state_.load();
  while (step_of(now) == being_hit || !state_.compare_exchange_weak(now, now - step_of(now))) {
    ::sched_yield();
    now = state_.load();
  }
  if (step_of(now) != hit) return false;
  (void)call_kernel(SYS_getppid);  // the signal comes here at the latest
  return true;
}

bool interruptible::interrupt(std::uint32_t turn) noexcept {
  std::uint64_t now = state_.load();
  do {
    if (now / mask != turn || step_of(now) == outside) return false;
    if (step_of(now) == being_hit) return true;
  } while (!state_.compare_exchange_weak(now, turn * mask + being_hit));
  (void)send(thread_, 0);
  state_.store(turn * mask + hit);
  return true;
}

void interruptible::note_interrupt() noexcept {
  std::uint64_t now = state_.load();
  while (step_of(now) == inside && !state_.compare_exchange_weak(now, now - inside + hit)) {
  }
}

void open_interrupts() noexcept {
  static kernel_action now{};
  if (call_kernel(SYS_rt_sigaction, SIGSEGV, nullptr, &now, mask_bytes) != 0 ||  // Quire's, with what libc returns by
      call_kernel(SYS_rt_sigaction, interrupting, nullptr, &g_before, mask_bytes) != 0)
    fail_for_system("signals cannot be handled", errno, QUIRE_SYSTEM);
  if ((g_before.flags & SA_SIGINFO) == 0) g_before.handler = nullptr;
  constexpr unsigned long kept = 0x04000000;  // SA_RESTORER
  now = {on_interrupt, (now.flags & kept) | SA_SIGINFO | SA_ONSTACK | SA_NODEFER, now.restorer, 0};
  if (call_kernel(SYS_rt_sigaction, interrupting, &now, nullptr, mask_bytes) != 0)
    fail_for_system("signals cannot be handled", errno, QUIRE_SYSTEM);
}

namespace {
thread_local constinit blocking_thread t_self{};
}
bool is_let_in() noexcept { return t_self.number != 0; }

void begin_to_let_in() noexcept {
  if (is_let_in()) return;
  t_self.handle = ::pthread_self();
  t_self.number = ::gettid();
  t_self.next = g_blocking.load();
  while (!g_blocking.compare_exchange_weak(t_self.next, &t_self)) {
  }
}

void let_in(pthread_t thread, int number) noexcept {
  if (number <= 0 || number >= most_signals) return;
  for (const blocking_thread* t = g_blocking.load(); t != nullptr; t = t->next) {
    if (::pthread_equal(t->handle, thread) != 0) (void)send(t->number, number);
  }
}

}  // namespace quire::program
