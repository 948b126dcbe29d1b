// SPDX-License-Identifier: BSD-3-Clause
// The cost of sharing between two moments, summed over all nodes. Only for programs that use Quire.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <quire/quire.hpp>

#include "common/report.hpp"

namespace apps {

/// Collective: one thread of each node calls it, with its own counters of before and after.
inline traffic traffic_between(const quire_counters& before, const quire_counters& after) {
  const auto grown = [](std::uint64_t then, std::uint64_t now) { return static_cast<std::int64_t>(now - then); };
  std::array<std::int64_t, 4> sums{
      grown(before.read_faults, after.read_faults),
      grown(before.write_faults + before.upgrade_faults, after.write_faults + after.upgrade_faults),
      grown(before.messages_sent, after.messages_sent), grown(before.bytes_sent, after.bytes_sent)};
  quire::all_reduce(std::span<std::int64_t>(sums), quire::operation::sum);
  return {sums[0], sums[1], sums[2], sums[3]};
}

}  // namespace apps
