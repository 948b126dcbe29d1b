// SPDX-License-Identifier: BSD-3-Clause
// Objects of a garbage-collected heap that move to who writes them: which do, and where to; gc_collect.cpp has the
// steps of a collection. Application thread of each node.
#include <quire/transaction.h>

#include <algorithm>
#include <cstring>

#include "gc/service/collection.hpp"
#include "core/region_slot.hpp"
#include "sharing/table.hpp"

namespace quire::api {

using gc::item;

namespace {
constexpr std::uint64_t least_moves = 4;  ///< of a unit between nodes, before anything is concluded
constexpr std::size_t most_shared_units = 1024;
}  // namespace

void collection::gather_evidence() {
  {
    const std::scoped_lock lock(heap_.evidence_mutex);
    for (const auto& [unit, parts] : heap_.noted.units())
      for (const auto& part : parts) evidence_.add(unit, part.node, part.words);
    heap_.noted.clear();
  }
  if (core_.sharing == nullptr || !moves_) return;  // counted for the report alone, which changes nothing
  for (const auto& used : core_.sharing->most(most_shared_units)) {
    if (used.region != region_->about.id || used.unit >= heap_.shape.units() || used.moves < least_moves) continue;
    const std::uint32_t most = *std::ranges::max_element(used.writes);
    sharing::word_mask words;
    constexpr std::uint32_t by_the_way =
        16;  // what happens so much less often is not what the unit goes to and fro for
    for (unsigned word = 0; word < sharing::words; ++word)
      words.set(word, used.writes[word] != 0 && used.writes[word] * by_the_way >= most);
    evidence_.add(used.unit, self_, words);
  }
  core_.sharing->forget(region_->about.id);
}

/// Of the units that this node keeps.
void collection::make_wishes() {
  std::vector<gc::packer> to(core_.config.nodes);
  for (const auto& shared : evidence_.units()) {
    const std::uint64_t unit = shared.first, unit_end = (unit + 1) * heap_.shape.unit_bytes;
    if (unit >= heap_.shape.units() || !marker_->keeps(unit)) continue;
    std::vector<gc::live_object> objects;
    marker_->for_each_marked(unit, unit + 1, [&](std::uint64_t granule, gc::object_header header) {
      const std::uint64_t count = gc::granules_of(types_.find(header.type())->bytes, header.length());
      if (gc::header_offset(granule) + count * gc::granule_bytes <= unit_end) objects.push_back({granule, count});
    });
    for (const gc::wish& w : gc::plan(heap_.shape, unit, shared.second, objects, heap_.shape.node_of(unit))) {
      if (w.to == self_) {
        place(w.what);
        continue;
      }
      if (to[w.to].add(w.what.granule, w.what.count)) continue;
      send(w.to, item::wishes, to[w.to].content());
      to[w.to].clear();
      (void)to[w.to].add(w.what.granule, w.what.count);
    }
  }
  for (unsigned node = 0; node < core_.config.nodes; ++node)
    if (!to[node].empty()) send(node, item::wishes, to[node].content());
}

/// In a unit of this node's slice where only such objects lie. If there is none the object stays where it is.
void collection::place(const gc::live_object& what) {
  const std::uint64_t unit = heap_.shape.granules_a_unit();
  if (what.count == 0 || what.count >= unit || what.granule >= heap_.shape.granules() - what.count) return;
  if (span_at_ + what.count > span_.range.end) {
    give_back_rest();
    const std::scoped_lock lock(heap_.memory_mutex);
    const auto run = heap_.memory.take_run(unit, unit);
    if (!run) return;
    span_ = *run;
    --span_.range.end;  // of the last granule a part lies in the next unit
    heap_.memory.give_back(span_.range.end, 1);
    span_at_ = span_.range.first;
  }
  arrivals_.push_back({what.granule, span_at_, what.count});
  span_at_ += what.count;
}

void collection::give_back_rest() {
  const std::scoped_lock lock(heap_.memory_mutex);
  if (span_at_ < span_.range.end) heap_.memory.give_back(span_at_, span_.range.end - span_at_);
  span_ = {};
  span_at_ = 0;
}

quire_status collection::plan_moves() {
  gather_evidence();
  std::int64_t any = static_cast<std::int64_t>(evidence_.units().size());
  if (const auto why = sum({&any, 1}); why != QUIRE_OK) return why;
  if (any == 0) return QUIRE_OK;
  const gc::evidence mine = evidence_;
  for (const auto& [unit, parts] : mine.units()) {
    gc::packer told;
    (void)told.add(unit);
    for (unsigned word = 0; word < sharing::words; word += 32) {
      std::uint64_t bits = 0;
      for (unsigned bit = 0; bit < 32; ++bit) bits |= std::uint64_t{parts.front().words[word + bit]} << bit;
      (void)told.add(bits);
    }
    for (unsigned node = 0; node < core_.config.nodes; ++node)
      if (node != self_) send(node, item::evidence, told.content());
  }
  if (const auto why = settle(); why != QUIRE_OK) return why;
  make_wishes();
  if (const auto why = settle(); why != QUIRE_OK) return why;
  give_back_rest();
  gc::packer told;
  const auto tell_all = [&] {
    for (unsigned node = 0; node < core_.config.nodes; ++node)
      if (node != self_ && !told.empty()) send(node, item::moves, told.content());
    told.clear();
  };
  for (const auto& one : arrivals_) {
    moved_.add(one);
    if (told.add(one.from, one.to, one.count)) continue;
    tell_all();
    (void)told.add(one.from, one.to, one.count);
  }
  tell_all();
  if (const auto why = settle(); why != QUIRE_OK) return why;
  gather_changes();
  return QUIRE_OK;
}

/// Words of objects and roots, of what this node keeps, that refer to what moves.
void collection::gather_changes() {
  if (moved_.moves().empty()) return;
  const auto look = [&](std::uint64_t offset) {
    const std::uint64_t value = marker_->word_at(offset), now = moved_.now(value, heap_.base);
    if (now != value) changes_.push_back({heap_.base + offset, now});
  };
  marker_->for_each_field(look);
  for (std::uint64_t i = 0; i < gc::most_roots; ++i) {
    const std::uint64_t offset = i * sizeof(std::uint64_t);
    if (marker_->keeps(offset / heap_.shape.unit_bytes)) look(offset);
  }
}

/// An object that comes to this node's slice, with its references as they will be.
void collection::copy(const gc::forwarding::move& one) {
  auto* const to = reinterpret_cast<std::byte*>(heap_.base + gc::header_offset(one.to));
  std::memcpy(to, reinterpret_cast<const void*>(heap_.base + gc::header_offset(one.from)),
              one.count * gc::granule_bytes);
  gc::object_header header;
  std::memcpy(&header, to, sizeof header);
  const auto* const type = types_.find(header.type());
  for (std::uint64_t element = 0; type != nullptr && element < header.length(); ++element) {
    for (const std::uint32_t offset : type->offsets) {
      auto* const field = reinterpret_cast<std::uint64_t*>(to + gc::header_bytes + element * type->bytes + offset);
      *field = moved_.now(*field, heap_.base);
    }
  }
}

/// `f` writes the heap, and may be called again.
template <class F>
quire_status collection::write(F f) {
  if (heap_.is_transactional()) return quire_atomically([](void* p) { (*static_cast<F*>(p))(); }, &f, nullptr);
  f();
  return QUIRE_OK;
}

/// All nodes, or none. Content may move now.
quire_status collection::move() {
  if (moved_.moves().empty()) return QUIRE_OK;
  if (const auto why = write([&] {
        for (const auto& one : arrivals_) copy(one);
      });
      why != QUIRE_OK)
    return why;
  if (const auto why = quire_barrier_wait(quire_barrier{0}); why != QUIRE_OK) return why;
  if (const auto why = write([&] {
        for (const word_change& change : changes_) *reinterpret_cast<std::uint64_t*>(change.at) = change.value;
      });
      why != QUIRE_OK)
    return why;
  {
    const std::scoped_lock lock(heap_.memory_mutex);
    const gc::granule_range own = heap_.memory.slice();
    for (const auto& one : moved_.moves())
      if (one.from >= own.first && one.from < own.end) heap_.memory.give_back(one.from, one.count);
  }
  return quire_barrier_wait(quire_barrier{0});
}

}  // namespace quire::api
