// userfaultfd(2): the calls that Quire uses, each checked, with the constants that older headers lack. All are
// async-signal-safe; addresses and lengths are multiples of the page.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::os {

/// What a descriptor is opened for.
enum class userfault_mode {
  inline_sigbus,  ///< the faulting thread gets SIGBUS and handles the fault itself; no privilege needed
  thread,         ///< somebody reads the descriptor; system calls fault as well; needs privilege
};

/// Opens a userfaultfd with the features that shared memory needs (minor and write-protect faults on shmem).
/// Gives the descriptor, or -errno: EPERM without the privilege for `thread`, EINVAL/ENOSYS where the kernel cannot.
[[nodiscard]] int userfault_open(userfault_mode mode) noexcept;
/// Registers a range for missing, minor and write-protect faults. 0 or errno.
[[nodiscard]] int userfault_register(int fd, void* address, std::uint64_t bytes) noexcept;
[[nodiscard]] int userfault_unregister(int fd, void* address, std::uint64_t bytes) noexcept;
/// Maps pages whose frames exist. Wakes who waits. 0; EFAULT when a frame is missing; other errno.
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

}  // namespace quire::os
