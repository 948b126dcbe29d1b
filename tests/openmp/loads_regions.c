/* SPDX-License-Identifier: BSD-3-Clause */
// A program without OpenMP, with a plugin that has regions: loads_regions LIBRARY.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  void* const library = dlopen(arguments[count - 1], RTLD_NOW);
  if (library == NULL) return printf("%s\n", dlerror()), 1;
  int (*const region)(void) = (int (*)(void))dlsym(library, "loaded_region");
  int (*const nodes)(void) = (int (*)(void))dlsym(library, "loaded_nodes");
  int (*const compiled)(void) = (int (*)(void))dlsym(library, "loaded_compiled");
  printf("sum %d on %d nodes, compiled %d\n", region(), nodes(), compiled());
  return 0;
}
