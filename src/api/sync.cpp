// SPDX-License-Identifier: BSD-3-Clause
// Bodies of the synchronisation calls: each fills in a sync::call and has the engine run it.
#include <cstring>

#include "api/explain.hpp"
#include "runtime/forward.hpp"
#include "report/pointer_check.hpp"
#include "report/report.hpp"
#include "base/clock.hpp"
#include "core/configuration.hpp"
#include "core/counters.hpp"
#include "core/job_call.hpp"
#include "core/sync_calls.hpp"
#include "sync/call.hpp"
#include "sync/names.hpp"

namespace {

using quire::sync::operation;

quire_status call(operation what, std::uint64_t object, std::int64_t timeout_ms, std::uint64_t operand = 0) {
  QUIRE_FORWARD(call, what, object, timeout_ms, operand);
  QUIRE_ENTER(r);
  quire::sync::call c;
  c.what = what;
  c.thread = static_cast<std::uint32_t>(quire_thread());
  c.object = object;
  c.operand = operand;
  return quire::api::explain(c, r->core->objects.synchronise(c, timeout_ms).code(), r->core->config.nodes,
                             r->core->objects.makers());
}

quire_status create_object(operation what, std::uint64_t operand, std::uint64_t* object) {
  QUIRE_FORWARD(create_object, what, operand, object);
  QUIRE_ENTER(r);
  quire::sync::call c;
  c.what = what;
  c.operand = operand;
  const auto why = r->core->objects.synchronise(c, -1);
  *object = c.object;
  return quire::api::explain(c, why.code(), r->core->config.nodes, r->core->objects.makers());
}

template <class Handle>
quire_status create(operation what, Handle* handle, std::uint64_t operand = 0) {
  QUIRE_STARTED();
  if (handle == nullptr)
    return quire::base::explain(QUIRE_INVALID, "%s(): the place for the handle is NULL", quire::sync::name_of(what));
  std::uint64_t object = 0;
  const quire_status why = create_object(what, operand, &object);
  if (why == QUIRE_OK) handle->id = object;
  return why;
}

/// Calls `f` and adds the time it took, and that it was called, to the counters.
template <class F>
quire_status timed(std::atomic<std::uint64_t> quire::core::engine_counters::*time,
                   std::atomic<std::uint64_t> quire::core::engine_counters::*count, quire::record::wait kind, F f) {
  QUIRE_ENTER(r);
  const std::uint64_t start = quire::base::now_ns();
  const quire_status why = f();
  const std::uint64_t end = quire::base::now_ns();
  auto& counters = r->core->count;
  (counters.*time).fetch_add(end - start, std::memory_order_relaxed);
  (counters.*count).fetch_add(1, std::memory_order_relaxed);
  quire::api::record_wait(*r, kind, start, end);
  return why;
}

/// A call that may wait for other threads, and whose time no counter has: the report has it.
quire_status waiting_call(operation what, std::uint64_t object, std::int64_t timeout_ms, std::uint64_t operand = 0) {
  QUIRE_FORWARD(waiting_call, what, object, timeout_ms, operand);
  QUIRE_ENTER(r);
  const quire::api::recorded_wait noted(*r, quire::record::wait::other);
  return call(what, object, timeout_ms, operand);
}

quire_status lock(quire_mutex mutex, std::int64_t timeout_ms) {
  QUIRE_FORWARD(lock, mutex, timeout_ms);
  using counters = quire::core::engine_counters;
  return timed(&counters::lock_ns, &counters::locks, quire::record::wait::lock,
               [&] { return call(operation::mutex_lock, mutex.id, timeout_ms); });
}

quire_status collect(operation what, quire::sync::value* values, std::uint32_t count, std::uint32_t combine,
                     std::uint64_t root) {
  QUIRE_FORWARD(collect, what, values, count, combine, root);
  QUIRE_ENTER(r);
  const quire::core::job_call together(*r->core, quire::sync::meeting::none, quire::sync::name_of(what),
                                       quire_thread());
  if (!together.status().ok()) return together.status().code();
  r->regions->flush_frees();
  const quire::api::recorded_wait noted(*r, quire::record::wait::other);
  quire::sync::call c;
  c.what = what;
  c.operand = root;
  c.count = count;
  c.combine = combine;
  c.values = *values;
  const auto why = r->core->objects.synchronise(c, -1);
  *values = c.values;
  return quire::api::explain(c, why.code(), r->core->config.nodes, r->core->objects.makers());
}

quire_status collective(operation what, void* values, std::uint32_t count, std::uint32_t bytes, std::uint32_t combine,
                        std::uint64_t root) {
  QUIRE_STARTED();
  if (values == nullptr)
    return quire::base::explain(QUIRE_INVALID, "%s(): the values are NULL", quire::sync::name_of(what));
  // Other bad arguments go their way: the machine answers them with QUIRE_INVALID on all nodes, and none waits for
  // ever.
  if (bytes > quire::sync::value::capacity) bytes = 0;
  quire::sync::value carried({static_cast<const std::byte*>(values), bytes});
  const quire_status why = collect(what, &carried, count, combine, root);
  if (why == QUIRE_OK) std::memcpy(values, carried.bytes().data(), bytes);
  return why;
}

}  // namespace

