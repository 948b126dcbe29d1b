// SPDX-License-Identifier: BSD-3-Clause
#include "os/userfault.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/injection.hpp"

// Debian 12's headers are those of Linux 6.1.
#ifndef UFFDIO_CONTINUE_MODE_WP
#define UFFDIO_CONTINUE_MODE_WP (1ULL << 1)
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1ULL << 12)
#endif
#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1ULL << 15)
#endif

namespace quire::os {
namespace {

/// struct pm_scan_arg of <linux/fs.h> since Linux 6.7, and what goes with it. Under a name of our own: newer headers
/// have it.
struct scan_request {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t start, end;
  std::uint64_t walk_end;
  std::uint64_t vec, vec_len;
  std::uint64_t max_pages;
  std::uint64_t category_inverted, category_mask, category_anyof_mask;
  std::uint64_t return_mask;
};
constexpr unsigned long scan_number = _IOWR('f', 16, scan_request);
constexpr std::uint64_t scan_protects_matching = 1 << 0;  // PM_SCAN_WP_MATCHING
constexpr std::uint64_t scan_checks_async = 1 << 1;       // PM_SCAN_CHECK_WPASYNC
constexpr std::uint64_t page_is_written = 1 << 1;         // PAGE_IS_WRITTEN
static_assert(sizeof(scan_request) == 96 && sizeof(pagemap_range) == 24, "as the kernel has them");

int control(int fd, unsigned long request, void* argument) noexcept {
  if (injected(call::userfault_ioctl)) return errno;
  return ::ioctl(fd, request, argument) == 0 ? 0 : errno;
}

/// The system call if it is allowed, else the device (an open /dev/userfaultfd is a privilege of its own).
int open_descriptor(userfault_mode mode, bool& by_device) noexcept {
  by_device = false;
  if (injected(call::userfault_open)) return -errno;
  const int flags = O_CLOEXEC | O_NONBLOCK;
  // With SIGBUS no fault is ever taken in kernel mode, so the unprivileged flag loses nothing.
  const int kind = mode == userfault_mode::thread ? 0 : UFFD_USER_MODE_ONLY;
  long fd = ::syscall(SYS_userfaultfd, flags | kind);
  if (fd >= 0) return static_cast<int>(fd);
  const int error = errno;
  const int device = ::open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
  if (device < 0) return -error;
  by_device = true;
  fd = ::ioctl(device, USERFAULTFD_IOC_NEW, flags);
  ::close(device);
  return fd >= 0 ? static_cast<int>(fd) : -error;
}

}  // namespace

int userfault_features(std::uint64_t& offered, bool& by_device) noexcept {
  const int fd = open_descriptor(userfault_mode::inline_sigbus, by_device);
  if (fd < 0) return -fd;
  uffdio_api api{};
  api.api = UFFD_API;  // who asks for none is told all
  const int error = control(fd, UFFDIO_API, &api);
  ::close(fd);
  offered = api.features;
  return error;
}

int userfault_open(userfault_mode mode) noexcept {
  bool by_device = false;
  const int fd = open_descriptor(mode, by_device);
  if (fd < 0) return fd;
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_WP_HUGETLBFS_SHMEM;
  api.features |= mode == userfault_mode::thread ? UFFD_FEATURE_EXACT_ADDRESS
                                                 : UFFD_FEATURE_SIGBUS;  // the first is as old as what all modes need
  if (mode == userfault_mode::inline_scan) api.features |= UFFD_FEATURE_WP_ASYNC;
  if (const int error = control(fd, UFFDIO_API, &api); error != 0) {
    ::close(fd);
    return -error;
  }
  return fd;
}

int userfault_register(int fd, void* address, std::uint64_t bytes) noexcept {
  uffdio_register r{};
  r.range = {reinterpret_cast<std::uint64_t>(address), bytes};
  r.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP;
  return control(fd, UFFDIO_REGISTER, &r);
}

int userfault_unregister(int fd, void* address, std::uint64_t bytes) noexcept {
  uffdio_range r{reinterpret_cast<std::uint64_t>(address), bytes};
  return control(fd, UFFDIO_UNREGISTER, &r);
}

int userfault_continue(int fd, void* address, std::size_t bytes, bool read_only) noexcept {
  auto at = reinterpret_cast<std::uint64_t>(address);
  const std::uint64_t end = at + bytes;
  while (at < end) {
    uffdio_continue c{};
    c.range = {at, end - at};
    c.mode = read_only ? UFFDIO_CONTINUE_MODE_WP : 0;
    const int error = read_only && injected(call::userfault_read_only) ? errno : control(fd, UFFDIO_CONTINUE, &c);
    if (error == 0) return 0;
    if (c.mapped > 0) {  // EAGAIN after part of the range: the next page stopped it, or the address space was busy
      at += static_cast<std::uint64_t>(c.mapped);
    } else if (error == EEXIST) {  // mapped already: nobody was woken
      if (const int failed = userfault_wake(fd, reinterpret_cast<void*>(at), 4096); failed != 0) return failed;
      at += 4096;
    } else if (error != EAGAIN) {
      return error;
    }
  }
  return 0;
}

int userfault_protect(int fd, void* address, std::size_t bytes, bool read_only) noexcept {
  for (;;) {
    uffdio_writeprotect w{};
    w.range = {reinterpret_cast<std::uint64_t>(address), bytes};
    w.mode = read_only ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
    const int error = control(fd, UFFDIO_WRITEPROTECT, &w);
    if (error != EAGAIN) return error;
  }
}

int userfault_wake(int fd, void* address, std::size_t bytes) noexcept {
  uffdio_range r{reinterpret_cast<std::uint64_t>(address), bytes};
  return control(fd, UFFDIO_WAKE, &r);
}

bool userfault_read(int fd, userfault_event& event) noexcept {
  uffd_msg m;
  for (;;) {
    // The raw call: Quire interposes read(2).
    const long n = ::syscall(SYS_read, fd, &m, sizeof m);
    if (n != static_cast<long>(sizeof m)) return false;
    if (m.event != UFFD_EVENT_PAGEFAULT) continue;
    event.address = m.arg.pagefault.address;
    event.write = (m.arg.pagefault.flags & (UFFD_PAGEFAULT_FLAG_WRITE | UFFD_PAGEFAULT_FLAG_WP)) != 0;
    return true;
  }
}

int pagemap_open() noexcept {
  if (injected(call::pagemap_open)) return -errno;
  const int fd = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  scan_request nothing{};
  nothing.size = sizeof nothing;
  if (::ioctl(fd, scan_number, &nothing) < 0) {
    const int error = errno;
    ::close(fd);
    return -error;
  }
  return fd;
}

int pagemap_collect(int fd, std::uint64_t begin, std::uint64_t end, std::span<pagemap_range> found, std::size_t& count,
                    std::uint64_t& next) noexcept {
  count = 0;
  next = begin;
  if (found.empty()) return EINVAL;  // the kernel would protect what nobody hears of
  if (injected(call::pagemap_scan)) return errno;
  scan_request r{};
  r.size = sizeof r;
  r.flags = scan_protects_matching | scan_checks_async;
  r.start = begin;
  r.end = end;
  r.vec = reinterpret_cast<std::uint64_t>(found.data());
  r.vec_len = found.size();
  // Just these masks take the kernel's short way, which tells empty entries as well.
  r.category_mask = page_is_written;
  r.return_mask = page_is_written;
  const int ranges = ::ioctl(fd, scan_number, &r);
  if (ranges < 0) return errno;
  count = static_cast<std::size_t>(ranges);
  // `walk_end` may be that of an earlier part of the walk. Without room for more, the last range is how far it came.
  next = count < found.size() ? end : found.back().end;
  return 0;
}

}  // namespace quire::os
