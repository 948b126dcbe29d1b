/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronisation for Python: one function for each call of <quire/quire.h>, with handles as integers. */
#include "native.h"

#include <quire/leave.h>

/* A status of QUIRE_BUSY or QUIRE_TIMED_OUT is False where there is a time limit. */

static PyObject* true_unless_late(quire_status status) {
  if (status == QUIRE_BUSY || status == QUIRE_TIMED_OUT) Py_RETURN_FALSE;
  if (status != QUIRE_OK) return raise_status(status);
  Py_RETURN_TRUE;
}

#define CREATE(name, type, ...)                                  \
  PyObject* name##_create(PyObject* self, PyObject* arguments) { \
    (void)self;                                                  \
    unsigned long long first = 0;                                \
    if (!PyArg_ParseTuple(arguments, "|K", &first)) return NULL; \
    (void)first;                                                 \
    type made = {0};                                             \
    quire_status status;                                         \
    WAITING(status, quire_##name##_create(__VA_ARGS__));         \
    if (status != QUIRE_OK) return raise_status(status);         \
    return PyLong_FromUnsignedLongLong(made.id);                 \
  }
#define OF_HANDLE(function, type)                            \
  PyObject* function(PyObject* self, PyObject* arguments) {  \
    (void)self;                                              \
    unsigned long long id;                                   \
    if (!PyArg_ParseTuple(arguments, "K", &id)) return NULL; \
    quire_status status;                                     \
    WAITING(status, quire_##function((type){id}));           \
    return none_or(status);                                  \
  }
#define OF_HANDLE_AND_TIME(function, type)                              \
  PyObject* function(PyObject* self, PyObject* arguments) {             \
    (void)self;                                                         \
    unsigned long long id;                                              \
    long long timeout;                                                  \
    if (!PyArg_ParseTuple(arguments, "KL", &id, &timeout)) return NULL; \
    quire_status status;                                                \
    WAITING(status, quire_##function((type){id}, timeout));             \
    return true_unless_late(status);                                    \
  }

CREATE(mutex, quire_mutex, &made)
OF_HANDLE_AND_TIME(mutex_timed_lock, quire_mutex)
OF_HANDLE(mutex_lock, quire_mutex)
OF_HANDLE(mutex_unlock, quire_mutex)
OF_HANDLE(mutex_destroy, quire_mutex)
CREATE(rwlock, quire_rwlock, &made)
OF_HANDLE_AND_TIME(rwlock_read_lock, quire_rwlock)
OF_HANDLE_AND_TIME(rwlock_write_lock, quire_rwlock)
OF_HANDLE(rwlock_unlock, quire_rwlock)
OF_HANDLE(rwlock_destroy, quire_rwlock)
CREATE(condition, quire_condition, &made)
OF_HANDLE(condition_notify_one, quire_condition)
OF_HANDLE(condition_notify_all, quire_condition)
OF_HANDLE(condition_destroy, quire_condition)
CREATE(barrier, quire_barrier, (uint32_t)first, &made)
OF_HANDLE(barrier_wait, quire_barrier)
OF_HANDLE(barrier_destroy, quire_barrier)
CREATE(event, quire_event, &made)
OF_HANDLE(event_set, quire_event)
OF_HANDLE(event_reset, quire_event)
OF_HANDLE_AND_TIME(event_wait, quire_event)
OF_HANDLE(event_destroy, quire_event)
CREATE(semaphore, quire_semaphore, first, &made)
OF_HANDLE_AND_TIME(semaphore_acquire, quire_semaphore)
OF_HANDLE(semaphore_destroy, quire_semaphore)

PyObject* condition_wait(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long condition, mutex;
  long long timeout;
  if (!PyArg_ParseTuple(arguments, "KKL", &condition, &mutex, &timeout)) return NULL;
  quire_status status;
  WAITING(status, quire_condition_wait((quire_condition){condition}, (quire_mutex){mutex}, timeout));
  return true_unless_late(status);
}

PyObject* semaphore_release(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long semaphore, count;
  if (!PyArg_ParseTuple(arguments, "KK", &semaphore, &count)) return NULL;
  quire_status status;
  WAITING(status, quire_semaphore_release((quire_semaphore){semaphore}, count));
  return none_or(status);
}

/* Leaving while the others go on. */

PyObject* leave_wanted(PyObject* self, PyObject* nothing) {
  (void)self;
  (void)nothing;
  return PyBool_FromLong(quire_leave_wanted());
}

PyObject* leave(PyObject* self, PyObject* nothing) {
  (void)self;
  (void)nothing;
  quire_status status;
  WAITING(status, quire_leave());
  if (status == QUIRE_BUSY) Py_RETURN_FALSE;
  if (status != QUIRE_OK) return raise_status(status);
  Py_RETURN_TRUE;
}
