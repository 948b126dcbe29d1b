// SPDX-License-Identifier: BSD-3-Clause
// Checks on incoming messages; see wire.hpp. What a field means to a protocol is checked by that protocol's machine;
// here only what holds for every message of a kind.
#include "wire/wire.hpp"

#include <limits>

namespace quire::wire {
namespace {

using model::message;
using model::message_kind;

constexpr std::uint8_t known_flags =
    model::message_flag::zero | model::message_flag::no_data | model::message_flag::keep |
    model::message_flag::settled | model::message_flag::fresh | model::message_flag::base | model::message_flag::sample;

bool units_valid(const message& m) noexcept {
  if (m.kind >= message_kind::sync_first) return true;
  return m.count > 0 && m.count <= max_count && m.unit <= std::numeric_limits<std::uint64_t>::max() - m.count;
}

}  // namespace

bool is_legal(const message& m, unsigned nodes) noexcept {
  return m.kind != message_kind::invalid && m.kind <= message_kind::last_kind && (m.flags & ~known_flags) == 0 &&
         m.from.value() < nodes && m.requester.value() < nodes && m.payload_bytes <= max_payload_bytes &&
         units_valid(m);
}

base::status decode(std::span<const std::byte> bytes, std::size_t payload_bytes, unsigned nodes, message& out,
                    std::uint64_t seal) noexcept {
  if (!sealed_with(bytes, seal)) return QUIRE_INVALID;
  std::memcpy(&out, bytes.data() + sizeof mark, sizeof out);
  return out.payload_bytes == payload_bytes && is_legal(out, nodes) ? QUIRE_OK : QUIRE_INVALID;
}

}  // namespace quire::wire
