/* SPDX-License-Identifier: BSD-3-Clause */
/* Quire: one shared memory for threads on many machines. The C API.
 *
 * Every call returns a quire_status; results come back through pointers. Handles are opaque values that may be stored
 * in shared memory and used on every node. Unless a call says otherwise, any thread of any node may call it at any time
 * between quire_start() and quire_end(), but not from a signal handler.
 *
 * Words: node = one process of the job; unit = what moves between nodes and is protected as one (a page, or several);
 * home/manager = the node that keeps a unit's directory entry; region = a range of shared addresses with one
 * consistency.
 */
#ifndef QUIRE_QUIRE_H
#define QUIRE_QUIRE_H

#include <stddef.h>
#include <stdint.h>

#define QUIRE_VERSION_MAJOR 0
#define QUIRE_VERSION_MINOR 1
#define QUIRE_VERSION_PATCH 0
#define QUIRE_VERSION_STRING "0.1.0"

#if defined(__GNUC__)
#define QUIRE_API __attribute__((visibility("default")))
#define QUIRE_NODISCARD __attribute__((warn_unused_result))
#else
#define QUIRE_API
#define QUIRE_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------------------------------ */

/** What a call returns. Grouped by what is lost. */
typedef enum quire_status {
  QUIRE_OK = 0,
  /* Nothing is lost; the caller may try again or otherwise. */
  QUIRE_TIMED_OUT = 1, /**< the time given ran out */
  QUIRE_BUSY = 2,      /**< somebody else holds it (try calls) */
  QUIRE_NOT_FOUND = 3, /**< no object of that name or address */
  QUIRE_EXISTS = 4,    /**< the name is taken */
  QUIRE_CONFLICT = 5,  /**< a transaction was undone: others came first, as often as it was to try */
  /* The request is lost: the caller's mistake. */
  QUIRE_INVALID = 10,     /**< an argument that no call could satisfy (NULL, size 0, overflow, a bad handle) */
  QUIRE_BAD_ADDRESS = 11, /**< the address is not shared, was freed, or is not the start of an allocation */
  QUIRE_NOT_STARTED = 12, /**< quire_start() has not been called, or quire_end() has */
  QUIRE_FORKED = 13,      /**< called in a forked child: shared memory belongs to the parent */
  QUIRE_NOT_OWNER = 14,   /**< unlock of a lock that the caller does not hold */
  QUIRE_BAD_OPTION = 15,  /**< an unknown option, or a value out of range; the message names it */
  QUIRE_UNSUPPORTED = 16, /**< this machine or mode cannot do it; `quire info` says why */
  QUIRE_OVERLAP = 17,     /**< two nodes wrote the same bytes in a parallel block that is checked */
  QUIRE_BEYOND = 18,      /**< it lies beyond the end of the content */
  /* A resource ran out. */
  QUIRE_NO_MEMORY = 20,    /**< the region, or the machine, has no room left */
  QUIRE_NO_ADDRESSES = 21, /**< the shared range is full or taken by something else */
  QUIRE_LIMIT = 22,        /**< more than a limit allows; the message names it */
  QUIRE_DAMAGED = 23, /**< a checkpoint is torn or damaged, and none before it is whole; the message names the file */
  /** the store that keeps the content (a file, say) could not be read or written; the message names it */
  QUIRE_IO = 24,
  /* A peer or the job is lost. */
  QUIRE_PEER_LOST = 30, /**< a node died or cannot be reached */
  QUIRE_SYSTEM = 31,    /**< the operating system refused something Quire cannot do without; the message names it */
  /* Only where the survivors of a death go on (QUIRE_ON_FAILURE=notify). */
  /** a node that is dead alone had it, or kept it for all: the only copy of a unit, an object, a thread */
  QUIRE_LOST = 32,
  /** the caller has the lock; the node that had it last is dead, and what it guards may be half done */
  QUIRE_OWNER_DIED = 33,
} quire_status;

/** A short sentence for a status. Never NULL. May be called at any time, from any context. */
QUIRE_API const char* quire_status_text(quire_status status);

/** What was wrong with the calling thread's last call of Quire, in a sentence: which argument, and why
 * ("quire_mutex_lock(): the handle of the mutex is zero: ..."). Empty if it succeeded, or if there is nothing to add to
 * the text of its status. Never NULL; the text is the thread's own, and stays until its next call. Not from a signal
 * handler. */
QUIRE_API const char* quire_last_error(void);

/** Version of the library that is running, as "major.minor.patch". */
QUIRE_API const char* quire_version(void);

/* ---- Start and end ----------------------------------------------------------------------------------------------- */

/** Options that a program may set itself. Zero-initialise, set `size`, set what you need; NULL means all defaults.
 *  The environment (QUIRE_*, see `quire info --options`) wins over what stands here. */
typedef struct quire_options {
  size_t size;          /**< sizeof(quire_options), for versions to come */
  uint64_t range_bytes; /**< shared address range to reserve; 0: 1 TiB. Costs nothing until touched */
  uint64_t base;        /**< first shared address, the same on all nodes; 0: the default */
  int detector;         /**< quire_detector; 0: the best that this machine allows */
} quire_options;

/** Joins the job (started by `quire run`, or a job of one node without it). Once per process, by one thread, before any
 *  other call but those that say so. QUIRE_OK, QUIRE_EXISTS when called twice, QUIRE_BAD_OPTION, QUIRE_NO_ADDRESSES,
 * QUIRE_SYSTEM, QUIRE_PEER_LOST. */
QUIRE_API QUIRE_NODISCARD quire_status quire_start(const quire_options* options);

/** Leaves the job: waits until every node has called it, then gives back everything. Shared addresses are no longer
 *  valid. A process that exits without it, or with a status other than 0, ends the job for all. QUIRE_INVALID on all
 * nodes if another node waits in a barrier or another collective of the job, which cannot come any more: a message
 * names the two, and the node has not left. */
QUIRE_API quire_status quire_end(void);

