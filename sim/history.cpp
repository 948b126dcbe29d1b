// SPDX-License-Identifier: BSD-3-Clause
#include "sim/history.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace quire::sim::history {
namespace {

enum class kind : std::uint8_t { wr, ww, rw, time };

struct edge {
  std::size_t to = 0;
  kind what = kind::time;
  std::uint64_t variable = 0;
  std::uint64_t value = 0;  ///< that the first attempt reads or writes
  std::uint64_t next = 0;   ///< ww, rw: that the second one writes
};

/// Vertices: attempts, and behind them moments. A moment is after all attempts that lead to it, and before all to which
/// it leads; each leads to the next one. So real time takes two edges an attempt.
class graph {
 public:
  explicit graph(std::size_t attempts) : attempts_(attempts), edges_(attempts) {}
  void add(std::size_t from, const edge& e) {
    if (from != e.to) edges_[from].push_back(e);
  }
  std::size_t add_moment() {
    edges_.emplace_back();
    return edges_.size() - 1;
  }
  [[nodiscard]] std::size_t vertices() const noexcept { return edges_.size(); }
  [[nodiscard]] bool is_moment(std::size_t v) const noexcept { return v >= attempts_; }
  [[nodiscard]] std::vector<std::vector<std::size_t>> components() const;
  /// Of a strongly connected component, as edges with where they begin. `mark` is that of the component's vertices.
  struct step {
    std::size_t from = 0;
    edge by{};
  };
  [[nodiscard]] std::vector<step> shortest_cycle(const std::vector<std::size_t>& component,
                                                 const std::vector<std::size_t>& marks, std::size_t mark) const;

 private:
  std::size_t attempts_;
  std::vector<std::vector<edge>> edges_;
};

/// Those of more than one vertex, by Tarjan's algorithm, without recursion.
std::vector<std::vector<std::size_t>> graph::components() const {
  constexpr std::size_t never = ~std::size_t{0};
  struct frame {
    std::size_t vertex, next;
  };
  std::vector<std::size_t> order(edges_.size(), never), low(edges_.size()), stack;
  std::vector<bool> on_stack(edges_.size());
  std::vector<frame> calls;
  std::vector<std::vector<std::size_t>> found;
  std::size_t count = 0;
  const auto enter = [&](std::size_t v) {
    order[v] = low[v] = count++;
    stack.push_back(v);
    on_stack[v] = true;
    calls.push_back({v, 0});
  };
  for (std::size_t root = 0; root < edges_.size(); ++root) {
    if (order[root] != never) continue;
    enter(root);
    while (!calls.empty()) {
      const std::size_t v = calls.back().vertex;
      if (calls.back().next < edges_[v].size()) {
        const std::size_t to = edges_[v][calls.back().next++].to;
        if (order[to] == never) {
          enter(to);
        } else if (on_stack[to]) {
          low[v] = std::min(low[v], order[to]);
        }
        continue;
      }
      calls.pop_back();
      if (!calls.empty()) low[calls.back().vertex] = std::min(low[calls.back().vertex], low[v]);
      if (low[v] != order[v]) continue;
      const auto first = std::find(stack.begin(), stack.end(), v);
      for (auto each = first; each != stack.end(); ++each) on_stack[*each] = false;
      if (stack.end() - first > 1) found.emplace_back(first, stack.end());
      stack.erase(first, stack.end());
    }
  }
  return found;
}

/// Breadth first from each attempt in turn, never deeper than the best so far; moments count nothing.
std::vector<graph::step> graph::shortest_cycle(const std::vector<std::size_t>& component,
                                               const std::vector<std::size_t>& marks, std::size_t mark) const {
  constexpr std::size_t most_starts = 2'000;  // of a component so large the cycle may be longer than necessary
  constexpr std::size_t far = ~std::size_t{0};
  std::vector<step> best;
  std::size_t bound = far, starts = 0;
  std::vector<std::size_t> distance(edges_.size(), far), touched;
  std::vector<step> came(edges_.size());
  for (const std::size_t start : component) {
    if (is_moment(start) || bound == 2 || ++starts > most_starts) continue;
    for (const std::size_t v : touched) distance[v] = far;
    touched.assign(1, start);
    distance[start] = 0;
    std::deque<std::pair<std::size_t, std::size_t>> queue{{start, 0}};
    while (!queue.empty()) {
      const auto [v, so_far] = queue.front();
      queue.pop_front();
      if (so_far > distance[v] || so_far >= bound) continue;
      for (const edge& e : edges_[v]) {
        if (marks[e.to] != mark) continue;
        const std::size_t there = so_far + (is_moment(e.to) ? 0 : 1);
        if (e.to == start && there < bound) {
          bound = there;
          best.assign(1, {v, e});
          for (std::size_t at = v; at != start; at = came[at].from) best.push_back(came[at]);
          std::ranges::reverse(best);
        }
        if (there >= distance[e.to] || there >= bound) continue;
        if (distance[e.to] == far) touched.push_back(e.to);
        distance[e.to] = there;
        came[e.to] = {v, e};
        is_moment(e.to) ? queue.emplace_front(e.to, there) : queue.emplace_back(e.to, there);
      }
    }
  }
  return best;
}

class checker {
 public:
  checker(std::span<const attempt> all, const variable_name& name) : all_(all), name_(name), graph_(all.size()) {}
  std::vector<std::string> run() {
    find_writes();
    order_versions();
    for (std::size_t i = 0; i < all_.size(); ++i) look_at(i);
    const bool all_see_all = std::ranges::all_of(all_, [](const attempt& a) { return a.knows.empty(); });
    all_see_all ? order_by_time() : order_by_knowledge();
    find_cycles();
    return std::move(errors_);
  }

