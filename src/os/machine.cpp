// SPDX-License-Identifier: BSD-3-Clause
#include "os/machine.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/process.hpp"

namespace quire::os {
namespace {

std::uint64_t ipc_namespace() noexcept {
  struct stat about {};
  return ::stat("/proc/self/ns/ipc", &about) == 0 ? about.st_ino : 0;
}

}  // namespace

machine_place machine_of_process() noexcept {
  machine_place found;
  char text[64];
  const descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  const ssize_t length = file.open() ? ::read(file.number(), text, sizeof text) : 0;
  if (length > 0) {
    found.machine = 14695981039346656037u;
    for (ssize_t i = 0; i < length; ++i)
      found.machine = (found.machine ^ static_cast<unsigned char>(text[i])) * 1099511628211u;
  }
  found.ipc = ipc_namespace();
  return found;
}

bool has_own_ipc_namespace() noexcept {
  constexpr std::uint64_t first = 0xefffffff;  // the kernel's PROC_IPC_INIT_INO
  const std::uint64_t own = ipc_namespace();
  return own != 0 && own != first;
}

}  // namespace quire::os
