/* SPDX-License-Identifier: BSD-3-Clause */
// What calls that change mappings do to each kind of memory: prints the rows of the tables in docs/mappings.md, as it
// finds them on two nodes. A thread of node 1 calls; threads of both nodes look. mappings_table.py compares.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

#define PAGE 4096
enum { pages = 4, bytes = pages * PAGE, rw = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS };

/// What the thread of node 1 does next: call(argument), once.
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  void (*call)(void*);
  void* argument;
  int is_done, is_over;
} g_far = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, NULL, 0, 0};

static __thread sigjmp_buf t_back;
static __thread volatile int t_looks;
static void on_fault(int number) {
  if (t_looks) siglongjmp(t_back, 1);
  signal(number, SIG_DFL);
}

/// A byte; -1: it may not be read.
static int look(const volatile char* at) {
  int found = -1;
  t_looks = 1;
  if (sigsetjmp(t_back, 1) == 0) found = *at;
  t_looks = 0;
  return found;
}

static void* work_far(void* unused) {
  pthread_mutex_lock(&g_far.lock);
  for (;;) {
    while (g_far.call == NULL && !g_far.is_over) pthread_cond_wait(&g_far.changed, &g_far.lock);
    if (g_far.is_over) break;
    g_far.call(g_far.argument);
    g_far.call = NULL;
    g_far.is_done = 1;
    pthread_cond_broadcast(&g_far.changed);
  }
  pthread_mutex_unlock(&g_far.lock);
  return unused;
}
static void far(void (*call)(void*), void* argument) {
  pthread_mutex_lock(&g_far.lock);
  g_far.call = call;
  g_far.argument = argument;
  g_far.is_done = 0;
  pthread_cond_broadcast(&g_far.changed);
  while (!g_far.is_done) pthread_cond_wait(&g_far.changed, &g_far.lock);
  pthread_mutex_unlock(&g_far.lock);
}

/// The pages of a range as a node finds them.
struct view {
  char* at;
  int found[pages];
};
static void look_at_all(void* argument) {
  struct view* const v = argument;
  for (int i = 0; i < pages; ++i) v->found[i] = look(v->at + i * PAGE + 5);
}

static const char* name_of(int error) {
  switch (error) {
    case ENOTSUP:
      return "refused";
    case EEXIST:
      return "EEXIST";
    case EINVAL:
      return "EINVAL";
    case ENOMEM:
      return "ENOMEM";
    case EFAULT:
      return "EFAULT";
    case EPERM:
      return "EPERM";
  }
  static char number[32];
  snprintf(number, sizeof number, "errno %d", error);
  return number;
}

/// The state of pages in a word; all nodes have to find the same, and a store of one has to reach the other.
static const char* state_of(char* at) {
  static struct view far_view;
  static char text[80];
  struct view near_view = {at, {0}};
  far_view.at = at;
  far(look_at_all, &far_view);
  look_at_all(&near_view);
  if (memcmp(near_view.found, far_view.found, sizeof near_view.found) != 0) return "the node's own";
  const int has_hole = near_view.found[1] != near_view.found[0];
  const char* const in_hole = near_view.found[1] == -1 ? "closed" : "zeroes";
  for (int i = 0; i < pages; ++i) {
    const int same = i == 1 && has_hole ? near_view.found[1] == -1 ? -1 : 0 : near_view.found[0];
    if (near_view.found[i] != same) return "mixed up";
  }
  if (near_view.found[0] != -1) {
    at[5] = 9;
    far(look_at_all, &far_view);
    if (far_view.found[0] != 9) return "the node's own";
  }
  const char* const word = near_view.found[0] == 0    ? "zeroes"
                           : near_view.found[0] == 7  ? "kept"
                           : near_view.found[0] == -1 ? "closed"
                                                      : "other";
  snprintf(text, sizeof text, "%s%s%s", word, has_hole ? ", hole " : "", has_hole ? in_hole : "");
  return text;
}