 private:
  struct write {
    std::size_t by = 0;
    std::uint64_t variable = 0;
    bool last = false;        ///< of its attempt to the variable
    std::size_t version = 0;  ///< of a committed attempt's last write
  };
  struct version {
    std::uint64_t published = 0;
    std::size_t by = 0;
    std::uint64_t value = 0;
  };
  void find_writes();
  void order_versions();
  void look_at(std::size_t i);
  void look_at_read(std::size_t i, const operation& o);
  void order_by_time();
  void order_by_knowledge();
  void find_cycles();
  [[nodiscard]] std::string describe(const std::vector<graph::step>& cycle) const;
  [[nodiscard]] std::string describe(const graph::step& s, const std::string& to) const;
  [[nodiscard]] std::string cell(std::uint64_t variable, std::uint64_t value) const {
    return (name_ ? name_(variable) : "x" + std::to_string(variable)) + " = " + std::to_string(value);
  }
  [[nodiscard]] std::string title(std::size_t i) const {
    const attempt& a = all_[i];
    return std::string(a.committed ? "attempt " : "aborted attempt ") + std::to_string(a.number) + " of node " +
           std::to_string(a.node);
  }
  void wrong(std::size_t i, const std::string& what) { errors_.push_back(title(i) + " " + what); }

  std::span<const attempt> all_;
  const variable_name& name_;
  graph graph_;
  std::unordered_map<std::uint64_t, write> writes_{};         ///< by value
  std::map<std::uint64_t, std::vector<version>> versions_{};  ///< by variable, in the order of publication
  std::vector<std::string> errors_{};
};

void checker::find_writes() {
  std::unordered_map<std::uint64_t, std::size_t> published;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const attempt& a = all_[i];
    std::unordered_map<std::uint64_t, std::uint64_t> last;
    for (const operation& o : a.operations) {
      if (!o.writes) continue;
      if (o.value == initial || !writes_.try_emplace(o.value, write{i, o.variable}).second) {
        wrong(i, "writes " + cell(o.variable, o.value) + ", a value that is not unique");
      }
      last[o.variable] = o.value;
    }
    for (const auto& [variable, value] : last) {
      writes_[value].last = true;
      if (a.committed) versions_[variable].push_back({a.published, i, value});
    }
    const bool publishes = a.committed && !last.empty();
    if (a.end < a.begin || (publishes && (a.published < a.begin || a.published > a.end)))
      wrong(i, "ends before it begins, or publishes at another time");
    if (publishes && !published.try_emplace(a.published, i).second)
      wrong(i, "publishes together with " + title(published[a.published]));
  }
}

