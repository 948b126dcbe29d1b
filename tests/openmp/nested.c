/* SPDX-License-Identifier: BSD-3-Clause */
// Nested functions of GNU C whose address is passed on: the call goes by code on the stack, that of the calling thread
// or that of main(), which may be on another node. BY_LIBRARY: a library has them, and the executable asks for no code
// on stacks.
#include <stdio.h>

#ifndef BY_LIBRARY
#include "library_nested.c"
#endif

int sum_from(int first);
int sum_in_region(int first);

int main(void) {
  printf("main %d\n", sum_from(10));
  printf("region %d\n", sum_in_region(10));
  return 0;
}
