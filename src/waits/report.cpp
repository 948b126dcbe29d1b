// SPDX-License-Identifier: BSD-3-Clause
#include "waits/report.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

namespace quire::waits {
namespace {

/// A thread of the job.
using place = std::pair<std::size_t, std::uint32_t>;

struct lock_state {
  std::vector<place> holders;
  std::vector<std::size_t> right;  ///< nodes that have the right to lock it
};

struct arrival {
  std::uint16_t node = no_node;
  std::uint32_t number = 0, of = 0;
};

std::string seconds(std::uint64_t ms) {
  char text[32];
  std::snprintf(text, sizeof text, "%llu.%llu s", static_cast<unsigned long long>(ms / 1000),
                static_cast<unsigned long long>(ms / 100 % 10));
  return text;
}

std::string text_of(place who) {
  return "thread " + std::to_string(who.second) + " of node " + std::to_string(who.first);
}

std::string thread_text(const record& r) {
  std::string text = r.thread != no_thread ? "thread " + std::to_string(r.thread) : "a thread";
  if (r.tid != 0) text += " (tid " + std::to_string(r.tid) + ")";
  return text;
}

/// "node 3", "nodes 1, 2 and 5 more".
std::string text_of_nodes(const std::vector<std::size_t>& nodes) {
  constexpr std::size_t most = 8;
  std::string text = nodes.size() == 1 ? "node " : "nodes ";
  for (std::size_t i = 0; i < nodes.size() && i < most; ++i) {
    if (i != 0) text += i + 1 == nodes.size() ? " and " : ", ";
    text += std::to_string(nodes[i]);
  }
  if (nodes.size() > most) text += " and " + std::to_string(nodes.size() - most) + " more";
  return text;
}

class job_view {
 public:
  job_view(const std::vector<node_report>& nodes, bool all) : nodes_(nodes), all_(all) {
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      for (const record& r : nodes[n].records) take(n, r);
    }
  }

  [[nodiscard]] std::string sentence(std::size_t node, const record& r) const {
    std::string text = nodes_[node].name + ", " + thread_text(r) + ": " + seconds(r.waited_ms) + " in " + r.name;
    if (r.label[0] != 0) text += std::string(" for ") + r.label;
    switch (r.kind) {
      case what::object:
        return text + for_whom(r);
      case what::all_nodes:
        return text + who_is_missing(r);
      case what::memory:
        return text + (r.node != no_node ? ", which was asked of node " + std::to_string(r.node) : "");
      case what::answer:
        return text + (r.node != no_node ? ", for an answer of node " + std::to_string(r.node) : "");
      default:
        return text;
    }
  }

  /// Threads that wait for each other's locks. Each circle once, from its first thread on.
  [[nodiscard]] std::vector<std::string> circles() const {
    std::vector<std::string> lines;
    std::vector<place> done;
    for (const auto& [who, r] : waits_for_lock_) {
      std::vector<place> path, seen;
      if (find_circle(who, who, path, seen) && std::find(done.begin(), done.end(), who) == done.end()) {
        done.insert(done.end(), path.begin(), path.end());
        lines.push_back(circle_text(path));
      }
    }
    return lines;
  }

 private:
  void take(std::size_t node, const record& r) {
    const place who{node, r.thread};
    switch (r.kind) {
      case what::holds:
        locks_[r.object].holders.push_back(who);
        return;
      case what::right:
        locks_[r.object].right.push_back(node);
        return;
      case what::arrivals:
        arrivals_[r.object].push_back({r.node, r.number, r.of});
        return;
      case what::object:
        if (r.thread != no_thread) waits_for_lock_.emplace(who, &r);
        return;
      default:
        return;
    }
  }

  [[nodiscard]] std::string for_whom(const record& r) const {
    if (const auto found = arrivals_.find(r.object); found != arrivals_.end()) {
      std::uint64_t here = 0;
      std::string by;
      for (const arrival& a : found->second) {
        here += a.number;
        by += (by.empty() ? "" : ", ") + std::to_string(a.number) + " of node " + std::to_string(a.node);
      }
      return "; " + std::to_string(here) + " of " + std::to_string(found->second.front().of) + " have come: " + by;
    }
    const auto found = locks_.find(r.object);
    if (found != locks_.end() && !found->second.holders.empty()) {
      const auto& holders = found->second.holders;
      if (holders.size() > 1)
        return ", which " + text_of(holders[0]) + " and " + std::to_string(holders.size() - 1) + " more hold";
      return ", which " + text_of(holders[0]) + " holds";
    }
    if (found != locks_.end() && !found->second.right.empty()) {
      return ", which nobody holds; the right to it is at node " + std::to_string(found->second.right[0]);
    }
    if (r.node != no_node && !all_) return ", which node " + std::to_string(r.node) + " keeps";
    return "";
  }

