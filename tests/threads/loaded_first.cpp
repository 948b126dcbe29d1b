// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

extern "C" int second_value(void);

namespace {

void at_the_end() {
  printf("first at the end\n");
  fflush(stdout);
}
struct own {
  int value = 3;
  ~own() {
    printf("own %d\n", value);
    fflush(stdout);
  }
};
thread_local own t_own;
alignas(8192) char g_block[20000];

void* g_third = nullptr;

__attribute__((constructor)) void begin() {
  printf("first begins: %d\n", second_value());
  atexit(at_the_end);
  g_third = dlopen("libthreads_loaded_third.so", RTLD_NOW | RTLD_GLOBAL);
  printf("third %d\n", g_third != nullptr);
}
__attribute__((destructor)) void end() {
  printf("first ends: %d, closed %d\n", second_value(), dlclose(g_third));
  fflush(stdout);
}

}  // namespace

extern "C" {
int first_own(int by) { return t_own.value += by; }
char* first_block(void) { return g_block; }
}