/** Number of this node, 0 ..; 0 before the start. */
QUIRE_API int quire_node(void);
/** Number of nodes in the job; 1 before the start. */
QUIRE_API int quire_nodes(void);
/** Number of the calling thread on its node: 0 for the one that started, then in order of first use. */
QUIRE_API int quire_thread(void);

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

/** What threads of different nodes see of each other's writes. */
typedef enum quire_consistency {
  QUIRE_SEQUENTIAL = 0, /**< every read returns the last write, anywhere */
  /** A read returns the last write that synchronisation has put before it: locks, barriers and all other calls below
   * order memory as in C++. A program without data races whose nodes synchronise by these calls alone, not by the
   * processor's atomic instructions, sees no difference. Several nodes may write one unit at a time. Atomic operations
   * on words of the region release and acquire; those on words of other regions order nothing here. */
  QUIRE_RELEASE = 1,
  /** Threads write by transactions only (quire_atomically(), <quire/transaction.h>), of which each happens as a whole,
   * before or after any other. Reads outside of transactions see what was committed last; on a node on which one runs,
   * perhaps what it has written so far. */
  QUIRE_TRANSACTIONAL = 2,
} quire_consistency;
typedef enum quire_placement {
  QUIRE_PLACE_BLOCK = 0,       /**< consecutive units on one node */
  QUIRE_PLACE_MODULO = 1,      /**< unit u on node u mod N */
  QUIRE_PLACE_NODE = 2,        /**< all units on one node */
  QUIRE_PLACE_FIRST_TOUCH = 3, /**< QUIRE_RELEASE: on the node that touches a unit first; else as QUIRE_PLACE_BLOCK */
} quire_placement;
/** What the pages of a region are made of: six ways to give one physical page two access paths. Programs
 *  see no difference but speed (`quire bench page-update`). */
typedef enum quire_pool {
  QUIRE_POOL_DEFAULT = 0, /**< QUIRE_POOL of the environment, or memfd */
  QUIRE_POOL_MEMFD = 1,   /**< an anonymous shared memory object */
  QUIRE_POOL_FILE = 2,    /**< a regular file without a name, in QUIRE_POOL_DIR */
  QUIRE_POOL_POSIX = 3,   /**< a POSIX shared memory object */
  QUIRE_POOL_SYSV = 4,    /**< System V segments; only with QUIRE_DETECT_SEGV */
  QUIRE_POOL_MDUP = 5,    /**< anonymous shared memory, its page-table range duplicated */
  QUIRE_POOL_FORK = 6,    /**< the engine in a process of its own; only where QUIRE_POOL says so for the whole job */
} quire_pool;
typedef enum quire_detector {
  QUIRE_DETECT_DEFAULT = 0,
  QUIRE_DETECT_USERFAULT = 1,        /**< userfaultfd; the faulting thread handles its fault */
  QUIRE_DETECT_USERFAULT_THREAD = 2, /**< userfaultfd; the service thread handles faults; every system call works */
  QUIRE_DETECT_SEGV = 3,             /**< SIGSEGV and mprotect */
  /** Only of regions with QUIRE_RELEASE: the kernel remembers which pages were written (write-protection without
   * faults, PAGEMAP_SCAN), and tells at the release. Writes do not fault; every copy that is not at its home keeps a
   * twin, and homes move with their content from nodes that have used the unit. Pays where many pages are written
   * between two releases. Linux 6.7, not with pool `fork`. */
  QUIRE_DETECT_SCAN = 4,
} quire_detector;

/** Which minipages of a page a node brings together. */
typedef enum quire_grouping {
  QUIRE_GROUP_NONE = 0, /**< each by itself */
  QUIRE_GROUP_PAGE = 1, /**< with all others of its page */
  /** With those that threads of the node use together, as experience says: groups are coarse at first, and become as
     fine as the sharing is. */
  QUIRE_GROUP_ADAPTIVE = 2,
} quire_grouping;

/** How a region behaves. Zero-initialise and set `size`; QUIRE_INVALID for any other size than that of the struct, now
 * or in an earlier version of Quire. */
typedef struct quire_region_options {
  size_t size;                   /**< sizeof(quire_region_options) */
  quire_consistency consistency; /**< protocol */
  size_t unit_bytes;             /**< sharing unit: a power of two, 4 KiB to 2 MiB; 0: 4 KiB */
  quire_placement placement;     /**< homes and managers */
  int home;                      /**< the node, for QUIRE_PLACE_NODE */
  quire_pool pool;
  quire_detector detector;
  int heap; /**< not 0: memory is allocated from the region, by quire_region_malloc(), and by nothing else */
  /** Not 0: the region, while it has sequential consistency, synchronises threads. Who reads from it what a thread of
   * another node wrote there, by plain loads and stores or by atomic instructions and calls, sees what that thread had
   * written before into regions with QUIRE_RELEASE. Without it only locks, barriers and other calls of Quire do that. A
   * unit that leaves a node takes what was written there along: many small units that go to and fro cost more. No
   * effect while no region has QUIRE_RELEASE. */
  int orders;
  /** Not 0: the region is cut into minipages of so many bytes, each of which moves by itself though several lie on a
   * page (Millipage's static layout): a multiple of 16, from 16 to 2048. A page has 4096 / minipage_bytes of them, and
   * what is left at its end belongs to the last. Each has two addresses: in the natural view, which is the range of the
   * region, and in a fine view, where nothing else moves with it: see quire_view(). unit_bytes is 0, and heap is 0. Not
   * with QUIRE_DETECT_SCAN, QUIRE_POOL_FORK, nor in regions that are adopted. */
  size_t minipage_bytes;
  /** Of a heap, not 0: every allocation of at most 2,048 bytes is a minipage (Millipage's dynamic layout), shown by one
   * of so many fine views: 1 to 256, and a page has at most so many allocations. quire_region_malloc() gives fine
   * addresses. unit_bytes is 0; not with what minipage_bytes does not go with. */
  int views;
  /** Of a heap with views: so many consecutive allocations of one size are a minipage together
   * (quire_region_set_chunk()). 0 is 1. */
  int chunk;
  /** Of a region with minipages: a fault on one may bring others of its page along, at most 32. They stay units of
   * their own: what two nodes use at a time goes its own way again. */
  quire_grouping grouping;
} quire_region_options;

