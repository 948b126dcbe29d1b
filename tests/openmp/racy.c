/* SPDX-License-Identifier: BSD-3-Clause */
// Programs with data races between threads, one of each kind: what `quire run --check` has to tell, with the lines that
// are marked. The arrays are so large that they have release consistency (--memory mixed). Each does it again and
// again: two threads that by chance come one after the other, and hear of each other, hide a race.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 1 << 16, rounds = 40, middle = count / 2 };
static long table[count];
char letters[count * 4];

// Each thread writes all of it.
static void all(void) {
#pragma omp parallel
  for (long r = 0; r < rounds; ++r) {
    for (int i = 0; i < count; ++i) table[i] = i + r * 100000 * (omp_get_thread_num() + 1);  // RACE all
#pragma omp barrier
  }
}

// Each part is one element too long.
static void overlap(void) {
#pragma omp parallel
  for (int r = 0; r < rounds; ++r) {
    const int me = omp_get_thread_num(), all_of_us = omp_get_num_threads();
    const int each = count / all_of_us, end = me + 1 < all_of_us ? (me + 1) * each + 1 : count;
    for (int i = me * each; i < end; ++i) table[i] = 2 * r + me + 1;  // RACE overlap
#pragma omp barrier
  }
}

// A loop does not wait for the one before it.
static void nowait(void) {
#pragma omp parallel
  for (int r = 0; r < rounds; ++r) {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < count; ++i) table[i] = i + 3 * r + 1;  // RACE nowait
#pragma omp for schedule(static)
    for (int i = 0; i < count; ++i) table[count - 1 - i] = 2 * i + 5 * r + 5;  // RACE nowait
  }
}

// Two locks for the same thing.
static void two_locks(void) {
  omp_lock_t lock[2];
  for (int i = 0; i < 2; ++i) omp_init_lock(&lock[i]);
#pragma omp parallel num_threads(2)
  for (int r = 0; r < rounds; ++r) {
    omp_lock_t* const mine = &lock[omp_get_thread_num()];
    for (int i = 0; i < 10; ++i) {
      omp_set_lock(mine);
      table[middle] += 1 + 100000 * omp_get_thread_num();  // RACE two_locks
      omp_unset_lock(mine);
    }
#pragma omp barrier
  }
}

// Counts at random places.
static void histogram(void) {
#pragma omp parallel
  {
    unsigned draw = 12345u + 77u * (unsigned)omp_get_thread_num();
    for (int r = 0; r < rounds; ++r) {
      for (int i = 0; i < 5000; ++i) {
        draw = draw * 1103515245u + 12345u;
        table[middle + (draw >> 8) % 512] += 1;  // RACE histogram
      }
#pragma omp barrier
    }
  }
}

// Bytes.
static void bytes(void) {
#pragma omp parallel
  for (int r = 0; r < rounds; ++r) {
    letters[middle] = (char)(1 + 2 * r + omp_get_thread_num());  // RACE bytes
#pragma omp barrier
  }
}

// On the heap.
static void heap(void) {
  long* const block = calloc(count, sizeof *block);
#pragma omp parallel
  for (int r = 0; r < rounds; ++r) {
    block[1000] = 5 + 2 * r + omp_get_thread_num();  // RACE heap
#pragma omp barrier
  }
  free(block);
}

int main(int arguments, char** words) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kinds[] = {
      {"all", all},     {"overlap", overlap}, {"nowait", nowait}, {"two_locks", two_locks}, {"histogram", histogram},
      {"bytes", bytes}, {"heap", heap}};
  for (size_t i = 0; arguments > 1 && i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(kinds[i].name, words[1]) == 0) kinds[i].run();
  printf("done %d\n", letters[middle]);
  return 0;
}