void checker::order_versions() {
  for (auto& [variable, some] : versions_) {
    std::ranges::sort(some, {}, &version::published);
    for (std::size_t n = 0; n < some.size(); ++n) {
      writes_[some[n].value].version = n;
      if (n != 0) graph_.add(some[n - 1].by, {some[n].by, kind::ww, variable, some[n - 1].value, some[n].value});
    }
  }
}

void checker::look_at(std::size_t i) {
  std::unordered_map<std::uint64_t, std::uint64_t> own;
  for (const operation& o : all_[i].operations) {
    if (o.writes) {
      own[o.variable] = o.value;
    } else if (const auto written = own.find(o.variable); written == own.end()) {
      look_at_read(i, o);
    } else if (written->second != o.value) {
      wrong(i,
            "reads " + cell(o.variable, o.value) + " after it has itself written " + std::to_string(written->second));
    }
  }
}

/// It has not written the variable before.
void checker::look_at_read(std::size_t i, const operation& o) {
  const std::string what = "reads " + cell(o.variable, o.value);
  const auto versions = versions_.find(o.variable);
  std::size_t next = 0;
  if (o.value != initial) {
    const auto found = writes_.find(o.value);
    if (found == writes_.end() || found->second.variable != o.variable)
      return wrong(i, what + ", which nobody has written there");
    const write& w = found->second;
    if (w.by == i) return wrong(i, what + ", which it writes only later");
    if (!all_[w.by].committed) return wrong(i, what + ", which " + title(w.by) + " has written");
    if (!w.last) return wrong(i, what + ", which " + title(w.by) + " has overwritten itself");
    graph_.add(w.by, {i, kind::wr, o.variable, o.value, 0});
    next = w.version + 1;
  }
  if (versions == versions_.end() || next >= versions->second.size()) return;
  const version& after = versions->second[next];
  graph_.add(i, {after.by, kind::rw, o.variable, o.value, after.value});
}

void checker::order_by_time() {
  std::vector<std::tuple<std::uint64_t, bool, std::size_t>> events;  // begins before ends at the same position
  for (std::size_t i = 0; i < all_.size(); ++i) {
    events.emplace_back(all_[i].begin, false, i);
    events.emplace_back(all_[i].end, true, i);
  }
  std::ranges::sort(events);
  std::size_t moment = 0;
  bool has_moment = false, is_used = true;
  for (const auto& [at, ends, i] : events) {
    if (!ends) {
      if (has_moment) graph_.add(moment, {i});
      is_used = true;
      continue;
    }
    if (std::exchange(is_used, false)) {
      const std::size_t later = graph_.add_moment();
      if (has_moment) graph_.add(moment, {later});
      moment = later;
      has_moment = true;
    }
    graph_.add(i, {moment});
  }
}

/// A chain of moments for each node. Who knows of a node is behind the last of its moments that it knows of.
void checker::order_by_knowledge() {
  std::map<unsigned, std::vector<std::pair<std::uint64_t, std::size_t>>>
      ends;  // by node: positions, and first attempts, then moments
  for (std::size_t i = 0; i < all_.size(); ++i) ends[all_[i].node].emplace_back(all_[i].end, i);
  for (auto& [node, some] : ends) {
    std::ranges::sort(some);
    for (std::size_t n = 0; n < some.size(); ++n) {
      const std::size_t moment = graph_.add_moment();
      graph_.add(some[n].second, {moment});
      if (n != 0) graph_.add(some[n - 1].second, {moment});
      some[n].second = moment;
    }
  }
  for (std::size_t i = 0; i < all_.size(); ++i) {
    for (const auto& [node, some] : ends) {
      const attempt& a = all_[i];
      const bool all_known = a.knows.empty() || node == a.node;
      const std::uint64_t known = all_known ? a.begin : node < a.knows.size() ? a.knows[node] : 0;
      const auto after = std::ranges::upper_bound(some, known, {}, &std::pair<std::uint64_t, std::size_t>::first);
      if (after != some.begin()) graph_.add(std::prev(after)->second, {i});
    }
  }
}

