// SPDX-License-Identifier: BSD-3-Clause
// Runs a command on a machine without userfaultfd: the system call is refused, and so is the device, as in a container.
// The filter holds for all that the command starts.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <iterator>

namespace {

/// userfaultfd(2) fails with EPERM.
bool refuse_system_call() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Whoever may open it gets /dev/null instead, in a mount namespace of its own.
bool hide_device() {
  if (::access("/dev/userfaultfd", R_OK | W_OK) != 0) return true;
  return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("/dev/null", "/dev/userfaultfd", nullptr, MS_BIND, nullptr) == 0;
}

}  // namespace

int main(int, char** argv) {
  if (argv[1] == nullptr) return 2;
  // "device": that stays, and the system call alone is refused.
  const bool device_stays = argv[1][0] == '+';
  if ((!device_stays && !hide_device()) || !refuse_system_call()) {
    std::perror("without_userfaultfd");
    return 77;
  }
  ::execvp(argv[device_stays ? 2 : 1], argv + (device_stays ? 2 : 1));
  std::perror(argv[1]);
  return 127;
}
