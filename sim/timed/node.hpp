// SPDX-License-Identifier: BSD-3-Clause
// A node of the model: a real core (src/core), a thread that runs a program, and one processor for all that the runtime
// does, in virtual time:
//
//   arrivals, faults and calls wait in the inbox; each turn of the processor takes one, and moves the clock on by what
//   it costs.
//
// The thread computes beside that: it has a core of its own. The memory is real as well, so that diffs have their
// sizes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/counter_table.hpp"
#include "core/host.hpp"
#include "core/region_slot.hpp"
#include "protocol/table/table.hpp"
#include "sim/quiet_job.hpp"
#include "sim/timed/cores.hpp"
#include "sim/timed/fabric.hpp"
#include "sim/timed/region_size.hpp"
#include "sim/timed/wire.hpp"
#include "sim/whole/fibre.hpp"
#include "sim/whole/memory.hpp"
#include "sim/whole/prompt_crew.hpp"

namespace quire::timed {

using model::access;

/// All counters of a node, in the order of core::counter_table.
using counter_values = std::array<std::uint64_t, std::size(core::counter_table)>;
/// What is counted between begin_measuring() and end_measuring(), as the applications count.
struct tally {
  counter_values counters{};
  time_ns at = 0;
};

/// How transactions commit: a row for each way that the protocol has.
struct commit_way {
  const char* name;
  void (*choose)(core::configuration& of);
};
inline constexpr commit_way commit_ways[] = {
    {"owners", [](core::configuration&) {}},
    {"token", [](core::configuration& of) { of.protocols = protocol::with_token(); }}};

struct node_options {
  unsigned nodes = 1;
  bool relaxed = false;  ///< all regions are release consistent, else sequentially
  bool updates = true;   ///< release consistency: homes send what they wrote before it is asked for
  bool read_ahead = true;
  bool learn_writes = true;
  const commit_way* commit = &commit_ways[0];
  unsigned cores = 0;  ///< that all nodes share; 0: each thread and each runtime has its own
  /// No phase of a real thread takes as long as the one before: caches, interrupts. Between two synchronisations a
  /// thread computes faster or slower by up to this part, evenly spread; 0: never.
  double unevenness = 0;
  std::uint64_t seed = 1;  ///< of that
  prices costs{};
};

class node;
/// What the application thread of a node does.
using program = std::function<void(node& me)>;

class node final : public core::host, public core::mechanisms, public processor {
 public:
  static constexpr std::uint64_t base_address = 0x300000000000;
  node(const node_options& options, std::span<const region_size> regions, node_id self, fabric& net, cores& machine);
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// The thread begins.
  void start(program p);
  // From the fabric.
  void on_arrival(fabric::number parcel);
  void on_timer(std::uint32_t what, std::uint64_t data);
  // From the cores.
  void on_core_changed() { go_on_at(net_.now()); }
  void on_stolen(time_ns ns) noexcept { stolen_ += ns; }

  [[nodiscard]] bool finished() const noexcept { return thread_->finished(); }
  /// Zero if the program did not measure.
  [[nodiscard]] const tally& begun() const noexcept { return begun_; }
  [[nodiscard]] const tally& ended() const noexcept { return ended_; }

  // What a program does. `first` and `bytes` are of the region. Reads and writes take no time by themselves, but for
  // what they have to wait for: compute() and work() say how long the work takes.
  void compute(time_ns ns);
  /// Computes for so long, and goes through all of `what` at an even pace meanwhile: a unit that is lost is missed at
  /// the next byte of it. Of what is written the first 8 of each `stride` bytes change, as in write().
  struct use {
    unsigned region = 0;
    std::uint64_t first = 0, bytes = 0;
    access want = access::read;
    std::uint64_t stride = 8;
    /// Where the thread is when it has computed `done` of `all`.
    [[nodiscard]] std::uint64_t place(time_ns done, time_ns all) const noexcept {
      return first + done * bytes / all / stride * stride;
    }
  };
  void work(time_ns ns, std::span<const use> what);
  void work(time_ns ns, std::initializer_list<use> what) { work(ns, std::span(what.begin(), what.size())); }
  /// Where units are smaller than a page, each is used through its fine view,
  void read(unsigned region, std::uint64_t first, std::uint64_t bytes);
  /// The first 8 of each `stride` bytes, which is a multiple of 8, become another floating-point number: its lower
  /// bytes change.
  void write(unsigned region, std::uint64_t first, std::uint64_t bytes, std::uint64_t stride = 8);
  /// and here all of a page come together.
  void read_natural(unsigned region, std::uint64_t first, std::uint64_t bytes);
  /// quire_atomically(): once more from the begin of the body where another node has come first. Regions that are
  /// transactional are written here alone.
  void atomically(const std::function<void()>& body);
  /// quire_prefetch: asks, does not wait.
  void prefetch(unsigned region, std::uint64_t first, std::uint64_t bytes, access want = access::read);
  /// Adds 1 to a word; what was there before.
  [[nodiscard]] std::uint64_t count_up(unsigned region, std::uint64_t at);
  /// A new mutex, by its handle, which other nodes may use after the next synchronisation.
  [[nodiscard]] std::uint64_t make_mutex();
  void lock(std::uint64_t mutex);
  void unlock(std::uint64_t mutex);
  /// The job's,
  void barrier();
  /// and quire_reduce_f64() of so many doubles, 8 at most.
  void reduce(unsigned doubles);
  /// quire_broadcast() of so many bytes, 64 at most.
  void broadcast(unsigned bytes, unsigned root);
  /// As quire::team of one thread of each node, which all of them make.
  void make_team();
  /// quire_group_wait() of the team,
  void wait();
  /// and quire_group_reduce_f64() of as many doubles as you like.
  void sum(unsigned doubles);
  /// What counts begins here,
  void begin_measuring() { begun_ = count(); }
  /// and ends here.
  void end_measuring() { ended_ = count(); }

