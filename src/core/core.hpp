// SPDX-License-Identifier: BSD-3-Clause
// A node: the only place where machines meet mechanisms. Faults and calls come in, machines decide, actions are performed.
// Way of a fault: fault.cpp (in) -> protocol machine -> performer.cpp (out) -> transport -> messages.cpp (in at the other node) -> ... ->
// performer.cpp (permission) -> the thread goes on.
//
// A core has no threads, no clock and no memory of its own: host.hpp says on what it runs. So the same code runs in a process (src/engine) and
// in the simulator (sim/whole). One thread at a time runs it, the driver.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "detect/detector.hpp"
#include "core/arrivals.hpp"
#include "core/call_table.hpp"
#include "core/diffs.hpp"
#include "core/frames.hpp"
#include "core/host.hpp"
#include "core/hot_units.hpp"
#include "core/page_out.hpp"
#include "core/trace.hpp"
#include "core/lingers.hpp"
#include "core/local_queue.hpp"
#include "core/op.hpp"
#include "core/performer.hpp"
#include "core/read_ahead.hpp"
#include "core/region_slot.hpp"
#include "core/replicas.hpp"
#include "core/spread.hpp"
#include "core/survival.hpp"
#include "core/waiting.hpp"
#include "protocol/release/node.hpp"
#include "sync/machine.hpp"
#include "transport/transport.hpp"
#include "watch/watch.hpp"
#include "wire/wire.hpp"

namespace quire::core {

/// What a job runs with; made by src/api from options and measurement of the machine.
struct configuration {
  model::node_id self{};
  unsigned nodes = 1;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  detect::kind detector = detect::kind::userfault_inline;
  pool::settings pool{};
  bool read_ahead = true;
  bool learn_writes = true;  ///< reads that writes have followed ask for writable copies
  bool move_homes = true;    ///< release consistency: the home of a unit moves to its only writer
  bool updates = true;       ///< release consistency: what a home wrote is sent to its readers before they ask
  std::uint64_t twin_bytes = std::uint64_t{256} << 20;  ///< that twins may take on this node
  std::size_t pin_limit = directory::pin_table::default_limit;  ///< units that this node may have pinned
  std::uint64_t memory_limit = 0;  ///< bytes that units may take on this node; 0: no limit
  bool replicas = false;     ///< content of regions with sequential consistency is kept on two nodes
  bool pages_out = false;  ///< some node of the job has a memory limit
  std::string page_out_directory{};
  bool survives = false;  ///< when nodes die the job goes on; sequential consistency only, at most 64 nodes
  std::uint64_t peer_limit_ns = 0;  ///< a peer that is silent for so long is lost; 0: nobody watches
  /// Whether the node's program is stopped by a signal, although this process runs (pool 'fork'); null: it is this process.
  bool (*program_stopped)() noexcept = nullptr;
};

/// What waits for a message, and what came.
struct call_op : op {
  explicit call_op(body execute) noexcept : op(execute, type::call) {}
  model::message m{};           ///< the request, then the reply
  model::node_id to{};
  std::uint64_t token = 0;
  std::uint64_t replies = 1;    ///< how many replies complete it
  region_slot* region = nullptr;
  // Of calls that are made again when a node has died (survival.cpp).
  bool pushes = false;                 ///< else an atomic operation, whose manager is `to`
  std::uint64_t first = 0, units = 0;  ///< what is pushed
  base::status why{};                  ///< of the replies so far
};

/// A thread that waits for a unit.
struct fault_op : op {
  explicit fault_op(body execute) noexcept : op(execute, type::fault) {}
  region_slot* region = nullptr;
  std::uint64_t unit = 0;
  model::access want = model::access::none;
  unsigned lost = 0;  ///< how often in a row the thread was let in and came back at once
  read_ahead* stream = nullptr;
  fault_op* next_waiter = nullptr;
};

struct pin_op;

/// Counters that are not a machine's.
struct engine_counters {
  std::atomic<std::uint64_t> fault_ns{0}, barrier_ns{0}, lock_ns{0}, barriers{0}, locks{0};
  std::atomic<std::uint64_t> refused{0};  ///< messages whose content makes no sense here
};

class core final : public transport::sink, private effects, private release::node::effects {
 public:
  core(const configuration& c, std::unique_ptr<transport::transport> t, bootstrap::bootstrap& job, host& threads, mechanisms& machine);
  core(const core&) = delete;
  core& operator=(const core&) = delete;

