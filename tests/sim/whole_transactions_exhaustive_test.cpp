// SPDX-License-Identifier: BSD-3-Clause
// Small transactional programs on whole nodes, in many orders. All messages take the same time, but for some of them:
// every choice of at most so many that are late, each by so little that it meets what is sent next, or by so much that
// it meets what comes of that, is one run; and each of these for several moments at which the last node begins. Each
// run's history is checked, and no transaction has more than five attempts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "sim/whole/node_transactions.hpp"

namespace quire::whole::whole_transactions_exhaustive_test {
namespace {

constexpr std::uint64_t page = 4096, base = base_address + (std::uint64_t{2} << 20);
constexpr sim::time_ns latency = 10'000;
constexpr sim::time_ns use = 4'000;  ///< between two operations
constexpr std::array<sim::time_ns, 2> lateness = {latency * 3 / 2, latency * 9 / 2};
constexpr std::array<sim::time_ns, 6> starts = {0, latency / 2, latency, latency * 7 / 4, latency * 5 / 2, latency * 4};
constexpr unsigned most_attempts = 5;

/// What a body does with a unit, in order: r reads and w writes x or y; ? retries while the word has its initial value;
/// ! takes a turn.
struct step {
  char what;
  unsigned unit = 0;
};
using body = std::vector<step>;
struct scenario {
  std::string name;
  std::vector<std::vector<body>> nodes;  ///< the transactions of each, one after the other
  unsigned most_late = 2;                ///< messages of a run
  unsigned home = 0;                     ///< of both units; beyond the nodes: each has one of its own
  bool by_token = false;
};
void PrintTo(const scenario& s, std::ostream* out) {
  *out << s.name << ", home " << s.home << (s.by_token ? ", by token" : "");
}

struct delayed {
  std::size_t message = 0;
  sim::time_ns by = 0;
};

struct outcome {
  std::string wrong{};
  std::size_t messages = 0;
  std::uint64_t aborts = 0;
};

class program {
 public:
  program(const scenario& s, const std::vector<delayed>& late, sim::time_ns start)
      : scenario_(s), late_(late), start_(start), world_(options()) {
    core::region_description about;
    about.id = 1;
    about.base = base;
    about.bytes = 2 * page;
    const bool spread = s.home >= s.nodes.size();
    about.placement = static_cast<std::uint8_t>(spread ? QUIRE_PLACE_MODULO : QUIRE_PLACE_NODE);
    about.home = static_cast<std::uint16_t>(spread ? 0 : s.home);
    about.consistency = QUIRE_TRANSACTIONAL;
    world_.add_region(about);
  }

  outcome run() {
    outcome out;
    world_.net().on_delay([&](node_id from, node_id to) {
      if (from == to) return sim::time_ns{0};
      const std::size_t number = out.messages++;
      const auto found = std::ranges::find(late_, number, &delayed::message);
      return found != late_.end() ? found->by : 0;
    });
    for (unsigned n = 0; n < scenario_.nodes.size(); ++n) {
      world_.start(n, [this, n](node& here) {
        if (n + 1 == scenario_.nodes.size() && start_ != 0) world_.sleep(start_);
        actor a(world_, here, 1, n + 1);
        for (const body& b : scenario_.nodes[n]) transact(a, b);
      });
    }
    out.wrong = world_.run();
    if (out.wrong.empty()) out.wrong = record_.check();
    out.aborts = record_.attempts().size() - record_.commits();
    return out;
  }

 private:
  world_options options() const {
    world_options o;
    o.net.nodes = static_cast<unsigned>(scenario_.nodes.size());
    o.net.min_delay = o.net.max_delay = latency;
    o.net.max_self_delay = o.think = o.wake = o.drive = 0;
    o.net.step_limit = 200'000;
    o.queued_percent = 0;
    if (scenario_.by_token) o.node.protocols = protocol::with_token();
    return o;
  }

  void transact(actor& a, const body& b) {
    for (unsigned attempt = 1; !world_.failed(); ++attempt) {
      if (attempt > most_attempts) return world_.fail("a transaction is not committed after five attempts");
      const auto begun = calls_.begin(a, attempt, false, base);
      const recorder::id which = begun ? *begun : record_.begin(a.here);
      bool waits = false, doomed = false;
      try {
        waits = !do_steps(a, b, which);
      } catch (const restart&) {
        doomed = true;
      }
      if (doomed) {
        (void)calls_.abort(a);
      } else if (waits) {
        calls_.retry(a);
        attempt = 0;
      } else {
        record_.ask_for_commit(which);
        doomed = !calls_.commit(a, which);
      }
      record_.end(which, !doomed && !waits);
      if (!doomed && !waits) return;
    }
  }

