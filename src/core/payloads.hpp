// SPDX-License-Identifier: BSD-3-Clause
// What payload each kind of message brings. How large it may be, and where it goes: payloads.cpp.
#pragma once

#include "core/region_slot.hpp"
#include "model/message.hpp"
#include "sync/kinds.hpp"

namespace quire::core {

enum class payload {
  none,
  value,    ///< some bytes, which are copied
  content,  ///< of consecutive units, straight to its place in the system view: no thread can use the units before
  offer,    ///< the same of units that may be in use; the receiver need not take it
  replica,  ///< the same, which must be whole before it replaces what is there
  entries,  ///< parts of units: diffs.hpp
  spread,   ///< spread.hpp
  piece,    ///< of an array of a group: sync/exchange.hpp
};

[[nodiscard]] constexpr payload payload_of(model::message_kind k) noexcept {
  using model::message_kind;
  switch (k) {
    case message_kind::read_reply:
    case message_kind::write_reply:
    case message_kind::push_copy:
    case message_kind::copy_reply:
    case message_kind::home_move:
    case message_kind::pin_grant:
      return payload::content;
    case message_kind::update:
      return payload::offer;
    case message_kind::replica:
      return payload::replica;
    case message_kind::diffs:
    case message_kind::patch:
      return payload::entries;
    case message_kind::spread:
      return payload::spread;
    case message_kind::notices:
      return payload::value;
    default:
      if (k < message_kind::sync_first) return payload::none;
      return k <= message_kind::sync_last && sync::is_piece(sync::kind_of(k)) ? payload::piece : payload::value;
  }
}

/// Whether the region has the units that a message speaks of.
[[nodiscard]] inline bool lies_in(const region_slot& r, const model::message& m) noexcept {
  const std::uint64_t units = r.machine->units();
  return m.unit < units && m.count <= units - m.unit;
}

/// Of these, who asks waits for the reply, and is known to wait (change_state::calls).
[[nodiscard]] constexpr bool is_of_call(model::message_kind k) noexcept {
  return k == model::message_kind::atomic_reply || k == model::message_kind::home_atomic || k == model::message_kind::home_atomic_reply;
}

}  // namespace quire::core
