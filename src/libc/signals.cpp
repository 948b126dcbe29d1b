// SPDX-License-Identifier: BSD-3-Clause
// A thread that blocks SIGSEGV or SIGBUS would be killed at its next fault, without a handler being asked. To block all
// signals is a usual way to keep them from worker threads, so these two are left out of what gets blocked while Quire
// runs, by a mask or by a handler.
//
// Quire's own handlers of these two stay first. What the program installs is called for what is not theirs, and is what
// the program gets to see (detect/signals.cpp).
//
// Other handlers of the program are noted: only if there are any must a driving thread keep signals away.
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include <memory>
#include <new>

#include "libc/aside.hpp"
#include "libc/copies.hpp"
#include "libc/signals.hpp"
#include "runtime/forward.hpp"
#include "runtime/quit.hpp"
#include "base/log.hpp"
#include "detect/detector.hpp"

using namespace quire::api::calls;

namespace {

bool running() noexcept { return quire::api::current() != nullptr || quire::api::elsewhere() != nullptr; }

int set_mask(row& of, int how, const sigset_t* set, sigset_t* before) {
  if (how == SIG_UNBLOCK) return make<int>(of, how, in(set), both(before));
  const harmless allowed(set);
  return make<int>(of, how, in(allowed.use), both(before));
}

bool is_function(const void* handler) noexcept {
  return handler != nullptr && handler != reinterpret_cast<const void*>(SIG_DFL) &&
         handler != reinterpret_cast<const void*>(SIG_IGN) && handler != reinterpret_cast<const void*>(SIG_ERR);
}

/// A handler of the application may touch shared memory: from now on signals wait while a thread drives. Quire's own
/// handler does not.
void note(int signal, const void* handler) noexcept {
  if (signal == SIGSEGV || signal == SIGBUS || !is_function(handler) || quire::api::is_quit_handler(handler)) return;
  quire::drive::driver::signals_handled.store(true);
}

sighandler_t replace(row& of, int number, sighandler_t handler, int flags) {
  note(number, reinterpret_cast<const void*>(handler));
  struct sigaction now {
  }, before{};
  now.sa_handler = handler;
  now.sa_flags = flags;
  if (quire::detect::chain_signal(number, &now, &before)) return before.sa_handler;
  return make<sighandler_t>(of, number, handler);
}

}  // namespace

QUIRE_OWN(int, sigaction, (int signal, const struct sigaction* now, struct sigaction* before)) {
  struct sigaction kept {};
  if (now != nullptr) {
    kept = *now;
    note(signal, reinterpret_cast<const void*>(kept.sa_handler));
  }
  const struct sigaction* const wanted = now != nullptr ? &kept : nullptr;
  if (quire::detect::chain_signal(signal, wanted, before)) return 0;
  kept.sa_mask = harmless(&kept.sa_mask).kept;
  return make<int>(row_sigaction, signal, wanted, both(before));
}
QUIRE_OWN(sighandler_t, signal, (int number, sighandler_t handler)) {
  return replace(row_signal, number, handler, SA_RESTART);
}
QUIRE_SAME(sighandler_t, bsd_signal, signal, (int, sighandler_t));
QUIRE_SAME(sighandler_t, ssignal, signal, (int, sighandler_t));
QUIRE_OWN(sighandler_t, __sysv_signal, (int number, sighandler_t handler)) {
  return replace(row___sysv_signal, number, handler, SA_RESETHAND | SA_NODEFER);
}
QUIRE_SAME(sighandler_t, sysv_signal, __sysv_signal, (int, sighandler_t));
/// Blocks a signal, or installs a handler and unblocks it: the two signals can only be handled.
QUIRE_OWN(sighandler_t, sigset, (int number, sighandler_t handler)) {
  note(number, reinterpret_cast<const void*>(handler));
  if ((number != SIGSEGV && number != SIGBUS) || !running()) return make<sighandler_t>(row_sigset, number, handler);
  struct sigaction now {
  }, before{};
  now.sa_handler = handler;
  const bool blocks = handler == SIG_HOLD;
  return quire::detect::chain_signal(number, blocks ? nullptr : &now, &before) ? before.sa_handler : SIG_ERR;
}
QUIRE_OWN(int, pthread_sigmask, (int how, const sigset_t* set, sigset_t* before)) {
  return set_mask(row_pthread_sigmask, how, set, before);
}
QUIRE_OWN(int, sigprocmask, (int how, const sigset_t* set, sigset_t* before)) {
  return set_mask(row_sigprocmask, how, set, before);
}
QUIRE_OWN(int, sighold, (int signal)) {
  if ((signal == SIGSEGV || signal == SIGBUS) && running()) return 0;
  return make<int>(row_sighold, signal);
}

