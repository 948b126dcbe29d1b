// SPDX-License-Identifier: BSD-3-Clause
// Collective steps of simulated nodes, for services whose steps all nodes take together (src/services). Within a
// core::job_call, on a fibre.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/sync_calls.hpp"
#include "sim/whole/actor.hpp"
#include "sync/collective.hpp"

namespace quire::whole::together {

/// The job's sums, or maxima, of numbers of all nodes.
template <std::size_t Count>
[[nodiscard]] base::status reduce(actor& a, std::array<std::int64_t, Count>& values, quire_operation how) {
  static_assert(Count <= sync::max_reduce_values);
  sync::call c;
  c.what = sync::operation::reduce_i64;
  c.thread = a.number;
  c.count = Count;
  c.combine = static_cast<std::uint32_t>(how);
  c.values = sync::value(std::as_bytes(std::span(values)));
  const auto why = a.here.core().objects.synchronise(c, -1);
  std::memcpy(values.data(), c.values.bytes().data(), sizeof values);
  return why;
}

/// The worst of all nodes' outcomes.
[[nodiscard]] inline quire_status agree(actor& a, quire_status mine) {
  std::array<std::int64_t, 1> worst = {mine};
  a.must(reduce(a, worst, QUIRE_MAX), "a meeting");
  return static_cast<quire_status>(worst[0]);
}

}  // namespace quire::whole::together
