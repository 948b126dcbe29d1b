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

namespace quire::os {
namespace {

int control(int fd, unsigned long request, void* argument) noexcept {
  if (injected(call::userfault_ioctl)) return errno;
  return ::ioctl(fd, request, argument) == 0 ? 0 : errno;
}

/// The system call if it is allowed, else the device (an open /dev/userfaultfd is a privilege of its own).
int open_descriptor(userfault_mode mode) noexcept {
  if (injected(call::userfault_open)) return -errno;
  const int flags = O_CLOEXEC | O_NONBLOCK;
  // With SIGBUS no fault is ever taken in kernel mode, so the unprivileged flag loses nothing.
  const int kind = mode == userfault_mode::inline_sigbus ? UFFD_USER_MODE_ONLY : 0;
  long fd = ::syscall(SYS_userfaultfd, flags | kind);
  if (fd >= 0) return static_cast<int>(fd);
  const int error = errno;
  const int device = ::open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
  if (device < 0) return -error;
  fd = ::ioctl(device, USERFAULTFD_IOC_NEW, flags);
  ::close(device);
  return fd >= 0 ? static_cast<int>(fd) : -error;
}

}  // namespace

int userfault_open(userfault_mode mode) noexcept {
  const int fd = open_descriptor(mode);
  if (fd < 0) return fd;
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_WP_HUGETLBFS_SHMEM;
  if (mode == userfault_mode::inline_sigbus) api.features |= UFFD_FEATURE_SIGBUS;
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
    const int error = control(fd, UFFDIO_CONTINUE, &c);
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

}  // namespace quire::os
