/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the Python package that calls libquire: quire._native. Each function is one call of <quire/quire.h>, with
 * addresses and handles as integers; what people use is in Python (quire/__init__.py); calls for memory are in
 * native_memory.c, for synchronisation in native_sync.c, for containers in native_containers.c. All calls that may wait
 * give the GIL away meanwhile, so that no thread of Python waits for another node because one does. Serving pages to
 * other nodes never needs the GIL. */
#include "native.h"

#include <pthread.h>
#include <quire/container.h>
#include <quire/report.h>
#include <quire/system.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Errors: an exception's class for each status, which Python tells at import */

static PyObject* classes; /* a dictionary, status: class */
static PyObject* usual_class;

PyObject* raise_status(quire_status status) {
  const char* const more = quire_last_error();
  PyObject* const number = PyLong_FromLong((long)status);
  if (number == NULL) return NULL;
  PyObject* class = classes != NULL ? PyDict_GetItemWithError(classes, number) : NULL;
  if (class == NULL) class = usual_class != NULL ? usual_class : PyExc_RuntimeError;
  const char* const words = *more != '\0' ? more : quire_status_text(status);
  PyObject* const text = PyUnicode_DecodeUTF8(
      words, (Py_ssize_t)strlen(words), "backslashreplace"); /* names of files need not be text, and it may be cut */
  PyObject* const value = text != NULL ? PyObject_CallFunctionObjArgs(class, text, NULL) : NULL;
  if (value != NULL) {
    if (PyObject_SetAttrString(value, "status", number) == 0) PyErr_SetObject(class, value);
    Py_DECREF(value);
  }
  Py_XDECREF(text);
  Py_DECREF(number);
  return NULL;
}

PyObject* none_or(quire_status status) {
  if (status != QUIRE_OK) return raise_status(status);
  Py_RETURN_NONE;
}

static PyObject* set_errors(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject *by_status, *usual;
  if (!PyArg_ParseTuple(arguments, "O!O", &PyDict_Type, &by_status, &usual)) return NULL;
  Py_INCREF(by_status);
  Py_INCREF(usual);
  Py_XDECREF(classes);
  Py_XDECREF(usual_class);
  classes = by_status;
  usual_class = usual;
  Py_RETURN_NONE;
}

/* ---- Ctrl-C while the main thread waits. Python runs its handlers when the call is over, which may be never: other
 * nodes are to come. So a thread of this file looks whether it ends soon, and has Python say where it waits, and end
 * the process, if not. */

static pthread_t main_thread;
atomic_uint waits;
static sem_t interrupted;
static struct sigaction before_us;
static PyObject* on_interrupt;
enum { patience_us = 300000 };

static void on_signal(int number, siginfo_t* about, void* context) {
  sem_post(&interrupted);
  if (before_us.sa_flags & SA_SIGINFO) {
    before_us.sa_sigaction(number, about, context);
  } else if (before_us.sa_handler != SIG_DFL && before_us.sa_handler != SIG_IGN) {
    before_us.sa_handler(number);
  }
}

static void* watch(void* nothing) {
  for (;;) {
    if (sem_wait(&interrupted) != 0) continue;
    const unsigned before = atomic_load(&waits);
    if (before % 2 == 0) continue; /* Python sees to it */
    usleep(patience_us);
    if (atomic_load(&waits) != before) continue;
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject* const result = on_interrupt != NULL ? PyObject_CallNoArgs(on_interrupt) : NULL; /* does not return */
    Py_XDECREF(result);
    PyErr_Clear();
    PyGILState_Release(state);
  }
  return nothing;
}

/* Without it Ctrl-C works as Python has it. */
static void watch_interrupts(void) {
  struct sigaction now;
  if (sigaction(SIGINT, NULL, &now) != 0) return;
  if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN))
    return; /* Python does not handle it */
  sigset_t all, old;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);
  sigdelset(&all, SIGBUS);
  pthread_t thread;
  if (sem_init(&interrupted, 0, 0) != 0) return;
  pthread_sigmask(SIG_SETMASK, &all, &old); /* signals go to threads of the program */
  const int error = pthread_create(&thread, NULL, watch, NULL);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (error != 0) return;
  pthread_detach(thread);
  before_us = now;
  now.sa_flags |= SA_SIGINFO;
  now.sa_sigaction = on_signal;
  (void)sigaction(SIGINT, &now, NULL);
}

