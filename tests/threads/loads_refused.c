/* SPDX-License-Identifier: BSD-3-Clause */
// What one place in the job does not allow: loads_refused LIBRARY.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void tell(const char* call, const void* library) {
  const char* const why = dlerror();
  printf("%s %d: <%s>\n", call, library != NULL, why != NULL ? why : "no reason");
}
static void* nothing(void* at) { return at; }

int main(int count, char** arguments) {
  pthread_t thread;
  pthread_create(&thread, NULL, nothing, NULL);
  pthread_join(thread, NULL);
  tell("deep", dlopen(arguments[1], RTLD_NOW | RTLD_DEEPBIND));
  tell("apart", dlmopen(LM_ID_NEWLM, arguments[1], RTLD_NOW));
  tell("stack", dlopen(arguments[2], RTLD_NOW));
  printf("then %d\n", dlerror() != NULL);
  return 0;
}
