// SPDX-License-Identifier: BSD-3-Clause
// Descriptors, streams between processes, and what a process needs to start others: one checked wrapper per system
// call. Called by src/bootstrap on both sides (node and launcher), in application context; nothing here is for faults.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"

namespace quire::os {

/// An open descriptor that closes itself; -1 is none.
class descriptor {
 public:
  descriptor() noexcept = default;
  explicit descriptor(int number) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~descriptor() { reset(); }
  void reset() noexcept;
  /// It is the caller's to close.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] bool open() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// Two ends; of a pipe, `first` is the end to read from.
struct descriptor_pair {
  descriptor first, second;
};

/// All new descriptors are closed on exec.
[[nodiscard]] base::result<descriptor_pair> make_socket_pair() noexcept;
[[nodiscard]] base::result<descriptor_pair> make_pipe() noexcept;

[[nodiscard]] base::status set_blocking(int number, bool blocking) noexcept;
[[nodiscard]] base::status set_close_on_exec(int number, bool closed) noexcept;
[[nodiscard]] bool is_socket(int number) noexcept;

/// What became of a read or a write on a descriptor that does not block.
struct transfer {
  enum class outcome { moved, would_block, ended, failed } what = outcome::failed;
  std::size_t bytes = 0;  ///< when moved: at least one
};
[[nodiscard]] transfer read_some(int number, std::span<char> into) noexcept;
/// Writes without raising SIGPIPE when `number` is a socket; elsewhere the caller must ignore that signal.
[[nodiscard]] transfer write_some(int number, std::span<const char> from) noexcept;

/// What was written to pipe `number` and its other end has not read; 0 for anything else than a pipe.
[[nodiscard]] std::size_t unread_bytes(int number) noexcept;

/// poll(2), gone on with after signals; returns the number of entries that are ready, 0 after `timeout_ms` (-1: never).
int wait_ready(std::span<pollfd> entries, int timeout_ms) noexcept;

/// Children of this process, orphans that were given to it included (a scan of /proc).
[[nodiscard]] std::vector<pid_t> children();
/// Whether a process is stopped by a signal, or by the terminal; not by a debugger. False for one that is not there.
[[nodiscard]] bool is_stopped(pid_t pid) noexcept;
/// The processor time that a thread of a process has had, the first one that has this name, and the time for which it
/// waited for a core (a scan of /proc).
struct thread_times {
  bool known = false;     ///< there is such a thread, and the system says it
  bool runnable = false;  ///< it runs, or waits for a core
  std::uint64_t ran_ns = 0, waited_ns = 0;
};
[[nodiscard]] thread_times times_of_thread(pid_t pid, std::string_view name);
/// Whether a thread lacked a core between the two, `period_ns` apart: it waited for one half of the time and more, or
/// waits now and has had one for less than half. False where one of them is not known, or they are of two threads.
[[nodiscard]] bool lacked_core(const thread_times& before, const thread_times& after, std::uint64_t period_ns) noexcept;
/// Whether a process is on its way out, or has ended and was not waited for. False for one that is not there.
[[nodiscard]] bool is_ending(pid_t pid) noexcept;
/// Whether `pid` is `ancestor` or comes of it, as this process counts processes.
[[nodiscard]] bool descends_from(pid_t pid, pid_t ancestor) noexcept;

/// Text of an errno value and of a signal number: "No such file or directory", "9 (Killed)".
[[nodiscard]] std::string error_text(int error);
[[nodiscard]] std::string signal_text(int signal);

}  // namespace quire::os
