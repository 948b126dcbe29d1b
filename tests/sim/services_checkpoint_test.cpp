// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints, and jobs that go on from them (services/checkpoint_call.hpp), under delays, failures, and deaths at
// every message. Content is written while all nodes hold it still; what is committed has the files of all nodes, of one
// moment; all nodes end alike, and hold nothing then. Nothing is changed before all nodes have checked; the newest that
// is whole is taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/checkpoint_call.hpp"
#include "services_deaths.hpp"
#include "services_meetings.hpp"
#include "sim/seeds.hpp"
#include "sim/services/world.hpp"

namespace quire::services::services_checkpoint_test {
namespace {

struct generation {
  std::map<unsigned, std::vector<std::uint64_t>> files{};  ///< by node: what all nodes had when it wrote
  std::vector<std::uint64_t> described{};                  ///< of names, by node
  bool damaged = false;
};

class job {
 public:
  job(std::uint64_t seed, unsigned nodes) : w_(seed, nodes), together_(w_) {
    w_.on_message = [this](unsigned node, const message& m, std::string_view) {
      answers out;
      together_.on_message(m, out);
      w_.send(node, out);
    };
    w_.on_death = [this](unsigned node, unsigned) {
      answers out;
      if (node == 0) together_.on_death(out);
      w_.send(node, out);
    };
    here_.resize(nodes);
    for (unsigned n = 0; n < nodes; ++n) {
      w_.start(n, [this, n] { use(n); });
      w_.start(n, [this, n] { change(n); });
    }
  }
  world& around() { return w_; }
  std::string run() {
    const std::string wrong = w_.run();
    if (!wrong.empty()) return wrong;
    for (const auto& [number, g] : there_) {
      if (g.files.size() != w_.nodes()) return "a checkpoint lacks a file";
      for (const auto& [node, content] : g.files) {
        if (content != g.files.begin()->second) return "files of a checkpoint are of different moments";
      }
    }
    if (!w_.any_dead() && half_) return "a half of a checkpoint stays";
    return {};
  }
  std::uint64_t saved = 0, failed = 0, restored = 0, older = 0, none = 0;

 private:
  struct node {
    std::uint64_t content = 0;
    bool holds = false, wrote = false, checked = false, changed = false;
    unsigned ended = 0;
    std::vector<std::uint64_t> results{};
  };

  [[nodiscard]] bool all_hold() const {
    for (unsigned n = 0; n < w_.nodes(); ++n) {
      if (!w_.is_dead(n) && !here_[n].holds) return false;
    }
    return true;
  }
  [[nodiscard]] std::vector<std::uint64_t> content() const {
    std::vector<std::uint64_t> all;
    for (const node& n : here_) all.push_back(n.content);
    return all;
  }

