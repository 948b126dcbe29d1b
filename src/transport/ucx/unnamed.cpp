// SPDX-License-Identifier: BSD-3-Clause
// The calls of UCX that make shared memory, answered without names; see unnamed.hpp. on_shm_open() may be called later,
// too, when UCX needs more buffers: by the driver, perhaps in fault context, so that system calls are all it makes.
#include "transport/ucx/unnamed.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <iterator>

#include "os/file_size.hpp"
#include "os/memory.hpp"
#include "os/redirect.hpp"

namespace quire::transport::ucx {
namespace {

std::atomic<int> g_made{-1};         ///< the descriptor of the memory that was made last
std::atomic<bool> g_limited{false};  ///< the size of files is

bool is_new_segment(const char* name, int flags) noexcept {
  return (flags & O_CREAT) != 0 && std::strncmp(name, "/ucx_shm_posix_", 15) == 0;
}

int on_shm_open(const char* name, int flags, mode_t mode) noexcept {
  if (!is_new_segment(name, flags)) return ::shm_open(name, flags, mode);
  const int made = os::make_memfd("ucx", 0);  // writing gives it its length
  if (made >= 0) {
    g_made.store(made, std::memory_order_relaxed);
    return made;
  }
  errno = -made;
  return -1;
}

int on_shm_unlink(const char* name) noexcept { return is_new_segment(name, O_CREAT) ? 0 : ::shm_unlink(name); }

/// UCX asks how much room /dev/shm has, and makes no memory where there is none.
int on_statvfs(const char* path, struct statvfs* about) noexcept {
  if (std::strcmp(path, "/dev/shm") != 0) return ::statvfs(path, about);
  *about = {};
  about->f_bsize = about->f_frsize = os::page_bytes;
  about->f_blocks = about->f_bfree = about->f_bavail = std::uint64_t{1}
                                                       << 34;  // memory without a name has no such limit
  return 0;
}

bool are_zeroes(const void* from, std::size_t bytes) noexcept {
  const auto* const at = static_cast<const char*>(from);
  return *at == 0 && std::memcmp(at, at + 1, bytes - 1) == 0;
}

/// Whether a file has got zeroes at its end without being written: pages that nobody uses take no memory.
bool grow(int fd, const void* from, std::size_t bytes) noexcept {
  struct stat about;
  const off_t at = ::lseek(fd, 0, SEEK_CUR);
  if (at < 0 || ::fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size != at) return false;
  if (!are_zeroes(from, bytes) || ::ftruncate(fd, at + static_cast<off_t>(bytes)) != 0) return false;
  return ::lseek(fd, static_cast<off_t>(bytes), SEEK_CUR) >= 0;
}

int on_ftruncate(int fd, off_t bytes) noexcept {
  const os::file_size_scope scope(os::file_size_scope::limit::raised);
  return ::ftruncate(fd, bytes);
}

/// UCX writes zeroes to new memory, 4 MiB of each node, to learn whether there is room in /dev/shm. It writes much
/// else.
ssize_t on_write(int fd, const void* from, std::size_t bytes) noexcept {
  const bool fills = bytes >= os::page_bytes && fd == g_made.load(std::memory_order_relaxed);
  if (!g_limited.load(std::memory_order_relaxed))
    return fills && grow(fd, from, bytes) ? static_cast<ssize_t>(bytes) : ::write(fd, from, bytes);
  const os::file_size_scope scope(os::file_size_scope::limit::raised);  // to the system that memory is a file
  return fills && grow(fd, from, bytes) ? static_cast<ssize_t>(bytes) : ::write(fd, from, bytes);
}

void redirect_writes() noexcept {
  rlimit limit{};
  g_limited.store(::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY);
  const os::redirection writes[] = {{"write", reinterpret_cast<void*>(&on_write)}};
  (void)os::redirect("libuct", writes);
  if (!g_limited.load()) return;
  const os::redirection calls[] = {{"ftruncate", reinterpret_cast<void*>(&on_ftruncate)},
                                   {"ftruncate64", reinterpret_cast<void*>(&on_ftruncate)}};
  (void)os::redirect("libuct", calls);
}

base::status redirect_once() noexcept {
  redirect_writes();
  if (user_wants_names()) return QUIRE_OK;
  const os::redirection calls[] = {{"shm_open", reinterpret_cast<void*>(&on_shm_open)},
                                   {"shm_unlink", reinterpret_cast<void*>(&on_shm_unlink)}};
  if (os::redirect("libuct", calls) < std::size(calls)) return QUIRE_UNSUPPORTED;
  const os::redirection room[] = {{"statvfs", reinterpret_cast<void*>(&on_statvfs)},
                                  {"statvfs64", reinterpret_cast<void*>(&on_statvfs)}};
  (void)os::redirect("libuct", room);  // where it is called otherwise, /dev/shm must not be full
  return QUIRE_OK;
}

}  // namespace

bool user_wants_names() noexcept {
  const char* const links = ::getenv("UCX_POSIX_USE_PROC_LINK");
  if (::getenv("UCX_POSIX_DIR") != nullptr) return true;
  return links != nullptr && (std::strchr("nN0", *links) != nullptr || ::strcasecmp(links, "off") == 0);
}

base::status take_names_from_memory() noexcept {
  static const base::status done = redirect_once();
  return done;
}

}  // namespace quire::transport::ucx
