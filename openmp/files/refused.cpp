// SPDX-License-Identifier: BSD-3-Clause
// Calls of descriptors and names that no clerk makes: elsewhere than on node 0 they fail, with a line, and are not made on what has the number or name there.
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "openmp/files/at_owner.hpp"

using namespace quire::openmp;

/// `owner` as QUIRE_AT_OWNER() has it; `failed`: the result.
#define QUIRE_NOT_ELSEWHERE(result, name, parameters, owner, arguments, failed, ...)          \
  QUIRE_LIBC result name parameters __VA_ARGS__ {                                             \
    if (::quire::openmp::node_of(owner, QUIRE_CALLER) == ::quire::openmp::here) return QUIRE_NEXT(name) arguments; \
    ::quire::openmp::refuse(#name "()");                                                      \
    return failed;                                                                            \
  }
QUIRE_NOT_ELSEWHERE(int, tcgetattr, (int fd, termios* to), fd, (fd, to), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, tcsetattr, (int fd, int when, const termios* from), fd, (fd, when, from), -1, noexcept)
QUIRE_NOT_ELSEWHERE(char*, ttyname, (int fd), fd, (fd), nullptr, noexcept)
QUIRE_NOT_ELSEWHERE(long, fpathconf, (int fd, int what), fd, (fd, what), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, fexecve, (int fd, char* const* arguments, char* const* environment), fd, (fd, arguments, environment), -1, noexcept)
QUIRE_NOT_ELSEWHERE(ssize_t, preadv2, (int fd, const iovec* list, int count, off_t at, int flags), fd, (fd, list, count, at, flags), -1)
QUIRE_NOT_ELSEWHERE(ssize_t, pwritev2, (int fd, const iovec* list, int count, off_t at, int flags), fd, (fd, list, count, at, flags), -1)
QUIRE_NOT_ELSEWHERE(ssize_t, preadv64v2, (int fd, const iovec* list, int count, off64_t at, int flags), fd, (fd, list, count, at, flags), -1)
QUIRE_NOT_ELSEWHERE(ssize_t, pwritev64v2, (int fd, const iovec* list, int count, off64_t at, int flags), fd, (fd, list, count, at, flags), -1)
QUIRE_NOT_ELSEWHERE(int, sync_file_range, (int fd, off64_t at, off64_t count, unsigned flags), fd, (fd, at, count, flags), -1)
QUIRE_NOT_ELSEWHERE(ssize_t, readahead, (int fd, off64_t at, size_t count), fd, (fd, at, count), -1, noexcept)
QUIRE_NOT_ELSEWHERE(ssize_t, tee, (int from, int to, size_t bytes, unsigned flags), from, (from, to, bytes, flags), -1)
QUIRE_NOT_ELSEWHERE(ssize_t, vmsplice, (int fd, const iovec* list, size_t count, unsigned flags), fd, (fd, list, count, flags), -1)
QUIRE_NOT_ELSEWHERE(int, epoll_pwait2, (int fd, epoll_event* events, int most, const timespec* limit, const sigset_t* set), fd, (fd, events, most, limit, set), -1)
QUIRE_NOT_ELSEWHERE(ssize_t, fgetxattr, (int fd, const char* name, void* to, size_t bytes), fd, (fd, name, to, bytes), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, fsetxattr, (int fd, const char* name, const void* from, size_t bytes, int flags), fd, (fd, name, from, bytes, flags), -1, noexcept)
QUIRE_NOT_ELSEWHERE(ssize_t, flistxattr, (int fd, char* to, size_t bytes), fd, (fd, to, bytes), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, fremovexattr, (int fd, const char* name), fd, (fd, name), -1, noexcept)

QUIRE_NOT_ELSEWHERE(ssize_t, getxattr, (const char* file, const char* name, void* to, size_t bytes), new_one(), (file, name, to, bytes), -1, noexcept)
QUIRE_NOT_ELSEWHERE(ssize_t, lgetxattr, (const char* file, const char* name, void* to, size_t bytes), new_one(), (file, name, to, bytes), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, setxattr, (const char* file, const char* name, const void* from, size_t bytes, int flags), new_one(), (file, name, from, bytes, flags), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, lsetxattr, (const char* file, const char* name, const void* from, size_t bytes, int flags), new_one(), (file, name, from, bytes, flags), -1, noexcept)
QUIRE_NOT_ELSEWHERE(ssize_t, listxattr, (const char* file, char* to, size_t bytes), new_one(), (file, to, bytes), -1, noexcept)
QUIRE_NOT_ELSEWHERE(ssize_t, llistxattr, (const char* file, char* to, size_t bytes), new_one(), (file, to, bytes), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, removexattr, (const char* file, const char* name), new_one(), (file, name), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, lremovexattr, (const char* file, const char* name), new_one(), (file, name), -1, noexcept)
QUIRE_NOT_ELSEWHERE(long, pathconf, (const char* file, int what), new_one(), (file, what), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, ftw, (const char* file, __ftw_func_t call, int most), new_one(), (file, call, most), -1)
QUIRE_NOT_ELSEWHERE(int, ftw64, (const char* file, __ftw64_func_t call, int most), new_one(), (file, call, most), -1)
QUIRE_NOT_ELSEWHERE(int, nftw, (const char* file, __nftw_func_t call, int most, int flags), new_one(), (file, call, most, flags), -1)
QUIRE_NOT_ELSEWHERE(int, nftw64, (const char* file, __nftw64_func_t call, int most, int flags), new_one(), (file, call, most, flags), -1)
QUIRE_NOT_ELSEWHERE(FTS*, fts_open, (char* const* files, int options, int (*compare)(const FTSENT**, const FTSENT**)), new_one(), (files, options, compare), nullptr)

/// Named semaphores are files.
QUIRE_LIBC sem_t* sem_open(const char* name, int flags, ...) noexcept {
  va_list arguments;
  va_start(arguments, flags);
  const bool makes = (flags & O_CREAT) != 0;
  const mode_t mode = makes ? va_arg(arguments, mode_t) : 0;
  const unsigned value = makes ? va_arg(arguments, unsigned) : 0;
  va_end(arguments);
  if (node_of(new_one(), QUIRE_CALLER) == here) return QUIRE_NEXT(sem_open)(name, flags, mode, value);
  refuse("sem_open()");
  return SEM_FAILED;
}

// Wide input with a format: the text is of node 0's stream, the places are the caller's.
extern "C" int __isoc99_vfwscanf(FILE*, const wchar_t*, va_list);
QUIRE_NOT_ELSEWHERE(int, __isoc99_vfwscanf, (FILE* stream, const wchar_t* format, va_list places), stream, (stream, format, places), EOF)
#define QUIRE_WIDE_SCAN(name, parameters, last, stream, scan)                \
  QUIRE_LIBC int name parameters {                                           \
    va_list places;                                                          \
    va_start(places, last);                                                  \
    const bool is_here = node_of(stream, QUIRE_CALLER) == here;              \
    const int done = is_here ? QUIRE_NEXT(scan)(stream, format, places) : EOF; \
    va_end(places);                                                          \
    if (!is_here) refuse(#name "()");                                        \
    return done;                                                             \
  }
extern "C" {
int __isoc99_fwscanf(FILE*, const wchar_t*, ...);
int __isoc99_wscanf(const wchar_t*, ...);
}
QUIRE_WIDE_SCAN(__isoc99_fwscanf, (FILE* stream, const wchar_t* format, ...), format, stream, __isoc99_vfwscanf)
QUIRE_WIDE_SCAN(__isoc99_wscanf, (const wchar_t* format, ...), format, stdin, __isoc99_vfwscanf)
