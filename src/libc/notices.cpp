// SPDX-License-Identifier: BSD-3-Clause
// Functions of the program that libc calls on threads of its own (SIGEV_THREAD): those block all signals, and a fault
// would end the process.
#include <mqueue.h>
#include <signal.h>
#include <time.h>

#include <new>

#include "libc/copies.hpp"
#include "libc/signals.hpp"
#include "detect/detector.hpp"

using namespace quire::api::calls;

namespace {

/// That of a timer stays for good: a thread of libc's may just look at it.
struct notice {
  void (*function)(sigval);
  sigval value;
  bool once;
};

void pass_on(sigval value) {
  sigset_t faults;
  (void)::sigemptyset(&faults);
  for (const int one : {SIGSEGV, SIGBUS}) (void)::sigaddset(&faults, one);
  (void)change_mask(SIG_UNBLOCK, &faults, nullptr);
  quire::detect::prepare_thread();
  auto* const given = static_cast<notice*>(value.sival_ptr);
  const notice n = *given;
  if (n.once) delete given;
  n.function(n.value);
}

/// Calls make(what libc gets), and forgets the notice where that fails.
template <class Make>
int exchange(const sigevent& how, bool once, Make make) {
  auto* const n = new (std::nothrow) notice{how.sigev_notify_function, how.sigev_value, once};
  if (n == nullptr) return errno = EAGAIN, -1;
  sigevent own = how;
  own.sigev_notify_function = pass_on;
  own.sigev_value.sival_ptr = n;
  const int result = make(own);
  if (result != 0) delete n;
  return result;
}

bool calls_function(const sigevent* how) noexcept { return how != nullptr && how->sigev_notify == SIGEV_THREAD; }

}  // namespace

QUIRE_OWN(int, timer_create, (clockid_t clock, sigevent* how, timer_t* to)) {
  if (!calls_function(how)) return make<int>(row_timer_create, clock, in(how), both(to));
  return exchange(*how, false, [=](sigevent& own) { return make<int>(row_timer_create, clock, in(&own), both(to)); });
}
QUIRE_OWN(int, mq_notify, (mqd_t queue, const sigevent* how)) {
  if (!calls_function(how)) return make<int>(row_mq_notify, queue, in(how));
  return exchange(*how, true, [=](const sigevent& own) { return make<int>(row_mq_notify, queue, in(&own)); });
}
