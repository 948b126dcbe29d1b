// SPDX-License-Identifier: BSD-3-Clause
// Whether an address is one that the kernel cannot fetch itself. Interposed calls ask this first, for each address they
// are given: two loads and a comparison where it is private. Async-signal-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quire::api::calls {

struct shared_range {
  std::atomic<std::uint64_t> base{0};
  std::atomic<std::uint64_t> bytes{0};  ///< 0: not started, ended, or a forked child
};
extern constinit shared_range g_range __attribute__((visibility("hidden")));

/// Of an address in the range: whether the faulting thread handles its faults. With detector 'thread' the kernel waits.
[[nodiscard]] bool needs_help(std::uint64_t address) noexcept;

/// Whether an address lies in the range at all.
[[nodiscard]] inline bool is_shared(const void* address) noexcept {
  return reinterpret_cast<std::uint64_t>(address) - g_range.base.load(std::memory_order_relaxed) <
         g_range.bytes.load(std::memory_order_relaxed);
}
[[nodiscard]] inline bool is_away(const void* address) noexcept {
  return is_shared(address) && needs_help(reinterpret_cast<std::uint64_t>(address));
}

/// `bytes`, or as many of them as there are up to the end of the address's region.
[[nodiscard]] std::size_t within_region(const void* address, std::size_t bytes) noexcept;

/// From the start of the job on calls look at this range, until hide(). Both are also called where calls must be as
/// without Quire.
void watch_range(std::uint64_t base, std::uint64_t bytes) noexcept;
void hide_range() noexcept;

}  // namespace quire::api::calls
