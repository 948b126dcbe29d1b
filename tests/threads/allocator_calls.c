/* SPDX-License-Identifier: BSD-3-Clause */
// Memory by a call that only one allocator has.
#include <pthread.h>
#include <stdio.h>

void* CALL(size_t, int);

static void* write_to(void* at) {
  *(int*)at = 5;
  return 0;
}

int main(void) {
  int* const at = CALL(sizeof(int), 0);
  pthread_t thread;
  pthread_create(&thread, 0, write_to, at);
  pthread_join(thread, 0);
  printf("%d\n", *at);
  return 0;
}
