// SPDX-License-Identifier: BSD-3-Clause
#include "os/scratch_file.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "os/file_size.hpp"
#include "os/injection.hpp"
#include "os/segments.hpp"

namespace quire::os {

scratch_file::~scratch_file() {
  if (fd_ >= 0) ::close(fd_);
}

/// A descriptor, or -errno. Of two threads that make it at the same moment one keeps its own.
int scratch_file::open_file() noexcept {
  const int made = make_temporary_file(directory_.c_str(), 0);
  if (made < 0) return made;
  int none = -1;
  if (fd_.compare_exchange_strong(none, made)) return made;
  ::close(made);
  return none;
}

int scratch_file::write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
  int fd = fd_;
  if (fd < 0) fd = open_file();
  if (fd < 0) return -fd;
  const file_size_scope scope;
  while (!bytes.empty()) {
    const ssize_t done =
        injected(call::scratch_write) ? -1 : ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return 0;
}

int scratch_file::read(std::uint64_t offset, std::span<std::byte> bytes) const noexcept {
  while (!bytes.empty()) {
    const ssize_t done = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done < 0 ? errno : EIO;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return 0;
}

/// Some file systems (tmpfs) cannot say whether they would block.
int scratch_file::try_read(std::uint64_t offset, std::span<std::byte> bytes) const noexcept {
  const iovec into{bytes.data(), bytes.size()};
  const ssize_t done = ::preadv2(fd_, &into, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  return done == static_cast<ssize_t>(bytes.size()) ? 0 : EAGAIN;
}

/// A file system that cannot do it keeps the room until it is written again.
void scratch_file::forget(std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (fd_ < 0) return;
  (void)!::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                     static_cast<off_t>(bytes));
}

}  // namespace quire::os
