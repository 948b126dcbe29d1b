/* SPDX-License-Identifier: BSD-3-Clause */
/* Heaps whose objects nobody frees: what cannot be reached from the heap's roots is given back by a collection. The C
 * API, which gc.hpp stands on.
 *
 * A heap is a region. Objects have a type, which says where in them references are: plain pointers to other objects of
 * the same heap, or null. Each node allocates from a part of its own, without a message. A collection is exact: it
 * looks at references of types and at roots, and at no stack and no private memory. So it is a call of all nodes, at a
 * place of the program where no thread holds a reference to an object that only it can reach. Thread context, statuses
 * and words as in quire.h. Not with pool `fork`.
 */
#ifndef QUIRE_GC_H
#define QUIRE_GC_H

#include <quire/quire.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A heap. May be stored in shared memory and used on every node. */
typedef struct quire_gc_heap {
  uint64_t id;
} quire_gc_heap;

/** How a heap behaves. Zero-initialise, set `size`, set what you need; NULL means all defaults. */
typedef struct quire_gc_options {
  size_t size; /**< sizeof(quire_gc_options), for versions to come */
  /** Of its objects, as quire_region_options::consistency; 0 is sequential. Those of a QUIRE_TRANSACTIONAL one are made
   * and written in transactions. */
  quire_consistency consistency;
  size_t unit_bytes; /**< what moves as one: a power of two, 4 KiB to 2 MiB; 0: 4 KiB */
  const char* name;  /**< for quire_gc_open(): at most 54 characters; NULL: none */
} quire_gc_options;

/** Makes a heap with room for `bytes` of objects, headers included (64 KiB a node at least), on all nodes. One thread
 * of any node calls it, as it does quire_region_create(). The heap is cut into parts of equal size, one a node.
 * QUIRE_INVALID; QUIRE_EXISTS: there is a heap of this name; QUIRE_UNSUPPORTED: pool `fork`, and in a job that goes on
 * when a node is lost; else as of quire_region_create(). */
QUIRE_API QUIRE_NODISCARD quire_status quire_gc_create(const quire_gc_options* options, uint64_t bytes,
                                                       quire_gc_heap* heap);
/** The heap of a name; waits up to `timeout_ms` for it (0: not at all, negative: for ever). QUIRE_NOT_FOUND,
 * QUIRE_TIMED_OUT, QUIRE_INVALID. */
QUIRE_API QUIRE_NODISCARD quire_status quire_gc_open(const char* name, int64_t timeout_ms, quire_gc_heap* heap);
/** Destroys a heap, as quire_region_destroy() does a region. Nobody uses it any more. One thread of any node.
 * QUIRE_NOT_FOUND, QUIRE_BUSY. */
QUIRE_API quire_status quire_gc_destroy(quire_gc_heap heap);

/** The number of a type: its elements have `bytes` bytes and references at `count` offsets, multiples of 8 in ascending
 * order (at most 100). Types are known by their names, of at most 63 characters: nodes that register the same one get
 * the same number. The descriptor stands in shared memory, once. A heap has at most 1,000 types. Any thread; calls for
 * a name that this node has registered before send no message. QUIRE_INVALID: no such layout, or the name was
 * registered with another one: quire_last_error() has both; QUIRE_LIMIT; QUIRE_NOT_FOUND: no heap. */
QUIRE_API QUIRE_NODISCARD quire_status quire_gc_type(quire_gc_heap heap, const char* name, uint64_t bytes,
                                                     const uint32_t* offsets, uint32_t count, uint32_t* type);
/** An object of `length` elements of a type, zero, aligned to 16 bytes. It takes 8 bytes more, in multiples of 16. An
 * object of at most a quarter of a unit lies in one unit; one of a unit or more begins with one, if it can. It must be
 * reachable from a root by the next collection. QUIRE_NO_MEMORY: no node has room for it: collect, or make a larger
 * heap (no object is larger than a node's part); QUIRE_INVALID: a type that was not registered by this node, a length
 * of 0 or beyond all heaps, or outside of a transaction in a transactional heap; QUIRE_NOT_FOUND: no heap. */
