/* SPDX-License-Identifier: BSD-3-Clause */
/* Hello from every node, in C: one node allocates and publishes, all find it, write into it, and read what the others
 * wrote. Run it: quire run -n 4 hello */
#include <stdio.h>
#include <stdlib.h>

#include <quire/quire.h>

/* Ends this process, and with it the job, if a call fails. */
static void must(quire_status status, const char* call) {
  if (status == QUIRE_OK) return;
  fprintf(stderr, "%s: %s\n", call, quire_status_text(status));
  exit(EXIT_FAILURE);
}

int main(void) {
  must(quire_start(NULL), "quire_start");
  const int node = quire_node();
  const int nodes = quire_nodes();
  const quire_barrier everyone = {0};

  void* address = NULL;
  if (node == 0) {
    must(quire_calloc((size_t)nodes, sizeof(int), &address), "quire_calloc");
    must(quire_publish("greetings", address), "quire_publish");
  }
  must(quire_lookup("greetings", -1, &address), "quire_lookup");
  int* greetings = address;

  greetings[node] = node + 1;
  must(quire_barrier_wait(everyone), "quire_barrier_wait");

  int heard = 0;
  for (int other = 0; other < nodes; ++other) heard += greetings[other] == other + 1;
  printf("node %d of %d: hello, I hear %d of %d at %p\n", node, nodes, heard, nodes, address);

  must(quire_barrier_wait(everyone), "quire_barrier_wait");
  if (node == 0) must(quire_free(address), "quire_free");
  must(quire_end(), "quire_end");
  return heard == nodes ? EXIT_SUCCESS : EXIT_FAILURE;
}
