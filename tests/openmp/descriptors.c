/* SPDX-License-Identifier: BSD-3-Clause */
// Descriptors that one thread has opened, and threads of all nodes use.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { threads = 4 };

/// What threads say one after the other.
static char said[200000];
static size_t said_length = 0;
static void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  said_length += vsnprintf(said + said_length, sizeof said - said_length, format, arguments);
  va_end(arguments);
}
static void say_error(const char* what, long result) {
  const int error = errno;
  say("%s: %ld %s\n", what, result, result < 0 ? strerror(error) : "");
  errno = 0;
}
static int is_last(void) { return omp_get_thread_num() == threads - 1; }

static char name[] = "/tmp/quire_descriptors_XXXXXX";

static void file(void) {
  const int fd = mkstemp(name);
  static char large[300000];
#pragma omp parallel num_threads(threads)
  {
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 2 * threads; ++i) {
#pragma omp ordered
      {
        char text[100];
        const int length = snprintf(text, sizeof text, "line of %d\n", i);
        say_error("write", write(fd, text, length));
        struct iovec parts[] = {{"constant ", 9}, {text, 5}, {"\n", 1}};
        say_error("writev", writev(fd, parts, 3));
        say_error("pwrite", pwrite(fd, "LINE", 4, 0));
        say_error("dprintf", dprintf(fd, "%s %d\n", strerror(EPERM), i));
        say_error("lseek", lseek(fd, 0, SEEK_CUR));
        struct stat about;
        say_error("fstat", fstat(fd, &about));
        say("%ld bytes, mode %o\n", (long)about.st_size, about.st_mode);
        say_error("pread", pread(fd, text, 10, 1));
        say("%.10s\n", text);
      }
    }
    if (is_last()) {
      memset(large, 'x', sizeof large);
      say_error("large", write(fd, large, sizeof large));
      memset(large, 0, sizeof large);
      say_error("pread", pread(fd, large, sizeof large, 100));
      say("%d\n", large[sizeof large - 1000]);
      say_error("lseek", lseek(fd, 0, SEEK_SET));
      char a[10], b[3] = "", c[20];
      struct iovec parts[] = {{a, sizeof a}, {b, 2}, {c, sizeof c}};
      say_error("readv", readv(fd, parts, 3));
      say("%.10s|%s|%.20s\n", a, b, c);
      say_error("read", read(fd, large, sizeof large));
      say_error("at the end", read(fd, large, sizeof large));
      say_error("fsync", fsync(fd));
      say_error("fdatasync", fdatasync(fd));
      say_error("ftruncate", ftruncate(fd, 100));
      say_error("end", lseek(fd, 0, SEEK_END));
      const int copy = dup(fd);
      say_error("lseek", lseek(copy, 10, SEEK_SET));
      say_error("the same position", lseek(fd, 0, SEEK_CUR));
      say_error("flags", fcntl(copy, F_GETFL));
      say_error("flags of descriptor", fcntl(copy, F_GETFD));
      struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 10};
      say_error("lock", fcntl(copy, F_SETLK, &lock));
      say_error("lock", fcntl(copy, F_GETLK, &lock));
      say("%d\n", lock.l_type == F_UNLCK);
      const int high = fcntl(fd, F_DUPFD, 500);
      say("%d\n", high >= 500);
      say("%d\n", dup2(fd, 600) == 600);
      say_error("by that", pread(600, large, 10, 0));
      say_error("close", close(copy));
      say_error("close", close(high));
      say_error("close", close(600));
      say_error("closed", read(600, large, 10));
      say_error("close again", close(600));
    }
  }
  close(fd);
}

static void opened_within(void) {
  int fd = -1, none = -1;
#pragma omp parallel num_threads(threads)
  if (is_last()) {
    fd = open(name, O_RDWR | O_TRUNC);
    none = open("/none/of this", O_RDONLY);
    say_error("none", none);
    say_error("exclusive", openat(AT_FDCWD, name, O_CREAT | O_EXCL | O_RDWR, 0600));
    const int directory = open("/tmp", O_RDONLY | O_DIRECTORY);
    const int within = openat(directory, name + 5, O_WRONLY | O_APPEND);
    say_error("write", write(within, "appended", 8));
    say_error("read", read(within, (char[8]){0}, 8));
    say_error("close", close(within));
    say_error("close", close(directory));
  }
#pragma omp parallel num_threads(threads)
#pragma omp for ordered schedule(static, 1)
  for (int i = 0; i < threads; ++i) {
#pragma omp ordered
    {
      char one = 0;
      say_error("read", read(fd, &one, 1));
      say("%c\n", one);
    }
  }
  say_error("close", close(fd));
  unlink(name);
}

