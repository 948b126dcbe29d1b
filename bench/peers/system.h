/* What measure.cpp needs of a shared memory system: one body a system (argodsm.cpp, jiajia.c), written against its
 * public interface. All calls are made by the main thread of every node, in the same order, but for lock and unlock. */
#ifndef BENCH_PEERS_SYSTEM_H
#define BENCH_PEERS_SYSTEM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void system_start(int argc, char** argv, size_t bytes);
void system_end(void);
int system_node(void);
int system_nodes(void);
/** Shared memory that is homed at node 0, zero. */
void* system_allocate(size_t bytes);
void system_barrier(void);
/** One lock for all. */
void system_lock(void);
void system_unlock(void);

#ifdef __cplusplus
}
#endif
#endif
