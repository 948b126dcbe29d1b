// Countdown for fault tests: makes the n-th call of one kind fail with a given errno. Costs one relaxed load when off.
// Set by tests through inject(), or in a running program by the environment: QUIRE_FAIL=memfd:1:28 (call, which one, errno) (see tests/fault).
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

/// True, with errno set, when this call is the one that shall fail.
[[nodiscard]] inline bool injected(call which) noexcept {
  if (g_injection.which.load(std::memory_order_relaxed) != static_cast<int>(which)) [[likely]] return false;
  if (g_injection.countdown.fetch_sub(1) != 1) return false;
  errno = g_injection.error.load();
  return true;
}

/// Reads QUIRE_FAIL; false if it is set and cannot be understood. At start.
[[nodiscard]] bool inject_from_environment() noexcept;

}  // namespace quire::os
