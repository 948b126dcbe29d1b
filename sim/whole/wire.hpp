// SPDX-License-Identifier: BSD-3-Clause
// The transport of a simulated node: messages go through sim::network, and wait here until the node's driver takes
// them. Keeps the contract of transport.hpp, and uses what it leaves open: large payloads are read where they lie until
// they arrive, and their place may be asked for before what was sent before them is delivered.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "sim/network.hpp"
#include "transport/transport.hpp"

namespace quire::whole {

using model::message;
using model::node_id;

class wire final : public transport::transport {
 public:
  wire(sim::network& net, node_id self) : net_(net), self_(self), abandoned_(net.options().nodes) {}
  /// Whether a node is gone; what it sent last may be lost then, but never what it sent before something that has come.
  void on_question(std::function<bool(node_id)> is_gone) { is_gone_ = std::move(is_gone); }
  /// Called before each message that leaves: threads of the node do something meanwhile.
  void on_departure(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }
  void attach(::quire::transport::sink& to) noexcept { sink_ = &to; }

  /// From the network.
  void arrive(const message& m, std::span<const std::byte> payload);
  [[nodiscard]] bool has_arrivals() const noexcept { return !inbox_.empty(); }

  [[nodiscard]] std::span<const std::byte> address() const noexcept override { return {}; }
  [[nodiscard]] base::status connect(node_id, std::span<const std::span<const std::byte>>,
                                     ::quire::transport::sink&) noexcept override {
    return {};
  }
  void send(node_id to, const message& m, std::span<const std::byte> payload, ::quire::transport::urgency how,
            ::quire::transport::lasting lasts) noexcept override;
  void abandon(node_id peer) noexcept override { abandoned_[peer.value()] = true; }
  bool progress() noexcept override;
  [[nodiscard]] bool sends_pending() const noexcept override { return net_.read_late_from(self_) != 0; }
  /// Less often than it might.
  [[nodiscard]] bool turn_period() noexcept override { return !sends_pending(); }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] bool arm(::quire::transport::urgency) noexcept override { return inbox_.empty(); }
  void disarm() noexcept override {}
  void signal() noexcept override {}
  base::status flush(int) noexcept override { return {}; }
  [[nodiscard]] const ::quire::transport::traffic& counters() const noexcept override { return traffic_; }
  [[nodiscard]] const char* name() const noexcept override { return "simulated"; }

 private:
  struct arrival {
    message m{};
    std::vector<std::byte> payload{};
    void* placed = nullptr;  ///< the place was asked for as soon as it came
    bool dropped = false;
  };
  void ask_for_place(arrival& a) noexcept;

  sim::network& net_;
  node_id self_;
  ::quire::transport::sink* sink_ = nullptr;
  std::deque<arrival> inbox_{};
  std::vector<bool> abandoned_;
  std::vector<bool> cut_ = std::vector<bool>(abandoned_.size());
  std::function<bool(node_id)> is_gone_{};
  std::function<void()> meanwhile_{};
  ::quire::transport::traffic traffic_{};
};

}  // namespace quire::whole
