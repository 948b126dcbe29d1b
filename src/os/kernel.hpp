// SPDX-License-Identifier: BSD-3-Clause
// The kernel's version, where it is too old.
#pragma once

#include <string>

namespace quire::os {

/// For people: that this Linux is older than Quire is made for, and what of it is missing; empty if it is not.
[[nodiscard]] std::string why_old_kernel();

}  // namespace quire::os
