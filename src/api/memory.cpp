// SPDX-License-Identifier: BSD-3-Clause
// Shared memory: the bodies of quire_malloc() and its family, of regions, names, hints and atomic operations.
#include <quire/system.h>
#include <quire/transaction.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "container/service/service.hpp"
#include "runtime/forward.hpp"
#include "services/node/names.hpp"
#include "runtime/runtime.hpp"
#include "report/sites.hpp"
#include "api/transactions.hpp"
#include "api/versions.hpp"
#include "core/block_calls.hpp"
#include "core/change.hpp"
#include "core/configuration.hpp"
#include "core/fault_ranges.hpp"
#include "core/job_call.hpp"
#include "core/plans/planner.hpp"
#include "core/pins.hpp"
#include "core/protocol_set.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "core/sync_calls.hpp"
#include "core/unit_calls.hpp"
#include "model/atomic_operation.hpp"

using quire::base::explain;
using quire::model::access;
using quire::model::atomic_operation;

namespace {

/// A body calls something that stays when the body is undone: so it does not begin again from here on.
void keep_what_comes() noexcept {
  if (quire_in_transaction() != 0) (void)!quire_transaction_irrevocable();
}

quire_status find_room(quire_region from, std::uint64_t bytes, std::uint64_t alignment, quire::heap::allocation* got) {
  QUIRE_FORWARD(find_room, from, bytes, alignment, got);
  QUIRE_ENTER(r);
  return r->regions->allocate(from, bytes, alignment, *got).code();
}

/// All `bytes` of what was got.
void write_zeroes(const quire::heap::allocation& got, std::uint64_t bytes) noexcept {
  auto* const at = reinterpret_cast<char*>(got.address);
  const std::uint64_t end = std::min(bytes, got.dirty_bytes), clean = std::min(end, got.clean_offset),
                      behind = std::min(end, got.clean_offset + got.clean_bytes);
  std::memset(at, 0, clean);
  std::memset(at + behind, 0, end - behind);
}

quire_status allocate(const char* call, std::uint64_t bytes, std::uint64_t alignment, void** address, bool zero,
                      quire_region from = {}) {
  if (address == nullptr) {
    QUIRE_STARTED();
    return explain(QUIRE_INVALID, "%s(): the place for the address is NULL", call);
  }
  quire::heap::allocation got;
  if (const auto why = find_room(from, bytes, alignment, &got); why != QUIRE_OK) return why;
  *address = reinterpret_cast<void*>(got.address);
  quire::api::sites::on_allocated(got.address, bytes);
  quire::api::transactions::on_allocated(*address);
  if (zero) write_zeroes(got, bytes);
  return QUIRE_OK;
}

/// The whole range lies in one region.
bool is_range(quire::api::runtime& r, const void* address, std::size_t bytes) noexcept {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  const quire::core::region_ref slot = r.core->regions.find(at);
  if (slot == nullptr) {
    (void)explain(QUIRE_BAD_ADDRESS, "the address 0x%lx lies in no shared region", static_cast<unsigned long>(at));
    return false;
  }
  if (bytes <= slot->bytes_from(at)) return true;
  const bool fine = slot->views.of(at - slot->about.base).view != 0;
  (void)explain(QUIRE_BAD_ADDRESS, "the range of %zu bytes from 0x%lx on goes beyond the end of %s %u%s", bytes,
                static_cast<unsigned long>(at), fine ? "the minipage, in region" : "region",
                static_cast<unsigned>(slot->about.id),
                fine ? ": ranges of several are those of the natural view (quire_view())" : "");
  return false;
}

quire_status operate_at(std::uint64_t address, atomic_operation operation, std::uint64_t a, std::uint64_t b,
                        std::uint64_t* before) {
  QUIRE_FORWARD(operate_at, address, operation, a, b, before);
  QUIRE_ENTER(r);
  if (address == 0) return explain(QUIRE_BAD_ADDRESS, "the word of an atomic operation is NULL");
  if (address % sizeof(std::uint64_t) != 0)
    return explain(QUIRE_INVALID, "the word 0x%lx of an atomic operation is not aligned to 8 bytes",
                   static_cast<unsigned long>(address));
  if (!is_range(*r, reinterpret_cast<void*>(address), sizeof(std::uint64_t))) return QUIRE_BAD_ADDRESS;
  return r->core->calls.atomic(address, static_cast<std::uint32_t>(operation), a, b, *before).code();
}

quire_status operate(std::uint64_t* word, atomic_operation operation, std::uint64_t a, std::uint64_t b,
                     std::uint64_t& before) {
  return operate_at(reinterpret_cast<std::uint64_t>(word), operation, a, b, &before);
}

quire_status change_size(std::uint64_t address, std::uint64_t bytes) {
  QUIRE_FORWARD(change_size, address, bytes);
  QUIRE_ENTER(r);
  return r->regions->resize(address, bytes).code();
}

quire_status look_around(std::uint64_t address, std::uint64_t* first, std::uint64_t* bytes, int* taken) {
  QUIRE_FORWARD(look_around, address, first, bytes, taken);
  QUIRE_ENTER(r);
  auto found = r->regions->around(address);
  *taken = found.ok() ? 1 : 0;
  if (found.why().code() == QUIRE_BAD_ADDRESS) found = r->regions->gap_around(address);
  if (!found.ok()) {
    return explain(found.why().code(), "quire_allocation_around(): nothing is known of 0x%lx",
                   static_cast<unsigned long>(address));
  }
  *first = found.value().address;
  *bytes = found.value().bytes;
  return QUIRE_OK;
}

quire_status take_room(std::uint64_t address, std::uint64_t bytes, quire::heap::allocation* got) {
  QUIRE_FORWARD(take_room, address, bytes, got);
  QUIRE_ENTER(r);
  const auto why = r->regions->allocate_at(address, bytes, *got);
  if (why.ok()) return QUIRE_OK;
  return explain(why.code(), "quire_calloc_at(): %lu bytes at 0x%lx cannot be had", static_cast<unsigned long>(bytes),
                 static_cast<unsigned long>(address));
}

quire_status create_region(quire_region_options given, std::uint64_t bytes, quire_region* region) {
  QUIRE_FORWARD(create_region, given, bytes, region);
  QUIRE_ENTER(r);
  return r->regions->others().create(given, bytes, *region).code();
}

quire_status no_region(const char* call, quire_region region) {
  return explain(QUIRE_NOT_FOUND, "%s(): there is no region of the handle 0x%lx; it was destroyed, or never made", call,
                 static_cast<unsigned long>(region.id));
}

}  // namespace

