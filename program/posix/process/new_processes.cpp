// SPDX-License-Identifier: BSD-3-Clause
// clone(2), exec(3) and the ends of threads, and what goes past libc. A copy of a node's process would take part in the
// job beside it, as it has its descriptors; another program in its place would not. Children of vfork(2) may do both.
#include "program/posix/process/new_processes.hpp"

#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>

#include "program/posix/errands/where.hpp"
#include "program/process/fail.hpp"
#include "program/process/interpose.hpp"

using namespace quire::program;

namespace {

bool is_of_node(const void* caller) noexcept { return files::is_node() && is_of_program(caller); }

/// As vfork(2): the caller waits, and the child is about to end, or to be another program.
bool is_vfork(std::uint64_t flags) noexcept {
  constexpr std::uint64_t wanted = CLONE_VM | CLONE_VFORK;
  return (flags & wanted) == wanted && (flags & CLONE_THREAD) == 0;
}

[[noreturn]] void refuse_copy(const char* call, std::uint64_t flags) noexcept {
  char line[300];
  std::snprintf(line, sizeof line,
                "%s is refused (flags 0x%lx): the job knows nothing of what it makes; use pthread_create(3) for a "
                "thread, posix_spawn(3), or vfork(2) and exec(3), for a process",
                call, static_cast<unsigned long>(flags));
  fail(line, QUIRE_UNSUPPORTED);
}
void refuse_exec(const char* call, const void* caller) noexcept {
  if (!is_of_node(caller)) return;
  char line[300];
  std::snprintf(
      line, sizeof line,
      "%s() is refused: a node is its process, which would go on without Quire; use posix_spawn(3), system(3), "
      "or vfork(2) and exec(3)",
      call);
  fail(line, QUIRE_UNSUPPORTED);
}

std::uint64_t flags_of(const long* arguments) noexcept {
  return reinterpret_cast<const clone_args*>(arguments[0])->flags;
}

/// The arguments of execl(3) and its like as others have them: `room` of them at most.
constexpr std::size_t most_arguments = 1024;
char** read_arguments(const char* first, va_list& more, char** to) noexcept {
  to[0] = const_cast<char*>(first);
  for (std::size_t i = 1; to[i - 1] != nullptr; ++i) {
    to[i] = va_arg(more, char*);
    if (i + 1 == most_arguments) return nullptr;
  }
  return to;
}
int too_long() noexcept {
  errno = E2BIG;
  return -1;
}

}  // namespace

namespace quire::program {

void refuse_process_call(long number, const long* arguments, const void* caller) noexcept {
  if (number == SYS_exit && is_of_node(caller))
    fail("syscall(SYS_exit) is refused: the job would wait for ever for a thread that ends so; use pthread_exit(3)",
         QUIRE_UNSUPPORTED);
  const bool copies = number == SYS_fork || number == SYS_clone || number == SYS_clone3 || number == SYS_vfork;
  if (!copies && number != SYS_execve && number != SYS_execveat) return;
  if (!is_of_node(caller)) return;
  if (!copies) return refuse_exec("syscall(SYS_execve)", caller);
  if (number == SYS_clone && !is_vfork(static_cast<std::uint64_t>(arguments[0])))
    refuse_copy("syscall(SYS_clone)", static_cast<std::uint64_t>(arguments[0]));
  if (number == SYS_clone3 && !is_vfork(flags_of(arguments))) refuse_copy("syscall(SYS_clone3)", flags_of(arguments));
  if (number == SYS_fork) refuse_copy("syscall(SYS_fork)", 0);
}

}  // namespace quire::program

QUIRE_LIBC int clone(int (*what)(void*), void* stack, int flags, void* at, ...) noexcept {
  va_list all;
  va_start(all, at);
  void* more[3];
  for (void*& one : more) one = va_arg(all, void*);
  va_end(all);
  if (is_of_node(QUIRE_CALLER) && !is_vfork(static_cast<std::uint64_t>(flags)))
    refuse_copy("clone()", static_cast<std::uint32_t>(flags));
  return QUIRE_NEXT(clone)(what, stack, flags, at, more[0], more[1], more[2]);
}

QUIRE_LIBC int execve(const char* path, char* const arguments[], char* const environment[]) noexcept {
  refuse_exec("execve", QUIRE_CALLER);
  return QUIRE_NEXT(execve)(path, arguments, environment);
}
QUIRE_LIBC int execv(const char* path, char* const arguments[]) noexcept {
  refuse_exec("execv", QUIRE_CALLER);
  return QUIRE_NEXT(execv)(path, arguments);
}
QUIRE_LIBC int execvp(const char* file, char* const arguments[]) noexcept {
  refuse_exec("execvp", QUIRE_CALLER);
  return QUIRE_NEXT(execvp)(file, arguments);
}
QUIRE_LIBC int execvpe(const char* file, char* const arguments[], char* const environment[]) noexcept {
  refuse_exec("execvpe", QUIRE_CALLER);
  return QUIRE_NEXT(execvpe)(file, arguments, environment);
}
QUIRE_LIBC int execl(const char* path, const char* first, ...) noexcept {
  refuse_exec("execl", QUIRE_CALLER);
  char* all[most_arguments];
  va_list more;
  va_start(more, first);
  char** const arguments = read_arguments(first, more, all);
  va_end(more);
  return arguments != nullptr ? QUIRE_NEXT(execv)(path, arguments) : too_long();
}
QUIRE_LIBC int execlp(const char* file, const char* first, ...) noexcept {
  refuse_exec("execlp", QUIRE_CALLER);
  char* all[most_arguments];
  va_list more;
  va_start(more, first);
  char** const arguments = read_arguments(first, more, all);
  va_end(more);
  return arguments != nullptr ? QUIRE_NEXT(execvp)(file, arguments) : too_long();
}
QUIRE_LIBC int execle(const char* path, const char* first, ...) noexcept {
  refuse_exec("execle", QUIRE_CALLER);
  char* all[most_arguments];
  va_list more;
  va_start(more, first);
  char** const arguments = read_arguments(first, more, all);
  char** const environment = arguments != nullptr ? va_arg(more, char**) : nullptr;
  va_end(more);
  return arguments != nullptr ? QUIRE_NEXT(execve)(path, arguments, environment) : too_long();
}
