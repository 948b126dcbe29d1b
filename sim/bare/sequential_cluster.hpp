// SPDX-License-Identifier: BSD-3-Clause
// Nodes that run the sequential machine, with their application views, their memory and their threads. It performs the
// actions of the machines exactly in order, as the engine does, and has every step checked (sequential_checkers.hpp).
// What a thread may do follows from what `permit` and `protect` did to its node's view, never from what the machine
// believes.
//
// A cluster does nothing by itself: the explorer (sequential_explorer.hpp) delivers messages and lets threads run. All
// that changes is in cluster_state, plain data that can be copied, put back and hashed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/action.hpp"
#include "protocol/sequential/machine.hpp"
#include "sim/frames.hpp"
#include "sim/bare/ledger.hpp"
#include "watch/recovery.hpp"

namespace quire::sim {

using model::access;
using model::message;
using model::node_id;

enum class operation_kind : std::uint8_t {
  read,
  write,  ///< of one word, through the application view
  add,
  exchange,
  compare_exchange,  ///< calls: done where the data is
  push,              ///< call: everybody gets a copy
  read_ahead,
  write_ahead,     ///< ask, do not wait
  map_around,      ///< what a fault next door does
  pin,             ///< waits until the node has the unit pinned
  pin_or_give_up,  ///< the same with a time limit: goes on without it
  unpin,           ///< ends a pin of this thread; nothing if it has none
  guess_ahead,     ///< read_ahead by a sweep that has written what it read
  advise_writing,
  advise_nothing,   ///< what the node's threads are going to do with the unit
  page_out,         ///< the node is short of memory
  take_over,        ///< another node is
  release,          ///< call: the thread synchronises (with replicas: waits until all that its node wrote is safe)
  sync,             ///< call: the store has what was written to the unit
  drop_content,     ///< call: nobody has it in memory any more, if it is clean
  discard_content,  ///< call: it is zero from now on, in the store alone: the region is cut before it
};

struct operation {
  operation_kind what = operation_kind::read;
  std::uint32_t unit = 0, word = 0;
  std::uint64_t a = 0, b = 0;  ///< write, exchange, add: a; compare_exchange: a expected, b desired
  bool withhold = false;       ///< read_ahead, write_ahead
};

/// What one thread of a node does, in order.
struct script {
  node_id node{};
  std::vector<operation> operations{};
};

struct thread {
  enum class state : std::uint8_t { ready, waits_for_unit, waits_for_call, waits_for_store, finished };
  state now = state::ready;
  std::uint8_t lost = 0;     ///< times that the thread was let in for this access and could not do it after all
  std::uint32_t next = 0;    ///< operation under way
  std::uint32_t faults = 0;  ///< of this operation
  bool pinning = false;      ///< the machine counts the pin that this operation is about
  std::uint64_t pins = 0;    ///< how often it has each unit pinned, four bits a unit
  std::uint64_t seen = 0;    ///< what each operation found, four bits an operation, if the cluster remembers that
};

struct cluster_options {
  unsigned nodes = 3;
  unsigned units = 2;
  unsigned words = 2;  ///< of 64 bits, per unit
  model::placement placement = model::placement::block;
  node_id fixed{};
  bool hold_off = true;     ///< threads tell the machine how often they were let in for nothing
  unsigned most_lost = 7;   ///< more losses than this are not counted: keeps exhaustive exploration finite
  bool learns = true;       ///< machines ask for writable copies where double faults have been seen
  unsigned pin_limit = 16;  ///< units that a node may pin
  bool survives = false;    ///< the nodes go on when one of them dies
  bool replicas =
      false;  ///< content is kept on two nodes; implies survives. Each unit has a word more: it counts writes
  std::vector<std::uint16_t> domains{};  ///< [node]: the first node that dies with it; empty: each dies by itself
  bool stored = false;                   ///< a store keeps the content. Each unit has a word more: it counts writes
  unsigned store_fails = 0;              ///< so many fills and flushes fail, whichever (explorer)
  bool one_memory = false;               ///< all are on one host, and several may write a unit
  std::vector<std::uint16_t> hosts{};    ///< [node]: the first node that it has frames together with; empty: none has
  unsigned deaths = 0;                   ///< so many nodes of `mortal` die, at any moment (explorer)
  std::uint64_t mortal = 0;
  bool remembers = false;        ///< what threads have seen is part of the state: outcomes of litmus tests
  unsigned fault_limit = 1'000;  ///< an operation that faults more often is reported as a livelock
};

/// Waits until so many rounds of its node have ended: a message, or (kind invalid) the release of the thread of its
/// token.
struct gated {
  std::uint64_t ticket = 0;
  node_id to{};
  message m{};
};

// What the nodes of units that a store keeps have to do with it (sequential_stores.cpp).
/// Waits for the content of a unit: a message, or (kind invalid) a thread.
struct parked {
  message m{};
  std::uint32_t thread = 0;
};
struct flush_under_way {
  std::uint64_t unit = 0;
  std::vector<std::uint64_t> content{};
};
/// Who has called for it waits for the end of a flush: of the next one that begins, or of the one that is under way.
struct waiting_sync {
  message call{};
  bool next = false;
};

struct cluster_state {
  std::vector<sequential::unit_state> units{};         ///< [node][unit]
  std::vector<sequential::directory_entry> entries{};  ///< [node][unit]
  std::vector<directory::request_pool> requests{};     ///< [node]
  std::vector<sequential::pin_table> pins{};           ///< [node]
  std::vector<std::uint32_t> pinned{};                 ///< [unit]: pins of all threads together
  std::vector<access> views{};                         ///< [unit][node]: what the application view permits
  std::vector<std::uint64_t> contents{};               ///< [node][unit][word]: the frames
  std::vector<std::uint64_t> disk{};                   ///< [node][unit][word]: the page-out files
  std::vector<std::uint8_t> where{};    ///< [node][unit]: whether the frame is gone, and the file has the content
  std::vector<std::uint64_t> latest{};  ///< [unit][word]: what the last write left, by virtual time
  std::vector<thread> threads{};
  std::uint64_t dead = 0;                             ///< nodes, by bits
  std::uint64_t touched_by_dead = 0;                  ///< units that a dead node had to do with when it died
  std::vector<model::membership> members{};           ///< [node]: as it knows
  std::vector<watch::recovery> recoveries{};          ///< [node]
  std::vector<sequential::replica_state> replicas{};  ///< [node][unit]
  std::vector<sequential::replica_book> books{};      ///< [node]
  std::vector<sequential::replica_rounds> rounds{};   ///< [node]
  std::vector<std::vector<gated>> gates{};            ///< [node]
  ledger knows{};
  std::vector<std::uint64_t> store{};              ///< [unit][word]
  std::vector<std::vector<parked>> parked_here{};  ///< [unit], at its home: a fill is under way
  std::vector<flush_under_way> flushes{};
  std::vector<std::vector<waiting_sync>> syncs{};  ///< [unit]
  std::vector<std::vector<message>> leaves{};      ///< [unit]: calls of drop and discard
  unsigned failed = 0;                             ///< fills and flushes
  std::uint64_t reconciled = 0;                    ///< the dead, when a survivor last went on
  std::uint64_t calm = 0;                          ///< the dead, when last all survivors had gone on
};

/// Where messages of a cluster go.
class cluster_driver {
 public:
  virtual void send(node_id from, node_id to, const message& m, std::span<const std::byte> payload) = 0;

