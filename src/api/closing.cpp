// SPDX-License-Identifier: BSD-3-Clause
// quire_pages_close() and its like: pages that threads of this node may not access (core/closed_pages.hpp), and those
// that they have written (core/written_pages.hpp).
#include <quire/system.h>

#include <algorithm>

#include "runtime/forward.hpp"
#include "core/core.hpp"
#include "core/page_closing.hpp"
#include "core/written_pages.hpp"
#include "os/memory.hpp"

namespace quire::api {
namespace {

quire_status set_closed(std::uint64_t first, std::uint64_t bytes, int closed) {
  QUIRE_FORWARD(set_closed, first, bytes, closed);
  QUIRE_ENTER(r);
  const char* const call = closed != 0 ? "quire_pages_close" : "quire_pages_open";
  if (bytes == 0 || first % os::page_bytes != 0 || bytes % os::page_bytes != 0)
    return base::explain(QUIRE_INVALID, "%s(): 0x%lx and %lu bytes are not whole pages", call,
                         static_cast<unsigned long>(first), static_cast<unsigned long>(bytes));
  const base::status why = core::close_pages(*r->core, first, bytes, closed != 0);
  if (why.ok()) return QUIRE_OK;
  return base::explain(why.code(), "%s(): the pages from 0x%lx on%s", call, static_cast<unsigned long>(first),
                       why.code() == QUIRE_BAD_ADDRESS   ? " do not lie in one region"
                       : why.code() == QUIRE_UNSUPPORTED ? ": their region has no pages that can be closed"
                                                         : " cannot be closed");
}

quire_status find_closed(std::uint64_t first, std::uint64_t bytes, int* found) {
  QUIRE_FORWARD(find_closed, first, bytes, found);
  QUIRE_ENTER(r);
  if (bytes == 0 || found == nullptr)
    return base::explain(QUIRE_INVALID, "quire_pages_closed(): there are no bytes, or no place for the answer");
  *found = core::has_closed(*r->core, first, bytes) ? 1 : 0;
  return QUIRE_OK;
}

quire_status find_written(std::uint64_t first, std::uint64_t bytes, quire_pages* found) {
  QUIRE_FORWARD(find_written, first, bytes, found);
  QUIRE_ENTER(r);
  if (bytes == 0 || first % os::page_bytes != 0 || bytes % os::page_bytes != 0 || found == nullptr)
    return base::explain(QUIRE_INVALID, "quire_pages_written(): there are no whole pages, or no place for the answer");
  core::written_pages all;
  const base::status why = core::find_written(*r->core, first, bytes, all);
  if (!why.ok())
    return base::explain(why.code(), "quire_pages_written(): nothing is known of the %lu bytes from 0x%lx on",
                         static_cast<unsigned long>(bytes), static_cast<unsigned long>(first));
  static_assert(QUIRE_PAGES_TOLD == core::written_pages::most_pages);
  std::ranges::copy(all.bits, found->bits);
  found->next = all.next;
  return QUIRE_OK;
}

}  // namespace
}  // namespace quire::api

quire_status quire_pages_close(const void* address, uint64_t bytes) {
  return quire::api::set_closed(reinterpret_cast<std::uint64_t>(address), bytes, 1);
}
quire_status quire_pages_open(const void* address, uint64_t bytes) {
  return quire::api::set_closed(reinterpret_cast<std::uint64_t>(address), bytes, 0);
}
quire_status quire_pages_closed(const void* address, uint64_t bytes, int* found) {
  return quire::api::find_closed(reinterpret_cast<std::uint64_t>(address), bytes, found);
}
quire_status quire_pages_written(const void* address, uint64_t bytes, quire_pages* found) {
  return quire::api::find_written(reinterpret_cast<std::uint64_t>(address), bytes, found);
}
