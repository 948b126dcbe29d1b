// SPDX-License-Identifier: BSD-3-Clause
// What processes that know the secret may say to rank 0 of a rendezvous, and in which order, until the end.
#include <map>

#include "bootstrap/rendezvous/hub.hpp"
#include "input.hpp"

using namespace quire;
using namespace quire::bootstrap;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  fuzz::input in(data, bytes);
  const int size = 1 + in.take<std::uint8_t>() % 4;
  rendezvous::hub hub(size);
  rendezvous::introduction first;
  first.self.size = size;
  first.build = "1.0";
  hub.on_open(0, 0);
  hub.on_frame(0, {local::frame_kind::hello, 0, rendezvous::pack(first)});
  std::map<int, local::frame_reader> said;
  while (!in.empty()) {
    const int link = in.take<std::uint8_t>() % 6;
    const auto what = in.take<std::uint8_t>();
    if (what < 0x10 && link != 0) {
      hub.on_open(link, in.take<std::uint8_t>());
    } else if (what < 0x18 && link != 0) {
      hub.on_closed(link);
    } else if (what < 0x1c) {
      hub.on_stranger("somewhere", in.take<std::uint64_t>());
    } else if (what == 0x1c) {
      hub.on_limit(1);
    } else {
      said[link].append(fuzz::text_of(in.take(in.take<std::uint8_t>())));
      while (const auto frame = said[link].next()) hub.on_frame(link, *frame);
    }
    for (const auto& out : hub.take()) {
      MUST(out.link >= 0 && out.link < 6);
      if (out.bytes == nullptr) continue;
      local::frame_reader reader;
      reader.append(*out.bytes);
      const auto heard = reader.next();
      MUST(heard.has_value());
      const bool of_all = heard->kind == local::frame_kind::members || heard->kind == local::frame_kind::addresses;
      if (of_all) MUST(local::unpack_strings(heard->payload)->size() == static_cast<std::size_t>(size));
    }
  }
  MUST(hub.all_there() || !hub.missing().empty() || size == 1);
  return 0;
}
