// SPDX-License-Identifier: BSD-3-Clause
// SIGSEGV and SIGBUS: the way in for faults that the faulting thread handles itself. Read or write is told from the
// fault's own error code, so that a write miss takes one fault.
//
// These handlers stay first. What the program had installed before, or installs later (chain_signal), is called for
// what is not a fault of shared memory, as the kernel would call it: with its mask, once only if it is for one time,
// never within itself.
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/log.hpp"
#include "detect/alternate_stack.hpp"
#include "detect/detector.hpp"
#include "detect/fault_place.hpp"
#include "detect/redirection.hpp"
#include "os/memory.hpp"
#include "os/signals_held.hpp"

namespace quire::detect {
namespace {

constexpr os::signal_bits faults = os::signal_bit(SIGSEGV) | os::signal_bit(SIGBUS);

std::atomic<fault_handler> g_handler{nullptr};
std::atomic<lost_check> g_is_lost{nullptr};
std::atomic<redirection (*)() noexcept> g_ask{nullptr};
std::atomic<code_check> g_may_run{nullptr};
std::atomic<bool> g_chains{false};  ///< the application's own handlers are called after ours
struct sigaction g_before_segv, g_before_bus;
std::atomic<bool> g_is_handled{false};  ///< by a handler that has come since
/// What the thread had blocked when the fault came that it is in; null outside of faults.
thread_local constinit const sigset_t* t_interrupted_mask __attribute__((tls_model("initial-exec"))) = nullptr;

bool is_write(const void* context) noexcept {
#if defined(__x86_64__)
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#elif defined(__aarch64__)
  // The exception syndrome is the ESR record of the extra context; bit 6 is WnR of a data abort.
  const auto* bytes = static_cast<const ucontext_t*>(context)->uc_mcontext.__reserved;
  for (std::size_t at = 0; at < 4096;) {
    const auto* head = reinterpret_cast<const _aarch64_ctx*>(bytes + at);
    if (head->magic == ESR_MAGIC) return (reinterpret_cast<const esr_context*>(head)->esr & 64) != 0;
    if (head->magic == 0 || head->size == 0) break;
    at += head->size;
  }
  return false;
#else
#error "tell a write fault from a read fault on this processor"
#endif
}

/// The processor could not fetch an instruction.
bool is_fetch(const void* context, std::uint64_t address) noexcept {
#if defined(__x86_64__)
  (void)address;
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 16) != 0;
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.pc == address;
#endif
}

void end_by_default(int signal) noexcept {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  g_chains.store(false);
  ::sigaction(signal, &by_default, nullptr);
}

/// Where the handler of the program runs that this thread is in, by signal: 0 is SIGSEGV, 1 SIGBUS.
thread_local constinit std::uintptr_t t_inside[2] __attribute__((tls_model("initial-exec"))) = {};

/// Whether the code that was interrupted is called by a handler that stands at `frame`. A handler that was left by
/// siglongjmp(3) is not below it any more.
bool is_within(std::uintptr_t frame, const ucontext_t& context) noexcept {
  constexpr std::uintptr_t farthest = 1u << 20;
  return frame != 0 && frame - stack_pointer(context) < farthest;
}

/// Calls a handler of the program as the kernel would.
void call_handler(int signal, struct sigaction& kept, siginfo_t* info, void* context) noexcept {
  auto& interrupted = *static_cast<ucontext_t*>(context);
  const struct sigaction now = kept;
  std::uintptr_t& inside = t_inside[signal == SIGBUS ? 1 : 0];
  if ((now.sa_flags & SA_NODEFER) == 0 &&
      is_within(inside, interrupted)) {  // the kernel does not ask a handler that faults itself
    end_by_default(signal);
    if (info->si_code <= 0) ::raise(signal);
    return;
  }
  if ((now.sa_flags & SA_RESETHAND) != 0) kept.sa_handler = SIG_DFL;
  const os::signal_bits mask = os::bits_of(interrupted.uc_sigmask) | os::bits_of(now.sa_mask);
  const os::signal_bits before = os::change_signal_mask(SIG_SETMASK, mask & ~faults);
  const std::uintptr_t outer = inside;
  inside = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if ((now.sa_flags & SA_SIGINFO) != 0) {
    now.sa_sigaction(signal, info, context);
  } else {
    now.sa_handler(signal);
  }
  inside = outer;
  (void)os::change_signal_mask(SIG_SETMASK, before);
}

bool has_handler(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

/// Not ours: what would have happened without Quire.
void pass_on(int signal, siginfo_t* info, void* context) noexcept {
  struct sigaction& before = signal == SIGSEGV ? g_before_segv : g_before_bus;
  if (has_handler(before)) return call_handler(signal, before, info, context);
  if (before.sa_handler == SIG_IGN && info->si_code <= 0) return;
  // The access is repeated on return and ends the process with its own signal and core; a sent signal is sent again.
  end_by_default(signal);
  if (info->si_code <= 0) ::raise(signal);
}

/// The unit is lost: SIGBUS with the address of the access, whatever the detector's own signal was.
void tell_lost(const lost_unit& what, int signal, const siginfo_t* info, void* context) noexcept {
  siginfo_t told = *info;
  told.si_signo = SIGBUS;
  told.si_code = what.beyond ? BUS_ADRERR : BUS_OBJERR;
  if (has_handler(g_before_bus)) return call_handler(SIGBUS, g_before_bus, &told, context);
  base::log(base::log_level::error, "a thread used shared memory at 0x%lx, %s; it gets SIGBUS, and handles it not",
            reinterpret_cast<unsigned long>(info->si_addr), what.why);
  end_by_default(SIGBUS);
  if (signal != SIGBUS) ::raise(SIGBUS);  // else the access is repeated
}

/// The page is closed: SIGSEGV, whatever the detector's own signal was.
void tell_closed(const lost_unit& what, siginfo_t* info, void* context) noexcept {
  siginfo_t told = *info;
  told.si_signo = SIGSEGV;
  told.si_code = SEGV_ACCERR;
  if (has_handler(g_before_segv)) return call_handler(SIGSEGV, g_before_segv, &told, context);
  base::log(base::log_level::error, "a thread has accessed 0x%lx, %s", reinterpret_cast<unsigned long>(info->si_addr),
            what.why);
  end_by_default(SIGSEGV);
  ::raise(SIGSEGV);
}

struct fault {
  fault_handler handler;
  std::uint64_t address;
  bool write;
  bool taken;
};

/// Serves the fault on a stack that has room for it.
bool serve(fault_handler handler, const siginfo_t& info, ucontext_t& context) noexcept {
  const place_scope place(context);
  fault f{handler, reinterpret_cast<std::uint64_t>(info.si_addr), is_write(&context), false};
  give_alternate_stack(context);
  on_roomy_stack(
      context,
      [](void* at) {
        auto& self = *static_cast<fault*>(at);
        self.taken = self.handler(self.address, self.write);
      },
      &f);
  return f.taken;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  auto& interrupted = *static_cast<ucontext_t*>(context);
  const auto handler = g_handler.load(std::memory_order_acquire);
  const sigset_t* const outer = t_interrupted_mask;
  // Where the fault is served elsewhere, signals wait to its end: their handlers would begin where this frame lies.
  t_interrupted_mask = needs_roomy_stack(interrupted) ? nullptr : &interrupted.uc_sigmask;
  const auto may_run = g_may_run.load(std::memory_order_relaxed);
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  const bool refused = may_run != nullptr && info->si_code > 0 && is_fetch(context, address) && !may_run(address);
  const bool taken = handler != nullptr && info->si_code > 0 && !refused && serve(handler, *info, interrupted);
  t_interrupted_mask = outer;
  // Not out of a fault within a fault (a handler of the program that was let in): the outer one is not served yet, and
  // others know of it.
  if (const auto ask = g_ask.load(std::memory_order_acquire); taken && outer == nullptr && ask != nullptr) {
    if (const redirection to = ask(); to != nullptr) redirect(interrupted, to);
  }
  const auto is_lost = g_is_lost.load(std::memory_order_relaxed);
  const lost_unit lost = taken || is_lost == nullptr ? lost_unit{} : is_lost();
  errno = saved;
  if (lost.closed) return tell_closed(lost, info, context);
  if (lost.why != nullptr) return tell_lost(lost, signal, info, context);
  if (!taken) pass_on(signal, info, context);
}

}  // namespace

base::status install_signals(fault_handler handler, lost_check is_lost, shared_check is_shared,
                             code_check may_run) noexcept {
  // A forked child has no shared memory: what it touches there ends it, as any wrong address does.
  static const int once = ::pthread_atfork(nullptr, nullptr, [] { g_handler.store(nullptr); });
  (void)once;
  keep_off_stacks_at(is_shared);
  g_handler.store(handler, std::memory_order_release);
  g_is_lost.store(is_lost);
  g_may_run.store(may_run);
  struct sigaction ours {};
  ours.sa_sigaction = on_signal;
  // Other signals wait until the fault is served: their handlers may touch shared memory too. A fault within a fault is
  // one of the runtime itself, which finds no frame behind the system view: it comes here and ends the process with the
  // reason.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  os::set_bits(ours.sa_mask, os::held_signals);
  if (::sigaction(SIGSEGV, &ours, &g_before_segv) != 0 || ::sigaction(SIGBUS, &ours, &g_before_bus) != 0) {
    base::log(base::log_level::error, "cannot install the handlers of SIGSEGV and SIGBUS (errno %d)", errno);
    return QUIRE_SYSTEM;
  }
  g_chains.store(true);
  give_alternate_stack();
  return {};
}

void redirect_faults_by(redirection (*ask)() noexcept) noexcept { g_ask.store(ask, std::memory_order_release); }

void prepare_thread() noexcept {
  if (g_chains.load()) give_alternate_stack();
  prepare_place();
}

signals_let_in::signals_let_in() noexcept : active_(t_interrupted_mask != nullptr) {
  if (!active_) return;
  before_ = os::change_signal_mask(SIG_SETMASK, os::bits_of(*t_interrupted_mask) & ~faults);
}

signals_let_in::~signals_let_in() {
  if (active_) (void)os::change_signal_mask(SIG_SETMASK, before_);
}

bool chain_signal(int signal, const struct sigaction* now, struct sigaction* before) noexcept {
  if ((signal != SIGSEGV && signal != SIGBUS) || !g_chains.load()) return false;
  struct sigaction& kept = signal == SIGSEGV ? g_before_segv : g_before_bus;
  if (before != nullptr) *before = kept;
  if (now != nullptr) kept = *now;
  if (now != nullptr && signal == SIGSEGV) g_is_handled.store(has_handler(*now));
  return true;
}

bool handles_bad_accesses() noexcept { return g_is_handled.load(); }

void remove_signals() noexcept {
  g_chains.store(false);
  for (const int signal : {SIGSEGV, SIGBUS}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_signal) {
      ::sigaction(signal, signal == SIGSEGV ? &g_before_segv : &g_before_bus, nullptr);
    }
  }
  g_handler.store(nullptr, std::memory_order_release);
}

void hold_threads(std::uint64_t base, std::uint64_t bytes) noexcept {
  static std::uint64_t from, length;
  static pid_t leaver;
  from = base, length = bytes, leaver = ::gettid();
  g_handler.store(
      [](std::uint64_t address, bool) noexcept {
        if (address - from >= length || ::gettid() == leaver) return false;
        const signals_let_in handled;
        for (;;) ::pause();
      },
      std::memory_order_release);
  (void)os::reserve_again(reinterpret_cast<void*>(base), bytes);  // else the memory is still there, and does no harm
}

}  // namespace quire::detect
