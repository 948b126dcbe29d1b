// SPDX-License-Identifier: BSD-3-Clause
// Regions with units smaller than a page, for tests of whole nodes: their shapes, and how threads come to a word of
// them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <ostream>

#include "core/mapping.hpp"
#include "core/region_slot.hpp"
#include "core/sync_calls.hpp"
#include "sim/random.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole::minipage_regions {

inline constexpr std::uint64_t page = 4096, base = base_address + (std::uint64_t{2} << 20),
                               words_of_page = page / sizeof(std::uint64_t);

struct shape {
  const char* name;
  std::uint32_t unit_bytes;  ///< 4096: the dynamic layout
  std::uint16_t views;
  std::array<std::uint64_t, 3> of_page{};  ///< of the dynamic one, page after page, again and again; 0: whole
  friend void PrintTo(const shape& s, std::ostream* to) { *to << s.name; }
};
inline constexpr shape halves{"halves", 2048, 2}, quarters{"quarters", 1024, 4}, sixths{"of_672_bytes", 672, 6},
    small{"of_256_bytes", 256, 16}, tiny{"of_64_bytes", 64, 64}, smallest{"of_16_bytes", 16, 256},
    mixed{"of_several_sizes", 4096, 16, {256, 0, 1360}};

inline core::region_description region(const shape& s, quire_consistency consistency, std::uint64_t pages,
                                       core::grouping how = core::grouping::none) {
  core::region_description about;
  about.id = 1;
  about.base = base;
  about.bytes = pages * page;
  about.unit_bytes = s.unit_bytes;
  about.views = s.views;
  about.placement = QUIRE_PLACE_MODULO;
  about.consistency = static_cast<std::uint8_t>(consistency);
  about.layout = core::layouts::divided.id;
  about.grouping = static_cast<std::uint8_t>(how);
  return about;
}

/// For programs of random accesses.
inline world_options options(std::uint64_t seed, unsigned nodes, sim::random& draw) {
  world_options o;
  o.net.seed = seed;
  o.net.nodes = nodes;
  o.net.reads_late = draw.chance(50);
  o.node.read_ahead = draw.chance(70);
  if (draw.chance(50)) o.intruding_percent = 30;
  if (draw.chance(30)) o.unmapped_permille = 20;
  if (draw.chance(30)) o.node.detector = detect::kind::userfault_thread;
  return o;
}

inline core::region_slot& slot(node& of) { return *of.core().regions.slot(model::region_id{1}); }

/// Pages that have units by the shape from now on; none of a static layout.
inline void divide(node& here, const shape& s, std::uint64_t first, std::uint64_t pages) {
  for (std::uint64_t p = first; s.unit_bytes == page && p < first + pages; ++p)
    EXPECT_TRUE(core::mapping::divide(slot(here), p, 1, s.of_page[p % 3]));
}

inline void add(world& w, const shape& s, const core::region_description& about) {
  w.add_region(about);
  for (unsigned n = 0; n < w.nodes(); ++n) divide(w.at(n), s, 0, about.bytes / page);
}

[[nodiscard]] inline base::status meet(node& here) {
  sync::call c;
  c.what = sync::operation::barrier_wait;
  return here.core().objects.synchronise(c, -1);
}

/// One of the addresses of a word.
inline std::uint64_t address_of(node& here, std::uint64_t word, unsigned natural_percent, sim::random& draw) {
  const std::uint64_t natural = base + word * sizeof(std::uint64_t);
  return draw.chance(natural_percent) ? natural : here.core().regions.find(natural)->fine(natural);
}

}  // namespace quire::whole::minipage_regions
