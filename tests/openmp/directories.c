/* SPDX-License-Identifier: BSD-3-Clause */
// Directories that threads of all nodes read: each has an entry of its own, which stays until the next one of that
// directory is read, and which any thread may look at.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { threads = 4, files = 20 };

static char said[50000];
static size_t said_length = 0;
static void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  said_length += vsnprintf(said + said_length, sizeof said - said_length, format, arguments);
  va_end(arguments);
}

static char base[] = "/tmp/quire_directories_XXXXXX";

static DIR* open_within(const char* name) {
  char whole[200];
  snprintf(whole, sizeof whole, "%s/%s", base, name);
  return opendir(whole);
}
static struct dirent* next_file(DIR* of) {
  struct dirent* found;
  while ((found = readdir(of)) != NULL && found->d_name[0] == '.') continue;
  return found;
}
static int compare(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

/// Pairs of entries of two directories, held at the same time.
static void read_two(void) {
  DIR *const one = open_within("one"), *const two = open_within("two");
  char* pairs[files];
  int count = 0, kinds = 0;
  struct dirent *a, *b;
  while ((a = next_file(one)) != NULL && (b = next_file(two)) != NULL) {
    if (count == files) abort();
    kinds += a->d_name[0] == 'a' && b->d_name[0] == 'b' && a != b && a->d_ino != b->d_ino;
    asprintf(&pairs[count++], "%s", a->d_name);
  }
  qsort(pairs, count, sizeof *pairs, compare);
  errno = 0;
  const int ended = next_file(two) == NULL, error = errno;  // by which a program tells the end from an error
  say("thread %d: %d pairs, right %d, from %s to %s, at the end %d %d\n", omp_get_thread_num(), count, kinds, pairs[0],
      pairs[count - 1], ended, error);
  for (int i = 0; i < count; ++i) free(pairs[i]);
  say("close %d %d\n", closedir(one), closedir(two));
}

int main(void) {
  if (mkdtemp(base) == NULL || chdir(base) != 0) return 1;
  mkdir("one", 0755);
  mkdir("two", 0755);
  for (int i = 0; i < files; ++i) {
    char name[40];
    for (int kind = 0; kind < 2; ++kind) {
      snprintf(name, sizeof name, "%s/%c%02d", kind == 0 ? "one" : "two", 'a' + kind, i);
      close(open(name, O_CREAT | O_WRONLY, 0644));
    }
  }
  struct dirent* entries[threads] = {NULL};
  DIR* opened[threads] = {NULL};
  int right = 0;
#pragma omp parallel num_threads(threads) reduction(+ : right)
  {
    const int me = omp_get_thread_num();
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < threads; ++i) {
#pragma omp ordered
      read_two();
    }
    // What one has read, others look at; and they go on with its directory.
    opened[me] = open_within(me % 2 == 0 ? "one" : "two");
    entries[me] = next_file(opened[me]);
#pragma omp barrier
    for (int i = 0; i < threads; ++i)
      right += entries[i]->d_name[0] == (i % 2 == 0 ? 'a' : 'b') && entries[i]->d_type == DT_REG;
#pragma omp barrier
    const int other = (me + 1) % threads;
    right += next_file(opened[other])->d_name[0] == (other % 2 == 0 ? 'a' : 'b');
    rewinddir(opened[other]);
#pragma omp barrier
    int count = 0;
    while (next_file(opened[me]) != NULL) ++count;
    right += count == files;
    closedir(opened[me]);
  }
  say("right %d\n", right);
  fputs(said, stdout);
  fflush(stdout);
  chdir("/");
  char command[100];
  snprintf(command, sizeof command, "rm -r %s", base);
  return system(command);
}
