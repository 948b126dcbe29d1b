/* SPDX-License-Identifier: BSD-3-Clause */
// Threads that share a log, a data file, a pipe, and standard input: here it is this text.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { threads = 6, records = 20 };

static FILE* log_file;
static int data, ends[2];
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static char directory[] = "/tmp/quire_files_XXXXXX";
static long input_sum = 0;

struct record {
  int thread, number;
  char text[40];
};

static void* work(void* argument) {
  const int me = (int)(long)argument;
  for (int i = 0; i < records; ++i) {
    fprintf(log_file, "thread %d record %d\n", me, i);
    struct record r = {me, i};
    snprintf(r.text, sizeof r.text, "%d of %d", i, me);
    if (pwrite(data, &r, sizeof r, (me * records + i) * sizeof r) != sizeof r) abort();
    char one = (char)me;
    if (write(ends[1], &one, 1) != 1) abort();
  }
  char name[100], line[200];
  snprintf(name, sizeof name, "%s/%d", directory, me);
  FILE* const own = fopen(name, "w");
  fprintf(own, "the file of thread %d\n", me);
  fclose(own);
  pthread_mutex_lock(&guard);
  for (int i = 0; i < 5 && fgets(line, sizeof line, stdin) != NULL; ++i) input_sum += strlen(line);
  pthread_mutex_unlock(&guard);
  return NULL;
}

// Waits for the others' bytes while they write.
static void* count(void* argument) {
  long* const counts = argument;
  char one;
  while (read(ends[0], &one, 1) == 1 && one >= 0) ++counts[(int)one];
  return NULL;
}

static int compare(const void* a, const void* b) { return strcmp(a, b); }

int main(void) {
  mkdtemp(directory);
  char name[100];
  snprintf(name, sizeof name, "%s/log", directory);
  log_file = fopen(name, "w+");
  snprintf(name, sizeof name, "%s/data", directory);
  data = open(name, O_RDWR | O_CREAT, 0640);
  if (pipe(ends) != 0) abort();
  static long counts[threads];
  pthread_t all[threads], counter;
  pthread_create(&counter, NULL, count, counts);
  for (long i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  char end = -1;
  if (write(ends[1], &end, 1) != 1) abort();
  pthread_join(counter, NULL);
  for (int i = 0; i < threads; ++i) printf("%ld from %d\n", counts[i], i);

  rewind(log_file);
  static char lines[threads * records][40];
  int got = 0;
  while (got < threads * records && fgets(lines[got], 40, log_file) != NULL) ++got;
  qsort(lines, got, 40, compare);
  for (int i = 0; i < got; ++i) fputs(lines[i], stdout);
  fclose(log_file);

  struct record r;
  struct stat about;
  fstat(data, &about);
  printf("%ld bytes, mode %o\n", (long)about.st_size, about.st_mode & 0777);
  while (read(data, &r, sizeof r) == sizeof r) printf("%d %d %s\n", r.thread, r.number, r.text);
  close(data);

  for (int i = 0; i < threads; ++i) {
    snprintf(name, sizeof name, "%s/%d", directory, i);
    FILE* const own = fopen(name, "r");
    char line[100] = "nothing\n";
    fgets(line, sizeof line, own);
    fputs(line, stdout);
    fclose(own);
    unlink(name);
  }
  printf("characters of input: %ld\n", input_sum);
  snprintf(name, sizeof name, "rm -r %s", directory);
  return system(name);
}
