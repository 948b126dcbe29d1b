/* SPDX-License-Identifier: BSD-3-Clause */
/* In the place of a compiler's runtime, to link other_program.c with. `quire exec` must not load it. */
#include <stdio.h>

int __kmpc_global_thread_num(void* where);
int __kmpc_global_thread_num(void* where) {
  (void)where;
  printf("the other runtime\n");
  return 0;
}
