// SPDX-License-Identifier: BSD-3-Clause
// Second names of functions, which programs call that were built with an old libc, or with _FORTIFY_SOURCE; and
// functions of terminals.
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>

#include "program/posix/errands/at_owner.hpp"
#include "program/posix/errands/private_text.hpp"
#include "program/posix/files/own_descriptors.hpp"

extern "C" {
[[noreturn]] void __chk_fail();
int __xstat(int, const char*, struct stat*) noexcept;
int __xstat64(int, const char*, struct stat64*) noexcept;
int __lxstat(int, const char*, struct stat*) noexcept;
int __lxstat64(int, const char*, struct stat64*) noexcept;
int __fxstatat(int, int, const char*, struct stat*, int) noexcept;
int __fxstatat64(int, int, const char*, struct stat64*, int) noexcept;
int __fxstat(int, int, struct stat*) noexcept;
int __fxstat64(int, int, struct stat64*) noexcept;
int __xmknod(int, const char*, mode_t, dev_t*) noexcept;
int __xmknodat(int, int, const char*, mode_t, dev_t*) noexcept;
ssize_t __readlink_chk(const char*, char*, size_t, size_t) noexcept;
ssize_t __readlinkat_chk(int, const char*, char*, size_t, size_t) noexcept;
int __ptsname_r_chk(int, char*, size_t, size_t) noexcept;
int __ttyname_r_chk(int, char*, size_t, size_t) noexcept;
}

using namespace quire::program;

// What programs call that were built with a libc before 2.33. Libc's own hand the structure to the system, which does
// not see shared memory.
#define QUIRE_OLD_STATUS(function, now, type, parameters, arguments, arguments_there)                   \
  QUIRE_AT_OWNER_AS(int, function, parameters, new_one(), QUIRE_NEXT(now) arguments,                    \
                    const char* const there = e.take(name);                                             \
                    type* const to_there = e.room_for(to, sizeof *to), QUIRE_NEXT(now) arguments_there, \
                    if (done == 0) e.bring(to, to_there, sizeof *to), noexcept)
QUIRE_OLD_STATUS(__xstat, stat, struct stat, (int, const char* name, struct stat* to), (name, to), (there, to_there))
QUIRE_OLD_STATUS(__xstat64, stat64, struct stat64, (int, const char* name, struct stat64* to), (name, to),
                 (there, to_there))
QUIRE_OLD_STATUS(__lxstat, lstat, struct stat, (int, const char* name, struct stat* to), (name, to), (there, to_there))
QUIRE_OLD_STATUS(__lxstat64, lstat64, struct stat64, (int, const char* name, struct stat64* to), (name, to),
                 (there, to_there))
QUIRE_OLD_STATUS(__fxstatat, fstatat, struct stat, (int, int at, const char* name, struct stat* to, int flags),
                 (at, name, to, flags), (at, there, to_there, flags))
QUIRE_OLD_STATUS(__fxstatat64, fstatat64, struct stat64, (int, int at, const char* name, struct stat64* to, int flags),
                 (at, name, to, flags), (at, there, to_there, flags))
#define QUIRE_OLD_STATUS_OF(function, now, type)                                                      \
  QUIRE_AT_OWNER_AS(int, function, (int, int fd, type* to), fd, QUIRE_NEXT(now)(fd, to),              \
                    type* const to_there = e.room_for(to, sizeof *to), QUIRE_NEXT(now)(fd, to_there), \
                    if (done == 0) e.bring(to, to_there, sizeof *to), noexcept)
QUIRE_OLD_STATUS_OF(__fxstat, fstat, struct stat)
QUIRE_OLD_STATUS_OF(__fxstat64, fstat64, struct stat64)
QUIRE_AT_OWNER_AS(int, __xmknod, (int, const char* name, mode_t mode, dev_t* what), new_one(),
                  QUIRE_NEXT(mknod)(name, mode, *what), const char* const there = e.take(name);
                  const dev_t of = *what, QUIRE_NEXT(mknod)(there, mode, of), , noexcept)
