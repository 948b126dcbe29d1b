/* SPDX-License-Identifier: BSD-3-Clause */
/* Quire for runtimes that bring programs to it which know nothing of shared memory: what quire.h leaves out, as no
 * program written for Quire needs it. Thread context, statuses and words as in quire.h. */
#ifndef QUIRE_SYSTEM_H
#define QUIRE_SYSTEM_H

#include <quire/quire.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A value of quire_region_options::orders: as 1, unless all nodes have one memory, in which no region has to order.
 * For who makes all regions of a job: those with QUIRE_RELEASE are in that memory unless they ask for a pool or a
 * detector of their own, are to be in a parallel block, or become transactional. Not with QUIRE_CONSISTENCY=release
 * where the heap may hold code (quire/code.h). */
#define QUIRE_ORDERS_APART 2

/** Makes a region of memory that the program has already: static data, say. All nodes have one thread call with the
 * same arguments (`options` may be NULL). Afterwards the `bytes` from `address` on, whole units, are shared, and have
 * the content that they had on node `node`; their units start there. What other nodes had at these addresses is gone.
 * Nobody but the callers may use the memory meanwhile.
 *
 *  The caller may have its stack in shared memory, but not in this one.
 *
 *  Memory of Quire and of the C library, and the stack of a caller, cannot be shared. Of the options, home and heap
 * stay 0; placement stays 0 too, or is QUIRE_PLACE_FIRST_TOUCH: with release consistency, units of nothing but zeroes
 * start at the node that touches them first. quire_region_disown() is its end; at quire_end() each node keeps the
 * content of the end as private memory, but for what quire_region_forget() names. A child of fork(2) in a process with
 * such a region ends at once, with a line (posix_spawn(3) and vfork(2) work). Checkpoints are refused as long as there
 * is one.
 *
 *  Errors, on all nodes, after which the memory is as it was: QUIRE_INVALID; QUIRE_BAD_ADDRESS: on some node not all of
 * it is mapped and readable; QUIRE_EXISTS: some of it is shared; QUIRE_LIMIT, QUIRE_NO_MEMORY, QUIRE_SYSTEM;
 * QUIRE_UNSUPPORTED (pool `fork`). */
QUIRE_API QUIRE_NODISCARD quire_status quire_region_adopt(const quire_region_options* options, void* address,
                                                          uint64_t bytes, int node, quire_region* region);

/** quire_region_adopt() by one thread of one node, whose content counts, while other nodes do something else: memory
 * that nobody uses anywhere, as the static data of a library that all nodes have just loaded. Also QUIRE_LIMIT and
 * QUIRE_NO_MEMORY if another node has no room for it. */
QUIRE_API QUIRE_NODISCARD quire_status quire_region_adopt_alone(const quire_region_options* options, void* address,
                                                                uint64_t bytes, quire_region* region);
/** The end of a region of quire_region_adopt() or quire_region_adopt_alone(), as quire_region_destroy() is that of
 * others: its addresses stay mapped on all nodes, and nothing can be accessed there. One thread of any node; nobody
 * uses the memory any more. QUIRE_INVALID: the region is no such; QUIRE_BUSY as quire_region_destroy(). */
QUIRE_API QUIRE_NODISCARD quire_status quire_region_disown(quire_region region);

/** This node has no use for the content of memory that was adopted once the job is over: quire_end() does not fetch the
 * whole pages between `address` and `address + bytes`, which are private memory with zeroes then. Large arrays whose
 * results are written out need not come to every node. Any thread. QUIRE_INVALID: no bytes; QUIRE_BAD_ADDRESS: not all
 * of it was adopted. */
QUIRE_API QUIRE_NODISCARD quire_status quire_region_forget(const void* address, uint64_t bytes);

/** quire_region_set_consistency() by the members of a group that has one thread on each node: other threads may be in
 * calls of all nodes meanwhile, as in a barrier of the job. All members call with the same arguments. QUIRE_INVALID
 * also if the group has not one member on each node, or the calling thread is none; no other change of consistency,
 * parallel block, checkpoint or collection of a garbage-collected heap may be under way. */
QUIRE_API quire_status quire_region_set_consistency_by(quire_group group, quire_region region,
                                                       quire_consistency consistency);

/** Shared memory that is there for no use, such as the addresses below a stack: a thread of this node that accesses it
 * ends the node with a line that has `why`, a sentence, which is copied. To the end of the
 * job. Only accesses that fault are noticed: give memory that was never used, and 2 MiB or more, as Quire may map up to
 * 1 MiB behind what is used below it. At most 4,096 a node; they make each fault a little slower. Any thread.
 * QUIRE_INVALID: no bytes, or no `why`; QUIRE_BAD_ADDRESS: not within one region; QUIRE_LIMIT. */
