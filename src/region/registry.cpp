// SPDX-License-Identifier: BSD-3-Clause
#include "region/registry.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/detail.hpp"
#include "base/log.hpp"
#include "base/status_number.hpp"
#include "core/configuration.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "core/services.hpp"
#include "core/survival.hpp"
#include "directory/placement.hpp"
#include "heap/minipage_heap.hpp"
#include "region/services.hpp"

namespace quire::region {

using core::region_description;
using model::message;
using model::node_id;

namespace {
constexpr std::uint64_t largest_slice = std::uint64_t{8} << 40;  // what the heap's page numbers reach
constexpr std::uint64_t most_small_bytes = std::uint64_t{8} << 30;
constexpr std::uint16_t small_id = 1;
}  // namespace

base::status registry::open(const heap_settings& how) {
  guards_ = how.guards;
  const auto& c = core_.config;
  const std::uint64_t granule = core_.regions.granule_bytes();
  // Half of the range is the heap, however many nodes there are: a restart may have another number of them.
  const std::uint64_t bytes = std::min(c.bytes / 2 / granule * granule, largest_slice * c.nodes);
  if (bytes / granule < c.nodes) {
    base::log(base::log_level::error,
              "a shared range of %lu MiB is too small for %u nodes; set QUIRE_RANGE to %lu MiB or more",
              static_cast<unsigned long>(c.bytes >> 20), c.nodes,
              static_cast<unsigned long>(2 * c.nodes * granule >> 20));
    return QUIRE_NO_ADDRESSES;
  }
  region_description about;
  about.base = c.base;
  about.bytes = bytes;
  about.unit_bytes = how.unit_bytes;
  about.placement = QUIRE_PLACE_BLOCK;
  about.consistency = static_cast<std::uint8_t>(how.consistency);
  about.orders = static_cast<std::uint8_t>(how.orders);
  if (const auto s = core_.builder.add(about); !s.ok()) return s;
  on_made(about);
  if (how.views == 0) {
    keeper_.open(c.base + about.bytes);
  } else if (const auto s = open_small(c.base + about.bytes, how); !s.ok()) {
    return s;
  }
  keeper_.when_made([](void* self, const region_description& made) { static_cast<registry*>(self)->on_made(made); },
                    this);
  keeper_.when_gone(
      [](void* self, const region_description& gone) noexcept { static_cast<registry*>(self)->on_gone(gone); }, this);
  if (c.survives) {
    core_.survival.on_deaths(
        [](void* self, unsigned node) noexcept {
          static_cast<registry*>(self)->dead_.fetch_or(std::uint64_t{1} << node);
        },
        this, false);
  }
  using value = std::span<const std::byte>;
  const auto serve = [this](service s, core::service_table::handler h, const char* name = nullptr) {
    core_.services.set(static_cast<std::uint32_t>(s), h, this, name);
  };
  serve(
      service::allocate,
      [](void* self, core::core&, const message& m, value) noexcept { static_cast<registry*>(self)->on_allocate(m); },
      "quire_malloc");
  serve(
      service::release,
      [](void* self, core::core& e, const message& m, value) noexcept {
        shared_heap* const of = static_cast<registry*>(self)->heap_of(m.a);
        e.answer(m, of != nullptr ? of->release_here(m.a, m.b != 0) : base::status(QUIRE_BAD_ADDRESS));
      },
      "quire_free");
  open_frees(how.free_batch);
  announcements_.open(
      [](void* self, std::uint64_t handle, const heap::span_plan& plan, base::status why) noexcept {
        static_cast<registry*>(self)->on_laid(handle, plan, why);
      },
      [](void* self, std::uint64_t handle, std::uint64_t first, std::uint64_t bytes, node_id node) noexcept {
        const shared_heap* const of = static_cast<registry*>(self)->heap_of_handle(handle);
        return of != nullptr && of->is_slice_of(node, first, bytes);
      },
      this);
  serve_looks();
  return {};
}

/// What other nodes ask of places in this one's slices.
void registry::serve_looks() noexcept {
  using value = std::span<const std::byte>;
  const auto serve = [this](service s, core::service_table::handler h, const char* name) {
    core_.services.set(static_cast<std::uint32_t>(s), h, this, name);
  };
  serve(
      service::allocation_size,
      [](void* self, core::core& e, const message& m, value) noexcept {
        shared_heap* const of = static_cast<registry*>(self)->heap_of(m.a);
        auto size = of != nullptr ? of->size_here(m.a) : base::result<std::uint64_t>(QUIRE_BAD_ADDRESS);
        e.answer(m, size.why(), size.value());
      },
      "quire_allocation_size");
  serve(
      service::allocation_around,
      [](void* self, core::core& e, const message& m, value) noexcept {
        shared_heap* const of = static_cast<registry*>(self)->heap_of(m.a);
        auto found = of != nullptr ? of->around_here(m.a, m.b != 0) : base::result<heap::allocation>(QUIRE_BAD_ADDRESS);
        e.answer(m, found.why(), found.value().address, found.value().bytes);
      },
      "quire_end");
  serve(
      service::allocate_at,
      [](void* self, core::core& e, const message& m, value) noexcept {
        shared_heap* const of = static_cast<registry*>(self)->heap_of(m.a);
        auto got = of != nullptr ? of->allocate_at_here(m.a, m.b) : base::result<heap::allocation>(QUIRE_BAD_ADDRESS);
        const std::uint64_t clean =
            (got.value().clean_offset >> heap::page_shift) << 32 | got.value().clean_bytes >> heap::page_shift;
        e.answer(m, got.why(), clean, got.value().dirty_bytes);
      },
      "quire_calloc_at");
}

/// The heap of small objects, behind the other one. Sequential consistency does for any program; it orders, as atomic
/// operations on the other heap do where that has release consistency.
base::status registry::open_small(std::uint64_t base, const heap_settings& how) {
  const auto& c = core_.config;
  region_description about;
  about.id = small_id;
  about.base = base;
  about.bytes = std::min(most_small_bytes, c.bytes / 8 / (how.views + 1u)) / heap::page_bytes * heap::page_bytes;
  about.placement = QUIRE_PLACE_BLOCK;
  about.consistency = QUIRE_SEQUENTIAL;
  about.orders = static_cast<std::uint8_t>(how.consistency == QUIRE_RELEASE ? 1 : how.orders);
  about.heap = 1;
  about.views = how.views;
  about.grouping = static_cast<std::uint8_t>(how.grouping);
  about.layout = core::layouts::divided.id;
  if (about.bytes == 0) {
    base::log(
        base::log_level::error,
        "a shared range of %lu MiB is too small for a heap of %u views (QUIRE_HEAP_VIEWS); set QUIRE_RANGE to more",
        static_cast<unsigned long>(c.bytes >> 20), unsigned{how.views});
    return QUIRE_NO_ADDRESSES;
  }
  const std::uint64_t granule = core_.regions.granule_bytes();
  keeper_.open(base + (core::views_of(about).span() + granule - 1) / granule * granule, small_id + 1);
  if (const auto s = core_.builder.add(about); !s.ok()) return s;
  on_made(about);
  small_ = core::handle_of(about);
  return {};
}

base::status registry::ask(node_id to, region::service number, message& m, std::span<const std::byte> value) {
  return core_.ask(to, static_cast<std::uint32_t>(number), m, value);
}

// ---- Memory ----

registry::~registry() {
  clear_old();
  for (auto& h : heaps_) delete h.load();
}

/// Driver's thread, or before the engine starts.
void registry::on_made(const region_description& about) {
  if (about.id != 0 && about.heap == 0) return;
  heaps_[about.id].store(new shared_heap(about, core_.config.nodes, core_.config.self, guards_),
                         std::memory_order_release);
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

const registry::slice* registry::slice_of(std::uint64_t& address) const noexcept {
  core::region_ref in;
  const shared_heap* const of = heap_of(address, &in);
  if (of == nullptr) return nullptr;
  const std::uint64_t natural = in->natural(address);
  if (address != natural && address != in->fine(natural)) return nullptr;  // another minipage's view
  address = natural;
  return of->slice_of(natural);
}

base::status registry::allocate(quire_region from, std::uint64_t bytes, std::uint64_t alignment,
                                heap::allocation& got) {
  const bool aligns = std::has_single_bit(alignment) && alignment <= heap::largest_alignment_bytes;
  if (bytes == 0) return base::explain(QUIRE_INVALID, "an allocation of 0 bytes");
  if (bytes > core_.config.bytes) {
    return base::explain(QUIRE_INVALID, "an allocation of %lu bytes; the shared range has %lu (QUIRE_RANGE)",
                         static_cast<unsigned long>(bytes), static_cast<unsigned long>(core_.config.bytes));
  }
  if (!aligns) {
    return base::explain(QUIRE_INVALID, "an alignment of %lu: it must be a power of two up to 2 MiB",
                         static_cast<unsigned long>(alignment));
  }
  clear_old();
  if (small_ != 0 && (from.id == 0 || from.id == small_)) {
    if (bytes <= heap::largest_minipage_bytes && alignment <= heap::largest_minipage_bytes) {
      const auto why = allocate_from(quire_region{small_}, bytes, alignment, got);
      if (why.code() != QUIRE_NO_MEMORY) return why;
    }
    from = {};
  }
  return allocate_from(from, bytes, alignment, got);
}

base::status registry::allocate_from(quire_region from, std::uint64_t bytes, std::uint64_t alignment,
                                     heap::allocation& got) {
  const core::region_ref region = core_.regions.of_handle(from.id);
  if (region == nullptr) {
    return base::explain(
        QUIRE_NOT_FOUND,
        "quire_region_malloc(): there is no region of the handle 0x%lx; it was destroyed, or never made",
        static_cast<unsigned long>(from.id));
  }
  shared_heap* const heap = heaps_[region->about.id].load(std::memory_order_acquire);
  if (heap == nullptr) {
    return base::explain(QUIRE_INVALID,
                         "quire_region_malloc(): region %u is used by its range (quire_region_range); make it with "
                         "quire_region_options.heap = 1 to allocate from it",
                         unsigned{region->about.id});
  }
  if (from.id != 0 && bytes > heap->about().bytes) {
    return base::explain(QUIRE_INVALID, "an allocation of %lu bytes; region %u has %lu",
                         static_cast<unsigned long>(bytes), unsigned{region->about.id},
                         static_cast<unsigned long>(heap->about().bytes));
  }
  const auto take = [&](const heap::allocation& block) {
    if (region->can().relaxed) core_.catch_up();
    got = block;
    got.address = region->fine(block.address);
    return base::status{};
  };
  auto block = allocate_here(*heap, bytes, alignment);
  if (block.ok()) return take(block.value());
  if (block.why().code() != QUIRE_NO_MEMORY) return block.why();
  // This node's slice is full, and so may all be, of what others have freed and not told yet. A second time, because
  // what they send, or had sent by themselves just before, may have come to its owner after the first.
  for (int tries = 0; tries < 2; ++tries) {
    const std::uint64_t freed = collect_frees();
    if (freed != 0 || tries != 0) block = allocate_here(*heap, bytes, alignment);
    if (block.ok()) return take(block.value());
    if (block.why().code() != QUIRE_NO_MEMORY) return block.why();
    heap::allocation other;
    const auto why = allocate_elsewhere(*heap, bytes, alignment, other);
    if (why.ok()) return take(other);
    if (tries != 0 || why.code() != QUIRE_NO_MEMORY) return why;
  }
  return QUIRE_NO_MEMORY;
}

base::status registry::allocate_elsewhere(const shared_heap& from, std::uint64_t bytes, std::uint64_t alignment,
                                          heap::allocation& given) {
  const unsigned nodes = core_.config.nodes;
  for (unsigned i = 1; i < nodes; ++i) {
    const node_id at{static_cast<std::uint16_t>((core_.config.self.value() + i) % nodes)};
    if (from.has_any(at) && allocate_at(at, from, bytes, alignment, given).ok()) return {};
  }
  return QUIRE_NO_MEMORY;
}

base::status registry::allocate_at(node_id node, const shared_heap& from, std::uint64_t bytes, std::uint64_t alignment,
                                   heap::allocation& given) {
  message m;
  m.a = bytes;
  m.b = alignment;
  m.c = core::handle_of(from.about());
  const auto why = ask(node, service::allocate, m);
  if (why.ok()) given = {m.a, bytes, m.b};
  return why;
}

/// Where pages have to be laid out first, the driver sees to that.
base::result<heap::allocation> registry::allocate_here(shared_heap& from, std::uint64_t bytes,
                                                       std::uint64_t alignment) {
  auto block = from.allocate_here(bytes, alignment);
  if (block.why().code() != QUIRE_BUSY) return block;
  heap::allocation given;
  const auto why = allocate_at(core_.config.self, from, bytes, alignment, given);
  return why.ok() ? base::result<heap::allocation>(given) : base::result<heap::allocation>(why);
}

/// Driver's thread: what another node asks for, or a thread of this one for which pages have to be laid out. Then the
/// answer waits.
void registry::on_allocate(const message& m) noexcept {
  shared_heap* const from = heap_of_handle(m.c);
  if (from == nullptr) return core_.answer(m, QUIRE_NOT_FOUND);
  for (int tries = 0; tries < 2; ++tries) {
    auto block = from->allocate_here(m.a, m.b);
    if (block.why().code() != QUIRE_BUSY)
      return core_.answer(m, block.why(), block.value().address, block.value().dirty_bytes);
    const auto plan = from->plan_here(m.a, m.b);
    if (plan.ok() || plan.why().code() == QUIRE_BUSY) waiting_.push_back(m);
    if (plan.ok()) announcements_.tell_all(m.c, plan.value());
    if (plan.ok() || plan.why().code() == QUIRE_BUSY) return;
  }
  core_.answer(m, QUIRE_NO_MEMORY);
}

/// Driver's thread. Who waits for other pages of the heap asks in vain, and waits again.
void registry::on_laid(std::uint64_t handle, const heap::span_plan& plan, base::status why) noexcept {
  shared_heap* const of = heap_of_handle(handle);
  if (of != nullptr) of->settle_here(plan, why.ok());
  for (const message& m : std::exchange(waiting_, {})) {
    if (m.c != handle) {
      waiting_.push_back(m);
    } else if (of != nullptr && !why.ok()) {
      core_.answer(m, why);
    } else {
      on_allocate(m);
    }
  }
}

namespace {
base::status no_allocation(const char* call, std::uint64_t address) noexcept {
  return base::explain(QUIRE_BAD_ADDRESS,
                       "%s(): no live allocation starts at 0x%lx; it was freed already, or is no address that "
                       "quire_malloc() or quire_region_malloc() gave",
                       call, static_cast<unsigned long>(address));
}
}  // namespace

base::status registry::release(std::uint64_t given) {
  std::uint64_t address = given;
  const slice* const s = slice_of(address);
  if (s == nullptr) return no_allocation("quire_free", given);
  const base::status why = s->memory != nullptr ? s->memory->release(address) : release_elsewhere(*s, address);
  return why.code() == QUIRE_BAD_ADDRESS ? no_allocation("quire_free", given) : why;
}

base::status registry::resize(std::uint64_t address, std::uint64_t bytes) {
  const slice* const s = slice_of(address);
  if (s == nullptr) return QUIRE_BAD_ADDRESS;
  return s->memory != nullptr ? s->memory->try_resize(address, bytes) : base::status(QUIRE_NO_MEMORY);
}

base::status registry::set_chunk(quire_region of, unsigned slots) {
  shared_heap* const heap = heap_of_handle(of.id);
  if (heap == nullptr) {
    return base::explain(
        QUIRE_NOT_FOUND,
        "quire_region_set_chunk(): there is no heap of the handle 0x%lx; it was destroyed, or never made",
        static_cast<unsigned long>(of.id));
  }
  if (heap->about().views == 0 || slots < 1 || slots > heap::largest_chunk) {
    return base::explain(
        QUIRE_INVALID,
        "quire_region_set_chunk(): %u objects a minipage: 1 to %u, and the region must have been made with "
        "quire_region_options.views",
        slots, heap::largest_chunk);
  }
  heap->set_chunk_here(slots);
  return {};
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

base::result<heap::allocation> registry::around(std::uint64_t address) { return look_around(address, false); }
base::result<heap::allocation> registry::gap_around(std::uint64_t address) { return look_around(address, true); }

base::result<heap::allocation> registry::look_around(std::uint64_t address, bool gap) {
  const slice* const s = slice_of(address);
  if (s == nullptr) return QUIRE_BAD_ADDRESS;
  if (s->memory != nullptr) return gap ? s->memory->gap_around(address) : s->memory->around(address);
  message m;
  m.a = address;
  m.b = gap ? 1 : 0;
  if (const auto why = ask(s->node, service::allocation_around, m); !why.ok()) return why;
  return heap::allocation{m.a, m.b, 0};
}

base::status registry::allocate_at(std::uint64_t address, std::uint64_t bytes, heap::allocation& got) {
  const slice* const s = slice_of(address);
  if (s == nullptr) return QUIRE_BAD_ADDRESS;
  if (s->memory != nullptr) {
    const auto here = s->memory->allocate_at(address, bytes);
    if (!here.ok()) return here.why();
    got = here.value();
  } else {
    message m;
    m.a = address;
    m.b = bytes;
    if (const auto why = ask(s->node, service::allocate_at, m); !why.ok()) return why;
    got = {address, bytes, heap::dirt{m.b, (m.a >> 32) << heap::page_shift, (m.a & UINT32_MAX) << heap::page_shift}};
  }
  if (const core::region_ref in = core_.regions.find(address); in != nullptr && in->can().relaxed) core_.catch_up();
  return {};
}

base::status registry::release_now(std::uint64_t given, bool zero) {
  std::uint64_t address = given;
  const slice* const s = slice_of(address);
  if (s == nullptr) return no_allocation("quire_free_now", given);
  message m;
  m.a = address;
  m.b = zero ? 1 : 0;
  const base::status why = s->memory != nullptr ? s->memory->release(address, zero) : ask(s->node, service::release, m);
  return why.code() == QUIRE_BAD_ADDRESS ? no_allocation("quire_free_now", given) : why;
}

}  // namespace quire::region
