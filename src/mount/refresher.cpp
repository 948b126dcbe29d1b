// SPDX-License-Identifier: BSD-3-Clause
#include "mount/refresher.hpp"

#include <pthread.h>

#include <chrono>
#include <vector>

#include "os/own_thread.hpp"

namespace quire::mount {
namespace {
constexpr std::chrono::seconds period{1};
}

void refresher::on_open(number file) {
  const std::lock_guard lock(mutex_);
  ++open_[file];
  if (thread_.joinable() || stops_) return;
  thread_ = os::start_server([this] { work(); });
}

void refresher::on_release(number file) {
  const std::lock_guard lock(mutex_);
  const auto at = open_.find(file);
  if (at != open_.end() && --at->second == 0) open_.erase(at);
}

void refresher::work() {
  ::pthread_setname_np(::pthread_self(), "quire-refresh");
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, period, [this] { return stops_; })) {
    std::vector<number> all;
    for (const auto& [file, times] : open_) all.push_back(file);
    lock.unlock();
    for (const number file : all) empty_(file);
    lock.lock();
  }
}

void refresher::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace quire::mount
