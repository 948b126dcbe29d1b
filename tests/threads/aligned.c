/* SPDX-License-Identifier: BSD-3-Clause */
// Static data that is aligned to more than a page: linkers make a segment of its own for it, with a hole before it.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { threads = 4, part = 100000 };

static int small_before = 1;
static char zeros[threads * part] __attribute__((aligned(ALIGNMENT)));
static char values[2 * ALIGNMENT] __attribute__((aligned(ALIGNMENT))) = "begun";
static int small_after[3] = {1, 2, 3};
int common_one;

static void* fill(void* of) {
  const long i = (long)of;
  memset(zeros + i * part, 'a' + (int)i, part);
  values[ALIGNMENT + i] = (char)('0' + i);
  __atomic_add_fetch(&small_before, (int)i, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&small_after[1], 1, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&common_one, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

int main(void) {
  pthread_t all[threads];
  for (long i = 0; i < threads; ++i) pthread_create(&all[i], NULL, fill, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  long sum = 0;
  for (int i = 0; i < threads * part; ++i) sum += zeros[i] * (i % 7 + 1);
  printf("%ld %s %.4s %d %d %d, aligned %d %d\n", sum, values, values + ALIGNMENT, small_before, small_after[1],
         common_one, (unsigned long)zeros % ALIGNMENT == 0, (unsigned long)values % ALIGNMENT == 0);
  return 0;
}
