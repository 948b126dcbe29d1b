// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/comings.hpp"

#include <algorithm>
#include <iterator>

#include "core/fault.hpp"
#include "core/fault_ranges.hpp"
#include "core/region_slot.hpp"
#include "core/unit_calls.hpp"

namespace quire::whole {

namespace {
constexpr std::uint64_t words = 16, counters = 2;  ///< of a page
}

comings::comings(world& w, const comings_options& options, std::uint64_t seed) : world_(w), options_(options) {
  sim::random draw(seed);
  constexpr quire_placement places[] = {QUIRE_PLACE_BLOCK, QUIRE_PLACE_MODULO, QUIRE_PLACE_NODE,
                                        QUIRE_PLACE_FIRST_TOUCH};
  for (unsigned p = 0; p < options.phases; ++p) {
    for (std::uint64_t i = draw.below(options.most + 1); i != 0; --i) {
      coming& c = all_.emplace_back();
      c.phase = p;
      c.maker = static_cast<unsigned>(draw.below(options.threads));
      c.ender = static_cast<unsigned>(draw.below(options.threads));
      c.pages = 1 + draw.below(5);
      c.how.unit_bytes = options.unit_bytes;
      c.how.home = static_cast<int>(draw.below(options.nodes));
      c.how.placement = places[draw.below(std::size(places))];
      c.how.consistency = !options.replicas && draw.chance(60) ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
      if (!options.replicas && draw.chance(20)) c.how.detector = QUIRE_DETECT_USERFAULT_THREAD;
      if (c.how.consistency == QUIRE_RELEASE && draw.chance(options.scans_percent)) c.how.detector = QUIRE_DETECT_SCAN;
    }
  }
}

void comings::begin(actor& t, unsigned place, unsigned phase) {
  for (coming& c : all_) {
    if (c.phase == phase && c.maker == place) make(t, c);
  }
}

void comings::make(actor& t, coming& c) {
  t.must(t.here.keeper().create(c.how, c.pages * options_.unit_bytes, c.handle), "the making of a region");
  if (world_.failed()) return;
  const core::region_ref r = t.here.core().regions.of_handle(c.handle.id);
  c.base = r->about.base;
  world_.watch_region(r->about.id);
  if (!seen_.insert(c.base).second) ++again_;
}

/// What is against it is over in a moment.
void comings::end(actor& t, coming& c) {
  world_.leave_region(t.here.core().regions.of_handle(c.handle.id)->about);
  c.base = 0;
  for (;;) {
    const auto why = t.here.keeper().destroy(c.handle);
    t.must(why, "the end of a region", QUIRE_BUSY);
    if (why.ok() || world_.failed()) break;
    world_.sleep(t.draw.below(20'000));
  }
  ++gone_;
  if (t.here.keeper().destroy(c.handle).code() != QUIRE_NOT_FOUND) world_.fail("a region that is gone goes again");
}

void comings::use(actor& t, unsigned place, unsigned phase) {
  for (coming& c : all_) {
    if (c.phase + 1 == phase && c.ender == place && c.base != 0) return end(t, c);
  }
  std::vector<coming*> mine;
  for (coming& c : all_) {
    if (c.phase == phase) mine.push_back(&c);
  }
  if (!mine.empty()) step(t, place, *mine[t.draw.below(mine.size())]);
}

void comings::step(actor& t, unsigned place, coming& c) {
  const std::uint64_t page = t.draw.below(c.pages), first = c.base + page * options_.unit_bytes;
  const std::uint64_t bytes = options_.unit_bytes * (1 + t.draw.below(c.pages - page));
  core::core& node = t.here.core();
  switch (t.draw.below(8)) {
    case 0:
      return prefetch_range(node, first, bytes, t.draw.chance(50) ? access::write : access::read);
    case 1:
      return void(touch_range(node, first, bytes, t.draw.chance(50) ? access::write : access::read));
    case 2:
      return t.must(node.calls.push(first, bytes), "a push", QUIRE_BUSY);
    case 3: {
      const std::uint64_t at = first + (words + t.draw.below(counters)) * sizeof(std::uint64_t);
      if (!c.before[at].insert(t.operate(at, model::atomic_operation::add, 1)).second)
        world_.fail("two atomic additions find the same");
      return world_.wrote(at, c.before[at].size(), t.here.self());
    }
    default:
      break;
  }
  for (std::uint64_t word = 0; word < words; ++word) {
    if ((page * words + word) % options_.threads != place || t.draw.chance(40)) continue;
    t.draw.chance(60) ? t.write(first + word * sizeof(std::uint64_t))
                      : (void)t.read(first + word * sizeof(std::uint64_t));
  }
}

}  // namespace quire::whole
