/* SPDX-License-Identifier: BSD-3-Clause */
// Files that the program maps: what threads of all nodes read there, and write. With `leave FILE HOW` it ends with a
// shared mapping that it has written; `look FILE` says whether the file has that.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { page = 4096, words = page / sizeof(uint64_t), pages = 600, extra = 100 };
static const size_t bytes = (size_t)pages * page;
static const int rw = PROT_READ | PROT_WRITE;
static char g_name[64];

static void check(const char* what, int is_right) { printf("%s: %s\n", what, is_right ? "as it should be" : "WRONG"); }
static void is_errno(const char* what, const void* got, int wanted) {
  printf("%s: %s\n", what, got == MAP_FAILED && errno == wanted ? "refused" : "WRONG");
}

/// A file of `pages` pages and some bytes: word i is i * 3.
static int make_file(int flags) {
  strcpy(g_name, "mapped-XXXXXX");
  const int made = mkstemp(g_name);
  for (int p = 0; p <= pages; ++p) {
    uint64_t some[words];
    for (int i = 0; i < words; ++i) some[i] = ((uint64_t)p * words + i) * 3;
    const size_t wanted = p < pages ? sizeof some : extra;
    if (write(made, some, wanted) != (ssize_t)wanted) exit(2);
  }
  if (flags == O_RDWR) return made;
  close(made);
  return open(g_name, flags);
}
static uint64_t in_file(int file, size_t word) {
  uint64_t found = 0;
  return pread(file, &found, sizeof found, (off_t)(word * sizeof found)) == (ssize_t)sizeof found ? found : ~0ull;
}

/// How many words from `first` of the file on differ from what they were.
static long differing(const uint64_t* at, size_t first, size_t count) {
  long found = 0;
#pragma omp parallel for reduction(+ : found)
  for (size_t i = 0; i < count; ++i) found += at[i] != (first + i) * 3;
  return found;
}

static sigjmp_buf g_back;
static volatile int g_signal;
static void on_signal(int number) {
  g_signal = number;
  siglongjmp(g_back, 1);
}
static int signal_at(volatile const uint64_t* at) {
  g_signal = 0;
  if (sigsetjmp(g_back, 1) == 0) (void)*at;
  return g_signal;
}

static void read_only(size_t count, int kind) {
  const int file = make_file(O_RDONLY);
  const uint64_t* const at = mmap(NULL, count, PROT_READ, kind, file, 0);
  close(file);
  check("content", at != MAP_FAILED && differing(at, 0, count / sizeof *at) == 0);
  check("munmap", munmap((void*)at, count) == 0);
  unlink(g_name);
}

static void private_ones(size_t count) {
  const int file = make_file(O_RDWR);
  uint64_t* at = mmap(NULL, count, rw, MAP_PRIVATE, file, page);
  const size_t all = count / sizeof *at;
#pragma omp parallel for
  for (size_t i = 0; i < all; i += words) at[i] = i;
  long wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (size_t i = 0; i < all; ++i) wrong += at[i] != (i % words == 0 ? i : (i + words) * 3);
  check("private, written", wrong == 0);
  check("file", in_file(file, words) == words * 3 && in_file(file, 2 * words) == 2 * words * 3);
  check("msync", msync(at, count, MS_SYNC) == 0 && in_file(file, 2 * words) == 2 * words * 3);
  check("dropped", madvise(at + words, page, MADV_WILLNEED) == 0);
  uint64_t* const more = mremap(at, count, count + page, MREMAP_MAYMOVE);
  check("longer", more != MAP_FAILED && more[3 * words] == 3 * words && more[3 * words + 1] == (4 * words + 1) * 3);
  at = mremap(more, count + page, count, 0);
  check("shorter", at == more && at[2 * words] == 2 * words);
  check("munmap", munmap(at, count) == 0);
  close(file);
  unlink(g_name);
}

static void restored(void) {
  const int file = make_file(O_RDWR);
  uint64_t* const at = mmap(NULL, bytes, rw, MAP_PRIVATE, file, 0);
  at[7] = at[words] = 1;
  check("restored", madvise(at + words, page, MADV_DONTNEED) == 0 && at[words] == words * 3 && at[7] == 1);
  check("munmap", munmap(at, bytes) == 0);
  close(file);
  unlink(g_name);
}

