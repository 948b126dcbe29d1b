// SPDX-License-Identifier: BSD-3-Clause
// A garbage-collected heap of a simulated job. Threads make objects in their node's slice, under the caller's lock, and
// hang them on their node's root; collections go through services::collection_call, mark with gc::marker what each node
// keeps while its core holds content still, and find the end by waves, as gc/service does in a process. Some objects
// move to the slice of the node that keeps them.
//
// It is told as wrong: memory of an object that can be reached is handed out; after a collection an object that can be
// reached is not live, or garbage is; an object that moves changes; and objects move while a transaction runs, or while
// some node has not planned.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/hold.hpp"
#include "core/job_call.hpp"
#include "core/region_slot.hpp"
#include "core/services.hpp"
#include "core/transactions.hpp"
#include "gc/allocator.hpp"
#include "gc/ending.hpp"
#include "gc/marker.hpp"
#include "gc/relocation.hpp"
#include "region/services.hpp"
#include "services/collection_call.hpp"
#include "sim/whole/actor.hpp"
#include "tests/sim/together.hpp"

namespace quire::whole {

/// Of the whole job: what an observer sees who knows what was written last.
class observed_heap {
 public:
  observed_heap(world& w, std::uint64_t base, unsigned nodes)
      : base(base), shape{units_each * nodes * unit_bytes, unit_bytes, nodes}, planned(nodes), world_(w) {
    types.set(1, element_bytes, references);
  }
  static constexpr std::uint64_t unit_bytes = 4096, units_each = 4, element_bytes = 24, value_offset = 8;
  static constexpr std::array<std::uint32_t, 2> references = {0, 16};

  std::uint64_t base;
  gc::heap_shape shape;
  gc::type_table types{};
  std::vector<bool> planned;
  unsigned transactions = 0;            ///< that run
  std::vector<std::uint64_t> before{};  ///< values, in the order of a walk, when all held content
  std::uint64_t collections = 0, moved = 0, freed = 0, waves = 0;

  [[nodiscard]] std::uint64_t root(unsigned node) const { return base + node * sizeof(std::uint64_t); }
  /// Calls f(granule, length) for each object that can be reached, in an order that only the references decide.
  template <class F>
  void walk(F&& f) const {
    std::set<std::uint64_t> seen;
    std::vector<std::uint64_t> waiting;
    for (unsigned node = shape.nodes; node-- != 0;) waiting.push_back(world_.latest(root(node)));
    while (!waiting.empty()) {
      const std::uint64_t value = waiting.back();
      waiting.pop_back();
      if (value == 0 || !seen.insert(value).second) continue;
      const std::uint64_t granule = gc::granule_at(value - base);
      const gc::object_header header{world_.latest(base + gc::header_offset(granule))};
      f(granule, header.length());
      for (std::uint64_t i = 0; i < header.length(); ++i) {
        for (const std::uint32_t offset : references)
          waiting.push_back(world_.latest(value + i * element_bytes + offset));
      }
    }
  }
  [[nodiscard]] std::vector<std::uint64_t> values() const {
    std::vector<std::uint64_t> all;
    walk([&](std::uint64_t granule, std::uint64_t length) {
      for (std::uint64_t i = 0; i < length; ++i)
        all.push_back(world_.latest(base + gc::object_offset(granule) + i * element_bytes + value_offset));
    });
    return all;
  }
  /// Of objects that can be reached.
  [[nodiscard]] std::set<std::uint64_t> granules() const {
    std::set<std::uint64_t> all;
    walk([&](std::uint64_t granule, std::uint64_t length) {
      for (std::uint64_t i = 0; i < gc::granules_of(element_bytes, length); ++i) all.insert(granule + i);
    });
    return all;
  }

 private:
  world& world_;
};

class node_collections final : gc::outlet {
 public:
  node_collections(world& w, node& here, observed_heap& heap, std::uint16_t region)
      : world_(w),
        here_(here),
        heap_(heap),
        region_(region),
        memory_(heap.shape.slice(here.self().value()), heap.shape.granules_a_unit()) {
    here_.core().services.set(
        static_cast<std::uint32_t>(region::service::gc_collection),
        [](void* self, core::core&, const model::message& m, auto content) noexcept {
          static_cast<node_collections*>(self)->mail_.push_back(
              {m.from.value(), static_cast<gc::item>(m.a), m.c, {content.begin(), content.end()}});
        },
        this, "quire_gc_collect");
  }
  node_collections(const node_collections&) = delete;
  node_collections& operator=(const node_collections&) = delete;

