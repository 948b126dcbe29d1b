// SPDX-License-Identifier: BSD-3-Clause
#include "sim/bare/release_explorer.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "sim/network.hpp"

namespace quire::sim {

/// A cluster that runs one path.
class release_explorer::world final : private release_driver {
 public:
  world(const release_options& shape, const scenario& make) : cluster_(shape, *this), hashes_(shape.nodes, 1) {
    make(cluster_);
  }

  [[nodiscard]] release_cluster& cluster() noexcept { return cluster_; }

  [[nodiscard]] std::vector<choice> choices() const {
    std::vector<choice> all;
    for (const std::size_t t : ready_) all.push_back({choice::kind::thread, static_cast<std::uint32_t>(t), 0});
    for (const auto& [pair, queue] : flights_) {
      if (!queue.empty()) all.push_back({choice::kind::message, pair.first, pair.second});
    }
    return all;
  }

  void take(const choice& c) {
    if (c.what == choice::kind::thread) {
      ready_.erase(std::find(ready_.begin(), ready_.end(), c.from));
      const unsigned node = node_of_[c.from];
      add(node, 0x100 + c.from);
      cluster_.run_thread(c.from);
      return;
    }
    auto& queue = flights_[{c.from, c.to}];
    const flight f = std::move(queue.front());
    queue.pop_front();
    add(c.to, mix(c.from + 0x10'000) ^ hash_of(f));
    cluster_.deliver(f.to, f.m, f.payload);
  }

  [[nodiscard]] std::uint64_t identity() const {
    std::uint64_t h = 0;
    for (const std::uint64_t one : hashes_) h = mix(h * 31 + one);
    return h;
  }
  /// For threads that are added by the scenario.
  void remember_threads() {
    for (unsigned n = 0; n < cluster_.options().nodes; ++n) {
      for (const std::size_t t : cluster_.threads_of(node_id{static_cast<std::uint16_t>(n)})) node_of_[t] = n;
    }
  }
  [[nodiscard]] std::string describe(const choice& c) const {
    if (c.what == choice::kind::thread)
      return "thread " + std::to_string(c.from) + " of node " + std::to_string(node_of_.at(c.from));
    const auto& m = flights_.at({c.from, c.to}).front().m;
    return std::to_string(c.from) + " -> " + std::to_string(c.to) + " " + name_of(m.kind) + " unit " +
           std::to_string(m.unit);
  }

 private:
  void send(node_id from, node_id to, const message& m, std::span<const std::byte> payload) override {
    message sent = m;
    sent.from = from;
    flights_[{from.value(), to.value()}].push_back({from, to, sent, {payload.begin(), payload.end()}});
  }
  void go_on(std::size_t thread) override { ready_.push_back(thread); }

  void add(unsigned node, std::uint64_t what) { hashes_[node] = mix(hashes_[node] * 0x9e3779b97f4a7c15u + what); }
  static std::uint64_t hash_of(const flight& f) {
    std::uint64_t h = static_cast<std::uint64_t>(f.m.kind);
    for (const std::uint64_t part :
         {f.m.unit, f.m.a, f.m.b, f.m.token, std::uint64_t{f.m.requester.value()}, std::uint64_t{f.m.flags}})
      h = mix(h * 31 + part);
    for (const std::byte b : f.payload) h = (h ^ static_cast<std::uint64_t>(b)) * 0x100000001b3u;
    return h;
  }

  release_cluster cluster_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::size_t> ready_{};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<flight>> flights_{};
  std::map<std::size_t, unsigned> node_of_{};
};

release_exploration release_explorer::run(bool released, const std::function<void(release_cluster&)>& at_end) {
  release_exploration found;
  std::unordered_set<std::uint64_t> known;
  std::vector<choice> path;
  std::vector<branch> open;  // choices not taken yet, the deepest last
  std::unique_ptr<world> w;
  const auto fail = [&](const std::string& why) {
    found.failure = why;
    world again(shape_, make_);
    again.remember_threads();
    for (const choice& c : path) {
      found.failure += "\n" + again.describe(c);
      again.take(c);
    }
  };
  for (;;) {
    if (w == nullptr) {
      ++found.runs;
      w = std::make_unique<world>(shape_, make_);
      w->remember_threads();
      for (const choice& c : path) w->take(c);
      found.steps += path.size();
    }
    bool ended = true;
    if (known.insert(w->identity()).second) {
      ++found.states;
      std::vector<choice> all = w->choices();
      if (all.empty()) {
        ++found.ends;
        w->cluster().check_quiet(released);
        if (at_end) at_end(w->cluster());
      }
      if (!all.empty() && w->cluster().failure().empty()) {
        const choice next = all.back();
        all.pop_back();
        if (!all.empty()) open.push_back({path.size(), std::move(all)});
        path.push_back(next);
        w->take(next);
        ++found.steps;
        found.longest = std::max(found.longest, path.size());
        ended = false;
      }
      if (!w->cluster().failure().empty()) {
        fail(w->cluster().failure());
        return found;
      }
    }
    if (!ended) continue;
    w = nullptr;
    if (open.empty()) {
      found.complete = true;
      return found;
    }
    if (found.states >= most_states_) return found;
    path.resize(open.back().depth);
    path.push_back(open.back().left.back());
    open.back().left.pop_back();
    if (open.back().left.empty()) open.pop_back();
  }
}

}  // namespace quire::sim
