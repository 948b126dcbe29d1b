// SPDX-License-Identifier: BSD-3-Clause
#include "mount/watcher.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace quire::mount {
namespace {

// The inner shells are not children of ours. $1 is the directory, $2 our process.
// The first waits for a line, which says that all is well. Without one this process has died: what can be looked at is
// alive (a later job's, or nothing is mounted), or will be dead in a moment, when the kernel has ended the connection.
// The kernel does not end it while a thread of ours that was killed waits for its own file: only who looks knows of
// that (SIGKILL, bit 8, is pending for it). So the second one looks at times.
constexpr const char* script =
    "(trap '' INT TERM HUP QUIT\n"
    "away() { umount -f -l -- \"$1\" || fusermount3 -u -z -- \"$1\"; }\n"
    "(exec 3<&-\n"
    "while sleep 5 && test -d /proc/$2; do\n"
    "  grep -q '^SigPnd:.*[13579bdf]..$' /proc/$2/task/*/status && away \"$1\"\n"
    "done) &\n"
    "trap '' USR1\n"
    "read -r line <&3\n"
    "well=$?\n"
    "kill -USR1 0\n"
    "test $well = 0 && exit 0\n"
    "for again in 1 2 3 4 5 6 7 8 9 10; do\n"
    "  grep -q ' fuse.quire ' /proc/self/mounts || exit 0\n"
    "  stat -- \"$1\" || { away \"$1\"; exit 0; }\n"
    "  sleep 0.1\n"
    "done) </dev/null >/dev/null 2>&1 &";

}  // namespace

base::result<os::descriptor> watch_own_death(const std::string& directory) {
  auto pipe = os::make_pipe();
  if (!pipe.ok()) return QUIRE_SYSTEM;
  // Descriptor 3 by way of a number above, so that it is not closed on exec when it is 3 already.
  const os::descriptor above(::fcntl(pipe.value().first.number(), F_DUPFD_CLOEXEC, 10));
  if (!above.open()) return QUIRE_SYSTEM;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (::posix_spawn_file_actions_init(&actions) != 0) return QUIRE_SYSTEM;
  if (::posix_spawnattr_init(&attributes) != 0) {
    ::posix_spawn_file_actions_destroy(&actions);
    return QUIRE_SYSTEM;
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawn_file_actions_adddup2(&actions, above.number(), 3);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 4);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  std::array<std::string, 6> words{"/bin/sh", "-c", script, "quire-unmount", directory, std::to_string(::getpid())};
  std::array<char*, 7> pointers{};
  for (std::size_t i = 0; i < words.size(); ++i) pointers[i] = words[i].data();
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, "/bin/sh", &actions, &attributes, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    errno = error;
    return QUIRE_SYSTEM;
  }
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  return std::move(pipe.value().second);
}

}  // namespace quire::mount
