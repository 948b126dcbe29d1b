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
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstring>
#include <iterator>

#include "os/file_size.hpp"
#include "os/memory.hpp"
#include "os/redirect.hpp"

namespace quire::transport::ucx {
namespace {

bool is_new_segment(const char* name, int flags) noexcept {
  return (flags & O_CREAT) != 0 && std::strncmp(name, "/ucx_shm_posix_", 15) == 0;
}

int on_shm_open(const char* name, int flags, mode_t mode) noexcept {
  if (!is_new_segment(name, flags)) return ::shm_open(name, flags, mode);
  const int made = os::make_memfd("ucx", 0);  // UCX gives it its length by writing
  if (made >= 0) return made;
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

/// UCX gives the memory its length, and writes zeroes to it: to the system it is a file.
int on_ftruncate(int fd, off_t bytes) noexcept {
  const os::file_size_scope scope(os::file_size_scope::limit::raised);
  return ::ftruncate(fd, bytes);
}
ssize_t on_write(int fd, const void* from, std::size_t bytes) noexcept {
  const os::file_size_scope scope(os::file_size_scope::limit::raised);
  return ::write(fd, from, bytes);
}

/// Only where the size of files is limited: UCX writes much else.
void redirect_writes() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const os::redirection calls[] = {{"ftruncate", reinterpret_cast<void*>(&on_ftruncate)},
                                   {"ftruncate64", reinterpret_cast<void*>(&on_ftruncate)},
                                   {"write", reinterpret_cast<void*>(&on_write)}};
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
