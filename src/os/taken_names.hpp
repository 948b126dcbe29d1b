// SPDX-License-Identifier: BSD-3-Clause
// A program may have functions of its own with names of libc's (read, send, poll). A library that is loaded later
// would call these.
#pragma once

namespace quire::os {

/// Whether the executable, or a library that lies outside of the system's folders, has one that it gives to others.
/// Not those with a malloc(3): allocators stand in for libc.
[[nodiscard]] bool are_names_of_libc_taken() noexcept;

}  // namespace quire::os
