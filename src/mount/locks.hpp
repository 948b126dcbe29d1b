// SPDX-License-Identifier: BSD-3-Clause
// Locks that programs have or wait for through a mount. Which there are in the job `files` knows; here stands which of
// them a close() ends, and who waits: one thread asks for all of them again and again, so that requests that wait take
// none of the mount's threads. Whose turn it is `files` knows, too. Several threads call. locks.cpp.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "mount/files.hpp"
#include "mount/name_table.hpp"

namespace quire::mount {

class locks {
 public:
  using number = name_table::number;
  struct waiter {
    number file = 0;
    std::shared_ptr<opened> by{};
    file_lock wanted{};
    std::function<void(int error)> answer{};  ///< called once: 0, EINTR, or an error of files::lock()
    std::atomic<bool> interrupted{false};     ///< its program has got a signal, or dies
  };

  locks() = default;
  ~locks() { stop(); }
  locks(const locks&) = delete;
  locks& operator=(const locks&) = delete;

  /// As files::lock().
  [[nodiscard]] int set(number file, const std::shared_ptr<opened>& by, const file_lock& wanted, lock_wait how);
  /// Somebody else's is in the way. One of flock that the owner has goes before, so that two who share it do not wait
  /// for each other.
  void wait(std::shared_ptr<waiter> who);
  /// An owner closes the file: its locks of fcntl go, by whatever descriptor they were made.
  void on_flush(number file, opened& by, std::uint64_t owner);
  /// Nobody has `by` open any more: what was locked by it goes.
  void on_release(number file, opened& by);
  /// Who waits is answered.
  void stop() noexcept;

 private:
  struct key {
    number file;
    std::uint64_t owner;
    bool of_flock;
    friend auto operator<=>(const key&, const key&) = default;
  };
  void work();
  static void unlock(opened& by, const key& of);
  /// What the owner has, if it may have something.
  void drop(opened& by, const key& of);
  static void withdraw(waiter& w);
  /// False: it waits on.
  [[nodiscard]] bool serve(waiter& w);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<key, const opened*> holders_;        ///< owners who may have locks, and by what they made the last one
  std::list<std::shared_ptr<waiter>> waiters_;  ///< as they came
  bool stops_ = false;
  std::thread thread_;  ///< from the first one that waits on
};

}  // namespace quire::mount
