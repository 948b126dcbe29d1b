// SPDX-License-Identifier: BSD-3-Clause
// Children of the program are of the node whose thread has made them; any thread may wait for them and kill them. Who
// waits asks its own node first, and then the others. Children of vfork(2) on other nodes are found by their number
// only.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <vector>

#include "program/job/shared_state.hpp"
#include "program/posix/errands/actions.hpp"
#include "program/posix/errands/errand.hpp"
#include "program/posix/errands/on_all_nodes.hpp"
#include "program/posix/errands/where.hpp"
#include "program/posix/files/children.hpp"
#include "program/posix/threads/cancellation.hpp"
#include "program/posix/threads/elsewhere.hpp"
#include "program/process/private_memory.hpp"
#include "program/process/programs_mask.hpp"
#include "program/process/waiting.hpp"

namespace quire::program {
namespace {

/// As waitid(2) has it.
struct children {
  idtype_t type;
  id_t number;
  int options;
};

/// A child, or none (0), or why not.
struct found_child {
  pid_t process;
  int error, status, code;
  uid_t user;
  timeval in_user, in_system;
};

constexpr int only_look = WEXITED | WNOHANG | WNOWAIT;

found_child wait_here(const children& which) noexcept {
  static thread_local siginfo_t about;  // private: the kernel writes them when the child has ended
  static thread_local rusage used;
  about = {};
  const long result = QUIRE_NEXT(syscall)(SYS_waitid, which.type, which.number, &about, which.options, &used);
  if (result != 0) return {-1, errno, 0, 0, 0, {}, {}};
  return {about.si_pid, 0, about.si_status, about.si_code, about.si_uid, used.ru_utime, used.ru_stime};
}

found_child wait_on(int node, const children& which) noexcept {
  return call_on_node(node, [which] { return wait_here(which); });
}

bool has(int node, children which) noexcept {
  which.options = only_look;
  return wait_on(node, which).error == 0;
}

/// Whose child it is: this node, if it is nobody's.
int node_of_child(pid_t process) noexcept {
  const children one{P_PID, static_cast<id_t>(process), 0};
  if (has(job().node, one)) return job().node;
  for (int node = 0; node < job().nodes; ++node) {
    if (node != job().node && has(node, one)) return node;
  }
  return job().node;
}

/// One of those that match, of any node; they are asked in turn until one has ended.
found_child wait_for_any(const children& which) noexcept {
  constexpr long shortest_ns = 200'000, longest_ns = 10'000'000;
  children now = which;
  now.options |= WNOHANG;
  for (long pause = shortest_ns;; pause = std::min(2 * pause, longest_ns)) {
    bool some = false;
    for (int i = 0; i < job().nodes; ++i) {
      const found_child found = wait_on((job().node + i) % job().nodes, now);
      if (found.process > 0) return found;
      if (found.error != 0 && found.error != ECHILD) return found;
      some = some || found.error == 0;
    }
    if (!some) return {-1, ECHILD, 0, 0, 0, {}, {}};
    if ((which.options & WNOHANG) != 0) return {0, 0, 0, 0, 0, {}, {}};
    if (is_cancelled_here()) {
      own()->call.note_interrupt();
      return {-1, EINTR, 0, 0, 0, {}, {}};
    }
    sleep_a_little(pause);
  }
}

bool are_apart(const void* caller) noexcept {
  return files::apart && is_of_program(caller) && files::is_node() &&
         (job().node != 0 || __atomic_load_n(&shared().children_elsewhere, __ATOMIC_ACQUIRE) != 0);
}

/// What pidfd_open(2) has made.
struct process_descriptor {
  pid_t process;  ///< -1: it is no such descriptor
  bool is_nonblocking;
};

/// Of node 0, as all descriptors of the program are where files are apart (are_apart()).
process_descriptor process_of(int descriptor) noexcept {
  return call_on_node(0, [descriptor] {
    std::vector<char, private_allocator<char>> text(1024);  // first the name
    (void)std::snprintf(text.data(), text.size(), "/proc/self/fdinfo/%d", descriptor);
    const int fd = QUIRE_NEXT(open)(text.data(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return process_descriptor{-1, false};
    const ssize_t bytes = QUIRE_NEXT(read)(fd, text.data(), text.size() - 1);
    (void)QUIRE_NEXT(close)(fd);
    text[static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))] = 0;
    const char* const line = ::strstr(text.data(), "\nPid:");
    const char* const flags = ::strstr(text.data(), "flags:");  // octal
    return process_descriptor{line == nullptr ? pid_t{-1} : static_cast<pid_t>(::atoi(line + 5)),
                              flags != nullptr && (::strtoul(flags + 6, nullptr, 8) & O_NONBLOCK) != 0};
  });
}

/// As the kernel does: PIDFD_NONBLOCK is WNOHANG, but that a child that lives is an error.
found_child wait_by_descriptor(const children& which) noexcept {
  const process_descriptor of = process_of(static_cast<int>(which.number));
  if (of.process <= 0) return wait_on(0, which);
  const int options = which.options | (of.is_nonblocking ? WNOHANG : 0);
  const found_child found = wait_on(node_of_child(of.process), {P_PID, static_cast<id_t>(of.process), options});
  const bool is_none = found.error == 0 && found.process == 0;
  if (is_none && options != which.options) return {-1, EAGAIN, 0, 0, 0, {}, {}};
  return found;
}

found_child wait_for(const children& which) noexcept {
  repeat_actions();
  if (which.type == P_PIDFD) return wait_by_descriptor(which);
  if (which.type == P_PID) return wait_on(node_of_child(static_cast<pid_t>(which.number)), which);
  return which.type == P_ALL || which.type == P_PGID ? wait_for_any(which) : wait_here(which);
}

/// As wait(2) has it.
int status_of(const found_child& f) noexcept {
  switch (f.code) {
    case CLD_EXITED:
      return (f.status & 0xff) << 8;
    case CLD_KILLED:
      return f.status;
    case CLD_DUMPED:
      return f.status | 0x80;
    case CLD_CONTINUED:
      return 0xffff;
    default:
      return f.status << 8 | 0x7f;
  }
}

pid_t wait_by_number(pid_t number, int* status, int options, rusage* used) noexcept {
  children which{P_ALL, 0, options | WEXITED};
  if (number > 0) which = {P_PID, static_cast<id_t>(number), which.options};
  if (number < -1) which = {P_PGID, static_cast<id_t>(-number), which.options};
  if (number == 0) which = {P_PGID, static_cast<id_t>(::getpgrp()), which.options};
  const found_child found = wait_for(which);
  if (found.process > 0) {
    if (status != nullptr) *status = status_of(found);
    if (used != nullptr) {
      ::memset(used, 0, sizeof *used);
      used->ru_utime = found.in_user;
      used->ru_stime = found.in_system;
    }
  }
  if (found.error != 0) errno = found.error;
  return found.process;
}

}  // namespace

void note_child() noexcept {
  if (files::apart && job().node != 0 && files::is_node())
    __atomic_store_n(&shared().children_elsewhere, 1, __ATOMIC_RELEASE);
}

namespace {

/// Of a list that ends by a null pointer, in private memory, in one piece; null stays null.
char** private_list(char* const list[]) noexcept {
  if (list == nullptr) return nullptr;
  std::size_t count = 0, bytes = sizeof(char*);
  for (; list[count] != nullptr; ++count) bytes += sizeof(char*) + ::strlen(list[count]) + 1;
  auto** const made = static_cast<char**>(take_private(bytes));
  char* next = reinterpret_cast<char*>(made + count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    made[i] = next;
    next = ::stpcpy(next, list[i]) + 1;
  }
  made[count] = nullptr;
  return made;
}

/// As execvp(3) finds it, in private memory; null, and the error: it is nowhere. In the child libc would look at
/// `environ`.
char* found_program(const char* name, int& error) noexcept {
  error = ENOENT;
  const char* const set = ::getenv("PATH");
  const char* rest = set != nullptr ? set : "/bin:/usr/bin";
  if (*name == 0 || ::strchr(name, '/') != nullptr) rest = nullptr;
  auto* const path = static_cast<char*>(take_private((rest != nullptr ? ::strlen(rest) : 0) + ::strlen(name) + 3));
  if (rest == nullptr) return ::strcpy(path, name);
  for (bool more = true; more;) {
    const char* const end = ::strchrnul(rest, ':');
    const auto length = static_cast<std::size_t>(end - rest);
    ::memcpy(path, length != 0 ? rest : ".", std::max<std::size_t>(length, 1));
    path[std::max<std::size_t>(length, 1)] = '/';
    ::strcpy(path + std::max<std::size_t>(length, 1) + 1, name);
    if (::access(path, X_OK) == 0) return path;
    if (errno == EACCES) error = EACCES;
    more = *end != 0;
    rest = end + 1;
  }
  give_private(path);
  return nullptr;
}

struct spawn_call {
  bool searches;  ///< posix_spawnp()
  pid_t* process;
  const char* path;
  const posix_spawn_file_actions_t* actions;
  const posix_spawnattr_t* attributes;
  char* const* arguments;
  char* const* environment;
  int error;
};

/// Libc's child runs in this process' memory until it is another program, and dies of the first fault: all that it
/// looks at is private. It inherits the program's mask. On the private stack.
void make_child(spawn_call& c) noexcept {
  const programs_mask of_child;
  char* const named[] = {const_cast<char*>(c.path), nullptr};
  char** const name = private_list(named);
  char* const found = c.searches ? found_program(name[0], c.error) : nullptr;
  if (c.searches && found == nullptr) return give_private(name);
  char** const arguments = private_list(c.arguments);
  char** const environment = private_list(c.environment);
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  if (c.actions != nullptr) actions = *c.actions;
  if (c.attributes != nullptr) attributes = *c.attributes;
  pid_t process = 0;
  c.error =
      QUIRE_NEXT(posix_spawn)(&process, found != nullptr ? found : name[0], c.actions != nullptr ? &actions : nullptr,
                              c.attributes != nullptr ? &attributes : nullptr, arguments, environment);
  for (void* const own : {static_cast<void*>(name), static_cast<void*>(found), static_cast<void*>(arguments),
                          static_cast<void*>(environment)}) {
    if (own != nullptr) give_private(own);
  }
  if (c.error != 0) return;
  note_child();
  if (c.process != nullptr) *c.process = process;
}

int make_child_aside(spawn_call c) noexcept {
  run_aside([](void* at) { make_child(*static_cast<spawn_call*>(at)); }, &c);
  return c.error;
}

}  // namespace

}  // namespace quire::program