quire_status quire_malloc(size_t bytes, void** address) { return allocate("quire_malloc", bytes, 16, address, false); }

quire_status quire_calloc(size_t count, size_t bytes, void** address) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    QUIRE_STARTED();
    return explain(QUIRE_INVALID, "quire_calloc(): %zu times %zu bytes are more than there are addresses", count,
                   bytes);
  }
  return allocate("quire_calloc", all, 16, address, true);
}

quire_status quire_aligned_alloc(size_t alignment, size_t bytes, void** address) {
  return allocate("quire_aligned_alloc", bytes, alignment, address, false);
}

quire_status quire_region_malloc(quire_region region, size_t alignment, size_t bytes, void** address) {
  return allocate("quire_region_malloc", bytes, alignment == 0 ? 16 : alignment, address, false, region);
}

quire_status quire_region_calloc(quire_region region, size_t alignment, size_t bytes, void** address) {
  return allocate("quire_region_calloc", bytes, alignment == 0 ? 16 : alignment, address, true, region);
}

quire_status quire_region_set_chunk(quire_region region, unsigned objects) {
  QUIRE_FORWARD(quire_region_set_chunk, region, objects);
  QUIRE_ENTER(r);
  return r->regions->set_chunk(region, objects).code();
}

namespace {

/// A large block that grows tends to grow on: it gets room for that, which costs addresses only, and need not be copied
/// the next times.
quire_status allocate_to_grow(std::size_t bytes, std::size_t old, quire_region own, void** moved) {
  constexpr std::size_t large = 64u << 10, small_part = 64;
  std::uint64_t heap = 0;
  if (bytes > old && old >= large && quire_heap_range(own, nullptr, &heap) == QUIRE_OK && bytes < heap / small_part &&
      allocate("quire_realloc", bytes + bytes / 2, 16, moved, false, own) == QUIRE_OK)
    return QUIRE_OK;
  return allocate("quire_realloc", bytes, 16, moved, false, own);
}

}  // namespace