quire_status quire_mutex_create(quire_mutex* mutex) { return create(operation::mutex_create, mutex); }
quire_status quire_mutex_lock(quire_mutex mutex) { return lock(mutex, -1); }
quire_status quire_mutex_try_lock(quire_mutex mutex) { return lock(mutex, 0); }
quire_status quire_mutex_timed_lock(quire_mutex mutex, int64_t timeout_ms) { return lock(mutex, timeout_ms); }
quire_status quire_mutex_unlock(quire_mutex mutex) { return call(operation::mutex_unlock, mutex.id, -1); }
quire_status quire_mutex_destroy(quire_mutex mutex) { return call(operation::mutex_destroy, mutex.id, -1); }

quire_status quire_rwlock_create(quire_rwlock* lock) { return create(operation::rwlock_create, lock); }
quire_status quire_rwlock_read_lock(quire_rwlock lock, int64_t timeout_ms) {
  return waiting_call(operation::rwlock_read_lock, lock.id, timeout_ms);
}
quire_status quire_rwlock_write_lock(quire_rwlock lock, int64_t timeout_ms) {
  return waiting_call(operation::rwlock_write_lock, lock.id, timeout_ms);
}
quire_status quire_rwlock_unlock(quire_rwlock lock) { return call(operation::rwlock_unlock, lock.id, -1); }
quire_status quire_rwlock_destroy(quire_rwlock lock) { return call(operation::rwlock_destroy, lock.id, -1); }

quire_status quire_condition_create(quire_condition* condition) {
  return create(operation::condition_create, condition);
}
quire_status quire_condition_wait(quire_condition condition, quire_mutex mutex, int64_t timeout_ms) {
  return waiting_call(operation::condition_wait, condition.id, timeout_ms, mutex.id);
}
quire_status quire_condition_notify_one(quire_condition condition) {
  return call(operation::condition_notify_one, condition.id, -1);
}
quire_status quire_condition_notify_all(quire_condition condition) {
  return call(operation::condition_notify_all, condition.id, -1);
}
quire_status quire_condition_destroy(quire_condition condition) {
  return call(operation::condition_destroy, condition.id, -1);
}

quire_status quire_barrier_wait(quire_barrier barrier) {
  QUIRE_FORWARD(quire_barrier_wait, barrier);
  QUIRE_ENTER(r);
  r->regions->flush_frees();
  using counters = quire::core::engine_counters;
  const auto wait = [&] {
    return timed(&counters::barrier_ns, &counters::barriers, quire::record::wait::barrier,
                 [&] { return call(operation::barrier_wait, barrier.id, -1); });
  };
  if (barrier.id != 0) return wait();
  const quire::core::job_call together(*r->core, quire::sync::meeting::none, "quire_barrier_wait", quire_thread());
  if (!together.status().ok()) return together.status().code();
  if (r->pointers != nullptr) r->pointers->look(*r->core);
  return wait();
}
quire_status quire_await_nodes(void) {
  QUIRE_FORWARD(quire_await_nodes);
  QUIRE_ENTER(r);
  r->regions->flush_frees();
  const quire::core::job_call together(*r->core, quire::sync::meeting::none, "quire_await_nodes", quire_thread());
  if (!together.status().ok()) return together.status().code();
  if (r->pointers != nullptr) r->pointers->look(*r->core);
  using counters = quire::core::engine_counters;
  return timed(&counters::barrier_ns, &counters::barriers, quire::record::wait::barrier,
               [] { return call(operation::await_nodes, 0, -1); });
}
quire_status quire_barrier_create(uint32_t participants, quire_barrier* barrier) {
  return create(operation::barrier_create, barrier, participants);
}
quire_status quire_barrier_destroy(quire_barrier barrier) { return call(operation::barrier_destroy, barrier.id, -1); }

quire_status quire_event_create(quire_event* event) { return create(operation::event_create, event); }
quire_status quire_event_set(quire_event event) { return call(operation::event_set, event.id, -1); }
quire_status quire_event_reset(quire_event event) { return call(operation::event_reset, event.id, -1); }
quire_status quire_event_wait(quire_event event, int64_t timeout_ms) {
  return waiting_call(operation::event_wait, event.id, timeout_ms);
}
quire_status quire_event_destroy(quire_event event) { return call(operation::event_destroy, event.id, -1); }

quire_status quire_semaphore_create(uint64_t initial, quire_semaphore* semaphore) {
  return create(operation::semaphore_create, semaphore, initial);
}
quire_status quire_semaphore_acquire(quire_semaphore semaphore, int64_t timeout_ms) {
  return waiting_call(operation::semaphore_acquire, semaphore.id, timeout_ms);
}
quire_status quire_semaphore_release(quire_semaphore semaphore, uint64_t count) {
  return call(operation::semaphore_release, semaphore.id, -1, count);
}
quire_status quire_semaphore_destroy(quire_semaphore semaphore) {
  return call(operation::semaphore_destroy, semaphore.id, -1);
}

quire_status quire_reduce_f64(double* values, uint32_t count, quire_operation combine) {
  return collective(operation::reduce_f64, values, count, count <= 8 ? count * 8 : 0, combine, 0);
}
quire_status quire_reduce_i64(int64_t* values, uint32_t count, quire_operation combine) {
  return collective(operation::reduce_i64, values, count, count <= 8 ? count * 8 : 0, combine, 0);
}
quire_status quire_broadcast(void* value, uint32_t bytes, int root) {
  return collective(operation::broadcast, value, bytes, bytes, 0,
                    static_cast<std::uint64_t>(static_cast<unsigned>(root)));
}
