// SPDX-License-Identifier: BSD-3-Clause
// What a message is about, for the record of what happened (record/events.hpp): messages of one key that a node takes
// belong together, and their order is part of what they do. 0: it stands alone.
#pragma once

#include <cstdint>

#include "core/waiting.hpp"
#include "model/message.hpp"

namespace quire::core {

inline constexpr std::uint64_t key_of_units = std::uint64_t{1} << 62, key_of_objects = std::uint64_t{2} << 62,
                               key_of_diffs = 1;

[[nodiscard]] constexpr std::uint64_t key_of_unit(std::uint64_t region, std::uint64_t unit) noexcept {
  return key_of_units | ((region << 46 | unit) & (key_of_units - 1));
}
[[nodiscard]] constexpr std::uint64_t key_of_object(std::uint64_t object) noexcept {
  return key_of_objects | (object & (key_of_units - 1));
}

[[nodiscard]] inline std::uint64_t key_of(const model::message& m) noexcept {
  if (m.kind == model::message_kind::diffs_ack) return key_of_diffs;  // the last of several lets a thread go on
  if (m.kind < model::message_kind::sync_first) return key_of_unit(m.region.value(), m.unit);
  return m.kind <= model::message_kind::sync_last ? key_of_object(m.unit) : 0;
}

/// Of what a thread is about to ask for.
[[nodiscard]] inline std::uint64_t key_of(const wait_note& n) noexcept {
  constexpr unsigned region_shift = 48;  // of wait_note::other
  if (n.kind == waits::what::memory)
    return key_of_unit(n.other >> region_shift, n.other & ((std::uint64_t{1} << region_shift) - 1));
  if (n.kind == waits::what::all_nodes) return key_of_object(0);
  return n.kind == waits::what::object ? key_of_object(n.object) : 0;
}

}  // namespace quire::core
