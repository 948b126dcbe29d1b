// SPDX-License-Identifier: BSD-3-Clause
// The border of a node: what a message looks like between processes, and the checks on everything that comes in. Called
// by the transports (and the simulator) around each message, in any thread context: noexcept, no allocation, no I/O.
//
// A header is an 8-byte mark, which carries the version, and the 64 bytes of model::message as they are in memory. All
// nodes of a job run the same build on little-endian machines; the mark says so, and anything else is refused. Between
// processes a seal (seal.hpp) stands in place of the mark: who does not know the job's secret cannot make a message.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/status.hpp"
#include "model/message.hpp"

namespace quire::wire {

static_assert(std::endian::native == std::endian::little,
              "the wire format is the memory format of little-endian machines");

/// Grows with every change of model::message or of what its fields mean, and of nodes' addresses.
inline constexpr std::uint8_t version = 8;
/// "QUIRE", two zero bytes, the version.
inline constexpr std::uint64_t mark = 0x45'52'49'55'51ull | (std::uint64_t{version} << 56);

inline constexpr std::size_t header_bytes = 8 + sizeof(model::message);
/// Largest payload of one message, and most units that one message can speak of: far above what a machine sends, small
/// enough that no sum of a length and an offset overflows.
inline constexpr std::uint32_t max_payload_bytes = 64u << 20;
inline constexpr std::uint32_t max_count = 1u << 20;

/// An encoded header, ready to be sent.
struct header {
  std::byte bytes[header_bytes];
};

inline void encode(const model::message& m, header& out, std::uint64_t seal = mark) noexcept {
  std::memcpy(out.bytes, &seal, sizeof seal);
  std::memcpy(out.bytes + sizeof mark, &m, sizeof m);
}

/// Whether a node of a job of `nodes` nodes may send this: what is not legal is refused where it arrives. Kinds below
/// sync_first speak of units: `count` of them, from `unit` on. The others use both fields freely.
[[nodiscard]] bool is_legal(const model::message& m, unsigned nodes) noexcept;

/// Reads and checks what arrived in a job of `nodes` nodes: `bytes` as header, followed by a payload of
/// `payload_bytes`. QUIRE_INVALID if it is not a message that a node of this job can have sent; `out` is then
/// unspecified. The time it takes tells nothing of the seal.
[[nodiscard]] base::status decode(std::span<const std::byte> bytes, std::size_t payload_bytes, unsigned nodes,
                                  model::message& out, std::uint64_t seal = mark) noexcept;

/// Who says to have sent this: whose seal it must have. `nodes` or more if it is no header of this job.
[[nodiscard]] inline unsigned sender_of(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() != header_bytes) return ~0u;
  model::node_id from;
  std::memcpy(&from, bytes.data() + sizeof mark + offsetof(model::message, from), sizeof from);
  return from.value();
}
/// Whether these are the bytes of a header that carries this seal.
[[nodiscard]] inline bool sealed_with(std::span<const std::byte> bytes, std::uint64_t seal) noexcept {
  std::uint64_t stands = 0;
  if (bytes.size() != header_bytes) return false;
  std::memcpy(&stands, bytes.data(), sizeof stands);
  return (stands ^ seal) == 0;  // one comparison of a word: it takes the same time, however many bits differ
}

}  // namespace quire::wire
