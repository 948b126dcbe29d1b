// SPDX-License-Identifier: BSD-3-Clause
// Units go from the sequential protocol to release consistency and back: whatever state the nodes are in, in whichever
// order they change over, and wherever the messages come in between, there is one home, and it is the owner; all copies
// that stay are those that were there; and everybody's requests find the way.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "protocol/release/machine.hpp"
#include "protocol/sequential/machine.hpp"
#include "sim/random.hpp"

namespace quire::change_test {
namespace {

using model::access;
using model::action_kind;
using model::message;
using model::node_id;

constexpr unsigned nodes = 4;
constexpr std::uint64_t unit_count = 6;

/// Nodes with both machines of one region; messages arrive in the order of each pair of nodes.
class world {
 public:
  explicit world(std::uint64_t seed) : draw_(seed) {
    for (std::uint16_t n = 0; n < nodes; ++n) {
      auto& at = nodes_.emplace_back(std::make_unique<node>());
      const auto put = [&](auto shape) {
        shape.self = node_id{n};
        shape.nodes = model::geometry::of(nodes);
        shape.managers = directory::manager_map::make(model::placement::modulo, nodes, unit_count, {});
        shape.units = unit_count;
        return shape;
      };
      at->strong = std::make_unique<sequential::machine>(put(sequential::region_shape{}), at->units, at->entries,
                                                         at->requests, at->pins);
      at->relaxed = std::make_unique<release::machine>(put(release::region_shape{}), at->copies, at->open);
    }
  }

  [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return draw_.below(limit); }
  sequential::machine& strong(unsigned n) { return *nodes_[n]->strong; }
  release::machine& relaxed(unsigned n) { return *nodes_[n]->relaxed; }

  void perform(unsigned from, const model::actions& list) {
    for (const auto& a : list) {
      if (a.kind == action_kind::send) queues_[from * nodes + a.to.value()].push_back(a.m);
      if (a.kind == action_kind::multicast) {
        a.targets.for_each([&](node_id to) { queues_[from * nodes + to.value()].push_back(a.m); });
      }
    }
  }
  /// Delivers a message of some pair. False if there is none.
  bool deliver() {
    const std::uint64_t start = below(nodes * nodes);
    for (std::uint64_t i = 0; i < nodes * nodes; ++i) {
      auto& queue = queues_[(start + i) % (nodes * nodes)];
      if (queue.empty()) continue;
      const message m = queue.front();
      queue.pop_front();
      const auto to = static_cast<unsigned>((start + i) % nodes);
      const bool relaxed_one = m.kind >= model::message_kind::copy_request && m.kind != model::message_kind::owner_here;
      model::actions out;
      relaxed_one ? relaxed(to).on_message(m, out) : strong(to).on_message(m, out);
      perform(to, out);
      return true;
    }
    return false;
  }
  void fault(unsigned n, bool relaxed_now) {
    model::actions out;
    const auto want = below(2) == 0 ? access::read : access::write;
    const std::uint64_t unit = below(unit_count - 1);  // the last one is never used
    relaxed_now ? relaxed(n).on_fault(unit, want, out) : strong(n).on_fault(unit, want, out);
    perform(n, out);
  }
  void settle() {
    while (deliver()) continue;
  }
  /// Each node in turn, in any order, with messages in between.
  template <class Convert>
  void convert_all(Convert&& convert) {
    std::vector<unsigned> left{0, 1, 2, 3};
    while (!left.empty()) {
      const auto i = static_cast<std::ptrdiff_t>(below(left.size()));
      convert(left[static_cast<std::size_t>(i)]);
      left.erase(left.begin() + i);
      while (below(2) == 0 && deliver()) continue;
    }
    settle();
  }
  void to_release() {
    convert_all([&](unsigned n) {
      const auto used = strong(n).used();
      for (std::uint64_t u = used.first(); u < used.end(); ++u) {
        model::actions out;
        if (strong(n).knows(u)) relaxed(n).successor().take(u, strong(n).successor().give(u, out), out);
        perform(n, out);
      }
      strong(n).successor().all_given();
    });
  }
  void to_sequential() {
    for (unsigned n = 0; n < nodes; ++n) {  // the release that comes before
      for (const auto& w : std::exchange(nodes_[n]->open.written, {})) {
        model::actions out;
        relaxed(n).copies().on_release(w.unit, out);
      }
    }
    convert_all([&](unsigned n) {
      const auto used = relaxed(n).used();
      for (std::uint64_t u = used.first(); u < used.end(); ++u) {
        model::actions out;
        if (relaxed(n).knows(u)) strong(n).successor().take(u, relaxed(n).successor().give(u, out), out);
        perform(n, out);
      }
      relaxed(n).successor().all_given();
    });
  }

