// SPDX-License-Identifier: BSD-3-Clause
#include "gc/service/heaps.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/detail.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/region_slot.hpp"
#include "core/services.hpp"
#include "core/thread_state.hpp"
#include "core/waiting.hpp"
#include "region/services.hpp"

namespace quire::api {

using base::explain;
using model::message;
using region::service;

namespace {
constexpr std::uint64_t lent_bytes = 256u << 10;  ///< at a time
constexpr std::uint64_t of_roots = 1;             ///< gc_register: what is registered

const char* text_of(const std::array<char, gc::longest_name + 1>& name) noexcept { return name.data(); }
}  // namespace

gc_heap::gc_heap(const core::region_slot& of, unsigned nodes, unsigned self, bool old)
    : slot(of),
      handle(core::handle_of(slot.about)),
      base(slot.about.base),
      shape{slot.about.bytes, slot.about.unit_bytes, nodes},
      restored(old),
      memory(shape.slice(self), shape.granules_a_unit()) {
  if (restored) {  // what is free is not known before a collection
    gc::bitmap all(memory.slice().count());
    all.fill(0, all.size());
    memory.adopt_old(std::move(all));
  }
}

gc_service::gc_service(core::core& e) : core_(e) {
  using value = std::span<const std::byte>;
  const auto serve = [&](service s, core::service_table::handler h, const char* name) {
    e.services.set(static_cast<std::uint32_t>(s), h, this, name);
  };
  serve(
      service::gc_register,
      [](void* self, core::core&, const message& m, value v) noexcept {
        static_cast<gc_service*>(self)->on_register(m, v);
      },
      "quire_gc_type");
  serve(
      service::gc_collection,
      [](void* self, core::core&, const message& m, value v) noexcept {
        static_cast<gc_service*>(self)->on_item(m, v);
      },
      "quire_gc_collect");
  serve(
      service::gc_borrow,
      [](void* self, core::core&, const message& m, value) noexcept { static_cast<gc_service*>(self)->on_borrow(m); },
      "quire_gc_allocate");
}
gc_service::~gc_service() = default;

std::string gc_service::name_of(std::uint64_t handle) {
  char text[40];
  std::snprintf(text, sizeof text, "quire.gc/%016" PRIx64, handle);
  return text;
}

gc_heap* gc_service::find_or_make(std::uint64_t handle) {
  const auto id = static_cast<std::uint16_t>(handle);
  if (id >= core::region_map::max_regions) return nullptr;
  std::atomic<gc_heap*>& place = heaps_[id];
  if (gc_heap* const known = place.load(std::memory_order_acquire); known != nullptr && known->handle == handle)
    return known;
  const core::region_ref slot = core_.regions.of_handle(handle);
  if (slot == nullptr) return nullptr;
  const std::scoped_lock lock(making_);
  if (gc_heap* const known = place.load(std::memory_order_acquire); known != nullptr && known->handle == handle)
    return known;
  try {
    all_.push_back(
        std::make_unique<gc_heap>(*slot, core_.config.nodes, core_.config.self.value(), restored_[id].load()));
  } catch (const std::bad_alloc&) {
    base::log(base::log_level::error,
              "no private memory for the bits of a garbage-collected heap of %lu MiB, 1/128 of this node's part",
              static_cast<unsigned long>(slot->about.bytes >> 20));
    return nullptr;
  }
  place.store(all_.back().get(), std::memory_order_release);
  return all_.back().get();
}

gc_heap* gc_service::find(const char* call, quire_gc_heap given) {
  gc_heap* heap = nullptr;
  if (given.id != 0 && core_.regions.of_handle(given.id) != nullptr) {
    const auto id = static_cast<std::uint16_t>(given.id);
    heap = heaps_[id].load(std::memory_order_acquire);
    if (heap != nullptr && heap->handle == given.id && heap->directory.load(std::memory_order_acquire) != nullptr)
        [[likely]]
      return heap;
    gc_directory* const directory = directory_of(given.id);
    heap = directory != nullptr ? find_or_make(given.id) : nullptr;
    if (heap != nullptr) heap->directory.store(directory, std::memory_order_release);
  }
  if (heap == nullptr)
    (void)explain(QUIRE_NOT_FOUND,
                  "%s(): there is no garbage-collected heap of the handle 0x%lx; it was destroyed, or never made", call,
                  static_cast<unsigned long>(given.id));
  return heap;
}

gc_directory* gc_service::directory_of(std::uint64_t handle) {
  void* at = nullptr;
  if (quire_lookup(name_of(handle).c_str(), 0, &at) != QUIRE_OK) return nullptr;
  auto* const directory = static_cast<gc_directory*>(at);
  return directory->magic == gc_directory::is_one && directory->heap == handle ? directory : nullptr;
}

base::status gc_service::publish(quire_gc_heap heap, std::uint64_t directory) {
  return quire_publish(name_of(heap.id).c_str(), reinterpret_cast<void*>(directory));
}

// ---- Names

void gc_service::on_register(const message& m, std::span<const std::byte> value) noexcept {
  gc_heap* const heap = find_or_make(m.b);
  if (heap == nullptr) return core_.answer(m, QUIRE_NOT_FOUND);
  const std::string_view name(reinterpret_cast<const char*>(value.data()), value.size());
  gc::registrar& numbers = (m.a & of_roots) != 0 ? heap->root_numbers : heap->type_numbers;
  const auto got = numbers.add(name, m.c, static_cast<unsigned>(m.a >> 1));
  using outcome = gc::registrar::outcome;
  core_.answer(m,
               got.what == outcome::good   ? QUIRE_OK
               : got.what == outcome::full ? QUIRE_LIMIT
                                           : QUIRE_INVALID,
               got.number);
}

base::status gc_service::number_of(gc_heap& heap, bool root, std::string_view name, std::uint64_t layout,
                                   unsigned& number) {
  const gc_directory& directory = *heap.directory.load();
  unsigned known = 0;
  // Node 0 does not know what was registered before a restart, but the directory does.
  if (heap.restored && root) {
    for (unsigned i = 0; i < gc::most_roots; ++i) {  // some node may have ended before it wrote a name down
      if (directory.roots[i][0] == 0) continue;
      known = i + 1;
      if (text_of(directory.roots[i]) != name) continue;
      number = known;
      return {};
    }
  } else if (heap.restored) {
    for (unsigned i = 0; i < gc::most_types; ++i) {
      const gc::type_record& had = directory.types[i];
      if (had.ready == 0) continue;
      known = i + 1;
      if (text_of(had.name) != name) continue;
      number = known;
      return gc::layout_of(had.bytes, had.references()) == layout ? QUIRE_OK : QUIRE_INVALID;
    }
  }
  message m;
  m.a = (root ? of_roots : 0) | std::uint64_t{known} << 1;
  m.b = heap.handle;
  m.c = layout;
  const auto text = std::as_bytes(std::span(name.data(), name.size()));
  const auto why = core_.ask(model::node_id{0}, static_cast<std::uint32_t>(service::gc_register), m, text);
  number = static_cast<unsigned>(m.a);
  return why;
}

namespace {
/// A copy: it may lie in shared memory.
bool take_name(const char* call, const char* name, std::string& text) {
  const std::size_t length = name == nullptr ? 0 : ::strnlen(name, gc::longest_name + 1);
  if (length == 0 || length > gc::longest_name) {
    (void)explain(QUIRE_INVALID, "%s(): the name %s", call,
                  name == nullptr ? "is NULL"
                  : length == 0   ? "is empty"
                                  : "has more than 63 characters");
    return false;
  }
  text.assign(name, length);
  return true;
}
}  // namespace

base::status gc_service::type_of(gc_heap& heap, const char* name, std::uint64_t bytes,
                                 std::span<const std::uint32_t> offsets, std::uint32_t& number) {
  constexpr const char* call = "quire_gc_type";
  std::string text;
  if (!take_name(call, name, text)) return QUIRE_INVALID;
  if (const char* const why = gc::why_no_type(bytes, offsets); why != nullptr)
    return explain(QUIRE_INVALID, "%s(): type '%s': %s", call, text.c_str(), why);
  const std::uint64_t layout = gc::layout_of(bytes, offsets);
  gc_heap::known_name known;
  {
    const std::scoped_lock lock(heap.names_mutex);
    if (const auto found = heap.types.find(text); found != heap.types.end()) known = found->second;
  }
  base::status why;
  if (known.number == 0) {
    why = number_of(heap, false, text, layout, known.number);
    known.layout = layout;
  } else if (known.layout != layout) {
    why = QUIRE_INVALID;
  }
  if (why.code() == QUIRE_LIMIT)
    return explain(QUIRE_LIMIT, "%s(): type '%s': a heap has at most %u types", call, text.c_str(), gc::most_types);
  gc_directory& directory = *heap.directory.load();
  if (why.code() == QUIRE_INVALID && known.number != 0 && known.number <= gc::most_types) {
    const gc::type_record& had = directory.types[known.number - 1];
    const bool elsewhere = had.bytes == bytes && had.count == offsets.size();
    return explain(
        QUIRE_INVALID,
        "%s(): type '%s' was registered with %u bytes and %u references, and now with %lu bytes and %zu references%s: "
        "all nodes must give the same layout",
        call, text.c_str(), had.bytes, had.count, static_cast<unsigned long>(bytes), offsets.size(),
        elsewhere ? " elsewhere in it" : "");
  }
  if (!why.ok()) return why;
  gc::type_record& record = directory.types[known.number - 1];
  if (std::atomic_ref(record.ready).load(std::memory_order_acquire) == 0) {  // others may be writing the same
    record.name = gc::name_record(text);
    record.bytes = static_cast<std::uint32_t>(bytes);
    record.count = static_cast<std::uint32_t>(offsets.size());
    std::ranges::copy(offsets, record.offsets.begin());
    std::atomic_ref(record.ready).store(1, std::memory_order_release);
  }
  const std::scoped_lock lock(heap.names_mutex);
  heap.types.emplace(text, known);
  heap.type_bytes[known.number].store(static_cast<std::uint32_t>(bytes), std::memory_order_release);
  number = known.number;
  return {};
}

base::status gc_service::root_of(gc_heap& heap, const char* name, std::uint64_t& address) {
  constexpr const char* call = "quire_gc_root";
  std::string text;
  if (!take_name(call, name, text)) return QUIRE_INVALID;
  unsigned number = 0;
  {
    const std::scoped_lock lock(heap.names_mutex);
    if (const auto found = heap.roots.find(text); found != heap.roots.end()) number = found->second.number;
  }
  if (number == 0) {
    const auto why = number_of(heap, true, text, 1, number);
    if (why.code() == QUIRE_LIMIT)
      return explain(QUIRE_LIMIT, "%s(): root '%s': a heap has at most %lu roots", call, text.c_str(),
                     static_cast<unsigned long>(gc::most_roots));
    if (!why.ok()) return why;
    auto& record = heap.directory.load()->roots[number - 1];
    if (record[0] == 0) record = gc::name_record(text);
    const std::scoped_lock lock(heap.names_mutex);
    heap.roots.emplace(text, gc_heap::known_name{number, 1});
  }
  address = heap.base + (number - 1) * sizeof(std::uint64_t);
  return {};
}

unsigned gc_service::types_of(gc_heap& heap) noexcept {
  unsigned last = 0;
  core_.as_driver([&] { last = heap.type_numbers.last(); });
  return last;
}

// ---- Memory

base::status gc_service::allocate(gc_heap& heap, std::uint64_t granules, gc::grant& given) {
  do {
    const std::scoped_lock lock(heap.memory_mutex);
    if (const auto got = heap.memory.allocate(granules)) {
      given = *got;
      return {};
    }
  } while (borrow(heap, granules));
  constexpr double mebi = 1 << 20;
  const double part = static_cast<double>(heap.shape.slice_units() * heap.shape.unit_bytes) / mebi;
  if (heap.restored && !heap.collected.load())
    return explain(QUIRE_NO_MEMORY,
                   "quire_gc_allocate(): what is free is not known after a restart: call quire_gc_collect() first");
  if (granules * gc::granule_bytes > heap.shape.slice_units() * heap.shape.unit_bytes)
    return explain(
        QUIRE_NO_MEMORY,
        "quire_gc_allocate(): an object of %.1f MiB: no object is larger than a node's part of the heap, %.1f MiB; "
        "make a larger heap",
        static_cast<double>(granules * gc::granule_bytes) / mebi, part);
  return explain(QUIRE_NO_MEMORY,
                 "quire_gc_allocate(): the heap is full: no node has %lu bytes in one piece; collect "
                 "(quire_gc_collect()), or make "
                 "a larger heap",
                 static_cast<unsigned long>(granules * gc::granule_bytes));
}

/// The own slice has no room: whole units of others'. Nobody who lends knows what for; a collection finds out what is
/// used of them.
bool gc_service::borrow(gc_heap& heap, std::uint64_t granules) {
  const unsigned self = core_.config.self.value();
  for (unsigned i = 1; i < core_.config.nodes; ++i) {
    const unsigned node = (self + i) % core_.config.nodes;
    if (node < 64 && (heap.lends.load() >> node & 1) == 0 && granules <= heap.shape.granules_a_unit()) continue;
    message m;
    m.a = heap.handle;
    m.b = granules;
    m.c = std::max(granules, lent_bytes / gc::granule_bytes);
    const auto why = core_.ask(model::node_id{static_cast<std::uint16_t>(node)},
                               static_cast<std::uint32_t>(service::gc_borrow), m, {});
    if (!why.ok()) {
      if (node < 64 && granules <= heap.shape.granules_a_unit()) heap.lends.fetch_and(~(std::uint64_t{1} << node));
      continue;
    }
    const std::scoped_lock lock(heap.memory_mutex);
    const std::uint64_t count = m.b >> 1;
    heap.memory.borrow({{m.a, m.a + count}, (m.b & 1) != 0 ? count : 0});
    return true;
  }
  return false;
}

void gc_service::on_borrow(const message& m) noexcept {
  gc_heap* const heap = find_or_make(m.a);
  if (heap == nullptr) return core_.answer(m, QUIRE_NOT_FOUND);
  const std::uint64_t unit = heap->shape.granules_a_unit(),
                      least = (m.b + unit) / unit * unit;  // the last granule of a unit is no place for a small object
  const std::scoped_lock lock(heap->memory_mutex);
  const auto run = heap->memory.take_run(least, std::max(least, m.c / unit * unit));
  if (!run) return core_.answer(m, QUIRE_NO_MEMORY);
  core_.answer(m, QUIRE_OK, run->range.first, run->range.count() << 1 | (run->dirty != 0 ? 1 : 0));
}

void gc_service::note_written(gc_heap& heap, std::uint64_t unit, const sharing::word_mask& words) {
  if (unit >= heap.shape.units()) return;
  const std::scoped_lock lock(heap.evidence_mutex);
  heap.noted.add(unit, core_.config.self.value(), words);
}

// ---- Collections

void gc_service::on_item(const message& m, std::span<const std::byte> value) noexcept {
  gc_heap* const heap = find_or_make(m.b);
  if (heap == nullptr || m.a > static_cast<std::uint64_t>(gc::item::last) || value.size() > gc::packer::capacity)
    return;
  {
    const std::scoped_lock lock(heap->inbox_mutex);
    gc_parcel& p = heap->inbox.emplace_back();
    p.from = m.from.value();
    p.what = static_cast<gc::item>(m.a);
    p.number = m.c;
    p.size = static_cast<std::uint32_t>(value.size());
    std::ranges::copy(value, p.bytes.begin());
    heap->has_mail.store(true, std::memory_order_release);
  }
  if (heap->waiter != nullptr) std::exchange(heap->waiter, nullptr)->complete();
}

void gc_service::wait_for_mail(gc_heap& heap) noexcept {
  struct mail_op : core::op {
    using op::op;
    gc_heap* heap = nullptr;
  } o(
      [](core::core&, core::op& self) noexcept {
        gc_heap& from = *static_cast<mail_op&>(self).heap;
        if (from.has_mail.load(std::memory_order_acquire)) return self.complete();
        from.waiter = &self;
      },
      core::op::type::call);
  o.heap = &heap;
  const core::note_scope noted(core::this_thread().wants, waits::what::all_nodes,
                               "quire_gc_collect");  // for `quire run --timeout`
  (void)core_.run(o);
}

// ---- Regions come and go

void gc_service::forget(const core::region_description& gone) noexcept {
  heaps_[gone.id].store(nullptr, std::memory_order_release);
  restored_[gone.id].store(false);
}

void gc_service::on_restored(const core::region_description& about) { restored_[about.id].store(true); }

}  // namespace quire::api
