/* SPDX-License-Identifier: BSD-3-Clause */
// Two libraries with blocks of the heap that end with the program: one needs the other, which ends after it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char* needed_text(void);

#ifdef NEEDS
static char* own;

__attribute__((constructor)) static void begin(void) { own = strdup(needed_text()); }
__attribute__((destructor)) static void end(void) {
  printf("needs: %s, %s\n", own, needed_text());
  fflush(stdout);
  free(own);
}
#else
static char* text;

char* needed_text(void) { return text != 0 ? text : "gone"; }
__attribute__((constructor)) static void begin(void) { text = strdup("a block"); }
__attribute__((destructor)) static void end(void) {
  printf("needed: %s\n", text);
  fflush(stdout);
  free(text);
  text = 0;
}
#endif
