/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of quire._native share: errors, and calls that wait. See native.c. */
#ifndef QUIRE_PYTHON_NATIVE_H
#define QUIRE_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <quire/quire.h>
#include <stdatomic.h>
#include <stdbool.h>

/** Sets the exception of a status, with quire_last_error() as its sentence. NULL. */
PyObject* raise_status(quire_status status);
/** None, or the exception. */
PyObject* none_or(quire_status status);

extern atomic_uint waits; /* of the main thread: odd while it waits */
bool is_main(void);
extern _Thread_local unsigned pins_of_thread; /* ranges that this thread has pinned */
/** Whether this thread may call Quire: it has pinned no memory. Else an exception is set. */
bool may_wait(void);

/** A call that may wait: without the GIL, and known to Ctrl-C. */
#define WAITING(status, call)     \
  do {                            \
    if (!may_wait()) return NULL; \
    WAITING_WITHIN(status, call); \
  } while (0)
/** The same after may_wait(), where there is something to give back. */
#define WAITING_WITHIN(status, call)                               \
  do {                                                             \
    const bool main_ = is_main();                                  \
    Py_BEGIN_ALLOW_THREADS if (main_) atomic_fetch_add(&waits, 1); \
    (status) = (call);                                             \
    if (main_) atomic_fetch_add(&waits, 1);                        \
    Py_END_ALLOW_THREADS                                           \
  } while (0)

/* native_memory.c */
PyObject* allocate(PyObject* self, PyObject* arguments);
PyObject* release_memory(PyObject* self, PyObject* arguments);
PyObject* region_create(PyObject* self, PyObject* arguments);
PyObject* region_destroy(PyObject* self, PyObject* arguments);
PyObject* region_of(PyObject* self, PyObject* arguments);
PyObject* memory(PyObject* self, PyObject* arguments);
PyObject* publish(PyObject* self, PyObject* arguments);
PyObject* lookup(PyObject* self, PyObject* arguments);
PyObject* prefetch(PyObject* self, PyObject* arguments);
PyObject* push(PyObject* self, PyObject* arguments);
PyObject* produce_begin(PyObject* self, PyObject* arguments);
PyObject* produce_end(PyObject* self, PyObject* arguments);
PyObject* pin(PyObject* self, PyObject* arguments);
PyObject* unpin(PyObject* self, PyObject* arguments);
PyObject* fetch_add(PyObject* self, PyObject* arguments);
PyObject* exchange(PyObject* self, PyObject* arguments);
PyObject* compare_exchange(PyObject* self, PyObject* arguments);

/* native_sync.c */
PyObject* mutex_create(PyObject* self, PyObject* arguments);
PyObject* mutex_timed_lock(PyObject* self, PyObject* arguments);
PyObject* mutex_lock(PyObject* self, PyObject* arguments);
PyObject* mutex_unlock(PyObject* self, PyObject* arguments);
PyObject* mutex_destroy(PyObject* self, PyObject* arguments);
PyObject* rwlock_create(PyObject* self, PyObject* arguments);
PyObject* rwlock_read_lock(PyObject* self, PyObject* arguments);
PyObject* rwlock_write_lock(PyObject* self, PyObject* arguments);
PyObject* rwlock_unlock(PyObject* self, PyObject* arguments);
PyObject* rwlock_destroy(PyObject* self, PyObject* arguments);
PyObject* condition_create(PyObject* self, PyObject* arguments);
PyObject* condition_notify_one(PyObject* self, PyObject* arguments);
PyObject* condition_notify_all(PyObject* self, PyObject* arguments);
PyObject* condition_destroy(PyObject* self, PyObject* arguments);
PyObject* barrier_create(PyObject* self, PyObject* arguments);
PyObject* barrier_wait(PyObject* self, PyObject* arguments);
PyObject* barrier_destroy(PyObject* self, PyObject* arguments);
PyObject* event_create(PyObject* self, PyObject* arguments);
PyObject* event_set(PyObject* self, PyObject* arguments);
PyObject* event_reset(PyObject* self, PyObject* arguments);
PyObject* event_wait(PyObject* self, PyObject* arguments);
PyObject* event_destroy(PyObject* self, PyObject* arguments);
PyObject* semaphore_create(PyObject* self, PyObject* arguments);
PyObject* semaphore_acquire(PyObject* self, PyObject* arguments);
PyObject* semaphore_destroy(PyObject* self, PyObject* arguments);
PyObject* condition_wait(PyObject* self, PyObject* arguments);
PyObject* semaphore_release(PyObject* self, PyObject* arguments);
PyObject* leave_wanted(PyObject* self, PyObject* nothing);
PyObject* leave(PyObject* self, PyObject* nothing);

/* native_containers.c */
PyObject* container_open(PyObject* self, PyObject* arguments);
PyObject* container_close(PyObject* self, PyObject* arguments);
PyObject* container_remove(PyObject* self, PyObject* arguments);
PyObject* container_map(PyObject* self, PyObject* arguments);
PyObject* container_bytes(PyObject* self, PyObject* arguments);
PyObject* container_truncate(PyObject* self, PyObject* arguments);
PyObject* container_read(PyObject* self, PyObject* arguments);
PyObject* container_write(PyObject* self, PyObject* arguments);
PyObject* container_append(PyObject* self, PyObject* arguments);
PyObject* container_sync(PyObject* self, PyObject* arguments);
PyObject* container_drop(PyObject* self, PyObject* arguments);
PyObject* container_list(PyObject* self, PyObject* nothing);

#endif
