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
