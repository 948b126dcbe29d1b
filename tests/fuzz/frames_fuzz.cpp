// SPDX-License-Identifier: BSD-3-Clause
// Frames between nodes, launcher and agents, in pieces of any size, and what stands in them.
#include "bootstrap/launcher/agent.hpp"
#include "bootstrap/local/frame.hpp"
#include "input.hpp"

using namespace quire;
using namespace quire::bootstrap;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  fuzz::input in(data, bytes);
  const std::size_t piece = 1u + in.take<std::uint8_t>();
  const int nodes = 1 + in.take<std::uint8_t>() % 8;
  local::frame_reader reader;
  while (!in.empty() && !reader.broken()) {
    reader.append(fuzz::text_of(in.take(piece)));
    while (const auto frame = reader.next()) {
      MUST(frame->kind >= local::frame_kind::hello && frame->kind <= local::frame_kind::last);
      MUST(frame->payload.size() <= bytes);
      if (const auto addresses = local::unpack_addresses(frame->payload, nodes))
        MUST(addresses->size() == static_cast<std::size_t>(nodes));
      if (const auto strings = local::unpack_strings(frame->payload))
        MUST(local::pack_addresses(*strings) == frame->payload);
      const auto start = launcher::unpack_start(frame->payload);
      if (!start) continue;
      MUST(start->first >= 0 && start->here >= 1 && start->first + start->here <= start->nodes &&
           !start->command.empty());
      const auto same = launcher::unpack_start(launcher::pack(*start));
      MUST(same && same->command == start->command && same->environment == start->environment);
    }
  }
  return 0;
}
