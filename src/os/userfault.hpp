// SPDX-License-Identifier: BSD-3-Clause
// userfaultfd(2), and the pagemap that tells which pages were written: the calls that Quire uses, each checked, with
// the constants that older headers lack. All are async-signal-safe; addresses and lengths are multiples of the page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace quire::os {

/// What a descriptor is opened for.
enum class userfault_mode {
  inline_sigbus,  ///< the faulting thread gets SIGBUS and handles the fault itself; no privilege needed
  thread,         ///< somebody reads the descriptor; system calls fault as well; needs privilege
  inline_scan,    ///< as inline_sigbus, but a write to a page that is mapped is no fault: pagemap_collect() finds it
};

/// Opens a userfaultfd with the features that shared memory needs (minor and write-protect faults on shmem).
/// Gives the descriptor, or -errno: EPERM without the privilege for `thread`, EINVAL/ENOSYS where the kernel cannot
/// (`inline_scan` needs Linux 6.7).
[[nodiscard]] int userfault_open(userfault_mode mode) noexcept;
/// The features that this system offers, bits of uffdio_api.features: of the system call, or of the device where that
/// is refused (`by_device`). 0 or errno.
[[nodiscard]] int userfault_features(std::uint64_t& offered, bool& by_device) noexcept;
/// Registers a range for missing, minor and write-protect faults. 0 or errno.
[[nodiscard]] int userfault_register(int fd, void* address, std::uint64_t bytes) noexcept;
[[nodiscard]] int userfault_unregister(int fd, void* address, std::uint64_t bytes) noexcept;
/// Maps pages whose frames exist. Wakes who waits. 0; EFAULT when a frame is missing; EINVAL for `read_only` before
/// Linux 6.4; other errno.
[[nodiscard]] int userfault_continue(int fd, void* address, std::size_t bytes, bool read_only) noexcept;
/// Takes the right to write, or gives it back (and wakes). 0 or errno.
[[nodiscard]] int userfault_protect(int fd, void* address, std::size_t bytes, bool read_only) noexcept;
[[nodiscard]] int userfault_wake(int fd, void* address, std::size_t bytes) noexcept;

/// A fault read from the descriptor in thread mode.
struct userfault_event {
  std::uint64_t address = 0;
  bool write = false;
};
/// The next event; false when there is none.
[[nodiscard]] bool userfault_read(int fd, userfault_event& event) noexcept;

/// Pages that lie together, [begin, end), as the kernel gives them.
struct pagemap_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t kinds = 0;
};
/// Opens the pagemap of this process for pagemap_collect(): a descriptor that the caller closes, or -errno; ENOTTY
/// where the kernel cannot find written pages by it (before Linux 6.7).
[[nodiscard]] int pagemap_open() noexcept;
/// Finds the pages of [begin, end) that are not write-protected, and protects them, each in one step. The range lies
/// within one that is registered with an `inline_scan` descriptor. Pages that are not mapped are found as well if their
/// entry in the page table is empty; it gets a mark, which keeps them from being found again until they have been
/// mapped and written. `found` is filled from its start with `count` ranges, upwards; `next` is where to go on, `end`
/// when all was looked at. 0; EPERM when the range is not registered so; EINVAL for no room in `found`; other errno.
/// After an error (the range is not what it should be, or the process is being killed) all of it may have been written.
[[nodiscard]] int pagemap_collect(int fd, std::uint64_t begin, std::uint64_t end, std::span<pagemap_range> found,
                                  std::size_t& count, std::uint64_t& next) noexcept;

}  // namespace quire::os
