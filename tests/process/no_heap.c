/* SPDX-License-Identifier: BSD-3-Clause */
// Preloaded, it ends the process with a backtrace when a thread takes or returns heap memory on its alternate stack, on
// which Quire serves faults. UCX may: it takes memory for messages of several fragments and for connections, and cannot
// be told not to. A process in which nobody has served a fault there ends with status 3: then this has watched nothing.
// NO_HEAP=report only tells.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

static int ready, only_report;
static long served;

static int on_alternate_stack(void) {
  stack_t now;
  return ready && syscall(SYS_sigaltstack, NULL, &now) == 0 && (now.ss_flags & SS_ONSTACK) != 0;
}

/// The innermost caller that is neither this file nor a library of the compiler.
static int is_of_ucx(void* const* frames, int count) {
  for (int i = 0; i < count; ++i) {
    Dl_info of;
    if (dladdr(frames[i], &of) == 0 || of.dli_fname == NULL) continue;
    if (strstr(of.dli_fname, "no_heap") != NULL || strstr(of.dli_fname, "libstdc++") != NULL ||
        strstr(of.dli_fname, "libc.so") != NULL || strstr(of.dli_fname, "ld-linux") != NULL) {
      continue;
    }
    return strstr(of.dli_fname, "/libuc") != NULL;
  }
  return 0;
}

static void look(const char* call) {
  if (!on_alternate_stack()) return;
  void* frames[40];
  const int count = backtrace(frames, 40);
  if (is_of_ucx(frames, count)) return;
  ready = 0;  // what follows may allocate
  (void)!write(2, "no_heap: ", 9);
  (void)!write(2, call, strlen(call));
  (void)!write(2, " in fault context:\n", 19);
  backtrace_symbols_fd(frames, count, 2);
  if (!only_report) _exit(4);
  ready = 1;
}

void* malloc(size_t bytes) { return look("malloc"), __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return look("calloc"), __libc_calloc(count, bytes); }
void* realloc(void* old, size_t bytes) { return look("realloc"), __libc_realloc(old, bytes); }
void* memalign(size_t alignment, size_t bytes) { return look("memalign"), __libc_memalign(alignment, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** to, size_t alignment, size_t bytes) {
  return (*to = memalign(alignment, bytes)) != NULL ? 0 : 12;
}
void free(void* old) {
  if (old != NULL) look("free");
  __libc_free(old);
}

/// Faults come as signals. Whoever serves them is called by what counts them.
typedef void (*handler)(int, siginfo_t*, void*);
static handler handlers[65];

static void counted(int number, siginfo_t* about, void* context) {
  if (on_alternate_stack()) __atomic_add_fetch(&served, 1, __ATOMIC_RELAXED);
  handlers[number](number, about, context);
}

int sigaction(int number, const struct sigaction* now, struct sigaction* before) {
  static int (*of_libc)(int, const struct sigaction*, struct sigaction*);
  if (of_libc == NULL) *(void**)&of_libc = dlsym(RTLD_NEXT, "sigaction");
  const handler old = number > 0 && number < 65 ? handlers[number] : NULL;
  struct sigaction ours;
  if (now != NULL && (number == SIGSEGV || number == SIGBUS) && (now->sa_flags & SA_SIGINFO) != 0 &&
      now->sa_sigaction != counted) {
    ours = *now, handlers[number] = now->sa_sigaction;
    ours.sa_sigaction = counted, now = &ours;
  }
  const int result = of_libc(number, now, before);
  if (before != NULL && (before->sa_flags & SA_SIGINFO) != 0 && before->sa_sigaction == counted)
    before->sa_sigaction = old;
  return result;
}

__attribute__((constructor)) static void begin(void) {
  void* one[1];
  (void)backtrace(one, 1);  // loads what it needs
  const char* const how = getenv("NO_HEAP");
  only_report = how != NULL && strcmp(how, "report") == 0;
  ready = getenv("QUIRE_JOB_NODE") != NULL;  // a node, and not its launcher
}

__attribute__((destructor)) static void end(void) {
  if (!ready || served != 0) return;
  (void)!write(2, "no_heap: no fault was served on an alternate stack\n", 51);
  _exit(3);
}
