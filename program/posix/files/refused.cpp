// SPDX-License-Identifier: BSD-3-Clause
// Calls of descriptors and names that no clerk makes: elsewhere than on node 0 they fail, with a line, and are not made
// on what has the number or name there.
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <pty.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>
#include <wchar.h>

#include "program/posix/errands/at_owner.hpp"

// The header knows nothing of C++.
extern "C" {
int pidfd_open(pid_t, unsigned) noexcept;
int pidfd_getfd(int, int, unsigned) noexcept;
int pidfd_send_signal(int, int, siginfo_t*, unsigned) noexcept;
}

using namespace quire::program;

/// `owner` as QUIRE_AT_OWNER() has it; `failed`: the result.
#define QUIRE_NOT_ELSEWHERE(result, name, parameters, owner, arguments, failed, ...)                                 \
  QUIRE_LIBC result name parameters __VA_ARGS__ {                                                                    \
    if (::quire::program::node_of(owner, QUIRE_CALLER) == ::quire::program::here) return QUIRE_NEXT(name) arguments; \
    ::quire::program::refuse(#name "()");                                                                            \
    return failed;                                                                                                   \
  }
QUIRE_NOT_ELSEWHERE(int, tcgetattr, (int fd, termios* to), fd, (fd, to), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, tcsetattr, (int fd, int when, const termios* from), fd, (fd, when, from), -1, noexcept)
QUIRE_NOT_ELSEWHERE(char*, ttyname, (int fd), fd, (fd), nullptr, noexcept)
QUIRE_NOT_ELSEWHERE(long, fpathconf, (int fd, int what), fd, (fd, what), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, fexecve, (int fd, char* const* arguments, char* const* environment), fd,
                    (fd, arguments, environment), -1, noexcept)
QUIRE_NOT_ELSEWHERE(ssize_t, preadv2, (int fd, const iovec* list, int count, off_t at, int flags), fd,
                    (fd, list, count, at, flags), -1)
QUIRE_NOT_ELSEWHERE(ssize_t, pwritev2, (int fd, const iovec* list, int count, off_t at, int flags), fd,
                    (fd, list, count, at, flags), -1)
QUIRE_NOT_ELSEWHERE(ssize_t, preadv64v2, (int fd, const iovec* list, int count, off64_t at, int flags), fd,
                    (fd, list, count, at, flags), -1)
QUIRE_NOT_ELSEWHERE(ssize_t, pwritev64v2, (int fd, const iovec* list, int count, off64_t at, int flags), fd,
                    (fd, list, count, at, flags), -1)
QUIRE_NOT_ELSEWHERE(int, sync_file_range, (int fd, off64_t at, off64_t count, unsigned flags), fd,
                    (fd, at, count, flags), -1)
QUIRE_NOT_ELSEWHERE(ssize_t, readahead, (int fd, off64_t at, size_t count), fd, (fd, at, count), -1, noexcept)
QUIRE_NOT_ELSEWHERE(ssize_t, tee, (int from, int to, size_t bytes, unsigned flags), from, (from, to, bytes, flags), -1)
QUIRE_NOT_ELSEWHERE(ssize_t, vmsplice, (int fd, const iovec* list, size_t count, unsigned flags), fd,
                    (fd, list, count, flags), -1)
QUIRE_NOT_ELSEWHERE(int, epoll_pwait2,
                    (int fd, epoll_event* events, int most, const timespec* limit, const sigset_t* set), fd,
                    (fd, events, most, limit, set), -1)
QUIRE_NOT_ELSEWHERE(ssize_t, fgetxattr, (int fd, const char* name, void* to, size_t bytes), fd, (fd, name, to, bytes),
                    -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, fsetxattr, (int fd, const char* name, const void* from, size_t bytes, int flags), fd,
                    (fd, name, from, bytes, flags), -1, noexcept)
QUIRE_NOT_ELSEWHERE(ssize_t, flistxattr, (int fd, char* to, size_t bytes), fd, (fd, to, bytes), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, fremovexattr, (int fd, const char* name), fd, (fd, name), -1, noexcept)

QUIRE_NOT_ELSEWHERE(ssize_t, getxattr, (const char* file, const char* name, void* to, size_t bytes), new_one(),
                    (file, name, to, bytes), -1, noexcept)
QUIRE_NOT_ELSEWHERE(ssize_t, lgetxattr, (const char* file, const char* name, void* to, size_t bytes), new_one(),
                    (file, name, to, bytes), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, setxattr, (const char* file, const char* name, const void* from, size_t bytes, int flags),
                    new_one(), (file, name, from, bytes, flags), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, lsetxattr, (const char* file, const char* name, const void* from, size_t bytes, int flags),
                    new_one(), (file, name, from, bytes, flags), -1, noexcept)
QUIRE_NOT_ELSEWHERE(ssize_t, listxattr, (const char* file, char* to, size_t bytes), new_one(), (file, to, bytes), -1,
                    noexcept)
QUIRE_NOT_ELSEWHERE(ssize_t, llistxattr, (const char* file, char* to, size_t bytes), new_one(), (file, to, bytes), -1,
                    noexcept)
QUIRE_NOT_ELSEWHERE(int, removexattr, (const char* file, const char* name), new_one(), (file, name), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, lremovexattr, (const char* file, const char* name), new_one(), (file, name), -1, noexcept)
QUIRE_NOT_ELSEWHERE(long, pathconf, (const char* file, int what), new_one(), (file, what), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, ftw, (const char* file, __ftw_func_t call, int most), new_one(), (file, call, most), -1)
QUIRE_NOT_ELSEWHERE(int, ftw64, (const char* file, __ftw64_func_t call, int most), new_one(), (file, call, most), -1)
QUIRE_NOT_ELSEWHERE(int, nftw, (const char* file, __nftw_func_t call, int most, int flags), new_one(),
                    (file, call, most, flags), -1)
QUIRE_NOT_ELSEWHERE(int, nftw64, (const char* file, __nftw64_func_t call, int most, int flags), new_one(),
                    (file, call, most, flags), -1)
QUIRE_NOT_ELSEWHERE(FTS*, fts_open, (char* const* files, int options, int (*compare)(const FTSENT**, const FTSENT**)),
                    new_one(), (files, options, compare), nullptr)
QUIRE_NOT_ELSEWHERE(FTS64*, fts64_open,
                    (char* const* files, int options, int (*compare)(const FTSENT64**, const FTSENT64**)), new_one(),
                    (files, options, compare), nullptr)
QUIRE_NOT_ELSEWHERE(char*, ptsname, (int fd), fd, (fd), nullptr, noexcept)
QUIRE_NOT_ELSEWHERE(int, openpty, (int* a, int* b, char* name, const termios* how, const winsize* size), new_one(),
                    (a, b, name, how, size), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, forkpty, (int* a, char* name, const termios* how, const winsize* size), new_one(),
                    (a, name, how, size), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, login_tty, (int fd), fd, (fd), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, fanotify_init, (unsigned flags, unsigned of_events), new_one(), (flags, of_events), -1,
                    noexcept)
QUIRE_NOT_ELSEWHERE(int, fanotify_mark, (int fd, unsigned flags, uint64_t mask, int at, const char* file), fd,
                    (fd, flags, mask, at, file), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, name_to_handle_at, (int at, const char* file, file_handle* to, int* mount, int flags),
                    new_one(), (at, file, to, mount, flags), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, open_by_handle_at, (int at, file_handle* of, int flags), new_one(), (at, of, flags), -1)
QUIRE_NOT_ELSEWHERE(int, setns, (int fd, int kind), fd, (fd, kind), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, execveat,
                    (int fd, const char* file, char* const* arguments, char* const* environment, int flags), fd,
                    (fd, file, arguments, environment, flags), -1, noexcept)
QUIRE_NOT_ELSEWHERE(int, fcloseall, (), new_one(), (), EOF)
QUIRE_LIBC int posix_spawn_file_actions_addfchdir_np(posix_spawn_file_actions_t* actions, int fd) noexcept {
  if (node_of(fd, QUIRE_CALLER) == here) return QUIRE_NEXT(posix_spawn_file_actions_addfchdir_np)(actions, fd);
  refuse("posix_spawn_file_actions_addfchdir_np()");
  return ENOTSUP;
}
QUIRE_LIBC void backtrace_symbols_fd(void* const* addresses, int count, int fd) noexcept {
  if (node_of(fd, QUIRE_CALLER) == here) return QUIRE_NEXT(backtrace_symbols_fd)(addresses, count, fd);
  refuse("backtrace_symbols_fd()");
}
/// A process by a descriptor: of this node, as all processes are.
#define QUIRE_OF_PROCESS(name, parameters, fd, arguments) \
  QUIRE_NOT_ELSEWHERE(int, name, parameters, fd, arguments, -1, noexcept)
QUIRE_OF_PROCESS(pidfd_open, (pid_t of, unsigned flags), new_one(), (of, flags))
QUIRE_OF_PROCESS(pidfd_getfd, (int fd, int other, unsigned flags), fd, (fd, other, flags))
QUIRE_OF_PROCESS(pidfd_send_signal, (int fd, int number, siginfo_t* about, unsigned flags), fd,
                 (fd, number, about, flags))

// Wide input with a format: the text is of node 0's stream, the places are the caller's.
// The header gives the old functions' names to the ones above; those of C23 it may not know.
namespace {
using wide_scan_function = int(FILE*, const wchar_t*, va_list);
int scan_wide(FILE* stream, const wchar_t* format, va_list places, const void* caller, const char* name,
              const char* real) {
  if (node_of(stream, caller) == here) return next<wide_scan_function>(real)(stream, format, places);
  refuse(name);
  return EOF;
}
}  // namespace
#define QUIRE_NAMED(name, parameters)                                                             \
  extern "C" __attribute__((visibility("default"))) int quire_named_##name parameters asm(#name); \
  extern "C" int quire_named_##name parameters
#define QUIRE_WIDE_SCANS(prefix)                                                                       \
  QUIRE_NAMED(prefix##vfwscanf, (FILE * stream, const wchar_t* format, va_list places)) {              \
    return scan_wide(stream, format, places, QUIRE_CALLER, "vfwscanf()", #prefix "vfwscanf");          \
  }                                                                                                    \
  QUIRE_NAMED(prefix##vwscanf, (const wchar_t* format, va_list places)) {                              \
    return scan_wide(stdin, format, places, QUIRE_CALLER, "vwscanf()", #prefix "vfwscanf");            \
  }                                                                                                    \
  QUIRE_NAMED(prefix##fwscanf, (FILE * stream, const wchar_t* format, ...)) {                          \
    va_list places;                                                                                    \
    va_start(places, format);                                                                          \
    const int done = scan_wide(stream, format, places, QUIRE_CALLER, "fwscanf()", #prefix "vfwscanf"); \
    va_end(places);                                                                                    \
    return done;                                                                                       \
  }                                                                                                    \
  QUIRE_NAMED(prefix##wscanf, (const wchar_t* format, ...)) {                                          \
    va_list places;                                                                                    \
    va_start(places, format);                                                                          \
    const int done = scan_wide(stdin, format, places, QUIRE_CALLER, "wscanf()", #prefix "vfwscanf");   \
    va_end(places);                                                                                    \
    return done;                                                                                       \
  }
QUIRE_WIDE_SCANS()
QUIRE_WIDE_SCANS(__isoc99_)
QUIRE_WIDE_SCANS(__isoc23_)
