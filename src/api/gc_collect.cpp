// SPDX-License-Identifier: BSD-3-Clause
// quire_gc_collect(): all nodes mark what they keep, while the engine holds content still (core/hold.cpp).
//
//   agree     the same heap on all nodes; descriptors of types are read
//   hold      as for a checkpoint: each unit has one node that keeps it
//   kept      nodes tell each other what they keep of other slices, so that references go to the right node at once
//   mark      by the system view, so that no page moves; references travel to who keeps the object; waves find the end
//             (gc/ending.hpp)
//   live      what is live in the slice of another node is told to that node, whose allocator takes its part as its map
//             of what is free
//   plan      nodes tell what they wrote of units that went to and fro; who keeps such a unit finds the objects that
//             should move, and asks their writers for
//  places
//   let go    threads may use memory again
//   move      writers copy, then all change the references that they keep; by the application view, as any thread
//             would. Of a transactional heap each of the two is a transaction of every node
//
// While a transactional heap is collected no transaction of other threads runs: those that want to begin wait until
// objects have moved. So no body has references of before, and what an attempt that was undone has made is garbage.
//
// Application thread of each node. What comes from other nodes waits in the heap's inbox (gc_heaps.cpp) until this
// thread looks.
#include "api/gc_collect.hpp"

#include <quire/transaction.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <optional>

#include "api/runtime.hpp"
#include "base/clock.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/hold.hpp"
#include "core/region_slot.hpp"
#include "core/thread_state.hpp"
#include "core/transactions.hpp"
#include "gc/ending.hpp"
#include "gc/marker.hpp"
#include "region/services.hpp"
#include "sharing/table.hpp"

namespace quire::api {

namespace {

using gc::item;

constexpr std::uint64_t objects_a_step = 8192;  ///< between two looks into the inbox
constexpr std::size_t parcels_a_step = 32;      ///< that leave together
constexpr std::uint64_t least_moves = 4;        ///< of a unit between nodes, before anything is concluded
constexpr std::size_t most_shared_units = 1024;

class collection final : gc::outlet {
 public:
  collection(runtime& r, gc_heap& heap)
      : gc_(*r.gc), core_(*r.core), heap_(heap), self_(core_.config.self.value()), leader_(core_.config.nodes) {}

  /// What private memory is short for later on ends the node: others wait for it.
  quire_status run(quire_gc_statistics& result) noexcept;

 private:
  struct word_change {
    std::uint64_t at = 0, value = 0;  ///< an address, and what it has to be
  };

  void load_types(unsigned count);
  quire_status hold();
  quire_status prepare();
  quire_status read_away(const core::kept_run& run);
  quire_status mark();
  quire_status find_live();
  quire_status plan_moves();
  quire_status move();
  template <class F>
  quire_status write(F f);
  void let_go() noexcept;

  void add_roots();
  void gather_evidence();
  void make_wishes();
  void place(const gc::live_object& what);
  void give_back_rest();
  void gather_changes();
  void copy(const gc::forwarding::move& one);
  void complain() const;
  quire_status sum_up(quire_gc_statistics& result);

  // Messages.
  void send(unsigned node, item what, std::span<const std::byte> content) override;
  void tell(unsigned node, item what, std::uint64_t number, std::span<const std::byte> content);
  void push();
  [[nodiscard]] bool look_into_inbox();
  void take(const gc_parcel& p);
  void on_answer(const gc::wave_member::answer& a);
  quire_status settle();
  quire_status sum(std::span<std::int64_t> values) {
    return quire_reduce_i64(values.data(), static_cast<std::uint32_t>(values.size()), QUIRE_SUM);
  }