/** A region. Zero is the region that quire_malloc() uses. A handle is that of one region for ever: when the region is
 * destroyed, calls with it give QUIRE_NOT_FOUND, though another region may have its number and its addresses then. */
typedef struct quire_region {
  uint64_t id;
} quire_region;

/** Makes a region of at least `bytes` (rounded up to whole units) on all nodes. The content is zero. `options` may be
 *  NULL. On return every node can use its addresses. QUIRE_INVALID, QUIRE_NO_ADDRESSES, QUIRE_UNSUPPORTED; QUIRE_LIMIT:
 * a job has at most 4,095 regions at a time; they stay until they are destroyed, or the job ends. */
QUIRE_API QUIRE_NODISCARD quire_status quire_region_create(const quire_region_options* options, uint64_t bytes,
                                                           quire_region* region);
/** Destroys a region: its content, its addresses and the memory that it takes go on all nodes. One thread of any node
 * calls it, as it does quire_region_create(); it waits for messages of all nodes, but for no thread. Nobody may use the
 * region any more when it is called: synchronise before. Names that were published for addresses in it go as well; what
 * was allocated from it is gone without a free. Later regions may have its addresses. An access to an address of a
 * region that was destroyed, while no other has it, ends the node with a line that says so. QUIRE_INVALID for the
 * region of quire_malloc(); QUIRE_NOT_FOUND if it was destroyed already; QUIRE_BUSY, and nothing has changed, while
 * some of it is pinned, in a parallel block, while its consistency changes, or while a checkpoint is written. In a job
 * that goes on without nodes: QUIRE_LOST if node 0 is dead; if it dies during the call, the region may be gone or not.
 * Not in signal handlers. */
QUIRE_API quire_status quire_region_destroy(quire_region region);
/** First address and size of a region. Either pointer may be NULL. QUIRE_NOT_FOUND; QUIRE_INVALID for one with
 * quire_region_options::heap. */
QUIRE_API quire_status quire_region_range(quire_region region, void** address, uint64_t* bytes);
/** Changes what threads of different nodes see of each other's writes to a region (KOAN: a region's consistency may
 * change while the program runs). One thread of each node calls it, with the same arguments, and it is a barrier of the
 * job. No content is lost, and other threads of any node may use the region meanwhile: those that need more of it than
 * they have just then wait until it has changed. To the consistency that the region has it is a barrier and no more. A
 * region that was made with QUIRE_TRANSACTIONAL may become sequential, and transactional again; transactions of any
 * thread begin when the change is over, and it waits for those that run. No other region becomes transactional, and
 * between that and QUIRE_RELEASE it is sequential: QUIRE_INVALID. QUIRE_INVALID on all nodes for calls that differ, for
 * the region of quire_malloc(), and for what is no region or no consistency; QUIRE_NOT_FOUND for a region that was
 * destroyed; QUIRE_BUSY on all nodes if some of it is pinned, or it is about to be destroyed; QUIRE_NO_MEMORY;
 * QUIRE_PEER_LOST. After an error the region is what it was. */
QUIRE_API quire_status quire_region_set_consistency(quire_region region, quire_consistency consistency);
/* Parallel blocks (KOAN, multiple-writers consistency). Nodes that work on different data of a region (Bernstein's
 * conditions: none reads or writes what another one writes) need not exchange it in between, although it lies on the
 * same pages. Between begin and end every node reads and writes copies of its own; at the end what they wrote is
 * merged, exact to the byte, and the region has the consistency that it had before. */

enum quire_block_flag {
  /** Finds out whether nodes wrote the same bytes. Then a node sees nothing of what others write before the end, even
   * if they synchronise; the first write of a unit faults on its home too, which keeps what was there before. */
  QUIRE_BLOCK_CHECK = 1,
};
/** Two nodes wrote one byte. */
typedef struct quire_overlap {
  void* address;      /**< of the byte; NULL if there is none */
  int node_a, node_b; /**< node_a < node_b */
} quire_overlap;

/** Begins a parallel block on a region that is not in one. One thread of each node calls it, with
 *  the same arguments; a barrier of the job. Other threads may use the region all the while. `flags`: 0 or
 * QUIRE_BLOCK_CHECK. What other nodes write in the block may be seen before its end, or not, unless it is checked. Page
 * locking, push and production phases are not available in it. Errors as of quire_region_set_consistency(), which
 * itself gives QUIRE_INVALID in a block. */
QUIRE_API QUIRE_NODISCARD quire_status quire_block_begin(quire_region region, unsigned flags);
/** In a parallel block: of the units under this range, this node writes nothing in the block but this range and others
 * that it declares, and no other node writes any of that (KOAN: each process modifies a distinct range). Then there is
 * no need to find out what it has written: no copy of the unit is made at the first write, and all of the range is sent
 * in each unit that was written. What the node writes of these units beside is lost, or not. To be called before it
 * writes them; later it has no effect, nor where the region has QUIRE_DETECT_SCAN. For this node alone, by any of its
 * threads. QUIRE_INVALID outside of a block, QUIRE_BAD_ADDRESS. */
QUIRE_API quire_status quire_block_declare(const void* address, size_t bytes);
/** Ends it; called by one thread of each node, and a barrier. In a block that is checked, QUIRE_OVERLAP on all nodes if
 * nodes changed the same byte, though to the same value; a byte written with the value that it had before the block is
 * not changed. Of such a byte one of the values is kept: its home's if that wrote it, else the one that came last.
 * `overlap` (which may be NULL) is the lowest address, in the view of its minipage, with two of the nodes; the log has
 * more, at level warning, on the homes. Atomic operations count as writes of the home. QUIRE_INVALID on all nodes
 * outside of a block, or if calls differ; then the block goes on. */
