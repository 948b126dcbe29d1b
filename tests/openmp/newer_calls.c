/* SPDX-License-Identifier: BSD-3-Clause */
// Calls that newer compilers make than those that build this, and older ones, and functions of newer headers: as they
// are, with what compilers pass.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL __attribute__((weak)) extern

static void expect(const char* what, long found, long wanted) {
  if (found == wanted) return;
  printf("%s: %ld instead of %ld\n", what, found, wanted);
  exit(1);
}

static int values[8], order[64], steps;
static void note(int number) { order[__atomic_fetch_add(&steps, 1, __ATOMIC_SEQ_CST)] = number; }

CALL int omp_in_explicit_task(void);
CALL int omp_control_tool(int command, int modifier, void* argument);
#ifndef __clang__
CALL int omp_get_num_interop_properties(const void* object);
CALL intptr_t omp_get_interop_int(const void* object, int property, int* code);
CALL const char* omp_get_interop_name(const void* object, int property);
#endif
CALL const char* omp_get_uid_from_device(int device);
CALL int omp_get_device_from_uid(const char* uid);
CALL void* omp_get_mapped_ptr(const void* at, int device);
CALL int omp_target_is_accessible(const void* at, size_t bytes, int device);
CALL void* omp_target_memset(void* at, int value, size_t bytes, int device);
CALL void free_sized(void* at, size_t bytes);
CALL void free_aligned_sized(void* at, size_t alignment, size_t bytes);

static void queries(void) {
  int code = 7, explicit_tasks = 0, implicit_tasks = 0;
#pragma omp parallel reduction(+ : explicit_tasks, implicit_tasks)
  {
    implicit_tasks += omp_in_explicit_task();
#pragma omp single
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(values)
      values[i % 2 + 2 * (omp_in_explicit_task() != 1)] = 1;
    }
  }
  expect("implicit tasks", implicit_tasks, 0);
  expect("explicit tasks", values[2] + values[3], 0);
  expect("omp_control_tool", omp_control_tool(1, 0, NULL), -2);
  expect("properties of no object", omp_get_num_interop_properties(NULL), 0);
  expect("number of no object", omp_get_interop_int(NULL, -5, &code), 0);
  expect("why", code, -1);
  expect("name of a property", strcmp(omp_get_interop_name(NULL, -4), "vendor_name"), 0);
  expect("the host's name", omp_get_device_from_uid(omp_get_uid_from_device(0)), 0);
  expect("the host's address", omp_get_mapped_ptr(values, 0) == values, 1);
  expect("no device's address", omp_get_mapped_ptr(values, 5) == NULL, 1);
  expect("reachable", omp_target_is_accessible(values, 4, 0), 1);
  omp_target_memset(values, 0, sizeof values, 0);
  expect("memset", values[0] + values[1], 0);
  char* const blocks[] = {malloc(100), aligned_alloc(64, 128)};
#pragma omp parallel
  {
#pragma omp barrier
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      free_sized(blocks[0], 100);
      free_aligned_sized(blocks[1], 64, 128);
    }
  }
}

#ifndef __clang__
CALL void GOMP_task(void (*what)(void*), void* data, void (*copy)(void*, void*), long bytes, long alignment, _Bool now,
                    unsigned flags, void** depend, int priority, void* detach);
CALL void GOMP_taskwait_depend_nowait(void** depend);
CALL void* GOMP_target_map_indirect_ptr(void* function);
CALL void GOMP_interop(int, int, void***, const void*, const void*, unsigned, const void*, unsigned, void***, unsigned,
                       void**);
CALL void GOMP_add_alloc(void* at);
CALL _Bool GOMP_is_alloc(void* at);
CALL int omp_target_memcpy_async(void* to, const void* from, size_t bytes, size_t to_offset, size_t from_offset,
                                 int to_device, int from_device, int count, void* objects);

static void numbered(void* data) {
  for (volatile int i = 0; i < 20000; ++i) {
  }
  note(*(int*)data);
}
static void start(int number, void** depend) { GOMP_task(numbered, &number, NULL, 4, 4, 1, 8, depend, 0, NULL); }

static void calls(void) {
  void *a[] = {0, (void*)1, (void*)1, 0, 0, &values[0]}, *b[] = {0, (void*)1, (void*)1, 0, 0, &values[1]},
       *all[] = {0, (void*)1, (void*)1, 0, 0, NULL}, *both[] = {0, (void*)2, (void*)2, 0, 0, &values[0], &values[1]};
  steps = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 4; ++i) start(i, i % 2 == 0 ? a : b);
    start(100, all);
    for (int i = 4; i < 8; ++i) start(i, i % 2 == 0 ? a : b);
    start(101, all);
    GOMP_taskwait_depend_nowait(both);
    start(8, b);
  }
  expect("tasks", steps, 11);
  for (int i = 0; i < 4; ++i) {
    expect("before all memory", order[i] < 4, 1);
    expect("behind all memory", order[i + 5] >= 4 && order[i + 5] < 8, 1);
  }
  expect("all memory", order[4], 100);
  expect("all memory again", order[9], 101);
  expect("the last one", order[10], 8);
  int from[2] = {5, 6}, to[2] = {0, 0};
