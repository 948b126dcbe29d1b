// SPDX-License-Identifier: BSD-3-Clause
// A memfd mapped twice, the application view being watched by a userfaultfd whose faults the faulting thread gets as
// SIGBUS: the mechanism of a page fault in Quire, and nothing else of it.
#pragma once

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/order.hpp"
#include "floor/peer.hpp"

// Debian 12's headers are those of Linux 6.1.
#ifndef UFFDIO_CONTINUE_MODE_WP
#define UFFDIO_CONTINUE_MODE_WP (1ULL << 1)
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1ULL << 12)
#endif

namespace bench {

class double_view {
 public:
  explicit double_view(std::size_t bytes) : bytes_(bytes), memory_(::memfd_create("double view", MFD_CLOEXEC)) {
    if (memory_ < 0 || ::ftruncate(memory_, static_cast<off_t>(bytes)) != 0) fail("memfd");
    application_ = map();
    system_ = map();
    std::memset(system_, 0, bytes_);
    watch();
  }
  double_view(const double_view&) = delete;
  double_view& operator=(const double_view&) = delete;

  [[nodiscard]] std::byte* application() const noexcept { return application_; }
  [[nodiscard]] std::byte* system() const noexcept { return system_; }

  /// Maps a page of the application view for reading. In a signal handler.
  [[nodiscard]] bool permit_read(std::size_t page) const noexcept {
    uffdio_continue c{};
    c.range = {reinterpret_cast<std::uint64_t>(application_ + page * page_bytes), page_bytes};
    c.mode = UFFDIO_CONTINUE_MODE_WP;
    return ::ioctl(watcher_, UFFDIO_CONTINUE, &c) == 0;
  }
  /// All pages of the application view become absent; their frames stay.
  void invalidate() const {
    if (::madvise(application_, bytes_, MADV_DONTNEED) != 0) fail("madvise");
  }
  /// The frames go as well: the next copy into the system view needs new ones.
  void discard() const {
    if (::fallocate(memory_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes_)) != 0)
      fail("fallocate");
  }

 private:
  [[nodiscard]] std::byte* map() const {
    void* const at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
    if (at == MAP_FAILED) fail("mmap");
    return static_cast<std::byte*>(at);
  }
  void watch() {
    watcher_ = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
    if (watcher_ < 0) fail("userfaultfd");
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_SIGBUS;
    if (::ioctl(watcher_, UFFDIO_API, &api) != 0) fail("userfaultfd features");
    uffdio_register r{};
    r.range = {reinterpret_cast<std::uint64_t>(application_), bytes_};
    r.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP;
    if (::ioctl(watcher_, UFFDIO_REGISTER, &r) != 0) fail("userfaultfd register");
  }

  std::size_t bytes_;
  int memory_, watcher_ = -1;
  std::byte *application_ = nullptr, *system_ = nullptr;
};

}  // namespace bench
