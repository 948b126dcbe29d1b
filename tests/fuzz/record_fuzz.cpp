// SPDX-License-Identifier: BSD-3-Clause
// Records of nodes that `quire report` reads. The sum at the end would keep most inputs out: what lies before it is
// read without it as well.
#include <string>

#include "input.hpp"
#include "record/file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace quire::record;
  const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(data), bytes);
  node_record whole, body;
  std::string why;
  if (!decode(all, whole, why)) MUST(!why.empty());
  why.clear();
  if (!decode_body(all, body, why)) {
    MUST(!why.empty());
    return 0;
  }
  // What is let in makes sense, and comes back as it is.
  MUST(body.node < body.nodes && body.peers.size() <= body.nodes);
  for (const file_thread& t : body.threads)
    for (const segment& s : t.segments) MUST(s.end_ns >= t.begin_ns && s.phase <= body.phases.size());
  node_record again;
  MUST(decode(encode(body), again, why));
  MUST(encode(again) == encode(body));
  return 0;
}