quire_status quire_realloc(size_t bytes, void** address) {
  QUIRE_STARTED();
  if (address == nullptr) return explain(QUIRE_INVALID, "quire_realloc(): the place of the address is NULL");
  if (bytes == 0) return explain(QUIRE_INVALID, "quire_realloc(): the size is 0; quire_free() gives memory back");
  if (*address == nullptr) return quire_malloc(bytes, address);
  std::size_t old = 0;
  if (const auto why = quire_allocation_size(*address, &old); why != QUIRE_OK) return why;
  if (bytes <= old && bytes >= old / 2) return QUIRE_OK;  // it fits, and not most of it would lie idle
  if (change_size(reinterpret_cast<std::uint64_t>(*address), bytes) == QUIRE_OK) return QUIRE_OK;
  void* moved = nullptr;
  quire_region own{};
  if (const auto why = quire_region_of(*address, &own); why != QUIRE_OK) return why;
  if (const auto why = allocate_to_grow(bytes, old, own, &moved); why != QUIRE_OK) return why;
  std::memcpy(moved, *address, bytes < old ? bytes : old);
  const quire_status freed = quire_free(*address);
  *address = moved;
  return freed;
}

quire_status quire_free(void* address) {
  quire_status deferred = QUIRE_OK;
  if (quire::api::transactions::defers_free(address, deferred)) return deferred;
  QUIRE_FORWARD(quire_free, address);
  QUIRE_ENTER(r);
  if (address == nullptr) return QUIRE_OK;
  return r->regions->release(reinterpret_cast<std::uint64_t>(address)).code();
}

quire_status quire_free_now(void* address, int zero) {
  QUIRE_FORWARD(quire_free_now, address, zero);
  QUIRE_ENTER(r);
  if (quire_in_transaction() != 0)
    return explain(QUIRE_INVALID, "quire_free_now(): not within a transaction, which may begin again: quire_free()");
  if (address == nullptr) return QUIRE_OK;
  return r->regions->release_now(reinterpret_cast<std::uint64_t>(address), zero != 0).code();
}

quire_status quire_allocation_around(const void* address, void** first, uint64_t* bytes, int* taken) {
  QUIRE_STARTED();
  if (first == nullptr || bytes == nullptr || taken == nullptr)
    return explain(QUIRE_INVALID, "quire_allocation_around(): a pointer to an answer is NULL");
  std::uint64_t at = 0;
  if (const auto why = look_around(reinterpret_cast<std::uint64_t>(address), &at, bytes, taken); why != QUIRE_OK)
    return why;
  *first = reinterpret_cast<void*>(at);
  return QUIRE_OK;
}

quire_status quire_calloc_at(void* address, uint64_t bytes) {
  quire::heap::allocation got;
  if (const auto why = take_room(reinterpret_cast<std::uint64_t>(address), bytes, &got); why != QUIRE_OK) return why;
  quire::api::sites::on_allocated(got.address, bytes);
  quire::api::transactions::on_allocated(address);
  write_zeroes(got, bytes);
  return QUIRE_OK;
}

quire_status quire_allocation_size(const void* address, size_t* bytes) {
  QUIRE_FORWARD(quire_allocation_size, address, bytes);
  QUIRE_ENTER(r);
  if (bytes == nullptr) return explain(QUIRE_INVALID, "quire_allocation_size(): the place for the size is NULL");
  std::uint64_t size = 0;
  const auto why = r->regions->size_of(reinterpret_cast<std::uint64_t>(address), size);
  if (why.ok()) *bytes = size;
  return why.code();
}

quire_status quire_region_create(const quire_region_options* options, uint64_t bytes, quire_region* region) {
  QUIRE_STARTED();
  quire_region_options given{};
  if (!quire::api::take(options, given, "quire_region_create", "quire_region_options")) return QUIRE_INVALID;
  if (region == nullptr) return explain(QUIRE_INVALID, "quire_region_create(): the place for the region is NULL");
  keep_what_comes();
  return create_region(given, bytes, region);
}

