// SPDX-License-Identifier: BSD-3-Clause
#include "sim/bare/sequential_explorer.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/held_units.hpp"
#include "core/replicas.hpp"
#include "sim/bare/sequential_checkers.hpp"
#include "sim/network.hpp"
#include "sim/random.hpp"

namespace quire::sim {
namespace {

/// Collects words into two hashes that are independent of each other.
class hasher {
 public:
  void add(std::uint64_t word) noexcept {
    a_ = mix(a_ ^ word) + 0x9e3779b97f4a7c15u;
    b_ = mix(b_ + (word ^ 0xd6e8feb86659fd93u)) ^ (b_ << 7);
  }
  template <class T>
  void add_bytes(const T& value) noexcept {
    static_assert(std::has_unique_object_representations_v<T>);
    std::uint64_t words[(sizeof(T) + 7) / 8] = {};
    std::memcpy(words, &value, sizeof(T));
    for (const std::uint64_t w : words) add(w);
  }
  [[nodiscard]] std::uint64_t a() const noexcept { return a_; }
  [[nodiscard]] std::uint64_t b() const noexcept { return b_; }

 private:
  std::uint64_t a_ = 1, b_ = 2;
};

/// Stamps of contents grow for ever; what makes a difference is their order, for each unit by itself.
class stamp_ranks {
 public:
  explicit stamp_ranks(std::size_t units) : known_(units, {0}) {}
  void add(std::uint64_t unit, std::uint64_t stamp) { known_[unit].push_back(stamp); }
  void sort() {
    for (auto& all : known_) std::ranges::sort(all), all.erase(std::ranges::unique(all).begin(), all.end());
  }
  [[nodiscard]] std::uint64_t of(std::uint64_t unit, std::uint64_t stamp) const {
    return static_cast<std::uint64_t>(std::ranges::lower_bound(known_[unit], stamp) - known_[unit].begin());
  }
  static bool carried_by(const message& m) noexcept {
    using enum model::message_kind;
    return m.kind == read_reply || m.kind == write_reply || m.kind == push_copy || m.kind == replica ||
           m.kind == survives;
  }
  [[nodiscard]] message without(message m) const {
    if (carried_by(m)) m.b = of(m.unit, m.b);
    return m;
  }

