// SPDX-License-Identifier: BSD-3-Clause
// The driver pushes to a stack without a lock; who of the crew comes first sorts it into queues. `state` of an io: 0, then finished, or awaited
// while the driver sleeps for it.
#include "store/crew.hpp"

#include <pthread.h>
#include <signal.h>

#include "base/check.hpp"
#include "os/futex.hpp"

namespace quire::store {
namespace {

constexpr std::uint32_t finished = 1, awaited = 2;

/// A stack by io::next, as it was pushed to: oldest first.
io* oldest_first(io* newest) noexcept {
  io* oldest = nullptr;
  while (newest != nullptr) {
    io* const rest = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = rest;
  }
  return oldest;
}

/// True if it was empty.
bool push(std::atomic<io*>& stack, io& o) noexcept {
  io* head = stack.load(std::memory_order_relaxed);
  do {
    o.next = head;
  } while (!stack.compare_exchange_weak(head, &o, std::memory_order_release, std::memory_order_relaxed));
  return head == nullptr;
}

}  // namespace

void crew_of_threads::queue::push(io& o) noexcept {
  o.next = nullptr;
  (last != nullptr ? last->next : first) = &o;
  last = &o;
}

io* crew_of_threads::queue::pop() noexcept {
  io* const o = first;
  if (o == nullptr) return nullptr;
  first = o->next;
  if (first == nullptr) last = nullptr;
  return o;
}

void crew_of_threads::start(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

void crew_of_threads::stop() noexcept {
  stopping_ = true;
  tickets_.fetch_add(1);  // no thread sleeps on what it has seen before
  os::futex_wake(tickets_, static_cast<int>(threads_.size()));
  for (std::thread& t : threads_) t.join();
  threads_.clear();
}

void crew_of_threads::begin(io& o) noexcept {
  o.error = 0;
  o.state.store(0, std::memory_order_relaxed);
  (void)push(begun_, o);
  tickets_.fetch_add(1, std::memory_order_seq_cst);
  if (idle_.load(std::memory_order_seq_cst) != 0) os::futex_wake(tickets_, 1);
}

io* crew_of_threads::take_done() noexcept {
  if (done_.load(std::memory_order_relaxed) == nullptr) return nullptr;
  return oldest_first(done_.exchange(nullptr, std::memory_order_acquire));
}

void crew_of_threads::finish(io& o) noexcept {
  std::uint32_t seen = 0;
  o.state.compare_exchange_strong(seen, awaited, std::memory_order_acq_rel);
  while (o.state.load(std::memory_order_acquire) != finished) os::futex_wait(o.state, awaited, -1);
}

void crew_of_threads::work() noexcept {
  sigset_t all;
  sigfillset(&all);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&all, own);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  ::pthread_setname_np(::pthread_self(), "quire-crew");
  while (take_ticket()) {
    io& next = take_next();
    next.perform();
    done(next);
  }
}

/// The right to take one io, when there is one. False if the crew stops.
bool crew_of_threads::take_ticket() noexcept {
  for (;;) {
    std::uint32_t there = tickets_.load(std::memory_order_acquire);
    if (stopping_) return false;
    if (there != 0) {
      if (tickets_.compare_exchange_weak(there, there - 1, std::memory_order_acq_rel)) return true;
      continue;
    }
    idle_.fetch_add(1, std::memory_order_seq_cst);
    if (tickets_.load(std::memory_order_seq_cst) == 0) os::futex_wait(tickets_, 0, -1);
    idle_.fetch_sub(1, std::memory_order_relaxed);
  }
}

io& crew_of_threads::take_next() noexcept {
  const std::lock_guard guard(mutex_);
  for (io* o = oldest_first(begun_.exchange(nullptr, std::memory_order_acquire)); o != nullptr;) {
    io* const rest = o->next;
    (o->what == io::kind::fill ? fills_ : flushes_).push(*o);
    o = rest;
  }
  io* const fill = fills_.pop();
  io* const next = fill != nullptr ? fill : flushes_.pop();
  CHECK(next != nullptr);  // who has a ticket finds one
  return *next;
}

void crew_of_threads::done(io& o) noexcept {
  if (o.state.exchange(finished, std::memory_order_acq_rel) == awaited) os::futex_wake(o.state, 1);
  if (push(done_, o)) tell_(context_);  // from here on it may be gone
}

}  // namespace quire::store