// The calls. Each gets a range and returns 0, or an error; `moved` is where the content is then.
static char* g_moved;
static int g_file, g_segment;
static int done(long result) { return result == 0 ? 0 : errno; }
static int placed(const void* got, const void* wanted) { return got == wanted ? 0 : got == MAP_FAILED ? errno : -1; }
static int over(char* at, int protection, int flags, int file) {
  return placed(mmap(at, bytes, protection, flags, file, 0), at);
}
static int fixed(char* at) { return over(at, rw, anonymous | MAP_FIXED, -1); }
static int fixed_shared(char* at) { return over(at, rw, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1); }
static int fixed_none(char* at) { return over(at, PROT_NONE, anonymous | MAP_FIXED | MAP_NORESERVE, -1); }
static int fixed_none_back(char* at) {
  const int failed = fixed_none(at);
  return failed != 0 ? failed : done(mprotect(at, bytes, rw));
}
static int fixed_read(char* at) { return over(at, PROT_READ, anonymous | MAP_FIXED, -1); }
static int fixed_code(char* at) { return over(at, rw | PROT_EXEC, anonymous | MAP_FIXED, -1); }
static int fixed_file(char* at) { return over(at, rw, MAP_PRIVATE | MAP_FIXED, g_file); }
static int not_replaced(char* at) { return over(at, rw, anonymous | MAP_FIXED_NOREPLACE, -1); }
static int protect_none(char* at) { return done(mprotect(at, bytes, PROT_NONE)); }
static int protect_back(char* at) {
  const int failed = protect_none(at);
  return failed != 0 ? failed : done(mprotect(at, bytes, rw));
}
static int protect_read(char* at) { return done(mprotect(at, bytes, PROT_READ)); }
static int protect_code(char* at) { return done(mprotect(at, bytes, PROT_READ | PROT_EXEC)); }
static int unmap(char* at) { return done(munmap(at, bytes)); }
static int moved(void* to) {
  if (to == MAP_FAILED) return errno;
  g_moved = to;
  return 0;
}
static int grow(char* at) { return moved(mremap(at, bytes, 4 * bytes, MREMAP_MAYMOVE)); }
static int grow_here(char* at) { return moved(mremap(at, bytes, 4 * bytes, 0)); }
static int shrink(char* at) { return done(mremap(at, bytes, bytes - PAGE + 1, 0) != at); }
static int leave(char* at) { return moved(mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP)); }
static int move_to(char* at) {
  return moved(mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void*)0x510000000000));
}
static int by_number(char* at) { return done(syscall(SYS_madvise, at, (size_t)bytes, MADV_DONTNEED)); }
static int over_by_number(char* at) {
  return placed((void*)syscall(SYS_mmap, at, (size_t)bytes, rw, anonymous | MAP_FIXED, -1, 0l), at);
}
static int lock_by_number(char* at) { return done(syscall(SYS_mlock, at, (size_t)bytes)); }
static int attach(char* at) { return placed(shmat(g_segment, at, SHM_REMAP), at); }
static int lock(char* at) { return done(mlock(at, bytes)); }
static int advise_posix(char* at) { return posix_madvise(at, bytes, POSIX_MADV_WILLNEED); }
static int advise(char* at, int what) { return done(madvise(at, bytes, what)); }
static int dont_need(char* at) { return advise(at, MADV_DONTNEED); }
static int drop(char* at) { return advise(at, MADV_REMOVE); }
static int let_go(char* at) { return advise(at, MADV_FREE); }
static int install(char* at) { return advise(at, MADV_GUARD_INSTALL); }
static int install_back(char* at) {
  const int failed = install(at);
  return failed != 0 ? failed : advise(at, MADV_GUARD_REMOVE);
}
static int hint(char* at) {
  static const int all[] = {MADV_NORMAL,     MADV_RANDOM,     MADV_SEQUENTIAL, MADV_WILLNEED, MADV_HUGEPAGE,
                            MADV_NOHUGEPAGE, MADV_DONTDUMP,   MADV_DODUMP,     MADV_DONTFORK, MADV_DOFORK,
                            MADV_WIPEONFORK, MADV_KEEPONFORK, MADV_COLD,       MADV_PAGEOUT};
  int failed = 0;
  for (unsigned i = 0; i < sizeof all / sizeof *all && failed == 0; ++i) failed = advise(at, all[i]);
  return failed;
}
static int populate(char* at) { return advise(at, MADV_POPULATE_WRITE); }
static int unknown(char* at) { return advise(at, 77); }