 private:
  std::vector<std::vector<std::uint64_t>> known_;
};

}  // namespace

explorer::explorer(const cluster_options& shape, std::vector<script> scripts, std::uint64_t most_states)
    : nodes_(shape, std::move(scripts), *this), most_states_(most_states) {}

exploration explorer::run(const std::function<void(const cluster&)>& at_end) {
  add({}, 0, 0);
  while (!open_.empty() && found_.failure.empty()) {
    const situation next = std::move(open_.back());
    open_.pop_back();
    visit(next, at_end);
    if (found_.states <= most_states_) continue;
    found_.complete = false;
    if (cuts_off_) break;
    found_.failure = "more than " + std::to_string(most_states_) + " states";
  }
  if (!found_.failure.empty() || !found_.complete) return found_;
  found_.ends = ends_.size();
  if (const auto lost = states_without_end(); lost != 0) {
    found_.failure = "no end can be reached from " + std::to_string(lost) + " states";
  }
  return found_;
}

void explorer::visit(const situation& from, const std::function<void(const cluster&)>& at_end) {
  nodes_.restore(from.cluster);
  flights_ = from.flights;
  const auto steps = possible_steps();
  if (steps.empty()) {
    ends_.push_back(from.id);
    if (auto wrong = check_quiet(nodes_); !wrong.empty()) found_.failure = wrong + path_to(from.id);
    if (at_end) at_end(nodes_);
    return;
  }
  for (std::size_t i = 0; i < steps.size() && found_.failure.empty(); ++i) {
    if (i != 0) {
      nodes_.restore(from.cluster);
      flights_ = from.flights;
    }
    take(steps[i]);
    ++found_.steps;
    add(steps[i], from.id, from.depth + 1);
  }
}

/// Files the state that the cluster is in now.
void explorer::add(const step& s, std::uint32_t parent, std::uint32_t depth) {
  const auto [place, is_new] = known_.try_emplace(identify(), static_cast<std::uint32_t>(origin_.size()));
  const std::uint32_t id = place->second;
  if (depth != 0) edges_.emplace_back(parent, id);
  if (is_new) {
    ++found_.states;
    found_.deepest = std::max<std::uint64_t>(found_.deepest, depth);
    origin_.emplace_back(s, parent);
    open_.push_back({nodes_.state(), flights_, id, depth});
  }
  if (nodes_.failure().empty()) return;
  found_.failure = nodes_.failure() + path_to(parent) + describe(s);
}

std::vector<explorer::step> explorer::possible_steps() const {
  std::vector<step> all;
  for (std::uint32_t i = 0; i < flights_.size(); ++i) {
    const flight& f = flights_[i];
    if (ordered_ && place_in_pair(i) != 0) continue;
    all.push_back({step::kind::message, f.m.kind, f.to, f.m.from, i});
  }
  const auto& threads = nodes_.state().threads;
  for (std::uint32_t t = 0; t < threads.size(); ++t) {
    if (nodes_.is_frozen(nodes_.node_of(t))) continue;
    if (threads[t].now == thread::state::ready) all.push_back({step::kind::thread, {}, nodes_.node_of(t), {}, t});
    if (nodes_.may_give_up(t)) all.push_back({step::kind::give_up, {}, nodes_.node_of(t), {}, t});
  }
  const auto& o = nodes_.options();
  for (std::uint16_t n = 0; n < o.nodes; ++n) {
    if (nodes_.is_dead(node_id{n})) continue;
    const auto died = static_cast<unsigned>(__builtin_popcountll(nodes_.state().dead));
    if ((o.mortal >> n & 1) != 0 && died < o.deaths) all.push_back({step::kind::death, {}, node_id{n}, {}, 0});
    if (!nodes_.knows_all(node_id{n})) all.push_back({step::kind::news, {}, node_id{n}, {}, 0});
    for (std::uint32_t u = 0; u < nodes_.options().units; ++u) {
      if (nodes_.machine(node_id{n}).unit(u).held != 0) all.push_back({step::kind::hold_over, {}, node_id{n}, {}, u});
    }
  }
  const bool may_fail = nodes_.state().failed < o.store_fails;
  for (std::uint32_t u = 0; u < o.units; ++u) {
    if (!nodes_.is_filling(u)) continue;
    all.push_back({step::kind::filled, {}, nodes_.manager_of(u), {}, u});
    if (may_fail) all.push_back({step::kind::not_filled, {}, nodes_.manager_of(u), {}, u});
  }
  for (std::uint32_t i = 0; i < nodes_.state().flushes.size(); ++i) {
    const node_id home = nodes_.manager_of(nodes_.state().flushes[i].unit);
    all.push_back({step::kind::flushed, {}, home, {}, i});
    if (may_fail) all.push_back({step::kind::not_flushed, {}, home, {}, i});
  }
  return all;
}

/// How many messages that were sent before between the same two nodes are still on their way.
std::uint64_t explorer::place_in_pair(std::size_t flight) const noexcept {
  const auto& f = flights_[flight];
  return static_cast<std::uint64_t>(
      std::count_if(flights_.begin(), flights_.begin() + static_cast<std::ptrdiff_t>(flight),
                    [&f](const auto& g) { return g.to == f.to && g.m.from == f.m.from; }));
}

void explorer::take(const step& s) {
  switch (s.what) {
    case step::kind::start:
      return;
    case step::kind::thread:
      return nodes_.run_thread(s.index);
    case step::kind::give_up:
      return nodes_.give_up(s.index);
    case step::kind::hold_over:
      return nodes_.on_hold_over(s.node, s.index);
    case step::kind::death:
      return kill(s.node);
    case step::kind::news:
      return nodes_.tell(s.node);
    case step::kind::filled:
    case step::kind::not_filled:
      return nodes_.end_fill(s.index, s.what == step::kind::filled);
    case step::kind::flushed:
    case step::kind::not_flushed:
      return nodes_.end_flush(s.index, s.what == step::kind::flushed);
    case step::kind::message:
      break;
  }
  const flight f = flights_[s.index];
  flights_.erase(flights_.begin() + s.index);
  nodes_.deliver(f.to, f.m, std::as_bytes(std::span(f.payload)));
}

/// What was on its way there is gone; what it has sent may arrive, until it is known to be dead.
void explorer::kill(node_id node) {
  std::uint64_t concerned = 0;
  for (const flight& f : flights_) {
    if ((f.to == node || f.m.from == node) && f.m.kind != model::message_kind::recovery)
      concerned |= std::uint64_t{1} << f.m.unit;
  }
  std::erase_if(flights_, [node](const flight& f) { return f.to == node; });
  nodes_.kill(node, concerned);
}

void explorer::send(node_id from, node_id to, const message& m, std::span<const std::byte> payload) {
  if (nodes_.is_dead(to)) return;
  flight f{to, m, std::vector<std::uint64_t>(payload.size() / sizeof(std::uint64_t))};
  f.m.from = from;
  if (!payload.empty()) std::memcpy(f.payload.data(), payload.data(), payload.size());
  flights_.push_back(std::move(f));
}

/// Everything that can make a difference later; not the number of a request's cell, nor how often a thread has faulted.
explorer::fingerprint explorer::identify() const {
  hasher all;
  const cluster_state& s = nodes_.state();
  stamp_ranks ranks(nodes_.options().replicas ? nodes_.options().units : 0);
  if (nodes_.options().replicas) {
    for (std::size_t i = 0; i < s.replicas.size(); ++i) ranks.add(i % nodes_.options().units, s.replicas[i].stamp);
    for (const flight& f : flights_) {
      if (stamp_ranks::carried_by(f.m)) ranks.add(f.m.unit, f.m.b);
    }
    ranks.sort();
  }
  const auto bytes_of = [&](const message& m) { return nodes_.options().replicas ? ranks.without(m) : m; };
  for (const auto& unit : s.units) all.add_bytes(unit);
  for (std::size_t i = 0; i < s.entries.size(); ++i) {
    const auto& e = s.entries[i];
    if (e.touched == 0) continue;
    all.add(i << 48 | std::uint64_t{e.owner.value()} << 16 | e.acks_left);
    all.add(e.copies.bits());
    if (e.requests.empty()) continue;
    auto pool = s.requests[i / nodes_.options().units];
    for (auto list = e.requests; !list.empty(); pool.pop(list)) all.add_bytes(bytes_of(pool.front(list)));
  }
  for (const access view : s.views) all.add(static_cast<std::uint64_t>(view));
  for (const std::uint64_t word : s.contents) all.add(word);
  for (const std::uint64_t word : s.disk) all.add(word);
  for (const std::uint8_t where : s.where) all.add(where);
  for (const std::uint64_t word : s.latest) all.add(word);
  for (const thread& t : s.threads) {
    const std::uint64_t losses = nodes_.options().hold_off ? std::uint64_t{t.faults != 0} << 8 | t.lost : 0;
    all.add(std::uint64_t{t.next} << 32 | losses << 8 | std::uint64_t{t.pinning} << 7 |
            static_cast<std::uint64_t>(t.now));
    all.add(mix(t.pins) ^ t.seen);
  }
  all.add(s.dead);
  all.add(s.touched_by_dead);
  for (const auto& one : s.recoveries) one.for_each_word([&](std::uint64_t word) { all.add(word); });
  for (const auto& r : s.replicas) {
    all.add(ranks.of(static_cast<std::size_t>(&r - s.replicas.data()) % nodes_.options().units, r.stamp));
    all.add(std::uint64_t{r.next} << 32 | std::uint64_t{r.backup} << 16 | std::uint64_t{r.wished} << 8 | r.unsaved |
            r.saving << 1 | r.stalled << 2);
    if (!r.orders.empty())
      all.add_bytes(
          s.requests[static_cast<std::size_t>(&r - s.replicas.data()) / nodes_.options().units].front(r.orders));
  }
  for (const auto& b : s.books) {
    all.add(std::uint64_t{b.unsaved.head} << 32 | b.saving.head);  // clocks: check_copies()
  }
  for (const auto& r : s.rounds) {
    all.add(r.asked > r.ended ? r.asked - r.ended : 0);
    all.add(r.unanswered << 2 | std::uint64_t{r.active} << 1 | std::uint64_t{r.wanted});
  }
  for (std::size_t n = 0; n < s.gates.size(); ++n) {
    const auto& gate = s.gates[n];
    for (const gated& one : gate) {
      all.add((one.ticket - s.rounds[n].ended) << 16 | one.to.value());
      all.add_bytes(one.m);
    }
    all.add(gate.size());
  }
  if (nodes_.options().replicas) {
    s.knows.for_each_word([&](std::uint64_t word) { all.add(word); });
    all.add(s.reconciled);
    all.add(s.calm);
    for (const auto& m : s.members) {
      all.add(m.mended);
      all.add(m.together);
    }
  }
  if (nodes_.options().stored) {
    for (const auto& e : s.entries) all.add(e.dirty | e.wanted << 1 | e.flushing << 2 | e.leaving << 3);
    for (const std::uint64_t word : s.store) all.add(word);
    for (const auto& queue : s.parked_here) {
      all.add(queue.size());
      for (const parked& p : queue) {
        all.add(p.thread);
        all.add_bytes(p.m);
      }
    }
    fingerprint ways;  // which of them was begun first makes no difference
    for (const auto& f : s.flushes) {
      hasher one;
      one.add(f.unit);
      for (const std::uint64_t word : f.content) one.add(word);
      ways.a += mix(one.a());
      ways.b += mix(one.b());
    }
    all.add(ways.a);
    all.add(ways.b);
    for (const auto& waiting : s.syncs) {
      all.add(waiting.size());
      for (const waiting_sync& w : waiting) {
        all.add(std::uint64_t{w.next});
        all.add_bytes(w.call);
      }
    }
    for (const auto& waiting : s.leaves) {
      all.add(waiting.size());
      for (const message& m : waiting) all.add_bytes(m);
    }
    all.add(s.failed);
  }
  // Where a pin stands in its table makes no difference.
  fingerprint pins;
  for (std::size_t n = 0; n < s.pins.size(); ++n) {
    s.pins[n].for_each([&](const sequential::pin& p) {
      hasher one;
      one.add(std::uint64_t{n} << 48 | p.unit << 32 | p.count);
      one.add_bytes(p.waiting);
      pins.a += mix(one.a());
      pins.b += mix(one.b());
    });
  }
  all.add(pins.a);
  all.add(pins.b);
  // The messages on their way are a set of rows: the sum of their hashes does not depend on the order between pairs.
  fingerprint set;
  for (std::size_t i = 0; i < flights_.size(); ++i) {
    const flight& f = flights_[i];
    hasher one;
    one.add((ordered_ ? place_in_pair(i) : 0) << 16 | f.to.value());
    one.add_bytes(bytes_of(f.m));
    for (const std::uint64_t word : f.payload) one.add(word);
    set.a += mix(one.a());
    set.b += mix(one.b());
  }
  all.add(set.a);
  all.add(set.b);
  return {all.a(), all.b()};
}

/// Walks back from the ends along all steps.
std::uint64_t explorer::states_without_end() const {
  const std::size_t states = origin_.size();
  std::vector<std::uint32_t> first(states + 1), parents(edges_.size());
  for (const auto& [from, to] : edges_) ++first[to];
  for (std::size_t i = 1; i <= states; ++i) first[i] += first[i - 1];
  for (const auto& [from, to] : edges_) parents[--first[to]] = from;
  std::vector<bool> reaches(states);
  std::vector<std::uint32_t> open = ends_;
  std::uint64_t count = 0;
  while (!open.empty()) {
    const std::uint32_t id = open.back();
    open.pop_back();
    if (reaches[id]) continue;
    reaches[id] = true;
    ++count;
    for (std::uint32_t i = first[id]; i < first[id + 1]; ++i) open.push_back(parents[i]);
  }
  return states - count;
}

std::string explorer::path_to(std::uint32_t id) const {
  std::string text;
  for (; id != 0; id = origin_[id].second) text = describe(origin_[id].first) + text;
  return "\n" + text;
}

std::string explorer::describe(const step& s) {
  const std::string node = "node " + std::to_string(s.node.value());
  switch (s.what) {
    case step::kind::message:
      return node + " <- " + std::to_string(s.from.value()) + " " + name_of(s.message) + "\n";
    case step::kind::thread:
      return node + " thread " + std::to_string(s.index) + " runs\n";
    case step::kind::give_up:
      return node + " thread " + std::to_string(s.index) + " gives up\n";
    case step::kind::hold_over:
      return node + " hold of unit " + std::to_string(s.index) + " is over\n";
    case step::kind::death:
      return node + " dies\n";
    case step::kind::news:
      return node + " is told of deaths\n";
    case step::kind::filled:
      return node + " fills unit " + std::to_string(s.index) + "\n";
    case step::kind::not_filled:
      return node + " cannot fill unit " + std::to_string(s.index) + "\n";
    case step::kind::flushed:
      return node + " has flushed\n";
    case step::kind::not_flushed:
      return node + " cannot flush\n";
    case step::kind::start:
      break;
  }
  return {};
}

}  // namespace quire::sim
