// SPDX-License-Identifier: BSD-3-Clause
// Whose pages the application view is: those of this process, or (pool 'fork') those of another one, in which the
// application runs. Pools and detectors change its permissions by these calls. Fault context.
#pragma once

#include <cstddef>
#include <cstdint>

#include "os/userfault.hpp"

namespace quire::os {

class address_space {
 public:
  virtual int protect(void* address, std::size_t bytes, int prot) noexcept = 0;
  virtual int advise(void* address, std::uint64_t bytes, int advice) noexcept = 0;
  /// A userfaultfd that watches this address space: a descriptor that the caller closes, or -errno.
  [[nodiscard]] virtual int open_userfault(userfault_mode mode) noexcept = 0;

 protected:
  ~address_space() = default;
};

[[nodiscard]] address_space& this_process() noexcept;

}  // namespace quire::os
