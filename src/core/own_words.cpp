// SPDX-License-Identifier: BSD-3-Clause
// The content that threads of this node have written, or may be writing, for whoever wants to look at it
// (QUIRE_CHECK=pointers). It is read in the system view, by the driver, so that nothing moves meanwhile; a MiB at a
// time, so that other nodes are answered in between.
#include "core/own_words.hpp"

#include "core/core.hpp"
#include "core/frames.hpp"
#include "core/region_slot.hpp"

namespace quire::core {
namespace {

/// Whether the unit is one that this node may write, or has written last; and its content is in memory.
bool is_own(const region_slot& r, const frames& f, std::uint64_t unit) noexcept {
  const bool written =
      r.machine->mapped(unit) == model::access::write || (r.machine->is_written(unit) && r.machine->keeps(unit));
  return written && r.machine->has_content(unit) && f.in_memory(r, unit);
}

/// A part of it, from `unit` on, which moves.
void look_at_some(const region_slot& r, const frames& f, std::uint64_t& unit, std::uint64_t units,
                  words_reader& reader) noexcept {
  constexpr std::uint64_t most_bytes = 1 << 20, most_units = 4096;
  constexpr std::uint64_t part = std::uint64_t{1} << dumped_parts::part_shift;
  std::uint64_t read = 0;
  for (std::uint64_t looked = 0; unit < units && looked < most_units && read < most_bytes; ++looked) {
    const std::uint64_t offset = r.layout.offset_of(unit);
    if (!r.dumped.has(offset)) {  // nobody here has used this part
      unit = offset + part - offset % part < r.about.bytes ? r.layout.unit_of(offset + part - offset % part) : units;
      continue;
    }
    if (is_own(r, f, unit)) {
      reader.read(r, offset,
                  {reinterpret_cast<const std::uint64_t*>(r.system(unit)), r.bytes_of(unit) / sizeof(std::uint64_t)});
      read += r.bytes_of(unit);
    }
    ++unit;
  }
}

}  // namespace

void look_at_own_words(core& node, words_reader& reader) noexcept {
  std::vector<region_ref> regions;
  node.as_driver([&] { node.regions.for_each([&](region_slot& r) { regions.emplace_back(&r); }); });
  for (const region_ref& r : regions) {
    std::uint64_t units = 1;
    for (std::uint64_t unit = 0; unit < units;) {
      node.as_driver([&] {
        units = r.gone() ? 0 : r->layout.units();
        look_at_some(*r, node.frames, unit, units, reader);
      });
    }
  }
}

}  // namespace quire::core
