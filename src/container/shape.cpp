// SPDX-License-Identifier: BSD-3-Clause
#include "container/shape.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/detail.hpp"
#include "container/linker_table.hpp"
#include "container/name_table.hpp"

namespace quire::container {

using base::explain;
using base::number;

namespace {
constexpr const char* call = "quire_container_open";
}  // namespace

base::status check_name(const char* of, const char* name) noexcept {
  if (name == nullptr) return explain(QUIRE_INVALID, "%s(): the name of the container is NULL", of);
  const std::size_t length = ::strnlen(name, longest_name + 1);
  if (length == 0) return explain(QUIRE_INVALID, "%s(): the name of the container is empty", of);
  if (length > longest_name)
    return explain(QUIRE_INVALID, "%s(): the name of the container has more than %zu characters", of, longest_name);
  const std::string_view text(name);
  if (text.find('/') != std::string_view::npos || text == "." || text == "..") {
    return explain(QUIRE_INVALID,
                   "%s(): '%s' is no name for a container: it is one component of a path; the path of a file is `what`",
                   of, name);
  }
  return {};
}

base::status check_options(const quire_container_options& given, int nodes) noexcept {
  constexpr unsigned all =
      QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_EXCLUSIVE | QUIRE_CONTAINER_READ_ONLY | QUIRE_CONTAINER_TRUNCATE;
  if ((given.flags & ~all) != 0)
    return explain(QUIRE_INVALID, "%s(): flags is 0x%x, and not of quire_container_flag", call, given.flags);
  if ((given.flags & QUIRE_CONTAINER_EXCLUSIVE) != 0 && (given.flags & QUIRE_CONTAINER_CREATE) == 0) {
    return explain(QUIRE_INVALID, "%s(): EXCLUSIVE without CREATE: nothing would be made", call);
  }
  if ((given.flags & QUIRE_CONTAINER_READ_ONLY) != 0 && (given.flags & QUIRE_CONTAINER_TRUNCATE) != 0) {
    return explain(QUIRE_INVALID, "%s(): READ_ONLY and TRUNCATE: what is read only keeps its bytes", call);
  }
  if (given.what != nullptr && ::strnlen(given.what, longest_what + 1) > longest_what) {
    return explain(QUIRE_INVALID, "%s(): `what` has more than %zu characters", call, longest_what);
  }
  if (given.linker != nullptr && ::strnlen(given.linker, longest_linker + 1) > longest_linker) {
    return explain(QUIRE_INVALID, "%s(): the name of the linker has more than %zu characters", call, longest_linker);
  }
  if (given.linker != nullptr && std::string_view(given.linker) == "file" &&
      (given.what == nullptr || *given.what == 0)) {
    return explain(QUIRE_INVALID, "%s(): the linker is \"file\", and `what` has no path", call);
  }
  if (given.placement != QUIRE_PLACE_BLOCK && given.placement != QUIRE_PLACE_NODE) {
    return explain(QUIRE_INVALID, "%s(): placement is %d: a container has QUIRE_PLACE_BLOCK (0) or QUIRE_PLACE_NODE",
                   call, static_cast<int>(given.placement));
  }
  if (given.placement == QUIRE_PLACE_NODE && (given.home < 0 || given.home >= nodes)) {
    return explain(QUIRE_INVALID, "%s(): there is no node %d for a home; the job has %d nodes", call, given.home,
                   nodes);
  }
  if (given.consistency != QUIRE_SEQUENTIAL && given.consistency != QUIRE_RELEASE) {
    return explain(QUIRE_INVALID, "%s(): consistency is %d: a container has QUIRE_SEQUENTIAL or QUIRE_RELEASE", call,
                   static_cast<int>(given.consistency));
  }
  return {};
}

base::status unit_of(const quire_container_options& given, const quire_linker* linker,
                     std::uint64_t& unit_bytes) noexcept {
  const std::size_t grain = linker != nullptr ? linker->grain : 0;
  unit_bytes = given.unit_bytes != 0 ? given.unit_bytes : std::max<std::size_t>(grain, 4096);
  if (!std::has_single_bit(unit_bytes) || unit_bytes < 4096 || unit_bytes > (2u << 20)) {
    return explain(QUIRE_INVALID, "%s(): units of %lu bytes: they must be a power of two from 4 KiB to 2 MiB", call,
                   number(unit_bytes));
  }
  if (grain > unit_bytes) {
    return explain(QUIRE_INVALID,
                   "%s(): linker '%s' has a grain of %zu bytes, and units are of %lu: make unit_bytes %zu, or 0", call,
                   linker->name, grain, number(unit_bytes), grain);
  }
  return {};
}

base::status shape_of(const quire_container_options& given, const surroundings& s, shape& made) noexcept {
  const bool read_only = (given.flags & QUIRE_CONTAINER_READ_ONLY) != 0;
  const bool fixed = s.linker != nullptr && !grows(*s.linker);
  if (const auto why = unit_of(given, s.linker, made.unit_bytes); !why.ok()) return why;
  const bool unknown = s.linked_bytes == UINT64_MAX;
  if (unknown && s.linker != nullptr && given.bytes == 0 && fixed) {
    return explain(QUIRE_INVALID,
                   "%s(): linker '%s' does not say how long its content is: set quire_container_options.bytes", call,
                   s.linker->name);
  }
  if (unknown && read_only && given.bytes == 0) {
    return explain(QUIRE_INVALID,
                   "%s(): the size is 0: a new container that is read only has no bytes, and never gets any", call);
  }
  made.bytes = unknown ? given.bytes : s.linked_bytes;
  if (!read_only && (s.linker == nullptr || grows(*s.linker))) made.bytes = std::max(made.bytes, given.bytes);
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  const bool stays = read_only || fixed;
  std::uint64_t capacity = given.capacity;
  const std::uint64_t twice = made.bytes > UINT64_MAX / 2 ? made.bytes : 2 * made.bytes;
  if (capacity == 0) capacity = stays ? made.bytes : std::max(twice, std::min(gib, s.range_bytes / 64));
  if (capacity < made.bytes) {
    return explain(QUIRE_INVALID, "%s(): a capacity of %lu bytes is less than the content has, %lu", call,
                   number(capacity), number(made.bytes));
  }
  if (capacity > s.range_bytes) {
    return explain(QUIRE_NO_ADDRESSES,
                   "%s(): a capacity of %lu bytes is more than the shared range has, %lu (QUIRE_RANGE)", call,
                   number(capacity), number(s.range_bytes));
  }
  made.capacity =
      std::max<std::uint64_t>((capacity + made.unit_bytes - 1) / made.unit_bytes * made.unit_bytes, made.unit_bytes);
  return {};
}

}  // namespace quire::container
