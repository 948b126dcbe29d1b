// SPDX-License-Identifier: BSD-3-Clause
// Writing back. A call goes to all nodes that manage units of its range. Each looks at its units in order, has the machine flush those that are dirty,
// and answers when the store has all of them. Copies that are on their way to stores take a few megabytes at most: a call that has more goes on as others end.
#include "core/stored_units.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "core/core.hpp"

namespace quire::core {

using model::flush_outcome;
using model::message;
using model::message_kind;
using model::node_id;

namespace {
constexpr std::uint64_t most_staged = 8u << 20;       ///< bytes of copies on their way
constexpr std::size_t most_waits = most_staged >> 12;  ///< units that calls wait for
constexpr std::uint64_t most_looks = 1u << 14;        ///< at units, in one turn
constexpr std::uint64_t between_lines_ns = 1'000'000'000;
}  // namespace

// ---- Application threads

void stored_units::offer(std::uint16_t number, std::unique_ptr<store::store> which) {
  const std::lock_guard guard(offers_mutex_);
  offers_[number] = std::move(which);
}

std::unique_ptr<store::store> stored_units::take(std::uint16_t number) {
  const std::lock_guard guard(offers_mutex_);
  const auto found = offers_.find(number);
  if (number == 0 || found == offers_.end()) return nullptr;
  auto which = std::move(found->second);
  offers_.erase(found);
  return which;
}

base::status stored_units::write_back(std::uint64_t address, std::uint64_t bytes) noexcept {
  call_op o([](core& e, op& self) noexcept {
    auto& call = static_cast<call_op&>(self);
    if (call.region.gone()) return self.complete(QUIRE_NOT_FOUND);
    region_slot& r = *call.region;
    if (r.change.frozen) return changer::park(r, self);
    for (std::uint64_t unit = call.first; e.pinned.size() != 0 && unit < call.first + call.units; ++unit) {
      if (r.machine->pins().is_pinned(unit)) return self.complete(QUIRE_BUSY);  // nobody else gets it to write it back
    }
    const bool at_one = r.about.placement == QUIRE_PLACE_NODE;
    const unsigned first = at_one ? r.about.home : 0, end = at_one ? first + 1u : e.config.nodes;
    ++r.change.calls;
    call.replies = end - first;
    message m;
    m.kind = message_kind::write_back;
    m.region = model::region_id{r.about.id};
    m.from = m.requester = e.config.self;
    m.token = call.token = e.tokens.add(self);
    m.unit = call.first;
    m.a = call.units;
    for (unsigned n = first; n < end; ++n) e.out.send(node_id{static_cast<std::uint16_t>(n)}, m, {});
  });
  o.region = core_.regions.find(address);
  if (o.region == nullptr) return QUIRE_BAD_ADDRESS;
  if (o.region->about.backing == 0) return QUIRE_UNSUPPORTED;
  if (bytes == 0) return {};
  const unit_range range = o.region->under(address, std::min(bytes, o.region->bytes_from(address)));
  o.first = range.first;
  o.units = range.count();
  const auto noted = core_.faults.note_memory("writing back", *o.region, o.first);
  (void)core_.run(o);
  return o.result();
}

base::status stored_units::drop(std::uint64_t, std::uint64_t) noexcept { return QUIRE_UNSUPPORTED; }
base::status stored_units::cut(std::uint64_t) noexcept { return QUIRE_UNSUPPORTED; }
base::status stored_units::grow(std::uint64_t) noexcept { return QUIRE_UNSUPPORTED; }

// ---- At the nodes that manage units

void stored_units::on_call(const message& m) noexcept {
  region_slot* const r = core_.regions.slot(m.region);
  const std::uint64_t units = r != nullptr ? r->machine->units() : 0;
  if (r == nullptr || r->about.backing == 0 || m.unit > units || m.a > units - m.unit) {
    base::die(QUIRE_SYSTEM, "node %u asked this node to write back units that it does not have", static_cast<unsigned>(m.from.value()));
  }
  const auto used = r->machine->used();  // others are as their store has them
  call& c = *calls_.emplace_back(base::make_fault<call>());
  c.m = m;
  c.number = ++last_number_;
  c.region = r;
  c.next = std::max(m.unit, used.first());
  c.end = std::max(c.next, std::min(m.unit + m.a, used.end()));
  advance(c);
  end_done();
}

/// The machine has units flushed that are dirty; for others that are on their way the call waits as well.
void stored_units::advance(call& c) noexcept {
  region_slot& r = *c.region;
  for (std::uint64_t looks = 0; c.next < c.end && looks < most_looks && waits_.size() < most_waits; ++looks) {
    const std::uint64_t unit = c.next++;
    if (r.machine->authority_of(unit) != core_.config.self) continue;
    core_.actions.clear();
    const flush_outcome outcome = r.machine->stored().on_flush(unit, core_.actions);
    if (outcome == flush_outcome::clean) continue;
    waits_.push_back({&c, unit, outcome == flush_outcome::next});
    ++c.waiting;
    core_.performer.take(r, core_.actions);
  }
  core_.performer.flush();
}

void stored_units::begin_flush(region_slot& r, std::uint64_t unit) noexcept {
  if (core_.frames.staged() >= most_staged) return;
  core_.actions.clear();
  (void)r.machine->stored().on_flush(unit, core_.actions);
  core_.performer.take(r, core_.actions);
}

/// Who waited for the next flush waits for this one.
void stored_units::flush(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  for (wait& w : waits_) {
    if (w.by->region == &r && w.unit - first < count) w.next = false;
  }
  core_.frames.use(r, first, count, content::read);
  core_.frames.begin_staged_flush(r, r.layout.frame_of(first), count);
}

void stored_units::on_flushed(const frame_io& done) noexcept {
  if (done.what == store::io::kind::sync) return on_synced(done);
  region_slot& r = *done.region;
  const std::uint64_t first = r.layout.units_of(done.first).first;
  const bool well = done.error == 0;
  (well ? count_.written : count_.failed) += done.count;
  if (!well) note_unwritten(r, done.error);
  std::erase_if(waits_, [&](const wait& w) {
    const bool over = !w.next && w.by->region == &r && w.unit - first < done.count;
    if (!over) return false;
    --w.by->waiting;
    if (!well) w.by->error = done.error;
    return true;
  });
  for (std::uint64_t unit = first; unit < first + done.count; ++unit) {
    core_.actions.clear();
    r.machine->stored().on_flushed(unit, well, core_.actions);
    core_.performer.take(r, core_.actions);
  }
  core_.performer.flush();
  for (const auto& c : calls_) {
    if (c->next < c->end) advance(*c);
  }
  end_done();
}

void stored_units::note_unwritten(const region_slot& r, int error) noexcept {
  failures& f = failures_of(r);
  ++f.count;
  f.last = error;
  note_failure(r, true, error);
}

void stored_units::on_synced(const frame_io& done) noexcept {
  if (done.error != 0) note_unwritten(*done.region, done.error);
  for (const auto& c : calls_) c->synced |= c->number == done.first;
  end_done();
}

void stored_units::end_done() noexcept {
  std::erase_if(calls_, [this](const base::fault_ptr<call>& c) { return end_if_done(*c); });
}

/// A failure of which this caller's node has not been told counts, whoever's flush it was.
bool stored_units::end_if_done(call& c) noexcept {
  if (c.next < c.end || c.waiting != 0) return false;
  if (!std::exchange(c.syncs, true)) core_.frames.begin_sync(*c.region, c.number);
  if (!c.synced) return false;
  failures& f = failures_of(*c.region);
  f.told.resize(core_.config.nodes);
  std::uint64_t& told = f.told[c.m.requester.value()];
  if (c.error == 0 && told != f.count) c.error = f.last;
  told = f.count;
  message r;
  r.kind = message_kind::written_back;
  r.region = c.m.region;
  r.from = core_.config.self;
  r.requester = c.m.requester;
  r.unit = c.m.unit;
  r.token = c.m.token;
  r.operation = static_cast<std::uint32_t>(c.error);
  core_.out.send(c.m.requester, r, {});
  return true;
}

bool stored_units::look() noexcept {
  if (calls_.empty()) return false;
  bool any = false;
  for (const auto& c : calls_) {
    if (c->next == c->end || waits_.size() >= most_waits) continue;
    advance(*c);
    any = true;
  }
  end_done();
  if (std::any_of(calls_.begin(), calls_.end(), [](const auto& c) { return c->next < c->end; }) && waits_.size() < most_waits) core_.host.call();
  return any;
}

stored_units::failures& stored_units::failures_of(const region_slot& r) noexcept {
  const auto found = std::find_if(failures_.begin(), failures_.end(), [&](const failures& f) { return f.region == &r; });
  if (found != failures_.end()) return *found;
  failures_.push_back({});
  failures_.back().region = &r;
  return failures_.back();
}

void stored_units::note_failure(const region_slot& r, bool writes, int error) noexcept {
  if (core_.now() < quiet_until_ns_) return;
  quiet_until_ns_ = core_.now() + between_lines_ns;
  const char* const then = writes ? "what was to be written stays in memory, and is written when it is asked for again"
                                  : "threads that need it get SIGBUS, and calls an error";
  base::log(base::log_level::warning, "cannot %s region %u %s the %s in %s: %s; %s", writes ? "write" : "read", unsigned{r.about.id}, writes ? "to" : "from",
            r.backing->name(), r.backing->where(), std::strerror(error), then);
}

// ---- Where the call was made

void stored_units::on_answer(const message& m) noexcept {
  op* const o = core_.tokens.find(m.token);
  if (o == nullptr || o->what() != op::type::call) return;
  auto& call = static_cast<call_op&>(*o);
  if (m.operation != 0) call.why = unwritable;
  if (--call.replies != 0) return;
  --call.region->change.calls;
  (void)core_.tokens.take(m.token);
  call.complete(call.why);
}

bool stored_units::is_quiet(const region_slot& r) const noexcept {
  return std::none_of(calls_.begin(), calls_.end(), [&](const auto& c) { return c->region == &r; });
}

void stored_units::forget(const region_slot& r) noexcept {
  std::erase_if(waits_, [&](const wait& w) { return w.by->region == &r; });
  std::erase_if(calls_, [&](const auto& c) { return c->region == &r; });
  std::erase_if(failures_, [&](const failures& f) { return f.region == &r; });
}

}  // namespace quire::core
