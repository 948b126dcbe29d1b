/* SPDX-License-Identifier: BSD-3-Clause */
// A library of the program's own that is loaded during the run: by a path or by a bare name, in main() or in a region.
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (dlopen("libm.so.6", RTLD_NOW) == NULL) return 1;  // the system's
  const int within = argc > 2 ? atoi(argv[2]) : 0;
  int loaded = within == 0 && dlopen(argv[1], RTLD_NOW) != NULL;
#pragma omp parallel num_threads(4) reduction(+ : loaded)
  if (within != 0 && omp_get_thread_num() == within) loaded += dlopen(argv[1], RTLD_NOW) != NULL;
  printf("loaded: %d\n", loaded);
  return loaded != 1;
}
