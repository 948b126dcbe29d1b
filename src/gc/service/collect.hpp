// SPDX-License-Identifier: BSD-3-Clause
// A collection of a garbage-collected heap: gc_collect.cpp.
#pragma once

#include <quire/gc.h>

#include "gc/service/heaps.hpp"

namespace quire::api {

/// One thread of each node, within a core::job_call. `good`: whether this node's arguments are; if not,
/// quire_last_error() has why, and the heap may be null.
/// `moves`: objects that nodes use apart move apart (QUIRE_SHARING).
[[nodiscard]] quire_status collect(gc_service& gc, core::core& core, bool moves, gc_heap* heap, std::uint64_t handle,
                                   quire_status good, quire_gc_statistics& result);

}  // namespace quire::api
