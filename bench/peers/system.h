/* SPDX-License-Identifier: BSD-3-Clause */
/* What measure.cpp, sor.cpp and cg.cpp need of a shared memory system: one body a system (argodsm.cpp, jiajia.c),
 * written against its public interface. All calls are made by the main thread of every node, in the same order, but for
 * lock and unlock. */
#ifndef BENCH_PEERS_SYSTEM_H
#define BENCH_PEERS_SYSTEM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** For reports: "argodsm", "jiajia". */
const char* system_name(void);
/** How many of the arguments are the program's; a system may put its own behind them. May come before the start. */
int system_arguments(int argc, char** argv);
/** `bytes` is the most that will be allocated. The arguments may have another order afterwards. */
void system_start(int argc, char** argv, size_t bytes);
void system_end(void);
int system_node(void);
int system_nodes(void);
/** Shared memory that is homed at node 0, zero. */
void* system_allocate(size_t bytes);
/** Shared memory, zero. Node i is to be the home of bytes [begin[i], begin[i + 1]), which are whole pages, and is the
 * first to write them; `begin` has one entry more than there are nodes. */
void* system_allocate_blocks(const size_t* begin);
void system_barrier(void);
/** One lock for all. */
void system_lock(void);
void system_unlock(void);

#ifdef __cplusplus
}
#endif
#endif
