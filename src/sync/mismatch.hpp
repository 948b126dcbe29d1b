// SPDX-License-Identifier: BSD-3-Clause
// Why a round of a collective was refused, for people: two nodes, or two threads of one, whose calls cannot be of one
// round, or one whose arguments no call can have. Travels as the value of a refused round, so that every node can say
// it.
#pragma once

#include <optional>
#include <string>

#include "sync/call.hpp"

namespace quire::sync {

/// What was called, in one comparable number; 0 stands for arguments that no call can have.
using signature = std::uint64_t;

/// Of a call of member `self`, in a group of so many.
[[nodiscard]] signature signature_of(const call& c, std::uint32_t self, std::uint32_t members) noexcept;
/// Of an element of the call's array.
[[nodiscard]] constexpr std::size_t element_bytes(operation what) noexcept {
  return what == operation::broadcast || what == operation::group_broadcast ? 1 : sizeof(double);
}
/// Its content is in `data`, not in `values`.
[[nodiscard]] constexpr bool is_array(operation what, std::uint32_t count) noexcept {
  return what >= operation::group_wait && count * element_bytes(what) > value::array_capacity;
}
[[nodiscard]] inline operation operation_of(signature s) noexcept { return static_cast<operation>(s & 0xff); }
[[nodiscard]] inline quire_operation combine_of(signature s) noexcept {
  return static_cast<quire_operation>(s >> 8 & 3);
}
[[nodiscard]] inline meeting meeting_of(signature s) noexcept { return static_cast<meeting>(s >> 10 & 0x3f); }
[[nodiscard]] inline std::uint16_t root_of(signature s) noexcept { return static_cast<std::uint16_t>(s >> 16); }

struct mismatch {
  std::uint64_t node[2] = {};  ///< the same twice: two threads of it, or one whose arguments are not valid
  signature what[2] = {};
};
[[nodiscard]] value value_of(const mismatch& m) noexcept;
/// Nothing if the value is none, as of a round that was not refused.
[[nodiscard]] std::optional<mismatch> mismatch_in(const value& v) noexcept;

/// "node 0 is in quire_end() while node 2 is in quire_barrier_wait()".
[[nodiscard]] std::string text_of(const mismatch& m);

}  // namespace quire::sync