quire_status quire_region_destroy(quire_region region) {
  QUIRE_FORWARD(quire_region_destroy, region);
  QUIRE_ENTER(r);
  if (quire_in_transaction() != 0)
    return explain(QUIRE_INVALID,
                   "quire_region_destroy(): not within a transaction, which may begin again (quire_on_commit() has it "
                   "done afterwards)");
  if (const quire::core::region_ref slot = r->core->regions.of_handle(region.id);
      slot != nullptr && (slot->about.code != 0 || slot->about.placed != 0)) {
    return explain(QUIRE_INVALID,
                   "quire_region_destroy(): region %u is of a module of code: quire_code_unload() unloads that",
                   unsigned{slot->about.id});
  }
  if (const quire::core::region_ref slot = r->core->regions.of_handle(region.id);
      slot != nullptr && (slot->about.backing != 0 || r->containers->is_container(region.id))) {
    return explain(QUIRE_INVALID,
                   "quire_region_destroy(): region %u is that of a container: quire_container_remove() removes it",
                   unsigned{slot->about.id});
  }
  return r->regions->others().destroy(region).code();
}

quire_status quire_region_range(quire_region region, void** address, uint64_t* bytes) {
  QUIRE_FORWARD(quire_region_range, region, address, bytes);
  QUIRE_ENTER(r);
  const quire::core::region_ref slot = r->core->regions.of_handle(region.id);
  if (slot == nullptr) return no_region("quire_region_range", region);
  if (slot->about.heap != 0) {
    return explain(QUIRE_INVALID,
                   "quire_region_range(): region %u is a heap (quire_region_options.heap): allocate from it by "
                   "quire_region_malloc()",
                   unsigned{slot->about.id});
  }
  if (address != nullptr) *address = reinterpret_cast<void*>(slot->about.base);
  if (bytes != nullptr) *bytes = slot->about.bytes;
  return QUIRE_OK;
}

quire_status quire_heap_range(quire_region region, void** address, uint64_t* bytes) {
  QUIRE_FORWARD(quire_heap_range, region, address, bytes);
  QUIRE_ENTER(r);
  const quire::core::region_ref slot = r->core->regions.of_handle(region.id);
  if (slot == nullptr) return no_region("quire_heap_range", region);
  if (slot->about.id != 0 && slot->about.heap == 0) {
    return explain(QUIRE_INVALID, "quire_heap_range(): region %u is no heap; quire_region_range() gives its range",
                   unsigned{slot->about.id});
  }
  if (address != nullptr) *address = reinterpret_cast<void*>(slot->about.base);
  if (bytes != nullptr) *bytes = slot->views.span();
  return QUIRE_OK;
}

quire_status quire_region_set_consistency(quire_region region, quire_consistency consistency) {
  QUIRE_FORWARD(quire_region_set_consistency, region, consistency);
  QUIRE_ENTER(r);
  const quire::core::job_call together(*r->core, quire::sync::meeting::set_consistency, "quire_region_set_consistency",
                                       quire_thread());
  return together.status().ok() ? r->core->changes.set_consistency(region.id, consistency).code()
                                : together.status().code();
}

quire_status quire_region_set_consistency_by(quire_group group, quire_region region, quire_consistency consistency) {
  QUIRE_FORWARD(quire_region_set_consistency_by, group, region, consistency);
  QUIRE_ENTER(r);
  const auto shape = r->core->objects.size_of(quire::sync::object_id{group.id});
  if (group.id == 0 || shape.members != r->core->config.nodes || shape.first != r->core->config.self.value())
    return explain(QUIRE_INVALID, "quire_region_set_consistency_by(): the group 0x%lx has not one member on each node",
                   static_cast<unsigned long>(group.id));
  auto& meeting = quire::core::this_thread().meeting;
  meeting = quire::sync::meeting::set_consistency;
  const auto why =
      r->core->changes.set_consistency(region.id, consistency, {group.id, static_cast<std::uint32_t>(quire_thread())});
  meeting = quire::sync::meeting::none;
  return why.code();
}

