// SPDX-License-Identifier: BSD-3-Clause
// Waiting for signals, and for messages of the node: cancellation points.
#include <errno.h>
#include <mqueue.h>
#include <signal.h>
#include <sys/msg.h>
#include <unistd.h>

#include "program/posix/threads/cancellation.hpp"
#include "program/process/interpose.hpp"

using namespace quire::program;

#define QUIRE_WAITS(result, name, parameters, arguments) \
  QUIRE_LIBC result name parameters {                    \
    const cancellation_point<> point(QUIRE_CALLER);      \
    return QUIRE_NEXT(name) arguments;                   \
  }
QUIRE_WAITS(int, pause, (), ())
QUIRE_WAITS(int, sigsuspend, (const sigset_t* mask), (mask))
QUIRE_WAITS(int, sigwaitinfo, (const sigset_t* which, siginfo_t* to), (which, to))
QUIRE_WAITS(int, sigtimedwait, (const sigset_t* which, siginfo_t* to, const timespec* limit), (which, to, limit))
QUIRE_WAITS(int, msgsnd, (int queue, const void* from, size_t bytes, int flags), (queue, from, bytes, flags))
QUIRE_WAITS(ssize_t, msgrcv, (int queue, void* to, size_t bytes, long type, int flags), (queue, to, bytes, type, flags))
QUIRE_WAITS(int, mq_send, (mqd_t queue, const char* from, size_t bytes, unsigned priority),
            (queue, from, bytes, priority))
QUIRE_WAITS(ssize_t, mq_receive, (mqd_t queue, char* to, size_t bytes, unsigned* priority),
            (queue, to, bytes, priority))
QUIRE_WAITS(int, mq_timedsend, (mqd_t queue, const char* from, size_t bytes, unsigned priority, const timespec* until),
            (queue, from, bytes, priority, until))
QUIRE_WAITS(ssize_t, mq_timedreceive, (mqd_t queue, char* to, size_t bytes, unsigned* priority, const timespec* until),
            (queue, to, bytes, priority, until))

/// libc's goes on where a signal has ended it.
QUIRE_LIBC int sigwait(const sigset_t* which, int* to) {
  if (own() == nullptr || !for_program(QUIRE_CALLER)) return QUIRE_NEXT(sigwait)(which, to);
  for (;;) {
    const cancellation_point<> point(QUIRE_CALLER);
    const int found = QUIRE_NEXT(sigtimedwait)(which, nullptr, nullptr);
    if (found < 0 && errno == EINTR) continue;
    if (found > 0) *to = found;
    return found > 0 ? 0 : errno;
  }
}
