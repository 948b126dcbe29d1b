/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what a program sees of its start: the loader's variables, the arguments, how random its addresses are, the
   files that it has mapped. Compiled with OpenMP, it also runs a parallel region, and needs what that takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>

extern char** environ;

#ifdef WITH_NAME
void WITH_NAME(void);
void WITH_NAME(void) {}
#endif
#ifdef WITH_THREADS
int pthread_create(void);
int pthread_create(void) { return 0; }
void* malloc(size_t bytes) { return (void)bytes, NULL; }
#endif
#ifdef WITH_NOTE
/* As Go's linker leaves it: the lengths of its name and its text, its kind, its name. */
__attribute__((section(".note.go.buildid"), used, aligned(4))) static const struct {
  unsigned name_bytes, text_bytes, kind;
  char name[4];
  unsigned text;
} note = {4, 4, 4, "Go", 0};
#endif

static void print_mapped_files(void) {
  char line[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    const char* path = strchr(line, '/');
    if (path != NULL) printf("mapped %s", path);
  }
  if (maps != NULL) fclose(maps);
}

int main(int argc, char** argv) {
  struct rlimit stack;
  for (char** entry = environ; *entry != NULL; ++entry)
    if (strncmp(*entry, "LD_", 3) == 0 || strncmp(*entry, "QUIRE_EXEC_", 11) == 0) printf("%s\n", *entry);
  for (int i = 0; i < argc; ++i) printf("argument %d %s\n", i, argv[i]);
  printf("random %d\n", (personality(0xffffffff) & ADDR_NO_RANDOMIZE) == 0);
  printf("main %p\n", (void*)main);
  if (getrlimit(RLIMIT_STACK, &stack) == 0) printf("stack %lu\n", (unsigned long)stack.rlim_cur);
  print_mapped_files();
#pragma omp parallel
  {
    printf("in the region\n");
#ifdef WITH_BARRIER
#pragma omp barrier
#endif
  }
  return argc > 1 && strcmp(argv[1], "fail") == 0 ? 7 : 0;
}
