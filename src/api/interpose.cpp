// System calls on shared memory. Where faults are handled by the faulting thread (userfaultfd inline, SIGSEGV), the kernel
// cannot wait for a page that is elsewhere: the call would end with EFAULT, and a datagram would be lost. So the calls of
// libc that take buffers are defined here too, and found first: a shared buffer is exchanged for a private one around the
// call. Exactly one system call is made with the whole length, so that all that is known of short counts and datagrams
// stays true. Touching the pages in advance would not do: another node may take them away before the kernel comes.
//
// Application threads. In thread mode, before the start and for private buffers the calls pass straight through.
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "api/forward.hpp"
#include "os/memory.hpp"

namespace {

using quire::api::current;
using quire::model::access;

constexpr std::size_t most_bytes = 0x7ffff000;  // what one read(2) or write(2) moves at most

/// The libc function of that name.
template <class F>
F* next_of(const char* name) noexcept {
  void* found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) ::abort();
  return reinterpret_cast<F*>(found);
}
#define QUIRE_REAL(function) static auto* const real = next_of<decltype(::function)>(#function)

/// Whether the kernel cannot fetch the pages of this address itself.
bool shared(const void* address) noexcept {
  if (const auto* const there = quire::api::elsewhere()) {
    return there->contains(reinterpret_cast<std::uint64_t>(address)) &&
           !there->both().kernel_waits.load(std::memory_order_relaxed);
  }
  auto* const r = current();
  if (r == nullptr) return false;
  const auto* slot = r->core->regions().find(reinterpret_cast<std::uint64_t>(address));
  return slot != nullptr && slot->detector->descriptor() < 0;
}

bool any_shared(const iovec* parts, int count) noexcept {
  if (parts == nullptr) return false;
  for (int i = 0; i < count; ++i) {
    if (parts[i].iov_len != 0 && shared(parts[i].iov_base)) return true;
  }
  return false;
}

/// A private buffer for one call, page-aligned as O_DIRECT wants it.
class private_buffer {
 public:
  explicit private_buffer(std::size_t bytes) noexcept : bytes_(std::min(bytes, most_bytes)) {
    if (bytes_ <= sizeof small_) {
      data_ = small_;
      return;
    }
    int error = 0;
    data_ = static_cast<char*>(quire::os::map_table(bytes_, error));
    if (data_ == nullptr) errno = error;
  }
  ~private_buffer() {
    if (data_ != small_) quire::os::unmap(data_, bytes_);
  }
  private_buffer(const private_buffer&) = delete;
  private_buffer& operator=(const private_buffer&) = delete;
  [[nodiscard]] char* data() noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

  /// Collects the parts. False without memory.
  [[nodiscard]] bool gather(const iovec* parts, int count) noexcept {
    std::size_t at = 0;
    for (int i = 0; i < count && at < bytes_; ++i) {
      const std::size_t n = std::min(parts[i].iov_len, bytes_ - at);
      std::memcpy(data_ + at, parts[i].iov_base, n);
      at += n;
    }
    return data_ != nullptr;
  }
  void scatter(const iovec* parts, int count, ssize_t got) noexcept {
    // A MSG_TRUNC receive may tell more than it brought.
    std::size_t left = got > 0 ? std::min(static_cast<std::size_t>(got), bytes_) : 0, at = 0;
    for (int i = 0; i < count && left != 0; ++i) {
      const std::size_t n = std::min(parts[i].iov_len, left);
      std::memcpy(parts[i].iov_base, data_ + at, n);
      at += n;
      left -= n;
    }
  }

 private:
  alignas(4096) char small_[16384];
  char* data_ = nullptr;
  std::size_t bytes_;
};

/// Runs `call(buffer, bytes)` with a private buffer and copies what came to `to`.
template <class Call>
ssize_t receive_into(void* to, std::size_t bytes, Call call) noexcept {
  private_buffer b(bytes);
  if (b.data() == nullptr) return -1;
  const ssize_t got = call(b.data(), b.size());
  if (got > 0) std::memcpy(to, b.data(), std::min(static_cast<std::size_t>(got), b.size()));
  return got;
}
template <class Call>
ssize_t send_from(const void* from, std::size_t bytes, Call call) noexcept {
  private_buffer b(bytes);
  if (b.data() == nullptr) return -1;
  std::memcpy(b.data(), from, b.size());
  return call(b.data(), b.size());
}

