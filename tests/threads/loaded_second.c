/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

static int value = 40;
__attribute__((constructor)) static void begin(void) { printf("second begins\n"); }
__attribute__((destructor)) static void end(void) {
  printf("second ends\n");
  fflush(stdout);
}
int second_value(void) { return value++; }
