// SPDX-License-Identifier: BSD-3-Clause
#include "store/file/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

namespace quire::store {

std::unique_ptr<file> file::open(const std::string& path, way how, int& error) {
  constexpr int flags[] = {O_RDONLY, O_RDWR, O_RDWR | O_CREAT};
  const int descriptor = ::open(path.c_str(), flags[static_cast<unsigned>(how)] | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    error = errno;
    return nullptr;
  }
  struct stat about {};
  error = ::fstat(descriptor, &about) != 0 ? errno : S_ISREG(about.st_mode) ? 0 : EINVAL;
  if (error != 0) {
    ::close(descriptor);
    return nullptr;
  }
  return std::unique_ptr<file>(new file(path, descriptor, static_cast<std::uint64_t>(about.st_size), how != way::read));
}

file::~file() { ::close(descriptor_); }

/// Somebody else may have made the file shorter: then there is zero, too.
int file::fill(std::uint64_t at, std::span<std::byte> into) noexcept {
  while (!into.empty()) {
    const ssize_t done = ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) break;
    into = into.subspan(static_cast<std::size_t>(done));
    at += static_cast<std::uint64_t>(done);
  }
  std::ranges::fill(into, std::byte{0});
  return 0;
}

int file::flush(std::uint64_t at, std::span<const std::byte> from) noexcept {
  if (!writable_) return EROFS;
  const std::shared_lock guard(resizing_);
  const std::uint64_t end = bytes();
  from = from.first(std::min<std::uint64_t>(from.size(), end > at ? end - at : 0));
  while (!from.empty()) {
    const ssize_t done = ::pwrite(descriptor_, from.data(), from.size(), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    from = from.subspan(static_cast<std::size_t>(done));
    at += static_cast<std::uint64_t>(done);
  }
  return 0;
}

int file::sync() noexcept { return !writable_ || ::fdatasync(descriptor_) == 0 ? 0 : errno; }

/// What is only in part below the end is left to fill().
int file::try_fill(std::uint64_t at, std::span<std::byte> into) noexcept {
  const iovec parts{into.data(), into.size()};
  const ssize_t done = ::preadv2(descriptor_, &parts, 1, static_cast<off_t>(at), RWF_NOWAIT);
  return done == static_cast<ssize_t>(into.size()) ? 0 : EAGAIN;
}

int file::resize(std::uint64_t bytes) noexcept {
  if (!writable_) return EROFS;
  const std::unique_lock guard(resizing_);
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) return errno;
  bytes_.store(bytes, std::memory_order_relaxed);
  return 0;
}

}  // namespace quire::store
