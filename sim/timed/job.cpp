// SPDX-License-Identifier: BSD-3-Clause
#include "sim/timed/job.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace quire::timed {
namespace {

class world final : public fabric::sink, public cores::threads {
 public:
  world(const node_options& options, const pattern& what)
      : net_(options.nodes, options.costs), machine_(options.cores, options.costs.slice_ns, *this) {
    for (std::uint16_t n = 0; n < options.nodes; ++n) {
      nodes_.push_back(std::make_unique<node>(options, what.regions, node_id{n}, net_, machine_));
      nodes_.back()->start(what.thread_of(n));
    }
  }
  void on_arrival(node_id at, fabric::number parcel) override { nodes_[at.value()]->on_arrival(parcel); }
  void on_timer(node_id at, std::uint32_t what, std::uint64_t data) override {
    nodes_[at.value()]->on_timer(what, data);
  }
  void on_core_changed(node_id who) override { nodes_[who.value()]->on_core_changed(); }
  void on_stolen(node_id who, time_ns ns) override { nodes_[who.value()]->on_stolen(ns); }

  outcome run() {
    net_.run(*this);
    outcome sum;
    sum.nodes = static_cast<unsigned>(nodes_.size());
    sum.events = net_.events();
    for (const auto& n : nodes_) {
      if (!n->finished()) throw std::runtime_error("a thread waits for ever: " + std::to_string(&n - nodes_.data()));
      const tally &before = n->begun(), &after = n->ended();
      sum.time = std::max(sum.time, after.at - before.at);
      for (std::size_t i = 0; i < sum.counters.size(); ++i) sum.counters[i] += after.counters[i] - before.counters[i];
    }
    quire_counters named{};
    for (std::size_t i = 0; i < sum.counters.size(); ++i) named.*core::counter_table[i].place = sum.counters[i];
    sum.messages = named.messages_sent;
    sum.bytes = named.bytes_sent;
    sum.read_faults = named.read_faults;
    sum.write_faults = named.write_faults + named.upgrade_faults;
    return sum;
  }

 private:
  fabric net_;
  cores machine_;
  std::vector<std::unique_ptr<node>> nodes_{};
};

}  // namespace

outcome run_job(const node_options& options, const pattern& what) { return world(options, what).run(); }

}  // namespace quire::timed
