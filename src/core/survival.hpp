// SPDX-License-Identifier: BSD-3-Clause
// What an engine keeps for the deaths of other nodes, where its job goes on without them (survival.cpp). Driver's
// thread, unless it says otherwise.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/fault_heap.hpp"
#include "model/edge.hpp"
#include "model/membership.hpp"
#include "model/message.hpp"
#include "watch/recovery.hpp"

namespace quire::core {

struct configuration;
class core;
struct region_slot;

struct survival {
  static constexpr unsigned most_nodes = model::membership::most_nodes;
  survival(unsigned self, unsigned nodes, unsigned founders, model::failure_domains domains)
      : members(model::membership::begin(self, nodes, founders, domains)),
        recovery(self, nodes, true, true, founders) {}

  /// Who is told of a death, by the driver: as soon as this node knows, or when all survivors go on.
  struct listener {
    void (*tell)(void* context, unsigned node) noexcept = nullptr;
    void* context = nullptr;
    bool when_over = false;
  };

  model::membership members;  ///< machines look at it
  watch::recovery recovery;
  std::vector<listener> listeners{};
  // The launcher's words, in its order. Written by the service thread.
  std::array<std::uint8_t, most_nodes> order{};
  std::atomic<unsigned> announced{0};  ///< how many
  unsigned over = 0;                   ///< so many of them have been told to listeners as over
  /// Where no launcher says it: the deaths that this node has seen, a bit each. Written by the service thread; what the
  /// driver learns of those, or from others, it writes to `order`.
  std::atomic<std::uint64_t> seen{0};

  // Peers of which this node hears nothing, until the launcher knows.
  std::array<std::atomic<std::uint64_t>, most_nodes> silent_ms{};
  std::atomic<std::uint64_t> untold{0};  ///< a bit each
  std::uint64_t suspects = 0;            ///< told, and not announced as dead yet

  [[nodiscard]] bool is_told_of_more() const noexcept { return (told() & ~(recovery.dead() | recovery.ended())) != 0; }
  /// The dead of whom the launcher, or the end of their process, has told this node.
  [[nodiscard]] std::uint64_t told() const noexcept {
    return mask(announced.load(std::memory_order_acquire)) | seen.load(std::memory_order_acquire);
  }
  /// The first `n` nodes announced.
  [[nodiscard]] std::uint64_t mask(unsigned n) const noexcept {
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < n; ++i) bits |= std::uint64_t{1} << order[i];
    return bits;
  }
};

class survivor {
 public:
  survivor(core& node, const configuration& how, model::failure_domains domains);

  /// What a node that joins must know, kept by a service. On the first of the nodes that were there before, `tell` is
  /// called for each that joins, and calls transfer(); there `hear` is called for each of those, in order, before it
  /// goes on. Driver's thread.
  struct state_transfer {
    void (*tell)(void* context, model::node_id to) noexcept = nullptr;
    void (*hear)(void* context, std::uint64_t a, std::span<const std::byte> value) noexcept = nullptr;
    void* context = nullptr;
  };
  /// Before the node starts, by all nodes in the same order. Its number.
  [[nodiscard]] unsigned add(const state_transfer& what) {
    transfers_.push_back(what);
    return static_cast<unsigned>(transfers_.size()) - 1;
  }
  /// As much as a notice may have. Driver's thread, in tell().
  void transfer(model::node_id to, unsigned number, std::uint64_t a, std::span<const std::byte> value) noexcept;

  /// `tell` is called by the driver for each node that dies while the others go on: as soon as this node knows, or when
  /// they do. Before the node starts.
  void on_deaths(void (*tell)(void* context, unsigned node) noexcept, void* context, bool when_over);
  /// The launcher has said that `node` is dead, or this node has seen it, and this one goes on. Service thread.
  void on_announced(unsigned node) noexcept;
  /// The launcher is to hear of suspects. Service thread.
  void tell_suspects() noexcept;
  [[nodiscard]] bool has_suspects_to_tell() const noexcept {
    return survival_.untold.load(std::memory_order_relaxed) != 0;
  }

  /// Nobody needs anything of this node any more, after leave().
  [[nodiscard]] bool has_left() const noexcept { return left_.load(std::memory_order_acquire); }

