// SPDX-License-Identifier: BSD-3-Clause
// A node: the only place where machines meet mechanisms. Faults and calls come in, machines decide, actions are
// performed. Way of a fault: fault.cpp (in) -> protocol machine -> performer.cpp (out) -> node_effects.cpp ->
// outbox.cpp -> transport -> inbox.cpp (in at the other node) -> ... -> performer.cpp (permission) -> the thread goes
// on.
//
// A core has no threads, no clock and no memory of its own: host.hpp says on what it runs. So the same code runs in a
// process (src/engine) and in the simulator (sim/whole). One thread at a time runs it, the driver.
//
// It is the list of a node's parts, each of which has a file, a state that nobody else sees, and a job; and of what
// they share. Parts reach one another through it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "bootstrap/bootstrap.hpp"
#include "core/absent_units.hpp"
#include "core/block_calls.hpp"
#include "core/call_table.hpp"
#include "core/change.hpp"
#include "core/configuration.hpp"
#include "core/counters.hpp"
#include "core/diffs.hpp"
#include "core/fault.hpp"
#include "core/frames.hpp"
#include "core/held_units.hpp"
#include "core/minipages/whole_pages.hpp"
#include "core/hold.hpp"
#include "core/host.hpp"
#include "core/inbox.hpp"
#include "core/job_call_state.hpp"
#include "core/node_effects.hpp"
#include "core/outbox.hpp"
#include "core/page_out.hpp"
#include "core/performer.hpp"
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
#include "core/trace.hpp"
#include "core/transactions.hpp"
#include "core/unit_calls.hpp"
#include "core/unit_waiters.hpp"
#include "core/watching.hpp"
#include "protocol/release/node.hpp"
#include "record/recorder.hpp"
#include "transport/transport.hpp"

namespace quire::core {

class core final {
  std::unique_ptr<transport::transport> transport_;

 public:
  core(const configuration& c, std::unique_ptr<transport::transport> t, bootstrap::bootstrap& job, host& threads,
       mechanisms& machine);
  core(const core&) = delete;
  core& operator=(const core&) = delete;

  /// Opens the job's detector. Before the transport's connection.
  [[nodiscard]] base::status open();
  /// The transport is connected, and somebody drives from now on.
  void begin() noexcept { watching.begin(now()); }
  /// Before the last barrier of the job: waits until nothing that this node has asked for is on its way (read-ahead),
  /// asks for nothing more, and takes it as no loss when peers leave.
  void expect_end() noexcept;
  /// The end was refused: the node goes on.
  void expect_no_end() noexcept { ending.store(false, std::memory_order_relaxed); }

  // By the driver (round.cpp).
  /// What the network brought, what the node sent to itself, what is due by now. True if there was anything.
  bool round() noexcept;
  /// An operation that a thread has asked for.
  void execute(op& o) noexcept;
  /// Handles what this node sent to itself, until nothing is left.
  void settle() noexcept;
  /// At least once a second, and more often where there is something to do: what nobody waits for.
  void look_around() noexcept;
  /// `look` is called by look_around(). True if it has sent something. One for the node; before it starts.
  void on_idle(bool (*look)(void* context) noexcept, void* context) noexcept { idle_ = {look, context}; }
  /// Something goes on by itself: round() is to be called again soon.
  [[nodiscard]] bool is_restless() const noexcept { return !held.empty() || !whole.empty() || paging.is_restless(); }

  // By application threads.
  /// As of host.
  [[nodiscard]] bool run(op& o, std::int64_t timeout_ms = -1, bool in_fault = false) noexcept;
  /// Runs `f` as the driver, and waits until it has run.
  template <class F>
  void as_driver(F f) noexcept;
  /// Memory that other nodes have given back is handed out again: what they wrote must not come after.
  void catch_up() noexcept;

  [[nodiscard]] std::uint64_t now() const noexcept { return host.now(); }
  /// Some region's consistency is weaker than sequential.
  [[nodiscard]] bool relaxed() const noexcept { return relaxes.load(std::memory_order_relaxed); }
  /// A region with sequential consistency, and quire_region_options::orders: a thread that reads from it what another
  /// has written there acquires what that one wrote before into regions of release consistency.
  [[nodiscard]] bool orders(const region_slot& r) const noexcept {
    return r.about.orders != 0 && relaxed() && !protocols.of(r).relaxed;
  }
  void stamp(fault_trace::point where, unsigned region, std::uint64_t unit) noexcept {
    if (trace.is_open()) trace.add(where, region, unit, now());
  }

  // What parts share.
  configuration config;
  quire::core::host& host;
  bootstrap::bootstrap& job;
  transport::transport& wire;
  region_map regions;
  quire::core::frames frames;
  directory::pin_table pinned;
  model::actions actions;  ///< of the step under way
  call_table tokens;       ///< calls that wait for a message
  engine_counters count;
  gone_counters gone;
  fault_trace trace;
  std::unique_ptr<record::recorder> recorder;  ///< null: nobody wants a report
  job_call_state job_call;           ///< a call in which a thread of each node takes part, and this node has one
  std::atomic<bool> ending{false};   ///< see expect_end()
  std::atomic<bool> relaxes{false};  ///< see relaxed()

  // Out.
  node_effects effects{*this};
  quire::core::performer performer{effects};
  outbox out{*this};
  // Protocols. They look at who is dead, and at what is pinned.
  survivor survival;
  protocol_set protocols;
  // In.
  inbox in{*this};
  fault_path faults{*this};
  unit_waiters waiting{};
  held_units held{*this};
  whole_pages whole{*this};
  // Memory.
  region_builder builder;
  pager paging{*this};
  absent_units absent{*this, frames};
  stored_units stored{*this};
  pin_calls pins{*this};
  quire::core::transactions transactions;
  unit_calls calls{*this};
  changer changes{*this};
  block_calls blocks{*this};
  content_hold holding{*this};
  region_remover removing{*this};
  // Release consistency.
  release::node& consistency;  ///< its domain
  diff_traffic diffs;
  spread_traffic spread{*this};
  // Threads that meet, and services of the runtime.
  sync_calls objects;
  service_table services{*this};
  // Deaths.
  replicator replicas;
  peer_watch watching;

 private:
  struct {
    bool (*look)(void*) noexcept = nullptr;
    void* context = nullptr;
  } idle_{};
};

template <class F>
void core::as_driver(F f) noexcept {
  struct task : op {
    task(body execute, F& f) noexcept : op(execute, type::call), what(f) {}
    F& what;
  } o(
      [](core&, op& self) noexcept {
        static_cast<task&>(self).what();
        self.complete();
      },
      f);
  (void)run(o);
}

}  // namespace quire::core