  /// Opens the job's detector. Before the transport's connection.
  [[nodiscard]] base::status open();
  /// Who the nodes are, for people: "pid 4711 on a"; before start().
  void name_peers(std::vector<std::string> names) { peer_names_ = std::move(names); }
  /// The transport is connected, and somebody drives from now on.
  void begin() noexcept { watch_.begin(now()); }
  /// Before the last barrier of the job: waits until nothing that this node has asked for is on its way (read-ahead), asks
  /// for nothing more, and takes it as no loss when peers leave.
  void expect_end() noexcept;
  /// The end was refused: the node goes on.
  void expect_no_end() noexcept { ending_.store(false, std::memory_order_relaxed); }
  /// Before nobody drives any more: peers that watch this node are told that it ends well. Application thread.
  void say_goodbye() noexcept;

  /// Makes a region here. All nodes do so with the same description. Any thread but a faulting one.
  [[nodiscard]] base::status add_region(const region_description& about);

  // By the driver.
  /// What the network brought, what the node sent to itself, what is due by now. True if there was anything.
  bool round() noexcept;
  /// An operation that a thread has asked for.
  void execute(op& o) noexcept;
  /// Faults that a detector tells by its descriptor. True if there were any.
  bool drain_kernel_faults() noexcept;
  /// At least once a second, and more often where there is something to do: what nobody waits for.
  void look_around() noexcept;
  /// At least then, too: are the peers still there?
  void look_at_peers(std::uint64_t now) noexcept;
  [[nodiscard]] std::uint64_t next_look() const noexcept { return next_look_.load(std::memory_order_relaxed); }
  /// Has whoever drives look. Any thread.
  void want_look_at_peers() noexcept { look_due_.store(true, std::memory_order_relaxed); }
  /// What the launcher is to hear of peers.
  void tell_launcher() noexcept;
  /// Something goes on by itself: round() is to be called again soon.
  [[nodiscard]] bool is_restless() const noexcept { return !holds_.empty() || page_out_.under_way(); }
  /// Threads that the kernel holds in faults, about.
  [[nodiscard]] std::size_t held_by_kernel() const noexcept { return kernel_waiting_; }

  /// The launcher has said that `node` is dead, and this one goes on. Service thread.
  void on_announced(unsigned node) noexcept;
  /// A peer is lost, and this node ends at that time unless it hears more; 0: none. Any thread.
  [[nodiscard]] std::uint64_t lost_until_ns() const noexcept { return lost_until_ns_.load(std::memory_order_acquire); }
  [[nodiscard]] std::string loss_text() const;

