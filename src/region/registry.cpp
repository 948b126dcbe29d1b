// SPDX-License-Identifier: BSD-3-Clause
#include "region/registry.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/detail.hpp"
#include "base/log.hpp"
#include "base/status_number.hpp"
#include "directory/placement.hpp"
#include "region/services.hpp"

namespace quire::region {

using core::region_description;
using model::message;
using model::node_id;

namespace {
constexpr std::uint64_t largest_slice = std::uint64_t{8} << 40;  // what the heap's page numbers reach
}  // namespace

base::status registry::open(std::uint32_t heap_unit_bytes, quire_consistency consistency, bool orders, std::size_t free_batch) {
  const auto& c = core_.config;
  const std::uint64_t granule = core_.regions.granule_bytes();
  // Half of the range is the heap, however many nodes there are: a restart may have another number of them.
  const std::uint64_t bytes = std::min(c.bytes / 2 / granule * granule, largest_slice * c.nodes);
  if (bytes / granule < c.nodes) {
    base::log(base::log_level::error, "a shared range of %lu MiB is too small for %u nodes; set QUIRE_RANGE to %lu MiB or more",
              static_cast<unsigned long>(c.bytes >> 20), c.nodes, static_cast<unsigned long>(2 * c.nodes * granule >> 20));
    return QUIRE_NO_ADDRESSES;
  }
  region_description about;
  about.base = c.base;
  about.bytes = bytes;
  about.unit_bytes = heap_unit_bytes;
  about.placement = QUIRE_PLACE_BLOCK;
  about.consistency = static_cast<std::uint8_t>(consistency);
  about.orders = orders ? 1 : 0;
  keeper_.open(c.base + about.bytes);
  if (const auto s = core_.builder.add(about); !s.ok()) return s;
  on_made(about);
  keeper_.when_made([](void* self, const region_description& made) { static_cast<registry*>(self)->on_made(made); }, this);
  keeper_.when_gone([](void* self, const region_description& gone) noexcept { static_cast<registry*>(self)->on_gone(gone); }, this);
  if (c.survives) {
    core_.survival.on_deaths([](void* self, unsigned node) noexcept {
      static_cast<registry*>(self)->dead_.fetch_or(std::uint64_t{1} << node);
    }, this, false);
  }
  using value = std::span<const std::byte>;
  const auto serve = [this](service s, core::service_table::handler h, const char* name = nullptr) {
    core_.services.set(static_cast<std::uint32_t>(s), h, this, name);
  };
  serve(service::allocate, [](void* self, core::core& e, const message& m, value) noexcept {
    shared_heap* const from = static_cast<registry*>(self)->heap_of_handle(m.c);
    if (from == nullptr) return e.services.answer(m, QUIRE_NOT_FOUND);
    auto block = from->allocate_here(m.a, m.b);
    e.services.answer(m, block.why(), block.value().address, block.value().dirty_bytes);
  }, "quire_malloc");
  serve(service::release, [](void* self, core::core& e, const message& m, value) noexcept {
    shared_heap* const of = static_cast<registry*>(self)->heap_of(m.a);
    e.services.answer(m, of != nullptr ? of->release_here(m.a) : base::status(QUIRE_BAD_ADDRESS));
  }, "quire_free");
  open_frees(free_batch);
  serve(service::allocation_size, [](void* self, core::core& e, const message& m, value) noexcept {
    shared_heap* const of = static_cast<registry*>(self)->heap_of(m.a);
    auto size = of != nullptr ? of->size_here(m.a) : base::result<std::uint64_t>(QUIRE_BAD_ADDRESS);
    e.services.answer(m, size.why(), size.value());
  }, "quire_allocation_size");
  serve(service::allocation_around, [](void* self, core::core& e, const message& m, value) noexcept {
    shared_heap* const of = static_cast<registry*>(self)->heap_of(m.a);
    auto found = of != nullptr ? of->around_here(m.a) : base::result<heap::allocation>(QUIRE_BAD_ADDRESS);
    e.services.answer(m, found.why(), found.value().address, found.value().bytes);
  }, "quire_end");
  return {};
}

base::status registry::ask(node_id to, region::service number, message& m, std::span<const std::byte> value) {
  return core_.services.ask(to, static_cast<std::uint32_t>(number), m, value);
}

// ---- Memory ----

registry::~registry() {
  clear_old();
  for (auto& h : heaps_) delete h.load();
}

/// Driver's thread, or before the engine starts.
void registry::on_made(const region_description& about) {
  if (about.id != 0 && about.heap == 0) return;
  heaps_[about.id].store(new shared_heap(about, core_.config.nodes, core_.config.self), std::memory_order_release);
}

void registry::on_gone(const region_description& about) noexcept {
  shared_heap* const gone = heaps_[about.id].exchange(nullptr, std::memory_order_acq_rel);
  if (gone == nullptr) return;
  gone->next = old_.load(std::memory_order_relaxed);
  while (!old_.compare_exchange_weak(gone->next, gone, std::memory_order_acq_rel)) continue;
}

/// Application thread: what the driver must not give back, as it may be within a fault.
void registry::clear_old() noexcept {
  if (old_.load(std::memory_order_relaxed) == nullptr) return;
  for (shared_heap* one = old_.exchange(nullptr, std::memory_order_acq_rel); one != nullptr;) {
    shared_heap* const next = one->next;
    delete one;
    one = next;
  }
}

shared_heap* registry::heap_of_handle(std::uint64_t handle) const noexcept {
  const core::region_ref r = core_.regions.of_handle(handle);
  return r != nullptr ? heaps_[r->about.id].load(std::memory_order_acquire) : nullptr;
}

shared_heap* registry::heap_of(std::uint64_t address, core::region_ref* in) const noexcept {
  const core::region_ref r = core_.regions.find(address);
  if (in != nullptr) *in = r;
  return r != nullptr ? heaps_[r->about.id].load(std::memory_order_acquire) : nullptr;
}

const registry::slice* registry::slice_of(std::uint64_t address) const noexcept {
  const shared_heap* const of = heap_of(address);
  return of != nullptr ? of->slice_of(address) : nullptr;
}

base::status registry::allocate(quire_region from, std::uint64_t bytes, std::uint64_t alignment, std::uint64_t& address,
                               std::uint64_t& dirty_bytes) {
  const bool aligns = std::has_single_bit(alignment) && alignment <= heap::largest_alignment_bytes;
  if (bytes == 0) return base::explain(QUIRE_INVALID, "an allocation of 0 bytes");
  if (bytes > core_.config.bytes) {
    return base::explain(QUIRE_INVALID, "an allocation of %lu bytes; the shared range has %lu (QUIRE_RANGE)", static_cast<unsigned long>(bytes),
                         static_cast<unsigned long>(core_.config.bytes));
  }
  if (!aligns) {
    return base::explain(QUIRE_INVALID, "an alignment of %lu: it must be a power of two up to 2 MiB", static_cast<unsigned long>(alignment));
  }
  clear_old();
  const core::region_ref region = core_.regions.of_handle(from.id);
  if (region == nullptr) {
    return base::explain(QUIRE_NOT_FOUND, "quire_region_malloc(): there is no region of the handle 0x%lx; it was destroyed, or never made",
                         static_cast<unsigned long>(from.id));
  }
  shared_heap* const heap = heaps_[region->about.id].load(std::memory_order_acquire);
  if (heap == nullptr) {
    return base::explain(QUIRE_INVALID, "quire_region_malloc(): region %u is used by its range (quire_region_range); make it with "
                         "quire_region_options.heap = 1 to allocate from it", unsigned{region->about.id});
  }
  if (from.id != 0 && bytes > heap->about().bytes) {
    return base::explain(QUIRE_INVALID, "an allocation of %lu bytes; region %u has %lu", static_cast<unsigned long>(bytes),
                         unsigned{region->about.id}, static_cast<unsigned long>(heap->about().bytes));
  }
  const auto take = [&](const heap::allocation& block) {
    if (core_.protocols.of(*region).relaxed) core_.catch_up();
    address = block.address;
    dirty_bytes = block.dirty_bytes;
    return base::status{};
  };
  auto block = heap->allocate_here(bytes, alignment);
  if (block.ok()) return take(block.value());
  if (block.why().code() != QUIRE_NO_MEMORY) return block.why();
  // This node's slice is full, and so may all be, of what others have freed and not told yet. A second time, because what they send to
  // third nodes may have come there after the first.
  for (int tries = 0; tries < 2; ++tries) {
    const std::uint64_t freed = collect_frees();
    if (freed != 0) block = heap->allocate_here(bytes, alignment);
    if (block.ok()) return take(block.value());
    if (const auto why = allocate_elsewhere(*heap, bytes, alignment, address, dirty_bytes); why.ok() || freed == 0) return why;
  }
  return QUIRE_NO_MEMORY;
}

base::status registry::allocate_elsewhere(const shared_heap& from, std::uint64_t bytes, std::uint64_t alignment, std::uint64_t& address,
                                          std::uint64_t& dirty_bytes) {
  const unsigned nodes = core_.config.nodes;
  for (unsigned i = 1; i < nodes; ++i) {
    message m;
    m.a = bytes;
    m.b = alignment;
    m.c = core::handle_of(from.about());
    const node_id at{static_cast<std::uint16_t>((core_.config.self.value() + i) % nodes)};
    if (!from.has_any(at) || !ask(at, service::allocate, m).ok()) continue;
    address = m.a;
    dirty_bytes = m.b;
    return {};
  }
  return QUIRE_NO_MEMORY;
}

namespace {
base::status no_allocation(const char* call, std::uint64_t address) noexcept {
  return base::explain(QUIRE_BAD_ADDRESS, "%s(): no live allocation starts at 0x%lx; it was freed already, or is no address that quire_malloc() or quire_region_malloc() gave",
                       call, static_cast<unsigned long>(address));
}
}  // namespace

base::status registry::release(std::uint64_t address) {
  const slice* const s = slice_of(address);
  if (s == nullptr) return no_allocation("quire_free", address);
  const base::status why = s->memory != nullptr ? s->memory->release(address) : release_elsewhere(*s, address);
  return why.code() == QUIRE_BAD_ADDRESS ? no_allocation("quire_free", address) : why;
}

base::status registry::resize(std::uint64_t address, std::uint64_t bytes) {
  const slice* const s = slice_of(address);
  if (s == nullptr) return QUIRE_BAD_ADDRESS;
  return s->memory != nullptr ? s->memory->try_resize(address, bytes) : base::status(QUIRE_NO_MEMORY);
}

base::status registry::size_of(std::uint64_t address, std::uint64_t& bytes) {
  const slice* const s = slice_of(address);
  if (s == nullptr) return QUIRE_BAD_ADDRESS;
  if (s->memory != nullptr) {
    auto size = s->memory->size_of(address);
    if (size.ok()) bytes = size.value();
    return size.why();
  }
  if (waits_to_be_free(*s, address)) return QUIRE_BAD_ADDRESS;
  message m;
  m.a = address;
  const auto why = ask(s->node, service::allocation_size, m);
  if (why.ok()) bytes = m.a;
  return why;
}

base::result<heap::allocation> registry::around(std::uint64_t address) {
  const slice* const s = slice_of(address);
  if (s == nullptr) return QUIRE_BAD_ADDRESS;
  if (s->memory != nullptr) return s->memory->around(address);
  message m;
  m.a = address;
  if (const auto why = ask(s->node, service::allocation_around, m); !why.ok()) return why;
  return heap::allocation{m.a, m.b, 0};
}

}  // namespace quire::region
