// SPDX-License-Identifier: BSD-3-Clause
// Making a node, what its driver does, round by round, and what must be over before it may end. Driver's thread, unless
// said otherwise.
#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "bootstrap/bootstrap.hpp"
#include "core/absent_units.hpp"
#include "core/block_calls.hpp"
#include "core/call_table.hpp"
#include "core/change.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/counters.hpp"
#include "core/diffs.hpp"
#include "core/event_key.hpp"
#include "core/fault.hpp"
#include "core/frames.hpp"
#include "core/guards.hpp"
#include "core/held_units.hpp"
#include "core/hold.hpp"
#include "core/host.hpp"
#include "core/hot_units.hpp"
#include "core/inbox.hpp"
#include "core/job_call_state.hpp"
#include "core/known_machines.hpp"
#include "core/message_table.hpp"
#include "core/minipages/whole_pages.hpp"
#include "core/node_effects.hpp"
#include "core/outbox.hpp"
#include "core/page_out.hpp"
#include "core/performer.hpp"
#include "core/plans/planner.hpp"
#include "core/pins.hpp"
#include "core/protocol_set.hpp"
#include "core/region_builder.hpp"
#include "core/region_remover.hpp"
#include "core/region_slot.hpp"
#include "core/replicas.hpp"
#include "core/services.hpp"
#include "core/spread.hpp"
#include "core/stored_units.hpp"
#include "core/survival.hpp"
#include "core/sync_calls.hpp"
#include "core/thread_state.hpp"
#include "core/transactions.hpp"
#include "core/unit_calls.hpp"
#include "core/unit_waiters.hpp"
#include "core/watching.hpp"
#include "directory/pins.hpp"
#include "model/action.hpp"
#include "protocol/release/node.hpp"
#include "protocol/sequential/domain.hpp"
#include "races/recorder.hpp"
#include "record/events.hpp"
#include "record/recorder.hpp"
#include "sharing/table.hpp"
#include "transport/transport.hpp"

