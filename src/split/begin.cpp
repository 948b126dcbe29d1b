// SPDX-License-Identifier: BSD-3-Clause
#include "split/begin.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/log.hpp"
#include "os/injection.hpp"
#include "os/limits.hpp"
#include "os/memory.hpp"

namespace quire::split {
namespace {

base::status failed(const char* what, int error) {
  base::log(base::log_level::error, "pool 'fork': cannot %s: %s%s", what, std::strerror(error),
            os::explain_error(error).text);
  return error == ENOMEM ? QUIRE_NO_MEMORY : QUIRE_SYSTEM;
}

/// Shared anonymous memory over the whole range, which no thread of the application can touch yet.
base::status map_range(std::uint64_t base, std::uint64_t bytes) {
  int error = 0;
  auto* const at = reinterpret_cast<void*>(base);
  if (os::reserve(bytes, at, error) == nullptr) {
    base::log(base::log_level::error,
              "cannot reserve %lu MiB of addresses at 0x%lx: %s%s; set QUIRE_BASE or QUIRE_RANGE to others",
              static_cast<unsigned long>(bytes >> 20), static_cast<unsigned long>(base),
              error == EEXIST ? "something else is there" : std::strerror(error), os::explain_error(error).text);
    return QUIRE_NO_ADDRESSES;
  }
  if (os::map_shared(-1, bytes, at, false, error) == nullptr) {
    os::unmap(at, bytes);
    return failed("map shared memory", error);
  }
  (void)!os::advise(at, bytes, MADV_DONTDUMP);  // what gets used is added, in the application's process
  return {};
}

int pidfd_of(pid_t pid) noexcept {
  return os::injected(os::call::process_handle) ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

/// In the engine's process. Signals are for the application, and so is the terminal.
void settle_in() noexcept {
  ::setpgid(0, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPIPE,
                           SIGCHLD, SIGTSTP, SIGTTOU, SIGTTIN}) {
    ::signal(signal, SIG_IGN);
  }
  // Handlers of the application for its own faults have nothing to do here.
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) ::signal(signal, SIG_DFL);
}

/// Forks twice, so that the engine is nobody's child. 0 there; here its pid, or -errno.
pid_t fork_twice() noexcept {
  auto pipe = os::make_pipe();
  if (!pipe.ok()) return -errno;
  const pid_t between = ::fork();
  if (between < 0) return -errno;
  if (between == 0) {
    const pid_t engine = ::fork();
    if (engine == 0) {
      const pid_t self = ::getpid();
      pipe.value().first.reset();
      (void)!::write(pipe.value().second.number(), &self, sizeof self);
      return 0;
    }
    ::_exit(engine < 0 ? errno : 0);
  }
  pipe.value().second.reset();
  int status = 0;
  while (::waitpid(between, &status, 0) < 0 && errno == EINTR) continue;
  pid_t engine = 0;
  if (::read(pipe.value().first.number(), &engine, sizeof engine) != sizeof engine) {
    return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? -WEXITSTATUS(status) : -ECHILD;
  }
  return engine;
}

}  // namespace

base::result<sides> begin(std::uint64_t base, std::uint64_t bytes, way link) {
  if (const auto s = map_range(base, bytes); !s.ok()) return s;
  shared_range range;
  range.base = base;
  range.bytes = bytes;
  auto* const at = reinterpret_cast<void*>(base);
  int error = 0;
  void* const memory = os::map_shared(-1, sizeof(board), nullptr, true, error);
  if (memory == nullptr) {
    os::unmap(at, bytes);
    return failed("map shared memory", error);
  }
  range.both = new (memory) board;
  for (const auto mode : {os::userfault_mode::inline_sigbus, os::userfault_mode::thread}) {
    const int fd = os::userfault_open(mode);
    range.userfault[static_cast<std::size_t>(mode)] = os::descriptor(std::max(fd, -1));
    range.userfault_errors[static_cast<std::size_t>(mode)] = std::min(fd, 0);
  }
  if (link == way::socket) error = make_sockets(*range.both);
  auto lifeline = os::make_pipe();
  const pid_t application_pid = ::getpid();
  os::descriptor application(pidfd_of(application_pid));
  if (error == 0 && (!lifeline.ok() || !application.open())) error = errno;
  const pid_t engine = error == 0 ? fork_twice() : -error;
  if (engine == 0) {
    settle_in();
    lifeline.value().second.reset();
    error = os::protect(at, bytes, PROT_READ | PROT_WRITE);
    if (error != 0)
      base::die(QUIRE_SYSTEM, "pool 'fork': cannot open the pages to the engine: %s", std::strerror(error));
    return sides{nullptr, std::make_unique<engine_side>(std::move(range), application_pid, std::move(application),
                                                        std::move(lifeline.value().first))};
  }
  os::descriptor other(engine > 0 ? pidfd_of(engine) : -1);
  if (engine > 0 && !other.open() && errno == ESRCH) end_with_engine(*range.both);
  if (engine < 0 || !other.open()) {
    os::unmap(at, bytes);
    os::unmap(memory, sizeof(board));
    return failed("start the engine's process", engine < 0 ? -engine : errno);
  }
  // A child that the application forks later must not see pages without protection.
  (void)!os::advise(at, bytes, MADV_DONTFORK);
  return sides{
      std::make_unique<application_side>(std::move(range), std::move(other), std::move(lifeline.value().second)),
      nullptr};
}

}  // namespace quire::split
