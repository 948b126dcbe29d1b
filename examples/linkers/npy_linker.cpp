// SPDX-License-Identifier: BSD-3-Clause
// A container that is the array in a file of NumPy (.npy, versions 1 to 3): byte 0 is the first element. The shape
// stays, so its length does.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <quire/container.h>

#include "linkers.h"

namespace {

struct array_file {
  int file = -1;
  std::uint64_t header = 0;  ///< bytes before the array
  std::uint64_t bytes = 0;   ///< of the array
};

/// Where the array begins; the format is described in numpy.lib.format.
int read_header(array_file& a) {
  unsigned char begin[12] = {};
  if (::pread(a.file, begin, sizeof begin, 0) < 10 || std::memcmp(begin, "\x93NUMPY", 6) != 0) return EINVAL;
  const int version = begin[6];
  if (version < 1 || version > 3) return EINVAL;
  std::uint64_t length = begin[8] | begin[9] << 8;
  if (version > 1) length |= static_cast<std::uint64_t>(begin[10]) << 16 | static_cast<std::uint64_t>(begin[11]) << 24;
  a.header = (version == 1 ? 10 : 12) + length;
  struct stat facts {};
  if (::fstat(a.file, &facts) != 0) return errno;
  if (static_cast<std::uint64_t>(facts.st_size) < a.header) return EINVAL;
  a.bytes = static_cast<std::uint64_t>(facts.st_size) - a.header;
  return 0;
}

int open(void*, const char* what, unsigned flags, std::uint64_t* bytes, void** self) {
  if ((flags & QUIRE_CONTAINER_TRUNCATE) != 0) return EINVAL;  // an array keeps its shape
  array_file a;
  a.file = ::open(what, ((flags & QUIRE_CONTAINER_READ_ONLY) != 0 ? O_RDONLY : O_RDWR) | O_CLOEXEC);
  if (a.file < 0) return errno;
  if (const int error = read_header(a); error != 0) {
    ::close(a.file);
    return error;
  }
  *bytes = a.bytes;
  *self = new array_file(a);
  return 0;
}

/// Fills what is there of a range, and the rest with zeroes. `flags` of preadv2().
int read_range(const array_file& a, std::uint64_t at, char* into, std::size_t bytes, int flags) {
  const std::size_t there = at >= a.bytes ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(bytes, a.bytes - at));
  for (std::size_t done = 0; done < there;) {
    const iovec piece{into + done, there - done};
    const ssize_t got = ::preadv2(a.file, &piece, 1, static_cast<off_t>(a.header + at + done), flags);
    if (got <= 0) return got < 0 ? errno : EIO;
    done += static_cast<std::size_t>(got);
  }
  std::memset(into + there, 0, bytes - there);
  return 0;
}

/// Only what the kernel has in memory: EAGAIN without waiting for the disk.
int try_fill(void* self, std::uint64_t at, void* into, std::size_t bytes) {
  const int error = read_range(*static_cast<const array_file*>(self), at, static_cast<char*>(into), bytes, RWF_NOWAIT);
  return error == EOPNOTSUPP ? EAGAIN : error;
}

int fill(void* self, std::uint64_t at, void* into, std::size_t bytes) {
  return read_range(*static_cast<const array_file*>(self), at, static_cast<char*>(into), bytes, 0);
}

int flush(void* self, std::uint64_t at, const void* from, std::size_t bytes) {
  const auto& a = *static_cast<const array_file*>(self);
  if (at >= a.bytes) return 0;
  bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, a.bytes - at));
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t wrote =
        ::pwrite(a.file, static_cast<const char*>(from) + done, bytes - done, static_cast<off_t>(a.header + at + done));
    if (wrote <= 0) return wrote < 0 ? errno : EIO;
    done += static_cast<std::size_t>(wrote);
  }
  return 0;
}

int sync(void* self) { return ::fdatasync(static_cast<const array_file*>(self)->file) == 0 ? 0 : errno; }

void close(void* self) {
  auto* const a = static_cast<array_file*>(self);
  ::close(a->file);
  delete a;
}

}  // namespace

// Constant: it is there whichever file is initialised first.
constinit const quire_linker npy_linker = {
    .size = sizeof(quire_linker),
    .name = "npy",
    .can = QUIRE_LINK_WRITE,
    .grain = 0,
    .threads = 0,
    .context = nullptr,
    .open = open,
    .try_fill = try_fill,
    .fill = fill,
    .flush = flush,
    .sync = sync,
    .truncate = nullptr,
    .close = close,
    .remove = nullptr,
    .identify = nullptr,
};