 protected:
  ~cluster_driver() = default;
};

class cluster {
 public:
  cluster(const cluster_options& options, std::vector<script> scripts, cluster_driver& driver);
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  // Inputs.
  void deliver(node_id to, const message& m, std::span<const std::byte> payload);
  /// The thread, which is ready, tries its operation: it succeeds, faults, or calls.
  void run_thread(std::size_t thread);
  void on_hold_over(node_id node, std::uint64_t unit);
  /// The node dies. The driver sees to what is on its way there; what comes from it may still arrive where nobody
  /// knows. `concerned`: units about which messages from or to it are on their way.
  void kill(node_id node, std::uint64_t concerned);
  /// The launcher tells a node of all deaths.
  void tell(node_id node);
  [[nodiscard]] bool is_dead(node_id node) const noexcept {
    return node.value() < 64 && (state_.dead >> node.value() & 1) != 0;
  }
  [[nodiscard]] bool knows_all(node_id node) const noexcept {
    return !options_.survives || state_.recoveries[node.value()].dead() == state_.dead;
  }
  [[nodiscard]] bool is_frozen(node_id node) const noexcept {
    return options_.survives && state_.recoveries[node.value()].active();
  }
  /// Every survivor knows of all deaths and has gone on.
  [[nodiscard]] bool is_settled() const noexcept;
  /// The fill that is under way for a unit, or a flush, has ended, well or not.
  void end_fill(std::uint64_t unit, bool well);
  void end_flush(std::size_t flush, bool well);
  [[nodiscard]] bool is_filling(std::uint64_t unit) const noexcept {
    return options_.stored && !state_.parked_here[unit].empty();
  }
  /// The time limit of the thread, which waits in pin_or_give_up, is over.
  void give_up(std::size_t thread);

