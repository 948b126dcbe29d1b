/* SPDX-License-Identifier: BSD-3-Clause */
/* Code in the shared memory: one node loads a shared library, and all nodes run it, without the file. Instructions come
 * to a node as data does, by page faults. Plurix keeps code in its distributed heap, beside data; here it is compiled C
 * or C++.
 *
 * What is global in the library is one variable for all nodes. Functions, constants, variables, virtual tables and
 * descriptors of types have the same addresses on all nodes: pointers to them may lie in shared memory, and objects
 * with virtual functions too.
 *
 * The library is linked as any other: with -shared and -fPIC, best with -Wl,-z,relro,-z,now. What it imports must be on
 * every node: in the program (link that with -rdynamic), or in a library that each node can load. x86-64 only. Thread
 * context, statuses and words as in quire.h; no call may be made on a stack in shared memory.
 */
#ifndef QUIRE_CODE_H
#define QUIRE_CODE_H

#include <quire/quire.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A module of code that was loaded. The handle may lie in shared memory; it is that of one module for ever, and calls
 * with it give QUIRE_NOT_FOUND when the module was unloaded. */
typedef struct quire_code {
  uint64_t id;
} quire_code;

/** How a module is loaded. Zero-initialise and set `size`. */
typedef struct quire_code_options {
  size_t size; /**< sizeof(quire_code_options) */
  const char*
      name; /**< by which other nodes find it, at most 58 characters; NULL: the file's name without its folder */
  quire_consistency consistency; /**< of its variables, not QUIRE_TRANSACTIONAL. Code and constants are never written,
                                    and have QUIRE_SEQUENTIAL */
  quire_pool pool;               /**< of code and variables */
  quire_detector detector;       /**< the same */
} quire_code_options;

/** Loads the shared library `path`, which this node alone needs to have; when the call returns, all nodes can run it.
 * `options` may be NULL. Its constructors (static objects, __attribute__((constructor))) have run then, once, in the
 * calling thread. Definitions of the module count before others of the same name.
 *
 *  The module's calls of atexit(3), and destructors of static objects, are kept for quire_code_unload(), and run on the
 * node that made the call; at the end of the job they do not run. Variables in functions that are initialised by the
 * first call are initialised once in the job; with QUIRE_RELEASE, who finds one initialised synchronises before it uses
 * it.
 *
 *  Errors. quire_last_error() names the symbol, the library and the node that is in the way, and nothing is left
 * behind. QUIRE_NOT_FOUND: no such file; something that it imports, or a library that it needs, is missing, here or on
 * another node. QUIRE_INVALID: the file is no shared library for this machine, is truncated or damaged; a constructor
 * has thrown. QUIRE_UNSUPPORTED: consistency QUIRE_TRANSACTIONAL; it has thread_local variables, functions that are
 * chosen when they are loaded (IFUNC), code that relocation would change, or an alignment of more than 4 KiB; a
 * variable of it holds the address of an object of another library; pool `fork`; a pool whose memory cannot be run (a
 * file system that is mounted noexec); another machine than x86-64. QUIRE_EXISTS: the name is taken. QUIRE_LIMIT: more
 * than 1 GiB. QUIRE_NO_MEMORY, QUIRE_NO_ADDRESSES, QUIRE_SYSTEM, QUIRE_PEER_LOST. */
QUIRE_API QUIRE_NODISCARD quire_status quire_code_load(const char* path, const quire_code_options* options,
                                                       quire_code* code);

/** The module that was loaded under `name`, by whichever node; waits up to `timeout_ms` for it as quire_lookup() does.
 * QUIRE_NOT_FOUND, QUIRE_TIMED_OUT, QUIRE_INVALID. */
QUIRE_API QUIRE_NODISCARD quire_status quire_code_find(const char* name, int64_t timeout_ms, quire_code* code);

/** The address of a function or variable that the module exports (quire_spawn() takes such functions); of a C++
 * function `name` is mangled. The address is the same on all nodes. After quire_code_replace() it is still that of the
 * module's own function. QUIRE_NOT_FOUND: no such module, or symbol; QUIRE_INVALID. */
QUIRE_API QUIRE_NODISCARD quire_status quire_code_symbol(quire_code code, const char* name, void** address);

/** The place in shared memory that holds the address of a function that the module exports: who reads it at each call,
 * as one word and atomically, calls what quire_code_replace() has set last. The place is the same on all nodes, as long
 * as the module is loaded. As quire_code_symbol(); QUIRE_INVALID also if `name` is not a function. */
QUIRE_API QUIRE_NODISCARD quire_status quire_code_entry(quire_code code, const char* name, void*** entry);

/** From now on, who calls the function `name` of `code` by its entry calls that of `newer`, which may be `code` itself.
 * Calls that have begun go on in the old one; so do direct calls, those of the module itself among them, and virtual
 * functions. Nobody checks that the two have the same parameters. The write is seen as any write to the module's
 * variables is. `newer` cannot be unloaded while an entry leads to it. QUIRE_NOT_FOUND: one of the modules, or the
 * function in one of them, is not there; QUIRE_INVALID: not a function. */
QUIRE_API quire_status quire_code_replace(quire_code code, const char* name, quire_code newer);

/** Unloads a module on all nodes: destructors run (see quire_code_load()), then its code, its variables and its name
 * are gone. Nobody may run its code, use its variables, or handle an exception of its types meanwhile: synchronise
 * before. One thread of any node calls. QUIRE_NOT_FOUND. QUIRE_BUSY: an entry of another module leads to a function of
 * it (quire_code_replace), and nothing has changed; or its variables are pinned, in a parallel block, about to change
 * their consistency, or a checkpoint is written: then destructors have run, and the call is to be made again, best on
 * the same node; they do not run again. QUIRE_LOST: node 0, or what only a dead node had of the module, is lost: it
 * stays. QUIRE_NO_MEMORY: call again. */
QUIRE_API quire_status quire_code_unload(quire_code code);

#ifdef __cplusplus
}
#endif
#endif
