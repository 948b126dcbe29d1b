// SPDX-License-Identifier: BSD-3-Clause
// Transactions without a core: domains and machines of some nodes, of both kinds of commit. Messages arrive in any
// order that keeps that of each pair, and between any two actions of a node a thread of it may begin, or go on, as far
// as its view lets it. Each transaction gives both units of a pair the next number: no body ever sees two numbers in a
// pair, doomed or not; in the end a pair has the number of its commits; and who was doomed has begun again.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "directory/pins.hpp"
#include "protocol/transaction/owners/domain.hpp"
#include "protocol/transaction/owners/machine.hpp"
#include "protocol/transaction/protocol.hpp"
#include "protocol/transaction/token/domain.hpp"
#include "protocol/transaction/token/machine.hpp"

namespace quire::transaction::transaction_commit_machines_test {
namespace {

using model::access;
using model::action_kind;
using model::message;
using model::node_id;

constexpr model::region_id region{1};
constexpr std::uint64_t pairs = 3, units = 2 * pairs;
constexpr unsigned patience = 4;  ///< attempts before a turn

struct by_owners_kind {
  using domain = owners::domain;
  using machine = owners::machine;
  static const protocol::row& row() { return by_owners(); }
};
struct by_token_kind {
  using domain = token::domain;
  using machine = token::machine;
  static const protocol::row& row() { return by_token(); }
};

struct totals {
  std::uint64_t commits = 0, dooms = 0, turns = 0;
};

template <class Kind>
class job {
 public:
  job(std::uint64_t seed, unsigned count, unsigned transactions)
      : draw_(seed), count_(count), links_(count * std::size_t{count}) {
    for (unsigned n = 0; n < count; ++n) all_.push_back(std::make_unique<member>(*this, n, transactions));
  }

  void run() {
    constexpr unsigned most_steps = 200'000;
    unsigned steps = 0;
    for (; is_busy() && steps < most_steps && !testing::Test::HasFailure(); ++steps) {
      const unsigned n = below(count_);
      if (below(3) != 0) {
        deliver(below(count_), n);
      } else {
        all_[n]->go();
      }
    }
    EXPECT_LT(steps, most_steps) << "somebody waits for ever";
  }

  totals check() {
    totals t;
    for (unsigned pair = 0; pair < pairs; ++pair) {
      std::uint64_t commits = 0;
      for (auto& m : all_) commits += m->commits[pair];
      for (const std::uint64_t unit : {2 * pair, 2 * pair + 1}) {
        unsigned keepers = 0;
        for (auto& m : all_) {
          if (!m->units->keeps(unit)) continue;
          ++keepers;
          EXPECT_EQ(m->frames[unit], commits) << "unit " << unit << " on node " << m->number;
        }
        EXPECT_EQ(keepers, 1u) << "unit " << unit;
      }
      t.commits += commits;
    }
    for (auto& m : all_) {
      EXPECT_FALSE(m->shared->busy() || m->shared->has_turn() || m->shared->is_committing() || m->shared->commits());
      EXPECT_EQ(m->shared->under_way(), 0u);
      EXPECT_EQ(m->shared->count().dooms, m->undone) << "who was doomed begins again, and nobody else";
      EXPECT_EQ(m->units->outstanding(), 0u);
      t.dooms += m->undone;
      t.turns += m->shared->count().turns;
    }
    return t;
  }

 private:
  struct letter {
    message m{};
    std::vector<std::byte> value{};
    std::optional<std::uint64_t> content{};
  };

  struct member {
    member(job& net, unsigned number, unsigned transactions) : net(net), number(number), left(transactions) {
      protocol::job j;
      j.self = node_id{static_cast<std::uint16_t>(number)};
      j.nodes = net.count_;
      j.pins = &pins;
      j.twin_pages = net.below(4);  // private copies of so many pages may stay
      j.memory.map = [](std::uint64_t bytes, int&) noexcept { return std::calloc(bytes, 1); };
      j.memory.unmap = [](void* what, std::uint64_t) noexcept { std::free(what); };
      owned = Kind::row().make_domain(j);
      shared = static_cast<typename Kind::domain*>(owned.get());
      protocol::region_shape shape;
      shape.region = region;
      shape.units = transaction_commit_machines_test::units;
      shape.managers = directory::manager_map::make(model::placement::modulo, net.count_, shape.units, node_id{0}, 1);
      int error = 0;
      made = Kind::row().make_machine(j, shape, *owned, error);
      units = static_cast<typename Kind::machine*>(made.get());
      owned->on_region(region, *made, 0);
    }

