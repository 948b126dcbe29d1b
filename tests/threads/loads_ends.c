/* SPDX-License-Identifier: BSD-3-Clause */
// A thread loads a library that stays until the program ends, and another one with it.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void* load(void* at) { return dlopen("libthreads_loaded_needs.so", RTLD_NOW) != 0 ? at : 0; }

int main(int count, char** arguments) {
  pthread_t thread;
  void* loaded = 0;
  pthread_create(&thread, 0, load, arguments);
  pthread_join(thread, &loaded);
  printf("loaded %d\n", loaded != 0);
  return count - 1;
}