QUIRE_API QUIRE_NODISCARD quire_status quire_guard(const void* address, uint64_t bytes, const char* why);

/** Before quire_start(): on this node threads may run what they have written to the heap (region zero). Compilers write
 * small functions to the stack where a nested function is called by its address, and a stack may lie in the heap.
 * QUIRE_EXISTS after the start. A pool that cannot have code refuses it at the start, with a line. */
QUIRE_API QUIRE_NODISCARD quire_status quire_run_heap(void);

/** Threads of this node may not access the pages from `address` on, as if by mprotect(2) with PROT_NONE: such an access
 * is SIGSEGV (SEGV_ACCERR). Content stays, and moves between nodes as before. For all nodes to refuse, each has to
 * call. `address` and `bytes`: whole pages of 4 KiB. quire_pages_open() ends it, also for pages that are not closed;
 * both may be called as often as one likes. Under detector `thread` such an access ends the node, with a line. Any
 * thread. QUIRE_INVALID: not whole pages, or none; QUIRE_BAD_ADDRESS: not within one region; QUIRE_UNSUPPORTED: the
 * region has units below a page, is or was transactional, or finds writes by scans; QUIRE_NO_MEMORY. */
QUIRE_API QUIRE_NODISCARD quire_status quire_pages_close(const void* address, uint64_t bytes);
QUIRE_API quire_status quire_pages_open(const void* address, uint64_t bytes);
/** Whether a page of the range is closed on this node, as far as the region reaches that has the address: 0 or 1. Any
 * thread. QUIRE_INVALID: no bytes, or nowhere to put the answer. */
QUIRE_API quire_status quire_pages_closed(const void* address, uint64_t bytes, int* found);

/** An answer of quire_pages_written(): a bit for each of the first QUIRE_PAGES_TOLD pages of the range, from the lowest
 * bit of a word on; and a number of bytes from its beginning on in which there are none. */
#define QUIRE_PAGES_TOLD 2048
typedef struct quire_pages {
  uint64_t bits[QUIRE_PAGES_TOLD / 64];
  uint64_t next;
} quire_pages;
/** Pages whose content on this node may differ from zero. What no node says that of has never been written: who clears
 * a range need not write it. Of what threads write meanwhile the answer says nothing. Whole pages of 4 KiB. Any thread.
 * QUIRE_INVALID: not whole pages, none, or no place for the answer; QUIRE_BAD_ADDRESS: not within one region;
 * QUIRE_UNSUPPORTED: the region has units below a page, is or was transactional, finds writes by scans, or has content
 * of a container. */
QUIRE_API QUIRE_NODISCARD quire_status quire_pages_written(const void* address, uint64_t bytes, quire_pages* found);

/** quire_region_malloc() with content zero. Memory that was never handed out before is not touched for that. */
QUIRE_API QUIRE_NODISCARD quire_status quire_region_calloc(quire_region region, size_t alignment, size_t bytes,
                                                           void** address);
/** What has the byte at `address` of memory that is allocated from, wherever it was made: an allocation (`*taken` is
 * 1), or free pages between two (0); where it begins, and its bytes. The place of a small object is told when it has
 * been freed, too. Any thread; costs a message where another node has that part of the heap. QUIRE_BAD_ADDRESS: no such
 * memory; QUIRE_UNSUPPORTED: free, in a heap with quire_region_options::views; QUIRE_INVALID: a pointer is NULL. */
QUIRE_API QUIRE_NODISCARD quire_status quire_allocation_around(const void* address, void** first, uint64_t* bytes,
                                                               int* taken);
/** An allocation of the whole pages from `address` on, of content zero, for quire_free(). QUIRE_EXISTS: not all of them
 * are free; QUIRE_BAD_ADDRESS: not within what one node allocates from (quire_allocation_around() tells how far that
 * reaches); QUIRE_INVALID: not whole pages, or none; QUIRE_UNSUPPORTED as above; QUIRE_NO_MEMORY. */
QUIRE_API QUIRE_NODISCARD quire_status quire_calloc_at(void* address, uint64_t bytes);
/** quire_free() that has been done when it returns, also for memory of another node. Not 0 `zero`: all of the content
 * is zero; who gets it by quire_calloc() next need not write that. */
QUIRE_API quire_status quire_free_now(void* address, int zero);