quire_status quire_block_begin(quire_region region, unsigned flags) {
  QUIRE_FORWARD(quire_block_begin, region, flags);
  QUIRE_ENTER(r);
  const quire::core::job_call together(*r->core, quire::sync::meeting::block_begin, "quire_block_begin",
                                       quire_thread());
  return together.status().ok() ? r->core->blocks.begin(region.id, flags).code() : together.status().code();
}

quire_status quire_block_declare(const void* address, size_t bytes) {
  QUIRE_FORWARD(quire_block_declare, address, bytes);
  QUIRE_ENTER(r);
  if (bytes == 0) return QUIRE_OK;
  if (!is_range(*r, address, bytes)) return QUIRE_BAD_ADDRESS;
  const auto why = r->core->blocks.declare(reinterpret_cast<std::uint64_t>(address), bytes).code();
  if (why == QUIRE_INVALID)
    (void)explain(why, "quire_block_declare(): no parallel block is under way on the region of 0x%lx",
                  reinterpret_cast<unsigned long>(address));
  return why;
}

quire_status quire_block_end(quire_region region, quire_overlap* overlap) {
  QUIRE_FORWARD(quire_block_end, region, overlap);
  QUIRE_ENTER(r);
  const quire::core::job_call together(*r->core, quire::sync::meeting::block_end, "quire_block_end", quire_thread());
  if (!together.status().ok()) return together.status().code();
  quire_overlap first{nullptr, -1, -1};
  const auto why = r->core->blocks.end(region.id, first);
  if (overlap != nullptr) *overlap = first;
  return why.code();
}

quire_status quire_region_of(const void* address, quire_region* region) {
  QUIRE_FORWARD(quire_region_of, address, region);
  QUIRE_ENTER(r);
  const quire::core::region_ref slot = r->core->regions.find(reinterpret_cast<std::uint64_t>(address));
  if (slot == nullptr) return QUIRE_BAD_ADDRESS;
  if (region != nullptr) region->id = quire::core::handle_of(slot->about);
  return QUIRE_OK;
}

quire_status quire_view(const void* address, quire_view_kind kind, void** same) {
  QUIRE_FORWARD(quire_view, address, kind, same);
  QUIRE_ENTER(r);
  if (kind != QUIRE_NATURAL && kind != QUIRE_FINE)
    return explain(QUIRE_INVALID, "quire_view(): %d is no quire_view_kind", static_cast<int>(kind));
  if (same == nullptr) return explain(QUIRE_INVALID, "quire_view(): the place for the address is NULL");
  if (!is_range(*r, address, 1)) return QUIRE_BAD_ADDRESS;
  const auto at = reinterpret_cast<std::uint64_t>(address);
  const quire::core::region_ref slot = r->core->regions.find(at);
  *same = reinterpret_cast<void*>(kind == QUIRE_FINE ? slot->fine(at) : slot->natural(at));
  return QUIRE_OK;
}

quire_status quire_minipage_of(const void* address, void** first, size_t* bytes) {
  QUIRE_FORWARD(quire_minipage_of, address, first, bytes);
  QUIRE_ENTER(r);
  if (!is_range(*r, address, 1)) return QUIRE_BAD_ADDRESS;
  const auto at = reinterpret_cast<std::uint64_t>(address);
  const quire::core::region_ref slot = r->core->regions.find(at);
  const std::uint64_t unit = slot->unit_of(at);
  if (first != nullptr) *first = reinterpret_cast<void*>(slot->fine(slot->address_of(unit)));
  if (bytes != nullptr) *bytes = slot->bytes_of(unit);
  return QUIRE_OK;
}

quire_status quire_publish(const char* name, const void* address) {
  keep_what_comes();
  QUIRE_FORWARD(quire_publish, name, address);
  QUIRE_ENTER(r);
  return r->names->publish(name, reinterpret_cast<std::uint64_t>(address)).code();
}