namespace {

struct thread_start {
  void* (*body)(void*);
  void* argument;
};
void* begin_thread(void* at) {
  const thread_start start = *std::unique_ptr<thread_start>(static_cast<thread_start*>(at));
  quire::detect::prepare_thread();
  return start.body(start.argument);
}

}  // namespace

/// libc keeps what it knows of a thread at the end of its stack, and the kernel writes there at any time.
QUIRE_OWN(int, pthread_create,
          (pthread_t * thread, const pthread_attr_t* about, void* (*body)(void*), void* argument)) {
  void* stack = nullptr;
  std::size_t length = 0;
  if (about != nullptr && ::pthread_attr_getstack(about, &stack, &length) == 0 && is_away(stack)) {
    quire::base::log(quire::base::log_level::error,
                     "a thread cannot have its stack in shared memory (%p): the kernel and libc write there and cannot "
                     "wait for its pages; let "
                     "the thread run on a private stack and switch to the shared one (swapcontext(3)), or choose "
                     "QUIRE_DETECT=thread",
                     stack);
    return EINVAL;
  }
  if (!running()) return make<int>(row_pthread_create, thread, about, body, argument);
  std::unique_ptr<thread_start> start(new (std::nothrow) thread_start{body, argument});
  if (start == nullptr) return EAGAIN;
  void* const given = start.get();
  const auto create = [=, own = about != nullptr ? *about : pthread_attr_t{}] {  // libc reads it with signals held
    return make<int>(row_pthread_create, thread, about != nullptr ? &own : nullptr, begin_thread, given);
  };
  const int error = made_aside(create, EAGAIN);
  if (error == 0) (void)start.release();
  return error;
}

// To the thread itself libc sends at once, and holds nothing: the handler may leave by a jump, or end the thread.
QUIRE_OWN(int, pthread_kill, (pthread_t thread, int signal)) {
  if (::pthread_equal(thread, ::pthread_self()) != 0) return make<int>(row_pthread_kill, thread, signal);
  return made_aside([=] { return make<int>(row_pthread_kill, thread, signal); }, EAGAIN);
}
QUIRE_OWN(int, pthread_sigqueue, (pthread_t thread, int signal, sigval value)) {
  if (::pthread_equal(thread, ::pthread_self()) != 0) return make<int>(row_pthread_sigqueue, thread, signal, value);
  return made_aside([=] { return make<int>(row_pthread_sigqueue, thread, signal, value); }, EAGAIN);
}

namespace quire::api::calls {

harmless::harmless(const sigset_t* set) noexcept {
  if (set == nullptr) return;
  kept = *set;
  use = &kept;
  if (!running()) return;
  ::sigdelset(&kept, SIGSEGV);
  ::sigdelset(&kept, SIGBUS);
}

sigset_t without_faults(const sigset_t& set) noexcept { return harmless(&set).kept; }
int change_mask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return quire_own_sigprocmask(how, set, before);
}

void take_over_signals() noexcept {
  sigset_t two;
  ::sigemptyset(&two);
  ::sigaddset(&two, SIGSEGV);
  ::sigaddset(&two, SIGBUS);
  (void)make<int>(row_pthread_sigmask, SIG_UNBLOCK, static_cast<const sigset_t*>(&two),
                  static_cast<sigset_t*>(nullptr));
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction now {};
    if (signal == SIGSEGV || signal == SIGBUS || quire_own_sigaction(signal, nullptr, &now) != 0) continue;
    if (!is_function(reinterpret_cast<const void*>(now.sa_handler))) continue;
    note(signal, reinterpret_cast<const void*>(now.sa_handler));
    if (::sigismember(&now.sa_mask, SIGSEGV) == 1 || ::sigismember(&now.sa_mask, SIGBUS) == 1) {
      (void)quire_own_sigaction(signal, &now, nullptr);
    }
  }
}

}  // namespace quire::api::calls