static const struct row {
  const char* name;
  int (*call)(char*);
} rows[] = {
    {"mmap(MAP_FIXED), read and write", fixed},
    {"mmap(MAP_FIXED, MAP_SHARED), read and write", fixed_shared},
    {"mmap(MAP_FIXED, PROT_NONE)", fixed_none},
    {"mmap(MAP_FIXED, PROT_NONE), then mprotect() to read and write", fixed_none_back},
    {"mmap(MAP_FIXED, PROT_READ)", fixed_read},
    {"mmap(MAP_FIXED) with PROT_EXEC", fixed_code},
    {"mmap(MAP_FIXED) of a file", fixed_file},
    {"mmap(MAP_FIXED_NOREPLACE)", not_replaced},
    {"munmap()", unmap},
    {"mprotect(PROT_NONE)", protect_none},
    {"mprotect(PROT_NONE), then to read and write", protect_back},
    {"mprotect(PROT_READ)", protect_read},
    {"mprotect() with PROT_EXEC", protect_code},
    {"mremap() to more, MREMAP_MAYMOVE", grow},
    {"mremap() to more, in place", grow_here},
    {"mremap() to less", shrink},
    {"mremap(MREMAP_DONTUNMAP)", leave},
    {"mremap(MREMAP_FIXED) to addresses that are not shared", move_to},
    {"madvise(MADV_DONTNEED)", dont_need},
    {"madvise(MADV_REMOVE)", drop},
    {"madvise(MADV_FREE)", let_go},
    {"madvise(MADV_GUARD_INSTALL)", install},
    {"madvise(MADV_GUARD_INSTALL), then MADV_GUARD_REMOVE", install_back},
    {"madvise(MADV_POPULATE_WRITE)", populate},
    {"madvise() of all hints", hint},
    {"madvise() of no known value", unknown},
    {"posix_madvise()", advise_posix},
    {"mlock()", lock},
    {"shmat(SHM_REMAP)", attach},
    {"syscall(SYS_mmap), MAP_FIXED", over_by_number},
    {"syscall(SYS_madvise), MADV_DONTNEED", by_number},
    {"syscall(SYS_mlock)", lock_by_number},
};

enum kind { heap, stack, data, mapped, hole, file_shared, file_private, own, kinds };
static char g_data[bytes + 2 * PAGE] __attribute__((aligned(PAGE)));

/// A file of its own: private mappings of less are memory with a copy.
static char* map_file(int flags) {
  enum { all = 300 * PAGE };
  char name[] = "mappings-XXXXXX";
  const int file = mkstemp(name);
  if (ftruncate(file, all) != 0) exit(2);
  char* const at = mmap(NULL, all, rw, flags, file, 0);
  close(file);
  unlink(name);
  return at + PAGE;
}

static char* make(enum kind which, char* on_stack) {
  char* at = NULL;
  switch (which) {
    case file_shared:
    case file_private:
      at = map_file(which == file_shared ? MAP_SHARED : MAP_PRIVATE);
      break;
    case heap:
      at = (char*)aligned_alloc(PAGE, 30 * PAGE) + PAGE;
      break;
    case stack:
      at = on_stack;
      break;
    case data:
      at = g_data + PAGE;
      break;
    case mapped:
    case hole:
      at = (char*)mmap(NULL, bytes + 2 * PAGE, rw, anonymous, -1, 0) + PAGE;
      break;
    default:
      at = mmap((void*)0x500000000000, bytes, rw, anonymous | MAP_FIXED, -1, 0);
  }
  if (which != own) mprotect(at, bytes, rw);
  memset(at, 7, bytes);
  if (which == hole) munmap(at + PAGE, PAGE);
  return at;
}

