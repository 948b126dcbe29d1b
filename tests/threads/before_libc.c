/* SPDX-License-Identifier: BSD-3-Clause */
// For LD_PRELOAD: counts calls of libc, in data of its own, as tools do that trace. Quire makes such calls, too.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>

static long g_calls;

#define NEXT(name, type)                                              \
  static __typeof__(type)* real;                                      \
  if (real == NULL) real = (__typeof__(type)*)dlsym(RTLD_NEXT, name); \
  ++g_calls

int madvise(void* at, size_t bytes, int advice) {
  NEXT("madvise", int(void*, size_t, int));
  return real(at, bytes, advice);
}
int ioctl(int file, unsigned long what, ...) {
  va_list more;
  va_start(more, what);
  void* const argument = va_arg(more, void*);
  va_end(more);
  NEXT("ioctl", int(int, unsigned long, ...));
  return real(file, what, argument);
}
int mprotect(void* at, size_t bytes, int protection) {
  NEXT("mprotect", int(void*, size_t, int));
  return real(at, bytes, protection);
}
