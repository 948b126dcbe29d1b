/* SPDX-License-Identifier: BSD-3-Clause */
// A library whose file goes while the first node loads it: the dynamic linker asks which of its functions to take, and
// that removes GONE.
#include <sys/syscall.h>

static int one(void) { return 1; }

/// Nothing is relocated yet: no call of libc.
__attribute__((used)) static int (*choose(void))(void) {
  long result = SYS_unlink;
  __asm__ volatile("syscall" : "+a"(result) : "D"(GONE) : "rcx", "r11", "memory");
  return one;
}
int gone_value(void) __attribute__((ifunc("choose")));
int (*const gone_pointer)(void) = gone_value;  // must be known before the library is there
