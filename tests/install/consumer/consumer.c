/* SPDX-License-Identifier: BSD-3-Clause */
/* A stranger's program: node 0 allocates and writes, the others read. */
#include <quire/quire.h>
#include <stdio.h>

int main(void) {
  const quire_barrier all = {0};
  void* word = NULL;
  if (quire_start(NULL) != QUIRE_OK) return 1;
  if (quire_node() == 0) {
    if (quire_malloc(sizeof(int), &word) != QUIRE_OK) return 1;
    *(int*)word = 42;
    if (quire_publish("word", word) != QUIRE_OK) return 1;
  }
  if (quire_lookup("word", 10000, &word) != QUIRE_OK) return 1;
  const int seen = *(int*)word;
  if (quire_barrier_wait(all) != QUIRE_OK || quire_end() != QUIRE_OK) return 1;
  return seen == 42 ? 0 : 1;
}
