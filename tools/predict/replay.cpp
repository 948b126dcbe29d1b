// SPDX-License-Identifier: BSD-3-Clause
#include "predict/replay.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "predict/graph.hpp"
#include "predict/unseen.hpp"

namespace quire::tools::predict {
namespace {

using record::event_type;

// Others are of Quire: they wait all the time, for what other nodes want. As a share of the time.
constexpr double least_work = 0.01;
constexpr double much_work_ns = 100'000;
constexpr double follow_up_ns = 20'000;  // who has served something looks on for so long

struct node_state {
  double free_ns = 0;    ///< its driver has done what it had to do
  double stolen_ns = 0;  ///< of threads that compute
  double beside_ns = 0;  ///< the same, of what messages take beside those who send and take them
  double core_ns = 0;    ///< until then its core does that while nobody computes
  double met_ns = -1;    ///< -1: it has not
  unsigned threads = 0, waiting = 0;
};
struct thread_state_of {
  bool seen = false, is_programs = false;  ///< it was there when all nodes had met
  double asked_ns = 0, stolen_ns = 0, beside_ns = 0;
  double work_ns = 0, slept_ns = 0;  ///< since all nodes had met
  std::array<double, record::asked_kinds> waits_ns{};
};
struct host_state {
  double out_free_ns = 0, in_free_ns = 0, out_busy_ns = 0, in_busy_ns = 0;
};

/// A step whose needs are there, or a message whose first byte is at its host.
struct due {
  double ns = 0;
  std::uint64_t turn = 0;  ///< what is due at the same time comes in the order in which it became due
  std::uint32_t what = 0;
  bool is_message = false;
  bool operator>(const due& other) const { return ns != other.ns ? ns > other.ns : turn > other.turn; }
};

class simulation {
 public:
  simulation(const std::vector<node_events>& job, const hardware& on, order keep)
      : on_(on),
        all_(graph_of(job, keep, on.speed, on.threads_a_node)),
        ready_(all_.steps.size(), 0.0),
        came_(all_.steps.size(), 0.0),
        nodes_(job.size()),
        threads_(all_.threads),
        hosts_(job.size() / std::max(1u, on.nodes_a_host) + 1) {}

  outcome run() {
    for (std::uint32_t i = 0; i < all_.steps.size(); ++i)
      if (all_.steps[i].needs == 0) push(0, i, false);
    while (!queue_.empty()) {
      const due next = queue_.top();
      queue_.pop();
      next.is_message ? arrive(next) : take(next);
    }
    for (const host_state& h : hosts_)
      told_.busiest_link_ns = std::max({told_.busiest_link_ns, h.out_busy_ns, h.in_busy_ns});
    told_.ns = std::max(0.0, (end_ns_ >= 0 ? std::max(end_ns_, worked_ns_) : last_ns_) - met_ns_);
    for (const thread_state_of& t : threads_)
      if (t.is_programs || t.work_ns > least_work * told_.ns) add(t);
    told_.undone = all_.steps.size() - done_ + all_.from_nowhere;
    tell_turned();
    return told_;
  }

