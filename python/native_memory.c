/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory, regions, pins and words for Python: one function for each call of <quire/quire.h>, with addresses and handles
 * as integers. */
#include "native.h"

#include <string.h>

/* ---- Memory */

PyObject* allocate(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long alignment, bytes;
  if (!PyArg_ParseTuple(arguments, "KK", &alignment, &bytes)) return NULL;
  void* address = NULL;
  quire_status status;
  WAITING(status, quire_aligned_alloc((size_t)alignment, (size_t)bytes, &address));
  if (status != QUIRE_OK) return raise_status(status);
  return PyLong_FromVoidPtr(address);
}

PyObject* release_memory(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long address;
  if (!PyArg_ParseTuple(arguments, "K", &address)) return NULL;
  quire_status status;
  WAITING(status, quire_free((void*)(uintptr_t)address));
  return none_or(status);
}

/* bytes, consistency, unit, placement, home -> (region, address) */
PyObject* region_create(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long bytes, unit;
  int consistency, placement, home;
  if (!PyArg_ParseTuple(arguments, "KiKii", &bytes, &consistency, &unit, &placement, &home)) return NULL;
  quire_region_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.consistency = (quire_consistency)consistency;
  options.unit_bytes = (size_t)unit;
  options.placement = (quire_placement)placement;
  options.home = home;
  quire_region region = {0};
  quire_status status;
  WAITING(status, quire_region_create(&options, bytes, &region));
  if (status != QUIRE_OK) return raise_status(status);
  void* address = NULL;
  uint64_t length = 0;
  status = quire_region_range(region, &address, &length);
  if (status != QUIRE_OK) return raise_status(status);
  return Py_BuildValue("KK", (unsigned long long)region.id, (unsigned long long)(uintptr_t)address);
}

PyObject* region_destroy(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long region;
  if (!PyArg_ParseTuple(arguments, "K", &region)) return NULL;
  quire_status status;
  WAITING(status, quire_region_destroy((quire_region){region}));
  return none_or(status);
}

PyObject* region_of(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long address;
  if (!PyArg_ParseTuple(arguments, "K", &address)) return NULL;
  quire_region region;
  const quire_status status = quire_region_of((const void*)(uintptr_t)address, &region);
  if (status != QUIRE_OK) return raise_status(status);
  return PyLong_FromUnsignedLongLong(region.id);
}

/* address, bytes -> a memoryview of shared memory */
PyObject* memory(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long address, bytes;
  if (!PyArg_ParseTuple(arguments, "KK", &address, &bytes)) return NULL;
  return PyMemoryView_FromMemory((char*)(uintptr_t)address, (Py_ssize_t)bytes, PyBUF_WRITE);
}

PyObject* publish(PyObject* self, PyObject* arguments) {
  (void)self;
  const char* name;
  unsigned long long value;
  if (!PyArg_ParseTuple(arguments, "sK", &name, &value)) return NULL;
  quire_status status;
  WAITING(status, quire_publish(name, (const void*)(uintptr_t)value));
  return none_or(status);
}

PyObject* lookup(PyObject* self, PyObject* arguments) {
  (void)self;
  const char* name;
  long long timeout;
  if (!PyArg_ParseTuple(arguments, "sL", &name, &timeout)) return NULL;
  void* value = NULL;
  quire_status status;
  WAITING(status, quire_lookup(name, timeout, &value));
  if (status != QUIRE_OK) return raise_status(status);
  return PyLong_FromVoidPtr(value);
}

/* Functions of a range and a number. */
typedef quire_status (*range_call)(const void* address, size_t bytes, int more);

static PyObject* call_with_range(PyObject* arguments, range_call call) {
  unsigned long long address, bytes;
  int more;
  if (!PyArg_ParseTuple(arguments, "KKi", &address, &bytes, &more)) return NULL;
  quire_status status;
  WAITING(status, call((const void*)(uintptr_t)address, (size_t)bytes, more));
  return none_or(status);
}
static quire_status push_range(const void* address, size_t bytes, int unused) {
  (void)unused;
  return quire_push(address, bytes);
}
PyObject* prefetch(PyObject* self, PyObject* arguments) {
  (void)self;
  return call_with_range(arguments, quire_prefetch);
}
PyObject* push(PyObject* self, PyObject* arguments) {
  (void)self;
  return call_with_range(arguments, push_range);
}
PyObject* produce_begin(PyObject* self, PyObject* arguments) {
  (void)self;
  return call_with_range(arguments, quire_produce_begin);
}
PyObject* produce_end(PyObject* self, PyObject* arguments) {
  (void)self;
  return call_with_range(arguments, quire_produce_end);
}

PyObject* pin(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long address, bytes;
  long long timeout;
  if (!PyArg_ParseTuple(arguments, "KKL", &address, &bytes, &timeout)) return NULL;
  quire_status status;
  WAITING(status, quire_pin((const void*)(uintptr_t)address, (size_t)bytes, timeout, NULL));
  if (status != QUIRE_OK) return raise_status(status);
  ++pins_of_thread;
  Py_RETURN_NONE;
}

PyObject* unpin(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long address, bytes;
  if (!PyArg_ParseTuple(arguments, "KK", &address, &bytes)) return NULL;
  quire_status status;
  Py_BEGIN_ALLOW_THREADS status = quire_unpin((const void*)(uintptr_t)address, (size_t)bytes);
  Py_END_ALLOW_THREADS if (status == QUIRE_OK && pins_of_thread != 0)-- pins_of_thread;
  return none_or(status);
}

/* ---- Atomic operations on 64-bit words */

static PyObject* change_word(PyObject* arguments,
                             quire_status (*call)(uint64_t* word, uint64_t value, uint64_t* before)) {
  unsigned long long address;
  long long value;
  if (!PyArg_ParseTuple(arguments, "KL", &address, &value)) return NULL;
  uint64_t before = 0;
  quire_status status;
  WAITING(status, call((uint64_t*)(uintptr_t)address, (uint64_t)value, &before));
  if (status != QUIRE_OK) return raise_status(status);
  return PyLong_FromLongLong((long long)before);
}
PyObject* fetch_add(PyObject* self, PyObject* arguments) {
  (void)self;
  return change_word(arguments, quire_fetch_add);
}
PyObject* exchange(PyObject* self, PyObject* arguments) {
  (void)self;
  return change_word(arguments, quire_exchange);
}

/* -> (whether it was done, what was there) */
PyObject* compare_exchange(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long address;
  long long expected, desired;
  if (!PyArg_ParseTuple(arguments, "KLL", &address, &expected, &desired)) return NULL;
  uint64_t there = (uint64_t)expected;
  int done = 0;
  quire_status status;
  WAITING(status, quire_compare_exchange((uint64_t*)(uintptr_t)address, &there, (uint64_t)desired, &done));
  if (status != QUIRE_OK) return raise_status(status);
  return Py_BuildValue("NL", PyBool_FromLong(done), (long long)there);
}