  // What there is to see.
  [[nodiscard]] const cluster_options& options() const noexcept { return options_; }
  [[nodiscard]] const cluster_state& state() const noexcept { return state_; }
  [[nodiscard]] const sequential::machine& machine(node_id node) const { return machines_[node.value()]; }
  [[nodiscard]] node_id manager_of(std::uint64_t unit) const {
    std::size_t any = 0;
    while (is_dead(node_id{static_cast<std::uint16_t>(any)})) ++any;
    return machines_[any].manager_of(unit);
  }
  [[nodiscard]] std::span<const access> views(std::uint64_t unit) const noexcept {
    return std::span(state_.views).subspan(unit * options_.nodes, options_.nodes);
  }
  [[nodiscard]] access view(node_id node, std::uint64_t unit) const noexcept { return views(unit)[node.value()]; }
  [[nodiscard]] std::span<const std::uint64_t> stored(std::uint64_t unit) const noexcept {
    return std::span(state_.store).subspan(unit * options_.words, options_.words);
  }
  /// In memory, or in the file or store if it is nowhere else.
  [[nodiscard]] std::span<const std::uint64_t> content(node_id node, std::uint64_t unit) const noexcept {
    if (state_.where[node.value() * options_.units + unit] == (frame_gone | frame_stored)) return stored(unit);
    const bool on_disk = state_.where[node.value() * options_.units + unit] == (frame_gone | frame_saved);
    return std::span(on_disk ? state_.disk : state_.contents).subspan(frame_at(node, unit), options_.words);
  }
  [[nodiscard]] model::host_map hosts() const noexcept {
    return {options_.hosts.empty() ? nullptr : options_.hosts.data()};
  }
  [[nodiscard]] model::failure_domains domains() const noexcept {
    return {options_.domains.empty() ? nullptr : options_.domains.data(), options_.nodes};
  }
  [[nodiscard]] std::span<const std::size_t> threads_of(node_id node) const { return threads_of_[node.value()]; }
  [[nodiscard]] node_id node_of(std::size_t thread) const { return scripts_[thread].node; }
  [[nodiscard]] const operation& operation_of(std::size_t thread) const {
    return scripts_[thread].operations[state_.threads[thread].next];
  }
  /// Whether the thread waits with a time limit.
  [[nodiscard]] bool may_give_up(std::size_t thread) const {
    return state_.threads[thread].now == thread::state::waits_for_unit &&
           operation_of(thread).what == operation_kind::pin_or_give_up;
  }
  /// How often threads of the node have the unit pinned, as they know it.
  [[nodiscard]] unsigned pins_of(node_id node, std::uint64_t unit) const noexcept;
  /// What the thread's operation of that number found: below 16.
  [[nodiscard]] std::uint8_t remembered(std::size_t thread, std::size_t operation) const noexcept {
    return state_.threads[thread].seen >> 4 * operation & 15;
  }
  /// What a checker found first; empty while all is well.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  void fail(std::string why);

  /// Puts a state of this cluster back.
  void restore(const cluster_state& state);

  /// Called with the actions of every step before they are performed: tests break the protocol here, to see it noticed.
  /// `trigger` is the message handled, null for a fault or call.
  using tampering = std::function<void(cluster&, node_id node, const message* trigger, model::actions& out)>;
  void set_tampering(tampering t) { tamper_ = std::move(t); }
  [[nodiscard]] sequential::directory_entry& entry(std::uint64_t unit) noexcept;
  [[nodiscard]] sequential::unit_state& unit(node_id node, std::uint64_t unit) noexcept {
    return state_.units[std::size_t{node.value()} * options_.units + unit];
  }
  /// For tests that break things.
  [[nodiscard]] cluster_state& spoil() noexcept { return state_; }
  [[nodiscard]] sequential::pin_table& pins(node_id node) noexcept { return state_.pins[node.value()]; }

