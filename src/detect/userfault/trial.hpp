// SPDX-License-Identifier: BSD-3-Clause
// What userfaultfd can do on this kernel, found by doing it: on one page of memory of its own, all that the detector
// will do. Some of what it needs has no feature bit to ask for.
#pragma once

#include "os/userfault.hpp"

namespace quire::detect {

struct userfault_ability {
  int error = 0;          ///< errno of the step that failed; 0: the detector can be had
  const char* step = "";  ///< what failed, for people
  /// A page becomes read-only as it is mapped (UFFDIO_CONTINUE_MODE_WP, Linux 6.4). Else it is mapped while mprotect()
  /// keeps writers out, protected, and let in: three more system calls.
  bool in_one_step = true;
  [[nodiscard]] bool all() const noexcept { return error == 0; }
};

/// Tried once a process and mode (`inline_sigbus` or `thread`). Application thread.
[[nodiscard]] const userfault_ability& try_userfault(os::userfault_mode mode) noexcept;

}  // namespace quire::detect
