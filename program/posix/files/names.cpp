// SPDX-License-Identifier: BSD-3-Clause
// Calls by the name of a file: names are those of node 0, where files are opened.
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "program/posix/errands/at_owner.hpp"
#include "program/posix/errands/private_text.hpp"

using namespace quire::program;

#define QUIRE_BY_NAME(result, function, parameters, arguments, arguments_there, ...)                              \
  QUIRE_AT_OWNER_WITH(result, function, parameters, new_one(), arguments, const char* const there = e.take(name), \
                      arguments_there, , __VA_ARGS__)
QUIRE_BY_NAME(int, access, (const char* name, int mode), (name, mode), (there, mode), noexcept)
QUIRE_BY_NAME(int, faccessat, (int at, const char* name, int mode, int flags), (at, name, mode, flags),
              (at, there, mode, flags), noexcept)
QUIRE_BY_NAME(int, euidaccess, (const char* name, int mode), (name, mode), (there, mode), noexcept)
QUIRE_BY_NAME(int, eaccess, (const char* name, int mode), (name, mode), (there, mode), noexcept)
QUIRE_BY_NAME(int, mknod, (const char* name, mode_t mode, dev_t what), (name, mode, what), (there, mode, what),
              noexcept)
QUIRE_BY_NAME(int, mknodat, (int at, const char* name, mode_t mode, dev_t what), (at, name, mode, what),
              (at, there, mode, what), noexcept)
QUIRE_BY_NAME(int, mkfifoat, (int at, const char* name, mode_t mode), (at, name, mode), (at, there, mode), noexcept)
QUIRE_BY_NAME(int, fchownat, (int at, const char* name, uid_t user, gid_t group, int flags),
              (at, name, user, group, flags), (at, there, user, group, flags), noexcept)
QUIRE_BY_NAME(int, mkdir, (const char* name, mode_t mode), (name, mode), (there, mode), noexcept)
QUIRE_BY_NAME(int, mkdirat, (int at, const char* name, mode_t mode), (at, name, mode), (at, there, mode), noexcept)
QUIRE_BY_NAME(int, rmdir, (const char* name), (name), (there), noexcept)
QUIRE_BY_NAME(int, unlink, (const char* name), (name), (there), noexcept)
QUIRE_BY_NAME(int, unlinkat, (int at, const char* name, int flags), (at, name, flags), (at, there, flags), noexcept)
QUIRE_BY_NAME(int, remove, (const char* name), (name), (there), noexcept)
QUIRE_BY_NAME(int, chmod, (const char* name, mode_t mode), (name, mode), (there, mode), noexcept)
QUIRE_BY_NAME(int, fchmodat, (int at, const char* name, mode_t mode, int flags), (at, name, mode, flags),
              (at, there, mode, flags), noexcept)
QUIRE_BY_NAME(int, chown, (const char* name, uid_t user, gid_t group), (name, user, group), (there, user, group),
              noexcept)
QUIRE_BY_NAME(int, lchown, (const char* name, uid_t user, gid_t group), (name, user, group), (there, user, group),
              noexcept)
QUIRE_BY_NAME(int, truncate, (const char* name, off_t length), (name, length), (there, length), noexcept)
QUIRE_BY_NAME(int, truncate64, (const char* name, off64_t length), (name, length), (there, length), noexcept)
QUIRE_BY_NAME(int, mkfifo, (const char* name, mode_t mode), (name, mode), (there, mode), noexcept)
QUIRE_BY_NAME(int, sem_unlink, (const char* name), (name), (there), noexcept)
QUIRE_BY_NAME(int, shm_unlink, (const char* name), (name), (there))

