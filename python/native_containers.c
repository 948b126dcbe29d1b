/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers for Python: one function for each call of <quire/container.h>, with an opening as an integer.
 * quire/_files.py makes file objects of them. */
#include "native.h"

#include <quire/container.h>
#include <stdlib.h>
#include <string.h>

/* name, linker or None, what or None, flags, bytes, capacity, unit, home (negative: none), atomic -> an opening */
PyObject* container_open(PyObject* self, PyObject* arguments) {
  (void)self;
  const char *name, *linker, *what;
  unsigned flags;
  unsigned long long bytes, capacity, unit;
  int home, atomic;
  if (!PyArg_ParseTuple(arguments, "szzIKKKip", &name, &linker, &what, &flags, &bytes, &capacity, &unit, &home,
                        &atomic))
    return NULL;
  quire_container_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.linker = linker;
  options.what = what;
  options.flags = flags;
  options.bytes = bytes;
  options.capacity = capacity;
  options.unit_bytes = (size_t)unit;
  options.placement = home < 0 ? QUIRE_PLACE_BLOCK : QUIRE_PLACE_NODE;
  options.home = home < 0 ? 0 : home;
  options.atomic = atomic;
  quire_container opened = {0};
  quire_status status;
  WAITING(status, quire_container_open(name, &options, &opened));
  if (status != QUIRE_OK) return raise_status(status);
  return PyLong_FromUnsignedLongLong(opened.id);
}

static bool one_opening(PyObject* arguments, quire_container* opened) {
  unsigned long long id;
  if (!PyArg_ParseTuple(arguments, "K", &id)) return false;
  opened->id = id;
  return true;
}

PyObject* container_close(PyObject* self, PyObject* arguments) {
  (void)self;
  quire_container opened;
  quire_status status;
  if (!one_opening(arguments, &opened)) return NULL;
  WAITING(status, quire_container_close(opened));
  return none_or(status);
}

/* name, whether the content goes as well */
PyObject* container_remove(PyObject* self, PyObject* arguments) {
  (void)self;
  const char* name;
  int content;
  if (!PyArg_ParseTuple(arguments, "sp", &name, &content)) return NULL;
  quire_status status;
  WAITING(status, quire_container_remove(name, content ? QUIRE_CONTAINER_REMOVE_CONTENT : 0));
  return none_or(status);
}

/* -> (address, capacity) */
PyObject* container_map(PyObject* self, PyObject* arguments) {
  (void)self;
  quire_container opened;
  if (!one_opening(arguments, &opened)) return NULL;
  void* address = NULL;
  uint64_t capacity = 0;
  quire_status status;
  WAITING(status, quire_container_map(opened, &address, &capacity));
  if (status != QUIRE_OK) return raise_status(status);
  return Py_BuildValue("KK", (unsigned long long)(uintptr_t)address, (unsigned long long)capacity);
}

PyObject* container_bytes(PyObject* self, PyObject* arguments) {
  (void)self;
  quire_container opened;
  if (!one_opening(arguments, &opened)) return NULL;
  uint64_t bytes = 0;
  quire_status status;
  WAITING(status, quire_container_bytes(opened, &bytes));
  if (status != QUIRE_OK) return raise_status(status);
  return PyLong_FromUnsignedLongLong(bytes);
}

PyObject* container_truncate(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long id, bytes;
  if (!PyArg_ParseTuple(arguments, "KK", &id, &bytes)) return NULL;
  quire_status status;
  WAITING(status, quire_container_truncate((quire_container){id}, bytes));
  return none_or(status);
}

/* Reads into, or writes from, a buffer of Python; what `*number` is afterwards. */
typedef quire_status (*buffer_call)(quire_container opened, uint64_t at, void* buffer, size_t bytes, uint64_t* number);

static PyObject* with_buffer(PyObject* object, unsigned long long id, unsigned long long at, int flags,
                             buffer_call call) {
  if (!may_wait()) return NULL;
  Py_buffer buffer;
  if (PyObject_GetBuffer(object, &buffer, flags) != 0) return NULL;
  uint64_t number = 0;
  quire_status status;
  WAITING_WITHIN(status, call((quire_container){id}, at, buffer.buf, (size_t)buffer.len, &number));
  PyBuffer_Release(&buffer);
  if (status != QUIRE_OK) return raise_status(status);
  return PyLong_FromUnsignedLongLong(number);
}

