// SPDX-License-Identifier: BSD-3-Clause
// Garbage-collected heaps: the bodies of quire/gc.h. Application threads.
#include <quire/gc.h>
#include <quire/transaction.h>

#include <algorithm>
#include <cstring>

#include "runtime/forward.hpp"
#include "gc/service/collect.hpp"
#include "gc/service/heaps.hpp"
#include "runtime/runtime.hpp"
#include "api/versions.hpp"
#include "core/configuration.hpp"
#include "core/job_call.hpp"

using quire::api::gc_heap;
using quire::api::is_split;
using quire::base::explain;
namespace gc = quire::gc;

namespace {

constexpr const char* heaps = "garbage-collected heaps";
constexpr std::size_t longest_heap_name = gc::longest_name - sizeof("quire.gc:") + 1;

/// As it is published; empty if it cannot be, with a sentence.
std::string public_name(const char* call, const char* name) {
  const std::size_t length = name == nullptr ? 0 : ::strnlen(name, longest_heap_name + 1);
  if (length != 0 && length <= longest_heap_name) return "quire.gc:" + std::string(name, length);
  (void)explain(QUIRE_INVALID, "%s(): the name of the heap %s", call,
                name == nullptr ? "is NULL"
                : length == 0   ? "is empty"
                                : "has more than 54 characters");
  return {};
}

struct made_region {
  quire_region region{};
  void* base = nullptr;
  quire_status make(const quire_region_options& options, std::uint64_t bytes) {
    if (const auto why = quire_region_create(&options, bytes, &region); why != QUIRE_OK) return why;
    return quire_region_range(region, &base, nullptr);
  }
  /// It is of no use after all. What was said of the reason stays.
  void undo() {
    const std::string said = quire::base::detail();
    if (region.id != 0) (void)quire_region_destroy(region);
    (void)explain(QUIRE_OK, "%s", said.c_str());
  }
};

/// Where survivors of a death go on.
quire_status refuse_survival(const char* call) {
  return explain(
      QUIRE_UNSUPPORTED,
      "%s(): no garbage-collected heaps in a job that goes on when a node is lost: set QUIRE_ON_FAILURE to end", call);
}

quire_region_options options_of(quire_consistency consistency, std::size_t unit_bytes) {
  quire_region_options options{};
  options.size = sizeof options;
  options.consistency = consistency;
  options.unit_bytes = unit_bytes;
  return options;
}

}  // namespace

quire_status quire_gc_create(const quire_gc_options* options, uint64_t bytes, quire_gc_heap* heap) {
  constexpr const char* call = "quire_gc_create";
  if (is_split(call, heaps)) return QUIRE_UNSUPPORTED;
  QUIRE_ENTER(r);
  quire_gc_options given{};
  if (!quire::api::take(options, given, call, "quire_gc_options")) return QUIRE_INVALID;
  if (heap == nullptr) return explain(QUIRE_INVALID, "%s(): the place for the heap is NULL", call);
  if (bytes == 0 || bytes > gc::most_bytes)
    return explain(QUIRE_INVALID, "%s(): %lu bytes: a heap has 1 byte to 1 TiB", call,
                   static_cast<unsigned long>(bytes));
  const std::uint64_t unit = given.unit_bytes == 0 ? 4096 : given.unit_bytes;
  if (unit < 4096 || unit > 2u << 20 || (unit & (unit - 1)) != 0)
    return explain(QUIRE_INVALID, "%s(): units of %zu bytes: they must be a power of two from 4 KiB to 2 MiB", call,
                   given.unit_bytes);
  std::string name;
  if (given.name != nullptr && (name = public_name(call, given.name)).empty()) return QUIRE_INVALID;
  if (r->core->config.survives) return refuse_survival(call);
  const gc::heap_shape shape = gc::heap_shape::of(bytes, unit, r->core->config.nodes);
  made_region objects, about;
  quire_status why = objects.make(options_of(given.consistency, unit), shape.bytes);
  if (why == QUIRE_OK) why = about.make(options_of(QUIRE_SEQUENTIAL, 0), sizeof(quire::api::gc_directory));
  if (why == QUIRE_OK) {
    auto& directory = *static_cast<quire::api::gc_directory*>(about.base);
    directory.heap = objects.region.id;
    directory.base = reinterpret_cast<std::uint64_t>(objects.base);
    directory.magic = quire::api::gc_directory::is_one;
    why = r->gc->publish({objects.region.id}, reinterpret_cast<std::uint64_t>(about.base)).code();
  }
  if (why == QUIRE_OK && !name.empty()) {
    why = quire_publish(name.c_str(), about.base);
    if (why == QUIRE_EXISTS)
      (void)explain(why, "%s(): there is a garbage-collected heap '%s' already", call, given.name);
  }
  if (why == QUIRE_OK) {
    heap->id = objects.region.id;
    return QUIRE_OK;
  }
  about.undo();
  objects.undo();
  return why;
}