using namespace quire::program;

QUIRE_LIBC int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
  if (!is_of_program(QUIRE_CALLER))
    return QUIRE_NEXT(posix_spawn)(process, path, actions, attributes, arguments, environment);
  return make_child_aside({false, process, path, actions, attributes, arguments, environment, 0});
}
QUIRE_LIBC int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
  if (!is_of_program(QUIRE_CALLER))
    return QUIRE_NEXT(posix_spawnp)(process, file, actions, attributes, arguments, environment);
  return make_child_aside({true, process, file, actions, attributes, arguments, environment, 0});
}

// Children that libc makes, and waits for, itself. It holds all signals meanwhile, SIGBUS too: no page of a shared
// stack could come then.
QUIRE_LIBC int system(const char* command) {
  { const cancellation_point<> before(QUIRE_CALLER); }  // libc waits again where a signal has ended its wait
  const programs_mask of_child;
  return called_aside([=] { return QUIRE_NEXT(system)(command); });
}
QUIRE_LIBC int wordexp(const char* words, wordexp_t* to, int flags) {
  return called_aside([=] { return QUIRE_NEXT(wordexp)(words, to, flags); });
}

QUIRE_LIBC pid_t waitpid(pid_t number, int* status, int options) {
  const cancellation_point<> point(QUIRE_CALLER);
  if (!are_apart(QUIRE_CALLER)) return QUIRE_NEXT(waitpid)(number, status, options);
  return wait_by_number(number, status, options, nullptr);
}
QUIRE_LIBC pid_t wait(int* status) {
  const cancellation_point<> point(QUIRE_CALLER);
  if (!are_apart(QUIRE_CALLER)) return QUIRE_NEXT(wait)(status);
  return wait_by_number(-1, status, 0, nullptr);
}
QUIRE_LIBC pid_t wait3(int* status, int options, rusage* used) noexcept {
  if (!are_apart(QUIRE_CALLER)) return QUIRE_NEXT(wait3)(status, options, used);
  return wait_by_number(-1, status, options, used);
}
QUIRE_LIBC pid_t wait4(pid_t number, int* status, int options, rusage* used) noexcept {
  if (!are_apart(QUIRE_CALLER)) return QUIRE_NEXT(wait4)(number, status, options, used);
  return wait_by_number(number, status, options, used);
}
QUIRE_LIBC int waitid(idtype_t type, id_t number, siginfo_t* about, int options) {
  const cancellation_point<> point(QUIRE_CALLER);
  if (!are_apart(QUIRE_CALLER)) return QUIRE_NEXT(waitid)(type, number, about, options);
  const found_child found = wait_for({type, number, options});
  if (found.error != 0) {
    errno = found.error;
    return -1;
  }
  if (about != nullptr) {
    ::memset(about, 0, sizeof *about);
    if (found.process > 0) about->si_signo = SIGCHLD;
    about->si_pid = found.process;
    about->si_status = found.status;
    about->si_code = found.code;
    about->si_uid = found.user;
  }
  return 0;
}

/// A child of another host has a number that means another process here.
QUIRE_LIBC int kill(pid_t process, int number) noexcept {
  if (process <= 0 || process == ::getpid() || !are_apart(QUIRE_CALLER)) return QUIRE_NEXT(kill)(process, number);
  repeat_actions();
  const int node = node_of_child(process);
  if (node == job().node) return QUIRE_NEXT(kill)(process, number);
  return call_on_node(node, [=] { return QUIRE_NEXT(kill)(process, number); });
}