  /// Under a lock that orders all uses of the heap.
  void use(actor& a) {
    const std::uint64_t root = heap_.root(a.node_number()), first = a.read(root);
    switch (a.draw.below(6)) {
      case 0:  // garbage, unless others refer to it
        if (first != 0) a.write(root, a.read(first));
        return;
      case 1:
      case 5: {  // of another node's
        const auto other = static_cast<unsigned>(a.draw.below(world_.nodes()));
        if (first != 0) a.write(first + heap_.references[1], a.read(heap_.root(other)));
        return;
      }
      case 2: {  // and writes there: a unit of a slice may be kept by any node
        std::uint64_t at = a.read(heap_.root(static_cast<unsigned>(a.draw.below(world_.nodes()))));
        for (unsigned i = 0; at != 0 && i < 8 && !world_.failed(); ++i) {
          (void)a.read(at + heap_.value_offset);
          if (a.draw.chance(30)) a.write(at + heap_.value_offset);
          at = a.read(at);
        }
        return;
      }
      default:
        return make(a, first, 1 + a.draw.below(6));
    }
  }

  /// All nodes' leaders call.
  void collect(actor& a) {
    using work = services::collection_call::work;
    const core::job_call together(a.here.core(), sync::meeting::gc_collect, "collect", static_cast<int>(a.number));
    state_.emplace(world_.nodes());
    services::collection_call steps;
    auto s = steps.begin();
    while (s.what != work::over && !world_.failed()) {
      a.rest();
      s = steps.on_done(does(a, s.what));
    }
    if (core::this_thread().closes_transactions) world_.fail("transactions are closed after a collection");
    if (s.why == QUIRE_OK && a.node_number() == 0) ++heap_.collections;
    state_.reset();
  }
  /// Nothing has come that nobody has looked at.
  [[nodiscard]] std::size_t kept() const noexcept { return mail_.size(); }

 private:
  struct parcel {
    unsigned from = 0;
    gc::item what{};
    std::uint64_t number = 0;
    std::vector<std::byte> content{};
  };
  /// Of one collection.
  struct collection {
    explicit collection(unsigned nodes) : leader(nodes) {}
    gc::memory content{};
    std::vector<std::vector<std::byte>> copies{};
    std::unique_ptr<gc::marker> marker{};
    gc::wave_member member{};
    gc::wave_leader leader;
    bool marked = false;
    gc::forwarding moved{};
    std::vector<gc::forwarding::move> arrivals{};
    std::vector<std::pair<std::uint64_t, std::uint64_t>> changes{};  ///< addresses, and what they have to be
  };

  // ---- A program

  void make(actor& a, std::uint64_t next, std::uint64_t length) {
    const auto given = memory_.allocate(gc::granules_of(heap_.element_bytes, length));
    if (!given) return;
    const std::uint64_t count = gc::granules_of(heap_.element_bytes, length);
    const auto used = heap_.granules();
    if (const auto any = used.lower_bound(given->at); any != used.end() && *any < given->at + count)
      world_.fail("memory of an object that can be reached is handed out");
    const std::uint64_t object = heap_.base + gc::object_offset(given->at);
    a.write(heap_.base + gc::header_offset(given->at), gc::object_header::of(1, length).word);
    for (std::uint64_t i = 0; i < length && !world_.failed(); ++i) {
      const std::uint64_t element = object + i * heap_.element_bytes;
      a.write(element, i == 0 ? next : 0);
      a.write(element + heap_.value_offset);
      a.write(element + heap_.references[1], 0);
    }
    a.write(heap_.root(a.node_number()), object);
  }

  // ---- A collection

  quire_status does(actor& a, services::collection_call::work what) {
    using work = services::collection_call::work;
    switch (what) {
      case work::close:
        heap_.planned[a.node_number()] = false;
        return together::agree(a, here_.core().transactions.close().code());
      case work::hold: {
        here_.expect_less(true);
        const auto why = here_.core().holding.hold();
        a.must(why, "the hold of a collection", QUIRE_BUSY);
        if (!why.ok()) here_.expect_less(false);
        return why.code();
      }
      case work::keep:
        return keep(a);
      case work::mark:
        return mark(a);
      case work::live:
        return find_live(a);
      case work::plan:
        return plan(a);
      case work::let_go:
        here_.core().holding.let_go();
        here_.expect_less(false);
        return QUIRE_OK;
      case work::move:
        return move(a);
      case work::open:
        if (core::this_thread().closes_transactions) here_.core().transactions.open();
        return QUIRE_OK;
      case work::sum_up:
        return together::agree(a, QUIRE_OK);
      default:
        return QUIRE_OK;
    }
  }