quire_status quire_gc_open(const char* name, int64_t timeout_ms, quire_gc_heap* heap) {
  constexpr const char* call = "quire_gc_open";
  if (is_split(call, heaps)) return QUIRE_UNSUPPORTED;
  QUIRE_ENTER(r);
  if (heap == nullptr) return explain(QUIRE_INVALID, "%s(): the place for the heap is NULL", call);
  const std::string whole = public_name(call, name);
  if (whole.empty()) return QUIRE_INVALID;
  void* at = nullptr;
  if (const auto why = quire_lookup(whole.c_str(), timeout_ms, &at); why != QUIRE_OK) return why;
  const quire_gc_heap found{static_cast<const quire::api::gc_directory*>(at)->heap};
  if (r->gc->find(call, found) == nullptr) return QUIRE_NOT_FOUND;
  *heap = found;
  return QUIRE_OK;
}

quire_status quire_gc_destroy(quire_gc_heap heap) {
  constexpr const char* call = "quire_gc_destroy";
  if (is_split(call, heaps)) return QUIRE_UNSUPPORTED;
  QUIRE_ENTER(r);
  gc_heap* const known = r->gc->find(call, heap);
  if (known == nullptr) return QUIRE_NOT_FOUND;
  quire_region directory{};
  if (const auto why = quire_region_of(known->directory.load(), &directory); why != QUIRE_OK) return why;
  if (const auto why = quire_region_destroy({heap.id}); why != QUIRE_OK) return why;
  return quire_region_destroy(directory);
}

quire_status quire_gc_type(quire_gc_heap heap, const char* name, uint64_t bytes, const uint32_t* offsets,
                           uint32_t count, uint32_t* type) {
  constexpr const char* call = "quire_gc_type";
  if (is_split(call, heaps)) return QUIRE_UNSUPPORTED;
  QUIRE_ENTER(r);
  gc_heap* const known = r->gc->find(call, heap);
  if (known == nullptr) return QUIRE_NOT_FOUND;
  if (type == nullptr) return explain(QUIRE_INVALID, "%s(): the place for the number of the type is NULL", call);
  if (offsets == nullptr && count != 0)
    return explain(QUIRE_INVALID, "%s(): the offsets of %u references are NULL", call, count);
  std::uint32_t number = 0;
  const auto why = r->gc->type_of(*known, name, bytes, {offsets, count}, number);
  if (why.ok()) *type = number;
  return why.code();
}

quire_status quire_gc_allocate(quire_gc_heap heap, uint32_t type, uint64_t length, void** object) {
  constexpr const char* call = "quire_gc_allocate";
  if (is_split(call, heaps)) return QUIRE_UNSUPPORTED;
  QUIRE_ENTER(r);
  gc_heap* const known = r->gc->find(call, heap);
  if (known == nullptr) return QUIRE_NOT_FOUND;
  if (object == nullptr) return explain(QUIRE_INVALID, "%s(): the place for the object is NULL", call);
  if (known->is_transactional() && quire_in_transaction() == 0)
    return explain(QUIRE_INVALID,
                   "%s(): objects of a transactional heap are made in a transaction (quire_atomically())", call);
  const std::uint64_t bytes = type <= gc::most_types ? known->type_bytes[type].load(std::memory_order_acquire) : 0;
  if (bytes == 0)
    return explain(QUIRE_INVALID, "%s(): this node has registered no type %u with the heap (quire_gc_type())", call,
                   type);
  const std::uint64_t granules = gc::granules_of(bytes, length);
  if (granules == 0) {
    return explain(QUIRE_INVALID,
                   length == 0 ? "%s(): %lu elements: an object has one at least"
                               : "%s(): %lu elements are more than any heap has",
                   call, static_cast<unsigned long>(length));
  }
  gc::grant given;
  if (const auto why = r->gc->allocate(*known, granules, given); !why.ok()) return why.code();
  auto* const at = reinterpret_cast<std::byte*>(known->base + gc::header_offset(given.at));
  std::memset(at, 0, given.dirty * gc::granule_bytes);
  const gc::object_header header = gc::object_header::of(type, length);
  std::memcpy(at, &header, sizeof header);
  *object = at + gc::header_bytes;
  return QUIRE_OK;
}

