// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "program/job/assignment.hpp"

/// A function of libgomp's interface, by its name.
#define QUIRE_GOMP extern "C" __attribute__((visibility("default")))

namespace quire::program {
/// What the flags of a region say of the clause proc_bind.
[[nodiscard]] constexpr binding binding_of(unsigned flags) noexcept {
  const unsigned how = flags & 7;
  return how <= static_cast<unsigned>(binding::spread) ? static_cast<binding>(how) : binding::none;
}
}  // namespace quire::program
