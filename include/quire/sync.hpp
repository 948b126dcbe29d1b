// SPDX-License-Identifier: BSD-3-Clause
// Synchronisation between threads of all nodes, with the names and the manners of the standard library: quire::mutex
// goes with std::scoped_lock and std::unique_lock, quire::shared_mutex with std::shared_lock.
//
// Every class here is a handle: a trivially copyable value that names an object of the job. Copies name the same
// object, on any node; a handle may lie in shared memory or be given to others by quire::broadcast(). A
// default-constructed handle names nothing (but for quire::barrier); create() makes an object, destroy() ends it, once
// nobody uses it any more. There is no destructor, because a handle that goes out of scope on one node says nothing
// about the others.
//
// All calls throw quire::error: errc::invalid for a handle that names nothing, errc::peer_lost when the job ends under
// them. Any thread of any node may call, between the start and the end of the session.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <quire/error.hpp>

namespace quire {
namespace detail {

/// What all handles have in common. `Native` is the handle of the C API.
template <class Native, quire_status (*Destroy)(Native)>
class handle {
 public:
  using native_handle_type = Native;
  [[nodiscard]] Native native_handle() const noexcept { return native_; }
  /// True if it names an object.
  [[nodiscard]] explicit operator bool() const noexcept { return native_.id != 0; }
  void destroy() { check(Destroy(native_), "destroy"); }
  [[nodiscard]] friend bool operator==(const handle& a, const handle& b) noexcept {
    return a.native_.id == b.native_.id;
  }

 protected:
  Native native_{};
};

/// Time left until `deadline`; never negative.
template <class Clock, class Duration>
[[nodiscard]] auto left_until(const std::chrono::time_point<Clock, Duration>& deadline) {
  const auto left = deadline - Clock::now();
  return left > left.zero() ? left : left.zero();
}

/// Unlocking runs in destructors. When a peer is lost there is nothing left to protect, and the next call will tell.
inline void check_unlock(quire_status status) {
  if (status != QUIRE_PEER_LOST) check(status, "unlock");
}

/// A lock that was a dead node's: unlocked again, and told by an exception, so that no guard is left open.
template <auto Unlock, class Native>
[[nodiscard]] quire_status taken(quire_status status, Native lock) {
  if (status == QUIRE_OWNER_DIED) Unlock(lock);
  return status;
}

}  // namespace detail

/// A mutex. It belongs to the thread that locked it; it is not recursive.
class mutex : public detail::handle<quire_mutex, quire_mutex_destroy> {
 public:
  [[nodiscard]] static mutex create() {
    mutex m;
    detail::check(quire_mutex_create(&m.native_), "mutex::create");
    return m;
  }
  /// Locks it; true if the node that had it last is dead, so that what it guards may be half done.
  [[nodiscard]] bool lock_robustly() {
    const quire_status status = quire_mutex_lock(native_);
    if (status != QUIRE_OWNER_DIED) detail::check(status, "mutex::lock_robustly");
    return status == QUIRE_OWNER_DIED;
  }
  /// errc::owner_died if the node that had it last is dead: once, and the mutex is unlocked then. The same from the
  /// others.
  void lock() { detail::check(detail::taken<quire_mutex_unlock>(quire_mutex_lock(native_), native_), "mutex::lock"); }
  [[nodiscard]] bool try_lock() {
    return detail::in_time(detail::taken<quire_mutex_unlock>(quire_mutex_try_lock(native_), native_),
                           "mutex::try_lock");
  }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> timeout) {
    return detail::in_time(
        detail::taken<quire_mutex_unlock>(quire_mutex_timed_lock(native_, detail::timeout_ms(timeout)), native_),
        "mutex::try_lock_for");
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> deadline) {
    return try_lock_for(detail::left_until(deadline));
  }
  /// errc::not_owner if the calling thread does not hold it.
  void unlock() { detail::check_unlock(quire_mutex_unlock(native_)); }
};

/// A reader-writer lock: many readers, or one writer.
class shared_mutex : public detail::handle<quire_rwlock, quire_rwlock_destroy> {
 public:
  [[nodiscard]] static shared_mutex create() {
    shared_mutex m;
    detail::check(quire_rwlock_create(&m.native_), "shared_mutex::create");
    return m;
  }
  void lock() {
    detail::check(detail::taken<quire_rwlock_unlock>(quire_rwlock_write_lock(native_, detail::for_ever), native_),
                  "shared_mutex::lock");
  }
  [[nodiscard]] bool try_lock() { return try_lock_for(std::chrono::seconds(0)); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> timeout) {
    return detail::in_time(
        detail::taken<quire_rwlock_unlock>(quire_rwlock_write_lock(native_, detail::timeout_ms(timeout)), native_),
        "shared_mutex::try_lock");
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> deadline) {
    return try_lock_for(detail::left_until(deadline));
  }
  void unlock() { detail::check_unlock(quire_rwlock_unlock(native_)); }

