// SPDX-License-Identifier: BSD-3-Clause
// aio_read(3) and its family, and getaddrinfo_a(3): libc's threads for these block all signals, and hand the program's
// memory to the kernel. Here a request is done at once, by the caller, where the file is; what libc has for requests
// that are done (aio_error, aio_return, aio_suspend; gai_error, gai_suspend) finds it so. What may wait for
// the caller itself, as a pipe may, is refused.
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/posix/errands/errand.hpp"
#include "program/posix/errands/where.hpp"
#include "program/posix/pthreads/notices.hpp"

using namespace quire::program;

namespace {

enum class action { read, write, sync, sync_data };

bool may_wait(int node, int fd) noexcept {
  const auto is_file = [fd] {
    struct stat64 about {};
    return QUIRE_NEXT(fstat64)(fd, &about) != 0 || S_ISREG(about.st_mode) || S_ISBLK(about.st_mode);
  };
  return node == here ? !is_file() : !errand(node).run(is_file);
}

ssize_t run(action what, int fd, void* memory, size_t bytes, off64_t at) noexcept {
  switch (what) {
    case action::read:
      return QUIRE_NEXT(pread64)(fd, memory, bytes, at);
    case action::write:
      return QUIRE_NEXT(pwrite64)(fd, memory, bytes, at);
    case action::sync:
      return QUIRE_NEXT(fsync)(fd);
    case action::sync_data:
      break;
  }
  return QUIRE_NEXT(fdatasync)(fd);
}

ssize_t run_at(int node, action what, const aiocb64& c) noexcept {
  const int fd = c.aio_fildes;
  const off64_t at = c.aio_offset;
  void* const memory = const_cast<void*>(c.aio_buf);
  const size_t bytes = what == action::read || what == action::write ? c.aio_nbytes : 0;
  if (node == here) return run(what, fd, memory, bytes, at);
  errand e(node);
  void* const there = what == action::read ? e.room_for(memory, bytes) : const_cast<void*>(e.take(memory, bytes));
  const ssize_t done = e.run([=] { return run(what, fd, there, bytes, at); });
  if (what == action::read && done > 0) e.bring(memory, there, static_cast<size_t>(done));
  return done;
}

/// 0, or -1 and errno: it was not taken.
int do_now(action what, aiocb64& c, const char* call, const void* caller) noexcept {
  const int node = node_of(c.aio_fildes, caller);
  if (may_wait(node, c.aio_fildes)) {
    char line[200];
    const int length = ::snprintf(line, sizeof line,
                                  "quire: %s() is refused for what is no file, as it may have to wait for this thread: "
                                  "let a thread read or write it (program/README.md)\n",
                                  call);
    (void)!::write(2, line, static_cast<size_t>(length));
    return errno = ENOTSUP, -1;
  }
  const int saved = errno;
  c.__return_value = run_at(node, what, c);
  c.__error_code = c.__return_value < 0 ? errno : 0;
  errno = saved;
  return 0;
}

int request(action what, aiocb64* c, const char* call, const void* caller) noexcept {
  if (do_now(what, *c, call, caller) != 0) return -1;
  give_notice(c->aio_sigevent);
  return 0;
}

int request_all(int mode, aiocb64* const* list, int count, const sigevent* how, const void* caller) noexcept {
  if (mode != LIO_WAIT && mode != LIO_NOWAIT) return errno = EINVAL, -1;
  bool all = true;
  for (int i = 0; i < count; ++i) {
    aiocb64* const c = list[i];
    if (c == nullptr || (c->aio_lio_opcode != LIO_READ && c->aio_lio_opcode != LIO_WRITE)) continue;
    const bool taken =
        do_now(c->aio_lio_opcode == LIO_READ ? action::read : action::write, *c, "lio_listio", caller) == 0;
    if (!taken) c->__error_code = errno, c->__return_value = -1;
    if (taken) give_notice(c->aio_sigevent);
    all = all && taken && (mode == LIO_NOWAIT || c->__error_code == 0);
  }
  if (mode == LIO_NOWAIT && how != nullptr) give_notice(*how);
  if (!all) errno = EIO;
  return all ? 0 : -1;
}

/// Of requests that are all done.
int cancel(int fd, const aiocb64* c, const void* caller) noexcept {
  const auto is_open = [fd] { return QUIRE_NEXT(fcntl64)(fd, F_GETFL) >= 0; };
  const int node = node_of(fd, caller);
  if (!(node == here ? is_open() : errand(node).run(is_open))) return errno = EBADF, -1;
  if (c != nullptr && c->aio_fildes != fd) return errno = EINVAL, -1;
  return AIO_ALLDONE;
}

action action_of_sync(int what) noexcept { return what == O_DSYNC ? action::sync_data : action::sync; }

}  // namespace

static_assert(sizeof(aiocb) == sizeof(aiocb64));
#define QUIRE_REQUEST(function, type, what)                                       \
  QUIRE_LIBC int function(type* c) noexcept {                                     \
    if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(function)(c);               \
    return request(what, reinterpret_cast<aiocb64*>(c), #function, QUIRE_CALLER); \
  }
QUIRE_REQUEST(aio_read, aiocb, action::read)
QUIRE_REQUEST(aio_read64, aiocb64, action::read)
QUIRE_REQUEST(aio_write, aiocb, action::write)
QUIRE_REQUEST(aio_write64, aiocb64, action::write)
#define QUIRE_REQUEST_SYNC(function, type)                                                                       \
  QUIRE_LIBC int function(int what, type* c) noexcept {                                                          \
    if (!for_program(QUIRE_CALLER) || (what != O_SYNC && what != O_DSYNC)) return QUIRE_NEXT(function)(what, c); \
    return request(action_of_sync(what), reinterpret_cast<aiocb64*>(c), #function, QUIRE_CALLER);                \
  }
QUIRE_REQUEST_SYNC(aio_fsync, aiocb)
QUIRE_REQUEST_SYNC(aio_fsync64, aiocb64)
QUIRE_LIBC int lio_listio(int mode, aiocb* const* list, int count, sigevent* how) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(lio_listio)(mode, list, count, how);
  return request_all(mode, reinterpret_cast<aiocb64* const*>(list), count, how, QUIRE_CALLER);
}
QUIRE_LIBC int lio_listio64(int mode, aiocb64* const* list, int count, sigevent* how) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(lio_listio64)(mode, list, count, how);
  return request_all(mode, list, count, how, QUIRE_CALLER);
}

QUIRE_LIBC int aio_cancel(int fd, aiocb* c) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(aio_cancel)(fd, c);
  return cancel(fd, reinterpret_cast<const aiocb64*>(c), QUIRE_CALLER);
}
QUIRE_LIBC int aio_cancel64(int fd, aiocb64* c) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(aio_cancel64)(fd, c);
  return cancel(fd, c, QUIRE_CALLER);
}

QUIRE_LIBC int getaddrinfo_a(int mode, gaicb** list, int count, sigevent* how) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(getaddrinfo_a)(mode, list, count, how);
  if (mode != GAI_WAIT && mode != GAI_NOWAIT) return errno = EINVAL, EAI_SYSTEM;
  for (int i = 0; i < count; ++i) {
    gaicb* const c = list[i];
    if (c != nullptr) c->__return = ::getaddrinfo(c->ar_name, c->ar_service, c->ar_request, &c->ar_result);
  }
  if (mode == GAI_NOWAIT && how != nullptr) give_notice(*how);
  return 0;
}