static void shared_ones(void) {
  const int file = make_file(O_RDWR);
  uint64_t* const at = mmap(NULL, bytes + page, rw, MAP_SHARED, file, 0);
#pragma omp parallel for
  for (size_t i = 0; i < bytes / sizeof *at; ++i) at[i] += 1;
  check("msync",
        msync(at, bytes, MS_SYNC) == 0 && in_file(file, 0) == 1 && in_file(file, 300 * words) == 300 * words * 3 + 1);
  // Behind the end there are zeroes, and what is written there is nobody's.
  uint64_t* const tail = at + bytes / sizeof *at;
  check("end", tail[1] == (pages * words + 1) * 3 && tail[extra / sizeof *at + 1] == 0);
  tail[1] = 5;
  tail[extra / sizeof *at + 1] = 6;
  struct stat about;
  check("length",
        msync(tail, page, MS_SYNC) == 0 && fstat(file, &about) == 0 && (size_t)about.st_size == bytes + extra);
  check("last", in_file(file, pages * words + 1) == 5);
  // Another mapping of the file, of a part, by another thread.
  long wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
  if (omp_get_thread_num() == 3) {
    const int again = open(g_name, O_RDWR);
    uint64_t* const part = mmap(NULL, 10 * page, rw, MAP_SHARED, again, 50 * page);
    close(again);
    wrong += part == MAP_FAILED || part[2] != (50 * words + 2) * 3 + 1;
    at[51 * words] = 17;
    wrong += part[words] != 17;
    part[2 * words] = 18;
    wrong += at[52 * words] != 18 || munmap(part, 10 * page) != 0 || at[52 * words] != 18;
  }
  check("twice", wrong == 0);
  // Parts go one by one.
  check("part", munmap(at, 100 * page) == 0 && in_file(file, 9 * words) == 9 * words * 3 + 1);
  check("gone", signal_at(at + words) == SIGSEGV && signal_at(at + 100 * words) == 0);
  check("rest",
        munmap(at + 100 * words, bytes + page - 100 * page) == 0 && in_file(file, 200 * words) == 200 * words * 3 + 1);
  check("unmapped before", munmap(at, bytes + page) == 0);
  close(file);
  unlink(g_name);
}

/// What calls of the descriptor change shows in the mapping, and the other way round.
static void beside_calls(void) {
  const int file = make_file(O_RDWR);
  uint64_t* const at = mmap(NULL, bytes, rw, MAP_SHARED, file, 0);
  long wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
  for (uint64_t round = 1; round <= 5; ++round) {
    const size_t word = (size_t)omp_get_thread_num() * 50 * words;
    const size_t next = (size_t)((omp_get_thread_num() + 1) % 4) * 50 * words;
    at[word] = round;
#pragma omp barrier
    wrong += in_file(file, next) != round;
#pragma omp barrier
    const uint64_t value = round * 7;
    wrong += pwrite(file, &value, sizeof value, (off_t)(word * sizeof value)) != sizeof value;
#pragma omp barrier
    wrong += at[next] != value || at[next + 1] != (next + 1) * 3;
#pragma omp barrier
  }
  check("beside calls", wrong == 0);
  check("shorter", at[500 * words + 1] == (500 * words + 1) * 3 && ftruncate(file, 200 * page) == 0);
  check("SIGBUS", signal_at(at + 500 * words) == SIGBUS);
  check("munmap", munmap(at, bytes) == 0);
  close(file);
  unlink(g_name);
}

/// A mutex in a mapped file, for the threads of all nodes.
static void lock_in_file(void) {
  enum { times = 500 };
  const int file = make_file(O_RDWR);
  struct {
    pthread_mutex_t lock;
    long count;
  }* const at = mmap(NULL, page, rw, MAP_SHARED, file, 0);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&at->lock, &attributes);
  at->count = 0;
#pragma omp parallel num_threads(4)
  for (int i = 0; i < times; ++i) {
    pthread_mutex_lock(&at->lock);
    ++at->count;
    pthread_mutex_unlock(&at->lock);
  }
  check("lock", at->count == 4 * times);
  check("munmap", pthread_mutex_destroy(&at->lock) == 0 && munmap(at, page) == 0);
  close(file);
  unlink(g_name);
}

