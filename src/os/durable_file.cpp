// SPDX-License-Identifier: BSD-3-Clause
#include "os/durable_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/file_size.hpp"
#include "os/injection.hpp"

namespace quire::os {

namespace {
constexpr std::size_t most_at_once = std::size_t{1} << 30;  // read(2) and write(2) move a little less than 2 GiB

int sync_and_close(descriptor& fd) noexcept {
  int error = injected(call::file_sync) || ::fsync(fd.number()) != 0 ? errno : 0;
  fd.reset();
  return error;
}
}  // namespace

int output_file::make(const std::string& path) noexcept {
  if (injected(call::file_make)) return errno;
  fd_ = descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  return fd_.open() ? 0 : errno;
}

int output_file::open(const std::string& path) noexcept {
  if (injected(call::file_make)) return errno;
  fd_ = descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  return fd_.open() ? 0 : errno;
}

int output_file::clone(const input_file& from) noexcept {
  return ::ioctl(fd_.number(), FICLONE, from.number()) == 0 ? 0 : errno;
}

int output_file::resize(std::uint64_t bytes) noexcept {
  const file_size_scope scope;
  return ::ftruncate(fd_.number(), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
}

int output_file::write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
  const file_size_scope scope;
  while (!bytes.empty()) {
    iovec part{const_cast<std::byte*>(bytes.data()), std::min(bytes.size(), most_at_once)};
    const ssize_t done =
        injected(call::file_write) ? -1 : ::pwritev2(fd_.number(), &part, 1, static_cast<off_t>(offset), 0);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return 0;
}

void output_file::push(std::uint64_t offset, std::uint64_t bytes) noexcept {
  (void)!::sync_file_range(fd_.number(), static_cast<off_t>(offset), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
}

int output_file::sync() noexcept { return sync_and_close(fd_); }

int input_file::open(const std::string& path) noexcept {
  fd_ = descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd_.open() ? 0 : errno;
}

int input_file::size(std::uint64_t& bytes) const noexcept {
  struct stat about;
  if (::fstat(fd_.number(), &about) != 0) return errno;
  bytes = static_cast<std::uint64_t>(about.st_size);
  return 0;
}

int input_file::changed(std::uint64_t& ns) const noexcept {
  struct stat about;
  if (::fstat(fd_.number(), &about) != 0) return errno;
  ns = static_cast<std::uint64_t>(about.st_mtim.tv_sec) * 1'000'000'000 +
       static_cast<std::uint64_t>(about.st_mtim.tv_nsec);
  return 0;
}

int input_file::read(std::uint64_t offset, std::span<std::byte> into) const noexcept {
  while (!into.empty()) {
    iovec part{into.data(), std::min(into.size(), most_at_once)};
    const ssize_t done = ::preadv2(fd_.number(), &part, 1, static_cast<off_t>(offset), 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done < 0 ? errno : ENODATA;
    into = into.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return 0;
}

int make_directory(const std::string& path) noexcept {
  return injected(call::file_make) || ::mkdir(path.c_str(), 0777) != 0 ? errno : 0;
}

int sync_file(const std::string& path) noexcept {
  descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd.open() ? sync_and_close(fd) : errno;
}

int sync_directory(const std::string& path) noexcept {
  descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd.open() ? sync_and_close(fd) : errno;
}

int rename_path(const std::string& from, const std::string& to) noexcept {
  return injected(call::file_rename) || ::rename(from.c_str(), to.c_str()) != 0 ? errno : 0;
}

int list_directory(const std::string& path, std::vector<std::string>& names) {
  DIR* const directory = ::opendir(path.c_str());
  if (directory == nullptr) return errno;
  errno = 0;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    errno = 0;
  }
  const int error = errno;
  ::closedir(directory);
  return error;
}

int remove_directory(const std::string& path) noexcept {
  std::vector<std::string> names;
  if (const int error = list_directory(path, names); error != 0) return error;
  for (const std::string& name : names) {
    if (injected(call::file_remove) || ::unlink((path + "/" + name).c_str()) != 0) return errno;
  }
  return injected(call::file_remove) || ::rmdir(path.c_str()) != 0 ? errno : 0;
}

int lock_directory(const std::string& path, descriptor& lock) noexcept {
  lock = descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.open()) return errno;
  return ::flock(lock.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK ? EWOULDBLOCK : 0;
}

}  // namespace quire::os