  gc_service& gc_;
  core::core& core_;
  gc_heap& heap_;
  const unsigned self_;
  core::region_slot* region_ = nullptr;
  gc::type_table types_{};
  std::map<unsigned, decltype(gc::type_record::name)>
      names_{};  ///< nobody may look into the directory while content is held
  gc::memory content_{};
  std::vector<std::vector<std::byte>> copies_{};  ///< of units that are not in memory
  std::optional<gc::marker> marker_{};
  gc::wave_member member_{};
  gc::wave_leader leader_;
  bool marked_ = false, held_ = false;
  gc::evidence evidence_{};
  gc::run_grant span_{};  ///< where objects that move here go
  std::uint64_t span_at_ = 0;
  gc::forwarding moved_{};                        ///< of all nodes
  std::vector<gc::forwarding::move> arrivals_{};  ///< to this node's slice
  std::vector<word_change> changes_{};
  std::vector<gc_parcel> out_{};
  std::vector<unsigned> out_to_{};
  base::fault_vector<gc_parcel> mail_{};
  std::uint64_t messages_ = 0, freed_ = 0, begin_ns_ = 0, held_ns_ = 0, pause_ns_ = 0;
};

// ---- Messages

void collection::send(unsigned node, item what, std::span<const std::byte> content) {
  member_.on_sent();
  tell(node, what, 0, content);
}

void collection::tell(unsigned node, item what, std::uint64_t number, std::span<const std::byte> content) {
  gc_parcel& p = out_.emplace_back();
  out_to_.push_back(node);
  p.what = what;
  p.number = number;
  p.size = static_cast<std::uint32_t>(content.size());
  std::ranges::copy(content, p.bytes.begin());
  ++messages_;
  if (out_.size() >= parcels_a_step) push();
}

void collection::push() {
  if (out_.empty()) return;
  core_.as_driver([&] {
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const gc_parcel& p = out_[i];
      core_.notify(model::node_id{static_cast<std::uint16_t>(out_to_[i])},
                   static_cast<std::uint32_t>(region::service::gc_collection), static_cast<std::uint64_t>(p.what),
                   heap_.handle, p.number, p.content());
    }
  });
  out_.clear();
  out_to_.clear();
}

/// True if there was anything.
bool collection::look_into_inbox() {
  if (!heap_.has_mail.load(std::memory_order_acquire)) return false;
  {
    const std::scoped_lock lock(heap_.inbox_mutex);
    mail_.swap(heap_.inbox);
    heap_.has_mail.store(false, std::memory_order_relaxed);
  }
  for (const gc_parcel& p : mail_) take(p);
  const bool any = !mail_.empty();
  mail_.clear();
  return any;
}

void collection::take(const gc_parcel& p) {
  gc::unpacker numbers(p.content());
  switch (p.what) {
    case item::wave:
      return member_.on_wave(p.number);
    case item::marked:
      marked_ = true;
      return;
    case item::answer: {
      gc::wave_member::answer a{p.number};
      if (numbers.take(a.sent, a.received)) on_answer(a);
      return;
    }
    default:
      break;
  }
  member_.on_received();
  std::uint64_t first = 0, count = 0, to = 0;
  switch (p.what) {
    case item::kept:
      return marker_->on_kept(p.from, p.content());
    case item::references:
      return marker_->on_references(p.content());
    case item::sections:
      return marker_->on_sections(p.content());
    case item::live:
      return marker_->on_live(p.content());
    case item::evidence: {
      sharing::word_mask words;
      if (!numbers.take(first)) return;
      for (unsigned word = 0; numbers.more() && word < sharing::words; word += 32) {
        std::uint64_t bits = 0;
        if (!numbers.take(bits)) return;
        for (unsigned bit = 0; bit < 32; ++bit) words.set(word + bit, (bits >> bit & 1) != 0);
      }
      return evidence_.add(first, p.from, words);
    }
    case item::wishes:
      while (numbers.more() && numbers.take(first, count)) place({first, count});
      return;
    case item::moves:
      while (numbers.more() && numbers.take(first, to, count)) moved_.add({first, to, count});
      return;
    default:
      return;
  }
}

void collection::on_answer(const gc::wave_member::answer& a) {
  const auto next = leader_.on_answer(a);
  if (next == gc::wave_leader::next::wait) return;
  const bool done = next == gc::wave_leader::next::done;
  for (unsigned node = 1; node < core_.config.nodes; ++node)
    tell(node, done ? item::marked : item::wave, leader_.wave(), {});
  if (done)
    marked_ = true;
  else
    member_.on_wave(leader_.wave());
}

/// Until all that nodes have sent has come, and they have looked at it. For what is answered by nothing: it is all
/// there will be.
quire_status collection::settle() {
  for (;;) {
    push();
    (void)look_into_inbox();
    std::int64_t values[] = {static_cast<std::int64_t>(member_.sent()), static_cast<std::int64_t>(member_.received())};
    if (const auto why = sum(values); why != QUIRE_OK) return why;
    if (values[0] == values[1]) return QUIRE_OK;
  }
}

// ---- Hold and mark

void collection::load_types(unsigned count) {
  const gc_directory& directory = *heap_.directory.load();
  for (unsigned i = 0; i < gc::most_types; ++i) {
    const gc::type_record& t = directory.types[i];
    if (t.ready == 0 && i >= count && !heap_.restored) break;
    if (t.ready == 0) continue;
    types_.set(i + 1, t.bytes, t.references());
    names_.emplace(i + 1, t.name);
  }
}

quire_status collection::hold() {
  const auto why = core_.holding.hold();
  if (!why.ok()) {
    if (why.code() == QUIRE_INVALID)
      (void)base::explain(QUIRE_INVALID,
                          "quire_gc_collect(): a parallel block is under way; end it first (quire_block_end())");
    if (why.code() == QUIRE_UNSUPPORTED)
      (void)base::explain(
          QUIRE_UNSUPPORTED,
          "quire_gc_collect(): the content of a region cannot be held still: it is memory that the program had before "
          "(quire_region_adopt())");
    if (why.code() == QUIRE_BUSY)
      (void)base::explain(QUIRE_BUSY, "quire_gc_collect(): units are pinned; release them first (quire_release())");
    return why.code();
  }
  held_ = true;
  held_ns_ = base::now_ns();
  region_ = core_.regions.of_handle(heap_.handle);
  const quire_status prepared = region_ != nullptr ? prepare() : QUIRE_SYSTEM;
  std::int64_t both[] = {prepared == QUIRE_SYSTEM ? 1 : 0, prepared == QUIRE_NO_MEMORY ? 1 : 0};
  if (const auto summed = sum(both); summed != QUIRE_OK) return summed;
  if (both[0] != 0)
    return base::explain(QUIRE_SYSTEM, "quire_gc_collect(): pages that are not in memory cannot be read");
  if (both[1] != 0)
    return base::explain(QUIRE_NO_MEMORY,
                         "quire_gc_collect(): a node has no private memory for the bits of the heap, 1/64 of it");
  marker_->tell_kept();
  return settle();
}

/// What this node keeps. No marker: there is no memory for it.
quire_status collection::prepare() try {
  content_.base = region_->memory->system_view();
  marker_.emplace(heap_.shape, heap_.base, self_, types_, content_, static_cast<gc::outlet&>(*this));
  for (const core::kept_run& run : core_.holding.kept(region_)) {
    if (!run.in_memory && read_away(run) != QUIRE_OK) return QUIRE_SYSTEM;
    marker_->keep(run.first, run.count);
  }
  return QUIRE_OK;
} catch (const std::bad_alloc&) {
  marker_.reset();
  return QUIRE_NO_MEMORY;
}

quire_status collection::read_away(const core::kept_run& run) {
  for (std::uint64_t unit = run.first; unit < run.first + run.count; ++unit) {
    auto& copy = copies_.emplace_back(region_->bytes_of(unit));
    if (const int error = core_.holding.read_paged_out(*region_, unit, copy); error != 0) {
      base::log(base::log_level::error, "quire_gc_collect: cannot read the %s: %s", region_->store->name(),
                std::strerror(error));
      return QUIRE_SYSTEM;
    }
    content_.away.emplace(unit, copy.data());
  }
  return QUIRE_OK;
}

/// Each node has those in units that it keeps.
void collection::add_roots() {
  for (std::uint64_t i = 0; i < gc::most_roots; ++i) {
    const std::uint64_t offset = i * sizeof(std::uint64_t);
    if (marker_->keeps(offset / heap_.shape.unit_bytes)) marker_->add_root(marker_->word_at(offset));
  }
}

quire_status collection::mark() {
  add_roots();
  while (!marked_) {
    if (marker_->work(objects_a_step)) {
      (void)look_into_inbox();
      continue;
    }
    push();
    if (look_into_inbox()) continue;
    if (const auto a = member_.on_idle()) {
      gc::packer told;
      (void)told.add(a->sent, a->received);
      if (self_ == 0)
        on_answer(*a);
      else
        tell(0, item::answer, a->wave, told.content());
      push();
      continue;
    }
    gc_.wait_for_mail(heap_);
  }
  push();
  std::int64_t bad = static_cast<std::int64_t>(marker_->bad_count());
  if (bad != 0) complain();
  if (const auto why = sum({&bad, 1}); why != QUIRE_OK) return why;
  if (bad == 0) return QUIRE_OK;
  return base::explain(QUIRE_BAD_ADDRESS,
                       "quire_gc_collect(): %ld references lead to no object of the heap: to other memory, to the "
                       "inside of an object, or to one that was "
                       "given back; nothing has changed",
                       static_cast<long>(bad));
}

void collection::complain() const {
  const auto lg = [](std::uint64_t n) { return static_cast<unsigned long>(n); };
  for (const gc::bad_reference& b : marker_->bad()) {
    const auto found = names_.find(b.type);
    const char* const type = found != names_.end() ? found->second.data() : "";
    if (b.at != 0) {
      base::log(base::log_level::error,
                "quire_gc_collect: the reference at 0x%lx, in an object of type '%s', is 0x%lx, where no object of the "
                "heap begins",
                lg(heap_.base + b.at), type, lg(b.value));
    } else {
      base::log(base::log_level::error, "quire_gc_collect: something refers to 0x%lx, where no object of the heap is",
                lg(b.value));
    }
  }
}

/// Of this node's slice.
quire_status collection::find_live() {
  marker_->tell_live();
  if (const auto why = settle(); why != QUIRE_OK) return why;
  gc::bitmap live = marker_->live_of_slice();
  const std::scoped_lock lock(heap_.memory_mutex);
  freed_ = heap_.memory.adopt(std::move(live)) * gc::granule_bytes;
  heap_.collected.store(true);
  heap_.lends.store(~std::uint64_t{0});
  return QUIRE_OK;
}

void collection::let_go() noexcept {
  if (!held_) return;
  held_ = false;
  core_.holding.let_go();
  pause_ns_ = base::now_ns() - held_ns_;
}

// ---- Objects that move

void collection::gather_evidence() {
  {
    const std::scoped_lock lock(heap_.evidence_mutex);
    for (const auto& [unit, parts] : heap_.noted.units())
      for (const auto& part : parts) evidence_.add(unit, part.node, part.words);
    heap_.noted.clear();
  }
  if (core_.sharing == nullptr || !current()->options.flag(base::option::sharing))
    return;  // counted for the report alone, which changes nothing
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

// ---- All of it

quire_status collection::sum_up(quire_gc_statistics& result) {
  std::int64_t values[] = {static_cast<std::int64_t>(marker_->marked()),
                           static_cast<std::int64_t>(marker_->marked_granules() * gc::granule_bytes),
                           static_cast<std::int64_t>(freed_),
                           static_cast<std::int64_t>(arrivals_.size()),
                           static_cast<std::int64_t>(messages_),
                           self_ == 0 ? static_cast<std::int64_t>(leader_.wave()) : 0};
  if (const auto why = sum(values); why != QUIRE_OK) return why;
  auto pause = static_cast<std::int64_t>(pause_ns_);
  if (const auto why = quire_reduce_i64(&pause, 1, QUIRE_MAX); why != QUIRE_OK) return why;
  const auto number = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
  result.marked_objects = number(values[0]);
  result.marked_bytes = number(values[1]);
  result.freed_bytes = number(values[2]);
  result.moved_objects = number(values[3]);
  result.messages = number(values[4]);
  result.rounds = number(values[5]);
  result.pause_ns = number(pause);
  result.total_ns = base::now_ns() - begin_ns_;
  return QUIRE_OK;
}

quire_status collection::run(quire_gc_statistics& result) noexcept {
  begin_ns_ = base::now_ns();
  // All nodes have closed when the sum is there: no body registers a type that some node has not loaded, nor waits for
  // node 0 while it holds content.
  const quire_status closed = heap_.is_transactional() ? core_.transactions.close().code() : QUIRE_OK;
  std::int64_t values[] = {closed != QUIRE_OK ? 1 : 0, self_ == 0 ? gc_.types_of(heap_) : 0};
  quire_status why = sum(values);
  if (why == QUIRE_OK && values[0] != 0) why = closed != QUIRE_OK ? closed : QUIRE_SYSTEM;
  if (why == QUIRE_OK) load_types(static_cast<unsigned>(values[1]));
  if (why == QUIRE_OK) why = hold();
  if (why == QUIRE_OK) why = mark();
  if (why == QUIRE_OK) why = find_live();
  if (why == QUIRE_OK) why = plan_moves();
  // Who is done first would send units away that others still look at; all steps end with a meeting.
  let_go();
  if (why == QUIRE_OK) why = move();
  if (core::this_thread().closes_transactions) core_.transactions.open();
  if (why == QUIRE_OK) why = sum_up(result);
  return why;
}

}  // namespace

quire_status collect(runtime& r, gc_heap* heap, std::uint64_t handle, quire_status good, quire_gc_statistics& result) {
  const std::string said = base::detail();
  const auto here = static_cast<std::int64_t>(handle);
  std::int64_t values[] = {good != QUIRE_OK ? 1 : 0, here, ~here};
  if (const auto why = quire_reduce_i64(values, 3, QUIRE_MAX); why != QUIRE_OK) return why;
  if (good != QUIRE_OK) return base::explain(good, "%s", said.c_str());
  if (values[1] != ~values[2])
    return base::explain(QUIRE_INVALID, "quire_gc_collect(): the nodes give different heaps; here it is 0x%lx",
                         static_cast<unsigned long>(handle));
  if (values[0] != 0)
    return base::explain(QUIRE_INVALID,
                         "quire_gc_collect(): the same call of another node has arguments that are not valid");
  return collection(r, *heap).run(result);
}

}  // namespace quire::api