static void shorter_file(void) {
  const int file = make_file(O_RDWR);
  uint64_t* const at = mmap(NULL, bytes, rw, MAP_SHARED, file, 0);
  check("before", at[0] == 0 && ftruncate(file, 200 * page) == 0);
  check("SIGBUS", signal_at(at + 500 * words) == SIGBUS);
  check("longer again", ftruncate(file, bytes) == 0 && at[599 * words] == 0);
  check("munmap", munmap(at, bytes) == 0);
  close(file);
  unlink(g_name);
}

static void over_memory(void) {
  const int file = make_file(O_RDWR);
  uint64_t* const at = mmap(NULL, 64 * page, rw, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  at[70] = 4;
  check("over memory", mmap(at + words, 20 * page, rw, MAP_PRIVATE | MAP_FIXED, file, 2 * page) == at + words);
  check("content", differing(at + words, 2 * words, 20 * words) == 0 && at[70] == 4);
  check("munmap", munmap(at, 64 * page) == 0);
  close(file);
  unlink(g_name);
}

static void refused(void) {
  const int file = make_file(O_RDONLY), written = open(g_name, O_WRONLY), folder = open(".", O_RDONLY);
  is_errno("no descriptor", mmap(NULL, page, PROT_READ, MAP_PRIVATE, 900, 0), EBADF);
  is_errno("not for writing", mmap(NULL, page, rw, MAP_SHARED, file, 0), EACCES);
  is_errno("not for reading", mmap(NULL, page, PROT_READ, MAP_PRIVATE, written, 0), EACCES);
  is_errno("within a page", mmap(NULL, page, PROT_READ, MAP_PRIVATE, file, 100), EINVAL);
  is_errno("a folder", mmap(NULL, page, PROT_READ, MAP_PRIVATE, folder, 0), ENODEV);
  is_errno("nothing", mmap(NULL, 0, PROT_READ, MAP_PRIVATE, file, 0), EINVAL);
  is_errno("everything", mmap(NULL, ~(size_t)0, PROT_READ, MAP_PRIVATE, file, 0), ENOMEM);
  is_errno("too far", mmap(NULL, (size_t)1 << 40, PROT_READ, MAP_SHARED, file, INT64_MAX - page + 1), EOVERFLOW);
  check("msync within a page", msync((char*)&g_name + 1, 1, MS_SYNC) == -1 && errno == EINVAL);
  unlink(g_name);
}

static int leave(const char* name, const char* how) {
  const int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (ftruncate(file, bytes) != 0) return 2;
  uint64_t* const at = mmap(NULL, bytes, rw, MAP_SHARED, file, 0);
#pragma omp parallel for
  for (size_t i = 0; i < bytes / sizeof *at; ++i) at[i] = i + 9;
  if (strcmp(how, "return") == 0) return 0;
#pragma omp parallel num_threads(4)
  if (omp_get_thread_num() == (how[0] == 'f' ? 3 : 0)) {  // far, or near
    if (strcmp(how + 1, "exit") == 0) exit(0);
    if (strcmp(how + 1, "_exit") == 0) _exit(0);
    if (strcmp(how + 1, "quick") == 0) quick_exit(0);
  }
  return 1;
}
static int look(const char* name) {
  const int file = open(name, O_RDONLY);
  for (size_t i = 0; i < bytes / sizeof(uint64_t); i += 100) {
    if (in_file(file, i) != i + 9) return 1;
  }
  return 0;
}

int main(int count, char** arguments) {
  if (count == 4) return leave(arguments[2], arguments[3]);
  if (count == 3) return look(arguments[2]);
  signal(SIGSEGV, on_signal);
  signal(SIGBUS, on_signal);
  read_only(bytes, MAP_PRIVATE);
  read_only(3 * page, MAP_PRIVATE);
  read_only(bytes, MAP_SHARED);
  private_ones(400 * page);
  private_ones(5 * page);
  restored();
  shared_ones();
  beside_calls();
  lock_in_file();
  shorter_file();
  over_memory();
  refused();
  return 0;
}
