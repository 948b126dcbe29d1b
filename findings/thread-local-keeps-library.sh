#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# dlclose(3) of a library of C++ with a thread_local object, whose thread ends afterwards.
# Expected guess: the library stays while the object is there; when the thread has destroyed it, the library goes, with its destructors.
# Behaviour: dlclose() returns 0 and the library stays, as one would expect. Nothing happens at the end of the thread: the library goes, and its destructors
# run, in the next call of dlclose() for any other library, in whatever thread that is, maybe never. Who opens it before that gets its old values.
# A plugin host that reloads a changed plugin gets the old code back. A run-time that takes libraries away on several machines has to keep such a one by a
# count of its own: what one machine's libc knows of its threads says nothing of the others'.
# Seen on: glibc 2.36 (Debian 12), gcc 12.2. Exit status 1: this system does otherwise.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/library.cpp" <<'C'
#include <cstdio>

struct noisy {
  int value = 1;
  ~noisy() { std::puts("  the object is destroyed"); }
};
static thread_local noisy t_noisy;
static int g_count = 0;

extern "C" int use() {
  t_noisy.value = 2;
  return ++g_count;
}
__attribute__((destructor)) static void end() { std::puts("  the library ends"); }
C
cat >"$folder/it.cpp" <<'C'
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>

#include <cstdio>
#include <cstring>
#include <thread>

static bool is_there(const char* path) {
  return dl_iterate_phdr(
             [](dl_phdr_info* info, std::size_t, void* wanted) {
               return std::strcmp(info->dlpi_name, static_cast<const char*>(wanted)) == 0 ? 1 : 0;
             },
             const_cast<char*>(path)) != 0;
}

int main(int, char** arguments) {
  std::printf("glibc %s\n", gnu_get_libc_version());
  const char *const path = arguments[1], *const other = arguments[2];
  std::thread([path] {
    void* const library = dlopen(path, RTLD_NOW);
    reinterpret_cast<int (*)()>(dlsym(library, "use"))();
    std::printf("dlclose() in the thread: %d\n", dlclose(library));
  }).join();
  const bool stays = is_there(path);
  std::printf("the thread has ended: the library is %s\n", stays ? "there" : "gone");
  std::printf("dlclose() of another library: %d\n", dlclose(dlopen(other, RTLD_NOW)));
  const bool went = !is_there(path);
  std::printf("then the library is %s\n", went ? "gone" : "there");
  return stays && went ? 0 : 1;
}
C
g++ -O1 -shared -fPIC "$folder/library.cpp" -o "$folder/library.so"
echo 'int nothing;' | gcc -shared -fPIC -x c - -o "$folder/other.so"
g++ -O1 "$folder/it.cpp" -o "$folder/it" -ldl -pthread
"$folder/it" "$folder/library.so" "$folder/other.so"
