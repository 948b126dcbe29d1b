// SPDX-License-Identifier: BSD-3-Clause
// Two minipages of one page, on whole nodes: threads that use the page as a whole (core/minipages/whole_pages.hpp)
// against others that write its units by their own pages, and against each other. All messages take the same time, but
// for some of them: every choice of at most so many that are late, each by so little that it meets what is sent next,
// or by so much that it meets what comes of that, is one run. Whoever reads a word reads what was written last, all
// come to an end, and no access waits longer than a bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "core/region_slot.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole::whole_composed_exhaustive_test {
namespace {

constexpr std::uint64_t page = 4096, base = base_address + (std::uint64_t{2} << 20);
constexpr sim::time_ns latency = 10'000;
constexpr sim::time_ns use = 15'000;  ///< between two accesses of a thread
constexpr std::array<sim::time_ns, 2> lateness = {latency * 3 / 2, latency * 9 / 2};
/// With a node that keeps the page: what a claim may wait for each of two units, and hold it.
constexpr sim::time_ns longest_wait = 500'000;

enum class how : std::uint8_t { whole, first, second };  ///< the page, or one of its minipages
struct user {
  unsigned node = 0;
  how by = how::whole;
  bool writes = true;
  unsigned times = 4;
};
struct scenario {
  std::string name;
  unsigned nodes, home;
  std::vector<user> users;
  unsigned most_late;  ///< messages of a run
};

struct delayed {
  std::size_t message = 0;
  sim::time_ns by = 0;
};

struct outcome {
  std::string wrong{};
  std::size_t messages = 0;
  sim::time_ns waited = 0;
};

void live(world& w, node& here, const user& u, std::uint64_t at) {
  for (unsigned i = 0; i < u.times && !w.failed(); ++i) {
    if (i != 0) w.sleep(use);
    const bool second = u.by == how::second || (u.by == how::whole && i % 2 == 1);
    const std::uint64_t natural = at + (second ? page / 2 : 0) + u.node * sizeof(std::uint64_t);
    const std::uint64_t address = u.by == how::whole ? natural : here.core().regions.find(natural)->fine(natural);
    if (u.writes) {
      here.store(address, w.unique());
      continue;
    }
    for (unsigned n = 0; n < w.nodes(); ++n) {
      const std::uint64_t word = address + n * sizeof(std::uint64_t) - u.node * sizeof(std::uint64_t);
      std::uint64_t latest = 0;
      if (here.load(word, latest) != latest) w.fail("a word is old");
    }
  }
}

outcome run(const scenario& s, const std::vector<delayed>& late) {
  world_options o;
  o.net.nodes = s.nodes;
  o.net.min_delay = o.net.max_delay = latency;
  o.net.max_self_delay = o.think = o.wake = o.drive = 0;
  o.net.step_limit = 200'000;
  o.queued_percent = 0;
  o.node.read_ahead = false;
  world w(o);
  core::region_description about;
  about.id = 1;
  about.base = base;
  about.bytes = s.nodes * page;
  about.unit_bytes = page / 2;
  about.views = 2;
  about.placement = QUIRE_PLACE_MODULO;
  about.layout = core::layouts::divided.id;
  w.add_region(about);
  outcome out;
  w.net().on_delay([&](node_id from, node_id to) {
    if (from == to) return sim::time_ns{0};
    const std::size_t number = out.messages++;
    const auto found = std::ranges::find(late, number, &delayed::message);
    return found != late.end() ? found->by : 0;
  });
  for (const user& u : s.users)
    w.start(u.node, [&w, &u, at = base + s.home * page](node& here) { live(w, here, u, at); });
  out.wrong = w.run();
  out.waited = w.accesses().longest_wait;
  return out;
}

void PrintTo(const scenario& s, std::ostream* out) { *out << s.name << ", home " << s.home; }

class composed_exhaustive : public testing::TestWithParam<scenario> {
 public:
  /// This run, and all that have more late messages behind the last.
  void explore(std::vector<delayed>& late) {
    const outcome o = run(GetParam(), late);
    ++runs;
    longest = std::max(longest, o.waited);
    if (!o.wrong.empty() || o.waited > longest_wait) {
      std::string text;
      for (const delayed& d : late)
        text += " message " + std::to_string(d.message) + " by " + std::to_string(d.by) + " ns;";
      wrong = o.wrong + "\nlongest wait " + std::to_string(o.waited) + " ns; late:" + text;
      return;
    }
    if (late.size() == GetParam().most_late) return;
    for (std::size_t next = late.empty() ? 0 : late.back().message + 1; next < o.messages; ++next) {
      for (const sim::time_ns by : lateness) {
        late.push_back({next, by});
        explore(late);
        late.pop_back();
        if (!wrong.empty()) return;
      }
    }
  }
  std::uint64_t runs = 0;
  sim::time_ns longest = 0;
  std::string wrong{};
};

TEST_P(composed_exhaustive, all_orders_are_right_and_nobody_waits_long) {
  std::vector<delayed> late;
  explore(late);
  std::cout << runs << " runs, the longest wait was " << longest << " ns\n";
  if (!wrong.empty()) FAIL() << wrong;
  EXPECT_GT(runs, 50u);
}

std::vector<scenario> scenarios() {
  const user first{1, how::first}, second{2, how::second};
  std::vector<scenario> all;
  for (unsigned home = 0; home < 3; ++home) {
    constexpr unsigned late = 2;
    all.push_back({"reader", 3, home, {{0, how::whole, false, 3}, first, second}, late});
    all.push_back({"writer", 3, home, {{0, how::whole, true}, first, second}, late});
    all.push_back(
        {"two_writers", 3, home, {{0, how::whole, true, 4}, {1, how::whole, true, 4}, {2, how::first, true, 2}}, late});
    if (home == 2) break;
    all.push_back({"writer_of_two", 2, home, {{0, how::whole, true}, {1, how::first}, {1, how::second}}, late});
    all.push_back({"writers_of_two", 2, home, {{0, how::whole, true, 5}, {1, how::whole, true, 5}}, late});
    all.push_back({"reader_and_writer_of_two",
                   2,
                   home,
                   {{0, how::whole, false, 4}, {1, how::whole, true}, {1, how::second}},
                   late});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(scenarios, composed_exhaustive, testing::ValuesIn(scenarios()),
                         [](const auto& info) { return info.param.name + "_home_" + std::to_string(info.param.home); });

}  // namespace
}  // namespace quire::whole::whole_composed_exhaustive_test
