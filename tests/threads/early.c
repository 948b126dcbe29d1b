/* SPDX-License-Identifier: BSD-3-Clause */
/* The first thread writes to a descriptor that main() has opened, at once, and to standard output. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int descriptor, bad;

static void* add(void* result) {
  const uint64_t one = 1;
  for (int i = 0; i < 3; ++i) {
    if (write(descriptor, &one, sizeof one) == sizeof one) continue;
    printf("write to %d: %s\n", descriptor, strerror(errno));
    bad = 1;
  }
  puts("added");
  return result;
}

int main(void) {
  pthread_t threads[4];
  descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, add, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  uint64_t sum = 0;
  bad |= read(descriptor, &sum, sizeof sum) != sizeof sum || sum != 12;
  printf("%d: the sum is %llu\n", bad, (unsigned long long)sum);
  return bad;
}