static void errors(void) {
  const int only_read = open("/dev/zero", O_RDONLY), full = open("/dev/full", O_WRONLY);
#pragma omp parallel num_threads(threads)
  if (is_last()) {
    char text[10];
    errno = 0;
    say_error("bad descriptor", write(700, "text", 4));
    say_error("negative", write(-1, "text", 4));
    for (int fd = 701; fd < 760; ++fd) {
      if (close(fd) == 0) say("%d was open\n", fd);
    }
    say_error("read only", write(only_read, "text", 4));
    say_error("full", write(full, "text", 4));
    say_error("write only", read(full, text, 4));
    say_error("bad address", write(full, NULL, 4));
    say_error("bad address", read(only_read, (char*)1, 4));
    say_error("bad offset", lseek(only_read, 0, 99));
    say_error("no terminal", isatty(only_read) - 1);
    say_error("not a socket", send(only_read, text, 4, 0));
    say_error("too many parts", writev(full, NULL, 5000));
    say_error("close", close(only_read));
    say_error("close", close(full));
  }
}

// One thread waits for what another one writes.
static void pipes(void) {
  int ends[2] = {-1, -1}, back[2] = {-1, -1};
  long sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  {
    if (is_last()) say_error("pipe", pipe(ends) | pipe2(back, O_CLOEXEC));
#pragma omp barrier
    const int me = omp_get_thread_num();
    if (me == 0) {
      long number = 0;
      for (int i = 0; i < 20; ++i) {
        if (read(ends[0], &number, sizeof number) != sizeof number) sum += 1000000;
        sum += number;
        number *= 2;
        if (write(back[1], &number, sizeof number) != sizeof number) sum += 1000000;
      }
    } else if (is_last()) {
      for (long i = 0; i < 20; ++i) {
        long answer = 0;
        if (write(ends[1], &i, sizeof i) != sizeof i) sum += 1000000;
        if (read(back[0], &answer, sizeof answer) != sizeof answer || answer != 2 * i) sum += 1000000;
      }
    }
#pragma omp barrier
    if (is_last()) {
      struct pollfd both[] = {{ends[0], POLLIN}, {ends[1], POLLOUT}};
      say_error("poll", poll(both, 2, 0));
      say("%d %d\n", both[0].revents, both[1].revents == POLLOUT);
      say_error("write", write(ends[1], "x", 1));
      say_error("poll", poll(both, 2, 1000));
      say("%d\n", both[0].revents == POLLIN);
      fd_set set;
      FD_ZERO(&set);
      FD_SET(ends[0], &set);
      FD_SET(back[0], &set);
      struct timeval limit = {1, 0};
      say_error("select", select((ends[0] > back[0] ? ends[0] : back[0]) + 1, &set, NULL, NULL, &limit));
      say("%d %d\n", FD_ISSET(ends[0], &set) != 0, FD_ISSET(back[0], &set) != 0);
      const int events = epoll_create1(0);
      struct epoll_event event = {EPOLLIN, {.u64 = 77}}, found[4];
      say_error("epoll_ctl", epoll_ctl(events, EPOLL_CTL_ADD, ends[0], &event));
      say_error("epoll_wait", epoll_wait(events, found, 4, 1000));
      say("%d\n", (int)found[0].data.u64);
      say_error("close", close(events));
      for (int i = 0; i < 2; ++i) say_error("close", close(ends[i]) | close(back[i]));
    }
  }
  say("sum %ld\n", sum);
}

static void sockets(void) {
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  say_error("bind", bind(server, (struct sockaddr*)&address, sizeof address));
  say_error("listen", listen(server, 5));
  say_error("name", getsockname(server, (struct sockaddr*)&address, &length));
#pragma omp parallel num_threads(threads)
  {
    char text[50] = "";
    if (omp_get_thread_num() == 0) {
      const int client = socket(AF_INET, SOCK_STREAM, 0);
      if (connect(client, (struct sockaddr*)&address, sizeof address) != 0) perror("connect");
      if (send(client, "a question", 10, 0) != 10 || recv(client, text, sizeof text, MSG_WAITALL) != 6)
        perror("client");
      close(client);
    } else if (is_last()) {
      struct sockaddr_in from;
      socklen_t room = sizeof from;
      const int one = accept(server, (struct sockaddr*)&from, &room);
      say("%d %d\n", from.sin_family == AF_INET, (int)room);
      say_error("recv", recvfrom(one, text, sizeof text, 0, NULL, NULL));
      say("%s\n", text);
      struct iovec parts[] = {{"ans", 3}, {"wer", 3}};
      struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
      say_error("sendmsg", sendmsg(one, &message, 0));
      const int on = 1;
      say_error("option", setsockopt(one, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on));
      say_error("close", close(one));
    }
  }
  close(server);
}

// Programs that begin by closing all that they do not know.
static void close_all(void) {
  int closed = 0;
  for (int fd = 3; fd < 250; ++fd) closed += close(fd) == 0;
  say("%d\n", closed >= 0);
  say("%d\n", dup2(0, 249));
#pragma omp parallel num_threads(threads)
  if (is_last()) {
    for (int fd = 3; fd < 1000; ++fd) close(fd);
    say_error("close_range", close_range(900, 1000, 0));
    closefrom(3);
  }
}

int main(void) {
  close_all();
  file();
  opened_within();
  errors();
  pipes();
  sockets();
  fputs(said, stdout);
  return 0;
}
