// SPDX-License-Identifier: BSD-3-Clause
// How the values of two subtrees become one.
#pragma once

#include "sync/call.hpp"

namespace quire::sync {

struct call_shape {
  operation what{};
  quire_operation how{};
};

/// `into` = `into` combined with `from`, in this order. False if their sizes do not fit each other.
[[nodiscard]] bool combine(call_shape shape, value& into, const value& from) noexcept;

}  // namespace quire::sync