  [[nodiscard]] std::string who_is_missing(const record& mine) const {
    if (!all_) return ", a call of all nodes";
    std::vector<std::size_t> missing;
    std::string elsewhere;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].dead) continue;
      const auto& all = nodes_[n].records;
      const auto other =
          std::find_if(all.begin(), all.end(), [](const record& r) { return r.kind == what::all_nodes; });
      if (other == all.end()) {
        missing.push_back(n);
      } else if (elsewhere.empty() && std::strcmp(other->name, mine.name) != 0) {
        elsewhere = "; node " + std::to_string(n) + " is in " + other->name;
      }
    }
    if (missing.empty()) return elsewhere.empty() ? "; all have come" : elsewhere;
    return "; " + text_of_nodes(missing) + (missing.size() == 1 ? " has" : " have") + " not come" + elsewhere;
  }

  /// A way from `at` to `goal` along waits and holders; `path` has the threads on it.
  bool find_circle(place at, place goal, std::vector<place>& path, std::vector<place>& seen) const {
    const auto waits = waits_for_lock_.find(at);
    if (waits == waits_for_lock_.end() || std::find(seen.begin(), seen.end(), at) != seen.end()) return false;
    seen.push_back(at);
    path.push_back(at);
    const auto lock = locks_.find(waits->second->object);
    if (lock != locks_.end()) {
      for (const place& holder : lock->second.holders) {
        if (holder == goal || find_circle(holder, goal, path, seen)) return true;
      }
    }
    path.pop_back();
    return false;
  }

  [[nodiscard]] std::string circle_text(const std::vector<place>& path) const {
    std::string text = "deadlock: ";
    for (std::size_t i = 0; i < path.size(); ++i) {
      const place holder = path[(i + 1) % path.size()];
      text += (i == 0 ? "" : "; ") + text_of(path[i]) + " waits for " + waits_for_lock_.at(path[i])->label +
              ", which " + text_of(holder) + " holds";
    }
    return text;
  }

  const std::vector<node_report>& nodes_;
  bool all_;
  std::map<std::uint64_t, lock_state> locks_;
  std::map<std::uint64_t, std::vector<arrival>> arrivals_;
  std::map<place, const record*> waits_for_lock_;
};

/// Of nodes that do not wait.
std::vector<std::string> states(const std::vector<node_report>& nodes) {
  std::vector<std::string> lines;
  for (const node_report& n : nodes) {
    if (n.name.empty()) continue;
    const bool waits = std::any_of(n.records.begin(), n.records.end(), [](const record& r) { return r.is_wait(); });
    if (!n.state.empty()) {
      lines.push_back(n.name + " " + n.state);
    } else if (!waits) {
      lines.push_back(n.name + ": no thread waits for anything of Quire");
    }
  }
  return lines;
}

}  // namespace

std::vector<record> unpack(std::string_view bytes) {
  std::vector<record> all(std::min(bytes.size() / sizeof(record), most_waits + most_others));
  if (!all.empty()) std::memcpy(static_cast<void*>(all.data()), bytes.data(), all.size() * sizeof(record));
  for (record& r : all) {
    r.name[sizeof r.name - 1] = 0;
    r.label[sizeof r.label - 1] = 0;
  }
  return all;
}

std::vector<std::string> describe(const std::vector<node_report>& nodes, bool all, std::size_t most_lines) {
  const job_view view(nodes, all);
  std::vector<std::string> lines;
  // First what explains the most.
  for (std::string& line : view.circles()) lines.push_back(std::move(line));
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (const record& r : nodes[n].records) {
      if (r.is_wait()) lines.push_back(view.sentence(n, r));
    }
  }
  for (std::string& line : states(nodes)) lines.push_back(std::move(line));
  if (lines.size() > most_lines) {
    const std::size_t more = lines.size() - most_lines + 1;
    lines.resize(most_lines - 1);
    lines.push_back("and " + std::to_string(more) + " lines more");
  }
  return lines;
}

}  // namespace quire::waits