QUIRE_AT_OWNER_AS(int, __xmknodat, (int, int at, const char* name, mode_t mode, dev_t* what), new_one(),
                  QUIRE_NEXT(mknodat)(at, name, mode, *what), const char* const there = e.take(name);
                  const dev_t of = *what, QUIRE_NEXT(mknodat)(at, there, mode, of), , noexcept)

// Of _FORTIFY_SOURCE.
namespace {
void check(size_t room, size_t bytes) {
  if (bytes > room) __chk_fail();
}
}  // namespace
QUIRE_AT_OWNER_AS(ssize_t, __readlink_chk, (const char* name, char* to, size_t bytes, size_t room), new_one(),
                  QUIRE_NEXT(__readlink_chk)(name, to, bytes, room), check(room, bytes);
                  const char* const there = e.take(name);
                  char* const to_there = e.room_for(to, bytes), QUIRE_NEXT(readlink)(there, to_there, bytes),
                  if (done > 0) e.bring(to, to_there, static_cast<size_t>(done)), noexcept)
QUIRE_AT_OWNER_AS(ssize_t, __readlinkat_chk, (int at, const char* name, char* to, size_t bytes, size_t room), new_one(),
                  QUIRE_NEXT(__readlinkat_chk)(at, name, to, bytes, room), check(room, bytes);
                  const char* const there = e.take(name);
                  char* const to_there = e.room_for(to, bytes), QUIRE_NEXT(readlinkat)(at, there, to_there, bytes),
                  if (done > 0) e.bring(to, to_there, static_cast<size_t>(done)), noexcept)

// Calls that libc makes of others; made of those here, as it hands the program's memory to the system itself.
namespace {
timespec exact(const timeval& t) noexcept { return {t.tv_sec, t.tv_usec * 1000}; }
/// As utimes(2): null is now.
template <class Set>
int set_times(const timeval* two, Set set) noexcept {
  if (two == nullptr) return set(nullptr);
  const timespec times[2] = {exact(two[0]), exact(two[1])};
  return set(times);
}
int set_times_of(int fd, const timeval* two) noexcept {
  return set_times(two, [=](const timespec* times) { return QUIRE_NEXT(futimens)(fd, times); });
}
int set_times_at(int at, const char* name, const timeval* two) noexcept {
  if (name == nullptr) return set_times_of(at, two);
  return set_times(two, [=](const timespec* times) { return QUIRE_NEXT(utimensat)(at, name, times, 0); });
}
int set_mode_of_link(const char* name, mode_t mode) noexcept {
  return QUIRE_NEXT(fchmodat)(AT_FDCWD, name, mode, AT_SYMLINK_NOFOLLOW);
}
key_t key_of(const char* name, int number) noexcept {
  struct stat64 about {};
  if (QUIRE_NEXT(stat64)(name, &about) != 0) return -1;
  return static_cast<key_t>((about.st_ino & 0xffff) | ((about.st_dev & 0xff) << 16) |
                            ((static_cast<unsigned>(number) & 0xff) << 24));
}
ssize_t read_entries(int fd, char* to, size_t bytes, off64_t* base) noexcept {
  const off64_t at = QUIRE_NEXT(lseek64)(fd, 0, SEEK_CUR);
  const ssize_t done = QUIRE_NEXT(getdents64)(fd, to, bytes);
  if (done != -1) *base = at;
  return done;
}
}  // namespace
QUIRE_AT_OWNER_AS(int, futimes, (int fd, const timeval* two), fd, set_times_of(fd, two),
                  const timeval* const there = e.take(two, 2 * sizeof *two), set_times_of(fd, there), , noexcept)
QUIRE_AT_OWNER_AS(int, futimesat, (int at, const char* name, const timeval* two), new_one(),
                  set_times_at(at, name, two), const char* const there = e.take(name);
                  const timeval* const two_there = e.take(two, 2 * sizeof *two), set_times_at(at, there, two_there), ,
                  noexcept)
QUIRE_AT_OWNER_AS(int, lchmod, (const char* name, mode_t mode), new_one(), set_mode_of_link(name, mode),
                  const char* const there = e.take(name), set_mode_of_link(there, mode), , noexcept)
QUIRE_AT_OWNER_AS(key_t, ftok, (const char* name, int number), new_one(), key_of(name, number),
                  const char* const there = e.take(name), key_of(there, number), , noexcept)
