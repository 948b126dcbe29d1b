// SPDX-License-Identifier: BSD-3-Clause
#include "predict/graph.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include "model/message.hpp"
#include "predict/unseen.hpp"

namespace quire::tools::predict {
namespace {

using record::event;
using record::event_type;

/// Who is still there is asked by the clock of the machine, and nobody waits for it.
bool counts(const event& e) {
  const bool message = e.type == event_type::comes || e.type == event_type::leaves;
  return e.type != event_type::none && !(message && e.kind == static_cast<std::uint8_t>(model::message_kind::watch));
}
bool is_context(event_type t) {
  return t == event_type::executes || t == event_type::comes || t == event_type::comes_here;
}
bool brings_content(const event& e) {
  return e.type == event_type::comes && e.bytes != 0 &&
         e.kind < static_cast<std::uint8_t>(model::message_kind::sync_first);
}

bool is_of_thread(event_type t) {
  return t == event_type::asks || t == event_type::goes_on || t == event_type::met || t == event_type::ends;
}
/// Those that do some of the work: others are of Quire.
std::size_t threads_in(const node_events& n) {
  constexpr double least = 0.01;
  std::map<std::uint16_t, std::uint64_t> processor_ns;
  for (const event& e : n.all)
    if (is_of_thread(e.type)) processor_ns[e.peer] = e.value;
  std::uint64_t most = 0;
  for (const auto& [thread, ns] : processor_ns) most = std::max(most, ns);
  return static_cast<std::size_t>(std::ranges::count_if(processor_ns, [&](const auto& one) {
    return static_cast<double>(one.second) >= least * static_cast<double>(most);
  }));
}

struct thread_so_far {
  std::uint32_t number = 0, last = no_step, asked = no_step;
  std::uint64_t processor_ns = 0, asked_ns = 0, at_ns = 0;
  std::uint32_t core_wait_us = 0;
};
struct node_so_far {
  std::vector<std::uint32_t> step_of{};  ///< by place in the record
  std::map<std::uint16_t, thread_so_far> threads{};
  std::unordered_map<std::uint64_t, std::uint32_t> last_of{};  ///< context by key
  std::deque<std::uint32_t> to_itself{};                       ///< contexts of messages that are on their way
  std::vector<std::uint32_t> content{};                        ///< that came, and no thread has waited since
  std::uint32_t last_context = no_step;
  std::vector<std::pair<double, std::uint32_t>> happened{};  ///< contexts, and when

  /// The last context that was there when a thread began, which may have worked for long until its first event.
  [[nodiscard]] std::uint32_t before(double ns) const {
    const auto after = std::ranges::upper_bound(happened, ns, {}, &std::pair<double, std::uint32_t>::first);
    return after == happened.begin() ? no_step : std::prev(after)->second;
  }
};

/// Real time since a thread's last event in which it has neither used a core nor waited for one. The system counts with
/// less than full precision.
double slept_ns(const thread_so_far& t, const event& now) {
  constexpr double least_ns = 200'000;
  const double away = static_cast<double>(now.ns - t.at_ns) - static_cast<double>(now.value - t.processor_ns) -
                      1e3 * static_cast<double>(now.bytes - t.core_wait_us);
  return away < least_ns ? 0 : away;
}

class builder {
 public:
  builder(const std::vector<node_events>& job, order keep, double speed, unsigned threads_a_node)
      : job_(job), keep_(keep), speed_(speed), threads_a_node_(threads_a_node), nodes_(job.size()) {}
  graph build() {
    for (std::size_t n = 0; n < job_.size(); ++n) add_steps(n);
    for (const auto& n : job_) threads_of_.push_back(work_of(n, threads_a_node_).unseen_ns > 0 ? 2 : threads_in(n));
    for (std::size_t n = 0; n < job_.size(); ++n) add_node(n);
    for (auto& [pair, taken] : taken_) connect(sent_[pair], taken);
    add_lock_requests();
    made_.threads = threads_;
    return std::move(made_);
  }

