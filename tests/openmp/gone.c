/* SPDX-License-Identifier: BSD-3-Clause */
// Files of libraries that are removed meanwhile: gone LIBRARY FOLDER. libgone.so in FOLDER goes while it is loaded.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[4000];

static void copy(const char* from, const char* to) {
  char block[4096];
  FILE *const source = fopen(from, "rb"), *const target = fopen(to, "wb");
  size_t bytes;
  if (source == NULL || target == NULL) exit(2);
  while ((bytes = fread(block, 1, sizeof block, source)) != 0)
    if (fwrite(block, 1, bytes, target) != bytes) exit(2);
  if (fclose(target) != 0 || fclose(source) != 0) exit(2);
}

/// The first words of an error that has `text`.
static const char* told(const char* text) {
  const char* const why = dlerror();
  return why != NULL && strstr(why, text) != NULL ? text : why != NULL ? why : "no error";
}

/// On which nodes the library's regions run: none may have half of it.
static int sum_of(void* library) {
  int (*const region)(void) = (int (*)(void))dlsym(library, "loaded_region");
  return region != NULL ? region() : -1;
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  snprintf(path, sizeof path, "%s/libcopy.so", arguments[2]);
  copy(arguments[1], path);
  void* const first = dlopen(path, RTLD_NOW);
  (void)unlink(path);
  void* const again = dlopen(path, RTLD_NOW);  // it is there
  printf("loaded %d, again %d, sum %d\n", first != NULL, again == first, sum_of(first));
  printf("closed %d %d\n", dlclose(first), dlclose(again));
  snprintf(path, sizeof path, "%s/libgone.so", arguments[2]);
  for (int time = 0; time < 2; ++time) {
    char kept[4100];
    snprintf(kept, sizeof kept, "%s.kept", path);
    copy(kept, path);
    void* const library = dlopen(path, RTLD_NOW);
    printf("meanwhile %d: %s\n", library != NULL, library == NULL ? told("node 1: ") : "it is there");
    (void)unlink(path);
  }
  void* const other = dlopen(arguments[1], RTLD_NOW);
  printf("other %d, sum %d\n", other != NULL, sum_of(other));
  return 0;
}