static quire_status read_into(quire_container opened, uint64_t at, void* buffer, size_t bytes, uint64_t* number) {
  size_t done = 0;
  const quire_status status = quire_container_read(opened, at, buffer, bytes, &done);
  *number = done;
  return status;
}
static quire_status write_from(quire_container opened, uint64_t at, void* buffer, size_t bytes, uint64_t* number) {
  size_t done = 0;
  const quire_status status = quire_container_write(opened, at, buffer, bytes, &done);
  *number = done;
  return status;
}
static quire_status append_from(quire_container opened, uint64_t at, void* buffer, size_t bytes, uint64_t* number) {
  (void)at;
  return quire_container_append(opened, buffer, bytes, number);
}

/* opening, where, buffer -> how many bytes were there */
PyObject* container_read(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject* object;
  unsigned long long id, at;
  if (!PyArg_ParseTuple(arguments, "KKO", &id, &at, &object)) return NULL;
  return with_buffer(object, id, at, PyBUF_WRITABLE, read_into);
}

/* opening, where, buffer -> how many bytes were written */
PyObject* container_write(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject* object;
  unsigned long long id, at;
  if (!PyArg_ParseTuple(arguments, "KKO", &id, &at, &object)) return NULL;
  return with_buffer(object, id, at, PyBUF_SIMPLE, write_from);
}

/* opening, buffer -> where */
PyObject* container_append(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject* object;
  unsigned long long id;
  if (!PyArg_ParseTuple(arguments, "KO", &id, &object)) return NULL;
  return with_buffer(object, id, 0, PyBUF_SIMPLE, append_from);
}

static PyObject* with_part(PyObject* arguments,
                           quire_status (*call)(quire_container opened, uint64_t at, uint64_t bytes)) {
  unsigned long long id, at, bytes;
  if (!PyArg_ParseTuple(arguments, "KKK", &id, &at, &bytes)) return NULL;
  quire_status status;
  WAITING(status, call((quire_container){id}, at, bytes));
  return none_or(status);
}

/* opening, where, bytes (0: to the end) */
PyObject* container_sync(PyObject* self, PyObject* arguments) {
  (void)self;
  return with_part(arguments, quire_container_sync);
}
PyObject* container_drop(PyObject* self, PyObject* arguments) {
  (void)self;
  return with_part(arguments, quire_container_drop);
}

struct row {
  char name[64];
  uint64_t bytes;
  unsigned flags;
};
struct rows {
  struct row* first;
  size_t count;
};

/* Without the GIL. */
static int add_row(void* context, const char* name, uint64_t bytes, unsigned flags) {
  struct rows* const all = context;
  struct row* const longer = realloc(all->first, (all->count + 1) * sizeof *longer);
  if (longer == NULL) return 1;
  all->first = longer;
  struct row* const row = &longer[all->count++];
  memset(row, 0, sizeof *row);
  strncpy(row->name, name, sizeof row->name - 1);
  row->bytes = bytes;
  row->flags = flags;
  return 0;
}

static PyObject* list_of(const struct rows* all) {
  PyObject* const list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < all->count; ++i) {
    const struct row* const row = &all->first[i];
    PyObject* const tuple = Py_BuildValue("sKN", row->name, (unsigned long long)row->bytes,
                                          PyBool_FromLong(row->flags & QUIRE_CONTAINER_READ_ONLY));
    if (tuple == NULL || PyList_Append(list, tuple) != 0) {
      Py_XDECREF(tuple);
      Py_DECREF(list);
      return NULL;
    }
    Py_DECREF(tuple);
  }
  return list;
}

/* -> a list of (name, bytes, whether it is read-only) */
PyObject* container_list(PyObject* self, PyObject* nothing) {
  (void)self;
  (void)nothing;
  struct rows all = {NULL, 0};
  quire_status status;
  WAITING(status, quire_container_list(add_row, &all));
  PyObject* const list = status == QUIRE_OK ? list_of(&all) : raise_status(status);
  free(all.first);
  return list;
}
