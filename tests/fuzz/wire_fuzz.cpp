// SPDX-License-Identifier: BSD-3-Clause
// Headers of messages: what is let in has been sealed for this pair, and its fields are in range.
#include "input.hpp"
#include "wire/seal.hpp"
#include "wire/wire.hpp"

using namespace quire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  fuzz::input in(data, bytes);
  const unsigned nodes = 1u + in.take<std::uint16_t>() % model::max_nodes;
  const auto payload = in.take<std::uint32_t>();
  const bool seals_itself = (in.take<std::uint8_t>() & 1) != 0;  // so that most get past the seal
  wire::header own;
  std::span<const std::byte> header = in.rest();
  const unsigned from = wire::sender_of(header);
  const wire::seal_sequence seals({1, 2}, model::node_id{static_cast<std::uint16_t>(from)}, model::node_id{0});
  if (seals_itself && header.size() == wire::header_bytes) {
    const std::uint64_t seal = seals.peek();
    std::memcpy(own.bytes, header.data(), sizeof own.bytes);
    std::memcpy(own.bytes, &seal, sizeof seal);
    header = own.bytes;
  }
  model::message m, plain;
  if (wire::decode(header, payload, nodes, m, seals.peek()).ok()) {
    MUST(wire::sealed_with(header, seals.peek()) && !wire::sealed_with(header, seals.peek(1)));
    MUST(from < nodes && m.from.value() == from && m.requester.value() < nodes);
    MUST(m.kind != model::message_kind::invalid && m.kind <= model::message_kind::last_kind);
    MUST(m.payload_bytes == payload && payload <= wire::max_payload_bytes);
    MUST(m.kind >= model::message_kind::sync_first || (m.count > 0 && m.unit + m.count > m.unit));
    wire::header again;
    wire::encode(m, again, seals.peek());
    MUST(std::memcmp(again.bytes, header.data(), sizeof again.bytes) == 0);
  }
  (void)!wire::decode(in.rest(), payload, nodes, plain).ok();
  return 0;
}
