// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/mapped/content.hpp"

#include <errno.h>
#include <fcntl.h>
#include <quire/container.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "program/posix/memory/pages.hpp"
#include "program/process/interpose.hpp"

namespace quire::program::mapped {
namespace {

source* g_sources = nullptr;
std::uint32_t g_count = 0;

source& of(void* self) noexcept { return *static_cast<source*>(self); }

/// All that there is up to the end of the file; the rest is zero. How much there was, or -1 and errno.
ssize_t read_all(int file, std::uint64_t at, void* into, std::size_t bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t some =
        QUIRE_NEXT(pread64)(file, static_cast<char*>(into) + done, bytes - done, static_cast<off64_t>(at + done));
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return -1;
    if (some == 0) break;
    done += static_cast<std::size_t>(some);
  }
  std::memset(static_cast<char*>(into) + done, 0, bytes - done);
  return static_cast<ssize_t>(done);
}

int write_all(int file, std::uint64_t at, const void* from, std::size_t bytes) noexcept {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t some = QUIRE_NEXT(pwrite64)(file, static_cast<const char*>(from) + done, bytes - done,
                                              static_cast<off64_t>(at + done));
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return errno;
    done += static_cast<std::size_t>(some);
  }
  return 0;
}

bool is_written(const source& s, std::uint64_t page) noexcept {
  return s.written != nullptr && (__atomic_load_n(&s.written[page / 64], __ATOMIC_ACQUIRE) >> page % 64 & 1) != 0;
}

int open(void*, const char* what, unsigned, std::uint64_t* bytes, void** self) {
  const auto number = std::strtoul(what, nullptr, 10);
  if (number >= g_count || g_sources[number].file < 0) return EINVAL;
  *bytes = g_sources[number].bytes;
  *self = &g_sources[number];
  return 0;
}

/// Run by run: from the file, or from what was written instead.
int fill(void* self, std::uint64_t at, void* into, std::size_t bytes) {
  const source& s = of(self);
  for (std::uint64_t done = 0, run = 0; done < bytes; done += run) {
    const std::uint64_t first = (at + done) / mapped_page;
    const bool instead = is_written(s, first);
    for (run = mapped_page; done + run < bytes && is_written(s, (at + done + run) / mapped_page) == instead;)
      run += mapped_page;
    run = std::min(run, bytes - done);
    void* const to = static_cast<char*>(into) + done;
    const int error = !instead                                      ? read_file(s, at + done, to, run)
                      : read_all(s.instead, at + done, to, run) < 0 ? errno
                                                                    : 0;
    if (error != 0) return error;
  }
  return 0;
}

/// A file without a name, in the folder for such, else in memory.
int open_nameless() noexcept {
  const char* const folder = QUIRE_NEXT(getenv)("TMPDIR");
  const int file = QUIRE_NEXT(open)(folder != nullptr ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  return file >= 0 ? file : QUIRE_NEXT(memfd_create)("quire mapped", MFD_CLOEXEC);
}

int keep_private(source& s, std::uint64_t at, const void* from, std::size_t bytes) noexcept {
  if (s.is_over) return 0;
  int file = __atomic_load_n(&s.instead, __ATOMIC_ACQUIRE);
  if (file < 0) {
    const int made = open_nameless();
    if (made < 0) return errno;
    if (__atomic_compare_exchange_n(&s.instead, &file, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      file = made;
    } else {
      QUIRE_NEXT(close)(made);
    }
  }
  if (const int error = write_all(file, at, from, bytes); error != 0) return error;
  for (std::uint64_t page = at / mapped_page; page * mapped_page < at + bytes; ++page)
    __atomic_fetch_or(&s.written[page / 64], std::uint64_t{1} << page % 64, __ATOMIC_RELEASE);
  return 0;
}

/// What lies behind the end of the file is nobody's, as on one machine.
int flush(void* self, std::uint64_t at, const void* from, std::size_t bytes) {
  source& s = of(self);
  if (!s.is_shared) return keep_private(s, at, from, bytes);
  struct stat64 about {};
  if (QUIRE_NEXT(fstat64)(s.file, &about) != 0) return errno;
  const std::uint64_t end = static_cast<std::uint64_t>(about.st_size), first = s.offset + at;
  return first >= end ? 0 : write_all(s.file, first, from, std::min<std::uint64_t>(bytes, end - first));
}

}  // namespace

int read_file(const source& s, std::uint64_t at, void* into, std::size_t bytes) noexcept {
  const ssize_t found = read_all(s.file, s.offset + at, into, bytes);
  if (found < 0) return errno;
  return bytes - static_cast<std::size_t>(found) < mapped_page ? 0 : EIO;
}

bool register_linker(source* sources, std::uint32_t count) noexcept {
  g_sources = sources;
  g_count = count;
  quire_linker l{};
  l.size = sizeof l;
  l.name = linker_name;
  l.can = QUIRE_LINK_WRITE;
  l.grain = mapped_page;
  l.open = open;
  l.fill = fill;
  l.flush = flush;
  return quire_linker_register(&l) == QUIRE_OK;
}

}  // namespace quire::program::mapped
