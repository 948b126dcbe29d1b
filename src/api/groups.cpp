// SPDX-License-Identifier: BSD-3-Clause
// Bodies of the calls about groups of threads. Making and destroying one are calls of all nodes (core/job_call.hpp),
// the others of its threads. Application threads.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "api/explain.hpp"
#include "runtime/forward.hpp"
#include "report/pointer_check.hpp"
#include "report/report.hpp"
#include "base/clock.hpp"
#include "core/configuration.hpp"
#include "core/counters.hpp"
#include "core/job_call.hpp"
#include "core/sync_calls.hpp"
#include "sync/call.hpp"
#include "sync/mismatch.hpp"
#include "sync/names.hpp"

namespace {

using quire::sync::operation;

/// Arrays travel in parts of so many bytes, each of which is a round: what is copied at a time, and how long a driver
/// is kept, has a bound.
constexpr std::size_t group_part_bytes = std::size_t{1} << 20;
/// The same in a split node, where they travel to the engine's process by value.
struct small_part {
  std::byte bytes[3840];
};

quire_status run(quire::api::runtime& r, quire::sync::call& c) {
  c.thread = static_cast<std::uint32_t>(quire_thread());
  const auto why = r.core->objects.synchronise(c, -1);
  return quire::api::explain(c, why.code(), r.core->config.nodes, r.core->objects.makers());
}

/// A collective of the job's threads that is a step of a longer call.
quire_status reduce_of_job(quire::api::runtime& r, std::vector<std::int64_t>& values, quire_operation combine) {
  quire::sync::call c;
  c.what = operation::group_reduce_i64;
  c.count = static_cast<std::uint32_t>(values.size());
  c.combine = combine;
  const auto bytes = std::as_writable_bytes(std::span(values));
  const bool array = quire::sync::is_array(c.what, c.count);
  array ? void(c.data = bytes) : void(c.values = quire::sync::value(bytes));
  const quire_status why = run(r, c);
  if (why == QUIRE_OK && !array) std::memcpy(bytes.data(), c.values.bytes().data(), bytes.size());
  return why;
}

/// The threads of each node, as all nodes give them. QUIRE_INVALID on all if a node cannot.
quire_status ask_for_threads(quire::api::runtime& r, std::int64_t mine, std::vector<std::uint32_t>& threads) {
  std::vector<std::int64_t> values(r.core->config.nodes);
  values[r.core->config.self.value()] = mine;
  if (const quire_status why = reduce_of_job(r, values, QUIRE_SUM); why != QUIRE_OK) return why;
  const auto bad = std::ranges::find_if(values, [](std::int64_t v) { return v < 0; });
  if (bad != values.end())
    return quire::base::explain(QUIRE_INVALID, "quire_group_create(): the place for the handle is NULL on node %ld",
                                static_cast<long>(bad - values.begin()));
  std::uint64_t sum = 0;
  for (const std::int64_t v : values) sum += static_cast<std::uint64_t>(v);
  if (sum == 0) return quire::base::explain(QUIRE_INVALID, "quire_group_create(): no node has a thread in the group");
  if (sum > quire::sync::group_shape::most_members)
    return quire::base::explain(QUIRE_LIMIT, "quire_group_create(): a group has at most %u threads, and not %lu",
                                quire::sync::group_shape::most_members, static_cast<unsigned long>(sum));
  threads.assign(values.begin(), values.end());
  return QUIRE_OK;
}

quire_status call_of_member(operation what, std::uint64_t group, std::uint64_t operand) {
  QUIRE_FORWARD(call_of_member, what, group, operand);
  QUIRE_ENTER(r);
  quire::sync::call c;
  c.what = what;
  c.object = group;
  c.operand = operand;
  return run(*r, c);
}

/// A round of a group, with values in private memory.
quire_status meet(operation what, std::uint64_t group, std::uint64_t values, std::size_t length, std::uint32_t combine,
                  std::uint64_t root) {
  QUIRE_FORWARD(meet, what, group, values, length, combine, root);
  QUIRE_ENTER(r);
  const std::span<std::byte> bytes(reinterpret_cast<std::byte*>(values), length);
  std::optional<quire::core::job_call> together;
  if (group == 0) together.emplace(*r->core, quire::sync::meeting::none, quire::sync::name_of(what), quire_thread());
  if (together && !together->status().ok()) return together->status().code();
  r->regions->flush_frees();
  std::optional<quire::api::recorded_wait> noted;
  if (what != operation::group_wait) noted.emplace(*r, quire::record::wait::other);  // its time is the barrier's
  quire::sync::call c;
  c.what = what;
  c.object = group;
  c.operand = root;
  c.count = static_cast<std::uint32_t>(bytes.size() / quire::sync::element_bytes(what));
  c.combine = combine;
  const bool array = quire::sync::is_array(what, c.count);
  array ? void(c.data = bytes) : void(c.values = quire::sync::value(bytes));
  const quire_status why = run(*r, c);
  if (why == QUIRE_OK && !array && !bytes.empty()) std::memcpy(bytes.data(), c.values.bytes().data(), bytes.size());
  return why;
}

quire_status meet_in_engine(operation what, std::uint64_t group, small_part* part, std::size_t bytes,
                            std::uint32_t combine, std::uint64_t root) {
  QUIRE_FORWARD(meet_in_engine, what, group, part, bytes, combine, root);
  return meet(what, group, reinterpret_cast<std::uint64_t>(part->bytes), bytes, combine, root);
}

/// One part of an array. What is shared is copied by the calling thread, which may fault.
quire_status meet_part(operation what, std::uint64_t group, std::span<std::byte> part, std::byte* copy,
                       std::uint32_t combine, std::uint64_t root) {
  if (quire::api::elsewhere() != nullptr) {
    small_part small;
    if (!part.empty()) std::memcpy(small.bytes, part.data(), part.size());
    const quire_status why = meet_in_engine(what, group, &small, part.size(), combine, root);
    if (why == QUIRE_OK && !part.empty()) std::memcpy(part.data(), small.bytes, part.size());
    return why;
  }
  if (copy == nullptr)
    return meet(what, group, reinterpret_cast<std::uint64_t>(part.data()), part.size(), combine, root);
  std::memcpy(copy, part.data(), part.size());
  const quire_status why = meet(what, group, reinterpret_cast<std::uint64_t>(copy), part.size(), combine, root);
  if (why == QUIRE_OK) std::memcpy(part.data(), copy, part.size());
  return why;
}

bool is_shared(const void* address, std::size_t bytes) noexcept {
  const auto* const first = static_cast<const std::byte*>(address);
  return bytes != 0 && (quire::api::calls::is_shared(first) || quire::api::calls::is_shared(first + bytes - 1));
}

quire_status meet_with(operation what, quire_group group, void* values, std::size_t count, std::uint32_t combine,
                       std::uint64_t root) {
  QUIRE_STARTED();
  if (values == nullptr && count != 0)
    return quire::base::explain(QUIRE_INVALID, "%s(): the values are NULL", quire::sync::name_of(what));
  const std::size_t element = quire::sync::element_bytes(what);
  if (count > std::numeric_limits<std::size_t>::max() / 2 / element)
    return quire::base::explain(QUIRE_INVALID, "%s(): no array has %zu values", quire::sync::name_of(what), count);
  const std::span<std::byte> all(static_cast<std::byte*>(values), count * element);
  const std::size_t most = quire::api::elsewhere() != nullptr ? sizeof(small_part) : group_part_bytes;
  std::unique_ptr<std::byte[]> copy;
  if (is_shared(values, all.size())) copy = std::make_unique_for_overwrite<std::byte[]>(std::min(all.size(), most));
  std::size_t done = 0;
  quire_status worst = QUIRE_OK;
  do {
    const auto part = all.subspan(done, std::min(most, all.size() - done));
    const quire_status why = meet_part(what, group.id, part, copy.get(), combine, root);
    // Others may have all of a part that is lost here, and go on with the next: so does this thread.
    if (why != QUIRE_OK && why != QUIRE_LOST) return why;
    if (worst == QUIRE_OK) worst = why;
    done += part.size();
  } while (done < all.size());
  return worst == QUIRE_OK
             ? worst
             : quire::base::explain(worst, "%s(): a node of the group has died, and a part of the array with it",
                                    quire::sync::name_of(what));
}

}  // namespace

