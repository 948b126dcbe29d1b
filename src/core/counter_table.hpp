// SPDX-License-Identifier: BSD-3-Clause
// The counters of the public API: one table. A row has the name, one sentence, and where the value comes from.
// quire_counters_read(), the JSON of `quire run --stats`, `quire info --counters` and the section COUNTERS of quire(7)
// follow from it (tests/docs compares the last two, and the struct). Plain data: the `quire` command reads it without a
// node. Any thread.
#pragma once

#include <quire/quire.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "core/diffs.hpp"
#include "core/plans/phase_plans.hpp"
#include "protocol/release/node.hpp"
#include "protocol/sequential/state.hpp"
#include "protocol/transaction/domain.hpp"
#include "transport/transport.hpp"

namespace quire::core {

/// All numbers of a node that counters are made of, at one moment (api/counters.cpp gathers them).
struct counter_sources {
  sequential::counters sequential{};  ///< of all regions; so is the next
  release::counters release{};
  release::node::counters notices{};
  diff_traffic::counters diffs{};
  struct {
    std::uint64_t given = 0, written = 0, read = 0, most_bytes = 0;
  } frames{};                 ///< frames::counters
  transport::traffic wire{};  ///< without messages by which nodes watch each other
  transaction::counters transactions{};
  phase_plans::counters plans{};
  std::uint64_t intervals = 0, replica_rounds = 0, bad_frees = 0, line_units = 0, write_ahead_units = 0;
  std::uint64_t fault_ns = 0, barrier_ns = 0, lock_ns = 0, barriers = 0, locks = 0;
  std::uint64_t refused = 0;  ///< messages whose content makes no sense here
};

class core;
/// Of a node, but for what only its API counts (bad_frees). Without messages by which nodes watch each other: they
/// depend on the time that passes, not on what the program does.
[[nodiscard]] counter_sources sources_of(const core& node) noexcept;

struct counter_row {
  const char* name;
  std::uint64_t quire_counters::*place;
  const char* meaning;  ///< one sentence
  std::uint64_t (*value)(const counter_sources& from) noexcept;
};

#define QUIRE_COUNTER(name, meaning, ...)                                                 \
  counter_row {                                                                           \
#name, &quire_counters::name, meaning,                                                \
        [](const counter_sources& from) noexcept -> std::uint64_t { return __VA_ARGS__; } \
  }

/// In the order of quire_counters.
inline constexpr counter_row counter_table[] = {
    QUIRE_COUNTER(read_faults, "Faults that asked another node for a unit to read",
                  from.sequential.read_faults + from.release.read_faults),
    QUIRE_COUNTER(write_faults, "Faults that asked another node for a unit to write",
                  from.sequential.write_faults + from.release.write_faults),
    QUIRE_COUNTER(upgrade_faults,
                  "Faults that asked another node for the right to write a unit that was here to be read",
                  from.sequential.upgrade_faults),
    QUIRE_COUNTER(local_faults, "Faults that were served from what the node already had: first touch, read-ahead",
                  from.sequential.local_faults + from.release.local_faults),
    QUIRE_COUNTER(racing_faults, "Faults of a thread on a unit that is being brought already",
                  from.sequential.racing_faults + from.release.racing_faults),
    QUIRE_COUNTER(competing_requests, "Requests that this node had to queue, as the unit's manager",
                  from.sequential.competing_requests),
    QUIRE_COUNTER(invalidations, "Copies that were taken away from this node",
                  from.sequential.invalidations + from.release.invalidations),
    QUIRE_COUNTER(read_ahead_units, "Units that were asked for ahead of a sweep",
                  from.sequential.read_ahead_units + from.release.read_ahead_units),
    QUIRE_COUNTER(read_ahead_wasted, "Units of read-ahead that were taken away before any thread used them",
                  from.sequential.read_ahead_wasted + from.release.read_ahead_wasted),
    QUIRE_COUNTER(messages_sent, "Messages that this node sent, but for those by which nodes watch each other",
                  from.wire.messages_sent),
    QUIRE_COUNTER(bytes_sent, "Bytes of the messages that this node sent", from.wire.bytes_sent),
    QUIRE_COUNTER(messages_received, "Messages that this node received, but for those by which nodes watch each other",
                  from.wire.messages_received),
    QUIRE_COUNTER(bytes_received, "Bytes of the messages that this node received", from.wire.bytes_received),
    QUIRE_COUNTER(fault_ns, "Time that threads of this node waited in faults, in nanoseconds", from.fault_ns),
    QUIRE_COUNTER(barrier_ns, "Time that threads of this node waited in barriers, in nanoseconds", from.barrier_ns),
    QUIRE_COUNTER(lock_ns, "Time that threads of this node waited for locks, in nanoseconds", from.lock_ns),
    QUIRE_COUNTER(barriers, "Barriers that threads of this node passed", from.barriers),
    QUIRE_COUNTER(locks, "Locks that threads of this node took", from.locks),
    QUIRE_COUNTER(atomics, "Atomic operations of this node", from.sequential.atomics + from.release.atomics),
    QUIRE_COUNTER(double_faults, "Upgrades of units that had come for a read", from.sequential.double_faults),
    QUIRE_COUNTER(exclusive_reads,
                  "Reads that asked for a writable copy: each avoids a double fault, if a write follows",
                  from.sequential.exclusive_reads),
    QUIRE_COUNTER(exclusive_wasted, "Units of exclusive_reads that were taken away unwritten, as far as it is known",
                  from.sequential.exclusive_wasted),
    QUIRE_COUNTER(pins, "Units that quire_pin() was called for", from.sequential.pins + from.release.pins),
    QUIRE_COUNTER(pin_waits, "Requests of other nodes that waited for a quire_unpin() here",
                  from.sequential.pin_waits + from.release.pin_waits),
    QUIRE_COUNTER(intervals, "Release consistency: releases by which this node had something to tell", from.intervals),
    QUIRE_COUNTER(twins, "Release consistency: copies kept to find later what was written", from.release.twins),
    QUIRE_COUNTER(diffs, "Release consistency: pages that differed from their twins", from.diffs.diffs),
    QUIRE_COUNTER(diff_bytes, "Release consistency: bytes that were sent of what differed", from.diffs.bytes),
    QUIRE_COUNTER(notices_sent, "Release consistency: runs of written units that this node told others",
                  from.notices.notices_sent),
    QUIRE_COUNTER(notices_heard, "Release consistency: runs of written units that this node learned from others",
                  from.notices.notices_heard),
    QUIRE_COUNTER(
        home_moves,
        "Units whose home this node gave away: to their only writer, to who touched them first, or to save memory",
        from.release.home_moves),
    QUIRE_COUNTER(forwarded, "Requests and diffs for a home that this node passed on", from.release.forwarded),
    QUIRE_COUNTER(copies_dropped, "Clean copies that were given up to save memory",
                  from.sequential.copies_dropped + from.release.copies_dropped),
    QUIRE_COUNTER(paged_to_nodes, "Units that other nodes took over, because this one was short of memory",
                  from.frames.given),
    QUIRE_COUNTER(paged_to_disk, "Units that were written to the page-out file", from.frames.written),
    QUIRE_COUNTER(paged_from_disk, "Units that were read back from the page-out file", from.frames.read),
    QUIRE_COUNTER(most_memory, "Bytes that units took on this node at a time; 0 without a limit",
                  from.frames.most_bytes),
    QUIRE_COUNTER(
        updates_sent,
        "Release consistency: units that this node wrote at home, sent to each node that is likely to read them",
        from.release.updates_sent),
    QUIRE_COUNTER(updates_applied,
                  "Release consistency: units that came here before they were asked for, and kept a copy valid",
                  from.release.updates_applied),
    QUIRE_COUNTER(units_kept,
                  "Release consistency: how often a unit began to be written from interval to interval without a fault",
                  from.release.kept),
    QUIRE_COUNTER(connections_refused,
                  "Connections of strangers, who do not know the job's secret (TCP); also those that said nothing",
                  from.wire.connections_refused),
    QUIRE_COUNTER(messages_refused, "Messages of strangers, or repeated; 0 in a job that is left alone",
                  from.wire.refused + from.refused),
    QUIRE_COUNTER(replicas_sent, "Units whose content this node sent to a backup", from.sequential.replicas_sent),
    QUIRE_COUNTER(replica_waits, "Times that another node had to wait until a backup had a unit",
                  from.sequential.replica_waits),
    QUIRE_COUNTER(replica_rounds, "Times that this node waited for backups to answer", from.replica_rounds),
    QUIRE_COUNTER(bad_frees,
                  "Calls of quire_free() of this node that gave nothing back, as other nodes have found out later",
                  from.bad_frees),
    QUIRE_COUNTER(commits, "Transactions that had written something, and have happened", from.transactions.commits),
    QUIRE_COUNTER(published, "Units that transactions had written", from.transactions.published),
    QUIRE_COUNTER(dooms, "Transactions that were to begin again, as others came first", from.transactions.dooms),
    QUIRE_COUNTER(commit_waits, "Times that a commit waited for a unit, or for the token", from.transactions.waits),
    QUIRE_COUNTER(turns, "Transactions during which no other node committed", from.transactions.turns),
    QUIRE_COUNTER(migrated, "Of them, units that nodes write in turn, which went to who asked for them",
                  from.release.migrated),
    QUIRE_COUNTER(migrated_unused, "Of these, units that who got them did not write", from.release.migrated_unused),
    QUIRE_COUNTER(
        planned, "Units that were asked for at the beginning of a phase or with a lock, as they were used there before",
        from.plans.asked),
    QUIRE_COUNTER(planned_unused, "Of these, units that were not used there, as far as it is known", from.plans.unused),
    QUIRE_COUNTER(line_units, "Units that were read ahead where many sweeps take turns", from.line_units),
    QUIRE_COUNTER(write_ahead_units, "Units at home that sweeps of writes could write without a fault",
                  from.write_ahead_units),
    QUIRE_COUNTER(host_units, "Units whose content was not sent, as the node that asked has the same frame",
                  from.sequential.host_units + from.release.host_units),
};
#undef QUIRE_COUNTER

inline void read_counters(const counter_sources& from, quire_counters& to) noexcept {
  for (const counter_row& row : counter_table) to.*row.place = row.value(from);
}

namespace detail {
/// Each field of the struct, but for its size, has the row of its place.
constexpr bool rows_are_the_fields() {
  quire_counters all{};
  for (std::size_t i = 0; i < std::size(counter_table); ++i) all.*counter_table[i].place = i + 1;
  const auto words = std::bit_cast<std::array<std::uint64_t, sizeof(quire_counters) / sizeof(std::uint64_t)>>(all);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != i) return false;
  }
  return words.size() == std::size(counter_table) + 1;
}
}  // namespace detail
static_assert(offsetof(quire_counters, size) == 0 && detail::rows_are_the_fields(),
              "counter_table has a row for each field of quire_counters, in order");

}  // namespace quire::core