    // ---- What a core does
    template <class Event>
    void feed(Event&& event) {
      protocol::feed(*shared, event, [this](const protocol::domain_action& a) {
        if (a.what == protocol::domain_action::kind::transmit)
          net.send(number, a.to, {a.m, {a.value.begin(), a.value.end()}, {}});
        if (a.what == protocol::domain_action::kind::perform) perform(*a.list);
      });
    }
    void perform(const model::actions& list) {
      for (const model::action& a : list) {
        perform(a);
        meanwhile();
      }
    }
    void perform(const model::action& a) {
      switch (a.kind) {
        case action_kind::send:
          return send(a.to, a);
        case action_kind::multicast:
          return a.targets.for_each([&](node_id to) { send(to, a); });
        case action_kind::publish:
          frames[a.unit] = copies[a.unit].value_or(frames[a.unit]);
          return;
        case action_kind::protect:
          view[a.unit] = a.level;
          if (a.level != access::none) return;
          copies[a.unit].reset();
          meanwhile();
          if (shared->on_unmapped()) woken = true;
          return;
        case action_kind::permit:
          view[a.unit] = a.level;
          return;
        case action_kind::wake:
          woken = true;
          return;
        case action_kind::hold:
          holds.push_back(a.unit);
          return;
        default:
          ADD_FAILURE() << "action " << static_cast<int>(a.kind);
      }
    }
    void send(node_id to, const model::action& a) {
      letter l{a.m, {}, {}};
      l.m.unit = a.unit;
      if (a.with_content) l.content = frames[a.unit];
      net.send(number, to, std::move(l));
    }
    void hear(const letter& l) {
      for (const protocol::message_traits& t : Kind::row().messages) {
        if (t.kind != l.m.kind || t.to != protocol::route::domain) continue;
        return feed([&l](auto& of) { EXPECT_TRUE(of.on_message(l.m, l.value)); });
      }
      if (l.content) frames[l.m.unit] = *l.content;
      step([&](model::actions& out) { units->on_message(l.m, out); });
      EXPECT_TRUE(units->is_unit_valid(l.m.unit)) << "unit " << l.m.unit;
    }
    template <class F>
    void step(F&& f) {
      model::actions list;
      f(list);
      perform(list);
    }
    void look() {
      feed([](auto& of) { of.look(); });
      for (const std::uint64_t unit : std::exchange(holds, {}))
        step([&](model::actions& out) { units->on_hold_over(unit, out); });
      if (!shared->is_paused()) woken = true;
    }

