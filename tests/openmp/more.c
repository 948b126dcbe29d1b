/* SPDX-License-Identifier: BSD-3-Clause */
// What programs call less often: loops that wait for each other's iterations, scans, regions within regions, target and
// teams on the host, allocators, variables of tasks and regions, queries. What is printed is the stock runtime's, too.
#include <errno.h>
#include <limits.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect(const char* what, long found, long wanted) {
  if (found == wanted) return;
  printf("%s: %ld instead of %ld\n", what, found, wanted);
  exit(1);
}

#define N 40
static long grid[N + 1][N + 1];
static void check_grid(const char* what) {
  static long wanted[N + 1][N + 1];
  for (int i = 0; i <= N; ++i)
    for (int j = 0; j <= N; ++j) wanted[i][j] = i == 0 || j == 0 ? 1 : (wanted[i - 1][j] + wanted[i][j - 1]) % 10007;
  expect(what, memcmp(grid, wanted, sizeof grid), 0);
  for (int i = 1; i <= N; ++i)
    for (int j = 1; j <= N; ++j) grid[i][j] = 0;
}
#define CELL(i, j) grid[i][j] = (grid[(i)-1][j] + grid[i][(j)-1]) % 10007

static void doacross(void) {
  for (int i = 0; i <= N; ++i) grid[i][0] = grid[0][i] = 1;
#pragma omp parallel for ordered(2) schedule(static, 1)
  for (int i = 1; i <= N; ++i)
    for (int j = 1; j <= N; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      CELL(i, j);
#pragma omp ordered depend(source)
    }
  check_grid("doacross, static");
#pragma omp parallel
  for (int round = 0; round < 20; ++round) {
#pragma omp for ordered(2) schedule(dynamic, 3)
    for (unsigned long long i = 1; i <= N; ++i)
      for (unsigned long long j = 1; j <= N; ++j) {
#pragma omp ordered depend(sink : i - 1, j)
        CELL(i, j);
#pragma omp ordered depend(source)
      }
  }
  check_grid("doacross, dynamic");
  long sum = 0, last = 0;
#pragma omp parallel for ordered(1) schedule(guided) reduction(+ : sum)
  for (int i = 0; i < 200; ++i) {
#pragma omp ordered depend(sink : i - 1)
    last = last * 31 % 1000003 + i;
#pragma omp ordered depend(source)
    sum += i;
  }
  long wanted = 0;
  for (int i = 0; i < 200; ++i) wanted = wanted * 31 % 1000003 + i;
  expect("doacross, guided", last, wanted);
  expect("doacross, reduction", sum, 19900);
}

static void scans(void) {
  static long in[1000], out[1000];
  long sum = 0, last = -1;
  for (int i = 0; i < 1000; ++i) in[i] = i % 7;
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < 1000; ++i) {
    sum += in[i];
#pragma omp scan inclusive(sum)
    out[i] = sum;
  }
  long run = 0;
  for (int i = 0; i < 1000; ++i) {
    run += in[i];
    expect("scan", out[i], run);
  }
#pragma omp parallel for lastprivate(conditional : last) schedule(dynamic, 5)
  for (int i = 0; i < 1000; ++i)
    if (in[i] == 3) last = i;
  expect("conditional lastprivate", last, 997 - (997 % 7) + 3 > 999 ? 990 + 3 : 997 - 997 % 7 + 3);
}

static void nested(void) {
  int threads = 0, wrong = 0, inner = 0, hits[200] = {0};
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(4)
  {
    const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(3)
    {
#pragma omp atomic
      threads += 1;
#pragma omp atomic
      wrong += omp_get_ancestor_thread_num(1) != outer || omp_get_team_size(1) != 4 || omp_get_team_size(2) != 3 ||
               omp_get_level() != 2 || omp_get_active_level() != 2 || omp_get_ancestor_thread_num(0) != 0 ||
               omp_get_ancestor_thread_num(3) != -1;
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 50; ++i) {
#pragma omp atomic
        hits[50 * outer + i]++;
      }
      int copied = 0;
#pragma omp single copyprivate(copied)
      copied = 100 + outer;
#pragma omp atomic
      wrong += copied != 100 + outer;
#pragma omp barrier
#pragma omp single
      {
#pragma omp task
          {
#pragma omp atomic
              inner++;
    }
  }
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    wrong += omp_get_num_threads() != 2 || omp_get_team_size(2) != 3;
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      wrong += omp_get_num_threads() != 1 || omp_get_level() != 4 || omp_get_active_level() != 3;
    }
  }
}
}
expect("nested threads", threads, 12);
expect("nested queries", wrong, 0);
expect("tasks of nested regions", inner, 4);
for (int i = 0; i < 200; ++i) expect("nested loop", hits[i], 1);
omp_set_max_active_levels(1);
}