  [[nodiscard]] core::region_slot& slot() { return *here_.core().regions.slot(model::region_id{region_}); }

  /// Nodes tell each other what they keep.
  quire_status keep(actor& a) {
    state_->content.base = slot().memory->system_view();
    state_->marker = std::make_unique<gc::marker>(heap_.shape, heap_.base, here_.self().value(), heap_.types,
                                                  state_->content, static_cast<gc::outlet&>(*this));
    for (const core::kept_run& run : here_.core().holding.kept(&slot())) {
      for (std::uint64_t unit = run.first; !run.in_memory && unit < run.first + run.count; ++unit) {
        auto& copy = state_->copies.emplace_back(heap_.unit_bytes);
        if (here_.core().holding.read_paged_out(slot(), unit, copy) != 0) return QUIRE_SYSTEM;
        state_->content.away.emplace(unit, copy.data());
      }
      state_->marker->keep(run.first, run.count);
    }
    state_->marker->tell_kept();
    heap_.before = heap_.values();
    return settle(a);
  }
  quire_status mark(actor& a) {
    gc::marker& m = *state_->marker;
    for (std::uint64_t i = 0; i < gc::most_roots; ++i) {
      const std::uint64_t offset = i * sizeof(std::uint64_t);
      if (m.keeps(offset / heap_.unit_bytes)) m.add_root(m.word_at(offset));
    }
    while (!state_->marked && !world_.failed()) {
      const bool more = m.work(1 + a.draw.below(20));
      if (look_into_mail() || more) continue;
      if (const auto idle = state_->member.on_idle()) {
        gc::packer told;
        (void)told.add(idle->sent, idle->received);
        if (a.node_number() == 0) {
          on_answer(*idle);
        } else {
          tell(0, gc::item::answer, idle->wave, told.content());
        }
      }
      world_.sleep(world_.net().rng().below(3'000));
    }
    if (m.bad_count() != 0) world_.fail("a reference of the heap leads to no object");
    return together::agree(a, QUIRE_OK);
  }
  void on_answer(const gc::wave_member::answer& one) {
    const auto next = state_->leader.on_answer(one);
    if (next == gc::wave_leader::next::wait) return;
    const bool done = next == gc::wave_leader::next::done;
    for (unsigned node = 1; node < world_.nodes(); ++node)
      tell(node, done ? gc::item::marked : gc::item::wave, state_->leader.wave(), {});
    ++heap_.waves;
    if (done) {
      state_->marked = true;
    } else {
      state_->member.on_wave(state_->leader.wave());
    }
  }
  /// Of this node's slice exactly what can be reached is live.
  quire_status find_live(actor& a) {
    state_->marker->tell_live();
    if (const auto why = settle(a); why != QUIRE_OK || world_.failed()) return why;
    heap_.freed += memory_.adopt(state_->marker->live_of_slice());
    const auto reached = heap_.granules();
    const gc::granule_range own = memory_.slice();
    for (std::uint64_t granule = own.first; granule < own.end; ++granule) {
      if (memory_.is_used(granule) == reached.contains(granule)) continue;
      world_.fail(reached.contains(granule) ? "an object that can be reached is not live after a collection"
                                            : "garbage is live after a collection");
      break;
    }
    return together::agree(a, QUIRE_OK);
  }

  /// Some objects that this node keeps come to its slice.
  quire_status plan(actor& a) {
    gc::packer told;
    for (std::uint64_t unit = 0; unit < heap_.shape.units(); ++unit) {
      if (!state_->marker->keeps(unit)) continue;
      state_->marker->for_each_marked(unit, unit + 1, [&](std::uint64_t granule, gc::object_header header) {
        const std::uint64_t count = gc::granules_of(heap_.element_bytes, header.length());
        constexpr std::size_t most = 4;
        if (state_->arrivals.size() == most || !a.draw.chance(20)) return;
        if (const auto to = memory_.allocate(count)) state_->arrivals.push_back({granule, to->at, count});
      });
    }
    for (const auto& one : state_->arrivals) {
      state_->moved.add(one);
      (void)told.add(one.from, one.to, one.count);
    }
    for (unsigned node = 0; node < world_.nodes() && !told.empty(); ++node) {
      if (node != a.node_number()) send(node, gc::item::moves, told.content());
    }
    const auto why = settle(a);
    const auto look = [&](std::uint64_t offset) {
      const std::uint64_t value = state_->marker->word_at(offset), now = state_->moved.now(value, heap_.base);
      if (now != value) state_->changes.emplace_back(heap_.base + offset, now);
    };
    state_->marker->for_each_field(look);
    for (std::uint64_t i = 0; i < gc::most_roots; ++i) {
      const std::uint64_t offset = i * sizeof(std::uint64_t);
      if (state_->marker->keeps(offset / heap_.unit_bytes)) look(offset);
    }
    heap_.planned[a.node_number()] = true;
    return together::agree(a, why);
  }
  quire_status move(actor& a) {
    if (std::find(heap_.planned.begin(), heap_.planned.end(), false) != heap_.planned.end())
      world_.fail("objects move, and a node has not planned");
    if (heap_.transactions != 0) world_.fail("objects move while a transaction runs");
    for (const auto& one : state_->arrivals) copy(a, one);
    a.must_call(sync::operation::barrier_wait, 0);
    for (const auto& [address, value] : state_->changes) a.write(address, value);
    const gc::granule_range own = memory_.slice();
    for (const auto& one : state_->moved.moves()) {
      if (one.from >= own.first && one.from < own.end) memory_.give_back(one.from, one.count);
    }
    heap_.moved += state_->arrivals.size();
    a.must_call(sync::operation::barrier_wait, 0);
    if (!world_.failed() && heap_.values() != heap_.before) world_.fail("objects that move change");
    return together::agree(a, QUIRE_OK);
  }
  /// With its references as they will be.
  void copy(actor& a, const gc::forwarding::move& one) {
    const std::uint64_t from = heap_.base + gc::header_offset(one.from), to = heap_.base + gc::header_offset(one.to);
    const std::uint64_t header = a.read(from);
    a.write(to, header);
    for (std::uint64_t i = 0; i < gc::object_header{header}.length() && !world_.failed(); ++i) {
      for (std::uint64_t at = 0; at < heap_.element_bytes; at += sizeof(std::uint64_t)) {
        const std::uint64_t offset = gc::header_bytes + i * heap_.element_bytes + at, value = a.read(from + offset);
        a.write(to + offset, at == heap_.value_offset ? value : state_->moved.now(value, heap_.base));
      }
    }
  }

  // ---- Messages

  void send(unsigned node, gc::item what, std::span<const std::byte> content) override {
    state_->member.on_sent();
    tell(node, what, 0, content);
  }
  void tell(unsigned node, gc::item what, std::uint64_t number, std::span<const std::byte> content) {
    here_.core().as_driver([&] {
      here_.core().notify(node_id{static_cast<std::uint16_t>(node)},
                          static_cast<std::uint32_t>(region::service::gc_collection), static_cast<std::uint64_t>(what),
                          0, number, content);
    });
  }
  /// True if there was anything.
  bool look_into_mail() {
    std::vector<parcel> all;
    all.swap(mail_);
    for (const parcel& p : all) take(p);
    return !all.empty();
  }
  void take(const parcel& p) {
    gc::unpacker numbers(p.content);
    if (p.what == gc::item::wave) return state_->member.on_wave(p.number);
    if (p.what == gc::item::marked) return void(state_->marked = true);
    if (p.what == gc::item::answer) {
      gc::wave_member::answer one{p.number};
      if (numbers.take(one.sent, one.received)) on_answer(one);
      return;
    }
    state_->member.on_received();
    std::uint64_t from = 0, to = 0, count = 0;
    switch (p.what) {
      case gc::item::kept:
        return state_->marker->on_kept(p.from, p.content);
      case gc::item::references:
        return state_->marker->on_references(p.content);
      case gc::item::sections:
        return state_->marker->on_sections(p.content);
      case gc::item::live:
        return state_->marker->on_live(p.content);
      default:
        while (numbers.more() && numbers.take(from, to, count)) state_->moved.add({from, to, count});
    }
  }
  /// Until all that nodes have sent has come, and they have looked at it.
  quire_status settle(actor& a) {
    while (!world_.failed()) {
      (void)look_into_mail();
      std::array<std::int64_t, 2> sums = {static_cast<std::int64_t>(state_->member.sent()),
                                          static_cast<std::int64_t>(state_->member.received())};
      a.must(together::reduce(a, sums, QUIRE_SUM), "a sum");
      if (sums[0] == sums[1]) break;
    }
    return QUIRE_OK;
  }

  world& world_;
  node& here_;
  observed_heap& heap_;
  std::uint16_t region_;
  gc::slice_allocator memory_;
  std::vector<parcel> mail_{};
  std::optional<collection> state_{};
};

}  // namespace quire::whole