quire_status quire_group_create(uint32_t threads, quire_group* group) {
  QUIRE_FORWARD(quire_group_create, threads, group);
  QUIRE_ENTER(r);
  const quire::core::job_call together(*r->core, quire::sync::meeting::group_create, "quire_group_create",
                                       quire_thread());
  if (!together.status().ok()) return together.status().code();
  std::vector<std::uint32_t> by_node;
  if (const quire_status why = ask_for_threads(*r, group == nullptr ? -1 : std::int64_t{threads}, by_node);
      why != QUIRE_OK)
    return why;
  quire::sync::call c;
  c.what = operation::group_create;
  c.data = std::as_writable_bytes(std::span(by_node));
  if (const quire_status why = run(*r, c); why != QUIRE_OK) return why;
  // No thread meets the others in it before all nodes know it.
  std::vector<std::int64_t> nothing;
  const quire_status why = reduce_of_job(*r, nothing, QUIRE_SUM);
  if (why == QUIRE_OK) group->id = c.object;
  return why;
}

quire_status quire_group_destroy(quire_group group) {
  QUIRE_FORWARD(quire_group_destroy, group);
  QUIRE_ENTER(r);
  const quire::core::job_call together(*r->core, quire::sync::meeting::group_destroy, "quire_group_destroy",
                                       quire_thread());
  if (!together.status().ok()) return together.status().code();
  const auto id = static_cast<std::int64_t>(group.id);
  std::vector<std::int64_t> ids{id, ~id};
  if (const quire_status why = reduce_of_job(*r, ids, QUIRE_MAX); why != QUIRE_OK) return why;
  if (ids[0] != ~ids[1]) {
    return quire::base::explain(QUIRE_INVALID, "quire_group_destroy(): nodes gave different groups; here it is 0x%lx",
                                static_cast<unsigned long>(group.id));
  }
  return call_of_member(operation::group_destroy, group.id, 0);
}

