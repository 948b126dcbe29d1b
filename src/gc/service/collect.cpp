// SPDX-License-Identifier: BSD-3-Clause
// quire_gc_collect(): all nodes mark what they keep, while the engine holds content still (core/hold.cpp).
//
//   agree     the same heap on all nodes
//   close .. sum_up   in the order of services/collection_call.hpp; mark: by the system view, so that no page moves;
//             references travel to who keeps the object; waves find the end (gc/ending.hpp). live: what is live in the
//             slice of another node is told to that node, whose allocator takes its part as its map of what is free.
//             plan: nodes tell what they wrote of units that went to and fro; who keeps such a unit finds the objects
//             that should move, and asks their writers for places. move: writers copy, then all change the references
//             that they keep, as any thread would; of a transactional heap each of the two is a transaction of every
//             node
//
// While a transactional heap is collected no transaction of other threads runs: those that want to begin wait until
// objects have moved. So no body has references of before, and what an attempt that was undone has made is garbage.
//
// Application thread of each node. What comes from other nodes waits in the heap's inbox (gc_heaps.cpp) until this
// thread looks.
#include "gc/service/collect.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "gc/service/collection.hpp"
#include "base/clock.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "core/hold.hpp"
#include "core/region_slot.hpp"
#include "core/thread_state.hpp"
#include "core/transactions.hpp"
#include "region/services.hpp"
#include "sharing/table.hpp"

namespace quire::api {

using gc::item;

namespace {
constexpr std::uint64_t objects_a_step = 8192;  ///< between two looks into the inbox
constexpr std::size_t parcels_a_step = 32;      ///< that leave together
}  // namespace

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
      (void)base::explain(QUIRE_BUSY, "quire_gc_collect(): units are pinned; release them first (quire_unpin())");
    return why.code();
  }
  held_ns_ = base::now_ns();
  return QUIRE_OK;
}

/// Nodes tell each other what they keep.
quire_status collection::keep() {
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

/// Who is done first would send units away that others still look at: all steps end with a meeting.
void collection::let_go() noexcept {
  core_.holding.let_go();
  pause_ns_ = base::now_ns() - held_ns_;
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

/// All nodes have closed when the sum is there: no body registers a type that some node has not loaded, nor waits for
/// node 0 while it holds content.
quire_status collection::close() {
  const quire_status closed = heap_.is_transactional() ? core_.transactions.close().code() : QUIRE_OK;
  std::int64_t values[] = {closed != QUIRE_OK ? 1 : 0, self_ == 0 ? gc_.types_of(heap_) : 0};
  if (const auto why = sum(values); why != QUIRE_OK) return why;
  type_count_ = static_cast<unsigned>(values[1]);
  if (values[0] == 0) return QUIRE_OK;
  return closed != QUIRE_OK ? closed : QUIRE_SYSTEM;
}

quire_status collection::does(services::collection_call::work what, quire_gc_statistics& result) {
  using work = services::collection_call::work;
  switch (what) {
    case work::close:
      return close();
    case work::types:
      return load_types(type_count_), QUIRE_OK;
    case work::hold:
      return hold();
    case work::keep:
      return keep();
    case work::mark:
      return mark();
    case work::live:
      return find_live();
    case work::plan:
      return plan_moves();
    case work::let_go:
      return let_go(), QUIRE_OK;
    case work::move:
      return move();
    case work::open:
      if (core::this_thread().closes_transactions) core_.transactions.open();
      return QUIRE_OK;
    default:
      return sum_up(result);
  }
}

quire_status collection::run(quire_gc_statistics& result) noexcept {
  begin_ns_ = base::now_ns();
  services::collection_call steps;
  auto next = steps.begin();
  while (next.what != services::collection_call::work::over) next = steps.on_done(does(next.what, result));
  return next.why;
}

quire_status collect(gc_service& gc, core::core& core, bool moves, gc_heap* heap, std::uint64_t handle,
                     quire_status good, quire_gc_statistics& result) {
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
  return collection(gc, core, moves, *heap).run(result);
}

}  // namespace quire::api
