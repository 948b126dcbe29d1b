/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers (Kerrighed, sections 2.2 and 2.3): named regions whose content comes from somewhere and goes somewhere, by
 * an I/O linker (quire/linker.h), and which are used through several interfaces at once, coherent on all nodes: as
 * memory (quire_container_map()), and by calls as those of a file. A container of the linker "memory" is a region with
 * a name.
 *
 * A page of a file is in the memory of the job at most once as the last version: who reads what another node has read
 * gets it from there; who writes it has the only copy. Files are read and written by the nodes that have them
 * (quire_container_options::placement), and written when somebody asks (quire_container_sync(),
 * quire_container_close(), quire_end()), after QUIRE_WRITE_BACK seconds, or when memory is short: of content that a
 * linker keeps a node has no more in memory than QUIRE_CACHE_LIMIT says. After quire_restore() containers are open by
 * their names again, and nobody has them open.
 *
 * Thread context, statuses and words as in quire.h; no call may be made on a stack in shared memory, or in a
 * transaction. Not with pool 'fork', and where survivors of a death go on (QUIRE_ON_FAILURE=notify) only with
 * QUIRE_CONTAINER_READ_ONLY: QUIRE_UNSUPPORTED. Numbers of bytes are offsets in the content.
 */
#ifndef QUIRE_CONTAINER_H
#define QUIRE_CONTAINER_H

#include <quire/linker.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One opening of a container. Zero is none. Any thread of the node that has opened it may use it. */
typedef struct quire_container {
  uint64_t id;
} quire_container;

enum quire_container_flag {
  /** makes the container if there is none; and a file that is not there, unless it is to be read only */
  QUIRE_CONTAINER_CREATE = 1,
  QUIRE_CONTAINER_EXCLUSIVE = 2, /**< with CREATE: QUIRE_EXISTS if there is such a container */
  /** nobody writes it by this opening; who makes a container so makes it one that nobody writes */
  QUIRE_CONTAINER_READ_ONLY = 4,
  /** it has no bytes afterwards; or those of quire_container_options::bytes, which are zero */
  QUIRE_CONTAINER_TRUNCATE = 8,
};
/** For quire_container_remove(). */
enum {
  QUIRE_CONTAINER_REMOVE_CONTENT = 1, /**< what the linker keeps goes as well: the file, say */
};

/** How a container is made. Zero-initialise and set `size`. Who opens one that is there may leave all out but `flags`,
 * and what differs means nothing. */
typedef struct quire_container_options {
  size_t size;        /**< sizeof(quire_container_options) */
  const char* linker; /**< NULL: "file" if there is a `what`, else "memory" */
  const char* what;   /**< for the linker: a path, say; at most 1,023 characters */
  unsigned flags;     /**< of quire_container_flag */
  uint64_t bytes; /**< so many at least, unless it is read-only; what the linker does not have is zero. 0: as the linker
                     says */
  /** Addresses for it, up to which it can grow. 0: twice the bytes, and 1 GiB at least (less in a small range); if it
   * is read-only, the bytes. */
  uint64_t capacity;
  size_t unit_bytes; /**< as of regions; 0: 4 KiB, or the linker's grain */
  /** QUIRE_PLACE_BLOCK (0): all nodes do the I/O, in turn, if they reach the same content, else this node;
   * QUIRE_PLACE_NODE: `home` does. No other. */
  quire_placement placement;
  int home;                      /**< for QUIRE_PLACE_NODE */
  quire_consistency consistency; /**< QUIRE_SEQUENTIAL; QUIRE_RELEASE with the linker "memory" only */
  int atomic; /**< not 0: calls to read and write happen as a whole, for other such calls (quire_pin()); else byte
                 by byte */
} quire_container_options;

/** Opens the container `name` (1 to 63 characters, without '/'), and makes it, on all nodes, if there is none and
 * `flags` has CREATE. `options` may be NULL. Waits while another thread makes or removes a container of this name.
 *  QUIRE_NOT_FOUND: no such container, no such linker (quire_last_error() has the node), or the linker does not find
 * `what`; QUIRE_EXISTS; QUIRE_INVALID: a name or options that no container can have, or writing of a container that is
 * read-only; QUIRE_IO: the linker could not open; QUIRE_LIMIT: 4,095 containers, or as quire_region_create();
 * QUIRE_NO_ADDRESSES; QUIRE_NO_MEMORY; QUIRE_UNSUPPORTED: with pool fork, and, where the job goes on when a node is
 * lost, of one that is written or in memory only; QUIRE_LOST: it would have to be made, and node 0 is lost. After an
 * error nothing is left behind, but perhaps a file that was made. */
QUIRE_API QUIRE_NODISCARD quire_status quire_container_open(const char* name, const quire_container_options* options,
                                                            quire_container* container);
/** Ends an opening, and has the linker keep what was written (quire_container_sync()), unless it was for reading. No
 * other thread may be in a call with it. The container stays, with its content in memory, until it is removed or the
 * job ends. QUIRE_IO: something was not kept; it stays in memory, and the opening has ended all the same, as it has
 * with QUIRE_BUSY: this node has pinned some of it (quire_pin()); QUIRE_NOT_FOUND: no such opening on this node. */