QUIRE_API quire_status quire_block_end(quire_region region, quire_overlap* overlap);
/** The region that an address belongs to. QUIRE_BAD_ADDRESS if none. Also in signal handlers. */
QUIRE_API quire_status quire_region_of(const void* address, quire_region* region);

/* MultiView (Itzkovitz and Schuster, MultiView and Millipage: fine-grain sharing in page-based DSMs, OSDI 1999). A
 * region with minipages shows its pages several times. In the natural view it is contiguous: there an access brings all
 * minipages of the page, as a page would be brought. In the fine view of a minipage, an access brings that one. Both
 * see the same memory, and may be mixed. Access to a fine address outside of the minipage that the view shows there is
 * a mistake: it ends the program with a line that says so, unless another minipage of the same page and view is in use;
 * then it reads or writes memory that no node keeps in order. */
typedef enum quire_view_kind {
  QUIRE_NATURAL = 0, /**< contiguous; pages move as one */
  QUIRE_FINE = 1     /**< the minipage moves by itself */
} quire_view_kind;
/** The address of the same byte in the other view, or in this one. Addresses of memory without minipages are what they
 * are. Also in signal handlers. QUIRE_BAD_ADDRESS if `address` lies in no region, or shows no minipage; QUIRE_INVALID.
 */
QUIRE_API quire_status quire_view(const void* address, quire_view_kind kind, void** same);
/** The unit that an address belongs to: where it begins, seen alone, and its bytes. Either pointer may be NULL. Also in
 * signal handlers. QUIRE_BAD_ADDRESS as of quire_view(). */
QUIRE_API quire_status quire_minipage_of(const void* address, void** first, size_t* bytes);

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/** Shared memory, valid on every node at the same address, aligned to 16 bytes, content undefined. Allocations of a
 * page or more start on a page. QUIRE_INVALID for size 0 or more than the range, QUIRE_NO_MEMORY. */
QUIRE_API QUIRE_NODISCARD quire_status quire_malloc(size_t bytes, void** address);
/** The same, for `count` elements of `bytes` each, content zero. */
QUIRE_API QUIRE_NODISCARD quire_status quire_calloc(size_t count, size_t bytes, void** address);
/** The same with an alignment: a power of two, up to 2 MiB. */
QUIRE_API QUIRE_NODISCARD quire_status quire_aligned_alloc(size_t alignment, size_t bytes, void** address);
/** The same from a region that was made with quire_region_options::heap; alignment 0 is 16. Of region zero it is
 * quire_aligned_alloc(). A heap is cut into parts of consecutive addresses, for as many nodes as there are, or fewer
 * where a part would have less than 1 MiB or 16 units: a node allocates from its part without a message, asks others
 * when that is full, or it has none, and no allocation is larger than a part. QUIRE_NOT_FOUND if the region was
 * destroyed; QUIRE_INVALID for a region that is no heap, for size 0 and for more than the region has; QUIRE_NO_MEMORY.
 */
QUIRE_API QUIRE_NODISCARD quire_status quire_region_malloc(quire_region region, size_t alignment, size_t bytes,
                                                           void** address);
/** Of a heap with quire_region_options::views: so many consecutive objects of one size, 1 to 128, share a sharing unit
 * (Millipage's chunks) of what this node allocates from now on; where they have more than 2048 bytes together, the unit
 * is the page. What is allocated already stays what it is. More objects a unit means fewer faults for who uses
 * neighbours, and that nodes that write neighbours wait for each other. QUIRE_INVALID; QUIRE_NOT_FOUND. */
QUIRE_API quire_status quire_region_set_chunk(quire_region region, unsigned objects);
/** Grows or shrinks `*address`, which may move, within its region. A NULL `*address` allocates; on failure `*address`
 * stays valid. */
QUIRE_API QUIRE_NODISCARD quire_status quire_realloc(size_t bytes, void** address);
/** Gives back an allocation, from any node. NULL is allowed. QUIRE_BAD_ADDRESS for what is not the start of a live
 *  allocation (a second free included).
 *  Memory that another node owns, because its thread allocated it, is given back later: the calls of a node are
 * gathered, and travel together when there are QUIRE_FREE_BATCH (62) for one node, at barriers and other calls of all
 * nodes, when some node has no memory left, and else after a second at most. Of a mistake with such memory the call
 * itself tells only what is known here (no address of the heap, a second free while the first one waits). The rest its
 * owner finds out: then the calling node says so on standard error, with the address, and counts it
 * (quire_counters.bad_frees); by the end of quire_end() at the latest. QUIRE_FREE_BATCH=1 has every call wait for its
 *  answer. QUIRE_LOST if the owner is dead. */
QUIRE_API quire_status quire_free(void* address);
/** Usable bytes of an allocation. */
QUIRE_API quire_status quire_allocation_size(const void* address, size_t* bytes);

/** Publishes `address` (or any 64-bit value) under a name of at most 63 characters. QUIRE_EXISTS if the name is taken.
 */
QUIRE_API quire_status quire_publish(const char* name, const void* address);
/** What was published under `name`; waits up to `timeout_ms` for it (0: not at all, negative: for ever). */
QUIRE_API QUIRE_NODISCARD quire_status quire_lookup(const char* name, int64_t timeout_ms, void** address);

/** Starts to bring the `bytes` from `address` on to this node, for reading or, if `for_writing` is not 0, for writing,
 * and does not wait. A hint: threads that come later find it here, or on its way. Of memory that is limited a sixteenth
 * comes at most. With QUIRE_RELEASE, what is hinted at for writing counts as written. Any thread. QUIRE_BAD_ADDRESS:
 * not all of it lies in one region. */
