// SPDX-License-Identifier: BSD-3-Clause
// A node of the model: the machines of Quire, a thread that runs a program, and one processor for all that the runtime
// does (the driver of src/core, one step at a time). It does around the machines what src/core does, in the same
// order and with the same read-ahead and joining of messages, but in virtual time and without content:
//
//   arrivals, faults and calls wait in the inbox; each turn takes one, and moves the clock on by what it costs.
//
// The thread computes beside that: it has a core of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/action_runs.hpp"
#include "core/thread_state.hpp"
#include "protocol/release/node.hpp"
#include "sim/timed/diff_post.hpp"
#include "sim/timed/fabric.hpp"
#include "sim/timed/program.hpp"
#include "sim/timed/region.hpp"
#include "sync/machine.hpp"

namespace quire::timed {

using model::access;

/// What is counted between begin_measuring() and end_measuring(), as the applications count.
struct tally {
  std::uint64_t messages = 0, bytes = 0;            ///< sent to other nodes, headers included
  std::uint64_t read_faults = 0, write_faults = 0;  ///< that needed another node
  time_ns at = 0;
};

struct node_options {
  unsigned nodes = 1;
  bool relaxed = false;  ///< all regions are release consistent, else sequentially
  release::updates update = release::updates::learned;
  bool read_ahead = true;
  bool learn_writes = true;
  std::uint64_t twin_pages = 65'536;  ///< QUIRE_TWIN_LIMIT
  prices costs{};
};

class node final : private release::node::effects, private diff_post::effects {
 public:
  node(const node_options& options, std::span<const region_size> regions, node_id self, fabric& net);
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// The thread begins.
  void start(program p);
  // From the fabric.
  void on_arrival(fabric::number parcel);
  void on_timer(std::uint32_t what, std::uint64_t data);

  [[nodiscard]] bool finished() const noexcept { return finished_; }
  /// Zero if the program did not measure.
  [[nodiscard]] const tally& begun() const noexcept { return begun_; }
  [[nodiscard]] const tally& ended() const noexcept { return ended_; }

 private:
  enum timer : std::uint32_t { goes_on, asks, turn, hold_over };
  /// What waits for the processor.
  struct job {
    enum class kind : std::uint8_t { parcel, request, hold_over } what = kind::parcel;
    std::uint64_t data = 0;  ///< parcel; region and unit of the hold
  };
  struct local_message {
    message m{};
    std::vector<std::byte> value{};
  };

  // The thread.
  void run_thread();
  /// True if the thread may go on with the next step at once.
  [[nodiscard]] bool take_step();
  [[nodiscard]] bool access_all(access want);
  void mark_written(region& r, std::uint64_t unit);
  void resume_at(time_ns when);
  [[nodiscard]] tally count() const;

  // The processor.
  void add(const job& j);
  void take_turn();
  void serve_thread();
  void fault();
  void prefetch();
  void call();
  void map_around(region& r, std::uint64_t unit);
  void read_on(region& r, const core::read_ahead_plan& plan, access want);
  void settle();
  void handle(const message& m, std::span<const std::byte> payload);
  void handle_units(const message& m);
  void handle_sync(const message& m, std::span<const std::byte> value);
  void perform_sync();
  void on_round_end(const message& m);
  void note_round(const message& m);

  // Actions.
  void take(region& r, const model::actions& list);
  void flush();
  void perform_runs();
  void perform_run(const core::action_run<region>& run);
  void send_units(const core::action_run<region>& run, node_id to);
  void wake(const region& r, std::uint64_t first, std::uint64_t count);
  void post(node_id to, const message& m, std::span<const std::byte> payload);
  void spend(time_ns ns) noexcept { clock_ += ns; }
  void spend_on_notices();

  // release::node::effects
  void transmit(node_id to, const message& m, std::span<const std::byte> value) noexcept override;
  void perform(model::region_id region, const model::actions& list) noexcept override;
  void perform_all() noexcept override { flush(); }
  [[nodiscard]] release::machine* machine_of(model::region_id region) noexcept override;
  // diff_post::effects
  void send_diffs(node_id to, const message& m, std::span<const std::byte> entries) override;
  void send_ack(node_id to, const message& m) override { post(to, m, {}); }
  unsigned diff_leaves(node_id to) override { return consistency_.diff_sent(to); }
  void diffs_arrived(node_id to, std::uint32_t count, unsigned group) override { consistency_.on_acknowledged(to, count, group); }
  void diffs_applied() override { consistency_.on_applied(); }
  void diffs_passed(std::uint32_t count) override { consistency_.on_passed(count); }
  void diff_applied() override { spend(options_.costs.apply_page_ns); }

  node_options options_;
  node_id self_;
  fabric& net_;
  directory::request_pool requests_{64};
  sequential::pin_table pins_{};
  sync::machine sync_;
  release::node consistency_;
  diff_post diffs_;
  std::deque<region> regions_{};
  core::action_runs<region> runs_{};
  model::actions actions_{};
  sync::actions sync_actions_{};
  std::deque<local_message> local_{};
  std::uint64_t rounds_ = 0;   ///< of the job barrier that have ended at the root
  std::uint64_t notices_ = 0;  ///< paid for

  std::deque<job> inbox_{};
  bool turn_set_ = false;
  time_ns clock_ = 0;  ///< of the processor: while it works, and afterwards when it will be free

  program program_{};
  step step_{};
  bool in_step_ = false, finished_ = false;
  std::uint64_t unit_ = 0;  ///< of the step: how far it is
  access wants_ = access::none;
  bool waits_for_unit_ = false;
  core::thread_state thread_{};
  tally sent_{}, begun_{}, ended_{};
};

}  // namespace quire::timed
