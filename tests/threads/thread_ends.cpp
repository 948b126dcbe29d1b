// SPDX-License-Identifier: BSD-3-Clause
// Threads that leave by pthread_exit(3), or are cancelled, with any unwinder: frames of C++ have no destructors here,
// of which LLVM's dies with libc alone. main() leaves last.
#include <pthread.h>
#include <unistd.h>
#include <cstdio>

struct counted {
  int v = 1;
  ~counted() { std::printf("thread_local ends %d\n", v); }
};
thread_local counted local;
static void* leaves(void*) {
  local.v = 2;
  pthread_exit((void*)9);
}
static void* deep(int n) {
  if (n == 0) pthread_exit((void*)10);
  return (char*)deep(n - 1) + 1;
}
static void* sleeps(void*) {
  for (;;) sleep(100);
}
static void* asks(void*) {
  for (;;) {
    usleep(100);
    pthread_testcancel();
  }
}
static void* reads(void* at) {
  char x;
  for (;;)
    if (read(*(int*)at, &x, 1) < 0) return nullptr;
}
static void* last(void*) {
  usleep(100000);
  std::puts("the last thread");
  return nullptr;
}
int main() {
  pthread_t t;
  void* r;
  int fd[2];
  if (pipe(fd)) return 1;
  pthread_create(&t, nullptr, leaves, nullptr);
  pthread_join(t, &r);
  std::printf("%ld\n", (long)r);
  pthread_create(
      &t, nullptr, [](void*) -> void* { return deep(20); }, nullptr);
  pthread_join(t, &r);
  std::printf("%ld\n", (long)r);
  void* (*all[])(void*) = {sleeps, asks, reads};
  for (auto* one : all) {
    pthread_create(&t, nullptr, one, fd);
    usleep(50000);
    pthread_cancel(t);
    pthread_join(t, &r);
    std::printf("%d\n", r == PTHREAD_CANCELED);
  }
  pthread_create(&t, nullptr, last, nullptr);
  pthread_detach(t);
  std::fflush(stdout);
  pthread_exit(nullptr);
}