  /// A thread of the program writes, where its node does not hold content.
  void change(unsigned self) {
    for (int i = 0; i < 60 && !w_.failed(); ++i) {
      w_.sleep(w_.draw().below(5'000));
      if (!here_[self].holds) ++here_[self].content;
      if (!names_held_ && w_.draw().chance(20)) ++names_;
    }
  }

  void use(unsigned self) {
    for (int i = 0; i < 3 && !w_.failed(); ++i) {
      w_.sleep(w_.draw().below(10'000));
      finish(self, save(self));
      w_.sleep(w_.draw().below(10'000));
      finish(self, restore(self));
    }
  }
  /// All nodes end alike.
  void finish(unsigned self, quire_status why) {
    node& me = here_[self];
    me.results.push_back(why);
    const std::size_t turn = me.results.size() - 1;
    for (const node& other : here_) {
      if (!w_.any_dead() && other.results.size() > turn && other.results[turn] != static_cast<std::uint64_t>(why))
        w_.fail("nodes end in different ways");
    }
    if (me.holds) w_.fail("a node holds content after the end");
    if (self == 0 && names_held_) w_.fail("names are held after the end");
  }

  // ---- To save

  quire_status save(unsigned self) {
    using work = checkpoint_save::work;
    checkpoint_save steps(self == 0);
    quire_status mine = QUIRE_OK;
    auto s = steps.begin();
    while (s.what != work::over && !w_.failed()) {
      quire_status why = QUIRE_OK;
      if (s.what == work::meet) {
        why = together_.meet(self, std::exchange(mine, QUIRE_OK)).why;
      } else {
        w_.sleep(w_.draw().below(4'000));
        why = mine = do_save(self, s.what);
      }
      s = steps.on_done(why);
    }
    if (self == 0) ++(s.why == QUIRE_OK ? saved : failed);
    return s.why;
  }
  quire_status do_save(unsigned self, checkpoint_save::work what) {
    using work = checkpoint_save::work;
    node& me = here_[self];
    const quire_status may_fail = w_.draw().chance(4) ? QUIRE_SYSTEM : QUIRE_OK;
    const bool needs_half = what == work::describe || what == work::write;
    if (needs_half && !half_) {  // node 0 has heard of a death before
      if (!w_.any_dead()) w_.fail("a node writes what has not begun");
      return QUIRE_SYSTEM;
    }
    switch (what) {
      case work::path:
      case work::gather:
        return together_.meet(self, QUIRE_OK).why;
      case work::identity: {
        const auto got = together_.meet(self, QUIRE_OK, self == 0 ? newest_ : 0);
        if (got.why == QUIRE_OK && got.b != newest_) w_.fail("nodes write different checkpoints");
        return got.why;
      }
      case work::hold: {
        const quire_status why = together_.meet(self, w_.draw().chance(3) ? QUIRE_BUSY : QUIRE_OK).why;
        me.holds = why == QUIRE_OK;
        return why != QUIRE_OK || together_.meet(self, QUIRE_OK).why == QUIRE_OK ? why
                                                                                 : (me.holds = false, QUIRE_PEER_LOST);
      }
      case work::let_go:
        if (!me.holds) w_.fail("a node lets go of what it does not hold");
        me.holds = false;
        return QUIRE_OK;
      case work::hold_names:
        names_held_ = true;
        return QUIRE_OK;
      case work::let_names_go:
        if (!names_held_) w_.fail("names go on that were not held");
        names_held_ = false;
        return QUIRE_OK;
      case work::begin:
        if (may_fail != QUIRE_OK) return may_fail;
        if (half_) w_.fail("a checkpoint begins beside the half of another");
        half_.emplace();
        ++newest_;
        return QUIRE_OK;
      case work::describe:
        if (may_fail == QUIRE_OK) half_->described.push_back(names_);
        return may_fail;
      case work::sync:
        return may_fail;
      case work::write:
        if (!all_hold() && !w_.any_dead()) w_.fail("a node writes, and not all hold content still");
        if (may_fail != QUIRE_OK) return may_fail;
        half_->files[self] = content();
        return QUIRE_OK;
      case work::commit:
        return commit(may_fail);
      case work::abandon:
        if (!half_) w_.fail("nothing is abandoned");
        half_.reset();
        return QUIRE_OK;
      default:
        if (half_) w_.fail("old ones go before the new one is there");
        while (there_.size() > 2) there_.erase(there_.begin());
        return QUIRE_OK;
    }
  }
  quire_status commit(quire_status may_fail) {
    for (const std::uint64_t one : half_->described) {
      if (one != names_) w_.fail("names have changed since they were described");
    }
    if (may_fail != QUIRE_OK) return may_fail;
    half_->damaged = w_.draw().chance(30);
    there_.emplace(newest_, std::move(*half_));
    half_.reset();
    return QUIRE_OK;
  }

  // ---- To restore

  quire_status restore(unsigned self) {
    using work = checkpoint_restore::work;
    checkpoint_restore steps(self == 0);
    node& me = here_[self];
    quire_status mine = QUIRE_OK;
    std::uint64_t chosen = ~std::uint64_t{0};
    me.checked = me.changed = false;
    auto s = steps.begin();
    while (s.what != work::over && !w_.failed()) {
      quire_status why = QUIRE_OK;
      if (s.what == work::meet) {
        why = together_.meet(self, std::exchange(mine, QUIRE_OK)).why;
      } else {
        w_.sleep(w_.draw().below(4'000));
        why = mine = do_restore(self, s.what, chosen);
      }
      s = steps.on_done(why);
      if (me.changed && !steps.taken()) w_.fail("a node has changed something, and would go on as before");
    }
    if (self == 0) judge(steps, s.why, chosen);
    const auto got = together_.meet(self, QUIRE_OK).why;  // all have ended: those looked at below are of this call
    return s.why != QUIRE_OK ? s.why : got;
  }
  quire_status do_restore(unsigned self, checkpoint_restore::work what, std::uint64_t& chosen) {
    using work = checkpoint_restore::work;
    node& me = here_[self];
    switch (what) {
      case work::path:
        return together_.meet(self, QUIRE_OK).why;
      case work::list:
        return QUIRE_OK;
      case work::look:
        return QUIRE_OK;
      case work::choose: {
        std::uint64_t next = 0;
        for (const auto& [number, g] : there_) next = number < chosen ? std::max(next, number) : next;
        const auto got = together_.meet(self, QUIRE_OK, self == 0 ? next : 0);
        me.checked = false;
        chosen = got.b;
        return got.why != QUIRE_OK ? got.why : chosen != 0 ? QUIRE_OK : QUIRE_NOT_FOUND;
      }
      case work::check:
        me.checked = true;
        // One node reads what is damaged.
        return there_.at(chosen).damaged && self == chosen % w_.nodes() ? QUIRE_DAMAGED : QUIRE_OK;
      default:
        for (unsigned n = 0; n < w_.nodes(); ++n) {
          if (!w_.any_dead() && !here_[n].checked) w_.fail("something changes that not all nodes have checked");
        }
        if (there_.at(chosen).damaged) w_.fail("a node takes what is damaged");
        me.changed = true;
        if (what == work::link || what == work::load) return together_.meet(self, QUIRE_OK).why;
        return w_.draw().chance(3) ? QUIRE_SYSTEM : QUIRE_OK;
    }
  }
  void judge(const checkpoint_restore& steps, quire_status why, std::uint64_t chosen) {
    if (w_.any_dead()) return;
    std::uint64_t best = 0;
    for (const auto& [number, g] : there_) best = g.damaged ? best : std::max(best, number);
    if (steps.taken() && chosen != best) w_.fail("what is taken is not the newest that is whole");
    if (!steps.taken() && best != 0) w_.fail("nothing is taken, and a checkpoint is whole");
    if (why == QUIRE_OK) return void(++(steps.passed_over() != 0 ? older : restored));
    if (!steps.taken()) {
      ++none;
      if (why != (there_.empty() ? QUIRE_NOT_FOUND : QUIRE_DAMAGED))
        w_.fail("what is told is not why nothing is taken");
    }
  }

  world w_;
  test::meetings together_;
  std::vector<node> here_{};
  std::optional<generation> half_{};
  std::map<std::uint64_t, generation> there_{};
  std::uint64_t newest_ = 0, names_ = 0;
  bool names_held_ = false;
};

class services_checkpoint : public testing::TestWithParam<unsigned> {};

TEST_P(services_checkpoint, holds_what_it_promises) {
  std::uint64_t saved = 0, failed = 0, restored = 0, older = 0, none = 0;
  for (const std::uint64_t seed : sim::seeds(1, 400)) {
    job j(seed, GetParam());
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "\nreplay: QUIRE_SIM_SEED=" << seed;
    saved += j.saved;
    failed += j.failed;
    restored += j.restored;
    older += j.older;
    none += j.none;
  }
  std::cout << saved << " checkpoints, " << failed << " that failed; " << restored << " newest taken, " << older
            << " older ones, " << none << " times none\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(saved, 100u);
  EXPECT_GT(failed, 50u);
  EXPECT_GT(restored, 50u);
  EXPECT_GT(older, 20u);
  EXPECT_GT(none, 10u);
}

TEST_P(services_checkpoint, bears_a_death_at_every_message) {
  const auto make = [](std::uint64_t seed) { return std::make_unique<job>(seed, GetParam()); };
  std::uint64_t saved = 0;
  test::bear_a_death_at_every_message(6, GetParam(), make, [&](const job& j) { saved += j.saved; });
  std::cout << saved << " checkpoints of jobs that a node's death has ended\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(saved, 100u);
}

INSTANTIATE_TEST_SUITE_P(nodes, services_checkpoint, testing::Values(2u, 3u, 4u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::services::services_checkpoint_test