/** First address and size of a region that memory is allocated from (quire_region_options::heap), region zero too: to
 * tell its memory from other memory without a call. With quire_region_options::views that is where all its views lie.
 * Either pointer may be NULL. QUIRE_NOT_FOUND; QUIRE_INVALID for a region that is no heap. */
QUIRE_API quire_status quire_heap_range(quire_region region, void** address, uint64_t* bytes);

/** Node 0: waits until each other node is in a collective of the job, of which node 0's own call comes later; what they
 * wrote before is seen here then. For a parallel region's end: they wait in quire_broadcast() for the next region, and
 * nobody tells them of this one's end, so that both together cost a node two messages. QUIRE_INVALID: elsewhere, in
 * another collective, or the calls of the others differ. */
QUIRE_API QUIRE_NODISCARD quire_status quire_await_nodes(void);

/** What follows on this node is phase `key` of the program, a number other than 0, until the next call: 0 where nothing
 * is known of it. A phase tends to use the same memory each time, as what follows a barrier in a loop. From its third
 * execution on the node asks at its beginning for what it used the last times, with the rights that it will want
 * (QUIRE_PLANS, --stats: planned). It is a hint, and changes nothing that a program sees. One thread of the node calls,
 * after the barrier and before the others go on. Not under a memory limit. */
QUIRE_API quire_status quire_plan(uint64_t key);

/** The calling thread waits in a loop of its own, which looks at shared memory (a flag) and has done so a few times: to
 * be called again and again from there. The node serves others meanwhile, for microseconds, and keeps nothing from
 * them. Returns at once where others of the node do so. It is a hint, and changes nothing that a program sees. */
QUIRE_API quire_status quire_spin(void);

/** The calling thread has passed a barrier of its own that is made of atomic operations: as after quire_barrier_wait(),
 * another epoch begins on the node. Where all writes are noticed (QUIRE_CHECK=races) that tells memory which one node
 * alone has for itself from what goes around; elsewhere nothing happens. To be called behind the barrier. Any thread.
 */
QUIRE_API quire_status quire_note_barrier(void);

/** Nodes of the job on this node's host, this one included; 0 before the start, and with pool 'fork'. Any
 * thread. */
QUIRE_API int quire_local_nodes(void);

/** Whether all nodes have the memory at `address` in one frame a page, which none of them ever gives up for another
 * (1): an atomic instruction costs what it costs threads of a process then. 0 elsewhere. A parallel block or a change
 * of the region's consistency may end that. Any thread. */
QUIRE_API int quire_has_one_memory(const void* address);

/** Of a thread that waits for others of its node, in private memory: when it began, and when it last asked. Zero at
 * first. */
typedef struct quire_looking {
  uint64_t since, last;
} quire_looking;

/** Whether it may look once more, or is to sleep: 1 for as long as QUIRE_SPIN_US says, where each of `threads` of each
 * node of the host has a core; 0 after that, where cores are short or others want them, and before the node starts.
 * To be asked every few microseconds. Any thread. */
QUIRE_API int quire_may_look(int threads, quire_looking* so_far);

/** Ends the job at once, whatever its threads do, as exit(3) ends a process: what stdio holds is written on all nodes,
 * then all processes end, this one with `status`, the others with 0. No handlers of atexit(3) run, and no destructors.
 * Another node's status is the job's where that calls, too, at the same time. Does not return. Any thread; before
 * quire_start(), or after quire_end(), it ends this process only. A node that cannot end within 3 seconds is ended
 * without its output. */
QUIRE_API void quire_exit(int status) __attribute__((noreturn));

/** Libraries have been loaded by a dlopen(3) that was not Quire's: calls of theirs that Quire has to see are seen from
 * now on. The dynamic linker's lock is held meanwhile. Any thread. */
QUIRE_API void quire_note_libraries(void);

/** Which limit is behind the errno of a call that the system has refused: of getrlimit(2), of the control group, or of
 * the system. A part of a sentence that begins with "; ", ended by 0, of at most `bytes`; empty where no limit is. Any
 * thread, also in a signal handler. */
QUIRE_API void quire_limit_text(int error, char* text, size_t bytes);

/** quire_end() for a process that is about to exit while threads of it may go on, as in a handler of on_exit(3): daemon
 * threads of an interpreter, say. For other nodes it is quire_end(). On this node a thread that is in a call, or uses
 * shared memory afterwards, stays where it is until the process has ended, whatever it holds; but for the calling
 * thread, which gets SIGSEGV for shared memory. Later calls give QUIRE_NOT_STARTED. Statuses as of quire_end(). */
QUIRE_API quire_status quire_end_at_exit(void);

#ifdef __cplusplus
}
#endif

#endif
