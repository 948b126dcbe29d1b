// SPDX-License-Identifier: BSD-3-Clause
// The content that threads of this node have written, or may be writing, for whoever wants to look at it
// (QUIRE_CHECK=pointers). It is read in the system view, by the driver, so that nothing moves meanwhile; a MiB at a
// time, so that other nodes are answered in between.
#include "core/own_words.hpp"

#include "core/core.hpp"

namespace quire::core {
namespace {

/// Whether the unit is one that this node may write, or has written last; and its content is in memory.
bool is_own(const region_slot& r, const frames& f, std::uint64_t unit) noexcept {
  const bool written =
      r.machine->mapped(unit) == model::access::write || (r.machine->is_written(unit) && r.machine->keeps(unit));
  return written && r.machine->has_content(unit) && f.in_memory(r, unit);
}

/// A part of it, from `unit` on, which moves.
void look_at_some(const region_slot& r, const frames& f, std::uint64_t& unit, std::uint64_t units, words_reader& reader) noexcept {
  constexpr std::uint64_t most_bytes = 1 << 20, most_units = 4096;
  const unsigned part_units_shift = dumped_parts::part_shift - r.unit_shift;
  std::uint64_t read = 0;
  for (std::uint64_t looked = 0; unit < units && looked < most_units && read < most_bytes; ++looked) {
    const std::uint64_t offset = unit << r.unit_shift;
    if (!r.dumped.has(offset)) {  // nobody here has used this part
      unit = ((unit >> part_units_shift) + 1) << part_units_shift;
      continue;
    }
    if (is_own(r, f, unit)) {
      reader.read(r, offset,
                  {reinterpret_cast<const std::uint64_t*>(r.system(unit)), r.bytes_of(1) / sizeof(std::uint64_t)});
      read += r.bytes_of(1);
    }
    ++unit;
  }
}

}  // namespace

void look_at_own_words(core& node, words_reader& reader) noexcept {
  std::vector<region_slot*> regions;
  node.as_driver([&] { node.regions.for_each([&](region_slot& r) { regions.push_back(&r); }); });
  for (region_slot* const r : regions) {
    const std::uint64_t units = r->about.bytes >> r->unit_shift;
    for (std::uint64_t unit = 0; unit < units;) node.as_driver([&] { look_at_some(*r, node.frames, unit, units, reader); });
  }
}

}  // namespace quire::core