quire_status quire_gc_length(const void* object, uint64_t* length) {
  QUIRE_STARTED();
  if (length == nullptr) return explain(QUIRE_INVALID, "quire_gc_length(): the place for the length is NULL");
  quire_region own{}, before{};
  const auto address = reinterpret_cast<std::uint64_t>(object);
  if (address < gc::header_bytes || address % gc::granule_bytes != 0 || quire_region_of(object, &own) != QUIRE_OK ||
      quire_region_of(static_cast<const std::byte*>(object) - gc::header_bytes, &before) != QUIRE_OK ||
      own.id != before.id)
    return explain(QUIRE_BAD_ADDRESS, "quire_gc_length(): no object of a garbage-collected heap begins at 0x%lx",
                   static_cast<unsigned long>(address));
  gc::object_header header;
  std::memcpy(&header, static_cast<const std::byte*>(object) - gc::header_bytes, sizeof header);
  *length = header.length();
  return QUIRE_OK;
}

quire_status quire_gc_root(quire_gc_heap heap, const char* name, void*** root) {
  constexpr const char* call = "quire_gc_root";
  if (is_split(call, heaps)) return QUIRE_UNSUPPORTED;
  QUIRE_ENTER(r);
  gc_heap* const known = r->gc->find(call, heap);
  if (known == nullptr) return QUIRE_NOT_FOUND;
  if (root == nullptr) return explain(QUIRE_INVALID, "%s(): the place for the root is NULL", call);
  std::uint64_t address = 0;
  const auto why = r->gc->root_of(*known, name, address);
  if (why.ok()) *root = reinterpret_cast<void**>(address);
  return why.code();
}

quire_status quire_gc_collect(quire_gc_heap heap, quire_gc_statistics* statistics) {
  constexpr const char* call = "quire_gc_collect";
  if (is_split(call, heaps)) return QUIRE_UNSUPPORTED;
  QUIRE_ENTER(r);
  if (r->core->config.survives) return refuse_survival(call);
  const quire::core::job_call together(*r->core, quire::sync::meeting::gc_collect, call, quire_thread());
  if (!together.status().ok()) return together.status().code();
  gc_heap* const known = r->gc->find(call, heap);
  quire_status good = known != nullptr ? QUIRE_OK : QUIRE_NOT_FOUND;
  if (good == QUIRE_OK && statistics != nullptr && !quire::api::has_known_size(statistics, call, "quire_gc_statistics"))
    good = QUIRE_INVALID;
  quire_gc_statistics result{};
  const auto why = quire::api::collect(*r->gc, *r->core, r->options.flag(quire::base::option::sharing), known, heap.id,
                                       good, result);
  if (why == QUIRE_OK && statistics != nullptr) {
    result.size = statistics->size;
    *statistics = result;
  }
  return why;
}

quire_status quire_gc_note_written(quire_gc_heap heap, const void* address, size_t bytes) {
  constexpr const char* call = "quire_gc_note_written";
  if (is_split(call, heaps)) return QUIRE_UNSUPPORTED;
  QUIRE_ENTER(r);
  gc_heap* const known = r->gc->find(call, heap);
  if (known == nullptr) return QUIRE_NOT_FOUND;
  const std::uint64_t first = reinterpret_cast<std::uint64_t>(address) - known->base,
                      unit_bytes = known->shape.unit_bytes;
  if (first >= known->shape.bytes || bytes > known->shape.bytes - first)
    return explain(QUIRE_BAD_ADDRESS, "%s(): the %zu bytes from %p on do not lie in the heap", call, bytes, address);
  for (std::uint64_t at = first, end = first + bytes, next = at; at < end; at = next) {
    const std::uint64_t unit = at / unit_bytes;
    next = std::min((unit + 1) * unit_bytes, end);
    r->gc->note_written(*known, unit, quire::sharing::words_under(at - unit * unit_bytes, next - at, unit_bytes));
  }
  return QUIRE_OK;
}

quire_status quire_gc_usage(quire_gc_heap heap, uint64_t* used, uint64_t* bytes) {
  constexpr const char* call = "quire_gc_usage";
  if (is_split(call, heaps)) return QUIRE_UNSUPPORTED;
  QUIRE_ENTER(r);
  gc_heap* const known = r->gc->find(call, heap);
  if (known == nullptr) return QUIRE_NOT_FOUND;
  const std::scoped_lock lock(known->memory_mutex);
  if (used != nullptr) *used = known->memory.used_granules() * gc::granule_bytes;
  if (bytes != nullptr) *bytes = known->memory.slice().count() * gc::granule_bytes;
  return QUIRE_OK;
}
