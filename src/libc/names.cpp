// SPDX-License-Identifier: BSD-3-Clause
// Names of files, and what is known of a name. Nothing here keeps a name after the call.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include <cstdlib>
#include <cstring>

#include "libc/copies.hpp"

using namespace quire::api::calls;

extern "C" [[noreturn]] void __chk_fail(void);

static std::size_t length_with_end(const char* name) noexcept { return is_away(name) ? std::strlen(name) + 1 : 0; }

// The third or fourth argument of open() and openat() stands in the same register whether it is there or not.
QUIRE_CALL(int, open, (const char* name, int flags, mode_t mode), text(name), flags, mode)
QUIRE_SAME(int, open64, open, (const char*, int, mode_t));
QUIRE_CALL(int, openat, (int at, const char* name, int flags, mode_t mode), at, text(name), flags, mode)
QUIRE_SAME(int, openat64, openat, (int, const char*, int, mode_t));
QUIRE_CALL(int, creat, (const char* name, mode_t mode), text(name), mode)
QUIRE_SAME(int, creat64, creat, (const char*, mode_t));
QUIRE_CALL(int, __open_2, (const char* name, int flags), text(name), flags)
QUIRE_SAME(int, __open64_2, __open_2, (const char*, int));
QUIRE_CALL(int, __openat_2, (int at, const char* name, int flags), at, text(name), flags)
QUIRE_SAME(int, __openat64_2, __openat_2, (int, const char*, int));
QUIRE_CALL(DIR*, opendir, (const char* name), text(name))
QUIRE_CALL(FILE*, fopen, (const char* name, const char* mode), text(name), text(mode))
QUIRE_SAME(FILE*, fopen64, fopen, (const char*, const char*));
QUIRE_CALL(FILE*, freopen, (const char* name, const char* mode, FILE* file), text(name), text(mode), file)
QUIRE_SAME(FILE*, freopen64, freopen, (const char*, const char*, FILE*));

QUIRE_CALL(int, stat, (const char* name, struct stat* about), text(name), both(about))
QUIRE_SAME(int, stat64, stat, (const char*, struct stat*));
QUIRE_CALL(int, lstat, (const char* name, struct stat* about), text(name), both(about))
QUIRE_SAME(int, lstat64, lstat, (const char*, struct stat*));
QUIRE_CALL(int, fstat, (int fd, struct stat* about), fd, both(about))
QUIRE_SAME(int, fstat64, fstat, (int, struct stat*));
QUIRE_CALL(int, fstatat, (int at, const char* name, struct stat* about, int flags), at, text(name), both(about), flags)
QUIRE_SAME(int, fstatat64, fstatat, (int, const char*, struct stat*, int));
QUIRE_CALL(int, statx, (int at, const char* name, int flags, unsigned mask, struct statx* about), at, text(name), flags,
           mask, both(about))
QUIRE_CALL(int, statfs, (const char* name, struct statfs* about), text(name), both(about))
QUIRE_SAME(int, statfs64, statfs, (const char*, struct statfs*));
QUIRE_CALL(int, fstatfs, (int fd, struct statfs* about), fd, both(about))
QUIRE_SAME(int, fstatfs64, fstatfs, (int, struct statfs*));
QUIRE_CALL(int, statvfs, (const char* name, struct statvfs* about), text(name), both(about))
QUIRE_SAME(int, statvfs64, statvfs, (const char*, struct statvfs*));
QUIRE_CALL(int, access, (const char* name, int mode), text(name), mode)
QUIRE_CALL(int, faccessat, (int at, const char* name, int mode, int flags), at, text(name), mode, flags)
QUIRE_CALL(int, euidaccess, (const char* name, int mode), text(name), mode)
QUIRE_CALL(int, eaccess, (const char* name, int mode), text(name), mode)

