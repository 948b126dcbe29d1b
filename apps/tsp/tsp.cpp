// SPDX-License-Identifier: BSD-3-Clause
// TSP on Quire. Each beginning of a tour is an object in shared memory, smaller than a page; it may be a minipage. The
// queue and the best tour have mutexes. The length of the best tour is pushed to all nodes when it changes, and read
// without a lock.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <mutex>
#include <new>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <quire/quire.hpp>

#include "common/crew.hpp"
#include "common/report.hpp"
#include "common/shared_array.hpp"
#include "tsp/kernel.hpp"
#include "tsp/settings.hpp"

namespace {

/// Alone on its page: what all read lies beside nothing that one changes.
struct alignas(apps::page_bytes) lone_best {
  tsp::best_tour best;
};

struct shared_search {
  std::span<tsp::tour*> pool;
  std::span<tsp::entry> queue;
  tsp::queue_state* state = nullptr;
  lone_best* best = nullptr;
  quire::mutex queue_lock, best_lock;
};

shared_search make(const tsp::settings& wanted) {
  auto options = apps::array_region(wanted, 0);
  options.heap = true;
  const auto memory = quire::region::create(4 * wanted.pool * sizeof(tsp::tour) + (1 << 20), options);
  shared_search made;
  made.pool = quire::make_shared_array<tsp::tour*>(wanted.pool);
  if (wanted.sharing.chunk != 0) {
    apps::make_in_minipages(wanted, wanted.sharing, wanted.pool, sizeof(tsp::tour),
                            [&](std::size_t i, void* place) { made.pool[i] = ::new (place) tsp::tour; });
  } else {
    for (auto& t : made.pool) t = memory.make<tsp::tour>();
  }
  made.queue = memory.make_array<tsp::entry>(wanted.pool);
  made.state = memory.make<tsp::queue_state>();
  made.best = memory.make<lone_best>();
  made.queue_lock = quire::mutex::create();
  made.best_lock = quire::mutex::create();
  return made;
}

class guards {
 public:
  guards(const tsp::settings& wanted, quire::mutex queue, quire::mutex best)
      : queue_(queue), best_(best), pushes_(wanted.consistency == "sequential") {}
  [[nodiscard]] auto queue() { return std::unique_lock(queue_); }
  [[nodiscard]] auto best() { return std::unique_lock(best_); }
  void announce(tsp::best_tour& best) const {
    if (pushes_) quire::push(std::span(&best, 1));
  }

 private:
  quire::mutex queue_, best_;
  bool pushes_;  ///< under release consistency the lock's notices tell
};

}  // namespace

int main(int argc, char** argv) try {
  const auto wanted = tsp::parse(argc, argv, "quire");
  quire::session job;
  const auto shared = quire::from_node(0, [&] { return make(wanted); });
  const std::vector<tsp::tour*> pool(shared.pool.begin(), shared.pool.end());
  const tsp::search_state all{pool, shared.queue, shared.state, &shared.best->best};
  const tsp::map where(wanted.size, wanted.seed);
  guards own(wanted, shared.queue_lock, shared.best_lock);

  auto result = tsp::begin_report(wanted, "quire");
  tsp::outcome found;
  apps::crew(wanted).run(
      result,
      [&](auto& me) {
        if (me.number() == 0) tsp::prepare(all, where);
      },
      [&](auto& me) {
        const auto outcome = tsp::search(me, all, where, wanted.alone, own);
        if (me.thread() == 0) found = outcome;
      });
  return quire::broadcast(job.node() == 0 ? tsp::finish(wanted, result, *all.best, found) : 0);
} catch (const std::exception& e) {
  fmt::print(stderr, "tsp: {}\n", e.what());
  return 1;
}