#define QUIRE_BY_NAMES(function, parameters, one, two, arguments, arguments_there)                                  \
  QUIRE_AT_OWNER_WITH(int, function, parameters, new_one(), arguments, const char* const one##_there = e.take(one); \
                      const char* const two##_there = e.take(two), arguments_there, , noexcept)
QUIRE_BY_NAMES(rename, (const char* from, const char* to), from, to, (from, to), (from_there, to_there))
QUIRE_BY_NAMES(renameat, (int a, const char* from, int b, const char* to), from, to, (a, from, b, to),
               (a, from_there, b, to_there))
QUIRE_BY_NAMES(renameat2, (int a, const char* from, int b, const char* to, unsigned flags), from, to,
               (a, from, b, to, flags), (a, from_there, b, to_there, flags))
QUIRE_BY_NAMES(link, (const char* from, const char* to), from, to, (from, to), (from_there, to_there))
QUIRE_BY_NAMES(linkat, (int a, const char* from, int b, const char* to, int flags), from, to, (a, from, b, to, flags),
               (a, from_there, b, to_there, flags))
QUIRE_BY_NAMES(symlink, (const char* from, const char* to), from, to, (from, to), (from_there, to_there))
QUIRE_BY_NAMES(symlinkat, (const char* from, int at, const char* to), from, to, (from, at, to),
               (from_there, at, to_there))

#define QUIRE_ASKED(function, parameters, arguments, arguments_there)                                          \
  QUIRE_AT_OWNER_WITH(int, function, parameters, new_one(), arguments, const char* const there = e.take(name); \
                      auto* const to_there = e.room_for(to, sizeof *to), arguments_there,                      \
                      if (done == 0) e.bring(to, to_there, sizeof *to), noexcept)
QUIRE_ASKED(stat, (const char* name, struct stat* to), (name, to), (there, to_there))
QUIRE_ASKED(stat64, (const char* name, struct stat64* to), (name, to), (there, to_there))
QUIRE_ASKED(lstat, (const char* name, struct stat* to), (name, to), (there, to_there))
QUIRE_ASKED(lstat64, (const char* name, struct stat64* to), (name, to), (there, to_there))
QUIRE_ASKED(fstatat, (int at, const char* name, struct stat* to, int flags), (at, name, to, flags),
            (at, there, to_there, flags))
QUIRE_ASKED(fstatat64, (int at, const char* name, struct stat64* to, int flags), (at, name, to, flags),
            (at, there, to_there, flags))
QUIRE_ASKED(statx, (int at, const char* name, int flags, unsigned mask, struct statx* to), (at, name, flags, mask, to),
            (at, there, flags, mask, to_there))
QUIRE_ASKED(statfs, (const char* name, struct statfs* to), (name, to), (there, to_there))
QUIRE_ASKED(statvfs, (const char* name, struct statvfs* to), (name, to), (there, to_there))
QUIRE_ASKED(statfs64, (const char* name, struct statfs64* to), (name, to), (there, to_there))
QUIRE_ASKED(statvfs64, (const char* name, struct statvfs64* to), (name, to), (there, to_there))

QUIRE_AT_OWNER_WITH(ssize_t, readlink, (const char* name, char* to, size_t bytes), new_one(), (name, to, bytes),
                    const char* const there = e.take(name);
                    char* const to_there = e.room_for(to, bytes), (there, to_there, bytes),
                    if (done > 0) e.bring(to, to_there, static_cast<size_t>(done)), noexcept)
QUIRE_AT_OWNER_WITH(ssize_t, readlinkat, (int at, const char* name, char* to, size_t bytes), new_one(),
                    (at, name, to, bytes), const char* const there = e.take(name);
                    char* const to_there = e.room_for(to, bytes), (at, there, to_there, bytes),
                    if (done > 0) e.bring(to, to_there, static_cast<size_t>(done)), noexcept)
QUIRE_AT_OWNER_WITH(int, utimensat, (int at, const char* name, const timespec* two, int flags), new_one(),
                    (at, name, two, flags), const char* const there = e.take(name);
                    const timespec* const two_there = e.take(two, 2 * sizeof *two), (at, there, two_there, flags), ,
                    noexcept)
QUIRE_AT_OWNER_WITH(int, utimes, (const char* name, const timeval* two), new_one(), (name, two),
                    const char* const there = e.take(name);
                    const timeval* const two_there = e.take(two, 2 * sizeof *two), (there, two_there), , noexcept)
QUIRE_AT_OWNER_WITH(int, lutimes, (const char* name, const timeval* two), new_one(), (name, two),
                    const char* const there = e.take(name);
                    const timeval* const two_there = e.take(two, 2 * sizeof *two), (there, two_there), , noexcept)
QUIRE_AT_OWNER_WITH(int, utime, (const char* name, const utimbuf* two), new_one(), (name, two),
                    const char* const there = e.take(name);
                    const utimbuf* const two_there = e.take(two, sizeof *two), (there, two_there), , noexcept)
namespace {
template <class Make>
char* fill_template(int node, char* name, Make make) noexcept {
  errand e(node);
  const size_t bytes = strlen(name) + 1;
  char* const there = e.take_along(name, bytes);
  const bool made = e.run([=] { return make(there) != nullptr; });
  e.bring(name, there, bytes);
  return made ? name : nullptr;
}
}  // namespace
QUIRE_LIBC char* mkdtemp(char* name) noexcept {
  const int node = node_of(new_one(), QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(mkdtemp)(name) : fill_template(node, name, QUIRE_NEXT(mkdtemp));
}
/// By its name: the linker warns of those who call it. Without success the text is empty.
QUIRE_LIBC char* mktemp(char* name) noexcept {
  using name_function = char*(char*);
  const int node = node_of(new_one(), QUIRE_CALLER);
  const auto make = [](char* one) {
    const private_text own(one);
    const bool made = QUIRE_NEXT_AS(name_function, "mktemp")(own.get())[0] != 0;
    strcpy(one, own.get());
    return made ? one : nullptr;
  };
  (void)(node == here ? make(name) : fill_template(node, name, make));
  return name;
}
