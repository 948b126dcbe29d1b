// SPDX-License-Identifier: BSD-3-Clause
// A plugin that is loaded during the run: loads LIBRARY THREAD: by that thread of a region.
#include <dlfcn.h>
#include <link.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

template <class Function>
Function* find(void* in, const char* name) {
  return reinterpret_cast<Function*>(dlsym(in, name));
}
using with_number = int(int);

void use(void* library) {
  auto* const add = find<with_number>(library, "loaded_add");
  int own = 0, same = 0, thrown = 0;
#pragma omp parallel num_threads(4) reduction(+ : own, same, thrown)
  {
    same += find<with_number>(library, "loaded_add") == add;
    add(10);
    own += find<with_number>(library, "loaded_own")(omp_get_thread_num());
    thrown += find<with_number>(library, "loaded_throw")(3);
  }
  const int sum = find<int()>(library, "loaded_region")();
  const int* const table = find<int>(library, "loaded_table");
  const int* const aligned = find<int>(library, "loaded_aligned");
  printf("count %d, own %d, same %d, thrown %d, sum %d, last %d, aligned %d %d\n", add(0), own, same, thrown, sum,
         table[999], aligned[0], static_cast<int>(reinterpret_cast<uintptr_t>(aligned) % 8192));
}

/// What one may ask of a handle.
void ask(void* library, const char* path) {
  dlerror();
  const bool missing = dlsym(library, "nothing") == nullptr;
  const char* const why = dlerror();
  printf("missing %d: %d\n", missing, why != nullptr && strstr(why, "nothing") != nullptr);
  link_map* map = nullptr;
  const int status = dlinfo(library, RTLD_DI_LINKMAP, &map);
  printf("linked %d: %d, %d\n", status, map != nullptr && strcmp(map->l_name, path) == 0,
         map != nullptr && map->l_addr == reinterpret_cast<link_map*>(library)->l_addr);
  Dl_info about{};
  printf("around %d: %s\n", dladdr(dlsym(library, "loaded_add"), &about), about.dli_sname);
  void* const again = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  printf("again %d, default %d\n", again == library, dlsym(RTLD_DEFAULT, "loaded_add") != nullptr);
  printf("closed %d\n", dlclose(again));
}

}  // namespace

int main(int count, char** arguments) {
  const int thread = count > 2 ? atoi(arguments[2]) : 0;
  for (int time = 0; time < 2; ++time) {
    void* library = nullptr;
#pragma omp parallel num_threads(4)
    if (omp_get_thread_num() == thread) library = dlopen(arguments[1], time == 0 ? RTLD_NOW : RTLD_LAZY | RTLD_GLOBAL);
    if (library == nullptr) return printf("%s\n", dlerror()), 1;
    use(library);
    ask(library, arguments[1]);
    if (time == 0) printf("closed %d\n", dlclose(library));
    printf("there %d\n", dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD) != nullptr);
  }
  printf("none %d\n", dlopen("./no_such_library.so", RTLD_NOW) != nullptr);
  printf("why %d\n", strstr(dlerror(), "no_such_library") != nullptr);
  return 0;
}
