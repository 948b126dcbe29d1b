// SPDX-License-Identifier: BSD-3-Clause
// Processes: new programs, their ends, what they use and may use.
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libc/aside.hpp"
#include "libc/copies.hpp"

using namespace quire::api::calls;

extern "C" [[noreturn]] void __chk_fail(void);

QUIRE_CALL(int, execve, (const char* name, char* const* words, char* const* variables), text(name), texts(words),
           texts(variables))
QUIRE_CALL(int, execv, (const char* name, char* const* words), text(name), texts(words))
QUIRE_CALL(int, execvp, (const char* name, char* const* words), text(name), texts(words))
QUIRE_CALL(int, execvpe, (const char* name, char* const* words, char* const* variables), text(name), texts(words),
           texts(variables))
// libc holds all signals until the command has ended. From the private stack nothing can be unwound.
QUIRE_OWN(int, system, (const char* command)) {
  if (!is_away(__builtin_frame_address(0))) return make<int>(row_system, text(command, most_bytes));
  ::pthread_testcancel();
  int before = PTHREAD_CANCEL_ENABLE;
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  const int result = made_aside([=] { return make<int>(row_system, text(command, most_bytes)); }, -1);
  ::pthread_setcancelstate(before, nullptr);
  return result;
}

namespace {
int spawn(row& of, pid_t* pid, const char* name, const posix_spawn_file_actions_t* actions,
          const posix_spawnattr_t* about, char* const* words, char* const* variables) {
  row* const which = &of;
  const auto create = [=, own_actions = actions != nullptr ? *actions : posix_spawn_file_actions_t{},
                       own_about = about != nullptr ? *about : posix_spawnattr_t{}] {  // libc's child reads them
    return make<int>(*which, both(pid), text(name), actions != nullptr ? &own_actions : nullptr,
                     about != nullptr ? &own_about : nullptr, texts(words), texts(variables));
  };
  const int result = made_aside(create, ENOMEM);
  return result == -1 ? ENOMEM : result;  // no memory for copies
}
}  // namespace
QUIRE_OWN(int, posix_spawn,
          (pid_t * pid, const char* name, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* about,
           char* const* words, char* const* variables)) {
  return spawn(row_posix_spawn, pid, name, actions, about, words, variables);
}
QUIRE_OWN(int, posix_spawnp,
          (pid_t * pid, const char* name, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* about,
           char* const* words, char* const* variables)) {
  return spawn(row_posix_spawnp, pid, name, actions, about, words, variables);
}

QUIRE_CALL(pid_t, wait, (int* status), both(status))
QUIRE_CALL(pid_t, waitpid, (pid_t which, int* status, int options), which, both(status), options)
QUIRE_CALL(pid_t, wait3, (int* status, int options, rusage* use), both(status), options, both(use))
QUIRE_CALL(pid_t, wait4, (pid_t which, int* status, int options, rusage* use), which, both(status), options, both(use))
QUIRE_CALL(int, waitid, (idtype_t kind, id_t which, siginfo_t* about, int options), kind, which, both(about), options)

QUIRE_CALL(int, getrusage, (int whose, rusage* to), whose, both(to))
QUIRE_CALL(int, getrlimit, (int which, rlimit* to), which, both(to))
QUIRE_SAME(int, getrlimit64, getrlimit, (int, rlimit*));
QUIRE_CALL(int, setrlimit, (int which, const rlimit* now), which, in(now))
QUIRE_SAME(int, setrlimit64, setrlimit, (int, const rlimit*));
QUIRE_CALL(int, prlimit, (pid_t whose, int which, const rlimit* now, rlimit* before), whose, which, in(now),
           both(before))
QUIRE_SAME(int, prlimit64, prlimit, (pid_t, int, const rlimit*, rlimit*));
QUIRE_CALL(clock_t, times, (tms * to), both(to))
QUIRE_CALL(int, uname, (utsname * to), both(to))
QUIRE_CALL(int, sysinfo, (struct sysinfo * to), both(to))
QUIRE_CALL(int, sched_getaffinity, (pid_t whose, size_t bytes, cpu_set_t* to), whose, bytes, both(to, bytes))
QUIRE_CALL(int, sched_setaffinity, (pid_t whose, size_t bytes, const cpu_set_t* now), whose, bytes, in(now, bytes))
QUIRE_CALL(int, sched_getparam, (pid_t whose, sched_param* to), whose, both(to))
QUIRE_CALL(int, sched_setparam, (pid_t whose, const sched_param* now), whose, in(now))
QUIRE_CALL(int, sched_setscheduler, (pid_t whose, int policy, const sched_param* now), whose, policy, in(now))
QUIRE_CALL(int, getgroups, (int most, gid_t* to), most,
           out(to, most > 0 ? static_cast<std::size_t>(most) * sizeof *to : 0, sizeof *to))
QUIRE_CALL(int, getresuid, (uid_t * a, uid_t* b, uid_t* c), both(a), both(b), both(c))
QUIRE_CALL(int, getresgid, (gid_t * a, gid_t* b, gid_t* c), both(a), both(b), both(c))

// What a program built with _FORTIFY_SOURCE calls instead.
QUIRE_OWN(int, __getgroups_chk, (int most, gid_t* to, size_t room)) {
  if (most > 0 && static_cast<std::size_t>(most) > room / sizeof *to) __chk_fail();
  return quire_own_getgroups(most, to);
}