QUIRE_CALL(int, mkdir, (const char* name, mode_t mode), text(name), mode)
QUIRE_CALL(int, mkdirat, (int at, const char* name, mode_t mode), at, text(name), mode)
QUIRE_CALL(int, rmdir, (const char* name), text(name))
QUIRE_CALL(int, unlink, (const char* name), text(name))
QUIRE_CALL(int, unlinkat, (int at, const char* name, int flags), at, text(name), flags)
QUIRE_CALL(int, remove, (const char* name), text(name))
QUIRE_CALL(int, rename, (const char* from, const char* to), text(from), text(to))
QUIRE_CALL(int, renameat, (int a, const char* from, int b, const char* to), a, text(from), b, text(to))
QUIRE_CALL(int, renameat2, (int a, const char* from, int b, const char* to, unsigned flags), a, text(from), b, text(to),
           flags)
QUIRE_CALL(int, link, (const char* from, const char* to), text(from), text(to))
QUIRE_CALL(int, linkat, (int a, const char* from, int b, const char* to, int flags), a, text(from), b, text(to), flags)
QUIRE_CALL(int, symlink, (const char* from, const char* to), text(from), text(to))
QUIRE_CALL(int, symlinkat, (const char* from, int at, const char* to), text(from), at, text(to))
QUIRE_CALL(int, chmod, (const char* name, mode_t mode), text(name), mode)
QUIRE_CALL(int, fchmodat, (int at, const char* name, mode_t mode, int flags), at, text(name), mode, flags)
QUIRE_CALL(int, chown, (const char* name, uid_t user, gid_t group), text(name), user, group)
QUIRE_CALL(int, lchown, (const char* name, uid_t user, gid_t group), text(name), user, group)
QUIRE_CALL(int, fchownat, (int at, const char* name, uid_t user, gid_t group, int flags), at, text(name), user, group,
           flags)
QUIRE_CALL(int, truncate, (const char* name, off_t length), text(name), length)
QUIRE_SAME(int, truncate64, truncate, (const char*, off_t));
QUIRE_CALL(int, mknod, (const char* name, mode_t mode, dev_t device), text(name), mode, device)
QUIRE_CALL(int, mknodat, (int at, const char* name, mode_t mode, dev_t device), at, text(name), mode, device)
QUIRE_CALL(int, mkfifo, (const char* name, mode_t mode), text(name), mode)
QUIRE_CALL(int, mkfifoat, (int at, const char* name, mode_t mode), at, text(name), mode)
QUIRE_CALL(int, chdir, (const char* name), text(name))
QUIRE_CALL(int, chroot, (const char* name), text(name))
QUIRE_CALL(int, utimensat, (int at, const char* name, const timespec* two, int flags), at, text(name),
           in(two, 2 * sizeof *two), flags)
QUIRE_CALL(int, futimens, (int fd, const timespec* two), fd, in(two, 2 * sizeof *two))
QUIRE_CALL(int, utimes, (const char* name, const timeval* two), text(name), in(two, 2 * sizeof *two))
QUIRE_CALL(int, lutimes, (const char* name, const timeval* two), text(name), in(two, 2 * sizeof *two))
QUIRE_CALL(int, utime, (const char* name, const utimbuf* two), text(name), in(two))
QUIRE_CALL(int, memfd_create, (const char* name, unsigned flags), text(name), flags)
QUIRE_CALL(int, shm_open, (const char* name, int flags, mode_t mode), text(name), flags, mode)
QUIRE_CALL(int, shm_unlink, (const char* name), text(name))
QUIRE_CALL(int, inotify_add_watch, (int fd, const char* name, std::uint32_t mask), fd, text(name), mask)
// They write into the name.
QUIRE_CALL(int, mkstemp, (char* name), both(name, length_with_end(name)))
QUIRE_SAME(int, mkstemp64, mkstemp, (char*));
QUIRE_CALL(int, mkostemp, (char* name, int flags), both(name, length_with_end(name)), flags)
QUIRE_SAME(int, mkostemp64, mkostemp, (char*, int));

