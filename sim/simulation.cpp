// SPDX-License-Identifier: BSD-3-Clause
#include "sim/simulation.hpp"

#include <algorithm>

#include "sim/bare/sequential_checkers.hpp"
#include "sim/seeds.hpp"

namespace quire::sim {

statistics& statistics::operator+=(const statistics& other) noexcept {
  operations += other.operations;
  events += other.events;
  messages += other.messages;
  faults += other.faults;
  losses += other.losses;
  holds += other.holds;
  pins += other.pins;
  given_up += other.given_up;
  took += other.took;
  most_faults = std::max(most_faults, other.most_faults);
  longest_wait = std::max(longest_wait, other.longest_wait);
  return *this;
}

simulation::simulation(const network_options& net, const cluster_options& shape, const timing& times,
                       std::vector<script> scripts)
    : net_(net), nodes_(shape, std::move(scripts), *this), times_(times), waits_(nodes_.state().threads.size()) {
  CHECK(net.nodes == shape.nodes);
  net_.on_delivery([this](node_id to, const message& m, std::span<const std::byte> payload) {
    nodes_.deliver(to, m, payload);
    stop_if_wrong();
  });
}

result simulation::run() {
  const print_on_check_failure printer(net_);
  for (std::size_t t = 0; t < waits_.size(); ++t) go_on(t);
  const auto end = net_.run();
  if (end == network::outcome::step_limit) nodes_.fail("livelock: the run does not end");
  if (end == network::outcome::quiet) nodes_.fail(check_quiet(nodes_));
  count_.operations = nodes_.operations();
  count_.events = net_.steps();
  count_.messages = net_.messages();
  count_.took = net_.now();
  if (nodes_.failure().empty()) return {{}, count_};
  return {nodes_.failure() + "\n" + net_.trace(), count_};
}

void simulation::stop_if_wrong() {
  if (!nodes_.failure().empty()) net_.stop();
}

time_ns simulation::longest_wait_allowed() const noexcept {
  // With replicas each of them may have to wait for a round, or two.
  const unsigned each = nodes_.options().replicas ? 25 : 5;
  return net_.longest_delay() * (1 + each * (nodes_.options().nodes + waits_.size()));
}

void simulation::send(node_id from, node_id to, const message& m, std::span<const std::byte> payload) {
  net_.send(from, to, m, payload);
}

void simulation::kill_at(node_id node, time_ns when, time_ns news) {
  deaths_ = true;
  net_.after(when, [this, node, news] {
    if (nodes_.all_finished()) return;
    nodes_.kill(node, ~std::uint64_t{0});
    for (std::uint16_t n = 0; n < nodes_.options().nodes; ++n) {
      if (nodes_.is_dead(node_id{n})) continue;
      net_.after(net_.rng().between(0, news), [this, n] {
        if (!nodes_.is_dead(node_id{n})) nodes_.tell(node_id{n});
        stop_if_wrong();
      });
    }
  });
}

void simulation::try_thread(std::size_t t) {
  if (nodes_.is_frozen(nodes_.node_of(t)) && nodes_.state().threads[t].now == thread::state::ready) {
    net_.after(times_.retry + 1, [this, t] { try_thread(t); });
    return;
  }
  nodes_.run_thread(t);
  stop_if_wrong();
}

/// A thread that is ready has exactly one event to come.
void simulation::go_on(std::size_t t) {
  const thread& self = nodes_.state().threads[t];
  const bool retries = waits_[t].waits || self.faults != 0;
  if (waits_[t].waits) {
    waits_[t].waits = false;
    const time_ns waited = net_.now() - waits_[t].since;
    count_.longest_wait = std::max(count_.longest_wait, waited);
    const time_ns pinned = pins_ != 0 ? net_.now() - pinned_since_ : 0;
    if (!deaths_ && waited > longest_wait_allowed() + (held_ + pinned - waits_[t].held_before)) {
      nodes_.fail("thread " + std::to_string(t) + " waited " + std::to_string(waited) + " ns, longer than the protocol allows");
    }
  }
  if (self.now == thread::state::finished) return;
  const time_ns pause = retries ? net_.rng().between(times_.retry_least, times_.retry) : net_.rng().between(0, times_.think);
  net_.after(pause, [this, t] { try_thread(t); });
}

void simulation::waits(std::size_t t) {
  const thread& self = nodes_.state().threads[t];
  const std::uint64_t number = waits_[t].number + 1;
  waits_[t] = {net_.now(), held_, true, number};
  if (nodes_.may_give_up(t)) {
    net_.after(net_.rng().between(0, times_.patience), [this, t, number] {
      if (waits_[t].number != number || !nodes_.may_give_up(t)) return;
      ++count_.given_up;
      nodes_.give_up(t);
      stop_if_wrong();
    });
  }
  if (self.now != thread::state::waits_for_unit) return;
  ++count_.faults;
  if (self.lost != 0) ++count_.losses;
  count_.most_faults = std::max(count_.most_faults, self.faults);
}

void simulation::hold(node_id node, std::uint64_t unit, unsigned strength) {
  const time_ns lasts = times_.hold << (strength - 1);
  ++count_.holds;
  held_ += lasts;
  net_.after(lasts, [this, node, unit] {
    nodes_.on_hold_over(node, unit);
    stop_if_wrong();
  });
}

/// The time in which anybody has anything pinned counts once.
void simulation::pinned(std::size_t, std::uint64_t, bool begins) {
  if (begins && pins_++ == 0) pinned_since_ = net_.now();
  if (begins) {
    ++count_.pins;
  } else if (--pins_ == 0) {
    held_ += net_.now() - pinned_since_;
  }
}

void simulation::between_actions(node_id node) {
  const auto threads = nodes_.threads_of(node);
  if (threads.empty() || !net_.rng().chance(times_.interrupt_percent)) return;
  nodes_.run_thread_if_mapped(threads[net_.rng().below(threads.size())]);
}

}  // namespace quire::sim
