// SPDX-License-Identifier: BSD-3-Clause
// Read-only pages by userfaultfd before Linux 6.4, where UFFDIO_CONTINUE maps a page for writing, too, and a mark that
// is set before is lost. A thread that wrote between CONTINUE and WRITEPROTECT would do so unseen: mprotect() keeps it
// out meanwhile, and its SIGSEGV is a fault as any. The mark outlasts the second mprotect().
#pragma once

#include <sys/mman.h>

#include <cstddef>

#include "os/address_space.hpp"
#include "os/userfault.hpp"

namespace quire::detect {

/// Absent pages become readable, in four system calls. `usual`: the protection of their mapping, which they have in the
/// end. 0; EFAULT when a frame is missing; other errno. After an error
/// they are absent. Fault context.
[[nodiscard]] inline int permit_reading_in_steps(int fd, std::byte* address, std::size_t bytes,
                                                 os::address_space& where,
                                                 int usual = PROT_READ | PROT_WRITE) noexcept {
  if (const int error = where.protect(address, bytes, usual & ~PROT_WRITE); error != 0) return error;
  int error = os::userfault_continue(fd, address, bytes, false);
  if (error == 0) error = os::userfault_protect(fd, address, bytes, true);
  if (error != 0) {  // what is mapped must not stay
    if (const int worse = where.advise(address, bytes, MADV_DONTNEED); worse != 0) return worse;
  }
  const int back = where.protect(address, bytes, usual);
  return error != 0 ? error : back;
}

}  // namespace quire::detect