  // Driver's thread.
  /// This node has given up all that it had (core/leaving.hpp), and takes leave of the others. Not within a step.
  void leave() noexcept;
  /// This node, which was not there at the job's start, joins it as watch::recovery::on_join() says; no thread of it
  /// has used shared memory or called for anything. The launcher has told it of those that have ended. Not within a
  /// step.
  void join(std::uint64_t members, std::uint64_t left) noexcept;
  /// It is a member, and its threads may use shared memory. Those that were there at the start always are.
  [[nodiscard]] bool has_joined() const noexcept { return joined_.load(std::memory_order_acquire); }
  /// Nothing that comes from this node counts any more.
  [[nodiscard]] bool is_cut_off(model::node_id node) const noexcept {
    return survival_.recovery.is_cut_off(node.value());
  }
  [[nodiscard]] const model::membership& members() const noexcept { return survival_.members; }
  [[nodiscard]] watch::recovery& recovery() noexcept { return survival_.recovery; }
  [[nodiscard]] const watch::recovery& recovery() const noexcept { return survival_.recovery; }
  /// What the launcher has said since the last time.
  void look() noexcept {
    if (survival_.announced.load(std::memory_order_acquire) != survival_.over || survival_.is_told_of_more())
      take_deaths();
  }
  /// What a survivor does not hear, or hears otherwise: words of the dead, markers, and what was sent before its sender
  /// knew. True if the message was dealt with here.
  [[nodiscard]] bool take_recovery(const model::message& m, std::span<const std::byte> value) noexcept;
  void send_markers(watch::recovery::round round) noexcept;
  /// All that was to be sent again may have come to where it belongs.
  void look_at_copies() noexcept {
    if (survival_.recovery.copying()) end_copying();
  }

  // While survivors put together what they have, threads go on by nothing that comes from other nodes, but for what the
  // survivors make anew (locks, rounds of groups). What else synchronises waits where it is, if some consistency is
  // weaker than sequential: content is not where it belongs yet.
  [[nodiscard]] bool is_mending() const noexcept { return survival_.recovery.active(); }
  /// What came, and waits until all go on. False if it does not.
  [[nodiscard]] bool puts_off(const model::message& m, std::span<const std::byte> value) noexcept;
  /// What is about to leave. False if it leaves as ever.
  [[nodiscard]] bool takes(model::node_id to, const model::message& m, std::span<const std::byte> value,
                           model::edge what) noexcept;
  /// What had to wait for diffs, and has not left.
  void take_back(model::node_id to, const model::message& m, std::span<const std::byte> value,
                 model::edge what) noexcept;
  /// Nothing is heard from a peer, and the launcher is to judge.
  void suspect(unsigned peer, std::uint64_t silent_ms, bool tell) noexcept;
  /// It is heard again. True if others are still suspected.
  bool is_back(unsigned peer) noexcept;

 private:
  void take_deaths() noexcept;
  template <class F>
  void each_node(std::uint64_t mask, F f) noexcept;
  template <class F>
  void all_units(F f) noexcept;
  void absorb(region_slot& r, const model::message& one) noexcept;
  void drop_ended() noexcept;
  void tell_who_joins() noexcept;
  void hear_as_joiner(const model::message& m, std::span<const std::byte> value) noexcept;
  void recover(watch::recovery::step s) noexcept;
  void begin_recovery() noexcept;
  void go(watch::recovery::step s) noexcept;
  [[nodiscard]] std::uint64_t learn_who_is_gone() noexcept;
  [[nodiscard]] bool is_silenced(model::node_id node) const noexcept;
  void note_in_order(unsigned node) noexcept;
  void end_lost_asks() noexcept;
  void hear_answers() noexcept;
  void call_again() noexcept;
  void go_on() noexcept;
  void tell_over() noexcept;
  void end_copying() noexcept;
  void hear_put_off() noexcept;

  struct put_off {
    model::node_id to{};
    model::edge what{};
    model::message m{};
    base::fault_vector<std::byte> value{};
  };
  core& core_;
  survival survival_;
  base::fault_vector<put_off> coming_{}, leaving_{};
  std::vector<state_transfer> transfers_{};
  /// To atomic operations of threads here, that wait for what is before them.
  base::fault_vector<model::message> answers_{};
  std::uint64_t joining_ = 0;  ///< have joined since all went on last, this node perhaps
  std::uint64_t ended_ = 0;    ///< of those that left: from whom nothing more is taken
  std::atomic<bool> left_{false}, joined_{true};
};

}  // namespace quire::core
