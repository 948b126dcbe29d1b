// SPDX-License-Identifier: BSD-3-Clause
// How the values of two subtrees become one.
#pragma once

#include "sync/call.hpp"

namespace quire::sync {

struct call_shape {
  operation what{};
  quire_operation how{};
};

[[nodiscard]] constexpr bool is_broadcast(operation what) noexcept {
  return what == operation::broadcast || what == operation::group_broadcast;
}

/// Element by element, in this order; the two are equally long.
void combine(call_shape shape, std::span<std::byte> into, std::span<const std::byte> from) noexcept;

/// `into` = `into` combined with `from`, in this order. False if their sizes do not fit each other.
[[nodiscard]] bool combine(call_shape shape, value& into, const value& from) noexcept;

}  // namespace quire::sync