QUIRE_API QUIRE_NODISCARD quire_status quire_gc_allocate(quire_gc_heap heap, uint32_t type, uint64_t length,
                                                         void** object);
/** Elements of an object; reads the 8 bytes before it. QUIRE_BAD_ADDRESS for what is no shared address, or not where an
 * object may begin; what lies within an object is not told from one. */
QUIRE_API quire_status quire_gc_length(const void* object, uint64_t* length);

/** The root of a name (at most 63 characters): a word of the heap for a reference, null at first. What it refers to
 * stays, and all that can be reached from there. Roots are for ever; a heap has at most 1,024. The word is written and
 * read as any shared memory. Any thread; as quire_gc_type() it sends a message once. QUIRE_INVALID, QUIRE_LIMIT,
 * QUIRE_NOT_FOUND: no heap. */
QUIRE_API QUIRE_NODISCARD quire_status quire_gc_root(quire_gc_heap heap, const char* name, void*** root);

/** Of a collection: sums over all nodes, the same on all. */
typedef struct quire_gc_statistics {
  size_t size;
  uint64_t marked_objects, marked_bytes; /**< that stay */
  uint64_t freed_bytes;                  /**< that were in use and can be allocated now */
  uint64_t moved_objects;                /**< because nodes shared their units falsely */
  uint64_t messages;                     /**< between nodes, without those of barriers */
  uint64_t rounds;                       /**< how often node 0 asked whether all was marked */
  uint64_t pause_ns;                     /**< that shared memory was held still; the longest of any node */
  uint64_t total_ns;                     /**< of the call, on this node */
} quire_gc_statistics;

/** Collects a heap: what cannot be reached from its roots is free. Cycles are no matter. One thread of each node calls
 * it, with the same heap, and it is a barrier of the job. Until all have returned no thread uses the heap; nor does any
 * hold a reference from before for afterwards that a root does not lead to. Shared memory is held still meanwhile, as
 * by quire_checkpoint(): threads that write some of it wait. Each node marks the objects in units that it keeps; no
 * unit moves for it. Of a transactional heap it may come while other threads run transactions: those that run end
 * first, and others begin when it is over, in the heap as it is then. What an attempt has made that was undone goes.
 *  Sweeping happens by and by, when memory is
 *  allocated. `statistics` may be NULL; else zero-initialise it and set `size`.
 *  Where QUIRE_SHARING=1 (or by quire_gc_note_written()), and nodes have written different objects of the same unit in
 * turn, such objects move to units of their writers, and references in objects and roots follow. Then addresses change:
 * only what is read from a root is right afterwards. All nodes get the same: QUIRE_BAD_ADDRESS: a reference leads to no
 * object; a line on standard error says where it is; nothing has changed. QUIRE_INVALID: the heaps differ, or a
 * parallel block is under way; QUIRE_NOT_FOUND: no such heap; QUIRE_BUSY: units are pinned; QUIRE_NO_MEMORY;
 *  QUIRE_SYSTEM; QUIRE_UNSUPPORTED: in a job that goes on when a node is lost, or with memory of quire_region_adopt();
 * QUIRE_PEER_LOST. */
QUIRE_API quire_status quire_gc_collect(quire_gc_heap heap, quire_gc_statistics* statistics);

/** A hint for the next collection, as QUIRE_SHARING=1 has them without calls: threads of this node wrote these bytes of
 * the heap, in units that other nodes used in between. What nodes say so is added up until that collection. Any thread;
 * no message. QUIRE_BAD_ADDRESS: they do not lie in the heap; QUIRE_NOT_FOUND. */
QUIRE_API quire_status quire_gc_note_written(quire_gc_heap heap, const void* address, size_t bytes);

/** What this node's part of a heap has in use, in bytes, and how large it is. Either pointer may be NULL.
 * QUIRE_NOT_FOUND. */
QUIRE_API quire_status quire_gc_usage(quire_gc_heap heap, uint64_t* used, uint64_t* bytes);

#ifdef __cplusplus
}
#endif
#endif
