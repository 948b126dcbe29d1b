// SPDX-License-Identifier: BSD-3-Clause
#include "predict/unseen.hpp"

#include <algorithm>
#include <map>

namespace quire::tools::predict {
namespace {

using record::event_type;

constexpr double little = 0.15;  // of all: what the service thread does between contexts, and clocks that differ

struct thread_work {
  std::uint64_t begin_ns = 0, last_ns = 0, waits_ns = 0, asked_ns = 0;
};

}  // namespace

node_work work_of(const node_events& n, unsigned at_least) {
  std::map<std::uint16_t, thread_work> threads;
  std::uint64_t met_ns = 0, end_ns = 0, contexts_ns = 0;
  bool met = false;
  std::uint16_t main = 0;
  for (const record::event& e : n.all) {
    if (e.type == event_type::executes || e.type == event_type::comes || e.type == event_type::comes_here) {
      if (met) contexts_ns += e.value;
      continue;
    }
    if (e.type != event_type::asks && e.type != event_type::goes_on && e.type != event_type::met &&
        e.type != event_type::ends)
      continue;
    thread_work& t = threads[e.peer];
    if (e.type == event_type::asks) t.asked_ns = e.value;
    if (e.type == event_type::goes_on && met) t.waits_ns += e.value - std::min(e.value, t.asked_ns);
    if (!met) t.begin_ns = e.value;
    t.last_ns = e.value;
    if (e.type == event_type::met) met_ns = e.key, met = true, main = e.peer;
    if (e.type == event_type::ends) end_ns = e.key;
  }
  node_work w;
  double all_ns = 0, main_ns = 0;
  for (const auto& [number, t] : threads) {
    const auto used = static_cast<double>(t.last_ns - std::min(t.last_ns, t.begin_ns));
    const double worked = std::max(0.0, used - static_cast<double>(t.waits_ns));
    all_ns += used;
    w.seen_ns += worked;
    if (number == main) main_ns = worked;
  }
  if (end_ns <= met_ns || met_ns == 0) return w;  // a run that was cut
  const auto process_ns = static_cast<double>(end_ns - met_ns);
  const double rest = process_ns - all_ns - static_cast<double>(contexts_ns);
  if (rest > little * process_ns && std::max<std::size_t>(threads.size(), at_least) > 1) w.unseen_ns = rest;
  // A main() that has made others waits for them, as a rule.
  w.threads = static_cast<unsigned>(threads.size());
  if (w.threads > 1 && main_ns * w.threads < 0.1 * (w.seen_ns + w.unseen_ns)) --w.threads;
  w.threads = std::max({1u, w.threads, at_least});
  return w;
}

double silent_ns(const std::vector<node_events>& job, std::uint64_t cut_ns) {
  std::uint64_t longest = 0;
  for (const node_events& n : job) {
    std::map<std::uint16_t, const record::event*> last;
    for (const record::event& e : n.all)
      if (e.type == event_type::asks || e.type == event_type::goes_on || e.type == event_type::met ||
          e.type == event_type::ends)
        last[e.peer] = &e;
    for (const auto& [thread, e] : last)
      if (e->type == event_type::goes_on || e->type == event_type::met)
        longest = std::max(longest, cut_ns - std::min(cut_ns, e->ns));
  }
  return static_cast<double>(longest);
}

double least_ns(const node_work& w) { return w.unseen_ns == 0 ? 0 : (w.seen_ns + w.unseen_ns) / w.threads; }

}  // namespace quire::tools::predict
