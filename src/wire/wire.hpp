// The border of a node: what a message looks like between processes, and the checks on everything that comes in. Called
// by the transports (and the simulator) around each message, in any thread context: noexcept, no allocation, no I/O.
//
// A header is an 8-byte mark, which carries the version, and the 64 bytes of model::message as they are in memory. All
// nodes of a job run the same build on little-endian machines; the mark says so, and anything else is refused. On a
// network the mark is mixed with a secret of the job: who does not know it cannot make a message.
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

/// Grows with every change of model::message or of what its fields mean.
inline constexpr std::uint8_t version = 3;
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

inline void encode(const model::message& m, header& out, std::uint64_t secret = 0) noexcept {
  const std::uint64_t sealed = mark ^ secret;
  std::memcpy(out.bytes, &sealed, sizeof sealed);
  std::memcpy(out.bytes + sizeof mark, &m, sizeof m);
}

/// Reads and checks what arrived in a job of `nodes` nodes: `bytes` as header, followed by a payload of
/// `payload_bytes`. QUIRE_INVALID if it is not a message that a node of this job can have sent; `out` is then
/// unspecified.
[[nodiscard]] base::status decode(std::span<const std::byte> bytes, std::size_t payload_bytes, unsigned nodes,
                                  model::message& out, std::uint64_t secret = 0) noexcept;

}  // namespace quire::wire
