/* SPDX-License-Identifier: BSD-3-Clause */
// Calls that fill less than they are told there is: nothing behind the result changes, whichever thread calls, and sets
// of descriptors may be shorter or longer than fd_set. What lies behind is memory of its own, in pages of its own.
#define _GNU_SOURCE
#include <limits.h>
#include <omp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { short_bytes = 256, behind_bytes = 256 };
static int failed;
static void check(int good, const char* what) {
  if (good) return;
  printf("thread %d: %s\n", omp_get_thread_num(), what);
#pragma omp atomic
  failed++;
}
static int is_still(const char* at, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    if (at[i] != 7) return 0;
  }
  return 1;
}

static void names(char* to) {
  memset(to, 7, short_bytes + behind_bytes);
  check(getcwd(to, PATH_MAX) == to && is_still(to + strlen(to) + 1, short_bytes + behind_bytes - strlen(to) - 1),
        "getcwd");
  memset(to, 7, short_bytes + behind_bytes);
  check(realpath("/proc/../tmp/.", to) == to && strcmp(to, "/tmp") == 0 && is_still(to + 5, 500), "realpath");
  memset(to, 7, short_bytes + behind_bytes);
  const ssize_t length = readlink("/proc/self/exe", to, PATH_MAX);
  check(length > 0 && is_still(to + length, (size_t)(short_bytes + behind_bytes - length)), "readlink");
}
static void addresses(char* to) {
  int two[2];
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, two) == 0, "socketpair");
  socklen_t* const length = malloc(sizeof *length);
  *length = 4096;
  memset(to, 7, short_bytes + behind_bytes);
  check(getsockname(two[0], (struct sockaddr*)to, length) == 0 && *length < 100 && is_still(to + *length, 256),
        "getsockname");
  *length = 4096;
  memset(to, 7, short_bytes + behind_bytes);
  check(getsockopt(two[0], SOL_SOCKET, SO_TYPE, to, length) == 0 && *length == 4 && is_still(to + 4, 256),
        "getsockopt");
  close(two[0]), close(two[1]);
  free(length);
}
/// A set of one word, and one of many.
static void sets(char* to) {
  int two[2];
  check(pipe(two) == 0, "pipe");
  memset(to, 7, short_bytes + behind_bytes);
  unsigned long* const word = (unsigned long*)to;
  *word = 1ul << two[0];
  struct timeval none = {0, 0};
  check(two[0] < 64 && select(two[0] + 1, (fd_set*)word, NULL, NULL, &none) == 0 && *word == 0 && is_still(to + 8, 400),
        "select of a word");
  check(write(two[1], "x", 1) == 1, "write");
  const int high = 1500 + 20 * omp_get_thread_num();
  if (dup2(two[0], high) == high) {
    unsigned long* const many = calloc(64, sizeof *many);
    many[high / 64] = 1ul << high % 64;
    check(select(high + 1, (fd_set*)many, NULL, NULL, &none) == 1 && many[high / 64] == 1ul << high % 64,
          "select of many");
    free(many);
    close(high);
  }
  struct pollfd one[2] = {{two[0], POLLIN, 99}, {-1, POLLIN, 99}};
  check(poll(one, 2, 0) == 1 && one[0].revents == POLLIN && one[1].revents == 0 && one[1].fd == -1, "poll");
  close(two[0]), close(two[1]);
}

int main(void) {
  struct rlimit most;
  getrlimit(RLIMIT_NOFILE, &most);
  if (most.rlim_max >= 2000 && most.rlim_cur < 2000) most.rlim_cur = 2000, setrlimit(RLIMIT_NOFILE, &most);
#pragma omp parallel
  {
    char own[short_bytes + behind_bytes];
    char* const at_end = (char*)aligned_alloc(4096, 4096) + 4096 - short_bytes - behind_bytes;
    names(own), names(at_end);
    addresses(own), addresses(at_end);
    sets(own), sets(at_end);
  }
  printf("failed %d\n", failed);
  return failed != 0;
}
