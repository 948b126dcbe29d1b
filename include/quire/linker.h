/* SPDX-License-Identifier: BSD-3-Clause */
/* I/O linkers: where the content of a container comes from and goes to (Kerrighed, section 2.2; quire/container.h). A
 * linker is a few blocking functions; of threads, nodes, pages and protocols it need not know anything.
 *
 * Built in are
 *   "memory"    nothing outside: the content goes with the container
 *   "file"      a file; `what` is its path. Byte i of the container is byte i of the file. Nodes that reach the same
 *               file (the same one of the same machine, or one of a network file system) share its I/O; else the node
 *               that has made the container does all of it
 *   "throttle"  another linker, slower, or with errors, for tests and measurements. `what` is PARAMETERS;LINKER;WHAT,
 *               with parameters in a list of commas: mbps=N (MB/s of each node, fills and flushes together),
 *               latency_us=N (of each call), fill=K, flush=K, sync=K (the K-th call of this kind on a node fails, and
 *               so do the next times=N of that kind, 1 if nothing is said), error=EIO, ENOSPC, or a number. Example:
 *               "mbps=100,flush=3,error=ENOSPC;file;/tmp/data"
 * and quire_linker_register_function() makes one of a function that computes the content.
 *
 * The functions of a linker are called by threads that Quire has started, on nodes that do I/O for the container:
 * open(), close(), truncate() and remove() by one at a time; fill(), flush() and sync() by several, but no range is
 * given to two of them at a time, and none that truncate() takes away is under way beside it. They may take as long as
 * a disk does, and while memory is short others wait for them. They may use Quire, but not the container that they
 * serve. Where a step of the protocol cannot be put off, fill() is waited for within a page fault: then it must not
 * wait for a lock that a thread of the program may hold while it uses shared memory. All give 0, or a number of errno;
 * whatever is no such number, and an exception of C++ that comes out of one, counts as EIO, with a line.
 *
 * A function that has not returned within QUIRE_IO_TIMEOUT seconds (60) is given up, with a line that names the
 * container, the linker, the function and the place. Until it returns no function of that linker is called for that
 * container, on that node: what needs one fails (QUIRE_IO, SIGBUS), and what was written stays in memory. When it has
 * returned the container is of use again. Its thread, and what it was given, are left alone; so containers are closed
 * and removed, and jobs end, whatever hangs. `self` is used as long as it does: it is closed by that thread, should it
 * return after the container has gone.
 */
#ifndef QUIRE_LINKER_H
#define QUIRE_LINKER_H

#include <quire/quire.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a linker can do. */
enum quire_linker_ability {
  QUIRE_LINK_WRITE = 1,    /**< flush(): else its containers are read-only */
  QUIRE_LINK_TRUNCATE = 2, /**< truncate(). With a grain: without it the content does not grow either */
  /** every node reaches the same content: each does the I/O of a part of it. Else one node does all */
  QUIRE_LINK_ANYWHERE = 4,
};

/** A linker. Zero-initialise, and set `size`. */
typedef struct quire_linker {
  size_t size;      /**< sizeof(quire_linker) */
  const char* name; /**< by which containers name it, 1 to 31 characters */
  unsigned can;     /**< of quire_linker_ability */
  /** Bytes: fill() and flush() get whole multiples of it, from multiples of it on; a power of two from 4 KiB to 2 MiB,
   * and no more than a unit of the container. Of a grain that is partly beyond the end of the content the rest is zero.
   * 0: none; then ranges end with the content. */
  size_t grain;
  /** That the functions are made for, 1 to 64; 0: as many as there may be. More threads than that wait for each other.
   */
  unsigned threads;
  void* context; /**< for open(), remove() and identify() */
  /** Opens `what`. `flags`: of quire_container_flag; with CREATE it may make what is not there, with TRUNCATE it
   * forgets what is. `*bytes`: how long the content is; UINT64_MAX: as long as the container says. `*self` goes to the
   * other functions. */
  int (*open)(void* context, const char* what, unsigned flags, uint64_t* bytes, void** self);
  /** As fill(), if that is a matter of microseconds; else EAGAIN. On the thread that serves page faults: it takes no
   * lock and no heap memory, and does not wait. May be NULL. */
  int (*try_fill)(void* self, uint64_t at, void* into, size_t bytes);
  /** Reads `bytes` from `at` on. Beyond the end of the content there are zeroes. ENODATA: the content ends before, and
   * the rest of `into` is zero; that is an error where it was longer when it was opened or flushed last, as somebody
   * else has made it shorter. */
  int (*fill)(void* self, uint64_t at, void* into, size_t bytes);
  /** Writes them. NULL without QUIRE_LINK_WRITE. */
  int (*flush)(void* self, uint64_t at, const void* from, size_t bytes);
  /** What was flushed before outlives the job, a crash, and a loss of power. NULL: there is nothing to do. */
  int (*sync)(void* self);
  /** The content has `bytes` from now on; what it gains is zero. Called on one node. NULL without QUIRE_LINK_TRUNCATE.
   */
  int (*truncate)(void* self, uint64_t bytes);
  /** The last call. NULL: there is nothing to do. */
  void (*close)(void* self);
  /** The content goes, for quire_container_remove() with QUIRE_CONTAINER_REMOVE_CONTENT; it is closed everywhere. NULL:
   * it cannot go. */
  int (*remove)(void* context, const char* what);
  /** A number that is the same on nodes that reach the same content as `what`, and another one on others. NULL:
   * QUIRE_LINK_ANYWHERE says all. Called before open(), but on the node that makes the container, where it is open. */
  int (*identify)(void* context, const char* what, uint64_t* identity);
} quire_linker;

/** Makes a linker known to this node. All nodes that do I/O for a container have it, before the container is opened.
 * The struct and its name are copied. It stays until the end of the job. QUIRE_INVALID: `linker` is NULL, of an unknown
 * size, without a name, open() or fill(), or a field is out of range; QUIRE_EXISTS: the name is taken; QUIRE_LIMIT:
 * more than 64; QUIRE_UNSUPPORTED with pool 'fork'. */
QUIRE_API QUIRE_NODISCARD quire_status quire_linker_register(const quire_linker* linker);

/** The same of a function that computes the content, which is never written: `fill` as quire_linker::fill(), with
 * `context` in the place of `self`, gives the same bytes for the same range on all nodes. What leaves memory is
 * computed again. A container of it says how many bytes it has, and `what` means nothing. `grain` as
 * quire_linker::grain. Errors as above. */
QUIRE_API QUIRE_NODISCARD quire_status quire_linker_register_function(
    const char* name, size_t grain, int (*fill)(void* context, uint64_t at, void* into, size_t bytes), void* context);

#ifdef __cplusplus
}
#endif

#endif
