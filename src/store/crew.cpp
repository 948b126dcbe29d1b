// SPDX-License-Identifier: BSD-3-Clause
// The driver pushes to a stack without a lock; who of the crew comes first sorts it into queues. `state` of an io: 0,
// then finished, or awaited while the driver sleeps for it.
#include "store/crew.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>

#include "base/check.hpp"
#include "os/futex.hpp"
#include "os/own_thread.hpp"
#include "os/signals_held.hpp"

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

void crew_of_threads::team::start(unsigned count) {
  const os::signals_held by_them;
  const std::lock_guard guard(mutex);
  most_threads = std::max(most_threads, count);
  while (threads.size() < count) threads.emplace_back([this] { work(); });
}

bool crew_of_threads::team::try_start(unsigned most) noexcept try {
  most_threads = most;
  start(1);
  return true;
} catch (...) {
  return false;
}

/// Where nobody sleeps, what is begun next would wait. As many as the system gives.
void crew_of_threads::team::start_one_more() noexcept try {
  if (idle.load(std::memory_order_relaxed) != 0) return;
  const os::signals_held by_it;
  const std::lock_guard guard(mutex);
  if (threads.size() < most_threads && !tickets.has_stopped()) threads.emplace_back([this] { work(); });
} catch (...) {
}

void crew_of_threads::team::stop() noexcept {
  tell_to_stop();
  std::vector<std::thread> all_of_them;
  {
    const std::lock_guard guard(mutex);
    all_of_them.swap(threads);
  }
  for (std::thread& t : all_of_them) t.join();
}

void crew_of_threads::team::tell_to_stop() noexcept {
  tickets.stop();
  os::futex_wake(tickets.word(), 1 << 30);
}

void crew_of_threads::team::begin(io& o) noexcept {
  (void)push(begun, o);
  tickets.add();
  if (idle.load(std::memory_order_seq_cst) != 0) os::futex_wake(tickets.word(), 1);
}

void crew_of_threads::start(unsigned threads) try { shared_.start(threads); } catch (const std::system_error& refused) {
  os::die_without_thread(refused.code().value());
}

void crew_of_threads::stop() noexcept {
  shared_.stop();
  const std::lock_guard guard(teams_mutex_);
  for (const auto& t : teams_) t->stop();
}

/// Teams whose store has been closed have stopped, or are about to.
void crew_of_threads::hire(store& s) {
  const std::lock_guard guard(teams_mutex_);
  std::erase_if(teams_, [](const std::unique_ptr<team>& t) {
    if (!t->tickets.has_stopped()) return false;
    t->stop();
    return true;
  });
  team& own = *teams_.emplace_back(std::make_unique<team>(*this));
  if (own.try_start(std::max(s.threads(), 1u))) {
    s.team = &own;
  } else {
    teams_.pop_back();
  }
}

void crew_of_threads::begin(io& o) noexcept {
  o.error = 0;
  o.state.store(0, std::memory_order_relaxed);
  (o.of->team != nullptr ? *static_cast<team*>(o.of->team) : shared_).begin(o);
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

void crew_of_threads::team::work() noexcept {
  (void)os::hold_signals();
  ::pthread_setname_np(::pthread_self(), "quire-crew");
  while (take_ticket()) {
    start_one_more();
    io& next = take_next();
    const bool last = next.what == io::kind::close;
    next.perform();
    this->all.done(next);
    if (last) tell_to_stop();  // somebody joins this thread later (hire(), stop())
  }
}

/// The right to take one io, when there is one. False if the crew stops.
bool crew_of_threads::team::take_ticket() noexcept {
  for (;;) {
    const std::uint32_t seen = tickets.look();
    if (crew_tickets::has_stopped(seen)) return false;
    if (tickets.take(seen)) return true;
    if (seen != 0) continue;
    idle.fetch_add(1, std::memory_order_seq_cst);
    os::futex_wait(tickets.word(), 0, -1);
    idle.fetch_sub(1, std::memory_order_relaxed);
  }
}

io& crew_of_threads::team::take_next() noexcept {
  const std::lock_guard guard(mutex);
  for (io* o = oldest_first(begun.exchange(nullptr, std::memory_order_acquire)); o != nullptr;) {
    io* const rest = o->next;
    (o->what == io::kind::fill ? fills : flushes).push(*o);
    o = rest;
  }
  io* const fill = fills.pop();
  io* const next = fill != nullptr ? fill : flushes.pop();
  CHECK(next != nullptr);  // who has a ticket finds one
  return *next;
}

void crew_of_threads::done(io& o) noexcept {
  if (o.state.exchange(finished, std::memory_order_acq_rel) == awaited) os::futex_wake(o.state, 1);
  if (push(done_, o)) tell_(context_);  // from here on it may be gone
}

}  // namespace quire::store
