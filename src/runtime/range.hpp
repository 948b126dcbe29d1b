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
  // What was adopted (quire_region_adopt) lies somewhere in these.
  std::atomic<std::uint64_t> adopted_base{0};
  std::atomic<std::uint64_t> adopted_bytes{0};
};
extern constinit shared_range g_range __attribute__((visibility("hidden")));

/// Of an address in the range: whether the faulting thread handles its faults. With detector 'thread' the kernel waits.
[[nodiscard]] bool needs_help(std::uint64_t address) noexcept;

/// Of an address between adopted ones: whether it is one itself.
[[nodiscard]] bool is_adopted(std::uint64_t address) noexcept;

/// Whether an address is shared at all.
[[nodiscard]] inline bool is_shared(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  if (at - g_range.base.load(std::memory_order_relaxed) < g_range.bytes.load(std::memory_order_relaxed)) return true;
  const bool may_be =
      at - g_range.adopted_base.load(std::memory_order_relaxed) < g_range.adopted_bytes.load(std::memory_order_relaxed);
  return may_be && is_adopted(at);
}
[[nodiscard]] inline bool is_away(const void* address) noexcept {
  return is_shared(address) && needs_help(reinterpret_cast<std::uint64_t>(address));
}

/// `bytes`, or as many of them as there are up to the end of the address's region.
[[nodiscard]] std::size_t within_region(const void* address, std::size_t bytes) noexcept;

/// Closed pages (quire_pages_close) are as the system's PROT_NONE: calls find EFAULT there. How many of `bytes` come
/// before the first closed page; `bytes`: there is none.
[[nodiscard]] std::size_t before_closed(const void* address, std::size_t bytes) noexcept;
/// The same before the first page that is not closed.
[[nodiscard]] std::size_t closed_here(const void* address, std::size_t bytes) noexcept;
[[nodiscard]] inline bool any_closed(const void* address, std::size_t bytes) noexcept {
  return is_shared(address) && before_closed(address, bytes) != bytes;
}
/// use(offset, length) for what may be accessed of a range.
template <class Use>
void for_each_open(const void* address, std::size_t bytes, const Use& use) {
  const auto* const at = static_cast<const char*>(address);
  for (std::size_t done = 0; done < bytes; done += closed_here(at + done, bytes - done)) {
    const std::size_t open = before_closed(at + done, bytes - done);
    if (open != 0) use(done, open);
    done += open;
  }
}

/// From the start of the job on calls look at this range, until hide(). Both are also called where calls must be as
/// without Quire.
void watch_range(std::uint64_t base, std::uint64_t bytes) noexcept;
/// And at this memory. One thread at a time.
void watch_adopted(std::uint64_t base, std::uint64_t bytes) noexcept;
void hide_range() noexcept;

}  // namespace quire::api::calls