 private:
  enum timer : std::uint32_t { resumes, asks, turn, looks, gives_way };
  class priced_detector;

  node(const node_options& options, std::span<const region_size> regions, node_id self, fabric& net, cores& machine,
       std::unique_ptr<wire> own);
  void add_region(const region_size& size);

  // The thread.
  [[nodiscard]] core::region_slot& slot_of(unsigned region) const;
  /// Where the content of the byte lies, once the thread may use it so, through the view that shows its unit alone or
  /// (natural) through the first.
  [[nodiscard]] std::byte* reach(unsigned region, std::uint64_t byte, access want, bool natural = false);
  [[nodiscard]] std::uint64_t end_of_unit(unsigned region, std::uint64_t byte) const;
  void call_mutex(sync::operation what, std::uint64_t mutex);
  [[nodiscard]] bool attempt(const std::function<void()>& body, bool turn);
  void begin_phase() noexcept;
  [[nodiscard]] time_ns at_speed(time_ns ns) const noexcept {
    return static_cast<time_ns>(static_cast<double>(ns) * speed_);
  }
  void sleep(time_ns ns);
  [[nodiscard]] time_ns use_core(time_ns ns);
  void go_on_at(time_ns at) { net_.after(at, self_, resumes, sleeps_); }
  void on_loss() noexcept;
  [[nodiscard]] bool may(const use& u, std::uint64_t at) const;
  void synchronise(sync::call& c);
  void call_team(sync::operation what, std::uint64_t operand = 0);
  [[nodiscard]] tally count() noexcept;

  // The processor. A null operation stands for a parcel, or for a look at what is due.
  void add(core::op* asked);
  void take_turn();
  void look_later();
  void take_what_lies();
  [[nodiscard]] time_ns price_of_work() noexcept;
  void spend(time_ns ns) noexcept override { clock_ += ns; }
  [[nodiscard]] time_ns settle_up() noexcept override;

  // core::host
  [[nodiscard]] std::uint64_t now() const noexcept override { return in_turn_ ? clock_ : net_.now(); }
  [[nodiscard]] bool run(core::op& o, std::int64_t timeout_ms, bool in_fault) noexcept override;
  bool wait_for(core::op& o, std::int64_t timeout_ms, bool in_fault) noexcept override;
  void pause(std::uint64_t ns) noexcept override { sleep(ns); }
  void prepare_to_meet() noexcept override;
  void call() noexcept override { add(nullptr); }
  void call_at(std::uint64_t ns) noexcept override { net_.after(std::max(ns, net_.now()), self_, looks); }
  [[nodiscard]] bool has_timer() const noexcept override { return true; }
  void watch_faults(const detect::detector&) noexcept override {}
  [[nodiscard]] store::crew& crew() noexcept override { return crew_; }
  // core::mechanisms
  [[nodiscard]] base::result<std::unique_ptr<pool::pool>> make_pool(const pool::settings& how, std::uint64_t address,
                                                                    std::uint64_t bytes, bool accessible,
                                                                    const pool::fine_views& fine,
                                                                    pool::view_kind view) override;
  [[nodiscard]] base::result<std::unique_ptr<detect::detector>> open_detector(detect::kind which) override;

  const node_options& options_;
  node_id self_;
  fabric& net_;
  cores& machine_;
  sim::quiet_job job_;
  wire& wire_;  ///< the core's
  std::vector<std::unique_ptr<whole::frame_map>> frames_{};
  whole::frame_map* next_frames_ = nullptr;
  priced_detector* detector_ = nullptr;  ///< the core's, of all regions
  whole::prompt_crew crew_{};
  core::core core_;
  std::vector<std::uint64_t> bases_{};  ///< of regions
  std::uint64_t next_base_ = base_address;
  std::uint64_t pages_of_commit_ = 0;  ///< of a unit of a transactional region

  std::deque<core::op*> inbox_{};
  std::size_t lying_ = 0;  ///< parcels that nobody has been woken for
  bool woken_ = false;     ///< for the turn that is set
  bool turn_set_ = false, look_set_ = false, in_turn_ = false;
  time_ns clock_ = 0;  ///< of the processor: while it works, and afterwards when it will be free
  time_ns paid_ = 0;   ///< of price_of_work()

  std::unique_ptr<whole::fibre> thread_{};
  double speed_ = 1;  ///< time that computing takes, against what it was said to take
  std::uint64_t phases_ = 0;
  std::uint64_t sleeps_ = 0;  ///< so often has it gone on: a resume for an earlier time is stale
  bool works_ = false;        ///< in work(): what it may lose matters to it
  bool has_lost_ = false;     ///< meanwhile, some of it
  time_ns stolen_ = 0;        ///< of the time since it went on
  core::op* waits_for_ = nullptr;
  time_ns way_back_ = 0;    ///< until the thread goes on when that is done
  std::uint64_t team_ = 0;  ///< the handle of its group
  std::uint64_t written_ = 0, pauses_ = 0;
  tally begun_{}, ended_{};
};

}  // namespace quire::timed