  void lock_shared() {
    detail::check(detail::taken<quire_rwlock_unlock>(quire_rwlock_read_lock(native_, detail::for_ever), native_),
                  "shared_mutex::lock_shared");
  }
  [[nodiscard]] bool try_lock_shared() { return try_lock_shared_for(std::chrono::seconds(0)); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<Rep, Period> timeout) {
    return detail::in_time(
        detail::taken<quire_rwlock_unlock>(quire_rwlock_read_lock(native_, detail::timeout_ms(timeout)), native_),
        "shared_mutex::try_lock_shared");
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> deadline) {
    return try_lock_shared_for(detail::left_until(deadline));
  }
  void unlock_shared() { detail::check_unlock(quire_rwlock_unlock(native_)); }
};

/// A condition variable for quire::mutex. The lock is released while waiting and held again on return, also after a
/// time-out. As with any condition variable, a wait without a predicate may wake for no reason.
class condition_variable : public detail::handle<quire_condition, quire_condition_destroy> {
 public:
  [[nodiscard]] static condition_variable create() {
    condition_variable c;
    detail::check(quire_condition_create(&c.native_), "condition_variable::create");
    return c;
  }
  void wait(std::unique_lock<mutex>& lock) {
    detail::check(quire_condition_wait(native_, lock.mutex()->native_handle(), detail::for_ever),
                  "condition_variable::wait");
  }
  template <class Predicate>
  void wait(std::unique_lock<mutex>& lock, Predicate ready) {
    while (!ready()) wait(lock);
  }
  template <class Rep, class Period>
  std::cv_status wait_for(std::unique_lock<mutex>& lock, std::chrono::duration<Rep, Period> timeout) {
    const quire_status status =
        quire_condition_wait(native_, lock.mutex()->native_handle(), detail::timeout_ms(timeout));
    return detail::in_time(status, "condition_variable::wait_for") ? std::cv_status::no_timeout
                                                                   : std::cv_status::timeout;
  }
  /// What `ready()` gives at the end: false only after a time-out.
  template <class Rep, class Period, class Predicate>
  [[nodiscard]] bool wait_for(std::unique_lock<mutex>& lock, std::chrono::duration<Rep, Period> timeout,
                              Predicate ready) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (!ready())
      if (wait_for(lock, detail::left_until(deadline)) == std::cv_status::timeout) return ready();
    return true;
  }
  void notify_one() { detail::check(quire_condition_notify_one(native_), "condition_variable::notify_one"); }
  void notify_all() { detail::check(quire_condition_notify_all(native_), "condition_variable::notify_all"); }
};

/// A barrier. A default-constructed one is the barrier of the whole job, at which one thread of each node arrives.
class barrier : public detail::handle<quire_barrier, quire_barrier_destroy> {
 public:
  [[nodiscard("a barrier is met by arrive_and_wait()")]] constexpr barrier() noexcept = default;
  /// A barrier for `participants` threads of whichever nodes.
  [[nodiscard]] static barrier create(std::uint32_t participants) {
    barrier b;
    detail::check(quire_barrier_create(participants, &b.native_), "barrier::create");
    return b;
  }
  void arrive_and_wait() { detail::check(quire_barrier_wait(native_), "barrier::arrive_and_wait"); }
};

/// An event stays set, and lets every waiter pass, until it is reset (KOAN).
class event : public detail::handle<quire_event, quire_event_destroy> {
 public:
  [[nodiscard]] static event create() {
    event e;
    detail::check(quire_event_create(&e.native_), "event::create");
    return e;
  }
  void set() { detail::check(quire_event_set(native_), "event::set"); }
  void reset() { detail::check(quire_event_reset(native_), "event::reset"); }
  void wait() { detail::check(quire_event_wait(native_, detail::for_ever), "event::wait"); }
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> timeout) {
    return detail::in_time(quire_event_wait(native_, detail::timeout_ms(timeout)), "event::wait_for");
  }
};

/// A counting semaphore.
class counting_semaphore : public detail::handle<quire_semaphore, quire_semaphore_destroy> {
 public:
  [[nodiscard]] static counting_semaphore create(std::uint64_t initial) {
    counting_semaphore s;
    detail::check(quire_semaphore_create(initial, &s.native_), "counting_semaphore::create");
    return s;
  }
  void acquire() { detail::check(quire_semaphore_acquire(native_, detail::for_ever), "counting_semaphore::acquire"); }
  [[nodiscard]] bool try_acquire() { return try_acquire_for(std::chrono::seconds(0)); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(std::chrono::duration<Rep, Period> timeout) {
    return detail::in_time(quire_semaphore_acquire(native_, detail::timeout_ms(timeout)),
                           "counting_semaphore::try_acquire");
  }
  void release(std::uint64_t count = 1) {
    detail::check(quire_semaphore_release(native_, count), "counting_semaphore::release");
  }
};

}  // namespace quire