QUIRE_API quire_status quire_container_close(quire_container container);
/** Removes a container that nobody has open: its name, its region and memory. Nobody may use its addresses any more.
 * `flags`: 0, or QUIRE_CONTAINER_REMOVE_CONTENT; else what the linker has stays, as it was last kept. QUIRE_NOT_FOUND;
 * QUIRE_BUSY: it is open, or as of quire_region_destroy(); QUIRE_IO: the container has gone, its content has not;
 * QUIRE_UNSUPPORTED: the linker cannot remove content, and nothing has happened. */
QUIRE_API quire_status quire_container_remove(const char* name, unsigned flags);

/** Its region, for hints, pins and the like; it has the capacity, rounded up to whole units. It is not destroyed by
 * quire_region_destroy(): QUIRE_INVALID. QUIRE_NOT_FOUND. */
QUIRE_API quire_status quire_container_region(quire_container container, quire_region* region);
/** The content as memory: first address, the same on all nodes, and how many bytes there are addresses for (either may
 * be NULL). Writes through it do not make the container longer (quire_container_truncate() does); what is written
 * beyond its bytes may be lost, and goes from a file at the next sync. A thread gets SIGBUS if the linker does not give
 * what it accesses. Of a container that is read-only, what is written here is lost, and the next sync says so.
 *  QUIRE_NOT_FOUND. */
QUIRE_API quire_status quire_container_map(quire_container container, void** address, uint64_t* capacity);
/** How many bytes it has now. QUIRE_NOT_FOUND. */
QUIRE_API quire_status quire_container_bytes(quire_container container, uint64_t* bytes);
/** It has `bytes` from now on; what it gains, now or later, is zero. Of what it loses, nobody may use the addresses
 * then; later there is zero. The linker is told at once of content that is shorter, and by the next sync of content
 * that is longer (with a grain at once, too). QUIRE_BEYOND: more than its capacity; QUIRE_INVALID: the opening is for
 * reading; QUIRE_UNSUPPORTED: the linker cannot; QUIRE_BUSY: this node has pinned some of what goes, and nothing has
 * changed; QUIRE_IO: the linker has failed; QUIRE_NOT_FOUND. */
QUIRE_API quire_status quire_container_truncate(quire_container container, uint64_t bytes);

/** Copies up to `bytes` from `at` on into `buffer`, and says how many there were: fewer at the end, and 0 beyond it.
 * `buffer` may lie in shared memory, but not in this container. QUIRE_IO: the linker did not give all; `*done` bytes
 * are there. QUIRE_INVALID; QUIRE_NOT_FOUND. */
QUIRE_API quire_status quire_container_read(quire_container container, uint64_t at, void* buffer, size_t bytes,
                                            size_t* done);
/** Copies `bytes` there, and makes the container longer if it has to; a gap is zero. Other nodes see them at once (with
 * QUIRE_RELEASE: when they synchronise). `done` may be NULL. QUIRE_BEYOND: beyond the capacity, and nothing was
 * written; QUIRE_IO: the linker did not give what stands around,
 *  `*done` bytes are written; QUIRE_INVALID: the opening is for reading, or NULL; QUIRE_UNSUPPORTED: the linker cannot
 * grow; QUIRE_NOT_FOUND. */
QUIRE_API quire_status quire_container_write(quire_container container, uint64_t at, const void* buffer, size_t bytes,
                                             size_t* done);
/** The same at the end, wherever that is: appends of all nodes come one after the other, each as a whole. `*at` (or
 * NULL) is where. Errors as of quire_container_write(); then the container is as long as it was. */
QUIRE_API quire_status quire_container_append(quire_container container, const void* buffer, size_t bytes,
                                              uint64_t* at);
/** When it returns the linker has kept (quire_linker::sync()) what all nodes had written to these bytes when the call
 * began, and the length. `bytes` 0: to the end. Of the linker "memory" there is nothing to do. QUIRE_IO: a linker has
 * not taken something since this node has asked last; that stays in memory, and the next call tries again. QUIRE_BUSY:
 * this node has pinned some of it; QUIRE_NOT_FOUND. */
QUIRE_API quire_status quire_container_sync(quire_container container, uint64_t at, uint64_t bytes);
/** Forgets on all nodes what is in memory of the units of these bytes: the linker is asked again. For when others have
 * written the file; where they have made it longer, the container stays as long as it is. `bytes` 0: to the end. What
 * was changed is kept before, as by quire_container_sync(): errors as of that. QUIRE_UNSUPPORTED of the linker
 * "memory". */
QUIRE_API quire_status quire_container_drop(quire_container container, uint64_t at, uint64_t bytes);

/** Calls `each` for every container there is, with its name, bytes, and flags (QUIRE_CONTAINER_READ_ONLY or 0), until
 * it gives something else than 0. One that comes or goes meanwhile is there or not. `each` may open and use containers.
 */
QUIRE_API quire_status quire_container_list(int (*each)(void* context, const char* name, uint64_t bytes,
                                                        unsigned flags),
                                            void* context);

#ifdef __cplusplus
}
#endif

#endif
