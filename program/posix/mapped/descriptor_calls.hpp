// SPDX-License-Identifier: BSD-3-Clause
// Calls of descriptors beside shared mappings of the same file: read(2) finds what was stored in a mapping, and a
// mapping what write(2) has written, as on one machine. Made where the descriptor is. What libc does for streams is no
// such call.
#pragma once

#include <errno.h>

#include "program/posix/errands/where.hpp"
#include "program/posix/mapped/files.hpp"

namespace quire::program::mapped {

/// `caller`, a return address; null: a clerk, who works for the program.
[[nodiscard]] inline bool concerns(const void* caller) noexcept {
  return is_any_shared() && (caller == nullptr || is_of_program(caller)) && files::is_node();
}

template <class Call>
auto read_by(const void* caller, int file, const Call& call) {
  if (concerns(caller)) [[unlikely]]
    (void)settle(file);
  return call();
}

template <class Call>
auto write_by(const void* caller, int file, const Call& call) {
  if (!concerns(caller)) [[likely]]
    return call();
  const bool is_mapped = settle(file);
  const auto done = call();
  if (is_mapped) read_anew(file);
  return done;
}

}  // namespace quire::program::mapped
