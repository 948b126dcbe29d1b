// SPDX-License-Identifier: BSD-3-Clause
#include "core/diffs.hpp"

#include <algorithm>
#include <cstring>

#include "base/copy_words.hpp"
#include "base/log.hpp"
#include "core/absent_units.hpp"
#include "core/configuration.hpp"
#include "core/content.hpp"
#include "core/core.hpp"
#include "core/fault.hpp"
#include "core/inbox.hpp"
#include "core/known_machines.hpp"
#include "core/node_effects.hpp"
#include "core/outbox.hpp"
#include "core/region_slot.hpp"
#include "model/action.hpp"
#include "protocol/release/node.hpp"
#include "races/recorder.hpp"
#include "transport/transport.hpp"

namespace quire::core {

using model::message;
using model::message_kind;
using model::node_id;

namespace {
struct diff_header {
  std::uint64_t unit : 48;
  std::uint64_t moves : 16;  ///< of the unit's home, as far as the sender knows
  std::uint32_t offset;
  std::uint32_t length;
};
// Beside the length: the bytes as they are, not their differences; the first entry of a unit in its interval.
constexpr std::uint32_t whole = 1u << 31, begins = 1u << 30;
constexpr std::uint64_t entry_bytes = 16 * 1024;        // of the content itself, in one entry
constexpr std::uint32_t most_encoded = os::page_bytes;  // of the content, in a diff
constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }
static_assert(sizeof(diff_header) == 16 && diff::worst_bytes(os::page_bytes) + 32 < diff_traffic::message_bytes);
}  // namespace

// ---- Out ----

void diff_traffic::add(region_slot& r, const model::action& a, std::uint64_t count) noexcept {
  for (std::uint64_t unit = a.unit; unit < a.unit + count; ++unit) {
    const auto unit_bytes = static_cast<std::uint32_t>(r.bytes_of(unit));
    if (release_of(r)->blocks().is_declared(unit)) {
      add_declared(r, a, unit);
      continue;
    }
    bool differs = false;
    for (std::uint32_t offset = 0; offset < unit_bytes; offset += most_encoded) {
      add_page(r, a, unit, offset, std::min(most_encoded, unit_bytes - offset), differs);
    }
    if (!differs) {
      ++count_.unchanged;
    } else if (!a.keep) {
      release_of(r)->rights().on_differs(unit);
    }
  }
}

bool diff_traffic::differs(const region_slot& r, std::uint64_t unit) noexcept {
  const std::span<const std::byte> content(r.system(unit), r.bytes_of(unit));
  count_.compared += (content.size() + os::page_bytes - 1) / os::page_bytes;
  return codec_.differs(content, r.twin(unit));
}

void diff_traffic::add_page(region_slot& r, const model::action& a, std::uint64_t unit, std::uint32_t offset,
                            std::uint32_t bytes, bool& differs) noexcept {
  const std::span<const std::byte> content(r.system(unit) + offset, bytes);
  std::byte* const twin = r.twin(unit) + offset;
  ++count_.compared;
  core_.faults.note_changes(r, unit, offset, bytes, content.data(), twin, !differs);
  if (core_.races != nullptr) core_.races->on_written(r.address_of(unit) + offset, r.address_of(unit), content, twin);
  const auto made = codec_.encode(content, twin, scratch_, diff::writers::several);
  if (made.what == diff::outcome::unchanged) return;
  CHECK(made.what != diff::outcome::no_room);
  const std::uint32_t first = differs ? 0 : begins;
  differs = true;
  ++count_.diffs;
  source mine{model::region_id{r.about.id}, core_.config.self};
  note_sent(mine, a);
  const std::uint16_t moves = release_of(r)->way_of(unit).moves;
  if (made.what == diff::outcome::whole) {
    base::copy_words(scratch_.data(), content.data(), bytes);  // threads may go on writing: the twin becomes this
    put(a.to, mine, {unit, moves, offset, bytes | whole | first, std::span<const std::byte>(scratch_).first(bytes)});
    if (a.keep) std::memcpy(twin, scratch_.data(), bytes);
    count_.bytes += bytes;
  } else {
    const auto data = std::span<const std::byte>(scratch_).first(made.bytes);
    put(a.to, mine, {unit, moves, offset, static_cast<std::uint32_t>(made.bytes) | first, data});
    if (a.keep) CHECK(codec_.apply(data, {twin, bytes}));
    count_.bytes += made.bytes;
  }
}

