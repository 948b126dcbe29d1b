// SPDX-License-Identifier: BSD-3-Clause
// Names for people: of the calls of quire.h, and of objects. No heap; any context.
#pragma once

#include "sync/call.hpp"

namespace quire::sync {

/// "quire_mutex_lock": try and timed variants have the name of the plain one.
[[nodiscard]] const char* name_of(operation what) noexcept;
/// "mutex"; "object" for none.
[[nodiscard]] const char* name_of(object_kind kind) noexcept;

/// "mutex 3 of node 1 (0x100010000000003)".
struct object_name {
  explicit object_name(object_id id) noexcept;
  char text[64];
};

}  // namespace quire::sync
