/* SPDX-License-Identifier: BSD-3-Clause */
// In the place of a run-time library of OpenMP that a wheel brings along: nobody may call it on several nodes.
#include <stdio.h>
#include <stdlib.h>

static void nobody(const char* call) {
  fprintf(stderr, "%s of the wheel is called\n", call);
  abort();
}
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags) { nobody("GOMP_parallel"); }
int omp_get_thread_num(void) { return nobody("omp_get_thread_num"), 0; }
int omp_get_num_threads(void) { return nobody("omp_get_num_threads"), 1; }
