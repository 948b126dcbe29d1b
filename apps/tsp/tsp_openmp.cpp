// SPDX-License-Identifier: BSD-3-Clause
// TSP as a plain OpenMP program: what the one on Quire is measured against. Built without OpenMP it is the serial
// program.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "common/crew_openmp.hpp"
#include "common/omp_mutex.hpp"
#include "common/report.hpp"
#include "tsp/kernel.hpp"
#include "tsp/settings.hpp"

namespace {

class guards {
 public:
  [[nodiscard]] auto queue() { return std::unique_lock(queue_); }
  [[nodiscard]] auto best() { return std::unique_lock(best_); }
  void announce(const tsp::best_tour&) const {}

 private:
  apps::omp_mutex queue_, best_;
};

}  // namespace

int main(int argc, char** argv) try {
  const auto wanted = tsp::parse(argc, argv, apps::plain_variant);
  std::vector<tsp::tour> memory(wanted.pool);
  std::vector<tsp::tour*> pool;
  for (tsp::tour& t : memory) pool.push_back(&t);
  std::vector<tsp::entry> queue(wanted.pool);
  tsp::queue_state state;
  tsp::best_tour best;
  const tsp::search_state all{pool, queue, &state, &best};
  const tsp::map where(wanted.size, wanted.seed);
  guards own;

  auto result = tsp::begin_report(wanted, apps::plain_variant);
  tsp::outcome found;
  apps::openmp_crew(wanted).run(
      result,
      [&](auto& me) {
        if (me.number() == 0) tsp::prepare(all, where);
      },
      [&](auto& me) {
        const auto outcome = tsp::search(me, all, where, wanted.alone, own);
        if (me.thread() == 0) found = outcome;
      });
  return tsp::finish(wanted, result, best, found);
} catch (const std::exception& e) {
  fmt::print(stderr, "tsp: {}\n", e.what());
  return 1;
}
