// SPDX-License-Identifier: BSD-3-Clause
// A file: byte i of the container is byte i of it. It becomes longer by writing, and by truncate().
#include <fcntl.h>
#include <quire/container.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "container/linkers.hpp"
#include "os/injection.hpp"

namespace quire::container {
namespace {

struct open_file {
  int descriptor = -1;
  open_file(int d) noexcept : descriptor(d) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() { ::close(descriptor); }
};
int of(void* self) noexcept { return static_cast<open_file*>(self)->descriptor; }

int open(void*, const char* what, unsigned flags, std::uint64_t* bytes, void** self) {
  const bool writes = (flags & QUIRE_CONTAINER_READ_ONLY) == 0;
  int how = writes ? O_RDWR : O_RDONLY;
  if (writes && (flags & QUIRE_CONTAINER_CREATE) != 0) how |= O_CREAT;
  if (writes && (flags & QUIRE_CONTAINER_TRUNCATE) != 0) how |= O_TRUNC;
  const int descriptor = ::open(what, how | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0) return errno;
  std::unique_ptr<open_file> made(new (std::nothrow) open_file(descriptor));
  if (made == nullptr) {
    ::close(descriptor);
    return ENOMEM;
  }
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) return errno;
  if (!S_ISREG(about.st_mode)) return S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
  *bytes = static_cast<std::uint64_t>(about.st_size);
  *self = made.release();
  return 0;
}

int fill(void* self, std::uint64_t at, void* into, std::size_t bytes) {
  char* to = static_cast<char*>(into);
  while (bytes != 0) {
    const ssize_t done = ::pread(of(self), to, bytes, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) break;
    to += done;
    at += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
  std::memset(to, 0, bytes);
  return bytes == 0 ? 0 : ENODATA;
}

/// From the page cache. What is only in part below the end is left to fill().
int try_fill(void* self, std::uint64_t at, void* into, std::size_t bytes) {
  const iovec part{into, bytes};
  return ::preadv2(of(self), &part, 1, static_cast<off_t>(at), RWF_NOWAIT) == static_cast<ssize_t>(bytes) ? 0 : EAGAIN;
}

int flush(void* self, std::uint64_t at, const void* from, std::size_t bytes) {
  const char* next = static_cast<const char*>(from);
  while (bytes != 0) {
    if (os::injected(os::call::file_write)) return errno;
    const ssize_t done = ::pwrite(of(self), next, bytes, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    next += done;
    at += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
  return 0;
}

int sync(void* self) {
  if (os::injected(os::call::file_sync)) return errno;
  return ::fdatasync(of(self)) == 0 ? 0 : errno;
}

int truncate(void* self, std::uint64_t bytes) {
  return ::ftruncate(of(self), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
}

void close(void* self) { delete static_cast<open_file*>(self); }

int remove(void*, const char* what) { return ::unlink(what) == 0 ? 0 : errno; }

/// File systems that several machines have in common: there the number of a device says nothing.
bool is_of_a_network(long type) noexcept {
  constexpr std::uint32_t all[] = {0x6969,     0xff534d42, 0xfe534d42, 0x01021997, 0x00c36400, 0x0bd00bd0,
                                   0x47504653, 0x19830326, 0x6e66,     0x2022,     0x7461636f};
  return std::find(std::begin(all), std::end(all), static_cast<std::uint32_t>(type)) !=
         std::end(all);  // nfs smb2 cifs 9p ceph lustre gpfs beegfs ...
}

/// This machine, since it was started.
std::uint64_t machine() noexcept {
  char text[64] = {};
  const int descriptor = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    if (::read(descriptor, text, sizeof text - 1) < 0) text[0] = 0;
    ::close(descriptor);
  }
  std::uint64_t sum = 14695981039346656037u;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return sum;
}

/// One of a file system of the machine is told by machine, device and number; one of a network, where devices have
/// other numbers on each machine, by what is as good as unique of it.
int identify(void*, const char* what, std::uint64_t* identity) {
  struct stat about {};
  struct statfs system {};
  if (::stat(what, &about) != 0 || ::statfs(what, &system) != 0) return errno;
  const bool network = is_of_a_network(static_cast<long>(system.f_type));
  const auto changed = static_cast<std::uint64_t>(about.st_ctim.tv_sec) * 1'000'000'000 +
                       static_cast<std::uint64_t>(about.st_ctim.tv_nsec);
  const std::uint64_t parts[] = {about.st_ino,
                                 static_cast<std::uint64_t>(system.f_type),
                                 network ? 0 : machine(),
                                 network ? 0 : about.st_dev,
                                 network ? static_cast<std::uint64_t>(about.st_size) : 0,
                                 network ? changed : 0};
  std::uint64_t sum = 14695981039346656037u;
  for (const std::uint64_t part : parts) {
    for (unsigned shift = 0; shift < 64; shift += 8) sum = (sum ^ (part >> shift & 0xff)) * 1099511628211u;  // FNV-1a
  }
  *identity = sum;
  return 0;
}

}  // namespace

quire_linker file_linker() noexcept {
  quire_linker l{};
  l.size = sizeof l;
  l.name = "file";
  l.can = QUIRE_LINK_WRITE | QUIRE_LINK_TRUNCATE;
  l.open = open;
  l.try_fill = try_fill;
  l.fill = fill;
  l.flush = flush;
  l.sync = sync;
  l.truncate = truncate;
  l.close = close;
  l.remove = remove;
  l.identify = identify;
  return l;
}

}  // namespace quire::container