#pragma omp parallel
#pragma omp single
  omp_target_memcpy_async(to, from, sizeof to, 0, 0, 0, 0, 0, NULL);
  expect("memcpy as a task", to[0] * 10 + to[1], 56);
  expect("function of the host", GOMP_target_map_indirect_ptr(values) == values, 1);
  void *object = &steps, **objects[] = {&object};
  GOMP_interop(0, 1, objects, NULL, NULL, 0, NULL, 0, NULL, 0, NULL);
  expect("an object is none", object == NULL, 1);
  GOMP_add_alloc(values);
  int known = 0;
#pragma omp parallel
#pragma omp critical
  known += GOMP_is_alloc(values);
  expect("a variable is known once", known, 1);
}
#else
typedef int routine(int, void*);
struct task {
  void* shareds;
  routine* run;
  int part;
  void *first, *second;
};
struct depend {
  void* address;
  size_t bytes;
  unsigned char kind;
};
struct reduction {
  void* shared;
  size_t bytes;
  void *begin, *end, *combine;
  unsigned flags;
};
CALL struct task* __kmpc_omp_task_alloc(void*, int, int flags, size_t bytes, size_t shared_bytes, routine* what);
CALL int __kmpc_omp_task(void*, int, struct task* t);
CALL int __kmpc_omp_task_with_deps(void*, int, struct task* t, int, struct depend*, int, struct depend*);
CALL void __kmpc_omp_taskwait_deps_51(void*, int, int, struct depend*, int, struct depend*, int no_wait);
CALL void __kmpc_proxy_task_completed(int, struct task* t);
CALL void __kmpc_proxy_task_completed_ooo(struct task* t);
CALL void* __kmpc_task_reduction_init(int, int count, struct reduction* list);
CALL void* __kmpc_task_reduction_modifier_init(void*, int, int of_loop, int count, struct reduction* list);
CALL void __kmpc_task_reduction_modifier_fini(void*, int, int of_loop);
CALL void* __kmpc_task_reduction_get_th_data(int, void* group, void* shared);
CALL void __kmpc_taskgroup(void*, int);
CALL void __kmpc_end_taskgroup(void*, int);
CALL int __kmpc_sections_init(void*, int);
CALL int __kmpc_next_section(void*, int, int count);
CALL void __kmpc_end_sections(void*, int);
CALL void __kmpc_init_lock(void*, int, void* l);
CALL void __kmpc_set_lock(void*, int, void* l);
CALL void __kmpc_unset_lock(void*, int, void* l);
CALL int __kmpc_test_nest_lock(void*, int, void* l);
CALL void __kmpc_init_nest_lock(void*, int, void* l);
CALL void __kmpc_push_num_threads_strict(void*, int, int threads, int severity, const char* text);
CALL void kmp_set_defaults(const char* text);
CALL void kmp_set_library_serial(void);
CALL void kmp_set_library_throughput(void);
CALL size_t kmp_get_stacksize_s(void);
CALL void kmp_create_affinity_mask(void** mask);
CALL int kmp_get_affinity(void** mask);
CALL int kmp_set_affinity(void** mask);
CALL int kmp_get_affinity_mask_proc(int number, void** mask);
CALL int kmp_get_affinity_max_proc(void);
CALL void kmp_destroy_affinity_mask(void** mask);
CALL void ompc_set_num_threads(int threads);

static int numbered(int thread, void* t) {
  for (volatile int i = 0; i < 20000; ++i) {
  }
  note(((int*)t)[sizeof(struct task) / sizeof(int)]);
  return 0;
}
static struct task* make(int number, int flags) {
  struct task* const t = __kmpc_omp_task_alloc(NULL, 0, flags, sizeof(struct task) + 8, 0, numbered);
  ((int*)t)[sizeof(struct task) / sizeof(int)] = number;
  return t;
}
static void start(int number, struct depend d) { __kmpc_omp_task_with_deps(NULL, 0, make(number, 1), 1, &d, 0, NULL); }

static void tasks(void) {
  const struct depend a = {&values[0], 4, 3}, b = {&values[1], 4, 3}, all = {NULL, 0, 0x80};
  steps = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 4; ++i) start(i, i % 2 == 0 ? a : b);
    start(100, all);
    for (int i = 4; i < 8; ++i) start(i, i % 2 == 0 ? a : b);
    start(101, all);
    struct depend both[] = {a, b};
    __kmpc_omp_taskwait_deps_51(NULL, 0, 2, both, 0, NULL, 1);
    start(8, b);
  }
  for (int i = 0; i < 4; ++i) {
    expect("before all memory", order[i] < 4, 1);
    expect("behind all memory", order[i + 5] >= 4 && order[i + 5] < 8, 1);
  }
  expect("all memory", order[4], 100);
  expect("all memory again", order[9], 101);
  expect("the last one", order[10], 8);
  struct task* proxies[2];
  int late = 0;
