// SPDX-License-Identifier: BSD-3-Clause
#include "mount/locks.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <vector>

#include "os/own_thread.hpp"

namespace quire::mount {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds shortest_pause{1}, longest_pause{16};
}  // namespace

int locks::set(number file, const std::shared_ptr<opened>& by, const file_lock& wanted, lock_wait how) {
  const int error = by->shown.lock(by->handle, wanted, how);
  if (error != 0) return error;
  const std::lock_guard lock(mutex_);
  if (wanted.is != file_lock::kind::none) holders_[{file, wanted.owner, wanted.of_flock}] = by.get();
  changed_.notify_all();  // some of a lock may have gone
  return 0;
}

void locks::wait(std::shared_ptr<waiter> who) {
  if (who->wanted.of_flock) drop(*who->by, {who->file, who->wanted.owner, true});
  const std::lock_guard lock(mutex_);
  waiters_.push_back(std::move(who));
  changed_.notify_all();
  if (thread_.joinable() || stops_) return;
  thread_ = os::start_server([this] { work(); });
}

bool locks::serve(waiter& w) {
  const bool ends = w.interrupted.load();
  const int error = ends ? EINTR : set(w.file, w.by, w.wanted, lock_wait::queues);
  if (error == EAGAIN) return false;
  if (ends) withdraw(w);
  w.answer(error);
  return true;
}

void locks::withdraw(waiter& w) { (void)w.by->shown.lock(w.by->handle, w.wanted, lock_wait::withdraws); }

void locks::work() {
  ::pthread_setname_np(::pthread_self(), "quire-locks");
  auto pause = shortest_pause;
  std::unique_lock lock(mutex_);
  while (!stops_) {
    if (waiters_.empty()) {
      changed_.wait(lock);
      pause = shortest_pause;
      continue;
    }
    const std::vector<std::shared_ptr<waiter>> all(waiters_.begin(), waiters_.end());
    lock.unlock();
    std::vector<std::shared_ptr<waiter>> served;
    for (const auto& w : all) {
      if (serve(*w)) served.push_back(w);
    }
    lock.lock();
    for (const auto& w : served) waiters_.remove(w);
    if (stops_ || waiters_.empty()) continue;
    const bool woken = changed_.wait_for(lock, pause) == std::cv_status::no_timeout;
    pause = woken || !served.empty() ? shortest_pause : std::min(2 * pause, longest_pause);
  }
}

void locks::unlock(opened& by, const key& of) {
  (void)by.shown.lock(by.handle, {of.owner, of.of_flock, file_lock::kind::none, 0, INT64_MAX},
                      lock_wait::none);  // it cannot fail while the job lives
}

void locks::drop(opened& by, const key& of) {
  {
    const std::lock_guard lock(mutex_);
    if (holders_.erase(of) == 0) return;
  }
  unlock(by, of);
  changed_.notify_all();
}

void locks::on_flush(number file, opened& by, std::uint64_t owner) { drop(by, {file, owner, false}); }

void locks::on_release(number file, opened& by) {
  std::vector<key> gone;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(holders_, [&](const auto& one) {
      if (one.second != &by || one.first.file != file) return false;
      gone.push_back(one.first);
      return true;
    });
  }
  for (const key& of : gone) unlock(by, of);
  if (!gone.empty()) changed_.notify_all();
}

void locks::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  for (const auto& w : waiters_) {
    withdraw(*w);
    w->answer(EINTR);
  }
  waiters_.clear();
}

}  // namespace quire::mount
