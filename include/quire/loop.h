/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of registered transactions (Plurix, section 5): each node runs tasks, one after the other, each as a
 * transaction, or several as one. Tasks lie in shared memory; to register, to take and to cancel one are writes of
 * transactions, so that each task runs exactly once, and what a transaction registers is there if and when it has
 * happened.
 *
 *     quire_task_options on_node_1 = {sizeof on_node_1, 1, 0, 0};
 *     quire_task_register(render, line, &on_node_1, NULL);
 *     quire_loop_run();
 *
 * Statuses, thread context and words as in quire.h; what a body must keep in mind: quire/transaction.h. */
#ifndef QUIRE_LOOP_H
#define QUIRE_LOOP_H

#include <quire/quire.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Names a task; 0 is none. */
typedef struct quire_task {
  uint64_t id;
} quire_task;

/** Zero-initialise, set `size`, set what you need; NULL means: any node, priority 4, once, now. */
typedef struct quire_task_options {
  size_t size;        /**< sizeof(quire_task_options), for versions to come */
  int node;           /**< on which it is to run; -1: on any */
  int priority;       /**< 0 to 7: those of a smaller number run first; of one number, in the order in which they were
                         registered */
  uint64_t delay_ms;  /**< not before so many milliseconds have gone by. Clocks of nodes may differ */
  uint64_t period_ms; /**< not 0: again and again, after so many milliseconds each time */
} quire_task_options;

/** Has the loop of some node call function(argument) as a transaction, or as a part of one. In a transaction: when that
 * has happened. `function` is one of the program, or of a library that all nodes have loaded. `task`: its name; may be
 * NULL. A task that calls quire_transaction_abort() is undone, and gone. QUIRE_INVALID: no function, a node that the
 * job has not, a priority beyond 7; QUIRE_LIMIT: 4,096 tasks of this node are registered; QUIRE_UNSUPPORTED: pool
 * `fork`. Application threads. */
QUIRE_API QUIRE_NODISCARD quire_status quire_task_register(void (*function)(uint64_t argument), uint64_t argument,
                                                           const quire_task_options* options, quire_task* task);
/** The task does not run any more. A task may cancel itself. QUIRE_NOT_FOUND: it has run, or was cancelled;
 * QUIRE_INVALID: no task. */
QUIRE_API QUIRE_NODISCARD quire_status quire_task_cancel(quire_task task);

/** Runs tasks until a thread of any node calls quire_loop_stop(). One thread of each node calls this; nodes wait for
 * tasks, and for the stop, without polling. QUIRE_BUSY: another thread of this node does so; QUIRE_NOT_FOUND: this node
 * has not the function of a task, which stays; QUIRE_INVALID in a transaction. */
QUIRE_API quire_status quire_loop_run(void);
/** Ends the loops of all nodes, when the tasks that they are at have ended; that of a node that begins later at once.
 * Tasks stay. Also by a task. */
QUIRE_API quire_status quire_loop_stop(void);

#ifdef __cplusplus
}
#endif
#endif