  /// The calling thread has accessed shared memory that it may not access, and may try again when this returns. QUIRE_BAD_ADDRESS: the
  /// address is not shared; QUIRE_LOST: nobody has the unit any more. `entered_ns`: when the fault came to a handler. Fault context.
  [[nodiscard]] base::status fault(std::uint64_t address, bool write, std::uint64_t entered_ns) noexcept;
  /// Ends the process with a line if `address` is one at which the runtime itself looks at content: there is no frame. Fault context.
  void check_frames(std::uint64_t address) const noexcept;
  /// The calling thread wants `want` of all units of a range; returns when it had them all at some moment.
  void touch(std::uint64_t address, std::uint64_t bytes, model::access want) noexcept;
  /// Threads of this node are going to write what they read of a range, or no longer.
  void advise(std::uint64_t address, std::uint64_t bytes, bool will_write) noexcept;
  /// Memory that other nodes have given back is handed out again: what they wrote must not come after.
  void catch_up() noexcept;
  /// Starts to bring a range here.
  void prefetch(std::uint64_t address, std::uint64_t bytes, model::access want) noexcept;
  /// QUIRE_BUSY if some of it is pinned here.
  [[nodiscard]] base::status push(std::uint64_t address, std::uint64_t bytes) noexcept;
  // Changes of a region's consistency (change.cpp): one thread of each node calls. As in quire.h.
  [[nodiscard]] base::status set_consistency(std::uint64_t region, quire_consistency to) noexcept;
  [[nodiscard]] base::status begin_block(std::uint64_t region, unsigned flags) noexcept;
  [[nodiscard]] base::status end_block(std::uint64_t region, quire_overlap& first) noexcept;
  // Checkpoints (hold.cpp).
  /// One thread of each node calls, and waits for the others: from its return to let_go() content stays where it is and what it is.
  /// Threads that write shared memory, or need more of it than they have, wait; only regions that find writes by scans go on
  /// changing. QUIRE_INVALID on all nodes if a region is in a parallel block, QUIRE_BUSY if some units are pinned; then nothing
  /// is held.
  [[nodiscard]] base::status hold() noexcept;
  void let_go() noexcept;
  /// Units that this node keeps and whose content may differ from zero, while they are held.
  struct kept_run {
    region_slot* region = nullptr;
    std::uint64_t first = 0, count = 0;
    bool in_memory = true;  ///< else in the page-out file
  };
  [[nodiscard]] std::vector<kept_run> kept() noexcept;
  /// Content of a unit of kept() that is not in memory. 0 or errno. Any thread.
  [[nodiscard]] int read_paged_out(const region_slot& r, std::uint64_t unit, std::span<std::byte> into) const noexcept;
  /// At a restart: units of a region that nobody has used yet, whose manager this node is, get content. `read` puts it where it is
  /// told: units from `first` on. Its status is what comes back.
  using content_source = base::status (*)(void* context, std::uint64_t first, std::span<std::byte> into);
  [[nodiscard]] base::status adopt(region_slot& r, std::uint64_t first, std::uint64_t count, content_source read, void* context) noexcept;
  /// Of synchronisation objects, by the driver.
  [[nodiscard]] sync::saved_objects save_objects() noexcept;
  [[nodiscard]] bool load_objects(std::span<const sync::saved_objects> all) noexcept;
  [[nodiscard]] bool has_objects() noexcept;
  /// Nodes that may have made objects; changes in load_objects().
  [[nodiscard]] unsigned makers() const noexcept { return sync_.makers(); }
  /// Gets the content of all units that this node may write, or has written last (own_words.cpp). Application thread; reads are of the driver.
  struct words_reader {
    /// The words at `offset` of a region. Others may be writing them.
    virtual void read(const region_slot& r, std::uint64_t offset, std::span<const std::uint64_t> words) noexcept = 0;

   protected:
    ~words_reader() = default;
  };
  void look_at_own_words(words_reader& reader) noexcept;
  /// Runs `f` as the driver, and waits until it has run. Defined in collect.hpp.
  template <class F>
  void as_driver(F f) noexcept;
  /// Any thread of a node, for itself.
  [[nodiscard]] base::status declare(std::uint64_t address, std::uint64_t bytes) noexcept;
  /// Begins to notice what threads of this node write in a range, or ends that, and sends all others what was written.
  [[nodiscard]] base::status produce(std::uint64_t address, std::uint64_t bytes, bool end) noexcept;
  /// Pins all units of a range here (pins.cpp). `timeout_ms` as in quire.h; after QUIRE_TIMED_OUT or QUIRE_BUSY `holder` is
  /// the node that has the first one missed pinned, -1 if it is not known.
  [[nodiscard]] base::status acquire(std::uint64_t address, std::uint64_t bytes, std::int64_t timeout_ms, int& holder) noexcept;
  [[nodiscard]] base::status release(std::uint64_t address, std::uint64_t bytes) noexcept;
  /// Atomic operation on the 64-bit word at `address`; gives what was there before. QUIRE_LOST; QUIRE_PEER_LOST if nobody knows
  /// whether it was done.
  [[nodiscard]] base::status atomic(std::uint64_t address, std::uint32_t operation, std::uint64_t a, std::uint64_t b,
                                    std::uint64_t& before) noexcept;

