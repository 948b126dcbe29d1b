/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that leave a job while it runs, by themselves or as somebody wants it. Thread context, statuses and words as in
 * quire.h. */
#ifndef QUIRE_LEAVE_H
#define QUIRE_LEAVE_H

#include <quire/quire.h>

#ifdef __cplusplus
extern "C" {
#endif

/** This node leaves the job, and the others go on without it: quire_end() of one node. What it keeps of shared memory
 * goes to others first, and what it manages to node 0, so that nothing is lost. It is no death: nobody's handler of
 * quire_on_failure() hears of it, mutexes that were used here last are simply free, and `quire run` ends as if the node
 * had ended with all. quire_alive() of the node is 0 from then on, and quire_nodes_alive() one less; barriers,
 * reductions and broadcasts of all nodes expect it no more, as after a death. Its part of the heap hands out no memory,
 * and quire_free() of what came from there gives QUIRE_LOST.
 *
 * With `--replicas` an atomic operation that is under way at another node meanwhile may give QUIRE_PEER_LOST there; and
 * a leave counts as a death until all content is on two nodes again: if a node dies meanwhile, it is as if two had died
 * at once, and what it wrote last may be lost. Memory that was lost stays lost. Of a node that is killed while it
 * leaves, memory that it managed and no other node has may count as lost, though nobody ever used it.
 *
 * One thread of the node, outside of transactions, and not the handler of quire_on_failure(); other threads of the node
 * must not use shared memory, wait in a call, or have a lock meanwhile. Afterwards it is as after quire_end().
 *
 * QUIRE_BUSY, and a line that says what stays here: threads that quire_spawn() has begun here run or are not joined;
 * objects other than mutexes that this node has made; a mutex is locked, or had an owner who died and nobody has locked
 * it since; or, for ten seconds, no more memory goes to others, as threads of this node go on using it, or keep it
 * pinned. The node is a node as before, and may try again. QUIRE_UNSUPPORTED: the job does not go on without nodes
 * (QUIRE_ON_FAILURE=notify), or was not started by `quire run`; node 0, or it has died; a region whose consistency is
 * not sequential, memory that was adopted, an open container, or files that are mounted (QUIRE_MOUNT). QUIRE_INVALID:
 * within a transaction, or by the handler of quire_on_failure().
 */
QUIRE_API QUIRE_NODISCARD quire_status quire_leave(void);

/** 1 once somebody wants this node to leave (`quire leave JOB NODE`), and nothing keeps it for good; else 0. A program
 * asks between two parts of its work, gives others what it still had to do, calls quire_leave(), and returns from main.
 * It may go on instead: nobody makes it leave. What quire_leave() says is told to who has asked; after QUIRE_BUSY it
 * may be tried again, as 1 remains. Any thread; two loads of memory, but for the first time. */
QUIRE_API int quire_leave_wanted(void);

#ifdef __cplusplus
}
#endif

#endif
