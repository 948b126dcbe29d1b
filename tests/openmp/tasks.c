/* SPDX-License-Identifier: BSD-3-Clause */
// Tasks: what is printed does not depend on who runs them. Orders that dependences demand are checked within.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char* what, long found, long wanted) {
  if (found == wanted) return;
  printf("%s: %ld instead of %ld\n", what, found, wanted);
  exit(1);
}

static long fibonacci(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
#pragma omp task shared(a) final(n < 5) mergeable
  a = fibonacci(n - 1);
#pragma omp task shared(b) if (n % 3) untied
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

// Each makes the next, and waits for it.
static void deep(int left, long* count) {
  if (left == 0) return;
#pragma omp task firstprivate(left)
  deep(left - 1, count);
#pragma omp taskwait
  ++*count;
}
// Each makes the next, and ends.
static void chain(int left, long* count) {
#pragma omp atomic
  ++*count;
  if (left == 0) return;
#pragma omp task firstprivate(left)
  chain(left - 1, count);
}

#define CELLS 24
static void dependences(void) {
  static int cell[CELLS + 1][CELLS + 1];
  int wrong = 0, order[4] = {0}, sum = 0, inside = 0;
  memset(cell, 0, sizeof cell);
#pragma omp parallel
#pragma omp single
  {
    for (int i = 1; i <= CELLS; ++i)
      for (int j = 1; j <= CELLS; ++j) {
#pragma omp task depend(in : cell[i - 1][j], cell[i][j - 1]) depend(out : cell[i][j]) firstprivate(i, j)
        {
          const int up = i == 1 || cell[i - 1][j], left = j == 1 || cell[i][j - 1];
#pragma omp atomic
          wrong += !up || !left;
          cell[i][j] = i + j;
        }
      }
#pragma omp taskwait
    for (int i = 0; i < 8; ++i) {
#pragma omp task depend(mutexinoutset : sum)
      {
        int now;
#pragma omp atomic capture
        now = ++inside;
        sum += now == 1;
#pragma omp atomic
        inside--;
      }
    }
    omp_depend_t object;
#pragma omp depobj(object) depend(inout : order[0])
#pragma omp task depend(depobj : object)
    order[0] = 1;
#pragma omp task depend(in : order[0]) depend(out : order[1])
    order[1] = order[0] + 1;
#pragma omp depobj(object) update(in)
#pragma omp task depend(depobj : object) depend(out : order[2])
    order[2] = order[0] + 1;
#pragma omp depobj(object) destroy
#pragma omp task depend(in : order[1], order[2]) depend(out : order[3]) if (0)
    order[3] = order[1] + order[2];
    expect("undeferred", order[3], 4);
#pragma omp task depend(out : order[0])
    order[0] = 9;
#pragma omp taskwait depend(in : order[0])
    expect("taskwait depend", order[0], 9);
  }
  expect("dependences", wrong, 0);
  expect("corner", cell[CELLS][CELLS], 2 * CELLS);
  expect("mutexinoutset", sum, 8);
}

static void groups(void) {
  long in_group = 0, all = 0, seen = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    {
      for (int i = 0; i < 50; ++i) {
#pragma omp task
        {
#pragma omp task
          {
#pragma omp atomic
            in_group++;
          }
        }
      }
    }
#pragma omp atomic read
    seen = in_group;
    for (int i = 0; i < 2000; ++i) {
#pragma omp task priority(i % 3)
      {
#pragma omp taskyield
#pragma omp atomic
        all++;
      }
    }
  }
  expect("taskgroup", seen, 50);
  expect("tasks before a barrier", all, 2000);
}

static void loops(void) {
  static int hits[5000];
  long sum = 0;
  unsigned long long last = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop grainsize(7)
    for (int i = 0; i < 5000; ++i) hits[i]++;
#pragma omp taskloop num_tasks(13) reduction(+ : sum)
    for (int i = 4999; i >= 0; --i) sum += hits[i] * i;
#pragma omp taskloop lastprivate(last) collapse(2)
    for (unsigned long long i = 0; i < 10; ++i)
      for (unsigned long long j = 0; j < 10; ++j) last = 100 * i + j;
#pragma omp taskloop grainsize(strict : 3) nogroup
    for (int i = 0; i < 5000; ++i) {
#pragma omp atomic
      hits[i]++;
    }
#pragma omp taskloop if (0)
    for (int i = 0; i < 0; ++i) abort();
  }
  for (int i = 0; i < 5000; ++i) expect("taskloop", hits[i], 2);
  expect("taskloop's reduction", sum, 5000L * 4999 / 2);
  expect("lastprivate", (long)last, 909);
}