static PyObject* set_on_interrupt(PyObject* self, PyObject* function) {
  (void)self;
  Py_INCREF(function);
  Py_XDECREF(on_interrupt);
  on_interrupt = function;
  Py_RETURN_NONE;
}

/* ---- Calls that wait. A thread that has pinned memory makes none: another thread of this node might hold the GIL in a
 * fault on that memory. */

_Thread_local unsigned pins_of_thread;

bool may_wait(void) {
  if (pins_of_thread == 0) return true;
  PyErr_SetString(usual_class != NULL ? usual_class : PyExc_RuntimeError,
                  "this thread has pinned memory (quire.pin()), and may not call Quire until it has released it");
  return false;
}

bool is_main(void) { return pthread_equal(pthread_self(), main_thread) != 0; }

/* ---- Start and end */

static pid_t started_in;

/* After Python has ended, with the status that it ends with: a job is over for all when a node exits without
 * quire_end(). */
static void on_end(int status, void* nothing) {
  (void)nothing;
  if (status == 0 && started_in == getpid()) (void)quire_end_at_exit();  // daemon threads go on
}

/* the identity of Python's main thread, which need not be the caller */
static PyObject* start(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long main_identity;
  if (!PyArg_ParseTuple(arguments, "k", &main_identity)) return NULL;
  main_thread = (pthread_t)main_identity;
  quire_status status;
  WAITING(status, quire_start(NULL));
  if (status != QUIRE_OK) return raise_status(status);
  started_in = getpid();
  (void)on_exit(on_end, NULL);
  watch_interrupts();
  Py_RETURN_NONE;
}

static PyObject* node(PyObject* self, PyObject* nothing) {
  (void)self;
  (void)nothing;
  return PyLong_FromLong(quire_node());
}
static PyObject* nodes(PyObject* self, PyObject* nothing) {
  (void)self;
  (void)nothing;
  return PyLong_FromLong(quire_nodes());
}
static PyObject* version(PyObject* self, PyObject* nothing) {
  (void)self;
  (void)nothing;
  return PyUnicode_FromString(quire_version());
}

static PyObject* alive(PyObject* self, PyObject* arguments) {
  (void)self;
  int which;
  if (!PyArg_ParseTuple(arguments, "i", &which)) return NULL;
  return PyBool_FromLong(quire_alive(which));
}

/* ---- Names for the report */

static PyObject* label(PyObject* self, PyObject* arguments) {
  (void)self;
  const char* name;
  unsigned long long address, bytes;
  if (!PyArg_ParseTuple(arguments, "KKs", &address, &bytes, &name)) return NULL;
  return none_or(quire_label((const void*)(uintptr_t)address, bytes, name));
}

static PyObject* phase(PyObject* self, PyObject* arguments) {
  (void)self;
  const char* name;
  if (!PyArg_ParseTuple(arguments, "z", &name)) return NULL;
  return none_or(quire_phase(name));
}

/* ---- Values by messages: all nodes call */

/* buffer of float64 or int64, 'd' or 'q', operation: combines in place */
static PyObject* reduce(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject* object;
  int type, operation;
  if (!PyArg_ParseTuple(arguments, "OCi", &object, &type, &operation)) return NULL;
  Py_buffer buffer;
  if (PyObject_GetBuffer(object, &buffer, PyBUF_CONTIG) != 0) return NULL;
  const size_t count = (size_t)buffer.len / 8;
  quire_status status = QUIRE_INVALID;
  if (!may_wait()) {
    PyBuffer_Release(&buffer);
    return NULL;
  }
  if (type == 'd') {
    WAITING_WITHIN(status, quire_group_reduce_f64((quire_group){0}, buffer.buf, count, (quire_operation)operation));
  } else {
    WAITING_WITHIN(status, quire_group_reduce_i64((quire_group){0}, buffer.buf, count, (quire_operation)operation));
  }
  PyBuffer_Release(&buffer);
  return none_or(status);
}

/* buffer, root */
static PyObject* broadcast(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject* object;
  int root;
  if (!PyArg_ParseTuple(arguments, "Oi", &object, &root)) return NULL;
  Py_buffer buffer;
  if (PyObject_GetBuffer(object, &buffer, PyBUF_CONTIG) != 0) return NULL;
  if (!may_wait()) {
    PyBuffer_Release(&buffer);
    return NULL;
  }
  quire_status status;
  WAITING_WITHIN(status, quire_group_broadcast((quire_group){0}, buffer.buf, (size_t)buffer.len, (uint32_t)root));
  PyBuffer_Release(&buffer);
  return none_or(status);
}

