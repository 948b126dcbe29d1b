/* SPDX-License-Identifier: BSD-3-Clause */
// Memory that libc gives out or keeps: what one thread gets, threads of all nodes read, write and free; random numbers
// are one sequence.
#define _GNU_SOURCE
#include <dirent.h>
#include <malloc.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define PAGE 4096
enum { most = 24 };
static char* given[8][most];  // by thread
static int wrong;

static void expect(int ok, const char* what, int thread) {
  if (ok) return;
#pragma omp atomic
  wrong++;
  printf("%s of thread %d\n", what, thread);
}

static int is_self(const struct dirent* one) { return strcmp(one->d_name, "self") == 0; }

/// Each of libc's functions that allocate, with a text that names the thread.
static int get(char** to, int thread) {
  char text[32];
  int n = 0;
  snprintf(text, sizeof text, "thread %d", thread);
  to[n++] = strdup(text);
  to[n++] = strndup(text, 8);
  if (asprintf(&to[n++], "thread %d", thread) < 0) abort();
  FILE* const stream = open_memstream(&to[n], &(size_t){0});
  fprintf(stream, "thread %d", thread);
  fclose(stream);
  ++n;
  FILE* const lines = tmpfile();
  fprintf(lines, "thread %d", thread);
  rewind(lines);
  to[n] = NULL;
  if (getline(&to[n++], &(size_t){0}, lines) < 0) abort();
  fclose(lines);
  const size_t sizes[] = {64, PAGE};
  for (int i = 0; i < 2; ++i) {
    to[n++] = strcpy(aligned_alloc(64, sizes[i]), text);
    if (posix_memalign((void**)&to[n], 256, sizes[i]) != 0) abort();
    strcpy(to[n++], text);
    to[n++] = strcpy(memalign(PAGE, sizes[i]), text);
    to[n++] = strcpy(reallocarray(NULL, 2, sizes[i]), text);
  }
  to[n++] = strcpy(valloc(100), text);
  to[n++] = strcpy(pvalloc(100), text);
  if (malloc_usable_size(to[n - 1]) < PAGE) abort();
  return n;
}

static void by_all_threads(void) {
  int count = 0;
#pragma omp parallel num_threads(4)
  {
    const int me = omp_get_thread_num();
    const int n = get(given[me], me);
    if (me == 0) count = n;
#pragma omp barrier
    char text[32];
    for (int other = 0; other < omp_get_num_threads(); ++other) {
      snprintf(text, sizeof text, "thread %d", other);
      for (int i = 0; i < count; ++i) expect(strcmp(given[other][i], text) == 0, "text", other);
    }
#pragma omp barrier
    const int next = (me + 1) % omp_get_num_threads();
    for (int i = 0; i < count; ++i) free(given[next][i]);
  }
  printf("%d texts a thread\n", count);
}

static void by_main(void) {
  char* const here = getcwd(NULL, 0);
  char* const same = get_current_dir_name();
  char* const root = realpath("/usr/..", NULL);
  wchar_t* const wide = wcsdup(L"wide");
  struct dirent** list = NULL;
  const int entries = scandir("/proc", &list, is_self, alphasort);
  const time_t second = 86400;
  const struct tm* const day = gmtime(&second);
  char* const when = asctime(day);
  int ok = 0;
#pragma omp parallel num_threads(4) reduction(+ : ok)
  ok += strlen(here) > 0 && strcmp(here, same) == 0 && strcmp(root, "/") == 0 && wcscmp(wide, L"wide") == 0 &&
        entries == 1 && strcmp(list[0]->d_name, "self") == 0 && day->tm_mday == 2 &&
        strcmp(when, "Fri Jan  2 00:00:00 1970\n") == 0;
  free(here), free(same), free(root), free(wide), free(list[0]), free(list);
  printf("main's: %d\n", ok);
}

static void mappings(void) {
  char* const at = mmap(NULL, 10 * PAGE + 5, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  long sum = 0;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
  for (int i = 0; i < 10; ++i) {
    sum += at[i * PAGE];
    at[i * PAGE] = (char)(i + 1);
  }
  char* const more = mremap(at, 10 * PAGE + 5, 100 * PAGE, MREMAP_MAYMOVE);
#pragma omp parallel for num_threads(4) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) sum += more[i * PAGE];
  const int forgotten = madvise(more, PAGE, MADV_DONTNEED);
  printf("mapped: %ld, %d %d\n", sum, forgotten, more[0]);
  char* parts[4] = {0};
#pragma omp parallel num_threads(4)
  {
    const int me = omp_get_thread_num();
    parts[me] = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    parts[me][7] = (char)me;
#pragma omp barrier
    const int next = (me + 1) % omp_get_num_threads();
    expect(parts[next][7] == next, "mapping", next);
    expect(munmap(parts[next], PAGE) == 0, "munmap", next);
  }
  if (munmap(more, 100 * PAGE) != 0) abort();
}

static void numbers(void) {
  static char table[64];
  unsigned short seed[3] = {1, 2, 3};
  long all[40];
  printf("%d %d\n", rand(), rand());
  srand(7);
#pragma omp parallel for ordered schedule(static, 1) num_threads(4)
  for (int i = 0; i < 40; ++i) {
#pragma omp ordered
    all[i] = i % 4 == 0 ? rand() : i % 4 == 1 ? lrand48() : i % 4 == 2 ? (long)(drand48() * 1e9) : random();
  }
  for (int i = 0; i < 40; ++i) printf("%ld ", all[i]);
  char* const before = initstate(5, table, sizeof table);
  printf("\n%ld ", random());
  setstate(before);
  srand48(9);
  printf("%ld %ld %g %ld %d\n", random(), mrand48(), erand48(seed), jrand48(seed), seed48(seed)[0]);
}

static void words(void) {
  static char text[] = "one two three four";
  const char* found[4] = {strtok(text, " ")};
#pragma omp parallel for ordered schedule(static, 1) num_threads(4)
  for (int i = 1; i < 4; ++i) {
#pragma omp ordered
    found[i] = strtok(NULL, " ");
  }
  printf("%s %s %s %s\n", found[0], found[1], found[2], found[3]);
}

int main(void) {
  by_all_threads();
  by_main();
  mappings();
  numbers();
  words();
  return wrong != 0;
}