 private:
  struct node {
    sequential::unit_state units[unit_count]{};
    sequential::directory_entry entries[unit_count]{};
    release::unit_state copies[unit_count]{};
    release::interval open{};
    directory::request_pool requests{1};
    sequential::pin_table pins{};
    std::unique_ptr<sequential::machine> strong;
    std::unique_ptr<release::machine> relaxed;
  };
  sim::random draw_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::deque<message> queues_[nodes * nodes];
};

unsigned home_of(world& w, std::uint64_t unit) {
  unsigned homes = 0, home = 0;
  for (unsigned n = 0; n < nodes; ++n) {
    EXPECT_TRUE(w.relaxed(n).is_valid(unit)) << "unit " << unit << " node " << n;
    if (!w.relaxed(n).is_home(unit)) continue;
    ++homes;
    home = n;
  }
  EXPECT_EQ(homes, 1u) << "unit " << unit;
  return home;
}

TEST(change, to_and_fro) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    world w(seed);
    for (int round = 0; round < 4; ++round) {
      for (std::uint64_t i = w.below(30); i > 0; --i) {
        w.fault(static_cast<unsigned>(w.below(nodes)), false);
        if (w.below(3) == 0) w.settle();
      }
      w.settle();
      unsigned owner[unit_count];
      access right[unit_count][nodes], mapped[unit_count][nodes];
      for (std::uint64_t u = 0; u < unit_count; ++u) {
        owner[u] = w.strong(u % nodes).pins().holder_of(u).value();
        for (unsigned n = 0; n < nodes; ++n) {
          right[u][n] = w.strong(n).right_of(u);
          mapped[u][n] = w.strong(n).mapped(u);
        }
      }
      w.to_release();
      for (std::uint64_t u = 0; u < unit_count; ++u) {
        ASSERT_EQ(home_of(w, u), owner[u]) << u;
        for (unsigned n = 0; n < nodes; ++n) {
          EXPECT_FALSE(w.strong(n).knows(u));
          EXPECT_EQ(w.relaxed(n).has_content(u), right[u][n] != access::none);
          EXPECT_EQ(w.relaxed(n).mapped(u), mapped[u][n]);
          unsigned at = n, hops = 0;  // who asks gets there
          while (!w.relaxed(at).is_home(u) && hops++ < nodes) at = w.relaxed(at).home_of(u).value();
          EXPECT_EQ(at, owner[u]);
        }
      }
      for (std::uint64_t i = w.below(20); i > 0; --i) w.fault(static_cast<unsigned>(w.below(nodes)), true);
      w.settle();
      unsigned home[unit_count];
      for (std::uint64_t u = 0; u < unit_count; ++u) home[u] = home_of(w, u);
      w.to_sequential();
      for (std::uint64_t u = 0; u < unit_count; ++u) {
        EXPECT_EQ(w.strong(u % nodes).pins().holder_of(u).value(), home[u]);
        for (unsigned n = 0; n < nodes; ++n) {
          EXPECT_TRUE(w.strong(n).is_valid(u));
          EXPECT_FALSE(w.relaxed(n).knows(u));
          EXPECT_EQ(w.strong(n).right_of(u), n == home[u] ? access::write : access::none);
        }
      }
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace quire::change_test
