// SPDX-License-Identifier: BSD-3-Clause
#include "os/kernel.hpp"

#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "os/raw_call.hpp"

namespace quire::os {

std::string why_old_kernel() {
  constexpr std::pair oldest{5, 4};
  utsname name{};
  std::pair version{0, 0};
  if (::uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &version.first, &version.second) != 2) return {};
  if (version >= oldest) return {};
  const long pidfd = raw_call(SYS_pidfd_open, ::getpid(), 0, 0);
  if (pidfd >= 0) ::close(static_cast<int>(pidfd));
  return std::string("this is Linux ") + name.release + ", and Quire is made for 5.4 and later: " +
         (pidfd < 0 ? "pidfd_open(2), of 5.3, is missing for pool 'fork' and for launchers that speak PMIx, and "
                    : "") +
         "nothing was tried on it";
}

}  // namespace quire::os