QUIRE_CALL(ssize_t, readlink, (const char* name, char* to, size_t n), text(name), out(to, n), n)
QUIRE_CALL(ssize_t, readlinkat, (int at, const char* name, char* to, size_t n), at, text(name), out(to, n), n)
QUIRE_CALL(ssize_t, getxattr, (const char* name, const char* which, void* to, size_t n), text(name), text(which),
           out(to, n), n)
QUIRE_CALL(ssize_t, lgetxattr, (const char* name, const char* which, void* to, size_t n), text(name), text(which),
           out(to, n), n)
QUIRE_CALL(ssize_t, fgetxattr, (int fd, const char* which, void* to, size_t n), fd, text(which), out(to, n), n)
QUIRE_CALL(ssize_t, listxattr, (const char* name, char* to, size_t n), text(name), out(to, n), n)
QUIRE_CALL(ssize_t, llistxattr, (const char* name, char* to, size_t n), text(name), out(to, n), n)
QUIRE_CALL(ssize_t, flistxattr, (int fd, char* to, size_t n), fd, out(to, n), n)
QUIRE_CALL(int, setxattr, (const char* name, const char* which, const void* from, size_t n, int flags), text(name),
           text(which), in(from, n), n, flags)
QUIRE_CALL(int, lsetxattr, (const char* name, const char* which, const void* from, size_t n, int flags), text(name),
           text(which), in(from, n), n, flags)
QUIRE_CALL(int, fsetxattr, (int fd, const char* which, const void* from, size_t n, int flags), fd, text(which),
           in(from, n), n, flags)
QUIRE_CALL(int, removexattr, (const char* name, const char* which), text(name), text(which))
QUIRE_CALL(int, lremovexattr, (const char* name, const char* which), text(name), text(which))
QUIRE_CALL(int, fremovexattr, (int fd, const char* which), fd, text(which))

// These return the address that they were given.
QUIRE_OWN(char*, getcwd, (char* to, size_t n)) {
  if (!is_away(to) || n == 0) return make<char*>(row_getcwd, to, n);
  // Programs give more than the buffer has: only the name comes back.
  constexpr std::size_t longest = 16 * PATH_MAX;
  n = std::min(n, longest);
  copies memory(copies::room(n));
  char* const own = memory.ok() ? memory.next(n) : nullptr;
  if (own == nullptr || make<char*>(row_getcwd, own, n) == nullptr) return nullptr;
  return std::strcpy(to, own);
}
QUIRE_OWN(char*, mkdtemp, (char* name)) {
  char* const found = make<char*>(row_mkdtemp, both(name, length_with_end(name)));
  return found != nullptr && is_away(name) ? name : found;
}
QUIRE_OWN(char*, realpath, (const char* name, char* to)) {
  if (!is_away(to)) return make<char*>(row_realpath, text(name), to);
  // How long the buffer is nobody knows: as long as what is found.
  char* const found = make<char*>(row_realpath, text(name), static_cast<char*>(nullptr));
  if (found == nullptr) return nullptr;
  std::memcpy(to, found, std::strlen(found) + 1);
  std::free(found);
  return to;
}

// What a program built with _FORTIFY_SOURCE calls instead.
QUIRE_OWN(char*, __getcwd_chk, (char* to, size_t n, size_t room)) {
  if (n > room) __chk_fail();
  return quire_own_getcwd(to, n);
}
QUIRE_OWN(char*, __realpath_chk, (const char* name, char* to, size_t room)) {
  if (room < PATH_MAX) __chk_fail();
  return quire_own_realpath(name, to);
}
QUIRE_OWN(ssize_t, __readlink_chk, (const char* name, char* to, size_t n, size_t room)) {
  if (n > room) __chk_fail();
  return quire_own_readlink(name, to, n);
}
QUIRE_OWN(ssize_t, __readlinkat_chk, (int at, const char* name, char* to, size_t n, size_t room)) {
  if (n > room) __chk_fail();
  return quire_own_readlinkat(at, name, to, n);
}
