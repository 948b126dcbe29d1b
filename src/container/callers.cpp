// SPDX-License-Identifier: BSD-3-Clause
#include "container/callers.hpp"

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/fault_heap.hpp"
#include "os/futex.hpp"
#include "os/signals_held.hpp"

namespace quire::container {
namespace {
constexpr unsigned most_idle = 4;
constexpr std::uint64_t usual_limit_ns = 60'000'000'000;
std::atomic<std::uint64_t> g_limit_ns{usual_limit_ns};
std::mutex g_mutex;
std::weak_ptr<callers> g_callers;
}  // namespace

void set_call_limit(std::uint64_t ns) noexcept { g_limit_ns.store(ns, std::memory_order_relaxed); }
std::uint64_t call_limit_ns() noexcept { return g_limit_ns.load(std::memory_order_relaxed); }

void* caller_task::operator new(std::size_t bytes) noexcept { return base::fault_allocate(bytes); }
void caller_task::operator delete(void* at, std::size_t bytes) noexcept { base::fault_free(at, bytes); }

std::shared_ptr<callers> callers::of_process() {
  const std::lock_guard guard(g_mutex);
  auto all = g_callers.lock();
  if (all != nullptr) return all;
  all.reset(new callers);
  if (!start(all->all_)) return nullptr;
  g_callers = all;
  return all;
}

/// Threads that are in a linker end when they come back.
callers::~callers() {
  const std::lock_guard guard(all_->mutex);
  all_->stopping = true;
  all_->wakes.notify_all();
}

bool callers::start(const std::shared_ptr<shared>& all) noexcept try {
  const os::signals_held by_it;
  std::thread([all] { work(*all, all); }).detach();
  return true;
} catch (...) {
  return false;
}

bool callers::perform(caller_task& task, std::uint64_t limit_ns) noexcept {
  {
    const std::lock_guard guard(all_->mutex);
    task.next_ = nullptr;
    (all_->last != nullptr ? all_->last->next_ : all_->first) = &task;
    all_->last = &task;
  }
  all_->wakes.notify_one();
  const std::uint64_t until_ns = base::now_ns() + limit_ns;
  for (;;) {
    const std::uint32_t seen = task.state_.load(std::memory_order_acquire);
    if (seen == caller_task::done) return true;
    const std::uint64_t now = limit_ns != 0 ? base::now_ns() : 0;
    if (limit_ns == 0 || now < until_ns) {
      os::futex_wait(task.state_, seen, limit_ns == 0 ? -1 : static_cast<std::int64_t>(until_ns - now));
    } else {
      task.begin_late();
      std::uint32_t is = seen;
      if (task.state_.compare_exchange_strong(is, caller_task::left, std::memory_order_acq_rel)) return false;
      task.stop_late();
    }
  }
}

void callers::work(shared& all, const std::shared_ptr<shared>& kept) noexcept {
  (void)os::hold_signals();
  ::pthread_setname_np(::pthread_self(), "quire-linker");
  std::unique_lock lock(all.mutex);
  while (all.idle < most_idle) {
    ++all.idle;
    all.wakes.wait(lock, [&] { return all.first != nullptr || all.stopping; });
    --all.idle;
    caller_task* const task = all.first;
    if (task == nullptr) return;
    all.first = task->next_;
    if (all.first == nullptr) all.last = nullptr;
    const bool starts = all.idle == 0 && !all.stopping;
    lock.unlock();
    if (starts) (void)start(kept);  // else what is begun next waits for the first that comes back
    std::uint32_t seen = caller_task::waiting;
    if (task->state_.compare_exchange_strong(seen, caller_task::running, std::memory_order_acq_rel)) {
      task->perform();
      seen = task->state_.exchange(caller_task::done, std::memory_order_acq_rel);
      if (seen != caller_task::left) os::futex_wake(task->state_, 1);  // it may be gone: then nobody sleeps there
    }
    if (seen == caller_task::left) {
      task->end_late();
      delete task;
    }
    lock.lock();
  }
}

}  // namespace quire::container
