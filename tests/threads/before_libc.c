/* SPDX-License-Identifier: BSD-3-Clause */
// Counts calls of libc, in data of its own, as tools do that trace, and looks at the environment, which a program may
// have in its data. For LD_PRELOAD, and to be linked. Quire makes such calls, too.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>

long calls_before_libc;

#define NEXT(name, type)                                              \
  static __typeof__(type)* real;                                      \
  if (real == NULL) real = (__typeof__(type)*)dlsym(RTLD_NEXT, name); \
  ++calls_before_libc

int madvise(void* at, size_t bytes, int advice) {
  NEXT("madvise", int(void*, size_t, int));
  if (getenv("NO_ADVICE") != NULL) return 0;
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
int munmap(void* at, size_t bytes) {
  NEXT("munmap", int(void*, size_t));
  return real(at, bytes);
}
ssize_t write(int file, const void* from, size_t bytes) {
  NEXT("write", ssize_t(int, const void*, size_t));
  return real(file, from, bytes);
}
int close(int file) {
  NEXT("close", int(int));
  return real(file);
}
