// SPDX-License-Identifier: BSD-3-Clause
// Libc's thread makes a thread of the program's (threads.cpp), which calls the function, and has the mask that libc's
// would have: all is blocked but what faults need.
#include "program/posix/pthreads/notices.hpp"

#include <errno.h>
#include <mqueue.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <mutex>

#include "program/posix/heap/heap.hpp"
#include "program/posix/pthreads/starting.hpp"
#include "program/posix/threads/own_threads.hpp"
#include "program/process/interpose.hpp"
#include "program/process/private_memory.hpp"

namespace quire::program {
namespace {

/// In private memory. That of a timer lasts as long as the process: a thread of libc's may just look at it. The program
/// may have destroyed its attributes when the thread begins.
struct notice {
  void (*function)(sigval) = nullptr;
  sigval value{};
  bool once = false;
  pthread_attr_t about{};

  explicit notice(const sigevent& how) noexcept : function(how.sigev_notify_function), value(how.sigev_value) {
    if (how.sigev_notify_attributes != nullptr) {
      copy_attributes(*how.sigev_notify_attributes, about);
    } else {
      (void)::pthread_attr_init(&about);
    }
    (void)::pthread_attr_setdetachstate(&about, PTHREAD_CREATE_DETACHED);
  }
  notice(const notice&) = delete;
  notice& operator=(const notice&) = delete;
  ~notice() { (void)::pthread_attr_destroy(&about); }
};

struct call {
  void (*function)(sigval);
  sigval value;
};

void* make_call(void* at) noexcept {
  auto* const given = static_cast<call*>(at);
  const call c = *given;
  destroy_private(given);
  c.function(c.value);
  return nullptr;
}

void start_thread(const notice& n) noexcept {
  auto* const c = make_private<call>(n.function, n.value);
  pthread_t thread{};
  if (make_own_thread_here(&thread, &n.about, make_call, c) != 0) destroy_private(c);  // libc, too, then leaves it out
}

std::mutex g_notices;
bool g_no_more = false;  ///< the job ends: a timer that still runs starts nothing

/// On libc's thread, where libquire has let faults in.
void pass_on(sigval value) noexcept {
  auto* const n = static_cast<notice*>(value.sival_ptr);
  const std::lock_guard held(g_notices);
  if (g_no_more) return;
  start_thread(*n);
  if (n->once) destroy_private(n);
}

/// What libc gets for it.
sigevent exchange(const sigevent& how, notice* n) noexcept {
  sigevent own = how;
  own.sigev_value.sival_ptr = n;
  own.sigev_notify_function = pass_on;
  own.sigev_notify_attributes = nullptr;
  return own;
}

bool is_for_program(const sigevent* how, const void* caller) noexcept {
  return how != nullptr && how->sigev_notify == SIGEV_THREAD && for_program(caller);
}

}  // namespace

void stop_notices() noexcept {
  const std::lock_guard held(g_notices);
  g_no_more = true;
}

void give_notice(const sigevent& how) noexcept {
  if (how.sigev_notify == SIGEV_THREAD) return start_thread(notice(how));
  if (how.sigev_notify == SIGEV_SIGNAL) (void)::sigqueue(::getpid(), how.sigev_signo, how.sigev_value);
}

}  // namespace quire::program

using namespace quire::program;

QUIRE_LIBC int timer_create(clockid_t clock, sigevent* how, timer_t* to) noexcept {
  if (!is_for_program(how, QUIRE_CALLER)) return QUIRE_NEXT(timer_create)(clock, how, to);
  auto* const n = make_private<notice>(*how);
  sigevent own = exchange(*how, n);
  const int result = QUIRE_NEXT(timer_create)(clock, &own, to);
  if (result != 0) destroy_private(n);
  return result;
}

QUIRE_LIBC int mq_notify(mqd_t queue, const sigevent* how) noexcept {
  if (!is_for_program(how, QUIRE_CALLER)) return QUIRE_NEXT(mq_notify)(queue, how);
  auto* const n = make_private<notice>(*how);
  n->once = true;
  const sigevent own = exchange(*how, n);
  const int result = QUIRE_NEXT(mq_notify)(queue, &own);
  if (result != 0) destroy_private(n);
  return result;
}
