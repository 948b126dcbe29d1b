// SPDX-License-Identifier: BSD-3-Clause
// Making a node, what its driver does, round by round, and what must be over before it may end. Driver's thread, unless
// said otherwise.
#include <algorithm>
#include <span>
#include <utility>

#include "core/core.hpp"
#include "core/known_machines.hpp"
#include "core/thread_state.hpp"
#include "protocol/sequential/domain.hpp"

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
  j.twin_pages = c.twin_bytes / os::page_bytes;
  j.notices = c.notice_limit;
  j.memory = zeroes;
  return j;
}

/// A unit with a twin cannot leave memory.
configuration with_few_twins(configuration c) {
  if (c.memory_limit != 0) c.twin_bytes = std::min(c.twin_bytes, c.memory_limit / 4);
  return c;
}

}  // namespace

core::core(const configuration& c, std::unique_ptr<transport::transport> t, bootstrap::bootstrap& starter,
           quire::core::host& threads, mechanisms& machine)
    : transport_(std::move(t)),
      config(with_few_twins(c)),
      host(threads),
      job(starter),
      wire(*transport_),
      pinned(c.pin_limit),
      survival(*this, c.self.value(), c.nodes, c.replicas),
      protocols(config.protocols, job_of(config, pinned, survival.members()), effects),
      builder(*this, machine),
      transactions(*this),
      consistency(static_cast<release::node&>(protocols.domain(release::id))),
      diffs(*this, c.nodes),
      objects(*this, c.self, c.nodes),
      replicas(*this, static_cast<sequential::domain&>(protocols.domain(sequential::id)).rounds),
      watching(*this, c.self.value(), c.nodes, c.peer_limit_ns) {
  if (const std::uint64_t limit = c.memory_limit != 0 ? c.memory_limit : c.cache_limit; limit != 0)
    paging.open(c.nodes, limit);
  pins.open();
}

base::status core::open() {
  frames.open(config.self, config.memory_limit, config.cache_limit, host.crew());
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
  changes.look();
  survival.look();
  if (watching.look_is_wanted()) watching.look_at_peers(now());
  if (frames.over() || paging.under_way()) paging.page_out();
  transactions.look();  // also at what has just left memory
  if (!out.local.empty()) any = true;
  if (!out.local.empty() || config.replicas) settle();
  return any;
}

bool core::run(op& o, std::int64_t timeout_ms, bool in_fault) noexcept {
  thread_state& here = this_thread();
  ++here.asking;
  const bool done = host.run(o, timeout_ms, in_fault);
  --here.asking;
  return done;
}

void core::execute(op& o) noexcept {
  o.execute(*this);  // it may end, and with it its memory
  settle();
}

void core::settle() noexcept {
  do {
    while (!out.local.empty()) {
      const local_message next = out.local.front();
      out.local.pop();
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

void core::catch_up() noexcept {
  if (relaxed()) as_driver([&] { protocols.acquire(); });
}

}  // namespace quire::core