#pragma omp parallel
  {
#pragma omp single
    {
      for (int i = 0; i < 2; ++i) __kmpc_omp_task(NULL, 0, proxies[i] = make(i, 1 | 16));
#pragma omp task shared(late, proxies)
      {
        late = 1;
        __kmpc_proxy_task_completed_ooo(proxies[0]);
        __kmpc_proxy_task_completed(0, proxies[1]);
      }
#pragma omp taskwait
      late *= 10;
    }
  }
  expect("proxies", late, 10);
}

static void begin(void* copy) { *(long*)copy = 0; }
static void combine(void* into, void* from) { *(long*)into += *(long*)from; }
static void reductions(void) {
  long sum = 1, whole = 0;
  struct reduction r = {&sum, sizeof sum, begin, NULL, combine, 0};
#pragma omp parallel
#pragma omp single
  {
    __kmpc_taskgroup(NULL, 0);
    void* const group = __kmpc_task_reduction_init(omp_get_thread_num(), 1, &r);
    for (int i = 0; i < 100; ++i) {
#pragma omp task shared(sum) firstprivate(group)
      *(long*)__kmpc_task_reduction_get_th_data(omp_get_thread_num(), group, &sum) += i;
    }
    __kmpc_end_taskgroup(NULL, 0);
  }
  expect("sum of tasks", sum, 4951);
#pragma omp parallel reduction(+ : whole)
  {
    struct reduction own = {&whole, sizeof whole, begin, NULL, combine, 0};
    void* const group = __kmpc_task_reduction_modifier_init(NULL, omp_get_thread_num(), 0, 1, &own);
#pragma omp task firstprivate(group) shared(whole)
    *(long*)__kmpc_task_reduction_get_th_data(omp_get_thread_num(), group, &whole) += 3;
#pragma omp barrier
    __kmpc_task_reduction_modifier_fini(NULL, omp_get_thread_num(), 0);
  }
  expect("sum of a region's tasks", whole, 3L * omp_get_max_threads());
}

static void sections_and_locks(void) {
  int times[5] = {0}, sum = 0, threads = 0;
  void *lock[4], *nest[4];
  __kmpc_init_lock(NULL, 0, lock);
  __kmpc_init_nest_lock(NULL, 0, nest);
  expect("nested lock", 10 * __kmpc_test_nest_lock(NULL, 0, nest) + __kmpc_test_nest_lock(NULL, 0, nest), 12);
#pragma omp parallel
  for (int round = 0; round < 3; ++round) {
    __kmpc_sections_init(NULL, 0);
    for (int i = 0; (i = __kmpc_next_section(NULL, 0, 5)) < 5;) {
#pragma omp atomic
      times[i]++;
    }
    __kmpc_end_sections(NULL, 0);
    __kmpc_set_lock(NULL, 0, lock);
    sum++;
    __kmpc_unset_lock(NULL, 0, lock);
#pragma omp barrier
  }
  for (int i = 0; i < 5; ++i) expect("a section", times[i], 3);
  expect("a lock", sum, 3 * omp_get_max_threads());
  __kmpc_push_num_threads_strict(NULL, 0, 3, 2, "three threads");
#pragma omp parallel
#pragma omp master
  threads = omp_get_num_threads();
  expect("exactly", threads, 3);
}

// clang asks once in a function.
__attribute__((noinline)) static int most_threads(void) { return omp_get_max_threads(); }
static void settings(void) {
  const int usual = most_threads();
  kmp_set_library_serial();
  expect("serial", most_threads(), 1);
  kmp_set_library_throughput();
  expect("as usual", most_threads(), usual);
  kmp_set_defaults("OMP_NUM_THREADS=2|OMP_DYNAMIC=true|OMP_SCHEDULE=guided,3");
  int chunk = 0, bad = 0;
  omp_sched_t kind;
  omp_get_schedule(&kind, &chunk);
  expect("defaults", most_threads() * 100 + omp_get_dynamic() * 10 + chunk, 213);
  ompc_set_num_threads(usual);
  expect("stacks", kmp_get_stacksize_s() >= 1 << 16, 1);
#pragma omp parallel reduction(+ : bad)
  {
    void* mask;
    int count = 0;
    kmp_create_affinity_mask(&mask);
    bad += kmp_get_affinity(&mask) != 0 || kmp_set_affinity(&mask) != 0;
    for (int i = 0; i < kmp_get_affinity_max_proc(); ++i) count += kmp_get_affinity_mask_proc(i, &mask) == 1;
    bad += count == 0;
    kmp_destroy_affinity_mask(&mask);
  }
  expect("affinity", bad, 0);
}

static void calls(void) {
  tasks();
  reductions();
  sections_and_locks();
  settings();
}
#endif

int main(void) {
  queries();
  calls();
  puts("all as it should be");
  return 0;
}
