// SPDX-License-Identifier: BSD-3-Clause
#include "explorer.hpp"

#include <algorithm>
#include <unordered_map>

namespace quire::program::steps {
namespace {

class run {
 public:
  explicit run(const factory& make, bool traced = false) : program_(make()) {
    if (traced) world_.trace();
    world_.begin(*program_);
  }
  void go(int thread) { world_.go(thread); }
  [[nodiscard]] std::vector<int> able() const {
    std::vector<int> all;
    for (int i = 0; i < program_->threads(); ++i) {
      if (world_.can_go(i)) all.push_back(i);
    }
    return all;
  }
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return world_.fingerprint(); }
  [[nodiscard]] const std::string& story() const noexcept { return world_.story(); }
  /// What is wrong now, where `anyone` says whether a thread can go on.
  [[nodiscard]] std::string failure(bool anyone) const {
    if (!world_.failure().empty()) return world_.failure();
    if (anyone) return {};
    for (int i = 0; i < program_->threads(); ++i) {
      if (!world_.has_ended(i)) return "thread " + std::to_string(i) + " waits for ever";
    }
    return program_->verdict();
  }

 private:
  world world_;
  std::unique_ptr<program> program_;
};

/// The states so far, how each was found, and which step leads where.
class graph {
 public:
  static constexpr std::size_t none = ~std::size_t{0};

  struct reached {
    std::size_t state;
    bool fresh;
  };
  reached reach(std::uint64_t fingerprint, std::size_t from, int thread) {
    const auto [at, fresh] = numbers_.try_emplace(fingerprint, found_.size());
    if (fresh) found_.push_back({from, thread});
    edges_.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(at->second)});
    return {at->second, fresh};
  }
  void end(std::size_t state) { ends_.push_back(state); }
  [[nodiscard]] std::size_t states() const noexcept { return found_.size(); }

  /// A state from which no end can be reached: threads go round in circles for ever.
  [[nodiscard]] std::size_t without_end() {
    std::sort(edges_.begin(), edges_.end(), [](const edge& a, const edge& b) { return a.to < b.to; });
    std::vector<bool> good(found_.size());
    std::vector<std::size_t> open = ends_;
    for (const std::size_t s : open) good[s] = true;
    while (!open.empty()) {
      const auto s = static_cast<std::uint32_t>(open.back());
      open.pop_back();
      auto e =
          std::lower_bound(edges_.begin(), edges_.end(), s, [](const edge& a, std::uint32_t to) { return a.to < to; });
      for (; e != edges_.end() && e->to == s; ++e) {
        if (good[e->from]) continue;
        good[e->from] = true;
        open.push_back(e->from);
      }
    }
    const auto bad = std::find(good.begin(), good.end(), false);
    return bad == good.end() ? none : static_cast<std::size_t>(bad - good.begin());
  }

  [[nodiscard]] std::vector<int> way_to(std::size_t state) const {
    std::vector<int> path;
    for (; state != 0; state = found_[state].from) path.push_back(found_[state].thread);
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  struct origin {
    std::size_t from;
    int thread;
  };
  struct edge {
    std::uint32_t from, to;
  };
  std::unordered_map<std::uint64_t, std::size_t> numbers_;
  std::vector<origin> found_;
  std::vector<edge> edges_;
  std::vector<std::size_t> ends_;
};

std::string with_story(const factory& make, const std::vector<int>& path, const std::string& what) {
  run again(make, true);
  for (const int thread : path) again.go(thread);
  return what + ", after these steps:\n" + again.story();
}

}  // namespace

exploration explore(const factory& make, const limits& most) {
  struct branching {
    std::size_t state;
    std::vector<int> able;
    std::size_t next = 0;
  };
  exploration e;
  graph known;
  std::vector<branching> ways;  // from the first state to that after `path`
  std::vector<int> path;
  auto now = std::make_unique<run>(make);
  for (;; ++e.steps) {
    const std::vector<int> able = now->able();
    std::string wrong = now->failure(!able.empty());
    if (wrong.empty() && path.size() > most.most_steps) wrong = "it does not end";
    if (!wrong.empty()) {
      e.failure = with_story(make, path, wrong);
      return e;
    }
    const auto [state, fresh] =
        known.reach(now->fingerprint(), ways.empty() ? 0 : ways.back().state, path.empty() ? 0 : path.back());
    e.states = known.states();
    if (e.states > most.most_states) return e;
    if (fresh && able.empty()) {
      ++e.ends;
      known.end(state);
    }
    if (fresh) ways.push_back({state, able});
    while (!ways.empty() && ways.back().next == ways.back().able.size()) ways.pop_back();
    if (ways.empty()) break;
    if (path.size() != ways.size() - 1 || !fresh) {
      path.resize(ways.size() - 1);
      now.reset();
      now = std::make_unique<run>(make);
      for (const int thread : path) now->go(thread);
      ++e.runs;
    }
    branching& b = ways.back();
    path.push_back(b.able[b.next++]);
    now->go(path.back());
    e.deepest = std::max(e.deepest, path.size());
  }
  e.complete = true;
  if (const std::size_t lost = known.without_end(); lost != graph::none) {
    e.failure = with_story(make, known.way_to(lost), "from here no end can be reached");
  }
  return e;
}

std::string run_at_random(const factory& make, std::uint64_t seed, const limits& most) {
  sim::random chance(seed);
  const unsigned same =
      static_cast<unsigned>(chance.below(3)) * 45;  // percent: a thread may be much faster than others
  run now(make);
  std::vector<int> path;
  int last = 0;
  for (;;) {
    const std::vector<int> able = now.able();
    if (const std::string wrong = now.failure(!able.empty()); !wrong.empty()) return with_story(make, path, wrong);
    if (able.empty()) return {};
    if (path.size() > most.most_steps) return with_story(make, path, "it does not end");
    const bool stays = chance.chance(same) && std::find(able.begin(), able.end(), last) != able.end();
    last = stays ? last : able[chance.below(able.size())];
    path.push_back(last);
    now.go(last);
  }
}

}  // namespace quire::program::steps