struct work {
  int (*call)(char*);
  char* at;
  int result;
};
static void run(void* argument) {
  struct work* const w = argument;
  w->result = w->call(w->at);
}

static int is_nowhere_far(char* at) {
  static struct view v;
  v.at = at;
  far(look_at_all, &v);
  int found = 0;
  for (int i = 0; i < pages; ++i) found += v.found[i] != -1;
  return found == 0;
}

static void print_cell(const struct row* r, enum kind which, char* on_stack) {
  static struct work w;  // shared
  char was[80];
  w = (struct work){r->call, make(which, on_stack), 0};
  g_moved = NULL;
  if (which == own) {
    run(&w);  // node 0 has made it
    printf(" | %s",
           is_nowhere_far(w.at) && (g_moved == NULL || is_nowhere_far(g_moved)) ? "the node's own" : "on both nodes");
    return;
  }
  far(run, &w);
  snprintf(was, sizeof was, "%s", state_of(w.at));
  if (w.result != 0) {
    const int same = strstr(was, "kept") != NULL;
    printf(" | %s%s%s", name_of(w.result), same ? "" : ", ", same ? "" : was);
  } else if (g_moved == NULL || g_moved == w.at) {
    printf(" | %s", was);
  } else {
    char there[80];
    snprintf(there, sizeof there, "%s", state_of(g_moved));
    printf(" | moved%s%s, old place %s", strcmp(there, "kept") == 0 ? "" : ": ",
           strcmp(there, "kept") == 0 ? "" : there, was);
  }
}