QUIRE_API quire_status quire_prefetch(const void* address, size_t bytes, int for_writing);
typedef enum quire_advice {
  QUIRE_NORMAL = 0,     /**< as faults show */
  QUIRE_WILL_WRITE = 1, /**< what is read here will be written here soon: a read brings a writable copy */
} quire_advice;
/** What the threads of this node are going to do with a range, until they say otherwise. With QUIRE_WILL_WRITE a read
 * followed by a write takes one fault and its messages instead of two (KOAN: double faults); a copy that is only read
 * takes the unit from its other readers for nothing. Units that show the pattern are treated so without advice, until
 * that no longer pays (QUIRE_LEARN_WRITES=0: not). A hint. QUIRE_INVALID, QUIRE_BAD_ADDRESS. */
QUIRE_API quire_status quire_advise(const void* address, size_t bytes, quire_advice advice);
/** Sends readable copies of a range to all nodes (Millipage, section 4.3), and waits until they have them. QUIRE_BUSY
 * if this node has some of it pinned, QUIRE_UNSUPPORTED in a parallel block. With QUIRE_RELEASE the call releases; a
 * node that has a copy keeps it, until it acquires what it was made old by. */
QUIRE_API quire_status quire_push(const void* address, size_t bytes);

/** Page broadcasting (KOAN): between begin and end of a production phase the node `producer` writes a range that all
 * others read afterwards. At the end every node gets copies of what was written, by a tree of messages and in large
 * ones, so that its reads do not fault. One thread of each node calls both, with the same arguments, and the end is a
 * barrier of the job. Only the producer may write the range in between, by any of its threads. QUIRE_INVALID,
 * QUIRE_BAD_ADDRESS; QUIRE_BUSY if the producer has some of it pinned, QUIRE_UNSUPPORTED in a parallel block. */
QUIRE_API quire_status quire_produce_begin(const void* address, size_t bytes, int producer);
QUIRE_API quire_status quire_produce_end(const void* address, size_t bytes, int producer);

/* ---- Page locking (KOAN) -------------------------------------------------------------------------------------------
 * Mutual exclusion between nodes by the memory itself: a critical section on one structure costs its pages' way and no
 * message more. The pin is the node's: all its threads use the range freely meanwhile, so threads of one node need
 * another lock among themselves. What is next to the structure, on the same units, is kept from the other nodes as
 * well. A thread that touches what others have pinned, while it has pins itself, can wait for ever, as with any locks
 * taken in no order. */

/** Brings all units under a range here for writing and pins them: other nodes that read, write, push or change them
 *  by atomic operations wait until they are unpinned. Pins are counted, so that ranges may overlap, and a range may be
 *  pinned again. Units are taken in ascending order of address: nodes that call for overlapping ranges do not wait
 * for each other in circles. `timeout_ms` as for locks: negative waits for ever, 0 takes what is here and else gives
 * QUIRE_BUSY (what is missing comes nevertheless), otherwise QUIRE_TIMED_OUT after that time. Then nothing is pinned by
 * this call, and `*holder` (which may be NULL) is the node that has the first unit missed pinned, or -1 if none has any
 * more; QUIRE_LOG=info says so too. QUIRE_LIMIT: a node may have QUIRE_PIN_LIMIT units (4096) pinned at a time.
 * QUIRE_UNSUPPORTED in a parallel block, QUIRE_BAD_ADDRESS. In a region with QUIRE_RELEASE the pin is a lock that the
 * unit's home keeps, and brings the content: quire_pin() acquires and quire_unpin() releases as a mutex does, all
 * memory. What other nodes have to ask the home for waits (pins, copies that they lack, atomic operations); with copies
 * that they have, and on the home itself, threads go on. */
QUIRE_API QUIRE_NODISCARD quire_status quire_pin(const void* address, size_t bytes, int64_t timeout_ms, int* holder);
/** Ends a pin of each unit under a range. Any thread of the node may do so. QUIRE_NOT_OWNER if a unit of it is not
 * pinned here: then nothing changes. What is still pinned at quire_end() is released, with a warning. */
QUIRE_API quire_status quire_unpin(const void* address, size_t bytes);
/** Names that quire_pin() and quire_unpin() had; they go with the next version. */
QUIRE_API QUIRE_NODISCARD quire_status quire_acquire(const void* address, size_t bytes, int64_t timeout_ms,
                                                     int* holder);
QUIRE_API quire_status quire_release(const void* address, size_t bytes);

/* ---- Atomic operations, done where the data is --------------------------------------------------------------------
 * On naturally aligned 64-bit words in shared memory; sequentially consistent with plain loads and stores. A word that
 * this node may write is changed in place; otherwise the operation travels to the owner, the page stays there.
 * QUIRE_BAD_ADDRESS, QUIRE_INVALID if not aligned. */
QUIRE_API quire_status quire_fetch_add(uint64_t* word, uint64_t value, uint64_t* before);
QUIRE_API quire_status quire_exchange(uint64_t* word, uint64_t value, uint64_t* before);
/** Sets `*word` to `desired` if it equals `*expected`; `*expected` then holds what was there. `*done` tells. */
QUIRE_API quire_status quire_compare_exchange(uint64_t* word, uint64_t* expected, uint64_t desired, int* done);

/* ---- Synchronisation ---------------------------------------------------------------------------------------------
 * Objects are made by any node and may be used by all; copy the handle, for example into shared memory. `timeout_ms`:
 * negative waits for ever, 0 does not wait (QUIRE_BUSY), otherwise QUIRE_TIMED_OUT after that time. A lock belongs to
 * the thread that took it; a thread that locks what it holds gets QUIRE_INVALID (QUIRE_BUSY from a try). Waiting calls
 * return QUIRE_PEER_LOST when the job ends under them. */
typedef struct quire_mutex {
  uint64_t id;
} quire_mutex;
typedef struct quire_rwlock {
  uint64_t id;
} quire_rwlock;
typedef struct quire_condition {
  uint64_t id;
} quire_condition;
typedef struct quire_barrier {
  uint64_t id;
} quire_barrier;
typedef struct quire_event {
  uint64_t id;
} quire_event;
typedef struct quire_semaphore {
  uint64_t id;
} quire_semaphore;

