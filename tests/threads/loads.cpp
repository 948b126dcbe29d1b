// SPDX-License-Identifier: BSD-3-Clause
// Plugins that threads on all nodes load and give back, one that needs another, and loads a third: loads FOLDER.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace {

constexpr const char* first = "libthreads_loaded_first.so";

template <class Function>
Function* find(void* in, const char* name) {
  return reinterpret_cast<Function*>(dlsym(in, name));
}

void* open_first() {
  void* const library = dlopen(first, RTLD_NOW);
  if (library == nullptr) {
    printf("%s\n", dlerror());
    exit(1);
  }
  return library;
}

/// As managers of plugins do: it gives its plugin back when the program ends.
struct holder {
  void* library = nullptr;
  ~holder() {
    printf("closed at the end %d\n", dlclose(library));
    fflush(stdout);
  }
} g_holder;

}  // namespace

int main() {
  int sum = 0;
  for (int time = 0; time < 2; ++time) {
    std::thread([] {
      void* const whole = dlopen("libthreads_loaded_whole.so", RTLD_NOW);
      printf("whole %d, closed %d\n", whole != nullptr, dlclose(whole));
    }).join();
  }
  for (int i = 0; i < 4; ++i) {
    std::thread([i, &sum] {
      void* const library = open_first();
      find<char*()>(library, "first_block")()[i] = 1;
      sum += find<int(int)>(library, "first_own")(i);
    }).join();
  }
  std::vector<std::thread> all;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back([] {
      for (int time = 0; time < 10; ++time) {
        if (dlclose(open_first()) != 0) abort();
      }
    });
  }
  for (std::thread& t : all) t.join();
  void* const library = open_first();
  auto* const third = find<int()>(RTLD_DEFAULT, "third_value");
  const char* const block = find<char*()>(library, "first_block")();
  printf("sum %d, third %d, block %d\n", sum, third != nullptr ? third() : -1,
         block[0] + block[1] + block[2] + block[3]);
  for (int i = 0; i < 5; ++i) printf("closed %d\n", dlclose(library));
  printf("there %d\n", dlopen(first, RTLD_NOW | RTLD_NOLOAD) != nullptr);
  g_holder.library = dlopen("libthreads_loaded_whole.so", RTLD_NOW);
  return 0;
}
