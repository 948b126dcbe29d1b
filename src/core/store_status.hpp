// SPDX-License-Identifier: BSD-3-Clause
// What a thread, or a call, is told that needs content which its store does not give (stored_units.hpp). And a sync, if
// the store has not taken something.
#pragma once

#include <quire/quire.h>

#include "store/store.hpp"

namespace quire::core {

struct store_status {
  static constexpr quire_status unreadable = QUIRE_IO, unwritable = QUIRE_IO;
  /// Of content that a store does not give, with this errno.
  [[nodiscard]] static constexpr quire_status of(int error) noexcept {
    return error == store::store::beyond ? QUIRE_BEYOND : unreadable;
  }
};

}  // namespace quire::core