/// A diff of this node's own leaves.
void diff_traffic::note_sent(source& mine, const model::action& a) noexcept {
  mine.flags = a.m.flags & model::message_flag::unhurried;
  mine.group = core_.consistency.diff_sent(a.to, mine.flags != 0);
}

void diff_traffic::add_patch(region_slot& r, const model::action& a) noexcept {
  const auto bytes = static_cast<std::uint32_t>(r.bytes_of(a.unit));
  std::byte* const twin = r.twin(a.unit);
  use_content(core_.frames, r, a.unit, 1, content::read);
  count_.compared += (bytes + os::page_bytes - 1) / os::page_bytes;
  core_.faults.note_changes(r, a.unit, 0, bytes, r.system(a.unit), twin, true);
  const auto made = codec_.encode({r.system(a.unit), bytes}, twin, scratch_, diff::writers::several);
  CHECK(made.what != diff::outcome::no_room);
  const bool raw = made.what == diff::outcome::whole;
  if (raw)
    base::copy_words(scratch_.data(), r.system(a.unit), bytes);  // threads may go on writing: the twin becomes this
  const auto data = std::span<const std::byte>(scratch_).first(raw                                     ? bytes
                                                               : made.what == diff::outcome::unchanged ? 0
                                                                                                       : made.bytes);
  const entry e{a.unit, 0, 0, raw ? bytes | whole : static_cast<std::uint32_t>(data.size()), data, raw, bytes};
  source mine{model::region_id{r.about.id}, core_.config.self};
  mine.patch = true;
  mine.flags = a.m.flags;
  mine.interval = a.m.a;
  mine.since = a.m.b;
  a.targets.for_each([&](node_id to) {
    put(to, mine, e);
    ++count_.patches;
    ++r.change.sent;
  });
  CHECK(apply(e, twin));
}

void diff_traffic::merge(region_slot& r, std::uint64_t unit, std::span<const std::byte> content) noexcept {
  const auto made = codec_.encode(content, r.twin(unit), scratch_, diff::writers::several);
  if (made.what == diff::outcome::unchanged) return;
  const bool raw = made.what == diff::outcome::whole;
  const entry e{unit,          0, 0, 0, raw ? content : std::span<const std::byte>(scratch_).first(made.bytes), raw,
                content.size()};
  CHECK(made.what != diff::outcome::no_room && apply_here(r, e) && apply(e, r.twin(unit)));
}

/// In a parallel block: the bytes that this node has said it writes.
void diff_traffic::add_declared(region_slot& r, const model::action& a, std::uint64_t unit) noexcept {
  const std::uint64_t first = r.layout.offset_of(unit);
  source mine{model::region_id{r.about.id}, core_.config.self};
  std::uint32_t flags = whole | begins;
  r.block->declared.for_each_in(first, first + r.bytes_of(unit), [&](std::uint64_t from, std::uint64_t end) {
    for (std::uint64_t at = from; at < end; at += entry_bytes) {
      const auto bytes = static_cast<std::uint32_t>(std::min(end - at, entry_bytes));
      const auto offset = static_cast<std::uint32_t>(at - first);
      note_sent(mine, a);
      core_.faults.note_changes(r, unit, offset, bytes, nullptr, nullptr, (flags & begins) != 0);
      if (core_.races != nullptr) core_.races->on_other(r.address_of(unit) + offset, bytes);
      put(a.to, mine,
          {unit, release_of(r)->way_of(unit).moves, offset, bytes | flags, {r.system(unit) + offset, bytes}});
      flags = whole;
      ++count_.diffs;
      count_.bytes += bytes;
    }
  });
}

void diff_traffic::put(node_id to, const source& s, const entry& e) noexcept {
  departure& d = room_for(to, s, sizeof(diff_header) + padded(e.data.size()));
  const diff_header head{e.unit, e.moves, e.offset, e.length};
  std::memcpy(d.payload.data() + d.bytes, &head, sizeof head);
  base::copy_words(d.payload.data() + d.bytes + sizeof head, e.data.data(), e.data.size());
  d.bytes += sizeof head + padded(e.data.size());
  ++d.left;
}

