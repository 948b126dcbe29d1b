#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# RLIMIT_FSIZE (ulimit -f) and anonymous memory of memfd_create(2), which no file system ever sees.
# Expected guess: the limit is about files that are written; memory without a name is not one of them (RLIMIT_AS and cgroups limit memory), and System V
# segments and MAP_SHARED | MAP_ANONYMOUS, which the same tmpfs keeps, may have any size.
# Behaviour: ftruncate() of the memfd sends SIGXFSZ, which ends the process; with that ignored it gives EFBIG. The other two are not limited.
# A batch system's default for file sizes thus ends every program that shares memory by memfd (many runtimes do).
# Seen on: Linux 6.18.44. Exit status 1: this kernel does otherwise.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/it.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

enum { limit = 1 << 20, size = 4 << 20 };

int main(void) {
  const struct rlimit files = {limit, limit};
  setrlimit(RLIMIT_FSIZE, &files);
  const pid_t child = fork();
  if (child == 0) _exit(ftruncate(memfd_create("memory", 0), size) == 0 ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  const int killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ;
  printf("ftruncate() of a memfd to 4 MiB, limit 1 MiB: %s\n", killed ? "the process was killed by SIGXFSZ" : "the process lives");
  signal(SIGXFSZ, SIG_IGN);
  const int error = ftruncate(memfd_create("memory", 0), size) == 0 ? 0 : errno;
  printf("with the signal ignored: %s\n", strerror(error));
  const int segment = shmget(IPC_PRIVATE, size, 0600);
  printf("System V segment of 4 MiB: %s\n", segment >= 0 ? "no error" : strerror(errno));
  if (segment >= 0) shmctl(segment, IPC_RMID, NULL);
  char* const shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  printf("MAP_SHARED | MAP_ANONYMOUS of 4 MiB: %s\n", shared != MAP_FAILED ? "no error" : strerror(errno));
  return !(killed && error == EFBIG && segment >= 0 && shared != MAP_FAILED);
}
C
echo "Linux $(uname -r)"
gcc -o "$folder/it" "$folder/it.c"
"$folder/it"