/// The length of all parts; false for what the kernel would refuse.
bool total(const iovec* parts, int count, std::size_t& bytes) noexcept {
  bytes = 0;
  if (count < 0 || count > IOV_MAX) {
    errno = EINVAL;
    return false;
  }
  for (int i = 0; i < count; ++i) {
    if (__builtin_add_overflow(bytes, parts[i].iov_len, &bytes)) {
      errno = EINVAL;
      return false;
    }
  }
  return true;
}
template <class Call>
ssize_t receive_parts(const iovec* parts, int count, Call call) noexcept {
  std::size_t bytes = 0;
  if (!total(parts, count, bytes)) return -1;
  private_buffer b(bytes);
  if (b.data() == nullptr) return -1;
  const ssize_t got = call(b.data(), b.size());
  b.scatter(parts, count, got);
  return got;
}
template <class Call>
ssize_t send_parts(const iovec* parts, int count, Call call) noexcept {
  std::size_t bytes = 0;
  if (!total(parts, count, bytes)) return -1;
  private_buffer b(bytes);
  if (b.data() == nullptr || !b.gather(parts, count)) return -1;
  return call(b.data(), b.size());
}

quire_status touch(std::uint64_t address, std::uint64_t bytes, access want) {
  QUIRE_FORWARD(touch, address, bytes, want);
  QUIRE_ENTER(r);
  r->core->touch(address, bytes, want);
  return QUIRE_OK;
}

/// Sleeping and waking on a shared word: its page must be here when the kernel looks. EFAULT tells that nothing was done, so
/// that trying again is right.
long futex(long (*real)(long, ...), long word, long op, long value, long timeout, long other, long value3) noexcept {
  for (;;) {
    for (const long address : {word, other}) {
      auto* const p = reinterpret_cast<void*>(address);
      if (shared(p)) (void)touch(static_cast<std::uint64_t>(address), 4, access::write);
    }
    const long result = real(SYS_futex, word, op, value, timeout, other, value3);
    if (result != -1 || errno != EFAULT || !shared(reinterpret_cast<void*>(word))) return result;
  }
}

}  // namespace

