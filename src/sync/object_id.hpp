// SPDX-License-Identifier: BSD-3-Clause
// Handles of synchronisation objects. The number holds the kind, the node that made the object, and a counter of that
// node. So every node finds an object's home without asking, and a number is never used twice. Any context.
#pragma once

#include <cstdint>

#include "model/ids.hpp"

namespace quire::sync {

using model::node_id;
using object_id = base::strong<struct object_tag, std::uint64_t>;

enum class object_kind : std::uint8_t {
  none = 0,
  mutex,
  rwlock,
  condition,
  barrier,
  event,
  semaphore,
  group,
  last = group
};

// | kind: 8 bits | home: 16 bits | counter: 40 bits, from 1 |
inline constexpr unsigned counter_bits = 40;
inline constexpr std::uint64_t counter_mask = (std::uint64_t{1} << counter_bits) - 1;

[[nodiscard]] constexpr object_id make_object_id(object_kind kind, node_id home, std::uint64_t counter) noexcept {
  return object_id{(std::uint64_t{static_cast<std::uint8_t>(kind)} << 56) |
                   (std::uint64_t{home.value()} << counter_bits) | (counter & counter_mask)};
}
[[nodiscard]] constexpr object_kind kind_of(object_id id) noexcept {
  return static_cast<object_kind>(id.value() >> 56);
}
/// The node that made it.
[[nodiscard]] constexpr node_id maker_of(object_id id) noexcept {
  return node_id{static_cast<std::uint16_t>(id.value() >> counter_bits)};
}
[[nodiscard]] constexpr std::uint64_t counter_of(object_id id) noexcept { return id.value() & counter_mask; }
/// The node that keeps it: its maker; after a restart on fewer nodes, one in the maker's place.
[[nodiscard]] constexpr node_id home_of(object_id id, unsigned nodes) noexcept {
  return node_id{static_cast<std::uint16_t>(maker_of(id).value() % nodes)};
}
/// Whether a job of `nodes` nodes can ever have made `id` as an object of `kind`.
[[nodiscard]] constexpr bool is_possible(object_id id, object_kind kind, unsigned nodes) noexcept {
  return kind != object_kind::none && kind_of(id) == kind && maker_of(id).value() < nodes &&
         (id.value() & counter_mask) != 0;
}

}  // namespace quire::sync
