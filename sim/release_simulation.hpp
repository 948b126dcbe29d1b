// SPDX-License-Identifier: BSD-3-Clause
// A release_cluster on the virtual network, with random timing: the same seed gives the same run.
#pragma once

#include <string>

#include "sim/network.hpp"
#include "sim/bare/release_cluster.hpp"
#include "sim/seeds.hpp"

namespace quire::sim {

class release_simulation final : private release_driver {
 public:
  struct timing {
    time_ns think = 3'000;            ///< up to this long between two steps of a thread
    unsigned interrupt_percent = 20;  ///< between two actions, a thread of the node uses what it has mapped
  };
  release_simulation(const network_options& net, const release_options& shape, const timing& times)
      : net_(net), nodes_(shape, *this), times_(times), trace_(net_) {
    CHECK(net.nodes == shape.nodes);
    net_.on_delivery([this](node_id to, const message& m, std::span<const std::byte> payload) {
      nodes_.deliver(to, m, payload);
      stop_if_wrong();
    });
  }

  [[nodiscard]] release_cluster& nodes() noexcept { return nodes_; }
  [[nodiscard]] network& net() noexcept { return net_; }
  [[nodiscard]] sim::random& rng() noexcept { return net_.rng(); }

  /// Until nothing is left to happen, or something is wrong: what, or empty. `released`: see check_quiet.
  [[nodiscard]] std::string run(bool released) {
    const auto end = net_.run();
    if (end == network::outcome::step_limit) nodes_.fail("livelock: the run does not end");
    if (end == network::outcome::quiet) nodes_.check_quiet(released);
    return nodes_.failure().empty() ? std::string{} : nodes_.failure() + "\n" + net_.trace();
  }

 private:
  void stop_if_wrong() {
    if (!nodes_.failure().empty()) net_.stop();
  }
  void send(node_id from, node_id to, const message& m, std::span<const std::byte> payload) override {
    net_.send(from, to, m, payload);
  }
  void send_unit(node_id from, node_id to, const message& m, std::span<const std::byte> payload) override {
    net_.send_read_late(from, to, m, payload);
  }
  bool units_leave(node_id from) override { return net_.read_late_from(from) != 0; }
  void go_on(std::size_t thread) override {
    net_.after(rng().between(0, times_.think), [this, thread] {
      nodes_.run_thread(thread);
      stop_if_wrong();
    });
  }
  void between_actions(node_id node) override {
    const auto threads = nodes_.threads_of(node);
    if (threads.empty() || !rng().chance(times_.interrupt_percent)) return;
    nodes_.run_thread_if_mapped(threads[rng().below(threads.size())]);
  }
  void note(node_id node, const char* what, std::uint64_t a, std::uint64_t b) override { net_.note(node, what, a, b); }

  network net_;
  release_cluster nodes_;
  timing times_;
  print_on_check_failure trace_;
};

}  // namespace quire::sim
