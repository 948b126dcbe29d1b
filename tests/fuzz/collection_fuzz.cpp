// SPDX-License-Identifier: BSD-3-Clause
// What nodes tell each other in a collection of a heap, as node 1 of 3 takes it: any items in any order, over objects
// that lie anywhere. What it marks lies in the heap, and what it sends goes to a node that there is.
#include <vector>

#include "gc/ending.hpp"
#include "gc/marker.hpp"
#include "gc/types.hpp"
#include "input.hpp"

using namespace quire;
using namespace quire::gc;

namespace {

constexpr unsigned nodes = 3, self = 1;

struct sink final : outlet {
  void send(unsigned node, item what, std::span<const std::byte> content) override {
    MUST(node < nodes && node != self);
    MUST(what <= item::last && content.size() <= packer::capacity);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  fuzz::input in(data, std::min<std::size_t>(bytes, 4096));
  const heap_shape shape{4 * nodes * 4096, 4096, nodes};
  constexpr std::uint64_t base = 0x100000000000;
  type_table types;
  constexpr std::uint32_t some[] = {0, 16}, far[] = {0, 4992};
  types.set(1, 24, some);
  types.set(2, 5000, far);
  types.set(3, 8, std::span(some, 1));
  // A byte tells where an object lies, two what it is, and how long; the words behind it are references.
  std::vector<std::byte> content(shape.bytes);
  for (unsigned objects = in.take<std::uint8_t>() % 32; objects != 0; --objects) {
    const std::uint64_t granule = shape.slice(self).first + in.take<std::uint8_t>() * std::uint64_t{4};
    const auto type = in.take<std::uint8_t>();
    const std::uint64_t header = object_header::of(type % 5, in.take<std::uint16_t>()).word;
    if (granule + 2 >= shape.granules()) continue;
    std::memcpy(&content[header_offset(granule)], &header, sizeof header);
    const std::uint64_t to = base + in.take<std::uint16_t>() * std::uint64_t{8};
    std::memcpy(&content[object_offset(granule)], &to, sizeof to);
  }
  memory all;
  all.base = content.data();
  sink out;
  marker m(shape, base, self, types, all, out);
  m.keep(4, 5);
  wave_member member;
  wave_leader leader(nodes);
  while (!in.empty()) {
    const auto step = in.take<std::uint8_t>();
    const auto piece = in.take(step / 8);
    switch (step % 8) {
      case 0:
        m.on_kept(step / 8 % 2 * 2, piece);
        break;
      case 1:
        m.on_references(piece);
        break;
      case 2:
        m.on_sections(piece);
        break;
      case 3:
        m.on_live(piece);
        break;
      case 4:
        m.add_root(base + in.take<std::uint32_t>());
        break;
      case 5:
        (void)m.work(1u + step / 8);
        break;
      case 6:
        member.on_wave(in.take<std::uint64_t>());
        if (const auto a = member.on_idle()) (void)leader.on_answer(*a);
        break;
      default:
        m.tell_live();
    }
  }
  const bitmap live = m.live_of_slice();
  MUST(live.size() <= shape.slice(self).count());
  return 0;
}