static void variables(void) {
  int wrong = 0, before = omp_get_max_threads(), kind_wrong = 0;
#pragma omp parallel num_threads(4)
  {
    omp_set_num_threads(10 + omp_get_thread_num());
#pragma omp barrier
#pragma omp atomic
    wrong += omp_get_max_threads() != 10 + omp_get_thread_num();
#pragma omp task
    {
#pragma omp atomic
      wrong += omp_get_max_threads() < 10;
      omp_set_num_threads(3);
    }
#pragma omp taskwait
#pragma omp atomic
    wrong += omp_get_max_threads() != 10 + omp_get_thread_num();
  }
  expect("variables of threads", wrong, 0);
  expect("variables of the initial task", omp_get_max_threads(), before);
  omp_set_num_threads(5);
  omp_set_schedule(omp_sched_guided, 4);
#pragma omp parallel
  {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
#pragma omp atomic
    kind_wrong += (kind & ~omp_sched_monotonic) != omp_sched_guided || chunk != 4 || omp_get_num_threads() != 5 ||
                  omp_get_max_threads() != 5;
  }
  expect("variables travel with regions", kind_wrong, 0);
  omp_set_schedule(omp_sched_static, 0);
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  printf("schedule %d, %d; nested %d, levels %d of %d, dynamic %d, limit %d\n", (int)kind, chunk, omp_get_nested(),
         omp_get_max_active_levels(), omp_get_supported_active_levels(), omp_get_dynamic(), omp_get_thread_limit());
  omp_set_num_threads(before);
}

static void host(void) {
  int a[10], total = 0, private = 5, teams = 0, wrong = 0;
  for (int i = 0; i < 10; ++i) a[i] = i;
#pragma omp target map(tofrom : a, total) firstprivate(private)
  {
    private += 1;
    for (int i = 0; i < 10; ++i) total += a[i] * private;
  }
  expect("target", total + private, 45 * 6 + 5);
  int threads_hit = 0;
#pragma omp target teams distribute parallel for map(tofrom : a, threads_hit) num_teams(2) thread_limit(3)
  for (int i = 0; i < 10; ++i) {
    a[i] *= 2;
#pragma omp atomic
    threads_hit += omp_get_num_threads() <= 3;
  }
  expect("target teams", threads_hit, 10);
#pragma omp teams num_teams(3) thread_limit(2) reduction(+ : teams)
  {
    teams += omp_get_num_teams() * 100 + omp_get_team_num();
#pragma omp parallel num_threads(7)
    {
#pragma omp atomic
      wrong += omp_get_num_threads() > 2;
    }
  }
  expect("teams", teams, 903);
  expect("thread_limit", wrong, 0);
  int x = 0, done = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 3;
#pragma omp target nowait depend(in : x) map(tofrom : done, x)
    done = x + 1;
#pragma omp taskwait
  }
  expect("target nowait", done, 4);
#pragma omp target data map(tofrom : a)
  {
#pragma omp target update to(a)
  }