  /// False: it is to be retried.
  bool do_steps(actor& a, const body& b, recorder::id which) {
    for (const step& s : b) {
      const std::uint64_t at = base + s.unit * page, value = s.what == 'w' ? world_.unique() : 0;
      world_.sleep(use);
      if (world_.failed()) return true;
      switch (s.what) {
        case '!':
          calls_.take_turn(a);
          break;
        case 'w':
          record_.write(which, at, value);
          a.here.store(at, value);
          break;
        default:
          const std::uint64_t found = a.here.load(at);
          record_.read(which, at, found);
          if (s.what == '?' && found == 0) return false;
      }
    }
    return true;
  }

  const scenario& scenario_;
  const std::vector<delayed>& late_;
  sim::time_ns start_;
  world world_;
  recorder record_{world_, !scenario_.by_token};
  node_transactions calls_{world_, record_};
};

class transactions_exhaustive : public testing::TestWithParam<scenario> {
 public:
  /// This run, and all that have more late messages behind the last.
  void explore(std::vector<delayed>& late, sim::time_ns start) {
    const outcome o = program(GetParam(), late, start).run();
    ++runs;
    aborts += o.aborts;
    if (!o.wrong.empty()) {
      std::string text;
      for (const delayed& d : late)
        text += " message " + std::to_string(d.message) + " by " + std::to_string(d.by) + " ns;";
      wrong = o.wrong + "\nthe last node begins at " + std::to_string(start) + " ns; late:" + text;
      return;
    }
    if (late.size() == GetParam().most_late) return;
    for (std::size_t next = late.empty() ? 0 : late.back().message + 1; next < o.messages; ++next) {
      for (const sim::time_ns by : lateness) {
        late.push_back({next, by});
        explore(late, start);
        late.pop_back();
        if (!wrong.empty()) return;
      }
    }
  }
  std::uint64_t runs = 0, aborts = 0;
  std::string wrong{};
};

TEST_P(transactions_exhaustive, all_orders_are_serializable) {
  std::vector<delayed> late;
  for (const sim::time_ns start : starts) {
    explore(late, start);
    if (!wrong.empty()) FAIL() << wrong;
  }
  std::cout << runs << " runs, " << aborts << " aborted attempts\n";
  EXPECT_GT(runs, 50u);
  EXPECT_GT(aborts, 0u) << "nobody comes in another's way";
}

std::vector<scenario> scenarios() {
  constexpr unsigned x = 0, y = 1;
  const body both{{'r', x}, {'w', x}, {'r', y}, {'w', y}}, back{{'r', y}, {'w', y}, {'r', x}, {'w', x}};
  const body skew_x{{'r', x}, {'r', y}, {'w', x}}, skew_y{{'r', x}, {'r', y}, {'w', y}};
  const body look{{'r', x}, {'r', y}, {'r', x}}, set_x{{'w', x}}, set_y{{'w', y}}, set_both{{'w', y}, {'w', x}};
  const body turn{{'!'}, {'r', x}, {'w', x}, {'w', y}}, late_turn{{'r', x}, {'w', x}, {'!'}, {'r', y}, {'w', y}};
  const body wait_x{{'?', x}, {'w', y}}, wait_y{{'?', y}, {'w', x}};
  std::vector<scenario> all;
  for (const unsigned home : {1u, 2u}) {
    all.push_back({"updates_of_two", {{both, both}, {both, both}}, 1, home});
    all.push_back({"crossing_of_two", {{both, back}, {back, both}}, 1, home});
    all.push_back({"skew_of_two", {{skew_x, skew_y}, {skew_y, skew_x}}, 1, home});
    all.push_back({"looks_of_two", {{look, look}, {set_both, set_x}}, 1, home});
    all.push_back({"turns_of_two", {{turn, both}, {late_turn, back}}, 1, home});
    all.push_back({"waits_of_two", {{wait_x, look}, {set_x, wait_y}}, 1, home});
  }
  for (const unsigned home : {0u, 3u}) {
    all.push_back({"updates_of_three", {{both}, {back}, {both}}, 1, home});
    all.push_back({"fork_of_three", {{set_y}, {set_x}, {look}}, 1, home});
    all.push_back({"skew_of_three", {{skew_x}, {skew_y}, {skew_x}}, 1, home});
    all.push_back({"turns_of_three", {{turn}, {late_turn}, {turn}}, 1, home});
    all.push_back({"waits_of_three", {{wait_x}, {wait_y}, {set_x}}, 1, home});
  }
  for (std::size_t i = 0, by_owners = all.size(); i < by_owners; ++i) {
    if (all[i].home == 2) continue;  // it is no manager: nodes 0 and 1 would only change places
    scenario& by_token = all.emplace_back(all[i]);
    by_token.by_token = true;
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(scenarios, transactions_exhaustive, testing::ValuesIn(scenarios()), [](const auto& info) {
  return info.param.name + "_home_" + std::to_string(info.param.home) + (info.param.by_token ? "_by_token" : "");
});

}  // namespace
}  // namespace quire::whole::whole_transactions_exhaustive_test
