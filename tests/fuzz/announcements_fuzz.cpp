// SPDX-License-Identifier: BSD-3-Clause
// What nodes tell of pages that they cut into minipages, on a table that takes it as a node does: whatever is told, a
// page is divided once, by a size that there can be, and each byte of the region belongs to one unit.
#include <array>

#include "core/minipages/minipages.hpp"
#include "input.hpp"
#include "region/announcement.hpp"

using namespace quire;

namespace {

constexpr std::uint64_t page = core::minipages::page_bytes, pages = 40, origin = 0x300000000000;

/// Mostly numbers that mean something.
std::uint64_t some_number(fuzz::input& in, std::uint64_t step) {
  constexpr std::uint64_t edges[] = {
      0, 1, pages, pages + 1, ~std::uint64_t{0}, std::uint64_t{1} << 52, std::uint64_t{1} << 63};
  const auto which = in.take<std::uint8_t>();
  if (which < std::size(edges)) return edges[which];
  return which < 240 ? which % 64 * step : in.take<std::uint64_t>();
}

/// As a peer would send it, or cut off, or just bytes.
std::span<const std::byte> some_value(fuzz::input& in, region::announcement& what) {
  const auto kind = in.take<std::uint8_t>();
  if (kind % 8 == 0) return in.take(kind / 8);
  what.address = origin + some_number(in, page);
  what.pages = some_number(in, 1);
  what.minipage_bytes = static_cast<std::uint32_t>(some_number(in, 16 * (1 + kind / 8)));
  what.reserved = kind % 8 == 1 ? 1 : 0;
  const auto all = std::as_bytes(std::span(&what, 1));
  return kind % 8 == 2 ? all.first(all.size() - 1) : all;
}

/// The units of a page follow each other without a gap, and each byte lies in the one that is said to have it.
void look_at(const core::minipages& layout, unsigned views, std::uint64_t at) {
  std::uint64_t end = at * page;
  for (std::uint64_t unit = at * views; unit < (at + 1) * views; ++unit) {
    MUST(layout.offset_of(unit) == end || layout.offset_of(unit) == (at + 1) * page);
    const std::uint64_t next = layout.offset_of(unit + 1);
    if (next == layout.offset_of(unit)) continue;
    MUST(layout.unit_of(layout.offset_of(unit)) == unit && layout.unit_of(next - 1) == unit);
    MUST(layout.view_of(unit) <= views);
    end = next;
  }
  MUST(end == (at + 1) * page);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  fuzz::input in(data, std::min<std::size_t>(bytes, 1024));
  const unsigned views = 1 + in.take<std::uint8_t>();
  const auto body = core::minipages::make({.bytes = pages * page, .unit_bytes = page, .views = views});
  MUST(body != nullptr);
  auto& layout = static_cast<core::minipages&>(*body);
  std::array<std::uint64_t, pages> model{};
  while (!in.empty()) {
    region::announcement sent, what;
    const auto value = some_value(in, sent);
    region::page_range range;
    if (!region::read(value, what) || !region::pages_of(what, origin, pages * page, views, range)) continue;
    MUST(range.count != 0 && range.first < pages && range.count <= pages - range.first);
    MUST(core::minipages::is_size(what.minipage_bytes, views) && page / what.minipage_bytes <= views);
    const bool fits = region::fits(layout, range, what.minipage_bytes);
    MUST(layout.divide(range.first, range.count, what.minipage_bytes) == fits);
    for (std::uint64_t i = range.first; i < range.first + range.count; ++i) {
      MUST(fits ? model[i] == 0 || model[i] == what.minipage_bytes : layout.bytes_of_page(i) == model[i]);
      model[i] = layout.bytes_of_page(i);
      look_at(layout, views, i);
    }
    for (std::uint64_t i = 0; i < pages; ++i) MUST(layout.bytes_of_page(i) == model[i]);
  }
  return 0;
}
