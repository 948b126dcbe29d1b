// SPDX-License-Identifier: BSD-3-Clause
#include "core/mapping.hpp"

namespace quire::core::mapping {
namespace {

constexpr std::uint64_t page_bytes = view_map::page_bytes;

std::byte* address_of(const region_slot& r, const view_pages& run) noexcept {
  return r.memory->application_view() + r.views.distance({run.view, run.page * page_bytes});
}

/// Threads may not access closed pages whatever they may do with their units: call(first, bytes) for the others, in the
/// application view.
template <class Call>
int for_each_open(region_slot& r, std::uint64_t first, std::uint64_t count, const Call& call) noexcept {
  if (!r.closed.any()) return call(r.application(first), r.bytes_of(first, count));
  return r.closed.for_each_open(
      r.layout.offset_of(first), r.bytes_of(first, count),
      [&](std::uint64_t at, std::uint64_t n) { return call(r.memory->application_view() + at, n); });
}

}  // namespace

int close(region_slot& r, std::uint64_t offset, std::uint64_t bytes) noexcept {
  r.closed.close(offset, bytes);
  return r.detector->protect(r.memory->application_view() + offset, bytes, access::write, access::none);
}

int permit(region_slot& r, std::uint64_t first, std::uint64_t count, access from, access to) noexcept {
  if (!r.states.used()) {
    return for_each_open(r, first, count,
                         [&](std::byte* at, std::uint64_t n) { return r.detector->permit(at, n, from, to); });
  }
  return r.states.raise(r.layout, first, count, to, [&](const view_pages& run) {
    return r.detector->permit(address_of(r, run), run.count * page_bytes, run.now, to);
  });
}

int protect(region_slot& r, std::uint64_t first, std::uint64_t count, access from, access to) noexcept {
  if (!r.states.used()) {
    return for_each_open(r, first, count,
                         [&](std::byte* at, std::uint64_t n) { return r.detector->protect(at, n, from, to); });
  }
  return r.states.lower(r.layout, first, count, to, [&](const view_pages& run) {
    return r.detector->protect(address_of(r, run), run.count * page_bytes, run.now, to);
  });
}

int map_again(region_slot& r, std::uint64_t unit, access level) noexcept {
  if (!r.states.used()) {
    return for_each_open(
        r, unit, 1, [&](std::byte* at, std::uint64_t n) { return r.detector->permit(at, n, access::none, level); });
  }
  if (r.states.own(unit) < level) return permit(r, unit, 1, access::none, level);
  return r.detector->permit(r.application(unit), page_bytes, access::none, r.states.own(unit));
}

int compose(region_slot& r, std::uint64_t page, access level) noexcept {
  const view_pages run{0, page, 1, r.states.composed(page)};
  const int error = r.detector->permit(address_of(r, run), page_bytes, run.now < level ? run.now : access::none, level);
  if (error == 0) r.states.set_composed(page, level);
  return error;
}

void wake(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  if (!r.states.used()) return r.detector->wake(r.application(first), r.bytes_of(first, count));
  r.states.for_each(first, count,
                    [&](const view_pages& run) { r.detector->wake(address_of(r, run), run.count * page_bytes); });
}

bool divide(region_slot& r, std::uint64_t first_page, std::uint64_t pages, std::uint64_t bytes) noexcept {
  if (r.minipages == nullptr) return false;
  const unsigned units = r.layout.units_a_page();
  // A program may have looked at pages that it was never given.
  const bool right = first_page <= r.layout.units() / units && pages <= r.layout.units() / units - first_page;
  if (right && pages != 0 && protect(r, first_page * units, pages * units, access::write, access::none) != 0)
    return false;
  return right && r.minipages->divide(first_page, pages, bytes);
}

}  // namespace quire::core::mapping