    // ---- Its thread
    [[nodiscard]] bool is_doomed() { return shared->word().now() == phase::doomed; }
    /// While the node's driver is at something: as far as it comes without.
    void meanwhile() {
      if (net.below(4) != 0) return;
      if (left != 0 && !inside && net.below(2) == 0 && shared->word().try_begin()) begin();
      if (inside && !waits && !wants_turn) use_view();
    }
    void begin() {
      inside = true;
      waits = false;
      pair = net.below(pairs);
      at = 0;
      seen.reset();
      wants_turn = asks = attempts >= patience;
    }
    /// Reads both units of another pair and of its own, then writes those. False: something is missing.
    bool use_view() {
      const std::uint64_t other = (pair + 1) % pairs;
      const std::array<std::uint64_t, 6> order = {2 * other,    2 * other + 1, 2 * pair,
                                                  2 * pair + 1, 2 * pair + 1,  2 * pair};
      for (; at < order.size(); ++at) {
        const std::uint64_t unit = order[at];
        const access want = at < 4 ? access::read : access::write;
        if (view[unit] < want) {
          misses = unit;
          wanted = want;
          return false;
        }
        const std::uint64_t value = copies[unit].value_or(frames[unit]);
        if (want == access::write) {
          copies[unit] = *seen + 1;
        } else if (at % 2 == 0) {
          seen = value;
        } else {
          EXPECT_EQ(value, *seen) << "node " << number << " sees a mixture, "
                                  << (is_doomed() ? "doomed" : "not doomed");
        }
      }
      return true;
    }
    /// One step with the driver at hand.
    void go() {
      look();
      if (!inside) {
        if (left != 0 && shared->word().try_begin()) begin();
        return;
      }
      if (asks) {
        asks = false;
        feed([](auto& of) { of.ask_turn(); });
      }
      if (wants_turn) {
        if (!shared->has_turn()) return;
        wants_turn = false;
        if (is_doomed()) {  // it has seen nothing yet
          shared->word().change(phase::running);
          ++undone;
        }
      }
      if (waits && !std::exchange(woken, false)) return;
      waits = false;
      if (!shared->is_committing() && !use_view()) return miss();
      commit();
    }
    void miss() {
      if (is_doomed()) return undo();
      auto how = model::fault_outcome::local;
      woken = false;
      step([&](model::actions& out) { how = units->on_fault(misses, wanted, out, 0); });
      waits = how != model::fault_outcome::local && !woken;
    }
    void commit() {
      auto how = progress::doomed;
      woken = false;
      feed([&how](auto& of) { how = of.advance(); });
      if (how == progress::doomed) return undo();
      waits = how != progress::done && !is_doomed();
      if (how != progress::done) return;
      EXPECT_FALSE(is_doomed()) << "it has happened";
      ++commits[pair];
      --left;
      attempts = 0;
      finish();
    }
    void undo() {
      ++undone;
      ++attempts;
      feed([](auto& of) { of.undo(); });
      finish();
    }
    void finish() {
      feed([this](auto& of) {
        if (of.has_turn()) of.end_turn();
        if (net.below(4) == 0) of.hide(region, 0, transaction_commit_machines_test::units);
      });
      inside = false;
      shared->word().set(phase::idle, false);
    }

    job& net;
    unsigned number, left;
    std::array<std::uint64_t, transaction_commit_machines_test::units> frames{};
    std::array<std::optional<std::uint64_t>, transaction_commit_machines_test::units> copies{};
    std::array<access, transaction_commit_machines_test::units> view{};
    std::array<std::uint64_t, pairs> commits{};
    std::uint64_t undone = 0, misses = 0;
    access wanted{};
    unsigned attempts = 0;
    bool inside = false, waits = false, woken = false, wants_turn = false, asks = false;
    std::uint64_t pair = 0, at = 0;
    std::optional<std::uint64_t> seen{};
    std::vector<std::uint64_t> holds{};
    directory::pin_table pins{};
    std::unique_ptr<protocol::domain> owned{};
    std::unique_ptr<model::machine> made{};
    typename Kind::domain* shared = nullptr;
    typename Kind::machine* units = nullptr;
  };

  unsigned below(unsigned n) { return static_cast<unsigned>(draw_() % n); }
  void send(unsigned from, node_id to, letter l) { links_[from * count_ + to.value()].push_back(std::move(l)); }
  void deliver(unsigned from, unsigned to) {
    auto& link = links_[from * count_ + to];
    if (link.empty()) return;
    const letter l = std::move(link.front());
    link.pop_front();
    all_[to]->hear(l);
    all_[to]->look();
  }
  [[nodiscard]] bool is_busy() const {
    for (const auto& link : links_) {
      if (!link.empty()) return true;
    }
    for (const auto& m : all_) {
      if (m->left != 0 || m->inside) return true;
    }
    return false;
  }

  std::mt19937_64 draw_;
  unsigned count_;
  std::vector<std::deque<letter>> links_;
  std::vector<std::unique_ptr<member>> all_{};
};

template <class Kind>
class transaction_commit_machines : public testing::Test {};
using kinds = testing::Types<by_owners_kind, by_token_kind>;
TYPED_TEST_SUITE(transaction_commit_machines, kinds);

TYPED_TEST(transaction_commit_machines, show_no_mixture_and_lose_no_commit) {
  totals all;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    job<TypeParam> j(seed, 1 + static_cast<unsigned>(seed % 4), 6);
    j.run();
    const totals t = j.check();
    if (this->HasFailure()) FAIL() << "seed " << seed;
    all.commits += t.commits;
    all.dooms += t.dooms;
    all.turns += t.turns;
  }
  EXPECT_EQ(all.commits, 400u / 4 * (1 + 2 + 3 + 4) * 6);
  EXPECT_GT(all.dooms, 400u);
  EXPECT_GT(all.turns, 20u);
}

}  // namespace
}  // namespace quire::transaction::transaction_commit_machines_test
