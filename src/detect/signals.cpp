// SIGSEGV and SIGBUS: the way in for faults that the faulting thread handles itself. Read or write is told from the
// fault's own error code, so that a write miss takes one fault.
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>

#include "base/log.hpp"
#include "detect/detector.hpp"

namespace quire::detect {
namespace {

std::atomic<fault_handler> g_handler{nullptr};
std::atomic<lost_check> g_is_lost{nullptr};
std::atomic<bool> g_chains{false};  ///< the application's own handlers are called after ours
struct sigaction g_before_segv, g_before_bus;

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

void end_by_default(int signal) noexcept {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  g_chains.store(false);
  ::sigaction(signal, &by_default, nullptr);
}

/// Not ours: what would have happened without Quire.
void pass_on(int signal, siginfo_t* info, void* context) noexcept {
  const struct sigaction& before = signal == SIGSEGV ? g_before_segv : g_before_bus;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler == SIG_IGN && info->si_code <= 0) return;
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  // The access is repeated on return and ends the process with its own signal and core; a sent signal is sent again.
  end_by_default(signal);
  if (info->si_code <= 0) ::raise(signal);
}

/// The unit is lost: SIGBUS with the address of the access, whatever the detector's own signal was.
void tell_lost(int signal, const siginfo_t* info, void* context) noexcept {
  siginfo_t told = *info;
  told.si_signo = SIGBUS;
  told.si_code = BUS_OBJERR;
  const struct sigaction& handler = g_before_bus;
  if ((handler.sa_flags & SA_SIGINFO) != 0) return handler.sa_sigaction(SIGBUS, &told, context);
  if (handler.sa_handler != SIG_DFL && handler.sa_handler != SIG_IGN) return handler.sa_handler(SIGBUS);
  base::log(base::log_level::error,
            "a thread used shared memory at 0x%lx, which was lost with a node that died; it gets SIGBUS, and handles it not",
            reinterpret_cast<unsigned long>(info->si_addr));
  end_by_default(SIGBUS);
  if (signal != SIGBUS) ::raise(SIGBUS);  // else the access is repeated
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const auto handler = g_handler.load(std::memory_order_acquire);
  const bool taken = handler != nullptr && info->si_code > 0 &&
                     handler(reinterpret_cast<std::uint64_t>(info->si_addr), is_write(context));
  const auto is_lost = g_is_lost.load(std::memory_order_relaxed);
  const bool lost = !taken && is_lost != nullptr && is_lost();
  errno = saved;
  if (lost) return tell_lost(signal, info, context);
  if (!taken) pass_on(signal, info, context);
}

}  // namespace

base::status install_signals(fault_handler handler, lost_check is_lost) noexcept {
  // A forked child has no shared memory: what it touches there ends it, as any wrong address does.
  static const int once = ::pthread_atfork(nullptr, nullptr, [] { g_handler.store(nullptr); });
  (void)once;
  g_handler.store(handler, std::memory_order_release);
  g_is_lost.store(is_lost);
  struct sigaction ours {};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO;
  // Other signals wait until the fault is served: their handlers may touch shared memory too. A fault within a fault
  // is a bug of ours and must end the process.
  sigfillset(&ours.sa_mask);
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&ours.sa_mask, s);
  if (::sigaction(SIGSEGV, &ours, &g_before_segv) != 0 || ::sigaction(SIGBUS, &ours, &g_before_bus) != 0) {
    base::log(base::log_level::error, "cannot install the handlers of SIGSEGV and SIGBUS (errno %d)", errno);
    return QUIRE_SYSTEM;
  }
  g_chains.store(is_lost != nullptr);
  return {};
}

bool chain_signal(int signal, const struct sigaction* now, struct sigaction* before) noexcept {
  if ((signal != SIGSEGV && signal != SIGBUS) || !g_chains.load()) return false;
  struct sigaction& kept = signal == SIGSEGV ? g_before_segv : g_before_bus;
  if (before != nullptr) *before = kept;
  if (now != nullptr) kept = *now;
  return true;
}

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

}  // namespace quire::detect
