// SPDX-License-Identifier: BSD-3-Clause
// Page locking (KOAN: acquire and release): a thread of this node wants units pinned, one after the other in ascending
// order, and may give up; then it is told which node has what it waited for. Calls come from application threads; the
// bodies of operations, and what they call, run on the driver's thread.
#include "core/pins.hpp"

#include <vector>

#include "base/log.hpp"
#include "base/time_limit.hpp"
#include "core/absent_units.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/fault_ranges.hpp"
#include "core/host.hpp"
#include "core/minipages/whole_pages.hpp"
#include "core/protocol_set.hpp"
#include "core/region_slot.hpp"
#include "core/services.hpp"
#include "core/store_status.hpp"
#include "core/unit_calls.hpp"
#include "core/unit_waiters.hpp"
#include "directory/pins.hpp"
#include "model/action.hpp"

namespace quire::core {

using model::message;

namespace {
/// Asked of a unit's manager: who has it? Then of that node: is it pinned? a = region, b = unit, c = the question.
constexpr std::uint32_t holder_service = service_table::most - 1;
enum class question : std::uint64_t { who_has_it, is_it_pinned };
constexpr std::int64_t patience_ms = 1000;  // with a node that is asked who has a unit: it may be about to die
}  // namespace

/// A thread that waits for a pin; it waits as a fault does.
struct pin_op : fault_op {
  using fault_op::fault_op;
  bool again = false;    ///< the machine counts the pin already
  bool counted = false;  ///< it does so now
  bool pinned = false;   ///< the thread has it
};

void pin_calls::open() noexcept {
  core_.services.set(
      holder_service,
      [](void*, core& e, const message& m, std::span<const std::byte>) noexcept { e.pins.answer_holder(m); }, nullptr);
}

void pin_calls::begin_pin(pin_op& o) noexcept {
  region_slot& r = *o.region;
  if (core_.ending.load(std::memory_order_relaxed)) return o.complete(QUIRE_NOT_STARTED);  // and what it had is dropped
  if (o.region.gone()) return o.complete(QUIRE_NOT_FOUND);
  if (r.change.frozen) return r.change.park(o);
  if (r.block != nullptr || !r.can().pins) return o.complete(QUIRE_UNSUPPORTED);
  if (core_.absent.must_wait(r, o.unit, 1)) return core_.absent.park(r, o.unit, o);
  core_.actions.clear();
  const auto outcome =
      o.again ? r.machine->pins().on_pin_again(o.unit, core_.actions) : r.machine->pins().on_pin(o.unit, core_.actions);
  if (outcome == model::fault_outcome::refused) return o.complete(QUIRE_LIMIT);
  o.counted = true;
  core_.take_step(r);
  if (outcome == model::fault_outcome::lost) {
    core_.actions.clear();
    r.machine->pins().on_pin_given_up(o.unit, core_.actions);
    core_.take_step(r);
    core_.perform_steps();
    return o.complete(QUIRE_LOST);
  }
  if (outcome != model::fault_outcome::local) {
    o.joined = outcome == model::fault_outcome::joined;
    core_.waiting.add(o);
    return core_.perform_steps();
  }
  core_.perform_steps();
  core_.protocols.acquire(core_.protocols.domain_of(r));
  o.pinned = true;
  o.complete();
}

/// Pins one unit, or gives up at `deadline_ns` (0: waits for ever).
base::status pin_calls::pin_unit(region_ref r, std::uint64_t unit, std::uint64_t deadline_ns) noexcept {
  for (bool again = false;; again = true) {
    pin_op o([](core& e, op& self) noexcept { e.pins.begin_pin(static_cast<pin_op&>(self)); });
    o.region = r;
    o.unit = unit;
    o.want = model::access::write;
    o.again = o.counted = again;
    const auto noted = note_memory("quire_pin()", *r, unit);
    const std::uint64_t now = core_.host.now();
    const std::uint64_t left_ns = deadline_ns > now ? deadline_ns - now : 0;
    const bool done = core_.run(o, deadline_ns == 0 ? -1 : static_cast<std::int64_t>((left_ns + 999'999) / 1'000'000));
    const bool refused =
        done && (o.result() == store_status::unreadable || o.result() == QUIRE_BEYOND);  // the pin is still counted
    if (done && !o.result().ok() && !refused) return o.result();
    if (done && o.pinned) return {};
    if (done && !refused && (deadline_ns == 0 || core_.host.now() < deadline_ns))
      continue;  // woken: the unit has come, or a copy of it
    struct cancel_op : op {
      using op::op;
      pin_op* late = nullptr;
    } cancel(
        [](core& e, op& self) noexcept {
          e.pins.give_pin_up(*static_cast<cancel_op&>(self).late);
          self.complete();
        },
        op::type::call);
    cancel.late = &o;
    (void)core_.run(cancel);  // `o` was queued before, so that it has been executed, and nobody knows it any more
    if (o.done() && !o.result().ok()) return o.result();
    return o.pinned ? base::status{} : base::status{QUIRE_TIMED_OUT};
  }
}

void pin_calls::give_pin_up(pin_op& o) noexcept {
  if (o.region.gone()) return;
  core_.waiting.remove(o);
  core_.absent.unpark(*o.region, o.unit, o);
  o.region->change.unpark(o);
  if (o.pinned || !o.counted || core_.ending.load(std::memory_order_relaxed)) return;
  core_.actions.clear();
  o.region->machine->pins().on_pin_given_up(o.unit, core_.actions);
  core_.take_step(*o.region);
  core_.perform_steps();
}

base::status pin_calls::acquire(std::uint64_t address, std::uint64_t bytes, std::int64_t timeout_ms,
                                int& holder) noexcept {
  holder = -1;
  const region_ref r = core_.regions.find(address);
  if (r == nullptr) return QUIRE_BAD_ADDRESS;
  if (bytes == 0) return {};
  if (!r->can().pins) return QUIRE_UNSUPPORTED;
  if (const auto why = core_.calls.refusal(*r, "quire_pin()"); !why.ok()) return why;
  const std::uint64_t deadline_ns =
      timeout_ms < 0 ? 0 : core_.now() + static_cast<std::uint64_t>(base::limit_ns(timeout_ms));
  const auto [first, end] = r->under(address, bytes);
  base::status why = end - first > core_.config.pin_limit ? base::status{QUIRE_LIMIT} : base::status{};
  std::uint64_t unit = first;
  // Only who has the first asks for the others in advance: of two nodes that want the same range, one waits quietly.
  for (; why.ok() && unit < end; ++unit) {
    if (unit == first + 1 && !r->can().pins_bring_content) {
      prefetch_range(core_, r->address_of(unit), r->bytes_of(unit, end - unit), model::access::write);
    }
    why = pin_unit(r, unit, deadline_ns);
  }
  if (why.ok()) return {};
  if (unit > first + 1) (void)unpin_units(r, first, unit - 1);  // the last was not pinned
  if (why.code() == QUIRE_LIMIT) {
    base::log(base::log_level::warning, "a node may have %lu units pinned at a time (QUIRE_PIN_LIMIT)",
              static_cast<unsigned long>(core_.config.pin_limit));
  }
  if (why.code() != QUIRE_TIMED_OUT) return why;
  const std::uint64_t missed = unit - 1;
  holder = find_holder(r, missed);
  const auto at = static_cast<unsigned long>(r->address_of(missed));
  if (holder >= 0) {
    base::log(base::log_level::info, "gave up to acquire the page at 0x%lx: node %d has it pinned", at, holder);
  } else {
    base::log(base::log_level::info, "gave up to acquire the page at 0x%lx: it is on its way, or was released just now",
              at);
  }
  return timeout_ms == 0 ? base::status{QUIRE_BUSY} : why;
}

base::status pin_calls::release(std::uint64_t address, std::uint64_t bytes) noexcept {
  const region_ref r = core_.regions.find(address);
  if (r == nullptr) return QUIRE_BAD_ADDRESS;
  if (bytes == 0) return {};
  const unit_range all = r->under(address, bytes);
  return unpin_units(r, all.first, all.end);
}

/// Ends a pin of each unit, or of none if one is not pinned.
base::status pin_calls::unpin_units(region_ref r, std::uint64_t first, std::uint64_t end) noexcept {
  struct range_op : op {
    using op::op;
    region_ref region{};
    std::uint64_t first = 0, end = 0;
  } o(
      [](core& e, op& self) noexcept {
        auto& range = static_cast<range_op&>(self);
        if (range.region.gone()) return self.complete(QUIRE_NOT_FOUND);
        model::machine& m = *range.region->machine;
        e.whole.end(*range.region, range.first, range.end);  // those pins are not the program's
        for (std::uint64_t unit = range.first; unit < range.end; ++unit) {
          if (!m.pins().is_pinned(unit)) return self.complete(QUIRE_NOT_OWNER);
        }
        for (std::uint64_t unit = range.first; unit < range.end; ++unit) {
          e.actions.clear();
          CHECK(m.pins().on_unpin(unit, e.actions));
          e.take_step(*range.region);
        }
        e.perform_steps();
        self.complete();
      },
      op::type::call);
  o.region = r;
  o.first = first;
  o.end = end;
  (void)core_.run(o);
  return o.result();
}

void pin_calls::drop_pins() noexcept {
  core_.whole.end();  // those of pages of which the kernel has just had all minipages
  std::vector<std::pair<region_slot*, std::uint64_t>> all;
  core_.pinned.for_each([&](const directory::pin& p) { all.emplace_back(core_.regions.slot(p.region), p.unit); });
  if (all.empty()) return;
  base::log(base::log_level::warning, "%lu units were still pinned at the end", static_cast<unsigned long>(all.size()));
  for (const auto& [region, unit] : all) {
    core_.actions.clear();
    region->machine->pins().on_pins_dropped(unit, core_.actions);
    core_.take_step(*region);
  }
  core_.perform_steps();
}

/// The node that has `unit` pinned; -1 if none has now.
int pin_calls::find_holder(region_ref r, std::uint64_t unit) noexcept {
  message m;
  const auto put = [&](question what) {
    m = {};
    m.a = r->about.id;
    m.b = unit;
    m.c = static_cast<std::uint64_t>(what);
  };
  // Under release consistency the home knows, and who was home knows where it went.
  int node = -1;
  model::node_id whom{};
  bool gone = false;
  core_.as_driver([&] {
    gone = r.gone();
    if (!gone) whom = r->machine->authority_of(unit);
  });
  if (gone) return -1;
  for (unsigned hops = 0; node < 0 && hops < core_.config.nodes; ++hops) {
    put(question::who_has_it);
    if (!core_.ask(whom, holder_service, m, {}, patience_ms).ok() || m.a >= core_.config.nodes) return -1;
    const auto named = static_cast<std::uint16_t>(m.a);
    if (m.b == 0) node = named;
    whom = model::node_id{named};
  }
  if (node < 0 || node == core_.config.self.value()) return -1;
  put(question::is_it_pinned);
  if (!core_.ask(model::node_id{static_cast<std::uint16_t>(node)}, holder_service, m, {}, patience_ms).ok() || m.a == 0)
    return -1;
  return node;
}

/// a = the node; b = 1: it knows better.
void pin_calls::answer_holder(const message& m) noexcept {
  region_slot* const r =
      m.a < region_map::max_regions ? core_.regions.slot(model::region_id{static_cast<std::uint16_t>(m.a)}) : nullptr;
  if (r == nullptr || m.b >= r->machine->units()) return core_.answer(m, QUIRE_BAD_ADDRESS);
  if (!r->can().pins) return core_.answer(m, QUIRE_UNSUPPORTED);
  model::machine& machine = *r->machine;
  if (m.c == static_cast<std::uint64_t>(question::is_it_pinned))
    return core_.answer(m, {}, machine.pins().is_pinned(m.b) ? 1 : 0);
  const model::node_id knows = machine.authority_of(m.b);
  if (knows != core_.config.self) return core_.answer(m, {}, knows.value(), 1);
  core_.answer(m, {}, machine.pins().holder_of(m.b).value());
}

}  // namespace quire::core