namespace quire::core {
namespace {

/// What protocols hear of the node. `dead` is looked at where nodes may die.
protocol::job job_of(const configuration& c, directory::pin_table& pins, const model::membership& dead) {
  protocol::job j;
  j.self = c.self;
  j.nodes = c.nodes;
  j.pins = &pins;
  j.members = c.survives ? &dead : nullptr;
  j.replicas = c.replicas;
  j.pages_out = c.pages_out;
  j.learn_writes = c.learn_writes;
  j.move_homes = c.move_homes;
  j.updates = c.updates;
  j.traces = c.races;
  j.hands_on = c.migratory;
  j.twin_pages = c.twin_bytes / os::page_bytes;
  j.notices = c.notice_limit;
  j.memory = zeroes;
  return j;
}

model::failure_domains domains_of(const configuration& c) noexcept {
  return {c.domains.empty() ? nullptr : c.domains.data(), c.nodes};
}

/// For the record of what happened.
quire::record::asked asked_by(const wait_note& n) noexcept {
  if (n.kind == waits::what::memory) return quire::record::asked::fault;
  if (n.kind == waits::what::all_nodes) return quire::record::asked::barrier;
  if (n.kind != waits::what::object) return quire::record::asked::other;
  for (const char* const word : {"_unlock", "_release"})
    if (std::strstr(n.name, word) != nullptr) return quire::record::asked::unlock;
  for (const char* const word : {"_lock", "_acquire"})
    if (std::strstr(n.name, word) != nullptr) return quire::record::asked::lock;
  for (const char* const word : {"barrier", "group", "reduce", "broadcast"})
    if (std::strstr(n.name, word) != nullptr) return quire::record::asked::barrier;
  return quire::record::asked::other;
}

/// A unit with a twin cannot leave memory.
configuration with_few_twins(configuration c) {
  if (c.memory_limit != 0) c.twin_bytes = std::min(c.twin_bytes, c.memory_limit / 4);
  return c;
}

}  // namespace

core::core(const configuration& c, std::unique_ptr<transport::transport> t, bootstrap::bootstrap& starter,
           quire::core::host& threads, mechanisms& machine)
    : config(parts_.make<configuration>(with_few_twins(c))),
      host(threads),
      job(starter),
      wire(*parts_.make<std::unique_ptr<transport::transport>>(std::move(t))),
      regions(parts_.make<region_map>()),
      frames(parts_.make<quire::core::frames>()),
      pinned(parts_.make<directory::pin_table>(c.pin_limit)),
      actions(parts_.make<model::actions>()),
      tokens(parts_.make<call_table>()),
      count(parts_.make<engine_counters>()),
      gone(parts_.make<gone_counters>()),
      guarded(parts_.make<guards>()),
      hot(parts_.make<hot_units>()),
      sharing(config.sharing ? &parts_.make<quire::sharing::table>() : nullptr),
      job_call(parts_.make<job_call_state>()),
      effects(parts_.make<node_effects>(*this)),
      performer(parts_.make<quire::core::performer>(effects)),
      out(parts_.make<outbox>(*this)),
      survival(parts_.make<survivor>(*this, config, domains_of(config))),
      members(survival.members()),
      protocols(parts_.make<protocol_set>(config.protocols, job_of(config, pinned, members), effects)),
      messages(parts_.make<message_table>(config.protocols)),
      in(parts_.make<inbox>(*this)),
      faults(parts_.make<fault_path>(*this)),
      planner(parts_.make<quire::core::planner>(*this)),
      waiting(parts_.make<unit_waiters>()),
      held(parts_.make<held_units>(*this)),
      whole(parts_.make<whole_pages>(*this)),
      builder(parts_.make<region_builder>(*this, machine)),
      paging(parts_.make<pager>(*this)),
      absent(parts_.make<absent_units>(*this, frames)),
      stored(parts_.make<stored_units>(*this)),
      pins(parts_.make<pin_calls>(*this)),
      transactions(parts_.make<quire::core::transactions>(*this)),
      calls(parts_.make<unit_calls>(*this)),
      changes(parts_.make<changer>(*this)),
      blocks(parts_.make<block_calls>(*this)),
      holding(parts_.make<content_hold>(*this)),
      removing(parts_.make<region_remover>(*this)),
      consistency(static_cast<release::node&>(protocols.domain(release::id))),
      diffs(parts_.make<diff_traffic>(*this, c.nodes)),
      spread(parts_.make<spread_traffic>(*this)),
      objects(parts_.make<sync_calls>(*this, c.self, c.nodes, survival.members())),
      services(parts_.make<service_table>(*this)),
      replicas(
          parts_.make<replicator>(*this, static_cast<sequential::domain&>(protocols.domain(sequential::id)).rounds)),
      watching(parts_.make<peer_watch>(*this, c.self.value(), c.nodes, c.first_nodes(), c.peer_limit_ns)) {
  if (const std::uint64_t limit = c.memory_limit != 0 ? c.memory_limit : c.cache_limit; limit != 0)
    paging.open(c.nodes, limit);
  pins.open();
}

core::~core() { parts_.end(); }

void core::begin() noexcept { watching.begin(now()); }

std::uint64_t core::now() const noexcept { return host.now(); }

base::status core::bring(std::uint64_t address, bool write) noexcept { return faults.fault(address, write, now()); }

bool core::is_restless() const noexcept { return !held.empty() || !whole.empty() || paging.is_restless(); }

bool core::awaits_units() noexcept { return planner.awaits(); }

void core::set_clock() noexcept { objects.set_clock(); }

bool core::orders(const region_slot& r) const noexcept { return r.orders && relaxed() && !r.can().relaxed; }

base::status core::open() {
  frames.open(config.self, config.memory_limit, config.cache_limit, host.crew(), config.host_holds);
  regions.cover(config.base, config.bytes);
  return builder.open();
}

bool core::round() noexcept {
  bool any = wire.progress();
  if (absent.look()) any = true;
  if (stored.look()) any = true;
  if (removing.look_at_postponed()) any = true;
  if (!held.empty() && held.end()) any = true;
  if (!whole.empty() && whole.look()) any = true;
  if (objects.end_lingers()) any = true;
  if (planner.look()) any = true;
  changes.look();
  survival.look();
  if (watching.look_is_wanted()) watching.look_at_peers(now());
  if (frames.over() || frames.others_are_over() || paging.under_way()) paging.page_out();
  transactions.look();  // also at what has just left memory
  survival.look_at_copies();
  if (!out.local.empty()) any = true;
  if (!out.local.empty() || config.replicas) settle();
  return any;
}

bool core::run(op& o, std::int64_t timeout_ms, bool in_fault) noexcept {
  thread_state& here = this_thread();
  const bool recorded = events != nullptr && here.asking == 0;
  if (recorded) {
    o.happened.about = key_of(here.wants);
    o.happened.asked = events->add_of_thread(quire::record::event_type::asks, o.happened.about, here.event_thread,
                                             asked_by(here.wants));
  }
  ++here.asking;
  const bool done = host.run(o, timeout_ms, in_fault);
  --here.asking;
  if (recorded)
    (void)events->add_of_thread(quire::record::event_type::goes_on, done ? o.happened.ended_by : 0, here.event_thread);
  return done;
}

void core::execute(op& o) noexcept {
  {
    const quire::record::context happens(events.get(), quire::record::event_type::executes, o.happened.about, 0, 0,
                                         static_cast<std::uint32_t>(o.happened.asked));
    o.execute(*this);  // it may end, and with it its memory
  }
  settle();
}

void core::settle() noexcept {
  do {
    while (!out.local.empty()) {
      const local_message next = out.local.front();
      out.local.pop();
      const quire::record::context happens(events.get(), quire::record::event_type::comes_here, key_of(next.m), 0,
                                           static_cast<std::uint8_t>(next.m.kind));
      in.handle(next.m, std::span<const std::byte>(next.value).first(next.m.payload_bytes));
    }
    replicas.replicate();
  } while (!out.local.empty());
  transactions.look();
  changes.look();
}

void core::look_around() noexcept {
  watching.look_at_peers(now());
  if (idle_.look != nullptr && idle_.look(idle_.context)) settle();
  watching.tell_launcher();
}

void core::expect_end() noexcept {
  ending.store(true, std::memory_order_relaxed);
  for (std::uint64_t left = 1; left != 0;) {
    as_driver([&] {
      config.read_ahead = false;
      (void)wire.progress();  // what comes for nobody wakes nobody
      pins.drop_pins();
      left = 0;
      regions.for_each([&](const region_slot& r) { left += r.machine->outstanding(); });
      // What is still queued here could not leave any more once the others have stopped.
      if (wire.sends_pending() || !held.empty() || !whole.empty() || protocols.busy() || replicas.traffic.busy() ||
          !absent.is_quiet() || !stored.is_quiet())
        ++left;
    });
    if (left != 0) host.pause(100'000);
  }
}

void core::part() noexcept {
  bool parted = false;
  as_driver([&] {
    objects.step([&](const sync::machine& machine, sync::actions&) {
      const sync::tree& all = machine.hierarchy();
      const auto is_child = [&](unsigned n) {
        return all.index_of(model::node_id{static_cast<std::uint16_t>(n)}) != sync::tree_arity;
      };
      watching.part(is_child);
      if (!all.is_root()) watching.tell_parent(all.parent());
    });
    parted = watching.has_parted();
  });
  for (const std::uint64_t until = now() + peer_watch::end_patience_ns; !parted && now() < until;) {
    host.pause(100'000);
    as_driver([&] {
      (void)wire.progress();
      parted = watching.has_parted();
    });
  }
}

void core::acquire() noexcept { protocols.acquire(); }

void core::catch_up() noexcept {
  if (relaxed()) as_driver([&] { acquire(); });
}

}  // namespace quire::core
