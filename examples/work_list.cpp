// SPDX-License-Identifier: BSD-3-Clause
// A work list without locks: the shortest round trip through some cities, by branch and bound. A task is about all
// round trips that begin in one way. It registers a task for each city that may come next, or tries what is left by
// itself. Each runs once, as a transaction, on some node. Run it: quire run -n 2 work_list [CITIES, 4 to 15]
#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <quire/loop.h>
#include <quire/quire.hpp>
#include <quire/transaction.hpp>

namespace {

constexpr unsigned most_cities = 15;
constexpr int cities_of_a_task = 4;  ///< a task that knows so many registers no others

/// Cities in the order of the trip, four bits each. It begins at city 0, which is not told: so no length is needed.
using route = std::uint64_t;
template <class F>
void for_each_city(route r, F f) {
  for (int bits = 60; bits >= 0; bits -= 4)
    if (const auto city = static_cast<unsigned>(r >> bits & 15); city != 0) f(city);
}

/// Where the cities are. All nodes have the same map, in memory of their own.
struct country {
  unsigned cities = 0;
  std::array<std::array<int, most_cities>, most_cities> km{};

  explicit country(unsigned n) : cities(n) {
    std::minstd_rand random(7);
    std::array<std::array<double, 2>, most_cities> at{};
    for (auto& place : at) place = {static_cast<double>(random() % 1000), static_cast<double>(random() % 1000)};
    for (unsigned a = 0; a < n; ++a)
      for (unsigned b = 0; b < n; ++b)
        km[a][b] = static_cast<int>(std::hypot(at[a][0] - at[b][0], at[a][1] - at[b][1]));
  }
};

/// In transactional memory, in a page each: who reads `best` is to begin again when it has changed, not when a task has
/// ended.
struct progress {
  alignas(4096) int best = INT_MAX;
  route best_route = 0;
  alignas(4096) int open_tasks = 0;
};

const country* g_map = nullptr;
progress* g_progress = nullptr;

/// The beginning of a round trip.
struct beginning {
  route cities = 0;
  unsigned last = 0, visited = 1;  ///< a bit each
  int km = 0;

  explicit beginning(route r) {
    for_each_city(r, [this](unsigned city) { *this = then(city); });
  }
  [[nodiscard]] beginning then(unsigned city) const {
    beginning next = *this;
    next.cities = cities << 4 | city;
    next.km += g_map->km[last][city];
    next.last = city;
    next.visited |= 1u << city;
    return next;
  }
  template <class F>
  void for_each_next(F f) const {
    for (unsigned city = 1; city < g_map->cities; ++city)
      if ((visited >> city & 1) == 0) f(then(city));
  }
};

void search(const beginning& b) {
  if (b.km >= g_progress->best) return;
  if (b.visited + 1 != 1u << g_map->cities) return b.for_each_next(search);
  const int all = b.km + g_map->km[b.last][0];
  if (all >= g_progress->best) return;
  g_progress->best = all;
  g_progress->best_route = b.cities;
}

void explore(std::uint64_t argument);

void register_task(const beginning& b) {
  // The first cities are dealt out to the nodes; what comes of them stays there. Of the tasks of a node the longest
  // beginning comes first.
  const int depth = std::popcount(b.visited);
  const int node = depth <= 2 ? static_cast<int>(b.last) % quire::nodes() : quire::node();
  const quire_task_options how{sizeof how, node, 7 - depth, 0, 0};
  quire::detail::check(quire_task_register(explore, b.cities, &how, nullptr), "quire_task_register");
  ++g_progress->open_tasks;
}

/// The task.
void explore(std::uint64_t argument) {
  const beginning b(argument);
  if (std::popcount(b.visited) < cities_of_a_task) {
    b.for_each_next(register_task);
  } else {
    search(b);
  }
  if (--g_progress->open_tasks == 0) quire::detail::check(quire_loop_stop(), "quire_loop_stop");
}

/// The same by dynamic programming (Held and Karp): the shortest way from city 0 through a set of cities to one of
/// them.
int best_by_table(const country& map) {
  const std::size_t sets = std::size_t{1} << map.cities;
  std::vector<std::array<int, most_cities>> shortest(sets);
  for (auto& all : shortest) all.fill(INT_MAX / 2);
  shortest[1][0] = 0;
  for (std::size_t set = 1; set < sets; ++set)
    for (unsigned from = 0; from < map.cities; ++from)
      for (unsigned to = 1; to < map.cities; ++to)
        if ((set >> to & 1) == 0) {
          int& way = shortest[set | std::size_t{1} << to][to];
          way = std::min(way, shortest[set][from] + map.km[from][to]);
        }
  int best = INT_MAX;
  for (unsigned last = 1; last < map.cities; ++last) best = std::min(best, shortest[sets - 1][last] + map.km[last][0]);
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  quire::session job;
  const country map(
      static_cast<unsigned>(std::clamp(argc > 1 ? std::atoi(argv[1]) : 12, cities_of_a_task, int{most_cities})));
  g_map = &map;
  g_progress = quire::from_node(0, [] {
    const auto memory = quire::region::create(sizeof(progress), {.consistency = quire::consistency::transactional});
    return reinterpret_cast<progress*>(memory.bytes().data());
  });
  if (job.node() == 0) {
    quire::atomically([] { *g_progress = {.open_tasks = 1}; });
    quire::detail::check(quire_task_register(explore, 0, nullptr, nullptr), "quire_task_register");
  }
  quire::detail::check(quire_loop_run(), "quire_loop_run");

  const progress found = quire::atomically([] { return *g_progress; });
  if (job.node() != 0) return 0;
  const beginning trip(found.best_route);
  const bool right =
      found.open_tasks == 0 && trip.km + map.km[trip.last][0] == found.best && found.best == best_by_table(map);
  std::printf("the shortest round trip through %u cities is 0", map.cities);
  for_each_city(found.best_route, [](unsigned city) { std::printf(" %u", city); });
  std::printf(" 0, %d km: %s\n", found.best, right ? "right" : "wrong");
  return right ? 0 : 1;
}