/* ---- Checkpoints */

/* With the path of a directory: str, bytes, or what os.fspath() takes. */
static bool call_with_path(PyObject* arguments, quire_status (*call)(const char* path), quire_status* status) {
  PyObject* path;
  if (!PyArg_ParseTuple(arguments, "O&", PyUnicode_FSConverter, &path)) return false;
  bool called = false;
  const char* const text = PyBytes_AsString(path);
  if (text != NULL && may_wait()) {
    WAITING_WITHIN(*status, call(text));
    called = true;
  }
  Py_DECREF(path);
  return called;
}

static PyObject* checkpoint(PyObject* self, PyObject* arguments) {
  (void)self;
  quire_status status;
  return call_with_path(arguments, quire_checkpoint, &status) ? none_or(status) : NULL;
}

/* -> False if there is none */
static PyObject* restore(PyObject* self, PyObject* arguments) {
  (void)self;
  quire_status status;
  if (!call_with_path(arguments, quire_restore, &status)) return NULL;
  if (status == QUIRE_NOT_FOUND) Py_RETURN_FALSE;
  if (status != QUIRE_OK) return raise_status(status);
  Py_RETURN_TRUE;
}

/* ---- Threads on other nodes: the function is this one, which is at its place on all nodes; what it calls comes by
 * shared memory */

static PyObject* entry; /* takes the address of a call, gives that of its result, or 0 */
static atomic_uint running;
static atomic_bool ending;
static sem_t may_enter; /* 0 until `import quire` has set `entry`, or the end has come: a call may come before either */

static void wait_for_entry(void) {
  while (sem_wait(&may_enter) != 0) continue; /* EINTR */
  sem_post(&may_enter);
}

QUIRE_API void* quire_python_entry(void* argument) {
  atomic_fetch_add(&running, 1);
  void* result = NULL;
  wait_for_entry();
  if (!atomic_load(&ending)) {
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject* const given = PyObject_CallFunction(entry, "K", (unsigned long long)(uintptr_t)argument);
    if (given != NULL) result = PyLong_AsVoidPtr(given);
    if (PyErr_Occurred() != NULL) PyErr_Print();
    Py_XDECREF(given);
    PyGILState_Release(state);
  }
  atomic_fetch_sub(&running, 1);
  return result;
}

static PyObject* set_entry(PyObject* self, PyObject* function) {
  (void)self;
  Py_INCREF(function);
  Py_XDECREF(entry);
  entry = function;
  sem_post(&may_enter);
  Py_RETURN_NONE;
}

/* No thread that another node spawns runs Python from now on; waits for those that do, for so many seconds (negative:
 * for ever). Whether all have ended. */
static PyObject* stop_entries(PyObject* self, PyObject* arguments) {
  (void)self;
  double seconds;
  if (!PyArg_ParseTuple(arguments, "d", &seconds)) return NULL;
  if (started_in != getpid()) Py_RETURN_TRUE; /* a forked child has none of these threads */
  atomic_store(&ending, true);
  sem_post(&may_enter);
  const bool main = is_main(); /* Ctrl-C ends this wait, too */
  Py_BEGIN_ALLOW_THREADS if (main) atomic_fetch_add(&waits, 1);
  for (; atomic_load(&running) != 0 && seconds != 0; seconds = seconds < 0       ? seconds
                                                               : seconds > 0.001 ? seconds - 0.001
                                                                                 : 0)
    usleep(1000);
  if (main) atomic_fetch_add(&waits, 1);
  Py_END_ALLOW_THREADS return PyBool_FromLong(atomic_load(&running) == 0);
}

static PyObject* spawn(PyObject* self, PyObject* arguments) {
  (void)self;
  int which;
  unsigned long long argument;
  if (!PyArg_ParseTuple(arguments, "iK", &which, &argument)) return NULL;
  quire_remote_thread thread = {0};
  quire_status status;
  WAITING(status, quire_spawn(which, quire_python_entry, (void*)(uintptr_t)argument, &thread));
  if (status != QUIRE_OK) return raise_status(status);
  return PyLong_FromUnsignedLongLong(thread.id);
}