  /// As of host.
  [[nodiscard]] bool run(op& o, std::int64_t timeout_ms = -1, bool in_fault = false) noexcept { return host_.run(o, timeout_ms, in_fault); }

  /// The calling thread has this number (quire_thread()): what it waits for is told with it. Costs a store.
  static void number_thread(std::uint32_t number) noexcept;
  /// Who holds and who waits for which lock, which nodes have arrived where, and whom the threads of `notes` wait for: as many as `all` has
  /// room for. Driver's thread.
  void add_holders(const wait_board& notes, std::vector<waits::record>& all) noexcept;
  /// The call of the API in which a thread of each node takes part, and this node has one; null: there is none. Any thread.
  [[nodiscard]] const char* job_call_name() const noexcept { return job_call_.name.load(std::memory_order_relaxed); }

  // Synchronisation (sync_calls.cpp). Timeouts as in quire.h; the result's values come back in `request`.
  [[nodiscard]] base::status synchronise(sync::call& request, std::int64_t timeout_ms) noexcept;

  // Runtime services: numbered requests to a node, answered by a handler that runs on that node's driver and must not block.
  using service_handler = void (*)(void* context, core&, const model::message&, std::span<const std::byte>) noexcept;
  static constexpr std::size_t max_services = 16;
  /// `name`: of the call of the API that asks, for people.
  void set_service(std::uint32_t number, service_handler handler, void* context, const char* name = nullptr) noexcept;
  /// Sends `m` (a, b, c are free) with `value` to node `to` and waits for the answer, which replaces `m`.
  [[nodiscard]] base::status ask(model::node_id to, std::uint32_t number, model::message& m,
                                 std::span<const std::byte> value, std::int64_t timeout_ms = -1) noexcept;
  /// `look` is called by the service thread, driving, now and then: at least once a second, and more often where there is something to
  /// do. True if it has sent something. One for the engine; before start().
  void on_idle(bool (*look)(void* context) noexcept, void* context) noexcept { idle_ = {look, context}; }
  /// Answers a request (driver's thread, from a handler or later).
  void answer(const model::message& request, base::status why, std::uint64_t a = 0, std::uint64_t b = 0) noexcept;
  /// `tell` is called by the driver for each node that dies while the others go on: as soon as this node knows, or when they
  /// do. Before start().
  void on_deaths(void (*tell)(void* context, unsigned node) noexcept, void* context, bool when_over);
  [[nodiscard]] model::membership members() const noexcept { return survival_.members; }
  /// Sends a request that expects no answer (driver's thread).
  void notify(model::node_id to, std::uint32_t number, std::uint64_t a, std::uint64_t b, std::uint64_t c,
              std::span<const std::byte> value) noexcept;

