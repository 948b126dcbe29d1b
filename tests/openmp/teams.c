/* SPDX-License-Identifier: BSD-3-Clause */
// Leagues of teams on the host, loops whose iterations wait for each other, tasks that are untied, undeferred or
// detached, what masked and allocate do.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000
static int hits[N];

static void expect(const char* what, long found, long wanted) {
  if (found == wanted) return;
  printf("%s: %ld instead of %ld\n", what, found, wanted);
  exit(1);
}

static void each_once(const char* what) {
  for (int i = 0; i < N; ++i) {
    expect(what, hits[i], 1);
    hits[i] = 0;
  }
}

static void leagues(void) {
  long sum = 0;
  int seen = 0, odd = 0;
#pragma omp teams distribute parallel for num_teams(3)
  for (int i = 0; i < N; ++i) hits[i]++;
  each_once("teams distribute parallel for");
#pragma omp teams distribute parallel for num_teams(2) reduction(+ : sum) dist_schedule(static, 100) \
    schedule(dynamic, 7)
  for (int i = 0; i < N; ++i) {
    hits[i]++;
    sum += i;
  }
  each_once("dist_schedule");
  expect("sum of teams", sum, (long)N * (N - 1) / 2);
#pragma omp teams distribute num_teams(4)
  for (int i = N - 1; i >= 0; --i) hits[i]++;
  each_once("teams distribute");
#pragma omp teams num_teams(3) thread_limit(2)
#pragma omp parallel
  {
#pragma omp master
    {
#pragma omp atomic
      seen += 1 << (2 * omp_get_team_num());
    }
#pragma omp atomic
    odd += omp_get_num_teams() != 3 || omp_get_num_threads() > 2;
  }
  expect("numbers of teams", seen, 1 + 4 + 16);
  expect("what teams know", odd, 0);
#pragma omp target teams distribute parallel for simd map(tofrom : hits) num_teams(2)
  for (int i = 0; i < N; ++i) hits[i]++;
  each_once("target teams");
#pragma omp target map(tofrom : sum)
  sum = -1;
  expect("target", sum, -1);
}

static long table[8][10];
static void waiting_loops(void) {
#pragma omp parallel for ordered(1) schedule(static, 3)
  for (int i = 1; i < 60; ++i) {
#pragma omp ordered depend(sink : i - 1)
    hits[i] = hits[i - 1] + 1;
#pragma omp ordered depend(source)
  }
  for (int i = 0; i < 60; ++i) {
    expect("doacross", hits[i], i);
    hits[i] = 0;
  }
#pragma omp parallel
  for (int round = 0; round < 3; ++round) {
#pragma omp for ordered(2) schedule(dynamic)
    for (int i = 0; i < 8; ++i) {
      for (int j = 9; j >= 0; --j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j + 1)
        table[i][j] = (i == 0 ? 1 : table[i - 1][j]) + (j == 9 ? 1 : table[i][j + 1]) % 1000;
#pragma omp ordered depend(source)
      }
    }
  }
  long wanted[8][10];
  for (int i = 0; i < 8; ++i) {
    for (int j = 9; j >= 0; --j) {
      wanted[i][j] = (i == 0 ? 1 : wanted[i - 1][j]) + (j == 9 ? 1 : wanted[i][j + 1]) % 1000;
      expect("doacross of two levels", table[i][j], wanted[i][j]);
    }
  }
}

static void tasks(void) {
  int done = 0, at_once = 0, inner = 0, final = 0, order[2] = {0};
#pragma omp parallel
#pragma omp single
  {
#pragma omp task untied shared(done)
    {
      for (int i = 0; i < 20; ++i) {
#pragma omp task shared(done)
        {
#pragma omp atomic
          done++;
        }
#pragma omp taskyield
      }
#pragma omp taskwait
#pragma omp atomic
      done += done == 20 ? 100 : 0;
    }
#pragma omp task if (0) shared(at_once, inner)
    {
#pragma omp task shared(inner)
      inner = 5;
#pragma omp taskwait
      at_once = inner;
    }
    at_once += 1;
#pragma omp task final(1) shared(final)
    final = omp_in_final();
#pragma omp task depend(out : order[0])
    order[0] = 1;
#pragma omp task if (0) depend(in : order[0])
    order[1] = order[0] + 1;
    omp_event_handle_t event;
#pragma omp task detach(event)
    order[0] = 4;
    omp_fulfill_event(event);
  }
  expect("untied", done, 120);
  expect("at once", at_once, 6);
  expect("final", final, 1);
  expect("undeferred, with a dependence", order[1], 2);
  expect("detached", order[0], 4);
}

static void others(void) {
  int masters = 0;
  long sum = 0;
#pragma omp parallel reduction(+ : masters) reduction(task, + : sum)
  {
    int* const own = omp_alloc(100 * sizeof(int), omp_default_mem_alloc);
    for (int i = 0; i < 100; ++i) own[i] = i;
#pragma omp master
    masters += own[99] == 99;
    omp_free(own, omp_default_mem_alloc);
#pragma omp task in_reduction(+ : sum)
    sum += 3;
  }
  expect("masters", masters, 1);
  expect("tasks of a region", sum, 3L * omp_get_max_threads());
}

int main(void) {
  leagues();
  waiting_loops();
  tasks();
  others();
  puts("all as it should be");
  return 0;
}