diff_traffic::departure& diff_traffic::room_for(node_id to, const source& s, std::size_t bytes) noexcept {
  std::uint32_t& open = open_[to.value()];
  if (open != nobody) {
    departure& d = *departures_[open];
    const bool same = d.m.region == s.region && d.m.requester == s.writer && d.forwards == s.forwards &&
                      d.origin == s.origin && d.origin_token == s.origin_token && d.group == s.group &&
                      d.answered != s.patch && d.m.flags == s.flags && d.m.a == s.interval && d.m.b == s.since;
    if (same && message_bytes - d.bytes >= bytes) return d;
    depart(open);
  } else {
    gathering_.push_back(to.value());
  }
  std::uint32_t free = 0;
  while (free < departures_.size() && departures_[free]->used) ++free;
  if (free == departures_.size()) departures_.push_back(base::make_fault<departure>());
  departure& d = *departures_[free];
  d.used = true;
  d.to = to;
  d.m = {};
  d.m.kind = s.patch ? message_kind::patch : message_kind::diffs;
  d.answered = !s.patch;
  d.m.flags = s.flags;
  d.m.a = s.interval;
  d.m.b = s.since;
  d.m.region = s.region;
  d.m.from = core_.config.self;
  d.m.requester = s.writer;
  d.m.token = free;
  d.left = 0;
  d.bytes = 0;
  d.forwards = s.forwards;
  d.origin = s.origin;
  d.origin_token = s.origin_token;
  d.group = s.group;
  open = free;
  return d;
}

void diff_traffic::depart(std::uint32_t index) noexcept {
  departure& d = *departures_[index];
  d.m.payload_bytes = static_cast<std::uint32_t>(d.bytes);
  d.m.acks = d.left;
  if (!d.answered) {
    d.m.c = ++patch_messages_;
    d.left = 0;
    ++unanswered_;
  }
  // To itself: the home came here after the diff was made for another. It stands where it is until it is acknowledged.
  const std::span<const std::byte> entries(d.payload.data(), d.bytes);
  if (d.to == core_.config.self) return on_diffs(d.m, entries);
  core_.out.send(d.to, d.m, entries);
}

void diff_traffic::leave() noexcept {
  while (!gathering_.empty()) {
    const std::uint32_t to = gathering_.back();
    gathering_.pop_back();
    const std::uint32_t index = open_[to];
    open_[to] = nobody;
    depart(index);
  }
}

/// What was sent without an answer to come, and is not read any more.
void diff_traffic::free_sent() noexcept {
  if (core_.wire.sends_pending()) return;
  for (const auto& d : departures_) {
    if (d->used && !d->answered && d->left == 0) d->used = false;
  }
  unanswered_ = 0;
}

// ---- In ----

void diff_traffic::deliver(const message& m) noexcept {
  arrivals_.with(m, [&](std::span<const std::byte> entries) {
    settle(m, entries);
    if (core_.config.survives && is_put_off(m, entries)) return;
    m.kind == message_kind::patch ? on_patches(m, entries) : on_diffs(m, entries);
  });
}

/// What waits for the units of a message comes first: some of it may be from the same node.
void diff_traffic::settle(const message& m, std::span<const std::byte> entries) noexcept {
  region_slot* const r = core_.regions.slot(m.region);
  for (entry e; r != nullptr && !core_.absent.parked().empty() && take_entry(*r, m, entries, e);)
    core_.absent.settle(*r, e.unit, 1);
}

/// The next entry. False if there is none.
bool diff_traffic::take_entry(const region_slot& r, const message& m, std::span<const std::byte>& from,
                              entry& to) noexcept {
  if (from.empty()) return false;
  if (from.size() < sizeof(diff_header)) refuse(m);
  diff_header head;
  std::memcpy(&head, from.data(), sizeof head);
  from = from.subspan(sizeof head);
  const std::size_t length = head.length & ~(whole | begins);
  to.raw = (head.length & whole) != 0;
  const std::uint64_t rest =
      head.unit < r.machine->units() && head.offset < r.bytes_of(head.unit) ? r.bytes_of(head.unit) - head.offset : 0;
  to.reach = to.raw ? length : std::min<std::uint64_t>(most_encoded, rest);
  const bool fits =
      rest != 0 && to.reach <= rest && padded(length) <= from.size() && (to.raw || head.offset % most_encoded == 0);
  if (!fits) refuse(m);
  to.unit = head.unit;
  to.moves = head.moves;
  to.offset = head.offset;
  to.length = head.length;
  to.data = from.first(length);
  from = from.subspan(padded(length));
  return true;
}

/// Into a twin, or a unit. False if it is no diff.
bool diff_traffic::apply(const entry& e, std::byte* unit, diff::beside threads) const noexcept {
  if (e.data.empty()) return true;
  const std::span<std::byte> content(unit + e.offset, e.reach);
  if (!e.raw) return codec_.apply(e.data, content, threads);
  base::copy_words(content.data(), e.data.data(), e.data.size());
  return true;
}