  [[nodiscard]] const configuration& config() const noexcept { return config_; }
  [[nodiscard]] region_map& regions() noexcept { return regions_; }
  [[nodiscard]] engine_counters& count() noexcept { return count_; }
  [[nodiscard]] const hot_units& hot() const noexcept { return hot_; }
  [[nodiscard]] fault_trace& trace() noexcept { return trace_; }
  [[nodiscard]] const transport::transport& wire() const noexcept { return *transport_; }
  [[nodiscard]] transport::transport& wire() noexcept { return *transport_; }
  [[nodiscard]] const char* detector_name() const noexcept { return detectors_[0]->name(); }
  [[nodiscard]] const detect::detector& detector() const noexcept { return *detectors_[0]; }
  /// Sum over regions.
  [[nodiscard]] sequential::counters protocol_counters() const noexcept;
  /// The same of regions with release consistency.
  [[nodiscard]] release::counters release_counters() const noexcept;
  [[nodiscard]] const release::node& consistency() const noexcept { return consistency_; }
  [[nodiscard]] const diff_traffic& diffs() const noexcept { return diffs_; }
  [[nodiscard]] const frames& memory() const noexcept { return frames_; }
  [[nodiscard]] const replica_traffic& replicas() const noexcept { return replicas_; }
  /// Messages that asked, or told, who is still there; the transport counts them like all others.
  struct watch_traffic {
    static constexpr std::uint64_t message_bytes = wire::header_bytes;
    std::atomic<std::uint64_t> sent{0}, received{0};
  };
  [[nodiscard]] const watch_traffic& watching() const noexcept { return watching_; }

