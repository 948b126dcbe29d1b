// SPDX-License-Identifier: BSD-3-Clause
#include "os/scratch_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "os/injection.hpp"
#include "os/segments.hpp"

namespace quire::os {

scratch_file::~scratch_file() {
  if (fd_ >= 0) ::close(fd_);
}

int scratch_file::write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
  if (fd_ < 0) {
    const int made = make_temporary_file(directory_.c_str(), 0);
    if (made < 0) return -made;
    fd_ = made;
  }
  while (!bytes.empty()) {
    const ssize_t done = injected(call::scratch_write) ? -1 : ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
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

/// A file system that cannot do it keeps the room until it is written again.
void scratch_file::forget(std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (fd_ < 0) return;
  (void)!::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

}  // namespace quire::os
