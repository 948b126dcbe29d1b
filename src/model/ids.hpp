// SPDX-License-Identifier: BSD-3-Clause
// The glossary as types. node: one process of the job. region: one address range with one protocol, pool, detector and
// unit size. unit: what a protocol moves and protects (a page or several). home: the node that a unit's content and
// directory entry start on. manager: the node that keeps a unit's directory entry.
#pragma once

#include <cstdint>

#include "base/strong.hpp"

namespace quire::model {

using node_id = base::strong<struct node_tag, std::uint16_t>;
using region_id = base::strong<struct region_tag, std::uint16_t>;
/// Number of a unit within its region.
using unit_id = base::strong<struct unit_tag, std::uint64_t>;
/// Number of a protocol in the table of protocols: the quire_consistency that programs ask for.
using protocol_id = base::strong<struct protocol_tag, std::uint8_t>;

inline constexpr unsigned max_nodes = 1024;

/// What a node, or the application view of a node, may do with a unit.
enum class access : std::uint8_t { none = 0, read = 1, write = 2 };

/// How the manager of a unit follows from its number (KOAN: fixed distributed managers).
enum class placement : std::uint8_t {
  block = 0,   ///< unit u of U is managed by node u*N/U: consecutive units, one manager
  modulo = 1,  ///< unit u is managed by node u mod N
  node = 2,    ///< one given node manages all
};

}  // namespace quire::model
