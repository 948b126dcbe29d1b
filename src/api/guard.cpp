// SPDX-License-Identifier: BSD-3-Clause
// quire_guard(): memory whose access is a mistake of the program. Faults find it (core/guards.hpp).
#include <quire/system.h>

#include "runtime/forward.hpp"
#include "core/core.hpp"
#include "core/guards.hpp"
#include "core/region_slot.hpp"

namespace quire::api {
namespace {

constexpr const char* guard_call = "quire_guard";

quire_status guard(std::uint64_t first, std::uint64_t bytes, const char* why) {
  QUIRE_FORWARD(guard, first, bytes, why);
  QUIRE_ENTER(r);
  if (bytes == 0 || why == nullptr || why[0] == 0)
    return base::explain(QUIRE_INVALID, "%s(): there are no bytes, or no words", guard_call);
  const core::region_ref region = r->core->regions.find(first);
  if (region == nullptr || bytes > region->bytes_from(first)) {
    return base::explain(QUIRE_BAD_ADDRESS, "%s(): the range from 0x%lx on does not lie in one region", guard_call,
                         static_cast<unsigned long>(first));
  }
  if (r->core->guarded.add(first, bytes, why)) return QUIRE_OK;
  return base::explain(QUIRE_LIMIT, "%s(): a node has at most %zu guards", guard_call, core::guards::most);
}

}  // namespace
}  // namespace quire::api

quire_status quire_guard(const void* address, uint64_t bytes, const char* why) {
  return quire::api::guard(reinterpret_cast<std::uint64_t>(address), bytes, why);
}