QUIRE_API quire_status quire_mutex_create(quire_mutex* mutex);
QUIRE_API quire_status quire_mutex_lock(quire_mutex mutex);
QUIRE_API quire_status quire_mutex_try_lock(quire_mutex mutex);
QUIRE_API quire_status quire_mutex_timed_lock(quire_mutex mutex, int64_t timeout_ms);
QUIRE_API quire_status quire_mutex_unlock(quire_mutex mutex);
QUIRE_API quire_status quire_mutex_destroy(quire_mutex mutex);

QUIRE_API quire_status quire_rwlock_create(quire_rwlock* lock);
QUIRE_API quire_status quire_rwlock_read_lock(quire_rwlock lock, int64_t timeout_ms);
QUIRE_API quire_status quire_rwlock_write_lock(quire_rwlock lock, int64_t timeout_ms);
QUIRE_API quire_status quire_rwlock_unlock(quire_rwlock lock);
QUIRE_API quire_status quire_rwlock_destroy(quire_rwlock lock);

/** A condition variable; the mutex is released while waiting and held again on return, also after a time-out. A time of
 * 0 gives QUIRE_BUSY at once and keeps the mutex. A notify does not wait for the node that made the condition: only
 * there QUIRE_NOT_FOUND tells that it has been destroyed. */
QUIRE_API quire_status quire_condition_create(quire_condition* condition);
QUIRE_API quire_status quire_condition_wait(quire_condition condition, quire_mutex mutex, int64_t timeout_ms);
QUIRE_API quire_status quire_condition_notify_one(quire_condition condition);
QUIRE_API quire_status quire_condition_notify_all(quire_condition condition);
QUIRE_API quire_status quire_condition_destroy(quire_condition condition);

/** The barrier of the whole job: one thread of each node calls it. A zero handle names it: `quire_barrier all = {0}`.
 * It and all other calls in which a thread of each node takes part (reduce, broadcast, changes of consistency, blocks,
 * checkpoints, quire_end()) are for one thread of a node at a time: another one that comes while that is in such a call
 * gets QUIRE_INVALID at once, and a line on standard error says which two met. All nodes make the same of these calls
 * in the same order: else all get QUIRE_INVALID, and a message names two nodes and where they are. For several threads
 * of a node make a barrier with quire_barrier_create(). */
QUIRE_API quire_status quire_barrier_wait(quire_barrier barrier);
/** A barrier for `participants` threads of whichever nodes. */
QUIRE_API quire_status quire_barrier_create(uint32_t participants, quire_barrier* barrier);
QUIRE_API quire_status quire_barrier_destroy(quire_barrier barrier);

/** An event stays set, and lets every waiter pass, until it is reset (KOAN). */
QUIRE_API quire_status quire_event_create(quire_event* event);
QUIRE_API quire_status quire_event_set(quire_event event);
QUIRE_API quire_status quire_event_reset(quire_event event);
QUIRE_API quire_status quire_event_wait(quire_event event, int64_t timeout_ms);
QUIRE_API quire_status quire_event_destroy(quire_event event);

/** A counting semaphore. */
QUIRE_API quire_status quire_semaphore_create(uint64_t initial, quire_semaphore* semaphore);
QUIRE_API quire_status quire_semaphore_acquire(quire_semaphore semaphore, int64_t timeout_ms);
QUIRE_API quire_status quire_semaphore_release(quire_semaphore semaphore, uint64_t count);
QUIRE_API quire_status quire_semaphore_destroy(quire_semaphore semaphore);

/* ---- Values by messages: one thread of each node calls, in the same order ------------------------------------------
 */

typedef enum quire_operation { QUIRE_SUM = 0, QUIRE_MIN = 1, QUIRE_MAX = 2, QUIRE_PRODUCT = 3 } quire_operation;
/** Combines the values of all nodes; every node gets the result. At most 8 values a call. */
QUIRE_API quire_status quire_reduce_f64(double* values, uint32_t count, quire_operation operation);
QUIRE_API quire_status quire_reduce_i64(int64_t* values, uint32_t count, quire_operation operation);
/** Gives the `bytes` (at most 192) of node `root` to all. */
QUIRE_API quire_status quire_broadcast(void* value, uint32_t bytes, int root);

/* ---- Groups of threads ----------------------------------------------------------------------------------------------
 * A team that meets again and again: some threads of each node. Threads of a node meet first, and then the nodes, along
 * a tree; so a round costs one message up and one down for each node beyond the first, however many threads there are.
 * All threads of a group make the same calls in the same order. Where two of them differ all get QUIRE_INVALID from
 * that round, the others from their next call, and a message names the two. The calls release and acquire like a
 * barrier. No call takes a time limit; QUIRE_PEER_LOST when the job ends. A zero handle is the group of the job: one
 * thread of each node, whichever calls, and one of a node at a time, as said of quire_barrier_wait(). Members have
 * numbers, from 0 on: those of node 0 in the order of their places there, then those of node 1. Any thread of a node
 * may call what is not for members. Groups are not part of checkpoints. */

typedef struct quire_group {
  uint64_t id;
} quire_group;

/** Makes a group with `threads` threads of this node. One thread of each node calls it, each with a number of its own,
 * which may be 0; it is a barrier of the job. All nodes get the same handle. QUIRE_INVALID on all nodes if no node has
 * a thread in it, or `group` is NULL on one; QUIRE_LIMIT: at most 65,535 threads in all. */
QUIRE_API QUIRE_NODISCARD quire_status quire_group_create(uint32_t threads, quire_group* group);
/** Ends a group. One thread of each node calls it; it is a barrier of the job. Threads that wait in the group get
 * QUIRE_NOT_FOUND, as do later calls. QUIRE_INVALID on all nodes if they give different groups, and for the job's. */
