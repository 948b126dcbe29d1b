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
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "core/op.hpp"
#include "core/trace.hpp"
#include "model/ids.hpp"

namespace quire::bootstrap {
class bootstrap;
}
namespace quire::transport {
class transport;
}
namespace quire::directory {
class pin_table;
}
namespace quire::model {
class actions;
struct membership;
struct message;
}  // namespace quire::model
namespace quire::races {
class recorder;
}
namespace quire::record {
class recorder;
class events;
}  // namespace quire::record
namespace quire::release {
class node;
}
namespace quire::sharing {
class table;
}

namespace quire::core {

class absent_units;
class block_calls;
class call_table;
class changer;
class content_hold;
class diff_traffic;
class fault_path;
class frames;
class guards;
class held_units;
class host;
class hot_units;
class inbox;
class mechanisms;
class message_table;
class node_effects;
class outbox;
class pager;
class peer_watch;
class performer;
class planner;
class pin_calls;
class protocol_set;
class region_builder;
class region_map;
class region_remover;
class replicator;
class service_table;
class spread_traffic;
class stored_units;
class survivor;
class sync_calls;
class transactions;
class unit_calls;
class unit_waiters;
class whole_pages;
struct configuration;
struct engine_counters;
struct gone_counters;
struct job_call_state;
struct region_slot;

/// What a core is made of: owns the parts. They end in the reverse order of their making.
class part_list {
 public:
  part_list() = default;
  part_list(const part_list&) = delete;
  part_list& operator=(const part_list&) = delete;
  ~part_list() { end(); }
  void end() noexcept {
    while (!all_.empty()) all_.pop_back();
  }
  template <class T, class... Arguments>
  [[nodiscard]] T& make(Arguments&&... arguments) {
    auto* const made = new T(std::forward<Arguments>(arguments)...);
    all_.emplace_back(made, [](void* part) noexcept { delete static_cast<T*>(part); });
    return *made;
  }

 private:
  std::vector<std::unique_ptr<void, void (*)(void*) noexcept>> all_;
};

/// A part's header is for who uses the part; this one names them all, and includes none.
class core final {
  part_list parts_;

 public:
  core(const configuration& c, std::unique_ptr<transport::transport> t, bootstrap::bootstrap& job, host& threads,
       mechanisms& machine);
  core(const core&) = delete;
  core& operator=(const core&) = delete;
  ~core();

  /// Opens the job's detector. Before the transport's connection.
  [[nodiscard]] base::status open();
  /// The transport is connected, and somebody drives from now on.
  void begin() noexcept;
  /// Before the last barrier of the job: waits until nothing that this node has asked for is on its way (read-ahead),
  /// asks for nothing more, and takes it as no loss when peers leave.
  void expect_end() noexcept;
  /// After that barrier: returns when no node needs this one any more, or after a while (watch/parting.hpp).
  void part() noexcept;
  /// The end was refused: the node goes on.
  void expect_no_end() noexcept { ending.store(false, std::memory_order_relaxed); }

  // By the driver (round.cpp).
  /// What the network brought, what the node sent to itself, what is due by now. True if there was anything.
  bool round() noexcept;
  /// An operation that a thread has asked for.
  void execute(op& o) noexcept;
  /// Handles what this node sent to itself, until nothing is left.
  void settle() noexcept;
  /// What other nodes have released, threads of this one see from now on: as far as this node has been told.
  void acquire() noexcept;
  /// A machine of the region has made a step: `actions`, which perform_steps() performs at the latest.
  void take_step(region_slot& r) noexcept;
  /// Performs all steps taken so far. Only between steps.
  void perform_steps() noexcept;
  /// Answers a request to a service (services.hpp), from its handler or later.
  void answer(const model::message& request, base::status why, std::uint64_t a = 0, std::uint64_t b = 0) noexcept;
  /// Sends a request that expects no answer.
  void notify(model::node_id to, std::uint32_t service, std::uint64_t a, std::uint64_t b, std::uint64_t c,
              std::span<const std::byte> value) noexcept;
  /// At least once a second, and more often where there is something to do: what nobody waits for.
  void look_around() noexcept;
  /// `look` is called by look_around(). True if it has sent something. One for the node; before it starts.
  void on_idle(bool (*look)(void* context) noexcept, void* context) noexcept { idle_ = {look, context}; }
  /// Something goes on by itself: round() is to be called again soon.
  [[nodiscard]] bool is_restless() const noexcept;
  /// The host has looked now and then, and is going to sleep: host::call_at(), if there is a time to look at.
  void set_clock() noexcept;
  /// What a thread will use under the lock that it has got is on its way, and is sooner here than a fault would be.
  [[nodiscard]] bool awaits_units() noexcept;

