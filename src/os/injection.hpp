// SPDX-License-Identifier: BSD-3-Clause
// Countdown for fault tests: makes the n-th call of one kind fail with a given errno. Costs one relaxed load when off.
// Set by tests through inject(), or in a running program by the environment: QUIRE_FAIL=memfd:1:28 (call, which one,
// errno) (see tests/fault). With the word `kill` in the place of the errno the process is killed there (SIGKILL), as if
// the machine had lost power; with `wait` the thread sleeps for half a second, and the call is made: whatever others do
// meanwhile has time to go wrong.
#pragma once

#include <atomic>
#include <cerrno>

namespace quire::os {

/// The wrapped calls that can be made to fail.
enum class call : int {
  none = 0,
  memfd,
  truncate,
  map,
  protect,
  advise,
  userfault_open,
  userfault_ioctl,
  pagemap_open,
  pagemap_scan,
  scratch_write,
  file_make,  ///< of durable files (durable_file.hpp): a file or a directory
  file_write,
  file_sync,
  file_rename,
  file_remove,
  hand_over,       ///< no call: a thread gives up driving, and has not looked yet what others have queued; for `wait`
  unnamed_file,    ///< open() with O_TMPFILE
  segment_attach,  ///< of a System V segment
  userfault_read_only,  ///< UFFDIO_CONTINUE_MODE_WP, which Linux has since 6.4 (EINVAL)
  populate,             ///< MADV_POPULATE_WRITE, which Linux has since 5.14 (EINVAL)
  thread_finished,  ///< no call: a thread that quire_spawn() has started has said that it is done, and is still within
                    ///< the library; for `wait`
  process_handle,   ///< pidfd_open(); ESRCH: the process has ended
  process_file,     ///< open() of a file that another process has (process_file.hpp)
  count
};

struct injection {
  std::atomic<int> which{0};
  std::atomic<int> countdown{0};
  std::atomic<int> error{0};
};
inline injection g_injection;

/// The `nth` next call of kind `which` fails with `error` (nth = 1: the next one). Any thread.
inline void inject(call which, int nth, int error) noexcept {
  g_injection.countdown.store(nth);
  g_injection.error.store(error);
  g_injection.which.store(static_cast<int>(which));
}

/// In the place of an errno.
inline constexpr int kill_instead = -1, wait_instead = -2;
[[noreturn]] void die_here() noexcept;
void wait_here() noexcept;

/// True, with errno set, when this call is the one that shall fail.
[[nodiscard]] inline bool injected(call which) noexcept {
  if (g_injection.which.load(std::memory_order_relaxed) != static_cast<int>(which)) [[likely]]
    return false;
  if (g_injection.countdown.fetch_sub(1) != 1) return false;
  if (g_injection.error.load() == kill_instead) die_here();
  if (g_injection.error.load() == wait_instead) {
    wait_here();
    return false;
  }
  errno = g_injection.error.load();
  return true;
}

/// Reads QUIRE_FAIL; false if it is set and cannot be understood. At start.
[[nodiscard]] bool inject_from_environment() noexcept;

}  // namespace quire::os
