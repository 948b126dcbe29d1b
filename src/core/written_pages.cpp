// SPDX-License-Identifier: BSD-3-Clause
// Memory that a program has cleared need not be written where nobody has used it: the machines know. The driver looks.
#include "core/written_pages.hpp"

#include <algorithm>

#include "core/core.hpp"
#include "core/region_slot.hpp"

namespace quire::core {
namespace {

constexpr std::uint64_t page_bytes = view_map::page_bytes;

struct look : op {
  using op::op;
  region_ref region{};
  std::uint64_t offset = 0, bytes = 0;
  written_pages found{};

  void note(std::uint64_t first, std::uint64_t end) noexcept {
    found.next = std::min(found.next, first - offset);
    const std::uint64_t stop = std::min((end - offset) / page_bytes, written_pages::most_pages);
    for (std::uint64_t page = (first - offset) / page_bytes; page < stop; ++page)
      found.bits[page / 64] |= std::uint64_t{1} << page % 64;
  }
};

/// To the end of what there are bits for; where they have none, on to the first page that has, as far as that takes
/// little time.
void look_through(const region_slot& r, look& at) noexcept {
  constexpr std::uint64_t most_looks = 1u << 20;
  const model::machine& machine = *r.machine;
  const model::used_units used = machine.used();
  const unit_range all = r.layout.under(at.offset, at.bytes);
  const std::uint64_t told = at.offset + written_pages::most_pages * page_bytes, end = std::min(all.end, used.end());
  at.found.next = at.bytes;
  std::uint64_t looks = 0;
  for (std::uint64_t unit = std::max(all.first, used.first()); unit < end; ++unit) {
    const std::uint64_t first = std::max(r.layout.offset_of(unit), at.offset);
    const bool behind = first >= told, tired = ++looks > most_looks;
    if (behind && at.found.next != at.bytes) return;
    if (machine.is_written(unit) || (behind && tired)) {
      at.note(first, std::min(r.layout.offset_of(unit) + r.layout.bytes_of(unit), at.offset + at.bytes));
      if (behind) return;
    }
  }
}

}  // namespace

base::status find_written(core& node, std::uint64_t address, std::uint64_t bytes, written_pages& found) noexcept {
  look o(
      [](core&, op& self) noexcept {
        auto& at = static_cast<look&>(self);
        if (at.region.gone()) return self.complete(QUIRE_NOT_FOUND);
        region_slot& r = *at.region;
        if (r.change.frozen) return r.change.park(self);
        // Where threads write without a fault, or what they see is not what the machine has.
        if (r.states.used() || r.views.fine() != 0 || r.scans() || r.about.copies != 0 || r.about.backing != 0)
          return self.complete(QUIRE_UNSUPPORTED);
        look_through(r, at);
        self.complete();
      },
      op::type::fault);
  o.region = node.regions.find(address);
  if (o.region == nullptr || bytes == 0 || bytes > o.region->bytes_from(address)) return QUIRE_BAD_ADDRESS;
  o.offset = o.region->offset_of(address);
  o.bytes = bytes;
  (void)node.run(o);
  found = o.found;
  return o.result();
}

}  // namespace quire::core
