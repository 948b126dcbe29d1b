// SPDX-License-Identifier: BSD-3-Clause
// Calls of descriptors without memory, and those that make descriptors.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

#include "program/posix/errands/at_owner.hpp"
#include "program/posix/files/own_descriptors.hpp"
#include "program/posix/mapped/descriptor_calls.hpp"

extern "C" {
int __open_2(const char*, int);
int __open64_2(const char*, int);
int __openat_2(int, const char*, int);
int __openat64_2(int, const char*, int);
}

using namespace quire::program;

QUIRE_AT_OWNER(off_t, lseek, (int fd, off_t at, int from), fd, (fd, at, from), noexcept)
QUIRE_AT_OWNER(off64_t, lseek64, (int fd, off64_t at, int from), fd, (fd, at, from), noexcept)
// Of files, which may be mapped, too.
#define QUIRE_OF_FILE(access, function, parameters, arguments, ...)                                     \
  QUIRE_AT_OWNER_AS(int, function, parameters, fd,                                                      \
                    mapped::access(QUIRE_CALLER, fd, [&] { return QUIRE_NEXT(function) arguments; }), , \
                    mapped::access(nullptr, fd, [&] { return QUIRE_NEXT(function) arguments; }), , __VA_ARGS__)
QUIRE_OF_FILE(read_by, fsync, (int fd), (fd))
QUIRE_OF_FILE(read_by, fdatasync, (int fd), (fd))
QUIRE_AT_OWNER(int, syncfs, (int fd), fd, (fd), noexcept)
QUIRE_OF_FILE(write_by, ftruncate, (int fd, off_t length), (fd, length), noexcept)
QUIRE_OF_FILE(write_by, ftruncate64, (int fd, off64_t length), (fd, length), noexcept)
QUIRE_OF_FILE(write_by, fallocate, (int fd, int mode, off_t at, off_t length), (fd, mode, at, length))
QUIRE_OF_FILE(write_by, fallocate64, (int fd, int mode, off64_t at, off64_t length), (fd, mode, at, length))
QUIRE_AT_OWNER(int, posix_fallocate, (int fd, off_t at, off_t length), fd, (fd, at, length))
QUIRE_AT_OWNER(int, posix_fallocate64, (int fd, off64_t at, off64_t length), fd, (fd, at, length))
QUIRE_AT_OWNER(int, posix_fadvise, (int fd, off_t at, off_t length, int advice), fd, (fd, at, length, advice), noexcept)
QUIRE_AT_OWNER(int, posix_fadvise64, (int fd, off64_t at, off64_t length, int advice), fd, (fd, at, length, advice),
               noexcept)
QUIRE_AT_OWNER(int, flock, (int fd, int how), fd, (fd, how), noexcept)
QUIRE_AT_OWNER(int, lockf, (int fd, int how, off_t length), fd, (fd, how, length))
QUIRE_AT_OWNER(int, lockf64, (int fd, int how, off64_t length), fd, (fd, how, length))
QUIRE_AT_OWNER(int, fchmod, (int fd, mode_t mode), fd, (fd, mode), noexcept)
QUIRE_AT_OWNER(int, fchown, (int fd, uid_t user, gid_t group), fd, (fd, user, group), noexcept)
QUIRE_AT_OWNER(int, isatty, (int fd), fd, (fd), noexcept)
QUIRE_AT_OWNER(int, listen, (int fd, int most), fd, (fd, most), noexcept)
QUIRE_AT_OWNER(int, shutdown, (int fd, int how), fd, (fd, how), noexcept)
QUIRE_AT_OWNER(int, inotify_rm_watch, (int fd, int watch), fd, (fd, watch), noexcept)
QUIRE_AT_OWNER(int, eventfd_write, (int fd, eventfd_t value), fd, (fd, value))

// A copy of standard output is a descriptor like others.
namespace {
int node_of_copied(int fd, const void* caller) noexcept {
  return fd == 1 || fd == 2 ? node_of(new_one(), caller) : node_of(fd, caller);
}
}  // namespace
QUIRE_LIBC int dup(int fd) noexcept {
  const int node = node_of_copied(fd, QUIRE_CALLER);
  return node == here ? given_to(QUIRE_CALLER, QUIRE_NEXT(dup)(fd))
                      : errand(node).run([=] { return given_to(nullptr, QUIRE_NEXT(dup)(fd)); });
}

