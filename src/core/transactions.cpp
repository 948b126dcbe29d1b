// SPDX-License-Identifier: BSD-3-Clause
// Transactions of this node's threads. The way of one:
//
//   begin()     one word, by compare-and-swap; who finds it taken waits for the driver to hand it over
//   faults      fault.cpp, which asks holds_up() first: a doomed thread gets QUIRE_CONFLICT, and its handler leads it
//               back to the start
//   commit()    without writes the same word; else steps of transaction::domain, between which the thread waits for a
//               unit
//   on_unmapped() the performer has taken a page from the view, before the acknowledgement leaves: the transaction is
//   doomed
//
// Steps run on the driver's thread.
#include "core/transactions.hpp"

#include <utility>

#include "base/check.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/page_out.hpp"
#include "core/protocol_set.hpp"
#include "core/region_slot.hpp"
#include "core/thread_state.hpp"
#include "core/unit_waiters.hpp"

namespace quire::core {

using transaction::phase;
using transaction::progress;

struct turn_op : op {
  using op::op;
  bool fresh = false;  ///< the transaction has seen nothing yet
};

/// A thread that waits to begin, or to close.
struct begin_op : op {
  using op::op;
  bool closes = false;
  bool closed = false;  ///< by this thread
};

transactions::transactions(core& node)
    : core_(node), domain_(static_cast<transaction::domain&>(node.protocols.domain(transaction::id))) {}

void transactions::queue::push(op& o) noexcept {
  o.next = nullptr;
  (last != nullptr ? last->next : first) = &o;
  last = &o;
}
op* transactions::queue::take_all() noexcept {
  last = nullptr;
  return std::exchange(first, nullptr);
}
op* transactions::queue::pop() noexcept {
  op* const o = first;
  if (o == nullptr) return nullptr;
  first = o->next;
  if (first == nullptr) last = nullptr;
  return o;
}

void transactions::queue::remove(const op& o) noexcept {
  op* before = nullptr;
  for (op** link = &first; *link != nullptr; before = *link, link = &(*link)->next) {
    if (*link != &o) continue;
    *link = o.next;
    if (last == &o) last = before;
    return;
  }
}

template <class Event>
void transactions::feed(Event&& event) noexcept {
  core_.protocols.feed(domain_, event);
}

bool transactions::inside() noexcept { return this_thread().inside_transaction; }

void transactions::hide_afterwards(std::uint64_t address, std::uint64_t bytes) noexcept {
  const region_ref r = core_.regions.find(address);
  if (r == nullptr) return;
  const auto units = r->under(address, bytes);
  hides_ = {model::region_id{r->about.id}, units.first, units.count()};
}

// ---- Begin

base::status transactions::begin(bool turn) noexcept {
  if (!domain_.word().try_begin()) {
    begin_op o([](core& e, op& self) noexcept { e.transactions.begin_step(static_cast<begin_op&>(self)); },
               op::type::call);
    o.closed = this_thread().closes_transactions;
    const note_scope noted(this_thread().wants, waits::what::something, "quire_atomically(), to begin");
    (void)core_.run(o);
    if (!o.result().ok()) return o.result();
  }
  this_thread().inside_transaction = true;
  if (!turn) return {};
  turn_op o([](core& e, op& self) noexcept { e.transactions.turn_step(static_cast<turn_op&>(self)); }, op::type::call);
  o.fresh = true;
  const note_scope noted(this_thread().wants, waits::what::something, "quire_atomically(), for a turn");
  (void)core_.run(o);
  return o.result();
}

void transactions::begin_step(begin_op& o) noexcept {
  if (core_.ending.load(std::memory_order_relaxed)) return o.complete(QUIRE_NOT_STARTED);
  const bool is_taken = domain_.word().attract() != phase::idle;
  if (!o.closed && (is_taken || closed_ || begins_.first != nullptr)) return begins_.push(o);
  CHECK(!is_taken);
  closed_ = closed_ || o.closes;
  domain_.word().set(o.closes ? phase::idle : phase::running, closed_);
  o.complete();
}

/// Nobody runs.
void transactions::let_next_begin() noexcept {
  auto* const next = closed_ ? nullptr : static_cast<begin_op*>(begins_.pop());
  closed_ = closed_ || (next != nullptr && next->closes);
  domain_.word().set(next != nullptr && !next->closes ? phase::running : phase::idle,
                     closed_ || begins_.first != nullptr);
  if (next != nullptr) next->complete();
}

base::status transactions::close() noexcept {
  begin_op o([](core& e, op& self) noexcept { e.transactions.begin_step(static_cast<begin_op&>(self)); },
             op::type::call);
  o.closes = true;
  const note_scope noted(this_thread().wants, waits::what::something, "the transaction of another thread");
  (void)core_.run(o);
  this_thread().closes_transactions = o.result().ok();
  return o.result();
}

void transactions::open() noexcept {
  this_thread().closes_transactions = false;
  core_.as_driver([&] {
    closed_ = false;
    let_next_begin();
  });
}

base::status transactions::take_turn() noexcept {
  turn_op o([](core& e, op& self) noexcept { e.transactions.turn_step(static_cast<turn_op&>(self)); }, op::type::call);
  const note_scope noted(this_thread().wants, waits::what::something, "quire_transaction_irrevocable");
  (void)core_.run(o);
  return o.result();
}

void transactions::turn_step(turn_op& o) noexcept {
  if (domain_.has_turn()) return o.complete();
  turn_ = &o;
  feed([](transaction::domain& of) { of.ask_turn(); });
}

// ---- Faults

/// As users' tests have it: at every so many-th access another transaction seems to have come first.
bool transactions::forces_restart() noexcept {
  if (core_.config.restart_every == 0 || domain_.has_turn() || ++accesses_ % core_.config.restart_every != 0)
    return false;
  return domain_.on_unmapped();
}

bool transactions::holds_up(fault_op& o) noexcept {
  if (o.inside) {
    if (core_.paging.is_over())
      (void)domain_.word().attract();  // at its end memory is made free: while it runs all that is mapped stays
    if (!o.nested) (void)forces_restart();
    if (!is_doomed()) return false;
    // Its outer wait is not over, so that it cannot begin again from here.
    if (o.nested) {
      base::die(QUIRE_INVALID,
                "a signal handler of the program has accessed transactional memory at 0x%lx while its thread waits in "
                "a transaction, which must begin again",
                static_cast<unsigned long>(o.address));
    }
    o.complete(QUIRE_CONFLICT);
    return true;
  }
  if (o.want == model::access::write) {
    o.complete(QUIRE_NOT_OWNER);
    return true;
  }
  if (!is_doomed()) return false;
  outside_.push(o);  // until nothing of the doomed one is mapped
  return true;
}

void transactions::on_unmapped() noexcept {
  if (!domain_.on_unmapped()) return;
  if (paused_ != nullptr) std::exchange(paused_, nullptr)->complete();
  if (domain_.awaits_unit()) {
    const auto& next = domain_.awaited();
    core_.waiting.wake(*core_.regions.slot(next.region), next.unit, 1);
  }
}

void transactions::look() noexcept {
  feed([](transaction::domain& of) { of.look(); });
  if (turn_ != nullptr && domain_.has_turn()) {
    turn_op& o = *std::exchange(turn_, nullptr);
    if (is_doomed() && o.fresh) domain_.word().change(phase::running);
    o.complete(is_doomed() ? base::status{QUIRE_CONFLICT} : base::status{});
  }
  if (paused_ != nullptr && !domain_.is_paused()) std::exchange(paused_, nullptr)->complete();
  if (retries_.first == nullptr || !domain_.take_news()) return;
  for (op* o = retries_.take_all(); o != nullptr;) {
    op* const rest = o->next;
    o->complete();
    o = rest;
  }
}

// ---- End

base::status transactions::commit() noexcept {
  thread_state& here = this_thread();
  const bool by_itself =
      domain_.writes().empty() && !domain_.has_turn() && core_.config.restart_every == 0 && hides_.count == 0;
  if (by_itself && domain_.word().try_end()) {
    here.inside_transaction = false;
    return {};
  }
  for (;;) {
    fault_op o([](core& e, op& self) noexcept { e.transactions.commit_step(static_cast<fault_op&>(self)); });
    o.want = model::access::write;
    const note_scope noted(here.wants, waits::what::something, "quire_atomically(), to commit");
    (void)core_.run(o);
    if (!o.inside) continue;  // a unit has come, or a turn is over
    here.inside_transaction = false;
    return o.result();
  }
}

/// `o` is done with `inside` set when the commit is.
void transactions::commit_step(fault_op& o) noexcept {
  for (const auto& w : domain_.writes()) {
    region_slot& r = *core_.regions.slot(w.region);
    if (r.change.frozen && !domain_.is_committing()) return r.change.park(o);
  }
  if (!domain_.is_committing()) (void)forces_restart();
  auto how = progress::doomed;
  feed([&how](transaction::domain& of) { how = of.advance(); });
  switch (how) {
    case progress::waits:
      o.region = core_.regions.slot(domain_.awaited().region);
      o.unit = domain_.awaited().unit;
      core_.waiting.add(o);
      return;
    case progress::paused:
      paused_ = &o;
      return;
    case progress::doomed:
      feed([](transaction::domain& of) { of.undo(); });
      break;
    case progress::done:
      break;
  }
  finish();
  o.inside = true;
  o.complete(how == progress::done ? base::status{} : base::status{QUIRE_CONFLICT});
}

base::status transactions::abort() noexcept {
  op o([](core& e, op& self) noexcept { e.transactions.abort_step(self); }, op::type::call);
  (void)core_.run(o);
  this_thread().inside_transaction = false;
  return o.result();
}

void transactions::abort_step(op& o) noexcept {
  const bool was_doomed = is_doomed();
  feed([](transaction::domain& of) { of.undo(); });
  finish();
  o.complete(was_doomed ? base::status{QUIRE_CONFLICT} : base::status{});
}

void transactions::retry(std::int64_t timeout_ms) noexcept {
  op o([](core& e, op& self) noexcept { e.transactions.retry_step(self); }, op::type::call);
  const note_scope noted(this_thread().wants, waits::what::something, "quire_transaction_retry");
  if (!core_.run(o, timeout_ms)) core_.as_driver([&] { retries_.remove(o); });  // `o` was queued before
  this_thread().inside_transaction = false;
}

/// What it has seen is as it was, or it is doomed: what comes from now on is news.
void transactions::retry_step(op& o) noexcept {
  const bool was_doomed = is_doomed();
  feed([](transaction::domain& of) { of.undo(); });
  finish();
  if (was_doomed) return o.complete();
  (void)domain_.take_news();
  retries_.push(o);
}

namespace {
/// Nothing is in use for a moment: what there is too much of may go.
void make_room(core& e, transaction::domain& all) noexcept {
  if (!e.paging.is_over()) return;
  all.word().set(phase::idle, true);
  e.paging.make_room();
}
}  // namespace

/// The transaction is over: the next one that waits begins, and others may map again.
void transactions::finish() noexcept {
  feed([this](transaction::domain& of) {
    if (of.has_turn()) of.end_turn();
    if (hides_.count != 0) of.hide(hides_.region, hides_.first, hides_.count);
  });
  hides_ = {};
  make_room(core_, domain_);
  let_next_begin();
  for (op* o = outside_.take_all(); o != nullptr;) {
    op* const rest = o->next;
    o->execute(core_);
    o = rest;
  }
}

}  // namespace quire::core
