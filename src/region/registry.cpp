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

std::span<const std::byte> bytes_of(const region_description& d) noexcept {
  return std::as_bytes(std::span(&d, 1));
}
std::uint64_t round_up(std::uint64_t value, std::uint64_t to) noexcept { return (value + to - 1) / to * to; }

/// How far from the beginning of its granule a region begins. Were it the same for all, the n-th bytes of several arrays would lie
/// at a multiple of 64 MiB from each other, where caches and the processor's predictors of them take them for the same: a loop over
/// three arrays was a third slower (bench/README.md, "Arrays at round distances").
std::uint64_t colour_of(std::uint16_t id, std::uint64_t unit, std::uint64_t granule) noexcept {
  const std::uint64_t step = std::max<std::uint64_t>(unit, 64 * 1024);
  const std::uint64_t colours = std::min<std::uint64_t>(granule / 4 / step, 16);
  return colours == 0 ? 0 : id % colours * step;
}
}  // namespace

base::status registry::open(std::uint32_t heap_unit_bytes, quire_consistency consistency, std::size_t free_batch) {
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
  const protocol::row* const of = core_.protocols.find(int{consistency});
  heap_relaxed_ = of != nullptr && of->can.relaxed;
  next_base_ = c.base + about.bytes;
  if (const auto s = core_.builder.add(about); !s.ok()) return s;
  heap_about_ = about;
  slices_ = cut(about.base, about.base + about.bytes, about.base);
  for (slice& s : slices_) {
    if (s.node == c.self) s.memory = std::make_unique<heap::heap>(s.base, s.end - s.base, heap_unit_bytes);
  }

  if (c.survives) {
    core_.survival.on_deaths([](void* self, unsigned node) noexcept { static_cast<registry*>(self)->on_death(node); }, this, false);
  }
  using value = std::span<const std::byte>;
  const auto serve = [this](service s, core::service_table::handler h, const char* name = nullptr) {
    core_.services.set(static_cast<std::uint32_t>(s), h, this, name);
  };
  serve(service::region_create, [](void* self, core::core&, const message& m, value v) noexcept {
    static_cast<registry*>(self)->on_create(m, v);
  }, "quire_region_create");
  serve(service::region_announce, [](void* self, core::core&, const message&, value v) noexcept {
    static_cast<registry*>(self)->on_announce(v);
  });
  serve(service::region_added, [](void* self, core::core&, const message& m, value) noexcept {
    static_cast<registry*>(self)->on_added(m);
  });
  serve(service::allocate, [](void* self, core::core& e, const message& m, value) noexcept {
    auto block = static_cast<registry*>(self)->allocate_here(m.a, m.b);
    e.services.answer(m, block.why(), block.value().address, block.value().dirty_bytes);
  }, "quire_malloc");
  serve(service::release, [](void* self, core::core& e, const message& m, value) noexcept {
    e.services.answer(m, static_cast<registry*>(self)->release_here(m.a));
  }, "quire_free");
  open_frees(free_batch);
  serve(service::allocation_size, [](void* self, core::core& e, const message& m, value) noexcept {
    auto size = static_cast<registry*>(self)->size_here(m.a);
    e.services.answer(m, size.why(), size.value());
  }, "quire_allocation_size");
  return {};
}

base::status registry::ask(node_id to, region::service number, message& m, std::span<const std::byte> value) {
  return core_.services.ask(to, static_cast<std::uint32_t>(number), m, value);
}

// ---- Regions ----

