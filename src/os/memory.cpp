// SPDX-License-Identifier: BSD-3-Clause
#include "os/memory.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "os/file_size.hpp"
#include "os/injection.hpp"
#include "os/raw_call.hpp"
#include "os/limits.hpp"

namespace quire::os {

int make_memfd(const char* name, std::uint64_t bytes) noexcept {
  if (injected(call::memfd)) return -errno;
  const int fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -errno;
  (void)::fchmod(fd, 0600);  // it has no name, but whoever may look into /proc/PID/fd could open it
  const file_size_scope scope(file_size_scope::limit::raised);
  if (injected(call::truncate) || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    const int error = errno;
    ::close(fd);
    return -error;
  }
  return fd;
}

void close_descriptor(int fd) noexcept {
  if (fd >= 0) ::close(fd);
}

namespace {
void* map(void* at, std::uint64_t bytes, int prot, int flags, int fd, int& error, std::uint64_t offset = 0) noexcept {
  if (injected(call::map)) {
    error = errno;
    return nullptr;
  }
  void* address = ::mmap(at, bytes, prot, flags, fd, static_cast<off_t>(offset));
  if (address == MAP_FAILED) {
    error = errno;
    return nullptr;
  }
  if (at != nullptr && address != at) {  // kernels before 4.17 take the address as a hint
    ::munmap(address, bytes);
    error = EEXIST;
    return nullptr;
  }
  error = 0;
  return address;
}
}  // namespace

void* map_shared(int fd, std::uint64_t bytes, void* at, bool accessible, int& error) noexcept {
  return map(at, bytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE,
             MAP_SHARED | MAP_NORESERVE | (at != nullptr ? MAP_FIXED : 0) | (fd < 0 ? MAP_ANONYMOUS : 0), fd, error);
}

void* map_shared_part(int fd, std::uint64_t offset, std::uint64_t bytes, void* at, bool accessible,
                      int& error) noexcept {
  return map(at, bytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE,
             MAP_SHARED | MAP_NORESERVE | (at != nullptr ? MAP_FIXED : 0), fd, error, offset);
}

void* map_private(int fd, std::uint64_t bytes, void* at, bool accessible, int& error) noexcept {
  return map(at, bytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE,
             MAP_PRIVATE | MAP_NORESERVE | (at != nullptr ? MAP_FIXED : 0), fd, error);
}

bool copy_present_pages(void* to, const void* from, std::size_t bytes) noexcept {
  for (std::size_t done = 0; done < bytes;) {
    const iovec there{static_cast<std::byte*>(const_cast<void*>(from)) + done, bytes - done},
        here{static_cast<std::byte*>(to) + done, bytes - done};
    const ssize_t got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
    if (got < 0 && errno != EFAULT) return false;
    done += got > 0 ? static_cast<std::size_t>(got) : page_bytes;  // whole pages
  }
  return true;
}

namespace {
/// Of a file without a name: private memory counts against RLIMIT_DATA and what the system commits, used or not; this
/// when it is touched. A forked child would write to the same: it has none.
void* map_sparse(std::uint64_t bytes, int& error) noexcept {
  const int fd = ::memfd_create("quire-table", MFD_CLOEXEC);
  void* table = nullptr;
  {
    const file_size_scope scope(file_size_scope::limit::raised);
    if (fd >= 0 && ::fchmod(fd, 0600) == 0 && ::ftruncate(fd, static_cast<off_t>(bytes)) == 0)
      table = map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, error);
  }
  close_descriptor(fd);
  if (table != nullptr) ::madvise(table, bytes, MADV_DONTFORK);
  return table;
}
}  // namespace

void* map_table(std::uint64_t bytes, int& error) noexcept {
  constexpr std::uint64_t large = std::uint64_t{1} << 20;
  void* table = nullptr;
  if (bytes >= large && commits_what_is_mapped()) table = map_sparse(bytes, error);
  if (table == nullptr)
    table = map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, error);
  if (table == nullptr && error == ENOMEM && bytes >= large) {
    int second = 0;
    table = map_sparse(bytes, second);
    error = table != nullptr ? 0 : error;
  }
  if (table != nullptr) ::madvise(table, bytes, MADV_DONTDUMP);
  return table;
}

int map_private(void* at, std::uint64_t bytes) noexcept {
  int error = 0;
  (void)map(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, error);
  return error;
}

void* reserve(std::uint64_t bytes, void* at, int& error) noexcept {
  return map(at, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at != nullptr ? MAP_FIXED_NOREPLACE : 0), -1, error);
}

int reserve_again(void* address, std::uint64_t bytes) noexcept {
  int error = 0;
  (void)map(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, error);
  return error;
}

void unmap(void* address, std::uint64_t bytes) noexcept {
  if (address != nullptr) ::munmap(address, bytes);
}

int protect(void* address, std::size_t bytes, int prot) noexcept {
  if (injected(call::protect)) return errno;
  return ::mprotect(address, bytes, prot) == 0 ? 0 : errno;
}

std::uint64_t available_bytes() noexcept {
  const int fd = ::open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[4096];
  const ssize_t length = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (length <= 0) return 0;
  text[length] = 0;
  constexpr std::string_view key = "MemAvailable:";
  const char* const found = std::strstr(text, key.data());
  return found != nullptr ? std::strtoull(found + key.size(), nullptr, 10) << 10 : 0;
}

namespace {

/// As MADV_POPULATE_WRITE, page by page: the kernel itself adds no bits to a word of each, and gets an error where a
/// thread would get SIGBUS.
int populate_in_steps(std::byte* at, std::size_t bytes) noexcept {
  static constinit std::uint32_t nobody = 0;
  constexpr int or_zero = FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0);
  for (std::byte* const end = at + bytes; at < end; at += page_bytes) {
    long result = 0;
    do {  // past syscall(2), which Quire interposes
      result = raw_call(SYS_futex, reinterpret_cast<long>(&nobody), FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0,
                        reinterpret_cast<long>(at), or_zero);
    } while (result == -EAGAIN || result == -EINTR);
    if (result < 0) return static_cast<int>(-result);
  }
  return 0;
}

}  // namespace

int populate(void* address, std::size_t bytes) noexcept {
  static constinit std::atomic<bool> missing{false};  // MADV_POPULATE_WRITE is of Linux 5.14
  if (!missing.load(std::memory_order_relaxed)) {
    const int error = injected(call::populate) ? errno : advise(address, bytes, MADV_POPULATE_WRITE);
    if (error != EINVAL) return error;
    missing.store(true, std::memory_order_relaxed);
  }
  return populate_in_steps(static_cast<std::byte*>(address), bytes);
}

int advise_dump(void* address, std::uint64_t bytes) noexcept {
  return ::madvise(address, bytes, MADV_DODUMP) == 0 ? 0 : errno;
}

int advise(void* address, std::uint64_t bytes, int advice) noexcept {
  if (injected(call::advise)) return errno;
  return ::madvise(address, bytes, advice) == 0 ? 0 : errno;
}

}  // namespace quire::os
