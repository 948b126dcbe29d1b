// SPDX-License-Identifier: BSD-3-Clause
// Calls of one loaded library to another go through a table of addresses; this exchanges addresses in such tables: of
// UCX (libucs), by transport/ucx/gate.cpp before UCX opens anything, and of all libraries, by api/calls. Nothing is
// undone. Application threads; the dynamic linker's lock is held meanwhile.
#pragma once

#include <span>

namespace quire::os {

struct redirection {
  const char* function;  ///< of libc, such as "connect"
  void* instead;
};

/// Makes every loaded library whose file name begins with `library` call these instead. How many of the redirections it
/// has found.
[[nodiscard]] unsigned redirect(const char* library, std::span<const redirection> calls) noexcept;

struct replacement {
  const char* function;
  void* instead;
  void* old;   ///< what the linker has found; entries with another address are left alone
  bool first;  ///< and would find for entries that are filled at the first call
};

/// Makes the program and all loaded libraries, but the one that `not_here` is an address in, call these instead.
/// `calls` are in order of their names.
void redirect_everywhere(std::span<const replacement> calls, const void* not_here) noexcept;

}  // namespace quire::os