#define QUIRE_ENTRIES(function)                                                                   \
  QUIRE_AT_OWNER_AS(ssize_t, function, (int fd, char* to, size_t bytes, off64_t* base), fd,       \
                    read_entries(fd, to, bytes, base), char* const there = e.room_for(to, bytes); \
                    off64_t* const base_there = e.take_along(base, sizeof *base),                 \
                    read_entries(fd, there, bytes, base_there),                                   \
                    if (done > 0) e.bring(to, there, static_cast<size_t>(done));                  \
                    e.bring(base, base_there, sizeof *base), noexcept)
QUIRE_ENTRIES(getdirentries)
QUIRE_ENTRIES(getdirentries64)

// Terminals.
QUIRE_AT_OWNER(int, tcdrain, (int fd), fd, (fd))
QUIRE_AT_OWNER(int, tcflow, (int fd, int how), fd, (fd, how), noexcept)
QUIRE_AT_OWNER(int, tcflush, (int fd, int which), fd, (fd, which), noexcept)
QUIRE_AT_OWNER(int, tcsendbreak, (int fd, int time), fd, (fd, time), noexcept)
QUIRE_AT_OWNER(pid_t, tcgetpgrp, (int fd), fd, (fd), noexcept)
QUIRE_AT_OWNER(pid_t, tcgetsid, (int fd), fd, (fd), noexcept)
QUIRE_AT_OWNER(int, tcsetpgrp, (int fd, pid_t group), fd, (fd, group), noexcept)
QUIRE_AT_OWNER(int, grantpt, (int fd), fd, (fd), noexcept)
QUIRE_AT_OWNER(int, unlockpt, (int fd), fd, (fd), noexcept)
QUIRE_AT_OWNER_AS(int, posix_openpt, (int flags), new_one(), given_to(QUIRE_CALLER, QUIRE_NEXT(posix_openpt)(flags)), ,
                  given_to(nullptr, QUIRE_NEXT(posix_openpt)(flags)), )
QUIRE_AT_OWNER_AS(int, getpt, (), new_one(), given_to(QUIRE_CALLER, QUIRE_NEXT(getpt)()), ,
                  given_to(nullptr, QUIRE_NEXT(getpt)()), )
namespace {
template <class Call>
int fill_name(char* to, size_t bytes, Call call) noexcept {
  const private_text own(bytes);
  const int error = call(own.get());
  if (error == 0) strcpy(to, own.get());
  return error;
}
}  // namespace
#define QUIRE_NAME_OF_TERMINAL(function)                                                                      \
  QUIRE_AT_OWNER_AS(int, function, (int fd, char* to, size_t bytes), fd,                                      \
                    fill_name(to, bytes, [=](char* own) { return QUIRE_NEXT(function)(fd, own, bytes); }),    \
                    char* const there = e.room_for(to, bytes),                                                \
                    fill_name(there, bytes, [=](char* own) { return QUIRE_NEXT(function)(fd, own, bytes); }), \
                    if (done == 0) e.bring(to, there, strlen(there) + 1), noexcept)                           \
  QUIRE_AT_OWNER_AS(                                                                                          \
      int, __##function##_chk, (int fd, char* to, size_t bytes, size_t room), fd,                             \
      fill_name(to, bytes, [=](char* own) { return QUIRE_NEXT(__##function##_chk)(fd, own, bytes, room); }),  \
      check(room, bytes);                                                                                     \
      char* const there = e.room_for(to, bytes),                                                              \
      fill_name(there, bytes, [=](char* own) { return QUIRE_NEXT(function)(fd, own, bytes); }),               \
      if (done == 0) e.bring(to, there, strlen(there) + 1), noexcept)
QUIRE_NAME_OF_TERMINAL(ptsname_r)
QUIRE_NAME_OF_TERMINAL(ttyname_r)

QUIRE_AT_OWNER(int, sockatmark, (int fd), fd, (fd), noexcept)
QUIRE_AT_OWNER(int, isfdtype, (int fd, int type), fd, (fd, type), noexcept)
QUIRE_AT_OWNER_VOID(sync, (), new_one(), (), noexcept)