quire_status quire_group_join(quire_group group, uint32_t place) {
  return call_of_member(operation::group_join, group.id, place);
}
quire_status quire_group_leave(quire_group group) { return call_of_member(operation::group_leave, group.id, 0); }

quire_status quire_group_size(quire_group group, uint32_t* members, uint32_t* first) {
  QUIRE_FORWARD(quire_group_size, group, members, first);
  QUIRE_ENTER(r);
  const quire::sync::object_id id{group.id};
  const auto [all, mine] = r->core->objects.size_of(id);
  if (all == 0) {
    quire::sync::call c;
    c.what = operation::group_wait;  // of any call of the group
    c.object = group.id;
    const bool possible = quire::sync::is_possible(id, quire::sync::object_kind::group, 1);
    return quire::api::explain(c, possible ? QUIRE_NOT_FOUND : QUIRE_INVALID, r->core->config.nodes,
                               r->core->objects.makers());
  }
  if (members != nullptr) *members = all;
  if (first != nullptr) *first = mine;
  return QUIRE_OK;
}

quire_status quire_group_wait(quire_group group) {
  if (group.id == 0) return quire_barrier_wait({0});
  QUIRE_FORWARD(quire_group_wait, group);
  QUIRE_ENTER(r);
  if (r->pointers != nullptr) r->pointers->look(*r->core);
  const std::uint64_t start = quire::base::now_ns();
  const quire_status why = meet(operation::group_wait, group.id, 0, 0, 0, 0);
  const std::uint64_t end = quire::base::now_ns();
  auto& count = r->core->count;
  count.barrier_ns.fetch_add(end - start, std::memory_order_relaxed);
  quire::api::record_wait(*r, quire::record::wait::barrier, start, end);
  count.barriers.fetch_add(1, std::memory_order_relaxed);
  return why;
}

quire_status quire_group_reduce_f64(quire_group group, double* values, size_t count, quire_operation combine) {
  return meet_with(operation::group_reduce_f64, group, values, count, combine, 0);
}
quire_status quire_group_reduce_i64(quire_group group, int64_t* values, size_t count, quire_operation combine) {
  return meet_with(operation::group_reduce_i64, group, values, count, combine, 0);
}
quire_status quire_group_broadcast(quire_group group, void* values, size_t bytes, uint32_t root) {
  return meet_with(operation::group_broadcast, group, values, bytes, 0, root);
}