// Calls that make memory: by node 0, and by node 1. The other node looks.
static int ends_with(char* at) {
  if (at == MAP_FAILED || at == NULL) return errno;
  memset(at, 7, bytes);
  g_moved = at;
  return 0;
}
static int map_any(char* unused) {
  (void)unused;
  return ends_with(mmap(NULL, bytes, rw, anonymous, -1, 0));
}
static int map_huge(char* unused) {
  (void)unused;
  return ends_with(mmap(NULL, bytes, rw, anonymous | MAP_HUGETLB, -1, 0));
}
static int map_growing(char* unused) {
  (void)unused;
  return ends_with(mmap(NULL, bytes, rw, anonymous | MAP_GROWSDOWN, -1, 0));
}
static int reserve(char* unused) {
  (void)unused;
  char* const at = mmap(NULL, (size_t)1 << 32, PROT_NONE, anonymous | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return errno;
  return mprotect(at + bytes, bytes, rw) == 0 ? ends_with(at + bytes) : errno;
}
static int map_shared_file(char* unused) {
  (void)unused;
  return ends_with(map_file(MAP_SHARED));
}
static int map_private_file(char* unused) {
  (void)unused;
  return ends_with(map_file(MAP_PRIVATE));
}
static int map_code(char* unused) {
  (void)unused;
  return ends_with(mmap(NULL, bytes, rw | PROT_EXEC, anonymous, -1, 0));
}
static int map_low(char* unused) {
  (void)unused;
  return ends_with(mmap(NULL, bytes, rw, anonymous | MAP_32BIT, -1, 0));
}
static int map_fixed(char* unused) {
  (void)unused;
  return ends_with(mmap((void*)0x520000000000, bytes, rw, anonymous | MAP_FIXED_NOREPLACE, -1, 0));
}
static int data_end(char* unused) {
  (void)unused;
  char* const at = sbrk(2 * bytes);
  return at == (char*)-1 ? errno : ends_with(at);
}
static int map_zeroes(char* unused) {
  (void)unused;
  const int file = open("/dev/zero", O_RDWR);
  if (file < 0) return errno;
  char* const at = mmap(NULL, bytes, rw, MAP_PRIVATE, file, 0);
  close(file);
  return ends_with(at);
}
static int map_nameless(char* unused) {
  (void)unused;
  const int file = memfd_create("nameless", 0);
  if (file < 0 || ftruncate(file, bytes) != 0) return errno;
  return ends_with(mmap(NULL, bytes, rw, MAP_SHARED, file, 0));
}
static int map_named(char* unused) {
  (void)unused;
  char name[64];
  snprintf(name, sizeof name, "/quire-mappings-%d", (int)getpid());
  const int file = shm_open(name, O_RDWR | O_CREAT, 0600);
  if (file < 0) return errno;
  shm_unlink(name);
  return ftruncate(file, bytes) != 0 ? errno : ends_with(mmap(NULL, bytes, rw, MAP_SHARED, file, 0));
}
static int map_segment(char* unused) {
  (void)unused;
  const int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
  if (id < 0) return errno;
  char* const at = shmat(id, NULL, 0);
  shmctl(id, IPC_RMID, NULL);
  return at == (char*)-1 ? errno : ends_with(at);
}
static const struct row makers[] = {
    {"mmap(), anonymous, read and write", map_any},
    {"mmap(MAP_HUGETLB), anonymous", map_huge},
    {"mmap(MAP_GROWSDOWN)", map_growing},
    {"mmap(PROT_NONE), then mprotect() of a part to read and write", reserve},
    {"sbrk(), brk()", data_end},
    {"mmap() of a file, MAP_SHARED", map_shared_file},
    {"mmap() of a file, MAP_PRIVATE", map_private_file},
    {"mmap() of /dev/zero", map_zeroes},
    {"mmap() with PROT_EXEC", map_code},
    {"mmap(MAP_32BIT)", map_low},
    {"mmap(MAP_FIXED) of addresses that are not shared", map_fixed},
    {"memfd_create(), and mmap()", map_nameless},
    {"shm_open(), and mmap()", map_named},
    {"shmget(), shmat()", map_segment},
};
static void print_made(const struct row* r, int by_far) {
  static struct work w;
  g_moved = NULL;
  w = (struct work){r->call, NULL, 0};
  if (by_far) {
    far(run, &w);
  } else {
    run(&w);
  }
  const char* const state = w.result != 0 ? name_of(w.result) : state_of(g_moved);
  printf(" | %s", strcmp(state, "kept") == 0 ? "shared" : state);
}

static void* end_at_once(void* unused) { return unused; }

int main(void) {
  struct sigaction now = {.sa_handler = on_fault};
  char room[bytes + 2 * PAGE];
  char* const on_stack = (char*)(((unsigned long)room + PAGE - 1) & -(unsigned long)PAGE);
  pthread_t first, thread;
  sigaction(SIGSEGV, &now, NULL);
  sigaction(SIGBUS, &now, NULL);
  pthread_create(&first, NULL, end_at_once, NULL);  // on node 0, where threads go round
  pthread_create(&thread, NULL, work_far, NULL);
  g_file = memfd_create("file", 0);
  g_segment = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
  if (ftruncate(g_file, bytes) != 0) return 2;
  char* const private = make(own, NULL);
  struct view far_view = {private, {0}};
  far(look_at_all, &far_view);
  printf("nodes: %d\n", far_view.found[0] == -1 ? 2 : 1);
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; ++i) {
    printf("| %s", rows[i].name);
    for (enum kind which = heap; which < kinds; ++which) print_cell(&rows[i], which, on_stack);
    printf(" |\n");
  }
  for (unsigned i = 0; i < sizeof makers / sizeof *makers; ++i) {
    printf("| %s", makers[i].name);
    print_made(&makers[i], 0);
    print_made(&makers[i], 1);
    printf(" |\n");
  }
  shmctl(g_segment, IPC_RMID, NULL);
  pthread_mutex_lock(&g_far.lock);
  g_far.is_over = 1;
  pthread_cond_broadcast(&g_far.changed);
  pthread_mutex_unlock(&g_far.lock);
  pthread_join(first, NULL);
  pthread_join(thread, NULL);
  return 0;
}
