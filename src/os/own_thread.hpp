// SPDX-License-Identifier: BSD-3-Clause
// Threads of Quire's own. Where the system gives none, a line names the limit, in place of an exception that nobody
// catches, or of an assertion of a library.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>

#include "os/signals_held.hpp"

namespace quire::os {

/// Ends the process with that line.
[[noreturn]] void die_without_thread(int error) noexcept;

/// As the constructor of std::thread, for one without which Quire cannot go on.
template <class Body>
[[nodiscard]] std::thread start_thread(Body&& body) noexcept {
  try {
    return std::thread(std::forward<Body>(body));
  } catch (const std::system_error& refused) {
    die_without_thread(refused.code().value());
  }
}

/// The same, for one that serves: signals of the program are held from its beginning. A handler that ran before it can
/// hold them itself might share memory, and wait for what this thread is to serve.
template <class Body>
[[nodiscard]] std::thread start_server(Body&& body) noexcept {
  const signals_held by_it;
  return start_thread(std::forward<Body>(body));
}

/// Threads that do nothing while it lives. Who has had them can have as many afterwards; when all nodes of a host have
/// theirs at the same time, each can.
class thread_reserve {
 public:
  static constexpr unsigned count = 4;  ///< UCX's, the service thread, the one that starts others, one for the end
  thread_reserve() noexcept = default;
  thread_reserve(const thread_reserve&) = delete;
  thread_reserve& operator=(const thread_reserve&) = delete;
  ~thread_reserve() { release(); }
  /// False after a line.
  [[nodiscard]] bool take() noexcept;
  /// They are gone, and count no more.
  void release() noexcept;

 private:
  static void* wait(void* self) noexcept;
  std::atomic<std::uint32_t> open_{0};
  std::array<pthread_t, count> threads_{};
  std::array<std::atomic<pid_t>, count> numbers_{};
  std::atomic<unsigned> entered_{0};
  unsigned made_ = 0;
};

}  // namespace quire::os