QUIRE_API quire_status quire_group_destroy(quire_group group);
/** The calling thread becomes a member, at a place of its node: 0 to one less than the node's threads in the group.
 * Whoever calls next waits until all places of all nodes are taken, and all members call. QUIRE_INVALID if there is no
 * such place, or the thread has one; QUIRE_EXISTS if another thread has it; QUIRE_NOT_FOUND. A thread may be in many
 * groups. */
QUIRE_API QUIRE_NODISCARD quire_status quire_group_join(quire_group group, uint32_t place);
/** The calling thread is no member any more; another one may take its place. Before the thread ends. QUIRE_INVALID if
 * it was none. */
QUIRE_API quire_status quire_group_leave(quire_group group);
/** How many members a group has in all, and the number of this node's first one: a member's own number is that and its
 *  place. Either pointer may be NULL. */
QUIRE_API quire_status quire_group_size(quire_group group, uint32_t* members, uint32_t* first);

/** A barrier of all members. QUIRE_INVALID if the calling thread is none. Counts as a barrier of each thread
 * (quire_counters). */
QUIRE_API quire_status quire_group_wait(quire_group group);
/** Combines the arrays of all members, element by element; every member gets the result. Of any size: 64 bytes travel
 * with the round itself, more in pieces. The order is fixed (a node's members by their places, then other nodes', by a
 * tree), so that the same group gets the same bits in every run. Arrays may lie in private or in shared memory; those
 * of two members may not overlap. After an error their content is undefined. QUIRE_LOST: a node of the group has died
 * while an array of more than 64 bytes travelled, and this thread has not got all of it (others may have). */
QUIRE_API quire_status quire_group_reduce_f64(quire_group group, double* values, size_t count,
                                              quire_operation operation);
QUIRE_API quire_status quire_group_reduce_i64(quire_group group, int64_t* values, size_t count,
                                              quire_operation operation);
/** Gives the `bytes` of member `root` to all. As quire_group_reduce_f64(); QUIRE_LOST also if the root's node is dead.
 */
QUIRE_API quire_status quire_group_broadcast(quire_group group, void* values, size_t bytes, uint32_t root);

/* ---- Threads on other nodes (the programming model of Millipage) ----------------------------------------------------
 */

typedef struct quire_remote_thread {
  uint64_t id;
} quire_remote_thread;
/** Runs function(argument) in a new thread of `node`. `function` is a function of the program or of a shared library
 * that all nodes have loaded; it is found there even when loaded at another address. */
QUIRE_API QUIRE_NODISCARD quire_status quire_spawn(int node, void* (*function)(void*), void* argument,
                                                   quire_remote_thread* thread);
/** Waits for the end of a thread started by quire_spawn() and gives its result. Once per thread, from any node. */
QUIRE_API quire_status quire_join(quire_remote_thread thread, void** result);

/* ---- Checkpoint and restart
 * ------------------------------------------------------------------------------------------ The shared memory of a job
 * outlasts it: what regions and the heap contain, what is allocated, names and synchronisation objects. Threads do not:
 * a program that is started again asks for a checkpoint first, finds its data at the same addresses (by names, for
 * example), and goes on from the step that it has stored among them:
 *
 *     quire_start(NULL);
 *     if (quire_restore("state") == QUIRE_NOT_FOUND) { ... make and publish everything ... }
 *     ... for each step: compute; then, now and then, quire_checkpoint("state") ...
 */

/** Writes a checkpoint to the directory `path`, which is made if it does not exist (its parent must). One thread of
 * each node calls it, with the same path, and it is a barrier of the job: what threads have written before it is in the
 * checkpoint. Other threads may run; those that write shared memory, or need more of it than they have, wait until
 * their node's part is written (under QUIRE_DETECT_SCAN they do not, and what they write may be in it or not). So the
 * program should be at a place from which it can go on. Each node writes what it keeps to a file of its own, at the
 * same time; only pages that are not zero take room. On several hosts the directory must be on a file system that all
 * see. A checkpoint counts when all of it is on the disk. The newest QUIRE_CHECKPOINT_KEEP (2) stay, so a job may be
 * killed at any moment, and there is one to go on from. A directory belongs to one job at a time. Of containers that a
 * linker keeps, those that are written are in it as a copy of the file, or page by page; read-only ones by name, size
 * and time. Locks are free and barriers empty in it, as no thread outlasts a restart; events and semaphores keep their
 * values. All nodes get the same: QUIRE_SYSTEM (disk full, not allowed: the message names the file; the checkpoints
 * before are as they were, and the job may go on), QUIRE_INVALID (no path, not the same, or within a parallel block),
 * QUIRE_BUSY (units are pinned by quire_pin(), or another job writes to the directory), QUIRE_PEER_LOST. The path,
 * made absolute, has at most 383 characters. */
QUIRE_API QUIRE_NODISCARD quire_status quire_checkpoint(const char* path);

/** Goes on from the newest checkpoint in the directory `path`. One thread of each node calls it, with the same path,
 * right after quire_start(): before anything was allocated, published or created. The job may have another number of
 * nodes, another pool, detector and transport than the one that wrote it, but the same QUIRE_BASE, QUIRE_RANGE,
 * QUIRE_UNIT and QUIRE_HEAP_VIEWS. Everything is at its address, allocations can be freed and new ones made, handles
 * are valid. Homes and managers are shared out among the nodes of the new job. A checkpoint that is torn or damaged is
 * refused, with a message that names the file and what is wrong with it, and the one before it is taken, with a
 * warning. Files of containers that were written get the content that they had then, read-only ones must be what they
 * were (QUIRE_INVALID); linkers of the program are registered before. All nodes get the same: QUIRE_OK; QUIRE_NOT_FOUND
 * if there is none (the job is new: nothing has changed); QUIRE_DAMAGED or QUIRE_SYSTEM if none can be used (nothing
 * has changed); QUIRE_BAD_OPTION if settings differ; QUIRE_UNSUPPORTED for another version's; QUIRE_INVALID if it comes
 * too late, or the path is none; QUIRE_NO_MEMORY, QUIRE_PEER_LOST. */
