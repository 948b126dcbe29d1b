// SPDX-License-Identifier: BSD-3-Clause
// Files that the kernel caches though nodes write them (--mount-cache): while one is open, its cache is emptied each
// second. That may wait for a read that is being served, so a thread of its own does it, for which nobody waits but
// stop(). refresher.cpp.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "mount/name_table.hpp"

namespace quire::mount {

class refresher {
 public:
  using number = name_table::number;
  /// `empty`: has the kernel forget the content of a file.
  explicit refresher(std::function<void(number)> empty) : empty_(std::move(empty)) {}
  ~refresher() { stop(); }
  refresher(const refresher&) = delete;
  refresher& operator=(const refresher&) = delete;

  void on_open(number file);
  void on_release(number file);
  /// Requests have to be served until it returns.
  void stop() noexcept;

 private:
  void work();

  const std::function<void(number)> empty_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<number, unsigned> open_;
  bool stops_ = false;
  std::thread thread_;  ///< from the first opening on
};

}  // namespace quire::mount