#pragma omp target enter data map(to : a)
#pragma omp target exit data map(from : a)
  expect("host", a[9], 18);
  char* const memory = omp_target_alloc(100, omp_get_initial_device());
  char from[6][7];
  for (int i = 0; i < 42; ++i) from[0][i] = (char)i;
  const size_t volume[] = {2, 3}, to_at[] = {1, 1}, from_at[] = {3, 2}, to_size[] = {4, 5}, from_size[] = {6, 7};
  memset(memory, 99, 100);
  expect("rectangle", omp_target_memcpy_rect(memory, from, 1, 2, volume, to_at, from_at, to_size, from_size, 0, 0), 0);
  expect("its corner", memory[6] * 100 + memory[13], from[3][2] * 100 + from[4][4]);
  expect("beside it", memory[9], 99);
  expect("memcpy", omp_target_memcpy(memory, from, 4, 50, 8, 0, 0) + memory[50], 8);
  expect("no device", omp_target_memcpy(memory, from, 4, 50, 8, 17, 0), EINVAL);
  omp_target_free(memory, omp_get_initial_device());
  printf("%d devices, initial %d, %d\n", omp_get_num_devices(), omp_is_initial_device(), omp_get_device_num());
}

/// Others add to what the first of a `single nowait` has set, with no barrier between, but long after: the first to
/// come has to be the one.
static void first_comes(void) {
  int sum = 7, first = -1, wrong = 0;
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 3; ++round) {
    if (omp_get_thread_num() == round) usleep(300000);
#pragma omp single nowait
    {
      sum = 0;
      first = omp_get_thread_num();
    }
    if (omp_get_thread_num() != round) usleep(100000);
#pragma omp atomic
    sum++;
#pragma omp barrier
#pragma omp master
    wrong += sum != 4 || first == round;
#pragma omp barrier
  }
  expect("a single's first thread", wrong, 0);
  long times = 0, by_threads = 0;
#pragma omp parallel num_threads(4) reduction(+ : by_threads)
  for (int i = 0; i < 20000; ++i) {
#pragma omp single nowait
    by_threads++;
    if (i % 2000 == 1999) {
#pragma omp single
      times++;
    }
  }
  expect("singles", by_threads, 20000);
  expect("singles with a barrier", times, 10);
}

static void allocators(void) {
  const omp_alloctrait_t traits[] = {
      {omp_atk_alignment, 256}, {omp_atk_pool_size, 4096}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t a = omp_init_allocator(omp_default_mem_space, 3, traits);
  long* pointers[16] = {0};
  int wrong = 0;
#pragma omp parallel num_threads(4)
  {
    long* const mine = omp_alloc(64, a);
    *mine = omp_get_thread_num();
    pointers[omp_get_thread_num()] = mine;
#pragma omp barrier
    const int next = (omp_get_thread_num() + 1) % 4;
#pragma omp atomic
    wrong += *pointers[next] != next || (uintptr_t)mine % 256 != 0;
#pragma omp barrier
    omp_free(pointers[next], a);
  }
  expect("omp_alloc", wrong, 0);
  expect("a pool's end", omp_alloc(5000, a) == NULL, 1);
  char* zeros = omp_calloc(10, 10, omp_default_mem_alloc);
  expect("omp_calloc", zeros[0] + zeros[99], 0);
  zeros[5] = 6;
  zeros = omp_realloc(zeros, 1000, omp_default_mem_alloc, omp_default_mem_alloc);
  expect("omp_realloc", zeros[5], 6);
  omp_free(zeros, omp_null_allocator);
  expect("aligned", (uintptr_t)omp_aligned_alloc(1024, 2048, omp_default_mem_alloc) % 1024, 0);
  omp_destroy_allocator(a);
  const omp_alloctrait_t bad[] = {{omp_atk_alignment, 3}};
  expect("bad trait", omp_init_allocator(omp_default_mem_space, 1, bad) == omp_null_allocator, 1);
  int sum = 0;
#pragma omp parallel num_threads(2) private(sum) allocate(omp_default_mem_alloc : sum)
  {
    sum = omp_get_thread_num();
#pragma omp barrier
    if (sum != omp_get_thread_num()) abort();
  }
}

int main(void) {
  doacross();
  scans();
  nested();
  variables();
  host();
  first_comes();
  allocators();
  char text[64];
  omp_capture_affinity(text, sizeof text, "%L of %{nesting_level}, thread %0.4n|%3N|%%, team %t of %T, %a");
  printf("%s; places %d, bind %d, priority %d, cancel %d, final %d\n", text, omp_get_num_places(), omp_get_proc_bind(),
         omp_get_max_task_priority(), omp_get_cancellation(), omp_in_final());
  return 0;
}