QUIRE_API QUIRE_NODISCARD quire_status quire_restore(const char* path);

/* ---- Deaths of nodes
 * -------------------------------------------------------------------------------------------------- By default a job
 * ends on all nodes when one of them is lost. With `quire run --on-failure notify` (QUIRE_ON_FAILURE) the others go on,
 * all with the same picture of who is dead: quire.7, DEATHS, says what becomes of memory, locks and barriers. */

/** `node` is dead: it runs no more, nothing comes from it, and this node goes on with all other survivors. */
typedef void (*quire_failure_handler)(int node, void* context);
/** Has `handler` called with `context` for each node that is lost, once: also for those lost before this call. It runs
 * in a thread of its own, one death at a time, in the same order on all nodes, after the survivors have put together
 * what they have; other threads go on meanwhile, and may see QUIRE_LOST before it. It may use shared memory and all
 * calls but quire_end(), which waits for it. One handler a process: the last one set; NULL for none. QUIRE_UNSUPPORTED
 * where deaths end the job. */
QUIRE_API quire_status quire_on_failure(quire_failure_handler handler, void* context);
/** 1 if node `node` is not known to be dead, else 0. Any thread, also in signal handlers. Nodes hear of a death at
 * slightly different times: to decide the same on all, give the answer to quire_reduce_i64(). */
QUIRE_API int quire_alive(int node);
/** How many nodes are not known to be dead; quire_nodes() stays what it was. */
QUIRE_API int quire_nodes_alive(void);

/* ---- Numbers ------------------------------------------------------------------------------------------------------
 */

/** Counters of this node since the start. Zero-initialise and set `size`. */
typedef struct quire_counters {
  size_t size;
  uint64_t read_faults, write_faults, upgrade_faults; /**< that needed another node, by what was asked */
  uint64_t local_faults;       /**< served from what the node already had: first touch, read-ahead */
  uint64_t racing_faults;      /**< a thread that faults on a unit that is being brought already (ParADE, Fig. 11) */
  uint64_t competing_requests; /**< requests that a manager had to queue (Millipage, section 4.4) */
  uint64_t invalidations;      /**< copies taken away from this node */
  uint64_t read_ahead_units, read_ahead_wasted;
  uint64_t messages_sent, bytes_sent, messages_received, bytes_received;
  uint64_t fault_ns, barrier_ns, lock_ns; /**< time that threads of this node waited */
  uint64_t barriers, locks, atomics;
  uint64_t double_faults;   /**< upgrades of units that had come for a read (KOAN) */
  uint64_t exclusive_reads; /**< reads that asked for a writable copy: each avoids a double fault, if a write follows */
  uint64_t exclusive_wasted; /**< of them, taken away unwritten, as far as it is known */
  uint64_t pins;             /**< units that quire_pin() was called for */
  uint64_t pin_waits;        /**< requests of other nodes that waited for a release here */
  /* Regions with QUIRE_RELEASE. Their faults and invalidations are counted above. */
  uint64_t intervals;                   /**< releases by which this node had something to tell */
  uint64_t twins;                       /**< copies kept to find later what was written */
  uint64_t diffs, diff_bytes;           /**< pages that differed from their twins, and what was sent of them */
  uint64_t notices_sent, notices_heard; /**< runs of written units that this node told others, and learned */
  uint64_t home_moves; /**< units whose home this node gave away: to their only writer, to who touched them first, or to
                          save memory */
  uint64_t forwarded;  /**< requests and diffs for a home that this node passed on */
  /* Page-out (QUIRE_MEMORY_LIMIT), in units. */
  uint64_t copies_dropped;                 /**< clean copies given up */
  uint64_t paged_to_nodes;                 /**< taken over by other nodes, because this one was short of memory */
  uint64_t paged_to_disk, paged_from_disk; /**< written to the page-out file, and read back */
  uint64_t most_memory;                    /**< bytes that units took on this node at a time; 0 without a limit */
  /* Release consistency again, in units. */
  uint64_t updates_sent;        /**< what this node wrote at home, to each node that is likely to read it */
  uint64_t updates_applied;     /**< that came here so, and kept a copy valid */
  uint64_t units_kept;          /**< how often a unit began to be written from interval to interval without a fault */
  uint64_t connections_refused; /**< of strangers, who do not know the job's secret (TCP) or say nothing */
  uint64_t messages_refused;    /**< of strangers, or repeated; 0 in a job that is left alone */
  /* Content on two nodes (QUIRE_REPLICAS). */
  uint64_t replicas_sent;  /**< units whose content this node sent to a backup */
  uint64_t replica_waits;  /**< times that another node had to wait for that */
  uint64_t replica_rounds; /**< times that this node waited for backups to answer */
  uint64_t bad_frees;      /**< quire_free() of this node that gave nothing back, as other nodes have found out later */
  /* Transactions. */
  uint64_t commits;      /**< of this node that had written something */
  uint64_t published;    /**< units that they had written */
  uint64_t dooms;        /**< transactions of this node that were to begin again, as others came first */
  uint64_t commit_waits; /**< times that a commit waited for a unit, or for the token */
  uint64_t turns;        /**< transactions of this node during which no other node committed */
  /* Release consistency again, of home_moves. */
  uint64_t migrated;        /**< units that nodes write in turn, which went to who asked for them */
  uint64_t migrated_unused; /**< of these, units that who got them did not write */
  uint64_t planned;         /**< units that were asked for at the beginning of a phase (quire_plan()), or with a lock */
  uint64_t planned_unused;  /**< of these, units that were not used there, as far as it is known */
  uint64_t line_units;      /**< units that were read ahead where many sweeps take turns */
  uint64_t write_ahead_units; /**< units at home that sweeps of writes could write without a fault */
  uint64_t host_units;        /**< units whose content was not sent, as the node that asked has the same frame */
} quire_counters;
QUIRE_API quire_status quire_counters_read(quire_counters* counters);

#ifdef __cplusplus
}
#endif
#endif