static PyObject* join(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long thread;
  if (!PyArg_ParseTuple(arguments, "K", &thread)) return NULL;
  void* result = NULL;
  quire_status status;
  WAITING(status, quire_join((quire_remote_thread){thread}, &result));
  if (status != QUIRE_OK) return raise_status(status);
  return PyLong_FromVoidPtr(result);
}

/* ---- Numbers */

static const struct {
  const char* name;
  size_t offset;
} counter_fields[] = {
#define COUNTER(name) \
  { #name, offsetof(quire_counters, name) }
    COUNTER(read_faults),
    COUNTER(write_faults),
    COUNTER(upgrade_faults),
    COUNTER(local_faults),
    COUNTER(racing_faults),
    COUNTER(competing_requests),
    COUNTER(invalidations),
    COUNTER(read_ahead_units),
    COUNTER(read_ahead_wasted),
    COUNTER(messages_sent),
    COUNTER(bytes_sent),
    COUNTER(messages_received),
    COUNTER(bytes_received),
    COUNTER(fault_ns),
    COUNTER(barrier_ns),
    COUNTER(lock_ns),
    COUNTER(barriers),
    COUNTER(locks),
    COUNTER(atomics),
    COUNTER(double_faults),
    COUNTER(exclusive_reads),
    COUNTER(exclusive_wasted),
    COUNTER(pins),
    COUNTER(pin_waits),
    COUNTER(intervals),
    COUNTER(twins),
    COUNTER(diffs),
    COUNTER(diff_bytes),
    COUNTER(notices_sent),
    COUNTER(notices_heard),
    COUNTER(home_moves),
    COUNTER(forwarded),
    COUNTER(copies_dropped),
    COUNTER(paged_to_nodes),
    COUNTER(paged_to_disk),
    COUNTER(paged_from_disk),
    COUNTER(most_memory),
    COUNTER(updates_sent),
    COUNTER(updates_applied),
    COUNTER(units_kept),
    COUNTER(connections_refused),
    COUNTER(messages_refused),
    COUNTER(replicas_sent),
    COUNTER(replica_waits),
    COUNTER(replica_rounds),
    COUNTER(bad_frees),
    COUNTER(commits),
    COUNTER(published),
    COUNTER(dooms),
    COUNTER(commit_waits),
    COUNTER(turns),
    COUNTER(migrated),
    COUNTER(migrated_unused),
    COUNTER(planned),
    COUNTER(planned_unused),
    COUNTER(line_units),
    COUNTER(write_ahead_units),
    COUNTER(host_units),
#undef COUNTER
};

static PyObject* counters(PyObject* self, PyObject* nothing) {
  (void)self;
  (void)nothing;
  quire_counters all;
  memset(&all, 0, sizeof all);
  all.size = sizeof all;
  const quire_status status = quire_counters_read(&all);
  if (status != QUIRE_OK) return raise_status(status);
  PyObject* const result = PyDict_New();
  for (size_t i = 0; result != NULL && i < sizeof counter_fields / sizeof *counter_fields; ++i) {
    uint64_t value;
    memcpy(&value, (const char*)&all + counter_fields[i].offset, sizeof value);
    PyObject* const number = PyLong_FromUnsignedLongLong(value);
    if (number == NULL || PyDict_SetItemString(result, counter_fields[i].name, number) != 0) {
      Py_XDECREF(number);
      Py_DECREF(result);
      return NULL;
    }
    Py_DECREF(number);
  }
  return result;
}

#define METHOD(name) \
  { #name, name, METH_VARARGS, NULL }
#define PLAIN(name) \
  { #name, name, METH_NOARGS, NULL }
#define ONE(name) \
  { #name, name, METH_O, NULL }
static PyMethodDef methods[] = {METHOD(set_errors),
                                ONE(set_on_interrupt),
                                METHOD(start),
                                PLAIN(node),
                                PLAIN(nodes),
                                PLAIN(version),
                                METHOD(alive),
                                PLAIN(leave_wanted),
                                PLAIN(leave),
                                METHOD(allocate),
                                METHOD(release_memory),
                                METHOD(region_create),
                                METHOD(region_destroy),
                                METHOD(region_of),
                                METHOD(memory),
                                METHOD(publish),
                                METHOD(lookup),
                                METHOD(prefetch),
                                METHOD(push),
                                METHOD(produce_begin),
                                METHOD(produce_end),
                                METHOD(label),
                                METHOD(phase),
                                METHOD(pin),
                                METHOD(unpin),
                                METHOD(fetch_add),
                                METHOD(exchange),
                                METHOD(compare_exchange),
                                METHOD(mutex_create),
                                METHOD(mutex_lock),
                                METHOD(mutex_timed_lock),
                                METHOD(mutex_unlock),
                                METHOD(mutex_destroy),
                                METHOD(rwlock_create),
                                METHOD(rwlock_read_lock),
                                METHOD(rwlock_write_lock),
                                METHOD(rwlock_unlock),
                                METHOD(rwlock_destroy),
                                METHOD(condition_create),
                                METHOD(condition_wait),
                                METHOD(condition_notify_one),
                                METHOD(condition_notify_all),
                                METHOD(condition_destroy),
                                METHOD(barrier_create),
                                METHOD(barrier_wait),
                                METHOD(barrier_destroy),
                                METHOD(event_create),
                                METHOD(event_set),
                                METHOD(event_reset),
                                METHOD(event_wait),
                                METHOD(event_destroy),
                                METHOD(semaphore_create),
                                METHOD(semaphore_acquire),
                                METHOD(semaphore_release),
                                METHOD(semaphore_destroy),
                                METHOD(reduce),
                                METHOD(broadcast),
                                METHOD(checkpoint),
                                METHOD(restore),
                                ONE(set_entry),
                                METHOD(stop_entries),
                                METHOD(spawn),
                                METHOD(join),
                                PLAIN(counters),
                                METHOD(container_open),
                                METHOD(container_close),
                                METHOD(container_remove),
                                METHOD(container_map),
                                METHOD(container_bytes),
                                METHOD(container_truncate),
                                METHOD(container_read),
                                METHOD(container_write),
                                METHOD(container_append),
                                METHOD(container_sync),
                                METHOD(container_drop),
                                PLAIN(container_list),
                                {NULL, NULL, 0, NULL}};

/* Not -1: another interpreter would get a copy of the module, and PyInit__native() would not be asked. */
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "quire._native", "Calls of libquire.", 0, methods, NULL, NULL, NULL, NULL};

static const struct {
  const char* name;
  long value;
} constants[] = {
#define CONSTANT(name) \
  { #name, QUIRE_##name }
    CONSTANT(TIMED_OUT),
    CONSTANT(BUSY),
    CONSTANT(NOT_FOUND),
    CONSTANT(EXISTS),
    CONSTANT(INVALID),
    CONSTANT(BAD_ADDRESS),
    CONSTANT(BAD_OPTION),
    CONSTANT(NO_MEMORY),
    CONSTANT(NO_ADDRESSES),
    CONSTANT(PEER_LOST),
    CONSTANT(SYSTEM),
    CONSTANT(LOST),
    CONSTANT(OWNER_DIED),
    CONSTANT(SEQUENTIAL),
    CONSTANT(RELEASE),
    CONSTANT(PLACE_BLOCK),
    CONSTANT(PLACE_NODE),
    CONSTANT(PLACE_FIRST_TOUCH),
    CONSTANT(IO),
    CONSTANT(BEYOND),
    CONSTANT(UNSUPPORTED),
    CONSTANT(LIMIT),
    CONSTANT(CONTAINER_CREATE),
    CONSTANT(CONTAINER_EXCLUSIVE),
    CONSTANT(CONTAINER_READ_ONLY),
    CONSTANT(CONTAINER_TRUNCATE),
    CONSTANT(SUM),
    CONSTANT(MIN),
    CONSTANT(MAX),
    CONSTANT(PRODUCT),
#undef CONSTANT
};

PyMODINIT_FUNC PyInit__native(void) {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) !=
      0) { /* a process is one node, and what is static here is of one interpreter */
    PyErr_SetString(PyExc_ImportError, "quire is for the main interpreter only: a process is one node of a job");
    return NULL;
  }
  static bool again;
  if (!again) (void)sem_init(&may_enter, 0, 0);
  again = true;
  PyObject* const made = PyModule_Create(&module);
  for (size_t i = 0; made != NULL && i < sizeof constants / sizeof *constants; ++i) {
    if (PyModule_AddIntConstant(made, constants[i].name, constants[i].value) != 0) {
      Py_DECREF(made);
      return NULL;
    }
  }
  return made;
}
