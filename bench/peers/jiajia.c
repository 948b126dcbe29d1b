/* JIAJIA for measure.cpp. It starts the other nodes itself, as .jiahosts in the working folder says. */
#include <jia.h>

#include "peers/system.h"

void system_start(int argc, char** argv, size_t bytes) {
  (void)bytes; /* its size is a constant of the library */
  jia_init(argc, argv);
}

void system_end(void) { jia_exit(); }
int system_node(void) { return jiapid; }
int system_nodes(void) { return jiahosts; }
void* system_allocate(size_t bytes) { return (void*)jia_alloc3((int)bytes, (int)bytes, 0); }
void system_barrier(void) { jia_barrier(); }
void system_lock(void) { jia_lock(0); }
void system_unlock(void) { jia_unlock(0); }
