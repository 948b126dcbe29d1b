// SPDX-License-Identifier: BSD-3-Clause
// The bodies behind detect::open().
#pragma once

#include "detect/detector.hpp"

namespace quire::detect {

[[nodiscard]] base::result<std::unique_ptr<detector>> open_userfault(kind which, bool quiet, os::address_space& where);
[[nodiscard]] base::result<std::unique_ptr<detector>> open_userfault_scan(bool quiet, os::address_space& where);
[[nodiscard]] std::unique_ptr<detector> open_segv(os::address_space& where, kind which);

}  // namespace quire::detect