 private:
  /// Another node has met the others: what was before is the start.
  void begin_at(double now) {
    met_ns_ = now;
    told_.served_ns = 0;
    told_.messages = told_.bytes = 0;
    for (host_state& h : hosts_) h.out_busy_ns = h.in_busy_ns = 0;
    for (thread_state_of& t : threads_) {
      t.work_ns = t.slept_ns = 0;
      t.waits_ns = {};
    }
  }
  void add(const thread_state_of& t) {
    ++told_.threads;
    told_.work_ns += t.work_ns;
    told_.slept_ns += t.slept_ns;
    for (std::size_t i = 0; i < t.waits_ns.size(); ++i) told_.waits_ns[i] += t.waits_ns[i];
  }
  /// In the order of the record. What waits for several that had come first, or while others wait likewise, waits once.
  void tell_turned() {
    std::vector<std::pair<double, double>> waits;
    for (const auto& requests : all_.lock_requests) {
      double last_ns = met_ns_;
      for (const std::uint32_t s : requests) {
        if (all_.steps[s].needs != 0) continue;  // it never came
        if (came_[s] >= met_ns_ && came_[s] < last_ns) waits.emplace_back(came_[s], last_ns);
        last_ns = std::max(last_ns, came_[s]);
      }
    }
    told_.turned = waits.size();
    std::ranges::sort(waits);
    double until_ns = met_ns_;
    for (const auto& [from, to] : waits) {
      told_.turned_ns += std::max(0.0, to - std::max(from, until_ns));
      until_ns = std::max(until_ns, to);
    }
  }
  void push(double ns, std::uint32_t what, bool is_message) { queue_.push({ns, turn_++, what, is_message}); }
  [[nodiscard]] host_state& host_of(std::size_t node) { return hosts_[node / std::max(1u, on_.nodes_a_host)]; }
  [[nodiscard]] double link_ns(std::uint32_t bytes) const {
    return on_.net.bytes_a_second <= 0
               ? 0
               : static_cast<double>(bytes + on_.net.frame_bytes) * 1e9 / on_.net.bytes_a_second;
  }
  void satisfy(std::uint32_t s, double ns, bool is_order = false) {
    ready_[s] = std::max(ready_[s], ns);
    if (!is_order) came_[s] = std::max(came_[s], ns);
    if (--all_.steps[s].needs == 0) push(ready_[s], s, false);
  }
  void finish(std::uint32_t s, double ns) {
    ++done_;
    for (std::uint32_t e = all_.steps[s].first_edge; e != no_step; e = all_.edges[e].next)
      satisfy(all_.edges[e].to, ns + all_.edges[e].ns, all_.edges[e].is_order);
  }
  void take(const due& now) {
    const step& s = all_.steps[now.what];
    switch (s.type) {
      case event_type::executes:
      case event_type::comes:
      case event_type::comes_here:
        return serve(now.what, s, now.ns);
      case event_type::goes_on:
        return go_on(now.what, s, now.ns);
      default:
        return stop(now.what, s, now.ns);
    }
  }
  [[nodiscard]] bool is_remote(const message_sent& m, std::size_t from) const {
    const unsigned each = std::max(1u, on_.nodes_a_host);
    return m.peer / each != from / each;
  }
  [[nodiscard]] bool fills_its_cores(const node_state& n) const { return n.threads >= on_.cores_a_node; }
  /// Of a core: threads that compute work so much longer, one that waits goes on when its core is free again.
  void take_beside(node_state& n, double now) {
    if (on_.net.beside_ns == 0 || !fills_its_cores(n)) return;
    if (n.waiting < n.threads)
      n.beside_ns += on_.net.beside_ns;
    else
      n.core_ns = std::max(n.core_ns, now) + on_.net.beside_ns;
  }
  void serve(std::uint32_t self, const step& s, double now) {
    node_state& n = nodes_[s.node];
    double begin = std::max(now, n.free_ns);
    const bool computes = n.waiting == 0;
    if (s.type == event_type::comes && computes && begin - n.free_ns > follow_up_ns) begin += on_.net.wake_ns;
    double end = begin + s.ns / on_.speed + (s.type == event_type::comes ? on_.take_ns + on_.net.receive_ns : 0);
    for (std::uint32_t m = s.first_message; m != no_step; m = all_.messages[m].next)
      if (is_remote(all_.messages[m], s.node)) end += on_.net.send_ns;
    n.free_ns = end;
    if (computes && fills_its_cores(n)) n.stolen_ns += end - begin;
    if (n.met_ns >= 0) told_.served_ns += end - begin;
    send_all(s, end);
    finish(self, end);
  }
  /// In the order in which they left: the list has the last one first.
  void send_all(const step& s, double now) {
    leaving_.clear();
    for (std::uint32_t m = s.first_message; m != no_step; m = all_.messages[m].next) leaving_.push_back(m);
    for (auto it = leaving_.rbegin(); it != leaving_.rend(); ++it) {
      const message_sent& m = all_.messages[*it];
      ++told_.messages;
      told_.bytes += m.bytes;
      if (!is_remote(m, s.node)) {
        satisfy(m.to, now + on_.local_latency_ns);
        continue;
      }
      host_state& h = host_of(s.node);
      const double begin = std::max(now, h.out_free_ns), on_link = link_ns(m.bytes);
      h.out_free_ns = begin + on_link;
      h.out_busy_ns += on_link;
      take_beside(nodes_[s.node], now);
      push(begin + on_.net.latency_ns, *it, true);
    }
  }
  void arrive(const due& now) {
    const message_sent& m = all_.messages[now.what];
    host_state& h = host_of(m.peer);
    const double on_link = link_ns(m.bytes);
    h.in_free_ns = std::max(now.ns, h.in_free_ns) + on_link;
    h.in_busy_ns += on_link;
    take_beside(nodes_[m.peer], h.in_free_ns);
    satisfy(m.to, h.in_free_ns);
  }
  void go_on(std::uint32_t self, const step& s, double now) {
    node_state& n = nodes_[s.node];
    thread_state_of& t = threads_[s.thread];
    if (n.waiting != 0) --n.waiting;
    t.stolen_ns = n.stolen_ns;
    t.beside_ns = n.beside_ns - std::max(0.0, n.core_ns - now);
    if (n.met_ns >= 0)
      t.waits_ns[std::min<std::size_t>(s.kind, record::asked_kinds - 1)] += now - std::max(t.asked_ns, met_ns_);
    last_ns_ = std::max(last_ns_, now);
    finish(self, now);
  }
  /// A thread has computed, and asks for something, or ends. What its node has served meanwhile it does later.
  void stop(std::uint32_t self, const step& s, double now) {
    node_state& n = nodes_[s.node];
    thread_state_of& t = threads_[s.thread];
    if (!t.seen) {
      t.seen = true;
      t.beside_ns = n.beside_ns;  // it may have begun just now
      ++n.threads;
    }
    const double served = std::min(n.stolen_ns - t.stolen_ns, s.ns), lacked = n.beside_ns - t.beside_ns;
    if (served + lacked > 0 && s.ns > 0) {
      t.stolen_ns = n.stolen_ns;
      t.beside_ns = n.beside_ns;
      return push(now + served + lacked, self, false);
    }
    if (n.met_ns >= 0) {
      t.work_ns += std::min(s.ns, now - met_ns_);
      t.slept_ns += s.slept_ns;
    }
    t.asked_ns = now;
    if (s.ns >= much_work_ns) worked_ns_ = now;
    if (s.type == event_type::asks) ++n.waiting;
    if (s.type == event_type::met) {
      n.met_ns = now;
      begin_at(now);
      t.is_programs = true;
    }
    if (s.type == event_type::ends) end_ns_ = std::max(end_ns_, now);
    last_ns_ = std::max(last_ns_, now);
    finish(self, now);
  }

