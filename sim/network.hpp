// SPDX-License-Identifier: BSD-3-Clause
// The virtual clock and network. Everything that happens in a simulated run is an event of this one queue: a message
// that arrives, or a piece of work that falls due (a thread that goes on, a timer). Knows messages only, no protocol:
// any machine that takes and makes model::message can be run on it.
//
//   sim::network net({.seed = seed, .nodes = 8, .max_delay = 50'000});
//   net.on_delivery([&](node_id to, const message& m, std::span<const std::byte> payload) { step `to`'s machine,
//   net.send(...) }); net.after(1'000, [&] { a thread of node 3 does something, net.send(...) }); EXPECT_EQ(net.run(),
//   sim::network::outcome::quiet) << net.trace();
//
// Delay of a message: each ordered pair of nodes has a base latency of its own (so that some paths are always faster
// than others), plus a part drawn anew for each message, plus, for `straggler_percent` of them, a long wait. Across
// pairs messages overtake each other freely. Within a pair they keep their order, as transport.hpp promises; a machine
// that does not need that is run with `reorder_within_pairs` too (synchronisation without mutexes and conditions). A
// node's messages to itself take up to max_self_delay and keep their order under the same rule. Nothing is lost or
// doubled: the transport does neither. Equal times are broken by the order of sending, so a run follows from its seed
// alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/message.hpp"
#include "sim/random.hpp"

namespace quire::sim {

using model::message;
using model::node_id;
using time_ns = std::uint64_t;

struct network_options {
  std::uint64_t seed = 1;
  unsigned nodes = 2;
  time_ns min_delay = 2'000;
  time_ns max_delay = 20'000;  ///< of a message that does not straggle
  time_ns max_self_delay = 1'000;
  unsigned straggler_percent = 0;  ///< messages that take up to straggler_delay more
  time_ns straggler_delay = 500'000;
  bool reorder_within_pairs = false;      ///< more than a transport does: not for the sequential protocol
  bool reads_late = false;                ///< send_read_late() does
  std::uint64_t step_limit = 20'000'000;  ///< events of one run; beyond that something goes round in circles
  std::size_t trace_length = 80;          ///< how much of the past trace() shows
};

class network {
 public:
  using receiver = std::function<void(node_id to, const message& m, std::span<const std::byte> payload)>;
  enum class outcome : std::uint8_t {
    quiet,       ///< no event is left
    stopped,     ///< stop() was called
    step_limit,  ///< so many events were not expected
  };

  explicit network(const network_options& options);

  void on_delivery(receiver r) { receive_ = std::move(r); }
  /// A message is about to leave: tests change it here, or lose it (false).
  using gate = std::function<bool(node_id from, node_id to, message& m)>;
  void on_departure(gate g) { gate_ = std::move(g); }
  /// How much longer a message takes than the options say; asked once for each, in the order of sending: for tests that
  /// try orders one by one.
  using lateness = std::function<time_ns(node_id from, node_id to)>;
  void on_delay(lateness l) { lateness_ = std::move(l); }
  /// Sends a copy of `m` and of `payload`; m.from is set to `from`. To oneself is allowed.
  void send(node_id from, node_id to, const message& m, std::span<const std::byte> payload = {});
  /// The same, but if the options say so, what arrives are words of `payload` as it is now, as it is then, or some of
  /// each: a transport reads large content where it lies, at its leisure. Words that are frame_is_gone by then are as
  /// they were: who gives memory back waits.
  void send_read_late(node_id from, node_id to, const message& m, std::span<const std::byte> payload);
  /// How many of them are on their way from a node, and may still be read.
  [[nodiscard]] std::size_t read_late_from(node_id from) const noexcept { return late_from_[from.value()]; }
  /// `what` happens `delay` from now.
  void after(time_ns delay, std::function<void()> what);

  /// The next event. False if there is none.
  bool step();
  /// Events until one of the outcomes.
  outcome run();
  /// run() ends after the current event.
  void stop() noexcept { stopped_ = true; }

  [[nodiscard]] time_ns now() const noexcept { return now_; }
  [[nodiscard]] sim::random& rng() noexcept { return rng_; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
  /// Messages that are on their way.
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }
  [[nodiscard]] const network_options& options() const noexcept { return options_; }
  /// The longest that a message can take, for bounds on progress.
  [[nodiscard]] time_ns longest_delay() const noexcept;

  /// Adds a line about `node` to the trace; `what` is a literal.
  void note(node_id node, const char* what, std::uint64_t a = 0, std::uint64_t b = 0);
  /// The last events as text, one a line: what a failing test prints, together with the seed.
  [[nodiscard]] std::string trace() const;

 private:
  struct event {
    time_ns at = 0;
    std::uint64_t order = 0;
    node_id to{};
    message m{};  ///< kind invalid: `what` is called
    std::vector<std::byte> payload{};
    std::span<const std::byte> late{};  ///< where the payload lies, if it is read until the message arrives
    std::function<void()> what{};
  };
  struct later {
    bool operator()(const event& x, const event& y) const noexcept {
      return x.at != y.at ? x.at > y.at : x.order > y.order;
    }
  };
  struct trace_line {
    time_ns at = 0;
    node_id node{};
    const char* what = nullptr;  ///< null: `m` arrived
    message m{};
  };
  [[nodiscard]] time_ns delay_of(node_id from, node_id to);
  void post(node_id from, node_id to, const message& m, std::span<const std::byte> payload,
            std::span<const std::byte> late);
  void read_late(event& e) const;
  void remember(const trace_line& line);

  network_options options_;
  sim::random rng_;
  receiver receive_{};
  gate gate_{};
  lateness lateness_{};
  std::vector<event> queue_{};                           ///< a heap
  std::unordered_map<std::uint32_t, time_ns> latest_{};  ///< last arrival of each pair, while order is kept
  std::deque<trace_line> past_{};
  time_ns now_ = 0;
  std::uint64_t order_ = 0, steps_ = 0, messages_ = 0;
  std::size_t in_flight_ = 0;
  std::vector<std::size_t> late_from_{};
  bool stopped_ = false;
};

/// The name of a kind as it stands in model/message.hpp; synchronisation kinds are sync+N.
[[nodiscard]] std::string name_of(model::message_kind kind);

}  // namespace quire::sim
