/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints which file of libquire the loader has chosen for this program. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <quire/quire.h>
#include <stdio.h>

int main(void) {
  Dl_info about;
  if (quire_start(NULL) != QUIRE_OK || dladdr((void*)quire_version, &about) == 0) return 1;
  puts(about.dli_fname);
  return quire_end() == QUIRE_OK ? 0 : 1;
}
