/* SPDX-License-Identifier: BSD-3-Clause */
/* The first program in C, of docs/guide/first-program.md: quire run -n 2 guide/first_c */
/* [first] */
#include <stdio.h>
#include <stdlib.h>
#include <quire/quire.h>

static void must(quire_status status, const char* call) {
  if (status == QUIRE_OK) return;
  fprintf(stderr, "%s: %s\n", call, quire_status_text(status));
  exit(EXIT_FAILURE);                            /* ends the job on all nodes */
}

int main(void) {
  must(quire_start(NULL), "quire_start");
  void* address = NULL;
  if (quire_node() == 0) {
    must(quire_calloc(1, sizeof(uint64_t), &address), "quire_calloc");
    must(quire_publish("counter", address), "quire_publish");
  }
  must(quire_lookup("counter", -1, &address), "quire_lookup");   /* waits for the name */
  uint64_t* counter = address;
  uint64_t before = 0;
  must(quire_fetch_add(counter, 1, &before), "quire_fetch_add"); /* done where the word lies */

  const quire_barrier all = {0};
  must(quire_barrier_wait(all), "quire_barrier_wait");
  if (quire_node() == 0) printf("%d nodes counted %d\n", quire_nodes(), (int)*counter);
  must(quire_end(), "quire_end");
  return EXIT_SUCCESS;
}
/* [/first] */