extern "C" {

#define QUIRE_INTERPOSED QUIRE_API

QUIRE_INTERPOSED ssize_t read(int fd, void* to, size_t n) {
  QUIRE_REAL(read);
  if (!shared(to)) return real(fd, to, n);
  return receive_into(to, n, [&](void* b, std::size_t size) { return real(fd, b, size); });
}
QUIRE_INTERPOSED ssize_t write(int fd, const void* from, size_t n) {
  QUIRE_REAL(write);
  if (!shared(from)) return real(fd, from, n);
  return send_from(from, n, [&](const void* b, std::size_t size) { return real(fd, b, size); });
}
QUIRE_INTERPOSED ssize_t pread(int fd, void* to, size_t n, off_t at) {
  QUIRE_REAL(pread);
  if (!shared(to)) return real(fd, to, n, at);
  return receive_into(to, n, [&](void* b, std::size_t size) { return real(fd, b, size, at); });
}
QUIRE_INTERPOSED ssize_t pread64(int fd, void* to, size_t n, off64_t at) { return pread(fd, to, n, at); }
QUIRE_INTERPOSED ssize_t pwrite(int fd, const void* from, size_t n, off_t at) {
  QUIRE_REAL(pwrite);
  if (!shared(from)) return real(fd, from, n, at);
  return send_from(from, n, [&](const void* b, std::size_t size) { return real(fd, b, size, at); });
}
QUIRE_INTERPOSED ssize_t pwrite64(int fd, const void* from, size_t n, off64_t at) { return pwrite(fd, from, n, at); }

QUIRE_INTERPOSED ssize_t readv(int fd, const iovec* parts, int count) {
  QUIRE_REAL(readv);
  if (!any_shared(parts, count)) return real(fd, parts, count);
  return receive_parts(parts, count, [&](void* b, std::size_t size) {
    const iovec one{b, size};
    return real(fd, &one, 1);
  });
}
QUIRE_INTERPOSED ssize_t writev(int fd, const iovec* parts, int count) {
  QUIRE_REAL(writev);
  if (!any_shared(parts, count)) return real(fd, parts, count);
  return send_parts(parts, count, [&](void* b, std::size_t size) {
    const iovec one{b, size};
    return real(fd, &one, 1);
  });
}

QUIRE_INTERPOSED ssize_t preadv(int fd, const iovec* parts, int count, off_t at) {
  QUIRE_REAL(preadv);
  if (!any_shared(parts, count)) return real(fd, parts, count, at);
  return receive_parts(parts, count, [&](void* b, std::size_t size) {
    const iovec one{b, size};
    return real(fd, &one, 1, at);
  });
}
QUIRE_INTERPOSED ssize_t preadv64(int fd, const iovec* parts, int count, off64_t at) { return preadv(fd, parts, count, at); }
QUIRE_INTERPOSED ssize_t pwritev(int fd, const iovec* parts, int count, off_t at) {
  QUIRE_REAL(pwritev);
  if (!any_shared(parts, count)) return real(fd, parts, count, at);
  return send_parts(parts, count, [&](void* b, std::size_t size) {
    const iovec one{b, size};
    return real(fd, &one, 1, at);
  });
}
QUIRE_INTERPOSED ssize_t pwritev64(int fd, const iovec* parts, int count, off64_t at) { return pwritev(fd, parts, count, at); }

QUIRE_INTERPOSED ssize_t recv(int fd, void* to, size_t n, int flags) {
  QUIRE_REAL(recv);
  if (!shared(to)) return real(fd, to, n, flags);
  return receive_into(to, n, [&](void* b, std::size_t size) { return real(fd, b, size, flags); });
}
QUIRE_INTERPOSED ssize_t recvfrom(int fd, void* to, size_t n, int flags, sockaddr* peer, socklen_t* length) {
  QUIRE_REAL(recvfrom);
  if (!shared(to)) return real(fd, to, n, flags, peer, length);
  return receive_into(to, n, [&](void* b, std::size_t size) { return real(fd, b, size, flags, peer, length); });
}
QUIRE_INTERPOSED ssize_t send(int fd, const void* from, size_t n, int flags) {
  QUIRE_REAL(send);
  if (!shared(from)) return real(fd, from, n, flags);
  return send_from(from, n, [&](const void* b, std::size_t size) { return real(fd, b, size, flags); });
}
QUIRE_INTERPOSED ssize_t sendto(int fd, const void* from, size_t n, int flags, const sockaddr* peer, socklen_t length) {
  QUIRE_REAL(sendto);
  if (!shared(from)) return real(fd, from, n, flags, peer, length);
  return send_from(from, n, [&](const void* b, std::size_t size) { return real(fd, b, size, flags, peer, length); });
}
QUIRE_INTERPOSED ssize_t recvmsg(int fd, msghdr* m, int flags) {
  QUIRE_REAL(recvmsg);
  const int count = static_cast<int>(m->msg_iovlen);
  if (!any_shared(m->msg_iov, count)) return real(fd, m, flags);
  iovec* const parts = m->msg_iov;
  return receive_parts(parts, count, [&](void* b, std::size_t size) {
    iovec one{b, size};
    msghdr private_header = *m;
    private_header.msg_iov = &one;
    private_header.msg_iovlen = 1;
    const ssize_t got = real(fd, &private_header, flags);
    m->msg_namelen = private_header.msg_namelen;
    m->msg_controllen = private_header.msg_controllen;
    m->msg_flags = private_header.msg_flags;
    return got;
  });
}
QUIRE_INTERPOSED ssize_t sendmsg(int fd, const msghdr* m, int flags) {
  QUIRE_REAL(sendmsg);
  const int count = static_cast<int>(m->msg_iovlen);
  if (!any_shared(m->msg_iov, count)) return real(fd, m, flags);
  return send_parts(m->msg_iov, count, [&](void* b, std::size_t size) {
    iovec one{b, size};
    msghdr private_header = *m;
    private_header.msg_iov = &one;
    private_header.msg_iovlen = 1;
    return real(fd, &private_header, flags);
  });
}

/// With shared buffers one message a call: fewer than asked for is what the caller must expect anyway, and none is lost.
QUIRE_INTERPOSED int recvmmsg(int fd, mmsghdr* list, unsigned count, int flags, timespec* timeout) {
  QUIRE_REAL(recvmmsg);
  bool any = false;
  for (unsigned i = 0; i < count && !any; ++i) {
    any = any_shared(list[i].msg_hdr.msg_iov, static_cast<int>(list[i].msg_hdr.msg_iovlen));
  }
  if (!any) return real(fd, list, count, flags, timeout);
  const ssize_t got = recvmsg(fd, &list[0].msg_hdr, flags & ~MSG_WAITFORONE);
  if (got < 0) return -1;
  list[0].msg_len = static_cast<unsigned>(got);
  return 1;
}
QUIRE_INTERPOSED int sendmmsg(int fd, mmsghdr* list, unsigned count, int flags) {
  QUIRE_REAL(sendmmsg);
  bool any = false;
  for (unsigned i = 0; i < count && !any; ++i) {
    any = any_shared(list[i].msg_hdr.msg_iov, static_cast<int>(list[i].msg_hdr.msg_iovlen));
  }
  if (!any) return real(fd, list, count, flags);
  const ssize_t put = sendmsg(fd, &list[0].msg_hdr, flags);
  if (put < 0) return -1;
  list[0].msg_len = static_cast<unsigned>(put);
  return 1;
}

// The C library's streams read and write large buffers directly, with calls that cannot be interposed.
QUIRE_INTERPOSED size_t fread(void* to, size_t size, size_t count, FILE* stream) {
  QUIRE_REAL(fread);
  std::size_t bytes = 0;
  if (!shared(to) || size == 0 || __builtin_mul_overflow(size, count, &bytes)) return real(to, size, count, stream);
  alignas(64) char part[16384];
  std::size_t done = 0;
  while (done < bytes) {
    const std::size_t want = std::min(bytes - done, sizeof part);
    const std::size_t got = real(part, 1, want, stream);
    std::memcpy(static_cast<char*>(to) + done, part, got);
    done += got;
    if (got < want) break;
  }
  return done / size;
}
QUIRE_INTERPOSED size_t fwrite(const void* from, size_t size, size_t count, FILE* stream) {
  QUIRE_REAL(fwrite);
  std::size_t bytes = 0;
  if (!shared(from) || size == 0 || __builtin_mul_overflow(size, count, &bytes)) return real(from, size, count, stream);
  alignas(64) char part[16384];
  std::size_t done = 0;
  while (done < bytes) {
    const std::size_t want = std::min(bytes - done, sizeof part);
    std::memcpy(part, static_cast<const char*>(from) + done, want);
    const std::size_t put = real(part, 1, want, stream);
    done += put;
    if (put < want) break;
  }
  return done / size;
}

// What a program built with _FORTIFY_SOURCE calls instead.
[[noreturn]] void __chk_fail(void);
QUIRE_INTERPOSED ssize_t __read_chk(int fd, void* to, size_t n, size_t room) {
  if (n > room) __chk_fail();
  return read(fd, to, n);
}
QUIRE_INTERPOSED ssize_t __pread_chk(int fd, void* to, size_t n, off_t at, size_t room) {
  if (n > room) __chk_fail();
  return pread(fd, to, n, at);
}
QUIRE_INTERPOSED ssize_t __pread64_chk(int fd, void* to, size_t n, off64_t at, size_t room) {
  if (n > room) __chk_fail();
  return pread(fd, to, n, at);
}
QUIRE_INTERPOSED ssize_t __recv_chk(int fd, void* to, size_t n, size_t room, int flags) {
  if (n > room) __chk_fail();
  return recv(fd, to, n, flags);
}
QUIRE_INTERPOSED ssize_t __recvfrom_chk(int fd, void* to, size_t n, size_t room, int flags, sockaddr* peer, socklen_t* length) {
  if (n > room) __chk_fail();
  return recvfrom(fd, to, n, flags, peer, length);
}
QUIRE_INTERPOSED size_t __fread_chk(void* to, size_t room, size_t size, size_t count, FILE* stream) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(size, count, &bytes) || bytes > room) __chk_fail();
  return fread(to, size, count, stream);
}

QUIRE_INTERPOSED long syscall(long number, ...) {
  static auto* const real = next_of<long(long, ...)>("syscall");
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  switch (number) {
    case SYS_read: return read(static_cast<int>(a[0]), reinterpret_cast<void*>(a[1]), static_cast<size_t>(a[2]));
    case SYS_write: return write(static_cast<int>(a[0]), reinterpret_cast<void*>(a[1]), static_cast<size_t>(a[2]));
    case SYS_pread64:
      return pread(static_cast<int>(a[0]), reinterpret_cast<void*>(a[1]), static_cast<size_t>(a[2]), a[3]);
    case SYS_recvfrom:
      return recvfrom(static_cast<int>(a[0]), reinterpret_cast<void*>(a[1]), static_cast<size_t>(a[2]),
                      static_cast<int>(a[3]), reinterpret_cast<sockaddr*>(a[4]), reinterpret_cast<socklen_t*>(a[5]));
    case SYS_recvmsg: return recvmsg(static_cast<int>(a[0]), reinterpret_cast<msghdr*>(a[1]), static_cast<int>(a[2]));
    case SYS_futex: return futex(real, a[0], a[1], a[2], a[3], a[4], a[5]);
    default: return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
}
}