static void reductions(void) {
  long sum = 0, product = 1, loop_sum = 0, scoped = 0, sectioned = 0, inner[3] = {0};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum, inner) task_reduction(* : product)
  {
    for (int i = 1; i <= 40; ++i) {
#pragma omp task in_reduction(+ : sum, inner) firstprivate(i)
      {
        sum += i;
        inner[i % 3] += 1;
#pragma omp task in_reduction(+ : sum)
        sum += 100;
      }
    }
#pragma omp task in_reduction(* : product)
    product *= 6;
#pragma omp taskloop in_reduction(* : product) num_tasks(3)
    for (int i = 0; i < 3; ++i) product *= 2;
  }
  expect("task_reduction", sum, 40 * 41 / 2 + 4000);
  expect("array", inner[0] * 10000 + inner[1] * 100 + inner[2], 13 * 10000 + 14 * 100 + 13);
  expect("product", product, 48);
  int threads = 0;
  sum = 0;
#pragma omp parallel reduction(task, + : sum) num_threads(4)
  {
#pragma omp single nowait
    threads = omp_get_num_threads();
#pragma omp task in_reduction(+ : sum)
    sum += 2;
    sum += 1;
  }
  expect("parallel reduction(task)", sum, 3 * threads);
#pragma omp parallel num_threads(4)
  {
    for (int round = 0; round < 4; ++round) {
#pragma omp for reduction(task, + : loop_sum) schedule(dynamic, 2)
      for (int i = 0; i < 30; ++i) {
#pragma omp task in_reduction(+ : loop_sum)
        loop_sum += i;
      }
    }
#pragma omp scope reduction(task, + : scoped)
    {
#pragma omp task in_reduction(+ : scoped)
      scoped += 5;
    }
#pragma omp sections reduction(task, + : sectioned)
    {
#pragma omp section
      {
#pragma omp task in_reduction(+ : sectioned)
        sectioned += 3;
      }
#pragma omp section
      sectioned += 4;
    }
  }
  expect("for reduction(task)", loop_sum, 4 * 435);
  expect("scope reduction(task)", scoped, 20);
  expect("sections reduction(task)", sectioned, 7);
}

static void events(void) {
  omp_event_handle_t event;
  int done = 0, after = 0, results[16] = {0};
#pragma omp parallel
  {
#pragma omp single
    {
#pragma omp task detach(event) depend(out : done) shared(done)
      done = 1;
#pragma omp task depend(in : done) shared(after)
      after = done + 1;
#pragma omp task shared(done)
      omp_fulfill_event(event);
#pragma omp taskwait
      expect("after the event", after, 2);
    }
    // Any thread fulfils another's.
    static omp_event_handle_t handles[16];
    const int me = omp_get_thread_num(), next = (me + 1) % omp_get_num_threads();
    omp_event_handle_t mine;
#pragma omp task detach(mine) shared(results) firstprivate(me)
    results[me] = 1;
    handles[me] = mine;
    static int ready[16];
    __atomic_store_n(&ready[me], 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&ready[next], __ATOMIC_ACQUIRE)) {
    }
    omp_fulfill_event(handles[next]);
#pragma omp taskwait
#pragma omp atomic
    results[me] += 1;
  }
  for (int i = 0; i < omp_get_max_threads(); ++i) expect("event of another thread", results[i], 2);
}

// Tasks that take a while go to all nodes.
static void spread(void) {
  int ran[64] = {0};
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 60; ++i) {
#pragma omp task shared(ran)
    {
      const double until = omp_get_wtime() + 0.003;
      while (omp_get_wtime() < until) {
      }
#pragma omp atomic
      ran[omp_get_thread_num()]++;
    }
  }
  int all = 0, upper = 0;
  for (int i = 0; i < omp_get_max_threads(); ++i) {
    all += ran[i];
    upper += i >= omp_get_max_threads() / 2 ? ran[i] : 0;
  }
  expect("slow tasks", all, 60);
  expect("the upper half of the threads has run some", upper > 0, 1);
}

int main(int argc, char** argv) {
  const int levels = argc > 1 ? atoi(argv[1]) : 10000;
  long result = 0, depth = 0, length = 0;
#pragma omp parallel
#pragma omp single
  {
    result = fibonacci(16);
    chain(100000, &length);
  }
  expect("fibonacci", result, 987);
  expect("chain", length, 100001);
#pragma omp parallel
#pragma omp single
  deep(levels, &depth);
  expect("deep", depth, levels);
  int outside = 0;
#pragma omp task shared(outside)
  outside = 1;
#pragma omp taskwait
  expect("a task outside of regions", outside, 1);
  dependences();
  groups();
  loops();
  reductions();
  events();
  spread();
  printf("all tasks are done\n");
  return 0;
}