 private:
  void try_operation(std::size_t thread);
  void access_unit(std::size_t thread, const operation& o, access want);
  bool try_access(std::size_t thread, const operation& o, access want);
  void fault(std::size_t thread, const operation& o, access want);
  void call(std::size_t thread, const operation& o);
  void pin(std::size_t thread, const operation& o);
  void unpin(std::size_t thread, const operation& o);
  void page_out(std::size_t thread, const operation& o);
  void finish_operation(std::size_t thread);
  void remember(std::size_t thread, std::uint64_t found) noexcept {
    if (options_.remembers) state_.threads[thread].seen |= found << 4 * state_.threads[thread].next;
  }
  [[nodiscard]] bool take_recovery(node_id to, const message& m, std::span<const std::byte> payload);
  void recover(node_id node, watch::recovery::step s);
  // sequential_stores.cpp
  void begin_in_stores();
  [[nodiscard]] bool is_absent(node_id node, std::uint64_t unit) const noexcept {
    return state_.where[node.value() * options_.units + unit] == (frame_gone | frame_stored);
  }
  [[nodiscard]] bool park_message(node_id to, const message& m);
  [[nodiscard]] bool park_thread(std::size_t thread, const operation& o);
  [[nodiscard]] bool take_sync(node_id to, const message& m);
  void call_sync(std::size_t thread, const operation& o);
  void begin_flush(node_id node, std::uint64_t unit);
  void leave_memory(node_id node, std::uint64_t unit, model::leave_end end);
  void clear(std::span<std::uint64_t> words, std::uint64_t unit);
  void refuse(node_id node, std::uint64_t unit);
  void refuse_thread(std::size_t thread);
  [[nodiscard]] bool leave_to_store(node_id node, std::uint64_t unit);
  void replicate(node_id node);
  [[nodiscard]] bool hold_back(node_id from, node_id to, const message& m);
  void release(std::size_t thread);
  void open_gate(node_id node);
  void cut_gate(node_id node);
  void reconcile(node_id first);
  void count_write(node_id node, std::uint64_t unit);
  void send_markers(node_id node, watch::recovery::round r);
  template <class F>
  void all_units(node_id node, F f);
  void finish_lost(std::size_t thread);
  void finish_step(node_id node, std::uint64_t unit, const message* trigger, model::actions& out);
  void perform(node_id node, const model::action& a);
  /// What the content is brought to memory for (engine/frames.hpp).
  enum class content_use : std::uint8_t { read, changed, replaced, promised };
  void bring(node_id node, std::uint64_t unit, content_use how) noexcept;
  void send(node_id from, node_id to, const model::action& a);
  void change_view(node_id node, const model::action& a);
  void operate(node_id node, const model::action& a);
  void wake(node_id node, std::uint64_t unit);
  void complete(const message& m);
  /// Nodes of a host have one.
  [[nodiscard]] std::size_t frame_at(node_id node, std::uint64_t unit) const noexcept {
    const unsigned whose = options_.hosts.empty() ? node.value() : options_.hosts[node.value()];
    return (whose * options_.units + unit) * options_.words;
  }
  [[nodiscard]] std::span<std::uint64_t> frame(node_id node, std::uint64_t unit) noexcept {
    return std::span(state_.contents).subspan(frame_at(node, unit), options_.words);
  }
  [[nodiscard]] std::uint64_t& latest(std::uint64_t unit, std::uint64_t word) noexcept {
    return state_.latest[unit * options_.words + word];
  }

  static constexpr std::uint8_t frame_gone = 1, frame_saved = 2,
                                frame_stored = 4;  ///< stored: only the unit's store has the content
  cluster_options options_;
  std::vector<script> scripts_;
  std::vector<std::vector<std::size_t>> threads_of_{};
  cluster_driver& driver_;
  cluster_state state_{};
  std::deque<sequential::machine> machines_{};
  std::string failure_{};
  tampering tamper_{};
};

}  // namespace quire::sim
