// SPDX-License-Identifier: BSD-3-Clause
// Pages that threads of this node may not access: calls of the API. Any application thread; what changes is changed by
// the driver.
#include "core/page_closing.hpp"

#include <algorithm>

#include "core/core.hpp"
#include "core/mapping.hpp"
#include "core/region_slot.hpp"

namespace quire::core {

base::status close_pages(core& node, std::uint64_t address, std::uint64_t bytes, bool closed) noexcept {
  struct range_op : op {
    using op::op;
    region_ref region{};
    std::uint64_t offset = 0, bytes = 0;
    bool closed = false;
  } o(
      [](core&, op& self) noexcept {
        auto& range = static_cast<range_op&>(self);
        if (range.region.gone()) return self.complete(QUIRE_NOT_FOUND);
        region_slot& r = *range.region;
        if (r.change.frozen) return r.change.park(self);
        if (!range.closed) {
          r.closed.open(range.offset, range.bytes);
          return self.complete();
        }
        // What a detector that scans has found, and private copies, would go with the mapping.
        if (r.states.used() || r.views.fine() != 0 || r.scans() || r.about.copies != 0)
          return self.complete(QUIRE_UNSUPPORTED);
        if (r.closed.cover(r.about.bytes) != 0) return self.complete(QUIRE_NO_MEMORY);
        self.complete(mapping::close(r, range.offset, range.bytes) == 0 ? QUIRE_OK : QUIRE_SYSTEM);
      },
      op::type::fault);
  o.region = node.regions.find(address);
  if (o.region == nullptr || bytes == 0 || bytes > o.region->bytes_from(address)) return QUIRE_BAD_ADDRESS;
  o.offset = o.region->offset_of(address);
  o.bytes = bytes;
  o.closed = closed;
  (void)node.run(o);
  return o.result();
}

bool has_closed(const core& node, std::uint64_t address, std::uint64_t bytes) noexcept {
  const region_ref r = node.regions.find(address);
  if (r == nullptr || !r->closed.any()) return false;
  return r->closed.for_each(r->offset_of(address), std::min(bytes, r->bytes_from(address)),
                            [](std::uint64_t, std::uint64_t) { return 1; }) != 0;
}

}  // namespace quire::core