quire_status quire_lookup(const char* name, int64_t timeout_ms, void** address) {
  QUIRE_FORWARD(quire_lookup, name, timeout_ms, address);
  QUIRE_ENTER(r);
  if (address == nullptr) return explain(QUIRE_INVALID, "quire_lookup(): the place for the address is NULL");
  std::uint64_t value = 0;
  const bool waits = timeout_ms != 0 && quire_in_transaction() == 0;
  const auto why = r->names->lookup(name, waits ? timeout_ms : 0, value);
  if (!waits && timeout_ms != 0 && (why.code() == QUIRE_NOT_FOUND || why.code() == QUIRE_TIMED_OUT))
    return explain(QUIRE_INVALID,
                   "quire_lookup(): nothing has that name yet, and no transaction waits for it, which may begin again, "
                   "and holds others up");
  if (why.ok()) *address = reinterpret_cast<void*>(value);
  return why.code();
}

quire_status quire_prefetch(const void* address, size_t bytes, int for_writing) {
  QUIRE_FORWARD(quire_prefetch, address, bytes, for_writing);
  QUIRE_ENTER(r);
  if (bytes == 0) return QUIRE_OK;
  if (!is_range(*r, address, bytes)) return QUIRE_BAD_ADDRESS;
  prefetch_range(*r->core, reinterpret_cast<std::uint64_t>(address), bytes,
                 for_writing != 0 ? access::write : access::read);
  return QUIRE_OK;
}

quire_status quire_plan(uint64_t key) {
  QUIRE_FORWARD(quire_plan, key);
  QUIRE_ENTER(r);
  r->core->planner.begin(key);
  return QUIRE_OK;
}

quire_status quire_spin(void) {
  QUIRE_FORWARD(quire_spin);
  QUIRE_ENTER(r);
  r->node->threads().spin();
  return QUIRE_OK;
}

quire_status quire_note_barrier(void) {
  QUIRE_FORWARD(quire_note_barrier);
  QUIRE_ENTER(r);
  if (r->core->races != nullptr) r->core->as_driver([&] { r->core->protocols.on_met(); });
  return QUIRE_OK;
}

int quire_local_nodes(void) {
  const auto* const r = quire::api::current();
  return r != nullptr ? r->job->local_nodes() : 0;
}

int quire_has_one_memory(const void* address) {
  const auto* const r = quire::api::current();
  if (r == nullptr || r->core == nullptr) return 0;
  const quire::core::region_ref slot = r->core->regions.find(reinterpret_cast<std::uint64_t>(address));
  return slot != nullptr && r->core->builder.has_one_memory(*slot) ? 1 : 0;
}

int quire_may_look(int threads, quire_looking* so_far) {
  if (quire::api::elsewhere() != nullptr || so_far == nullptr) return 0;
  const auto* const r = quire::api::current();
  if (r == nullptr || r->node == nullptr) return 0;
  return r->node->threads().may_look(threads, so_far->since, so_far->last) ? 1 : 0;
}

quire_status quire_advise(const void* address, size_t bytes, quire_advice advice) {
  QUIRE_FORWARD(quire_advise, address, bytes, advice);
  QUIRE_ENTER(r);
  if (advice != QUIRE_NORMAL && advice != QUIRE_WILL_WRITE)
    return explain(QUIRE_INVALID, "quire_advise(): %d is no quire_advice", static_cast<int>(advice));
  if (bytes == 0) return QUIRE_OK;
  if (!is_range(*r, address, bytes)) return QUIRE_BAD_ADDRESS;
  advise_range(*r->core, reinterpret_cast<std::uint64_t>(address), bytes, advice == QUIRE_WILL_WRITE);
  return QUIRE_OK;
}

quire_status quire_push(const void* address, size_t bytes) {
  QUIRE_FORWARD(quire_push, address, bytes);
  QUIRE_ENTER(r);
  if (bytes == 0) return QUIRE_OK;
  if (!is_range(*r, address, bytes)) return QUIRE_BAD_ADDRESS;
  return r->core->calls.push(reinterpret_cast<std::uint64_t>(address), bytes).code();
}