base::status registry::create(const quire_region_options& options, std::uint64_t bytes, quire_region& region) {
  const auto& c = core_.config;
  const std::uint64_t unit = options.unit_bytes == 0 ? 4096 : options.unit_bytes;
  const bool fits = unit >= 4096 && unit <= (2u << 20) && (unit & (unit - 1)) == 0;
  const bool known = core_.protocols.find(int{options.consistency}) != nullptr &&
                     options.placement >= QUIRE_PLACE_BLOCK && options.placement <= QUIRE_PLACE_FIRST_TOUCH && options.pool >= QUIRE_POOL_DEFAULT &&
                     options.pool <= QUIRE_POOL_FORK && options.detector >= QUIRE_DETECT_DEFAULT &&
                     options.detector <= QUIRE_DETECT_SCAN;
  const bool home = options.placement != QUIRE_PLACE_NODE || (options.home >= 0 && options.home < static_cast<int>(c.nodes));
  if (bytes == 0) return base::explain(QUIRE_INVALID, "quire_region_create(): the size is 0");
  if (!fits) {
    return base::explain(QUIRE_INVALID, "quire_region_create(): units of %zu bytes: they must be a power of two from 4 KiB to 2 MiB",
                         options.unit_bytes);
  }
  if (!known) {
    return base::explain(QUIRE_INVALID,
                         "quire_region_create(): one of consistency (%d), placement (%d), pool (%d) and detector (%d) has a value that is none",
                         static_cast<int>(options.consistency), static_cast<int>(options.placement), static_cast<int>(options.pool),
                         static_cast<int>(options.detector));
  }
  if (!home) {
    return base::explain(QUIRE_INVALID, "quire_region_create(): there is no node %d for a home; the job has %u nodes", options.home, c.nodes);
  }
  if (bytes > c.bytes) {
    return base::explain(QUIRE_NO_ADDRESSES, "quire_region_create(): %lu bytes are more than the shared range has, %lu (QUIRE_RANGE)",
                         static_cast<unsigned long>(bytes), static_cast<unsigned long>(c.bytes));
  }
  region_description about;
  about.bytes = round_up(bytes, unit);
  about.unit_bytes = static_cast<std::uint32_t>(unit);
  about.home = static_cast<std::uint16_t>(options.placement == QUIRE_PLACE_NODE ? options.home : 0);
  about.placement = static_cast<std::uint8_t>(options.placement);
  about.consistency = static_cast<std::uint8_t>(options.consistency);
  about.pool = static_cast<std::uint8_t>(options.pool);
  about.detector = static_cast<std::uint8_t>(options.detector);
  message m;
  const auto why = ask(node_id{0}, service::region_create, m, bytes_of(about));
  if (why.ok()) region.id = m.a;
  if (why == QUIRE_LIMIT) {
    base::log(base::log_level::error, "a job has at most %zu regions beside the memory of quire_malloc(): make fewer and larger ones",
              core::region_map::max_regions - 1);
  }
  return why;
}

/// Node 0: gives the region its number and addresses, and tells everyone.
void registry::on_create(const message& m, std::span<const std::byte> value) noexcept {
  pending_region p;
  if (value.size() != sizeof p.about) return core_.services.answer(m, QUIRE_INVALID);
  std::memcpy(&p.about, value.data(), sizeof p.about);
  const auto& c = core_.config;
  const std::uint64_t room = c.base + c.bytes - next_base_;
  if (next_id_ >= core::region_map::max_regions) return core_.services.answer(m, QUIRE_LIMIT);
  if (p.about.bytes > room) return core_.services.answer(m, QUIRE_NO_ADDRESSES);
  p.about.id = next_id_++;
  const std::uint64_t granule = core_.regions.granule_bytes();
  std::uint64_t colour = colour_of(p.about.id, p.about.unit_bytes, granule);
  if (p.about.bytes > room - std::min(colour, room)) colour = 0;
  p.about.base = next_base_ + colour;
  next_base_ += round_up(colour + p.about.bytes, granule);
  p.request = m;
  const std::uint64_t dead = core_.survival.members().dead;
  p.answered = dead;
  p.left = c.nodes - static_cast<unsigned>(__builtin_popcountll(dead));
  const auto about = p.about;
  pending_.emplace(about.id, p);
  for (unsigned n = 0; n < c.nodes; ++n) {
    core_.services.notify(node_id{static_cast<std::uint16_t>(n)}, static_cast<std::uint32_t>(service::region_announce), 0, 0, 0,
                   bytes_of(about));
  }
}

void registry::on_announce(std::span<const std::byte> value) noexcept {
  region_description about;
  if (value.size() != sizeof about) return;
  std::memcpy(&about, value.data(), sizeof about);
  const auto why = core_.builder.add(about);
  core_.services.notify(node_id{0}, static_cast<std::uint32_t>(service::region_added), about.id,
                 static_cast<std::uint64_t>(why.code()), 0, {});
}

void registry::on_added(const message& m) noexcept {
  const auto found = pending_.find(static_cast<std::uint16_t>(m.a));
  if (found == pending_.end()) return;
  pending_region& p = found->second;
  if (m.b != QUIRE_OK) p.why = base::status_of(m.b);
  on_answer(p, m.from.value());
}

void registry::on_answer(pending_region& p, unsigned node) {
  if (node < 64) p.answered |= std::uint64_t{1} << node;
  if (--p.left != 0) return;
  core_.services.answer(p.request, p.why, p.about.id);
  pending_.erase(p.about.id);
}