void checker::find_cycles() {
  const auto components = graph_.components();
  std::vector<std::size_t> marks(graph_.vertices(), ~std::size_t{0});
  for (std::size_t n = 0; n < components.size(); ++n) {
    for (const std::size_t v : components[n]) marks[v] = n;
  }
  std::vector<std::pair<std::size_t, std::string>> cycles;
  for (std::size_t n = 0; n < components.size(); ++n) {
    const auto cycle = graph_.shortest_cycle(components[n], marks, n);
    const auto moments =
        std::ranges::count_if(cycle, [this](const graph::step& s) { return graph_.is_moment(s.from); });
    cycles.emplace_back(cycle.size() - static_cast<std::size_t>(moments), describe(cycle));
  }
  std::ranges::stable_sort(cycles, {}, &std::pair<std::size_t, std::string>::first);
  for (auto& [length, text] : cycles) errors_.push_back(std::move(text));
}

/// With Adya's name: G0, only writes; G1c, also reads of them; G-single, one read that is overwritten; G2, several.
/// "realtime" as in Elle.
std::string checker::describe(const std::vector<graph::step>& cycle) const {
  std::size_t overwritten = 0, reads = 0, attempts = 0;
  bool by_time = false, aborted = false;
  std::string lines;
  for (std::size_t n = 0; n < cycle.size(); ++n) {
    const graph::step& s = cycle[n];
    if (graph_.is_moment(s.from)) continue;
    ++attempts;
    aborted |= !all_[s.from].committed;
    overwritten += s.by.what == kind::rw ? 1 : 0;
    reads += s.by.what == kind::wr ? 1 : 0;
    by_time |= s.by.what == kind::time;
    std::size_t end = n;  // of the way over moments
    while (graph_.is_moment(cycle[end].by.to)) ++end;
    lines += "\n  " + describe(s, title(cycle[end].by.to));
  }
  const char* const name = overwritten > 1 ? "G2" : overwritten == 1 ? "G-single" : reads != 0 ? "G1c" : "G0";
  return std::string(name) + (by_time ? "-realtime" : "") + ": a cycle of " + std::to_string(attempts) + " attempts" +
         (aborted ? ", not all of which are committed" : "") + lines;
}

std::string checker::describe(const graph::step& s, const std::string& to) const {
  const std::string from = title(s.from), what = s.by.what == kind::time ? "" : cell(s.by.variable, s.by.value);
  switch (s.by.what) {
    case kind::wr:
      return "wr: " + from + " writes " + what + ", which is read by " + to;
    case kind::ww:
      return "ww: " + from + " writes " + what + ", which is overwritten with " + std::to_string(s.by.next) + " by " +
             to;
    case kind::rw:
      return "rw: " + from + " reads " + what + ", which is overwritten with " + std::to_string(s.by.next) + " by " +
             to;
    default:
      return "real time: " + from + " ends before the begin of " + to;
  }
}

}  // namespace

std::vector<std::string> find_errors(std::span<const attempt> all, const variable_name& name) {
  return checker(all, name).run();
}

std::string check(std::span<const attempt> all, const variable_name& name) {
  std::string text;
  for (const std::string& error : find_errors(all, name)) text += (text.empty() ? "" : "\n") + error;
  return text;
}

}  // namespace quire::sim::history
