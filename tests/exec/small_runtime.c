/* SPDX-License-Identifier: BSD-3-Clause */
/* In the place of libquire_omp: parallel regions, by one thread, and a function of LLVM's. */
#include <stdio.h>

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);
void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  (void)threads, (void)flags;
  printf("the small runtime\n");
  body(data);
}

int __kmpc_global_thread_num(void* where);
int __kmpc_global_thread_num(void* where) {
  (void)where;
  printf("the small runtime\n");
  return 3;
}