/// Regions are not kept waiting for a node that is dead. What was to be told it goes with it.
void registry::on_death(unsigned node) {
  dead_.fetch_or(std::uint64_t{1} << node);
  for (auto i = pending_.begin(); i != pending_.end();) {
    pending_region& p = (i++)->second;  // it may be gone then
    if ((p.answered >> node & 1) == 0) on_answer(p, node);
  }
}

// ---- Memory ----

const registry::slice* registry::slice_of(std::uint64_t address) const noexcept {
  const auto before = [](std::uint64_t a, const slice& s) { return a < s.base; };
  const auto after = std::upper_bound(slices_.begin(), slices_.end(), address, before);
  return after != slices_.begin() && address < after[-1].end ? &after[-1] : nullptr;
}

/// Cuts a part of the heap so that what was never handed out belongs to the nodes that manage it. What was stays in one slice.
std::vector<registry::slice> registry::cut(std::uint64_t base, std::uint64_t end, std::uint64_t used_end) const {
  const std::uint64_t unit = heap_about_.unit_bytes, first = heap_about_.base;
  const unsigned nodes = core_.config.nodes;
  const auto managers = directory::manager_map::make(model::placement::block, nodes, heap_about_.bytes / unit, {});
  std::vector<slice> slices;
  while (base < end) {
    const std::uint64_t block = (base - first) / unit / managers.block_units;
    std::uint64_t to = first + (block + 1) * managers.block_units * unit;
    while (to < used_end) to += managers.block_units * unit;
    slices.push_back({base, std::min(to, end), managers.of((base - first) / unit), {}});
    base = to;
  }
  return slices;
}

base::result<heap::allocation> registry::allocate_here(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  for (slice& s : slices_) {
    if (s.memory == nullptr || bytes > s.end - s.base) continue;
    auto block = s.memory->allocate(bytes, alignment);
    if (block.ok() || block.why().code() != QUIRE_NO_MEMORY) return block;
  }
  return QUIRE_NO_MEMORY;
}

base::result<std::uint64_t> registry::size_here(std::uint64_t address) const noexcept {
  const slice* const s = slice_of(address);
  return s != nullptr && s->memory != nullptr ? s->memory->size_of(address) : base::result<std::uint64_t>(QUIRE_BAD_ADDRESS);
}

base::status registry::release_here(std::uint64_t address) noexcept {
  const slice* const s = slice_of(address);
  return s != nullptr && s->memory != nullptr ? s->memory->release(address) : base::status(QUIRE_BAD_ADDRESS);
}

base::status registry::allocate(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t& address,
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
  auto block = allocate_here(bytes, alignment);
  if (block.ok()) {
    if (heap_relaxed_) core_.catch_up();
    address = block.value().address;
    dirty_bytes = block.value().dirty_bytes;
    return {};
  }
  if (block.why().code() != QUIRE_NO_MEMORY) return block.why();
  // This node's slice is full, and so may all be, of what others have freed and not told yet. A second time, because what they send to
  // third nodes may have come there after the first.
  for (int tries = 0; tries < 2; ++tries) {
    const std::uint64_t freed = collect_frees();
    if (freed != 0) block = allocate_here(bytes, alignment);
    if (block.ok()) {
      if (heap_relaxed_) core_.catch_up();
      address = block.value().address;
      dirty_bytes = block.value().dirty_bytes;
      return {};
    }
    if (const auto why = allocate_elsewhere(bytes, alignment, address, dirty_bytes); why.ok() || freed == 0) return why;
  }
  return QUIRE_NO_MEMORY;
}

base::status registry::allocate_elsewhere(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t& address,
                                          std::uint64_t& dirty_bytes) {
  const unsigned nodes = core_.config.nodes;
  for (unsigned i = 1; i < nodes; ++i) {
    message m;
    m.a = bytes;
    m.b = alignment;
    const auto at = static_cast<std::uint16_t>((core_.config.self.value() + i) % nodes);
    if (!ask(node_id{at}, service::allocate, m).ok()) continue;
    address = m.a;
    dirty_bytes = m.b;
    return {};
  }
  return QUIRE_NO_MEMORY;
}

namespace {
base::status no_allocation(const char* call, std::uint64_t address) noexcept {
  return base::explain(QUIRE_BAD_ADDRESS, "%s(): no live allocation starts at 0x%lx; it was freed already, or is no address that quire_malloc() gave",
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

}  // namespace quire::region
