#include "os/segments.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "os/injection.hpp"
#include "os/memory.hpp"

namespace quire::os {
namespace {

/// Gives `fd` its length, or closes it.
int sized(int fd, std::uint64_t bytes) noexcept {
  if (fd < 0) return -errno;
  if (!injected(call::truncate) && ::ftruncate(fd, static_cast<off_t>(bytes)) == 0) return fd;
  const int error = errno;
  close_descriptor(fd);
  return -error;
}

std::uint64_t read_limit(const char* path, std::uint64_t otherwise) noexcept {
  unsigned long value = 0;
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return otherwise;
  const bool read = std::fscanf(file, "%lu", &value) == 1;
  std::fclose(file);
  return read ? value : otherwise;
}

}  // namespace

int make_posix_object(std::uint64_t bytes) noexcept {
  char name[64];
  int fd = -1;
  // For a moment the object has a name, which nobody can have foretold, and taken first.
  for (int tries = 0; fd < 0 && tries < 16; ++tries) {
    std::uint64_t number[2];
    if (::getrandom(number, sizeof number, 0) != sizeof number) return -errno;
    std::snprintf(name, sizeof name, "/quire.%016lx%016lx", number[0], number[1]);
    fd = ::shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd >= 0) ::shm_unlink(name);
    if (fd < 0 && errno != EEXIST) break;
  }
  return sized(fd, bytes);
}

std::string temporary_directory(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const char* const set = std::getenv("TMPDIR");
  return set != nullptr && *set != 0 ? set : "/var/tmp";
}

int make_temporary_file(const char* directory, std::uint64_t bytes) noexcept {
  int fd = ::open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {  // a file system without O_TMPFILE
    char path[4096];
    const int length = std::snprintf(path, sizeof path, "%s/quire.XXXXXX", directory);
    if (length < 0 || length >= static_cast<int>(sizeof path)) return -ENAMETOOLONG;
    fd = ::mkostemp(path, O_CLOEXEC);
    if (fd >= 0) ::unlink(path);
  }
  return sized(fd, bytes);
}

int write_zeroes(int fd, std::uint64_t bytes) noexcept {
  static constexpr std::array<std::byte, 256 * 1024> zeroes{};
  for (std::uint64_t at = 0; at < bytes;) {
    const ssize_t done = ::pwrite(fd, zeroes.data(), std::min<std::uint64_t>(zeroes.size(), bytes - at), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    at += static_cast<std::uint64_t>(done);
  }
  return 0;
}

std::uint64_t free_bytes(const char* directory) noexcept {
  struct statvfs about {};
  return ::statvfs(directory, &about) == 0 ? about.f_bavail * about.f_frsize : 0;
}

bool is_in_memory(const char* directory) noexcept {
  struct statfs about {};
  return ::statfs(directory, &about) == 0 && about.f_type == TMPFS_MAGIC;
}

segment_limits read_segment_limits() noexcept {
  return {read_limit("/proc/sys/kernel/shmmax", 32ul << 20), read_limit("/proc/sys/kernel/shmmni", 4096)};
}

int make_segment(std::uint64_t bytes) noexcept {
  const int id = ::shmget(IPC_PRIVATE, bytes, IPC_CREAT | SHM_NORESERVE | 0600);
  return id < 0 ? -errno : id;
}

int attach_segment(int id, void* at) noexcept {
  return ::shmat(id, at, SHM_REMAP) == reinterpret_cast<void*>(-1) ? errno : 0;
}

void remove_segment(int id) noexcept { ::shmctl(id, IPC_RMID, nullptr); }

void* mdup(void* address, std::uint64_t bytes, int& error) noexcept {
  void* const second = ::mremap(address, 0, bytes, MREMAP_MAYMOVE);
  error = second == MAP_FAILED ? errno : 0;
  return second == MAP_FAILED ? nullptr : second;
}

}  // namespace quire::os
