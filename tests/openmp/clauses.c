/* SPDX-License-Identifier: BSD-3-Clause */
// What a clause, a call or the environment says once, and what holds for all threads then: limits of threads, a
// detached task that is not deferred, the schedule that nobody has named, how affinity is written. OMP_PROC_BIND is a
// list.
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char* what, long found, long wanted) {
  if (found == wanted) return;
  printf("%s: %ld instead of %ld\n", what, found, wanted);
  exit(1);
}

static void detached(void) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event, other;
#pragma omp task detach(event) if (0)
    {
      done = 1;
      omp_fulfill_event(event);
    }
    done *= 10;
#pragma omp task detach(other) if (done < 0) depend(inout : done)
    {
#pragma omp task firstprivate(other)
      omp_fulfill_event(other);
#pragma omp taskwait
      done++;
    }
    done *= 10;
  }
  expect("detached tasks", done, 110);
}

static void limits(void) {
  int threads = 0, limit = 0, teams = 0, over = 0;
#ifndef __clang__
#pragma omp target map(tofrom : threads, limit) thread_limit(2)
  {
    limit = omp_get_thread_limit();
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
  }
  expect("limit of target", limit, 2);
  expect("threads of target", threads, 2);
  // More than fits beside what it is.
#pragma omp target map(tofrom : limit) thread_limit(100000)
  limit = omp_get_thread_limit();
  expect("high limit of target", limit, 100000);
#pragma omp target map(tofrom : limit) thread_limit(2)
#pragma omp teams num_teams(2)
#pragma omp parallel
  {
#pragma omp master
    {
#pragma omp atomic write
      limit = omp_get_thread_limit() * 100 + omp_get_num_threads();
    }
  }
  expect("a league has the limit of its target", limit, 202);
#endif
#pragma omp target teams num_teams(2) thread_limit(3) map(tofrom : teams, over)
#pragma omp parallel
  {
#pragma omp master
    {
#pragma omp atomic
      teams += omp_get_num_teams() * 10 + omp_get_team_num();
    }
#pragma omp atomic
    over += omp_get_num_threads() > 3 || omp_get_thread_limit() != 3;
  }
  expect("teams of target", teams, 41);
  expect("above the limit of teams", over, 0);
  expect("no limit afterwards", omp_get_thread_limit() > 1000, 1);
}

/// What clang since 17 makes of a limit of target.
#ifdef __clang__
__attribute__((weak)) void __kmpc_set_thread_limit(void* place, int thread, int limit);
// clang asks once for the limit in a function.
__attribute__((noinline)) static int limit_now(void) { return omp_get_thread_limit(); }
static void limits_of_tasks(void) {
  int limit = 0, threads = 0;
  if (__kmpc_set_thread_limit == NULL) return;
#pragma omp task if (0) shared(limit, threads)
  {
    __kmpc_set_thread_limit(NULL, 0, 2);
    limit = limit_now();
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
  }
  expect("limit of a task", limit, 2);
  expect("threads of a task", threads, 2);
  expect("no limit after the task", limit_now() > 1000, 1);
}
#else
static void limits_of_tasks(void) {}
#endif

static void schedules(void) {
  enum { n = 64 };
  int by[n], chunk = -1, wrong = 0;
  omp_sched_t kind;
  omp_get_schedule(&kind, &chunk);
#ifdef __clang__
  expect("schedule", kind, omp_sched_static);
  expect("chunk", chunk, 0);
  const int each = n / omp_get_max_threads();
#else
  expect("schedule", kind, omp_sched_dynamic);
  expect("chunk", chunk, 1);
  const int each = n;  // which thread does what is not known
#endif
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < n; ++i) by[i] = omp_get_thread_num();
  for (int i = 0; i < n && each != n; ++i) wrong += by[i] != i / each;
  expect("iterations of other threads", wrong, 0);
  omp_set_schedule(omp_sched_static, 1);
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < n; ++i) by[i] = omp_get_thread_num();
  for (int i = 0; i < n; ++i) wrong += by[i] != i % omp_get_max_threads();
  expect("iterations one by one", wrong, 0);
}

#ifdef __clang__
void kmp_set_blocktime(int ms);
int kmp_get_blocktime(void);
#else
static int block_time;
static void kmp_set_blocktime(int ms) { block_time = ms; }
static int kmp_get_blocktime(void) { return block_time; }
#endif

static void one_for_all(void) {
  int wrong = 0;
  char format[100], text[100];
  omp_get_affinity_format(format, sizeof format);
#ifdef __clang__
  expect("usual format", strncmp(format, "OMP: pid %P", 11), 0);
#else
  expect("usual format", strcmp(format, "level %L thread %i affinity %A"), 0);
#endif
  omp_set_affinity_format("level %L");
  kmp_set_blocktime(17);
#pragma omp parallel private(format, text) reduction(+ : wrong)
  {
    wrong += omp_get_affinity_format(format, sizeof format) != 8 || strcmp(format, "level %L") != 0;
    omp_capture_affinity(text, sizeof text, NULL);
    wrong += strcmp(text, "level 1") != 0;
    wrong += kmp_get_blocktime() != 17;
#pragma omp barrier
    if (omp_get_thread_num() == omp_get_num_threads() - 1) omp_set_affinity_format("of the last one");
  }
  expect("threads that have not heard of it", wrong, 0);
  omp_get_affinity_format(format, sizeof format);
  expect("what the last thread has set", strcmp(format, "of the last one"), 0);
}

int main(void) {
  expect("levels", omp_get_max_active_levels() > 1, 1);
  detached();
  limits();
  limits_of_tasks();
  schedules();
  one_for_all();
  puts("all as it should be");
  return 0;
}
