/* SPDX-License-Identifier: BSD-3-Clause */
// Needs the first plugin, whose constructor loads another one while this one's has not run.
#include <stdio.h>

extern int first_own(int by);

static int value = 1;
__attribute__((constructor)) static void begin(void) { printf("whole begins: %d, own %d\n", value++, first_own(0)); }
__attribute__((destructor)) static void end(void) {
  printf("whole ends: %d\n", value);
  fflush(stdout);
}