  const hardware& on_;
  graph all_;
  std::vector<double> ready_;  ///< when all that a step needs is there
  std::vector<double> came_;   ///< the same but for the order of the record
  std::vector<node_state> nodes_;
  std::vector<thread_state_of> threads_;
  std::vector<host_state> hosts_;
  std::priority_queue<due, std::vector<due>, std::greater<>> queue_{};
  std::vector<std::uint32_t> leaving_{};
  std::uint64_t turn_ = 0, done_ = 0;
  double met_ns_ = 0;     ///< when the last node so far had met the others
  double end_ns_ = -1;    ///< -1: no thread has come to its end
  double worked_ns_ = 0;  ///< a thread has last done much at a time: main() may wait for it unseen
  double last_ns_ = 0;    ///< of what threads do
  outcome told_{};
};

}  // namespace

outcome replay(const std::vector<node_events>& job, const hardware& on, order keep) {
  outcome told = simulation(job, on, keep).run();
  for (const node_events& n : job) {
    const node_work w = work_of(n, on.threads_a_node);
    const double of_cores_ns = (w.seen_ns + w.unseen_ns) / std::max(1u, on.cores_a_node);
    told.ns = std::max({told.ns, least_ns(w) / on.speed, of_cores_ns / on.speed});
    told.unseen_ns += w.unseen_ns / on.speed;
  }
  told.work_ns += told.unseen_ns;
  return told;
}

}  // namespace quire::tools::predict
