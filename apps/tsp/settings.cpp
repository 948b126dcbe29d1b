// SPDX-License-Identifier: BSD-3-Clause
// Shared by tsp, tsp_openmp and tsp_serial.
#include "tsp/settings.hpp"

#include <cstdio>
#include <vector>

#include <fmt/format.h>

namespace tsp {
namespace {

struct no_guards {
  [[nodiscard]] int queue() const { return 0; }
  [[nodiscard]] int best() const { return 0; }
  void announce(const best_tour&) const {}
};

/// Each city once, and as long as it says.
bool is_tour(const map& where, const best_tour& best) {
  cities visited = 0;
  length total = 0;
  for (std::size_t i = 0; i < where.count(); ++i) {
    const auto here = static_cast<std::size_t>(best.city[i]),
               next = static_cast<std::size_t>(best.city[(i + 1) % where.count()]);
    if (here >= where.count() || next >= where.count()) return false;
    visited |= cities{1} << here;
    total += where.between(here, next);
  }
  return visited == where.all() && total == best.total;
}

bool verified(const settings& wanted, const best_tour& best) {
  const map where(wanted.size, wanted.seed);
  if (!is_tour(where, best)) {
    fmt::print(stderr, "tsp: the best one is no tour of length {}\n", best.total);
    return false;
  }
  std::vector<tour> memory(wanted.pool);
  std::vector<tour*> pool;
  for (tour& t : memory) pool.push_back(&t);
  std::vector<entry> queue(wanted.pool);
  queue_state state;
  best_tour expected;
  no_guards guards;
  apps::lone_worker me;
  const search_state all{pool, queue, &state, &expected};
  prepare(all, where);
  (void)search(me, all, where, wanted.alone, guards);
  if (best.total == expected.total) return true;
  fmt::print(stderr, "tsp: the shortest tour has length {} instead of {}\n", best.total, expected.total);
  return false;
}

}  // namespace

settings parse(int argc, char** argv, const std::string& variant) {
  settings wanted;
  apps::command_line app("A travelling salesperson's shortest tour, by branch and bound", variant);
  app.add<std::size_t>("--size", wanted.size, 2, most_cities, "cities");
  app.add<std::size_t>("--alone", wanted.alone, 1, most_cities, "a worker completes tours with so many cities left");
  app.add<std::size_t>("--pool", wanted.pool, 5000, 1 << 24, "beginnings of tours that there is room for");
  app.add("--seed", wanted.seed, 0u, 1u << 30, "of the places of the cities");
  app.add_sharing(wanted.sharing, "tour", sizeof(tour), false);
  app.has_locks();
  app.parse(wanted, "compare with the length that a serial search finds", argc, argv);
  return wanted;
}

apps::report begin_report(const settings& wanted, const std::string& variant) {
  apps::report result;
  result.program = "tsp";
  result.variant = variant;
  result.problem = fmt::format("{} cities, seed {}, the last {} alone", wanted.size, wanted.seed, wanted.alone);
  result.threads = wanted.threads;
  return result;
}

int finish(const settings& wanted, apps::report result, const best_tour& best, const outcome& found) {
  result.values = {{"length", best.total}, {"tried", found.tried}};
  if (wanted.check) result.matches = verified(wanted, best);
  return apps::print(result, wanted.json);
}

}  // namespace tsp