 private:
  friend class diff_traffic;
  friend class job_call;
  friend class spread_traffic;
  /// A part of look_at_own_words(), from `unit` on, which moves (driver's thread).
  void look_at_some(const region_slot& r, std::uint64_t& unit, std::uint64_t units, words_reader& reader) noexcept;
  // transport::sink (payloads.cpp, messages.cpp)
  [[nodiscard]] transport::landing place(const model::message& m) noexcept override;
  void deliver(const model::message& m) noexcept override;
  void peer_lost(model::node_id peer) noexcept override;
  // effects (messages.cpp)
  void send_units(region_slot& r, model::node_id to, const model::message& m, std::uint64_t first, std::uint64_t count,
                  bool with_content) noexcept override;
  void use_frames(region_slot& r, std::uint64_t first, std::uint64_t count, model::access level) noexcept override {
    frames_.use(r, first, count, level == model::access::write ? content::changed : content::read);
    frames_.note_let_in(r, first, count);
  }
  void wake_units(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept override;
  void operate(region_slot& r, const model::action& a) noexcept override;
  void complete_call(const model::message& m) noexcept override;
  void finish_call(const model::message& m) noexcept;
  void hold_unit(region_slot& r, std::uint64_t unit, std::uint64_t level) noexcept override;
  void make_twins(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept override;
  void send_diffs(region_slot& r, model::node_id to, std::uint64_t first, std::uint64_t count, bool keep) noexcept override;
  void send_patch(region_slot& r, const model::action& a) noexcept override { diffs_.add_patch(r, a); }
  [[nodiscard]] bool differs(model::region_id region, std::uint64_t unit) noexcept override;
  void end_of_actions() noexcept override;
  // release::node::effects (consistency.cpp)
  void transmit(model::node_id to, const model::message& m, std::span<const std::byte> value) noexcept override;
  void perform(model::region_id region, const model::actions& list) noexcept override;
  void perform_all() noexcept override;
  void find_written() noexcept override;
  [[nodiscard]] bool content_leaves() noexcept override { return transport_->sends_pending(); }
  [[nodiscard]] release::machine* machine_of(model::region_id region) noexcept override;

  // payloads.cpp
  [[nodiscard]] const char* fault_of(const model::message& m) const noexcept;
  [[noreturn]] void refuse(const model::message& m, const char* why) noexcept;
  [[nodiscard]] transport::landing place_offer(const model::message& m) noexcept;
  [[nodiscard]] transport::landing place_content(const model::message& m) noexcept;
  /// The only way to the transport.
  void post(model::node_id to, const model::message& m, std::span<const std::byte> payload, transport::urgency how = transport::urgency::now,
            transport::lasting lasts = transport::lasting::until_sent) noexcept;

  void handle(const model::message& m, std::span<const std::byte> value) noexcept;
  void handle_units(const model::message& m) noexcept;
  [[nodiscard]] static model::machine& machine_for(region_slot& r, model::message_kind k) noexcept;
  void handle_memory(const model::message& m, std::span<const std::byte> value) noexcept;
  void handle_update(const model::message& m, std::span<const std::byte> bytes) noexcept;
  void handle_service(const model::message& m, std::span<const std::byte> value) noexcept;
  void handle_sync(const model::message& m, std::span<const std::byte> value) noexcept;
  void send(model::node_id to, const model::message& m, std::span<const std::byte> value) noexcept;
  void perform_sync() noexcept;
  void synchronise(model::node_id to, const model::message& m, std::span<const std::byte> value, model::edge what) noexcept;
  void on_round_end(const model::message& m) noexcept;
  void note_round(const model::message& m) noexcept;
  /// Some region's consistency is weaker than sequential.
  [[nodiscard]] bool relaxed() const noexcept { return relaxed_.load(std::memory_order_relaxed); }

  // replicas.cpp
  void replicate() noexcept;
  void handle_replica(const model::message& m, std::span<const std::byte> content) noexcept;
  [[nodiscard]] bool hold_back(model::node_id to, const model::message& m, std::span<const std::byte> value, bool tells) noexcept {
    return config_.replicas && replicas_.hold_back(to, m, value, tells);
  }

  // faults (fault.cpp)
  template <class F>
  model::fault_outcome let_in(region_slot& r, std::uint64_t unit, model::access want, unsigned lost, bool again, read_ahead& stream,
                              F&& waits) noexcept;
  void begin_fault(fault_op& o) noexcept;
  void note_wait(region_slot& r, std::uint64_t unit, bool write, std::uint64_t ns) noexcept;
  [[nodiscard]] static note_scope note_memory(const char* name, const region_slot& r, std::uint64_t unit) noexcept;
  void map_again(region_slot& r, std::uint64_t unit, model::access want, const model::actions& done) noexcept;
  void wait_in_bucket(fault_op& o) noexcept;
  void leave_bucket(const fault_op& o) noexcept;
  [[nodiscard]] read_ahead_plan plan_for(const region_slot& r, std::uint64_t unit, model::access want, bool here,
                                         read_ahead& stream) const noexcept;
  void map_around(region_slot& r, std::uint64_t unit, read_ahead& stream) noexcept;
  void read_on(region_slot& r, const read_ahead_plan& plan, model::access want, read_ahead& stream) noexcept;
  [[nodiscard]] static std::size_t bucket_of(const region_slot& r, std::uint64_t unit) noexcept;
  void begin_kernel_fault(region_slot& r, std::uint64_t address, bool write) noexcept;
  base::status fault_and_wait(region_slot& r, std::uint64_t unit, model::access want, bool in_signal,
                      std::uint64_t entered_ns) noexcept;
  bool end_holds() noexcept;
  bool end_lingers() noexcept;

  // deaths (survival.cpp)
  void take_deaths() noexcept;
  [[nodiscard]] bool take_recovery(const model::message& m, std::span<const std::byte> value) noexcept;
  template <class F>
  void all_units(F f) noexcept;
  void recover(watch::recovery::step s) noexcept;
  void begin_recovery() noexcept;
  void send_markers(watch::recovery::round round) noexcept;
  void end_lost_asks() noexcept;
  void call_again() noexcept;
  void go_on() noexcept;
  void tell_over() noexcept;
  void suspect(unsigned peer, std::uint64_t silent_ms, bool tell) noexcept;
  void tell_suspects() noexcept;

  // page-out (page_out.cpp)
  void page_out() noexcept;
  [[nodiscard]] std::uint64_t choose(unit_queue& from, std::uint64_t goal) noexcept;
  void leave() noexcept;
  void leave_together(std::span<page_out_state::victim> run) noexcept;
  [[nodiscard]] model::node_id find_taker(std::uint64_t now, std::uint64_t bytes) noexcept;
  void take_over(region_slot& r, const model::message& m) noexcept;
  void take_homes(region_slot& r, const model::message& m) noexcept;
  void sweep_unused(unit_queue& from) noexcept;
  void on_room(const model::message& m) noexcept;
  void settle_moves() noexcept;
  /// Beyond the memory limit by more than a `part`th of it.
  [[nodiscard]] bool is_over_by(std::uint64_t part) const noexcept { return frames_.used() > frames_.limit() + frames_.limit() / part; }
  [[nodiscard]] bool starved() const noexcept;
  void starve(op& o) noexcept;
  void feed() noexcept;

  // page locking (pins.cpp)
  void open_pins() noexcept;
  void begin_pin(pin_op& o) noexcept;
  void give_pin_up(pin_op& o) noexcept;
  [[nodiscard]] base::status pin_unit(region_slot& r, std::uint64_t unit, std::uint64_t deadline_ns) noexcept;
  [[nodiscard]] base::status unpin_units(region_slot& r, std::uint64_t first, std::uint64_t end) noexcept;
  void drop_pins() noexcept;
  [[nodiscard]] int find_holder(region_slot& r, std::uint64_t unit) noexcept;
  void answer_holder(const model::message& m) noexcept;
  void send_grant(model::node_id to, model::message m) noexcept;

  // push under release consistency (spread_calls.cpp)
  void push_units(call_op& call, std::uint64_t first, std::uint64_t end, bool written_only) noexcept;
  void begin_production(call_op& call, std::uint64_t first, std::uint64_t end) noexcept;
  void on_spread_done(const model::message& m) noexcept;

  // changes of consistency (change.cpp)
  struct totals;
  struct change_call;
  [[nodiscard]] base::status change(const change_call& call) noexcept;
  [[nodiscard]] base::status gather(totals& t) noexcept;
  [[nodiscard]] base::status lowest(std::int64_t& value) noexcept;
  [[nodiscard]] base::status drain(region_slot* r, totals last) noexcept;
  void freeze(const change_call& call, totals& t) noexcept;
  void thaw(region_slot& r, bool homes_stay) noexcept;
  void convert(const change_call& call) noexcept;
  void stop_scanned_writes(region_slot& r) noexcept;
  void close_block(region_slot& r) noexcept;
  void merge_block(region_slot& r) noexcept;
  void mark_block(region_slot& r, bool begins) noexcept;
  void add_up(region_slot* r, totals& t) noexcept;
  [[nodiscard]] bool is_quiet(const region_slot& r) const noexcept;
  void wait_quiet(const region_slot* r) noexcept;  // nullptr, in these three: all regions
  void look_whether_quiet() noexcept;
  static void park(region_slot& r, op& o) noexcept;
  static void unpark(region_slot& r, const op& o) noexcept;
  // holds (hold.cpp)
  void freeze_all(totals& t) noexcept;
  void stop_writers(totals& t) noexcept;

  [[nodiscard]] base::status can_survive(const region_description& about) const noexcept;
  [[nodiscard]] int prepare(region_slot& r, quire_consistency consistency);
  void put_in_charge(region_slot& r, quire_consistency consistency) noexcept;
  [[nodiscard]] base::result<detect::detector*> detector_for(std::uint8_t asked, const pool::settings& pool);

  void settle() noexcept;
  [[nodiscard]] std::uint64_t now() const noexcept { return host_.now(); }
  void stamp(fault_trace::point where, unsigned region, std::uint64_t unit) noexcept {
    if (trace_.is_open()) trace_.add(where, region, unit, now());
  }

  // watching.cpp
  void handle_watch(const model::message& m) noexcept;
  void send_watch(unsigned to, std::uint32_t word, std::uint64_t a = 0, std::uint64_t b = 0) noexcept;
  void lose(unsigned peer, std::uint64_t silent_ms, std::uint64_t patience_ns, bool tells) noexcept;
  [[nodiscard]] std::uint64_t patience_with_silence() const noexcept;
  /// What the launcher is to hear of peers that are lost, and of those that are back.
  struct word_of_loss {
    unsigned peer = 0;
    std::uint64_t silent_ms = 0;
    bool back = false;
  };
  void regain(unsigned peer) noexcept;
  void tell(const word_of_loss& what) noexcept;
  void tell_loss() noexcept;

  configuration config_;
  std::unique_ptr<transport::transport> transport_;
  bootstrap::bootstrap& job_;
  host& host_;
  mechanisms& mechanisms_;
  region_map regions_;
  bool split_ = false;     ///< the application is another process (pool 'fork')
  std::array<std::unique_ptr<detect::detector>, 5> detectors_{};  ///< the job's, then one of each kind asked for
  std::mutex regions_mutex_;
  directory::request_pool requests_;
  directory::pin_table pins_;
  frames frames_;
  page_out_state page_out_;
  performer performer_{*this};
  local_queue local_;
  call_table calls_;
  release::node consistency_;
  diff_traffic diffs_;
  spread_traffic spread_{*this};
  /// Atomic operations of regions with release consistency: what must wait until the actions before it are done.
  struct later_message {
    model::node_id to{};
    model::message m{};
    model::edge what{};  ///< none: completes a call here
  };
  std::vector<later_message> later_;
  bool writers_stopped_ = false;  ///< by a hold
  bool scanning_ = false;  ///< some region's detector scans
  std::uint64_t twin_bytes_used_ = 0;  ///< since their memory was given back
  void trim_twins() noexcept;
  std::atomic<bool> relaxed_{false};
  op* quiet_waiter_ = nullptr;  ///< waits until nothing that this node has asked for in `quieting_` is under way
  const region_slot* quieting_ = nullptr;  ///< null: all
  std::uint64_t rounds_ = 0;  ///< of the job barrier that this node, the root, has ended
  sync::machine sync_;
  sync::actions sync_actions_;
  lingers lingers_;
  model::actions actions_;
  engine_counters count_;
  fault_trace trace_;
  hot_units hot_;
  static constexpr std::size_t buckets = 256;
  std::array<fault_op*, buckets> waiters_{};
  read_ahead kernel_stream_;  ///< faults that come through a descriptor do not tell their thread
  std::size_t waiting_ = 0;
  std::size_t kernel_waiting_ = 0;  ///< about so many threads are held by the kernel (thread mode), and leave their cores free
  struct held_unit {
    region_slot* region;
    std::uint64_t unit;
    std::uint64_t until_ns;
  };
  std::vector<held_unit> holds_;
  struct service_entry {
    service_handler handler = nullptr;
    void* context = nullptr;
    const char* name = nullptr;
  };
  std::array<service_entry, max_services> services_{};
  struct {
    bool (*look)(void*) noexcept = nullptr;
    void* context = nullptr;
  } idle_{};
  std::array<std::byte, 512> landing_{};
  arrivals updates_{};
  replica_traffic replicas_;
  std::atomic<bool> ending_{false};
  watch::watch watch_;
  survival survival_;
  watch_traffic watching_;
  std::vector<std::string> peer_names_;
  std::atomic<std::uint64_t> next_look_{UINT64_MAX};  ///< of watch_, for the service thread while it does not drive
  std::atomic<bool> look_due_{false};                 ///< it could not drive then: who does looks at the peers
  std::atomic<std::uint64_t> lost_until_ns_{0};  ///< a peer is lost; when this node ends unless it hears more
  unsigned lost_peer_ = 0;
  std::uint64_t lost_silent_ms_ = 0;          ///< how long it was silent; 0: the transport has lost it
  std::array<word_of_loss, 16> untold_{};  ///< by the driver; more than fit are told by others
  unsigned untold_count_ = 0;
  std::atomic<bool> loss_untold_{false};  ///< there are some
  /// A call in which a thread of each node takes part: see job_call.hpp.
  struct job_call_state {
    std::atomic<std::uint32_t> thread{0};  ///< its number, + 1; 0: none
    std::atomic<const char*> name{nullptr};
    std::atomic<int> refused{0};
  } job_call_;
};

}  // namespace quire::core
