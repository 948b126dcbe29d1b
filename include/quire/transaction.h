/* SPDX-License-Identifier: BSD-3-Clause */
/* Transactions: plain loads and stores of shared memory, without locks, of which each body happens as a whole
 * (TRANSACTIONAL regions, quire.h).
 *
 *     static void transfer(void* argument) {
 *       struct order* o = argument;
 *       o->from->balance -= o->amount;
 *       o->to->balance += o->amount;
 *     }
 *     quire_atomically(transfer, &order, NULL);
 *
 * The body runs at once; if another transaction, of any node, commits first to what it has read or written, it is
 * undone, and begins again. It never sees half of another's writes, not even when it is about to be undone.
 * Transactions of all nodes happen one after the other, in an order that clocks would agree with (strict
 * serialisability, opacity). After Plurix, where every access is one of a transaction.
 *
 * What a body must keep in mind, as it may begin again out of any access to transactional memory:
 *   - memory that is not transactional keeps what the body has written there; destructors of its locals do not run
 * (quire_on_abort() undoes more)
 *   - no call of a library that takes a lock and reads transactional memory meanwhile: printf("%s", shared) does
 *   - no lock, barrier or other wait for threads (QUIRE_INVALID): quire_transaction_retry() waits. quire_lookup() finds
 * what is there, and does not wait; quire_region_destroy() and quire_end() are refused, too
 *   - quire_publish(), quire_region_create() and quire_spawn() cannot be undone: like system calls they first make the
 * transaction irrevocable QUIRE_RESTART_EVERY=n has every n-th access that Quire notices begin again, to find bodies
 * that cannot.
 *
 * Threads of one node run transactions one at a time. Statuses, thread context and words as in quire.h. */
#ifndef QUIRE_TRANSACTION_H
#define QUIRE_TRANSACTION_H

#include <quire/quire.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero-initialise, set `size`, set what you need; NULL means all defaults. */
typedef struct quire_transaction_options {
  size_t size;       /**< sizeof(quire_transaction_options), for versions to come */
  unsigned attempts; /**< how often to begin, at most; 0: as often as it takes. From the fifth on no other node commits
                        meanwhile, so that it succeeds */
  int irrevocable; /**< not 0: no other node commits while the body runs, which does not begin again: for output, say */
} quire_transaction_options;

/** Calls body(argument) as a transaction. Within a body: simply calls it, as part of the transaction that runs.
 * Application threads; the stack of the caller is private memory. QUIRE_OK: it has happened. QUIRE_CONFLICT: it has
 * not, as others came first `attempts` times. What was given to quire_transaction_abort(). QUIRE_INVALID: no body, a
 * size that no version has; QUIRE_UNSUPPORTED: pool `fork`. */
QUIRE_API QUIRE_NODISCARD quire_status quire_atomically(void (*body)(void* argument), void* argument,
                                                        const quire_transaction_options* options);

/** In a body: undoes it, waits until something that it has seen may have changed, and begins again. Does not return.
 * Elsewhere: ends the process, with a line. Without memory that another thread may change this waits for ever. */
QUIRE_API void quire_transaction_retry(void) __attribute__((noreturn));

/** In a body: undoes it; quire_atomically() returns `why`, which is any status. Does not return. Elsewhere: ends the
 * process, with a line. */
QUIRE_API void quire_transaction_abort(quire_status why) __attribute__((noreturn));

/** In a body: from here on no other node commits until it is over, so that it does not begin again; it may do so once
 * more within this call. For effects that cannot be undone. QUIRE_OK; QUIRE_INVALID elsewhere. */
QUIRE_API QUIRE_NODISCARD quire_status quire_transaction_irrevocable(void);

/** In a body: `call(argument)` is called when the transaction has happened, after others that were given before; not if
 * it is undone. The call is outside of the transaction. QUIRE_INVALID elsewhere, or if there is no call;
 * QUIRE_NO_MEMORY. */
QUIRE_API QUIRE_NODISCARD quire_status quire_on_commit(void (*call)(void* argument), void* argument);
/** The same when it is undone, for whatever reason: before others that were given before. */
QUIRE_API QUIRE_NODISCARD quire_status quire_on_abort(void (*call)(void* argument), void* argument);

/** Not 0 in a body. */
QUIRE_API int quire_in_transaction(void);

#ifdef __cplusplus
}
#endif
#endif