namespace {
bool has_lock(int request) noexcept {
  return request == F_GETLK || request == F_SETLK || request == F_SETLKW || request == F_OFD_GETLK ||
         request == F_OFD_SETLK || request == F_OFD_SETLKW;
}
bool waits(int request) noexcept { return request == F_SETLKW || request == F_OFD_SETLKW; }
bool gives_number(int request) noexcept { return request == F_DUPFD || request == F_DUPFD_CLOEXEC; }
/// What is no structure of a known length is a number, or shared memory.
int control_there(int node, int fd, int request, void* what, int (*real)(int, int, ...)) noexcept {
  errand e(node);
  const bool locks = has_lock(request) && what != nullptr;
  void* const there = locks ? e.take_along(static_cast<struct flock*>(what), sizeof(struct flock)) : what;
  const int done = e.run([=] {
    const int result = real(fd, request, there);
    return gives_number(request) ? given_to(nullptr, result) : result;
  });
  if (locks) e.bring(what, there, sizeof(struct flock));
  return done;
}
int node_of_control(int fd, int request, const void* caller) noexcept {
  return gives_number(request) ? node_of_copied(fd, caller) : node_of(fd, caller);
}
void* argument_of(va_list arguments) noexcept { return va_arg(arguments, void*); }
}  // namespace
#define QUIRE_CONTROL(function)                                                            \
  QUIRE_LIBC int function(int fd, int request, ...) {                                      \
    va_list arguments;                                                                     \
    va_start(arguments, request);                                                          \
    void* const what = argument_of(arguments);                                             \
    va_end(arguments);                                                                     \
    const cancellation_point<> point(QUIRE_CALLER, waits(request));                        \
    const int node = node_of_control(fd, request, QUIRE_CALLER);                           \
    if (node != here) return control_there(node, fd, request, what, QUIRE_NEXT(function)); \
    const int done = QUIRE_NEXT(function)(fd, request, what);                              \
    return gives_number(request) ? given_to(QUIRE_CALLER, done) : done;                    \
  }
QUIRE_CONTROL(fcntl)
QUIRE_CONTROL(fcntl64)
QUIRE_LIBC int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* const what = argument_of(arguments);
  va_end(arguments);
  const int node = node_of(fd, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(ioctl)(fd, request, what);
  return errand(node).run([=] { return QUIRE_NEXT(ioctl)(fd, request, what); });
}

// Files.
namespace {
template <class Open>
int open_there(int node, const char* name, Open open) noexcept {
  errand e(node);
  const char* const there = e.take(name);
  return e.run([=] { return open(there); });
}
mode_t mode_of(int flags, va_list arguments) noexcept {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}
}  // namespace
#define QUIRE_OPEN(function)                                                                                           \
  QUIRE_LIBC int function(const char* name, int flags, ...) {                                                          \
    const cancellation_point<> point(QUIRE_CALLER);                                                                    \
    va_list arguments;                                                                                                 \
    va_start(arguments, flags);                                                                                        \
    const mode_t mode = mode_of(flags, arguments);                                                                     \
    va_end(arguments);                                                                                                 \
    const int node = node_of(new_one(), QUIRE_CALLER);                                                                 \
    if (node == here) return given_to(QUIRE_CALLER, QUIRE_NEXT(function)(name, flags, mode));                          \
    return open_there(node, name,                                                                                      \
                      [=](const char* there) { return given_to(nullptr, QUIRE_NEXT(function)(there, flags, mode)); }); \
  }
QUIRE_OPEN(open)
QUIRE_OPEN(open64)
#define QUIRE_OPEN_AT(function)                                                                   \
  QUIRE_LIBC int function(int at, const char* name, int flags, ...) {                             \
    const cancellation_point<> point(QUIRE_CALLER);                                               \
    va_list arguments;                                                                            \
    va_start(arguments, flags);                                                                   \
    const mode_t mode = mode_of(flags, arguments);                                                \
    va_end(arguments);                                                                            \
    const int node = node_of(new_one(), QUIRE_CALLER);                                            \
    if (node == here) return given_to(QUIRE_CALLER, QUIRE_NEXT(function)(at, name, flags, mode)); \
    return open_there(node, name, [=](const char* there) {                                        \
      return given_to(nullptr, QUIRE_NEXT(function)(at, there, flags, mode));                     \
    });                                                                                           \
  }
QUIRE_OPEN_AT(openat)
QUIRE_OPEN_AT(openat64)

#define QUIRE_MAKE_BY_NAME(function, parameters, name, arguments, arguments_there, ...)                                \
  QUIRE_AT_OWNER_AS(int, function, parameters, new_one(), given_to(QUIRE_CALLER, QUIRE_NEXT(function) arguments),      \
                    const char* const there = e.take(name), given_to(nullptr, QUIRE_NEXT(function) arguments_there), , \
                    __VA_ARGS__)
QUIRE_MAKE_BY_NAME(creat, (const char* name, mode_t mode), name, (name, mode), (there, mode))
QUIRE_MAKE_BY_NAME(creat64, (const char* name, mode_t mode), name, (name, mode), (there, mode))
QUIRE_MAKE_BY_NAME(__open_2, (const char* name, int flags), name, (name, flags), (there, flags))
QUIRE_MAKE_BY_NAME(__open64_2, (const char* name, int flags), name, (name, flags), (there, flags))
QUIRE_MAKE_BY_NAME(__openat_2, (int at, const char* name, int flags), name, (at, name, flags), (at, there, flags))
QUIRE_MAKE_BY_NAME(__openat64_2, (int at, const char* name, int flags), name, (at, name, flags), (at, there, flags))
QUIRE_MAKE_BY_NAME(shm_open, (const char* name, int flags, mode_t mode), name, (name, flags, mode),
                   (there, flags, mode))