/// Into the content of this node, which its threads may be writing meanwhile.
bool diff_traffic::apply_here(region_slot& r, const entry& e) const noexcept {
  const bool writable = r.machine->mapped(e.unit) == model::access::write;
  return apply(e, r.system(e.unit), writable ? diff::beside::writers : diff::beside::none);
}

void diff_traffic::refuse(const message& m) noexcept { core_.in.refuse(m, "its diffs are none"); }

void diff_traffic::on_diffs(const message& m, std::span<const std::byte> entries) noexcept {
  region_slot* const r = core_.regions.slot(m.region);
  release::machine* const machine = r != nullptr ? release_of(*r) : nullptr;
  if (machine == nullptr) refuse(m);
  source theirs{m.region, m.requester, true, m.from, m.token};
  std::uint32_t done = 0;
  for (entry e; take_entry(*r, m, entries, e);) {
    core_.actions.clear();
    machine->homes().on_diff_ahead(e.unit, core_.actions);
    if (core_.actions.size() != 0) {
      core_.take_step(*r);
      core_.perform_steps();
    }
    switch (machine->homes().on_diff(e.unit, m.requester, e.moves, (e.length & begins) != 0)) {
      case release::diff_outcome::apply:
        use_content(core_.frames, *r, e.unit, 1, content::changed);
        if (!apply_here(*r, e) || (machine->unit(e.unit).twin != 0 && !apply(e, r->twin(e.unit)))) refuse(m);
        ++count_.applied;
        ++done;
        break;
      case release::diff_outcome::collect: {
        use_content(core_.frames, *r, e.unit, 1, content::read);
        const std::byte* const base = machine->blocks().has_base(e.unit) ? r->twin(e.unit) : r->system(e.unit);
        if (!r->block->merge.add(e.unit, e.offset, m.requester, e.data, e.raw, base)) refuse(m);
        ++count_.applied;
        ++done;
        break;
      }
      case release::diff_outcome::own:
        ++done;
        break;
      case release::diff_outcome::forward: {
        ++count_.forwarded;
        const auto way = machine->way_of(e.unit);
        e.moves = way.moves;
        theirs.group = core_.consistency.arrivals().diff_passed(m.from);
        put(way.to, theirs, e);
        break;
      }
    }
  }
  send_all();
  if (done == 0) return;
  message ack;
  ack.kind = message_kind::diffs_ack;
  ack.from = ack.requester = core_.config.self;
  ack.token = m.token;
  ack.acks = done;
  ack.flags = m.flags & model::message_flag::unhurried;
  core_.out.send(m.from, ack, {});
  core_.effects.feed(core_.consistency, [](release::node& of) { of.on_applied(); });
}

/// Threads may write the units meanwhile, other bytes of them.
void diff_traffic::on_patches(const message& m, std::span<const std::byte> entries) noexcept {
  region_slot* const r = core_.regions.slot(m.region);
  if (r == nullptr) refuse(m);
  release::machine* const machine = release_of(*r);  // null: it has changed since
  r->change.received += std::min<std::uint64_t>(m.acks, entries.size() / sizeof(diff_header));
  for (entry e; take_entry(*r, m, entries, e);) {
    if (machine == nullptr) continue;
    message one = m;
    one.unit = e.unit;
    core_.actions.clear();
    const bool applies = machine->updates().on_patch(one, core_.actions);
    if (core_.actions.size() != 0) core_.take_step(*r);
    if (!applies) continue;
    use_content(core_.frames, *r, e.unit, 1, content::changed);
    const bool has_twin = machine->unit(e.unit).twin != 0;
    if (!apply_here(*r, e) || (has_twin && !apply(e, r->twin(e.unit)))) refuse(m);
  }
  core_.perform_steps();
}

void diff_traffic::on_ack(const message& m) noexcept {
  if (m.token >= departures_.size()) return;
  departure& d = *departures_[m.token];
  if (!d.used || !d.answered || d.to != m.from || m.acks > d.left) return;
  d.left -= m.acks;
  const bool forwards = d.forwards;
  const node_id origin = d.origin;
  const std::uint64_t token = d.origin_token;
  if (d.left == 0) d.used = false;
  const unsigned group = d.group;
  if (!forwards)
    return core_.effects.feed(core_.consistency, [&](release::node& of) { of.on_acknowledged(m.from, m.acks, group); });
  message ack = m;
  ack.flags = 0;
  ack.from = ack.requester = core_.config.self;
  ack.token = token;
  core_.out.send(origin, ack, {});
  core_.effects.feed(core_.consistency, [&](release::node& of) { of.arrivals().on_passed(origin, m.acks, group); });
}

}  // namespace quire::core