  // By application threads.
  /// As of host.
  [[nodiscard]] bool run(op& o, std::int64_t timeout_ms = -1, bool in_fault = false) noexcept;
  /// Runs `f` as the driver, and waits until it has run.
  template <class F>
  void as_driver(F f) noexcept;
  /// The unit at `address` is brought here, as by a fault of the calling thread: fault_path::fault().
  [[nodiscard]] base::status bring(std::uint64_t address, bool write) noexcept;
  /// Sends `m` (a, b, c are free) with `value` to a service of node `to`, and waits for the answer, which replaces `m`.
  [[nodiscard]] base::status ask(model::node_id to, std::uint32_t service, model::message& m,
                                 std::span<const std::byte> value, std::int64_t timeout_ms = -1) noexcept;
  /// Memory that other nodes have given back is handed out again: what they wrote must not come after.
  void catch_up() noexcept;

  [[nodiscard]] std::uint64_t now() const noexcept;
  /// Some region's consistency is weaker than sequential.
  [[nodiscard]] bool relaxed() const noexcept { return relaxes.load(std::memory_order_relaxed); }
  /// A region with sequential consistency, and quire_region_options::orders: a thread that reads from it what another
  /// has written there acquires what that one wrote before into regions of release consistency.
  [[nodiscard]] bool orders(const region_slot& r) const noexcept;
  void stamp(fault_trace::point where, unsigned region, std::uint64_t unit) noexcept {
    if (trace.is_open()) trace.add(where, region, unit, now());
  }

  // What parts share.
  configuration& config;
  quire::core::host& host;
  bootstrap::bootstrap& job;
  transport::transport& wire;
  region_map& regions;
  quire::core::frames& frames;
  directory::pin_table& pinned;
  model::actions& actions;  ///< of the step under way
  call_table& tokens;       ///< calls that wait for a message
  engine_counters& count;
  gone_counters& gone;
  guards& guarded;                 ///< what may not be accessed. Any thread
  hot_units& hot;                  ///< what threads wait for
  quire::sharing::table* sharing;  ///< who uses which words; null: nobody wants to know
  fault_trace trace;
  std::unique_ptr<races::recorder> races;      ///< null: QUIRE_CHECK is not `races`
  std::unique_ptr<record::recorder> recorder;  ///< null: nobody wants a report
  std::unique_ptr<record::events> events;      ///< null: nobody wants to know what happened in which order
  job_call_state& job_call;          ///< a call in which a thread of each node takes part, and this node has one
  std::atomic<bool> ending{false};   ///< see expect_end()
  std::atomic<bool> relaxes{false};  ///< see relaxed()

  // Out.
  node_effects& effects;
  quire::core::performer& performer;
  outbox& out;
  // Protocols. They look at who is dead, and at what is pinned.
  survivor& survival;
  const model::membership& members;  ///< who is alive. Driver's thread
  protocol_set& protocols;
  const message_table& messages;  ///< what each kind needs
  // In.
  inbox& in;
  fault_path& faults;
  quire::core::planner& planner;
  unit_waiters& waiting;
  held_units& held;
  whole_pages& whole;
  // Memory.
  region_builder& builder;
  pager& paging;
  absent_units& absent;
  stored_units& stored;
  pin_calls& pins;
  quire::core::transactions& transactions;
  unit_calls& calls;
  changer& changes;
  block_calls& blocks;
  content_hold& holding;
  region_remover& removing;
  // Release consistency.
  release::node& consistency;  ///< its domain
  diff_traffic& diffs;
  spread_traffic& spread;
  // Threads that meet, and services of the runtime.
  sync_calls& objects;
  service_table& services;
  // Deaths.
  replicator& replicas;
  peer_watch& watching;

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