QUIRE_MAKE_BY_NAME(memfd_create, (const char* name, unsigned flags), name, (name, flags), (there, flags), noexcept)
#define QUIRE_MAKE_TEMPORARY(function, parameters, name, arguments, arguments_there)                              \
  QUIRE_AT_OWNER_AS(int, function, parameters, new_one(), given_to(QUIRE_CALLER, QUIRE_NEXT(function) arguments), \
                    char* const there = e.take_along(name, strlen(name) + 1),                                     \
                    given_to(nullptr, QUIRE_NEXT(function) arguments_there), e.bring(name, there, strlen(name)))
QUIRE_MAKE_TEMPORARY(mkstemp, (char* name), name, (name), (there))
QUIRE_MAKE_TEMPORARY(mkstemp64, (char* name), name, (name), (there))
QUIRE_MAKE_TEMPORARY(mkostemp, (char* name, int flags), name, (name, flags), (there, flags))
QUIRE_MAKE_TEMPORARY(mkostemp64, (char* name, int flags), name, (name, flags), (there, flags))

/// Libc hands these names to the system, which does not see shared memory.
QUIRE_LIBC int mkostemps(char* name, int suffix, int flags) {
  const int node = node_of(new_one(), QUIRE_CALLER);
  if (node == here) return given_to(QUIRE_CALLER, QUIRE_NEXT(mkostemps)(name, suffix, flags));
  const size_t bytes = strlen(name) + 1;
  if (bytes > PATH_MAX) return errno = ENAMETOOLONG, -1;
  errand e(node);
  char* const there = e.take_along(name, bytes);
  const int done = e.run([=] {
    char own[PATH_MAX];
    const int fd = QUIRE_NEXT(mkostemps)(strcpy(own, there), suffix, flags);
    strcpy(there, own);
    return given_to(nullptr, fd);
  });
  e.bring(name, there, bytes);
  return done;
}
QUIRE_LIBC int mkstemps(char* name, int suffix) {
  return node_of(new_one(), QUIRE_CALLER) == here ? given_to(QUIRE_CALLER, QUIRE_NEXT(mkstemps)(name, suffix))
                                                  : ::mkostemps(name, suffix, 0);
}
QUIRE_LIBC int mkstemps64(char* name, int suffix) {
  return node_of(new_one(), QUIRE_CALLER) == here ? given_to(QUIRE_CALLER, QUIRE_NEXT(mkstemps64)(name, suffix))
                                                  : ::mkostemps(name, suffix, 0);
}
QUIRE_LIBC int mkostemps64(char* name, int suffix, int flags) {
  return node_of(new_one(), QUIRE_CALLER) == here ? given_to(QUIRE_CALLER, QUIRE_NEXT(mkostemps64)(name, suffix, flags))
                                                  : ::mkostemps(name, suffix, flags);
}

// What is no file.
#define QUIRE_MAKE_TWO(function, parameters, two, arguments, arguments_there)                                          \
  QUIRE_AT_OWNER_AS(int, function, parameters, new_one(), given_to(QUIRE_CALLER, QUIRE_NEXT(function) arguments, two), \
                    int* const there = e.room_for(two, 2 * sizeof(int)),                                               \
                    given_to(nullptr, QUIRE_NEXT(function) arguments_there, there),                                    \
                    if (done == 0) e.bring(two, there, 2 * sizeof(int)), noexcept)
QUIRE_MAKE_TWO(pipe, (int* two), two, (two), (there))
QUIRE_MAKE_TWO(pipe2, (int* two, int flags), two, (two, flags), (there, flags))
QUIRE_MAKE_TWO(socketpair, (int domain, int type, int protocol, int* two), two, (domain, type, protocol, two),
               (domain, type, protocol, there))
#define QUIRE_MAKE(function, parameters, arguments)                                                                 \
  QUIRE_AT_OWNER_AS(int, function, parameters, new_one(), given_to(QUIRE_CALLER, QUIRE_NEXT(function) arguments), , \
                    given_to(nullptr, QUIRE_NEXT(function) arguments), , noexcept)
QUIRE_MAKE(socket, (int domain, int type, int protocol), (domain, type, protocol))
QUIRE_MAKE(epoll_create, (int size), (size))
QUIRE_MAKE(epoll_create1, (int flags), (flags))
QUIRE_MAKE(eventfd, (unsigned value, int flags), (value, flags))
QUIRE_MAKE(timerfd_create, (clockid_t clock, int flags), (clock, flags))
QUIRE_MAKE(inotify_init, (), ())
QUIRE_MAKE(inotify_init1, (int flags), (flags))

// What another node cannot do for the caller.
QUIRE_LIBC int signalfd(int fd, const sigset_t* set, int flags) noexcept {
  if (node_of(new_one(), QUIRE_CALLER) == here) return given_to(QUIRE_CALLER, QUIRE_NEXT(signalfd)(fd, set, flags));
  refuse("signalfd()");
  return -1;
}
QUIRE_LIBC int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t* actions, int fd, int to) noexcept {
  if (node_of(fd, QUIRE_CALLER) == here) return QUIRE_NEXT(posix_spawn_file_actions_adddup2)(actions, fd, to);
  refuse("posix_spawn_file_actions_adddup2()");
  return ENOTSUP;
}
