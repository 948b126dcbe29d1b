/* SPDX-License-Identifier: BSD-3-Clause */
// Programs without data races between threads, one of each way that OpenMP has to order writes:
// `quire run --check` tells nothing. The arrays have release consistency (--memory mixed); neighbours are written by
// different threads wherever that is allowed.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 1 << 15, rounds = 5 };
static long table[count], others[count];
char letters[count * 4];

static void parts(void) {
  for (int r = 0; r < rounds; ++r) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < count; ++i) table[i] += i + r;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < count; ++i) table[count - 1 - i] += r + 1;
  }
}
static void in_turn(void) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < count; ++i) letters[i] = (char)(i % 100 + 1);
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < count; ++i) letters[i] = (char)(i % 90 + 3);
}
static void dynamic(void) {
  for (int r = 0; r < rounds; ++r)
#pragma omp parallel for schedule(dynamic, 17)
    for (int i = 0; i < count; ++i) table[i] = 3 * table[i] + i + r;
}
static void guided(void) {
#pragma omp parallel
  for (int r = 0; r < rounds; ++r)
#pragma omp for schedule(guided)
    for (int i = 0; i < count; ++i) table[i] = 5 * table[i] + i + r;
}
static void critical(void) {
#pragma omp parallel
  for (int r = 0; r < 50; ++r)
#pragma omp critical
    for (int i = 0; i < 8; ++i) table[i * 700] += i + 1;
}
static void ordered(void) {
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 100; ++i)
#pragma omp ordered
    table[i / 2] = table[(i + 1) / 2] + i + 1;
}
static void barriers(void) {
#pragma omp parallel
  for (int r = 0; r < 20; ++r) {
    if (r % omp_get_num_threads() == omp_get_thread_num())
      for (int i = 0; i < 3000; ++i) table[i] = 2 * table[i] + r + i;
#pragma omp barrier
  }
}
static void locks(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel
  for (int r = 0; r < 100; ++r) {
    omp_set_lock(&lock);
    table[r] += r + 1;
    table[99 - r] += 1;
    omp_unset_lock(&lock);
    others[omp_get_thread_num()] += 1;
  }
  omp_destroy_lock(&lock);
}
static void singles(void) {
#pragma omp parallel
  for (int r = 0; r < 30; ++r) {
#pragma omp single
    for (int i = 0; i < 600; ++i) table[i] += r + 1;
#pragma omp masked
    table[600] += 1;
#pragma omp barrier
  }
}
static void sections(void) {
#pragma omp parallel sections
  {
#pragma omp section
    for (int i = 0; i < count; i += 2) table[i] = i + 1;
#pragma omp section
    for (int i = 1; i < count; i += 2) table[i] = i + 2;
  }
}
static void sums(void) {
  long sum = 0, last = 0;
#pragma omp parallel for reduction(+ : sum) lastprivate(last)
  for (int i = 0; i < count; ++i) {
    table[i] = i;
    sum += table[i];
    last = i;
  }
  table[0] = sum + last;
}
static void array_sums(void) {
#pragma omp parallel for reduction(+ : table [0:64])
  for (int i = 0; i < count; ++i) table[i % 64] += i;
}
static void tasks(void) {
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < 20; ++r) {
    for (int t = 0; t < 8; ++t)
#pragma omp task firstprivate(r, t)
      for (int i = 0; i < 300; ++i) table[t * 300 + i] += r + t + 1;
#pragma omp taskwait
  }
}
static void dependences(void) {
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < 40; ++r) {
#pragma omp task depend(inout : table[0]) firstprivate(r)
    for (int i = 0; i < 200; ++i) table[i] = 3 * table[i] + r + 1;
#pragma omp task depend(in : table[0]) depend(inout : others[0]) firstprivate(r)
    for (int i = 0; i < 200; ++i) others[i] = table[i] + r;
  }
}
static void doacross(void) {
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (int i = 1; i < 200; ++i) {
#pragma omp ordered depend(sink : i - 1)
    table[i] = 2 * table[i - 1] + 1;
    table[0] = i + 7;
#pragma omp ordered depend(source)
  }
}
static void heap(void) {
#pragma omp parallel
  for (int r = 0; r < 40; ++r) {
    long* const block = malloc(80000);
    for (int i = 0; i < 10000; ++i) block[i] = i + r + omp_get_thread_num();
    free(block);
  }
}

