// SPDX-License-Identifier: BSD-3-Clause
// Data of files and descriptors, and what is asked of them.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "libc/copies.hpp"

using namespace quire::api::calls;

extern "C" [[noreturn]] void __chk_fail(void);

QUIRE_CALL(ssize_t, read, (int fd, void* to, size_t n), fd, out(to, n), n)
QUIRE_CALL(ssize_t, write, (int fd, const void* from, size_t n), fd, in(from, n), n)
QUIRE_CALL(ssize_t, pread, (int fd, void* to, size_t n, off_t at), fd, out(to, n), n, at)
QUIRE_CALL(ssize_t, pwrite, (int fd, const void* from, size_t n, off_t at), fd, in(from, n), n, at)
QUIRE_SAME(ssize_t, pread64, pread, (int, void*, size_t, off_t));
QUIRE_SAME(ssize_t, pwrite64, pwrite, (int, const void*, size_t, off_t));

using source = parts<way::in>;
using target = parts<way::out>;
static std::size_t size(int count) noexcept {
  return static_cast<std::size_t>(count);
}  // a negative one is too large for any
QUIRE_CALL(ssize_t, readv, (int fd, const iovec* list, int n), fd, target(list, size(n)), n)
QUIRE_CALL(ssize_t, writev, (int fd, const iovec* list, int n), fd, source(list, size(n)), n)
QUIRE_CALL(ssize_t, preadv, (int fd, const iovec* list, int n, off_t at), fd, target(list, size(n)), n, at)
QUIRE_CALL(ssize_t, pwritev, (int fd, const iovec* list, int n, off_t at), fd, source(list, size(n)), n, at)
QUIRE_CALL(ssize_t, preadv2, (int fd, const iovec* list, int n, off_t at, int flags), fd, target(list, size(n)), n, at,
           flags)
QUIRE_CALL(ssize_t, pwritev2, (int fd, const iovec* list, int n, off_t at, int flags), fd, source(list, size(n)), n, at,
           flags)
QUIRE_SAME(ssize_t, preadv64, preadv, (int, const iovec*, int, off_t));
QUIRE_SAME(ssize_t, pwritev64, pwritev, (int, const iovec*, int, off_t));
QUIRE_SAME(ssize_t, preadv64v2, preadv2, (int, const iovec*, int, off_t, int));
QUIRE_SAME(ssize_t, pwritev64v2, pwritev2, (int, const iovec*, int, off_t, int));

QUIRE_CALL(ssize_t, sendfile, (int to, int from, off_t* at, size_t n), to, from, both(at), n)
QUIRE_SAME(ssize_t, sendfile64, sendfile, (int, int, off_t*, size_t));
QUIRE_CALL(ssize_t, copy_file_range, (int from, off_t* a, int to, off_t* b, size_t n, unsigned flags), from, both(a),
           to, both(b), n, flags)
QUIRE_CALL(ssize_t, splice, (int from, off_t* a, int to, off_t* b, size_t n, unsigned flags), from, both(a), to,
           both(b), n, flags)
QUIRE_CALL(ssize_t, getdents64, (int fd, void* to, size_t n), fd, out(to, n), n)
QUIRE_CALL(int, pipe, (int* two), both(two, 2 * sizeof *two))
QUIRE_CALL(int, pipe2, (int* two, int flags), both(two, 2 * sizeof *two), flags)
QUIRE_CALL(int, eventfd_read, (int fd, std::uint64_t* value), fd, both(value))
QUIRE_CALL(ssize_t, getrandom, (void* to, size_t n, unsigned flags), out(to, n), n, flags)
QUIRE_CALL(int, getentropy, (void* to, size_t n), both(static_cast<char*>(to), n), n)

// Numbers and structures: which, the request or the kernel knows. A number that looks like a shared address harms
// nobody.
QUIRE_CALL(int, fcntl, (int fd, int request, void* what), fd, request, structure(what, sizeof(struct flock)))
QUIRE_SAME(int, fcntl64, fcntl, (int, int, void*));

namespace {
/// Newer requests tell how long their structure is; of the others none is longer than a struct ifreq, or a struct
/// termios.
std::size_t length_of(unsigned long request) noexcept {
  constexpr std::size_t longest = 64;
  return _IOC_DIR(request) != _IOC_NONE ? _IOC_SIZE(request) : longest;
}
}  // namespace
QUIRE_CALL(int, ioctl, (int fd, unsigned long request, void* what), fd, request, structure(what, length_of(request)))

// What a program built with _FORTIFY_SOURCE calls instead.
QUIRE_OWN(ssize_t, __read_chk, (int fd, void* to, size_t n, size_t room)) {
  if (n > room) __chk_fail();
  return quire_own_read(fd, to, n);
}
QUIRE_OWN(ssize_t, __pread_chk, (int fd, void* to, size_t n, off_t at, size_t room)) {
  if (n > room) __chk_fail();
  return quire_own_pread(fd, to, n, at);
}
QUIRE_SAME(ssize_t, __pread64_chk, __pread_chk, (int, void*, size_t, off_t, size_t));
