// SPDX-License-Identifier: BSD-3-Clause
#include "os/segments.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
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
#include <cstring>

#include "os/file_size.hpp"
#include "os/injection.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"

namespace quire::os {
namespace {

/// Gives `fd` its length, or closes it.
int sized(int fd, std::uint64_t bytes) noexcept {
  if (fd < 0) return -errno;
  const file_size_scope scope;
  if (!injected(call::truncate) && ::ftruncate(fd, static_cast<off_t>(bytes)) == 0) return fd;
  const int error = errno;
  close_descriptor(fd);
  return -error;
}

/// Names of files whose process was killed before it removed the name begin so.
constexpr char short_lived[] = "quire.unnamed.";

/// Calls f(descriptor of the directory, name) for names that processes have left in `directory`. A process that lives
/// needs no such name: it has the file open. Without heap.
template <class F>
void for_left_names(const char* directory, bool of_all, F&& f) noexcept {
  const descriptor opened(::open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  alignas(dirent64) char buffer[4096];
  for (ssize_t got; opened.open() && (got = ::getdents64(opened.number(), buffer, sizeof buffer)) > 0;) {
    for (ssize_t at = 0; at < got;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(buffer + at);
      at += entry->d_reclen;
      struct stat about {};
      if (std::strncmp(entry->d_name, short_lived, sizeof short_lived - 1) != 0) continue;
      if (::fstatat(opened.number(), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (S_ISREG(about.st_mode) && (of_all || about.st_uid == ::geteuid())) f(opened.number(), entry->d_name);
    }
  }
}

void remove_names(const char* directory) noexcept {
  for_left_names(directory, false, [](int opened, const char* name) { ::unlinkat(opened, name, 0); });
}

/// For file systems that make no files without names: it has one between two calls.
int make_and_unlink(const char* directory) noexcept {
  remove_names(directory);
  char path[4096];
  const int length = std::snprintf(path, sizeof path, "%s/%sXXXXXX", directory, short_lived);
  if (length < 0 || length >= static_cast<int>(sizeof path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  const int fd = ::mkostemp(path, O_CLOEXEC);
  if (fd >= 0) ::unlink(path);
  return fd;
}

/// Keys of segments that have not been marked for removal yet: this, and a random half.
constexpr key_t segment_mark = 0x51520000, random_half = 0xffff;

template <class F>
void for_dead_segments(bool of_all, F&& f) noexcept {
  shm_info all{};
  const int last = ::shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&all));
  for (int i = 0; i <= last; ++i) {
    shmid_ds about{};
    const int id = ::shmctl(i, SHM_STAT, &about);
    if (id < 0 || (about.shm_perm.__key & ~random_half) != segment_mark) continue;
    if (!of_all && about.shm_perm.cuid != ::geteuid()) continue;
    const bool is_dead = about.shm_cpid > 0 && ::kill(about.shm_cpid, 0) != 0 && errno == ESRCH;
    if (about.shm_nattch == 0 && is_dead) f(left_segment{id, about.shm_segsz, about.shm_cpid});
  }
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

std::string temporary_directory(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const char* const set = std::getenv("TMPDIR");
  return set != nullptr && *set != 0 ? set : "/var/tmp";
}

int make_temporary_file(const char* directory, std::uint64_t bytes) noexcept {
  int fd = injected(call::unnamed_file) ? -1 : ::open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) fd = make_and_unlink(directory);
  return sized(fd, bytes);
}

int write_zeroes(int fd, std::uint64_t bytes) noexcept {
  const file_size_scope scope;
  static constexpr std::array<std::byte, 256 * 1024> zeroes{};
  for (std::uint64_t at = 0; at < bytes;) {
    const ssize_t done =
        ::pwrite(fd, zeroes.data(), std::min<std::uint64_t>(zeroes.size(), bytes - at), static_cast<off_t>(at));
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

std::uint64_t most_mappings() noexcept { return read_limit("/proc/sys/vm/max_map_count", 65'530); }

segment_limits read_segment_limits() noexcept {
  return {read_limit("/proc/sys/kernel/shmmax", 32ul << 20), read_limit("/proc/sys/kernel/shmmni", 4096)};
}

int make_segment(std::uint64_t bytes) noexcept {
  int id = -1;
  for (int tries = 0; id < 0 && tries < 64; ++tries) {
    std::uint16_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) return -errno;
    id = ::shmget(segment_mark | number, bytes, IPC_CREAT | IPC_EXCL | SHM_NORESERVE | 0600);
    if (id < 0 && errno != EEXIST) break;
  }
  return id < 0 ? -errno : id;
}

void remove_dead_segments() noexcept {
  for_dead_segments(false, [](const left_segment& one) { remove_segment(one.id); });
}

std::vector<left_segment> dead_segments(bool of_all) {
  std::vector<left_segment> found;
  for_dead_segments(of_all, [&](const left_segment& one) { found.push_back(one); });
  return found;
}

std::vector<std::string> left_names(const std::string& directory, bool of_all) {
  std::vector<std::string> found;
  for_left_names(directory.c_str(), of_all, [&](int, const char* name) { found.push_back(directory + '/' + name); });
  return found;
}

int attach_segment(int id, void* at) noexcept {
  if (injected(call::segment_attach)) return errno;
  return ::shmat(id, at, SHM_REMAP) == reinterpret_cast<void*>(-1) ? errno : 0;
}

void remove_segment(int id) noexcept { ::shmctl(id, IPC_RMID, nullptr); }

void* mdup(void* address, std::uint64_t bytes, void* at, int& error) noexcept {
  void* const second = at != nullptr ? ::mremap(address, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at)
                                     : ::mremap(address, 0, bytes, MREMAP_MAYMOVE);
  error = second == MAP_FAILED ? errno : 0;
  return second == MAP_FAILED ? nullptr : second;
}

}  // namespace quire::os