 private:
  void add_steps(std::size_t n) {
    auto& here = nodes_[n];
    here.step_of.reserve(job_[n].all.size());
    for (const event& e : job_[n].all) {
      const bool one = counts(e) && e.type != event_type::leaves && e.type != event_type::leaves_here;
      here.step_of.push_back(one ? static_cast<std::uint32_t>(made_.steps.size()) : no_step);
      if (!one) continue;
      step& s = made_.steps.emplace_back();
      key_of_.push_back(is_context(e.type) ? e.key : 0);
      s.type = e.type;
      s.kind = e.kind;
      s.node = static_cast<std::uint16_t>(n);
      if (is_context(e.type)) s.ns = static_cast<double>(e.value);
    }
  }
  void need(std::uint32_t from, std::uint32_t to, double ns = 0, bool is_order = false) {
    if (from == no_step || to == no_step || from == to) return;
    made_.edges.push_back({to, made_.steps[from].first_edge, ns, is_order});
    made_.steps[from].first_edge = static_cast<std::uint32_t>(made_.edges.size() - 1);
    ++made_.steps[to].needs;
  }
  void add_node(std::size_t n) {
    for (std::size_t at = 0; at < job_[n].all.size(); ++at) {
      const event& e = job_[n].all[at];
      if (!counts(e)) continue;
      const std::uint32_t self = nodes_[n].step_of[at];
      if (e.type == event_type::leaves) {
        sent_[{n, e.peer}].push_back({context_of(n, e), e});
      } else if (e.type == event_type::leaves_here) {
        nodes_[n].to_itself.push_back(context_of(n, e));
      } else if (is_context(e.type)) {
        add_context(n, e, self);
      } else {
        add_of_thread(n, e, self);
      }
    }
  }
  std::uint32_t step_at(std::size_t n, std::uint64_t place) const {
    return place == 0 || place > nodes_[n].step_of.size() ? no_step : nodes_[n].step_of[place - 1];
  }
  /// In which a message has left.
  std::uint32_t context_of(std::size_t n, const event& e) const {
    const std::uint32_t told = step_at(n, e.value);
    return told != no_step ? told : nodes_[n].last_context;
  }
  void add_context(std::size_t n, const event& e, std::uint32_t self) {
    auto& here = nodes_[n];
    std::uint32_t before = here.last_context;
    if (e.type == event_type::comes) {
      taken_[{e.peer, n}].push_back(self);
      before = no_step;
    } else if (e.type == event_type::comes_here && !here.to_itself.empty()) {
      before = here.to_itself.front();
      here.to_itself.pop_front();
    } else if (const std::uint32_t asked = step_at(n, e.bytes); e.type == event_type::executes && asked != no_step) {
      before = asked;
    }
    need(before, self);
    if (keep_ == order::strict && before != here.last_context) need(here.last_context, self, 0, true);
    if (e.key != 0) {
      auto& last = here.last_of.try_emplace(e.key, no_step).first->second;
      if (last != before) need(last, self, 0, true);
      last = self;
    }
    if (e.type == event_type::executes && before != no_step && asks_for_lock(made_.steps[before]))
      asking_.emplace_back(self, e.key);
    if (keep_ != order::loose && brings_content(e)) here.content.push_back(self);
    here.last_context = self;
    here.happened.emplace_back(static_cast<double>(e.ns), self);
  }
  void add_of_thread(std::size_t n, const event& e, std::uint32_t self) {
    auto& here = nodes_[n];
    const auto [place, is_new] = here.threads.try_emplace(e.peer);
    thread_so_far& t = place->second;
    if (is_new) {
      t.number = threads_++;
      t.last = here.before(static_cast<double>(e.ns) - static_cast<double>(e.value) - 1e3 * e.bytes);
    }
    step& s = made_.steps[self];
    s.thread = t.number;
    const bool alone = threads_of_[n] <= 1;  // else it may have waited for another one of its node
    if (e.type == event_type::goes_on) {
      const std::uint32_t by = step_at(n, e.key);
      need(t.asked, self, by == no_step ? static_cast<double>(e.ns - t.asked_ns) : 0);
      need(by, self);
      s.kind = t.asked == no_step ? std::uint8_t{0} : made_.steps[t.asked].kind;
    } else {
      s.ns = static_cast<double>(e.value - std::min(e.value, t.processor_ns)) / speed_;
      s.slept_ns = is_new ? 0 : slept_ns(t, e);
      need(t.last, self, s.ns + (alone ? s.slept_ns : 0));
    }
    for (const std::uint32_t content : std::exchange(here.content, {})) need(content, self);
    if (e.type == event_type::asks) t.asked = self, t.asked_ns = e.ns;
    t.last = self;
    t.processor_ns = e.value;
    t.core_wait_us = e.bytes;
    t.at_ns = e.ns;
  }
  static bool asks_for_lock(const step& s) {
    return s.type == event_type::asks && s.kind == static_cast<std::uint8_t>(record::asked::lock);
  }
  /// A lock is asked for where it is kept: in the context that has executed the call, or in those to which that has
  /// sent a message about it; one about something else, as a diff that is to be there first, asks for nothing. Steps of
  /// a node are numbered as they came.
  void add_lock_requests() {
    std::map<std::pair<std::uint16_t, std::uint64_t>, std::vector<std::uint32_t>> of;
    const auto add = [&](std::uint32_t s, std::uint64_t key) { of[{made_.steps[s].node, key}].push_back(s); };
    for (const auto& [context, key] : asking_) {
      bool is_here = true;
      for (std::uint32_t m = made_.steps[context].first_message; m != no_step; m = made_.messages[m].next) {
        if (key_of_[made_.messages[m].to] != key) continue;
        add(made_.messages[m].to, key);
        is_here = false;
      }
      if (is_here) add(context, key);
    }
    for (auto& [where, requests] : of) {
      std::ranges::sort(requests);
      made_.lock_requests.push_back(std::move(requests));
    }
  }
  struct sent {
    std::uint32_t context = no_step;
    event what{};
  };
  /// The n-th that has left is the n-th that has come. One that has come from nowhere needs nothing.
  void connect(const std::vector<sent>& all, const std::vector<std::uint32_t>& taken) {
    made_.from_nowhere += taken.size() - std::min(all.size(), taken.size());
    for (std::size_t i = 0; i < std::min(all.size(), taken.size()); ++i) {
      const sent& one = all[i];
      if (one.context == no_step) continue;
      step& from = made_.steps[one.context];
      made_.messages.push_back({taken[i], from.first_message, one.what.peer, one.what.bytes});
      from.first_message = static_cast<std::uint32_t>(made_.messages.size() - 1);
      ++made_.steps[taken[i]].needs;
    }
  }

  const std::vector<node_events>& job_;
  order keep_;
  double speed_;
  unsigned threads_a_node_;
  std::vector<node_so_far> nodes_;
  std::vector<std::size_t> threads_of_{};
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<sent>> sent_{};
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::uint32_t>> taken_{};
  std::vector<std::uint64_t> key_of_{};                            ///< of steps that are contexts: what they are about
  std::vector<std::pair<std::uint32_t, std::uint64_t>> asking_{};  ///< contexts of calls that ask for a lock, and which
  graph made_{};
  std::uint32_t threads_ = 0;
};

}  // namespace

graph graph_of(const std::vector<node_events>& job, order keep, double speed, unsigned threads_a_node) {
  return builder(job, keep, speed, threads_a_node).build();
}

}  // namespace quire::tools::predict
