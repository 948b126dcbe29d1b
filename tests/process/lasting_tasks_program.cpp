// SPDX-License-Identifier: BSD-3-Clause
// Tasks that outlive their job: each node runs the loop, while another thread of it writes checkpoints; whoever goes on
// from one, on any number of nodes, goes on with the tasks that were left. Each task writes its number into a ledger
// once, registers what comes after it, and adds to a sum.
//
//   lasting_tasks_program DIRECTORY CHAINS LENGTH
#include <atomic>
#include <chrono>

#include <quire/loop.h>
#include <quire/transaction.hpp>

#include "node.hpp"

using namespace quire::test;

namespace {

using word = std::uint64_t;

struct ledger {
  word chains, length, left;
  alignas(4096) word sums[8][512];  ///< one a unit
  alignas(4096) unsigned char done[1 << 20];
};
ledger* g_all = nullptr;

/// A task of chain and place: its number.
void work(word number) {
  ledger& all = *g_all;
  if (all.done[number] != 0) fail(__FILE__, __LINE__, "task %" PRIu64 " runs twice", number);
  all.done[number] = 1;
  if (number % 64 == 0) {  // it takes long, so that a checkpoint finds it taken, and not run yet
    const double end = now_seconds() + 0.0003;
    while (now_seconds() < end) {
    }
  }
  all.sums[number % 8][0] += number;
  const word place = number % all.length, chain = number / all.length;
  if (place + 1 != all.length) {
    quire_task_options o{};
    o.size = sizeof o;
    o.priority = static_cast<int>(number % 8);
    o.node = chain % 2 == 0 ? -1 : static_cast<int>(number % static_cast<word>(quire_nodes()));
    o.delay_ms = number % 16 == 0 ? 1 : 0;
    REQUIRE_OK(quire_task_register(work, number + 1, &o, nullptr));
  } else if (--all.left == 0) {
    REQUIRE_OK(quire_loop_stop());
  }
}

word tasks_left() {
  return quire::atomically([] { return g_all->left; });
}

/// Beside the loop.
void write_checkpoints(const char* directory, const std::atomic<bool>& ended) {
  for (int n = 1;; ++n) {
    const std::int64_t goes_on = ended.load() ? 0 : 1;
    std::int64_t any = goes_on;
    REQUIRE_OK(quire_reduce_i64(&any, 1, QUIRE_SUM));
    if (any == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    REQUIRE_OK(quire_checkpoint(directory));
    if (quire_node() == 0) std::printf("checkpoint %d\n", n);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const char* const directory = argv[1];
  const word chains = std::strtoull(argv[2], nullptr, 10), length = std::strtoull(argv[3], nullptr, 10);
  return node_main([&] {
    const quire_status found = quire_restore(directory);
    if (found == QUIRE_OK) {
      void* at = nullptr;
      REQUIRE_OK(quire_lookup("ledger", 0, &at));
      g_all = static_cast<ledger*>(at);
      if (quire_node() == 0) std::printf("goes on with %" PRIu64 " chains\n", tasks_left());
    } else {
      REQUIRE_STATUS(found, QUIRE_NOT_FOUND);
      quire_region_options about = region_options(4096, QUIRE_PLACE_MODULO, 0);
      about.consistency = QUIRE_TRANSACTIONAL;
      g_all = shared_region<ledger>("ledger", sizeof(ledger), about);
      if (quire_node() == 0) {
        REQUIRE(chains * length <= sizeof g_all->done);
        quire::atomically([&] {
          g_all->chains = g_all->left = chains;
          g_all->length = length;
        });
        for (word i = 0; i < chains; ++i) REQUIRE_OK(quire_task_register(work, i * length, nullptr, nullptr));
      }
    }
    barrier();
    std::atomic<bool> ended{false};
    std::thread writer([&] { write_checkpoints(directory, ended); });
    if (tasks_left() != 0) {
      const quire_status why = quire_loop_run();
      if (why != QUIRE_OK) fail(__FILE__, __LINE__, "status %d: %s", why, quire_last_error());
    }
    ended = true;
    writer.join();
    barrier();
    quire::atomically([&] {
      word sum = 0;
      for (auto& one : g_all->sums) sum += one[0];
      const word tasks = chains * length;
      REQUIRE_EQUAL(sum, tasks * (tasks - 1) / 2);
      for (word i = 0; i < tasks; ++i) REQUIRE_EQUAL(g_all->done[i], 1);
    });
    barrier();
    if (quire_node() == 0) std::printf("all %" PRIu64 " tasks were run once\n", chains * length);
  });
}
