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

// The same sum by all threads.
static void sum(void) {
#pragma omp parallel
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < 1000; ++i) table[middle] += i + omp_get_thread_num() + 1;  // RACE sum
#pragma omp barrier
  }
}

// What one thread has made is changed by all before it is there.
static void missing_barrier(void) {
#pragma omp parallel
  for (int r = 0; r < rounds; ++r) {
    if (omp_get_thread_num() == 0)
      for (int i = 0; i < 4000; ++i) table[i] = 7 * i + r + 1;  // RACE missing_barrier
    else
      for (int i = 0; i < 4000; ++i) table[i] += 5 * r + 3;  // RACE missing_barrier
#pragma omp barrier
  }
}

static void single_nowait(void) {
#pragma omp parallel
  for (int r = 0; r < rounds; ++r) {
#pragma omp single nowait
    for (int i = 0; i < 4000; ++i) table[i] = 3 * i + r;  // RACE single_nowait
    table[17] = 4 * r + omp_get_thread_num() + 1;         // RACE single_nowait
#pragma omp barrier
  }
}

// Sections that have nothing to do with each other, it seems.
static void two_sections(void) {
  for (int r = 0; r < rounds; ++r) {
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
      for (int i = 0; i < 6000; ++i) table[i] = i + 2 * r + 1;  // RACE two_sections
#pragma omp section
      for (int i = 5000; i < 9000; ++i) table[i] = 3 * i + 5 * r + 2;  // RACE two_sections
    }
  }
}

// Critical sections with different names.
static void names(void) {
#pragma omp parallel
  for (int r = 0; r < rounds; ++r) {
    if (omp_get_thread_num() == 0) {
#pragma omp critical(one)
      table[middle] += 3;  // RACE names
    } else {
#pragma omp critical(other)
      table[middle] += 100001;  // RACE names
    }
#pragma omp barrier
  }
}

// Who writes takes the lock, but for one.
static void half_locked(void) {
#pragma omp parallel
  for (int r = 0; r < rounds; ++r) {
    if (omp_get_thread_num() == 0) {
#pragma omp critical(one)
      table[middle + 9] += 3;  // RACE half_locked
    } else {
      table[middle + 9] = 200 + r;  // RACE half_locked
    }
#pragma omp barrier
  }
}

// A place for values in between that each thread ought to have for itself.
static void temporary(void) {
#pragma omp parallel
  for (int r = 0; r < rounds; ++r) {
#pragma omp for
    for (int i = 0; i < 2000; ++i) {
      table[middle + 40] = 3 * i + r;  // RACE temporary
      letters[i] = (char)(table[middle + 40] / 2);
    }
  }
}

// Two turns of a loop have one place.
static void collisions(void) {
  for (int r = 0; r < rounds; ++r) {
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 4000; ++i) table[i / 2] = 5 * i + r + 1;  // RACE collisions
  }
}

// Each turn changes what the next one changes as well.
static void dependence(void) {
  for (int r = 0; r < rounds; ++r) {
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 4000; ++i) {
      table[i] += 3;                    // RACE dependence
      table[i + 1] = table[i] + 2 * r;  // RACE dependence
    }
  }
}

// Tasks that tell nothing of what they depend on.
static void lone_tasks(void) {
#pragma omp parallel
  for (int r = 0; r < rounds; ++r) {
#pragma omp task firstprivate(r)
    for (int i = 0; i < 20000; ++i) table[i] = 3 * i + r + omp_get_thread_num();  // RACE lone_tasks
#pragma omp barrier
  }
}

// Whoever sees the flag first: nothing orders who writes.
static void flag(void) {
#pragma omp parallel
  for (int r = 1; r <= rounds; ++r) {
    if (omp_get_thread_num() == 0) {
      for (int i = 0; i < 500; ++i) table[i] = i + r;  // RACE flag
      table[middle] = r;
    } else if (table[middle] != r) {
      for (int i = 0; i < 500; ++i) table[i] = 9 * i + 4 * r + 1;  // RACE flag
    }
#pragma omp barrier
  }
}

// A sum into parts of an array, without a reduction.
static void array_sum(void) {
#pragma omp parallel
  for (int r = 0; r < rounds; ++r) {
#pragma omp for
    for (int i = 0; i < 5000; ++i) table[middle + i % 64] += i + 1;  // RACE array_sum
  }
}

// The second loop of tasks does not wait for the first one.
static void free_tasks(void) {
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < rounds; ++r) {
#pragma omp taskloop num_tasks(8) nogroup firstprivate(r)
    for (int i = 0; i < 20000; ++i) table[i] = 3 * i + r + 1;  // RACE free_tasks
#pragma omp taskloop num_tasks(8) firstprivate(r)
    for (int i = 0; i < 20000; ++i) table[19999 - i] = 5 * i + 7 * r + 3;  // RACE free_tasks
#pragma omp taskwait
  }
}

// Lanes of one thread begin where those of the other one end, and one further.
static void lanes(void) {
#pragma omp parallel
  for (int r = 0; r < rounds; ++r) {
    const int t = omp_get_thread_num();
#pragma omp simd
    for (int i = 0; i < 3001; ++i) table[t * 3000 + i] = 2 * i + 9 * r + t + 1;  // RACE lanes
#pragma omp barrier
  }
}

// A task waits for its children, and not for theirs.
static void grandchildren(void) {
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < rounds; ++r) {
#pragma omp task firstprivate(r)
    {
#pragma omp task firstprivate(r)
      for (int i = 0; i < 20000; ++i) table[i] = 3 * i + r + 1;  // RACE grandchildren
    }
#pragma omp taskwait
#pragma omp task firstprivate(r)
    for (int i = 0; i < 20000; ++i) table[i] = 5 * i + 7 * r + 3;  // RACE grandchildren
    for (int i = 0; i < 20000; ++i) table[i] = 8 * i + 6 * r + 2;  // RACE grandchildren
#pragma omp taskwait
  }
}

int main(int arguments, char** words) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kinds[] = {{"all", all},
               {"overlap", overlap},
               {"nowait", nowait},
               {"two_locks", two_locks},
               {"histogram", histogram},
               {"bytes", bytes},
               {"heap", heap},
               {"sum", sum},
               {"missing_barrier", missing_barrier},
               {"single_nowait", single_nowait},
               {"two_sections", two_sections},
               {"names", names},
               {"half_locked", half_locked},
               {"temporary", temporary},
               {"collisions", collisions},
               {"dependence", dependence},
               {"lone_tasks", lone_tasks},
               {"flag", flag},
               {"array_sum", array_sum},
               {"free_tasks", free_tasks},
               {"lanes", lanes},
               {"grandchildren", grandchildren}};
  for (size_t i = 0; arguments > 1 && i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(kinds[i].name, words[1]) == 0) kinds[i].run();
  printf("done %d\n", letters[middle]);
  return 0;
}