static void task_loops(void) {
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < rounds; ++r) {
#pragma omp taskloop grainsize(500)
    for (int i = 0; i < count; ++i) table[i] += i + r;
#pragma omp taskloop num_tasks(7)
    for (int i = 0; i < count; ++i) table[count - 1 - i] += r + 1;
  }
}
static void task_groups(void) {
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < 20; ++r) {
#pragma omp taskgroup
    for (int t = 0; t < 4; ++t)
#pragma omp task firstprivate(r, t)
    {
      for (int i = 0; i < 200; ++i) table[t * 400 + i] += r + t + 1;
#pragma omp task firstprivate(r, t)  // its group waits for it, too
      for (int i = 200; i < 400; ++i) table[t * 400 + i] += r + t + 2;
    }
    for (int i = 0; i < 1600; ++i) table[i] *= 3;
  }
}
static void task_sums(void) {
  long sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
  for (int t = 0; t < 16; ++t)
#pragma omp task in_reduction(+ : sum) firstprivate(t)
    for (int i = 0; i < 100; ++i) sum += table[t * 100 + i] = i + t;
  table[0] = sum;
}
static void mutex_tasks(void) {
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < 40; ++r)
#pragma omp task depend(mutexinoutset : table[0]) firstprivate(r)
    for (int i = 0; i < 200; ++i) table[i] += r + i;
}
static void simd(void) {
#pragma omp parallel for simd schedule(static) aligned(table : 8)
  for (int i = 0; i < count; ++i) table[i] = 3 * table[i] + i;
  for (int r = 0; r < rounds; ++r)
#pragma omp parallel for simd schedule(simd : static, 8)
    for (int i = 0; i < count; ++i) others[i] = table[count - 1 - i] + r;
}
typedef struct {
  long most, place;
} peak;
static peak higher(peak a, peak b) { return b.most > a.most ? b : a; }
#pragma omp declare reduction(highest:peak : omp_out = higher(omp_out, omp_in)) initializer(omp_priv = {-1, -1})
static void own_sums(void) {
  peak found = {-1, -1};
#pragma omp parallel for reduction(highest : found)
  for (int i = 0; i < count; ++i) {
    table[i] = i * 7919L % count;
    if (table[i] > found.most) found = (peak){table[i], i};
  }
  table[1] = found.place;
}
static void atomics(void) {
  static long counter;
#pragma omp parallel
  for (int r = 0; r < 200; ++r) {
    long mine;
#pragma omp atomic capture
    mine = counter++;
    table[mine] = mine + 1;  // nobody else has that number
  }
  counter = 0;
}
static void prefix_sums(void) {
  long sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < count; ++i) {
    sum += i % 7;
#pragma omp scan inclusive(sum)
    table[i] = sum;
  }
}
static void copies(void) {
  long kept = 0;
#pragma omp parallel firstprivate(kept)
  for (int r = 0; r < 20; ++r) {
#pragma omp single copyprivate(kept)
    kept = table[r] = r + 5;
    others[omp_get_thread_num() * 1000 + r] += kept;
#pragma omp barrier
  }
}
static void collapsed(void) {
  for (int r = 0; r < rounds; ++r)
#pragma omp parallel for collapse(2) schedule(static, 5)
    for (int i = 0; i < 64; ++i)
      for (int k = 0; k < 64; ++k) table[i * 64 + k] += i + k + r;
}
static void nested(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
    const int outer = omp_get_thread_num();
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 4000; ++i) table[outer * 4000 + i] += i + outer;
  }
  omp_set_max_active_levels(1);
}

int main(int arguments, char** words) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kinds[] = {{"parts", parts},
               {"in_turn", in_turn},
               {"dynamic", dynamic},
               {"guided", guided},
               {"critical", critical},
               {"ordered", ordered},
               {"barriers", barriers},
               {"locks", locks},
               {"singles", singles},
               {"sections", sections},
               {"sums", sums},
               {"array_sums", array_sums},
               {"tasks", tasks},
               {"dependences", dependences},
               {"doacross", doacross},
               {"heap", heap},
               {"task_loops", task_loops},
               {"task_groups", task_groups},
               {"task_sums", task_sums},
               {"mutex_tasks", mutex_tasks},
               {"simd", simd},
               {"own_sums", own_sums},
               {"atomics", atomics},
               {"prefix_sums", prefix_sums},
               {"copies", copies},
               {"collapsed", collapsed},
               {"nested", nested}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (arguments < 2 || strcmp(kinds[i].name, words[1]) == 0) kinds[i].run();
  printf("done %d\n", letters[5]);
  return 0;
}
