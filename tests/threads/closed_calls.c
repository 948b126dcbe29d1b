/* SPDX-License-Identifier: BSD-3-Clause */
// System calls that are given pages which nobody may access (PROT_NONE): they fail with EFAULT, or end early, as on one
// machine. A thread of each node.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { page = 4096, threads = 3, rw = PROT_READ | PROT_WRITE };
static int g_file;
static char* g_open;    ///< a page, and behind it one that is closed
static char* g_closed;  ///< both are
static char g_lines[threads][2048];

static void tell(char* to, const char* name, long result) {
  const int error = errno;
  char one[64];
  if (result < 0) {
    snprintf(one, sizeof one, "%s: %s\n", name, error == EFAULT ? "EFAULT" : strerror(error));
  } else {
    snprintf(one, sizeof one, "%s: %ld\n", name, result);
  }
  strcat(to, one);
}

static void* work(void* argument) {
  char* const to = g_lines[(intptr_t)argument];
  char private_byte = 1;
  char* const edge = g_open + page;
  int ends[2], sockets[2];
  struct stat about;
  if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) != 0) abort();
  tell(to, "pread, closed", pread(g_file, g_closed, 100, 0));
  tell(to, "pread, an end", pread(g_file, edge - 50, 100, 0));
  tell(to, "it has read", edge[-50]);
  tell(to, "pread, more", pread(g_file, g_open, 3 * page, 0));
  tell(to, "pwrite, closed", pwrite(g_file, g_closed, 100, 0));
  tell(to, "pwrite, open", pwrite(g_file, g_open, page, 0));
  tell(to, "write to a pipe, closed", write(ends[1], g_closed + 5, 10));
  tell(to, "write to a pipe, open", write(ends[1], edge - 10, 10));
  tell(to, "read from it, closed", read(ends[0], g_closed, 10));
  tell(to, "read from it, open", read(ends[0], edge - 10, 10));
  tell(to, "send, an end", send(sockets[0], edge - 10, 20, 0));
  tell(to, "send, open", send(sockets[0], edge - 10, 10, 0));
  tell(to, "recv, closed", recv(sockets[1], g_closed, 10, MSG_DONTWAIT));
  struct iovec list[2] = {{edge - 8, 8}, {g_closed, 8}};
  tell(to, "preadv", preadv(g_file, list, 2, 0));
  tell(to, "pwritev", pwritev(g_file, list, 2, 0));
  tell(to, "a vector, closed", preadv(g_file, (struct iovec*)g_closed, 2, 0));
  tell(to, "a message, closed", sendmsg(sockets[0], (struct msghdr*)g_closed, 0));
  tell(to, "a name, closed", open(g_closed, O_RDONLY));
  memset(edge - 4, 'x', 4);
  tell(to, "a name without an end", open(edge - 4, O_RDONLY));
  tell(to, "a structure, closed", fstat(g_file, (struct stat*)g_closed));
  tell(to, "a structure, open", fstat(g_file, &about));
  tell(to, "by number, closed", syscall(SYS_getrandom, g_closed, 10, 0));
  tell(to, "by number, open", syscall(SYS_getrandom, edge - 10, 10, 0));
  tell(to, "nothing, closed", pwrite(g_file, g_closed, 0, 0));
  tell(to, "nothing, open", pwrite(g_file, edge - 10, 0, 0));
  tell(to, "private", pread(g_file, &private_byte, 1, 0));
  close(ends[0]), close(ends[1]), close(sockets[0]), close(sockets[1]);
  return NULL;
}

int main(void) {
  pthread_t thread;
  g_file = memfd_create("file", 0);
  g_open = mmap(NULL, 2 * page, rw, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  g_closed = mmap(NULL, 2 * page, rw, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(g_open, 1, 2 * page);
  memset(g_closed, 2, 2 * page);
  if (pwrite(g_file, g_open, 2 * page, 0) != 2 * page) return 2;
  if (mprotect(g_open + page, page, PROT_NONE) != 0 || mprotect(g_closed, 2 * page, PROT_NONE) != 0) return 3;
  for (intptr_t i = 0; i < threads; ++i) {
    pthread_create(&thread, NULL, work, (void*)i);
    pthread_join(thread, NULL);
    printf("thread %d:\n%s", (int)i, g_lines[i]);
  }
  return 0;
}