namespace {
quire_status produce(const void* address, size_t bytes, int producer, int end) {
  QUIRE_FORWARD(produce, address, bytes, producer, end);
  QUIRE_ENTER(r);
  const auto& c = r->core->config;
  const char* const call = end != 0 ? "quire_produce_end" : "quire_produce_begin";
  if (bytes == 0) return explain(QUIRE_INVALID, "%s(): the size is 0", call);
  if (producer < 0 || producer >= static_cast<int>(c.nodes))
    return explain(QUIRE_INVALID, "%s(): there is no node %d for a producer; the job has %u nodes", call, producer,
                   c.nodes);
  if (!is_range(*r, address, bytes)) return QUIRE_BAD_ADDRESS;
  if (c.self.value() != producer) return QUIRE_OK;
  return r->core->calls.produce(reinterpret_cast<std::uint64_t>(address), bytes, end != 0).code();
}

quire_status meet_to_produce() {
  QUIRE_FORWARD(meet_to_produce);
  QUIRE_ENTER(r);
  const quire::core::job_call together(*r->core, quire::sync::meeting::produce_end, "quire_produce_end",
                                       quire_thread());
  if (!together.status().ok()) return together.status().code();
  return quire_barrier_wait(quire_barrier{0});
}
}  // namespace

quire_status quire_produce_begin(const void* address, size_t bytes, int producer) {
  return produce(address, bytes, producer, 0);
}

quire_status quire_produce_end(const void* address, size_t bytes, int producer) {
  const auto why = produce(address, bytes, producer, 1);
  if (why == QUIRE_NOT_STARTED || why == QUIRE_FORKED) return why;
  const std::string said = quire::base::detail();
  const auto met = meet_to_produce();  // the others wait for it, whatever became of it here
  return why == QUIRE_OK ? met : explain(why, "%s", said.c_str());
}

quire_status quire_pin(const void* address, size_t bytes, int64_t timeout_ms, int* holder) {
  QUIRE_FORWARD(quire_pin, address, bytes, timeout_ms, holder);
  QUIRE_ENTER(r);
  if (quire_in_transaction() != 0)
    return explain(QUIRE_INVALID, "quire_pin(): not within a transaction, which may begin again, and holds others up");
  int unknown;
  int& who = holder != nullptr ? *holder : unknown;
  who = -1;
  if (bytes == 0) return QUIRE_OK;
  if (!is_range(*r, address, bytes)) return QUIRE_BAD_ADDRESS;
  return r->core->pins.acquire(reinterpret_cast<std::uint64_t>(address), bytes, timeout_ms, who).code();
}

quire_status quire_unpin(const void* address, size_t bytes) {
  QUIRE_FORWARD(quire_unpin, address, bytes);
  QUIRE_ENTER(r);
  if (bytes == 0) return QUIRE_OK;
  if (!is_range(*r, address, bytes)) return QUIRE_BAD_ADDRESS;
  return r->core->pins.release(reinterpret_cast<std::uint64_t>(address), bytes).code();
}

quire_status quire_acquire(const void* address, size_t bytes, int64_t timeout_ms, int* holder) {
  return quire_pin(address, bytes, timeout_ms, holder);
}
quire_status quire_release(const void* address, size_t bytes) { return quire_unpin(address, bytes); }

quire_status quire_fetch_add(uint64_t* word, uint64_t value, uint64_t* before) {
  std::uint64_t old = 0;
  const quire_status why = operate(word, atomic_operation::add, value, 0, old);
  if (why == QUIRE_OK && before != nullptr) *before = old;
  return why;
}

quire_status quire_exchange(uint64_t* word, uint64_t value, uint64_t* before) {
  std::uint64_t old = 0;
  const quire_status why = operate(word, atomic_operation::exchange, value, 0, old);
  if (why == QUIRE_OK && before != nullptr) *before = old;
  return why;
}

quire_status quire_compare_exchange(uint64_t* word, uint64_t* expected, uint64_t desired, int* done) {
  if (expected == nullptr || done == nullptr) {
    QUIRE_STARTED();
    return explain(QUIRE_INVALID, "quire_compare_exchange(): the place of %s is NULL",
                   expected == nullptr ? "the expected value" : "the outcome");
  }
  std::uint64_t old = 0;
  const std::uint64_t wanted = *expected;
  const quire_status why = operate(word, atomic_operation::compare_exchange, wanted, desired, old);
  if (why != QUIRE_OK) return why;
  *done = old == wanted ? 1 : 0;
  *expected = old;
  return why;
}
