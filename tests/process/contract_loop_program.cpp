// SPDX-License-Identifier: BSD-3-Clause
// Contract of the loop of transactions: each task runs exactly once, where and in the order that it is to; what tasks
// register is run; a task that undoes itself is gone; the loops of all nodes end. Tasks that run for long do so on
// several nodes at the same time, and do not undo each other.
#include <time.h>

#include <array>
#include <atomic>
#include <cstdlib>

#include <quire/loop.h>
#include <quire/transaction.hpp>

#include "node.hpp"

using namespace quire::test;

namespace {

using word = std::uint64_t;
constexpr std::size_t unit_words = 512;

/// A word in a unit of its own.
volatile word* g_words = nullptr;
volatile word& at(std::size_t i) { return g_words[i * unit_words]; }
/// Words of a sequential region: what bodies write there is seen at once.
volatile word* g_signals = nullptr;
enum signal : std::size_t { met, is_in = met + 2, goes_on };
/// Without a system call, which would make a body irrevocable.
void wait_for(std::size_t signal) {
  const double end = now_seconds() + 20;
  while (g_signals[signal] == 0) {
    if (now_seconds() > end) fail(__FILE__, __LINE__, "nobody gives signal %zu", signal);
  }
}

quire_task_options how(int node, int priority = 4) {
  quire_task_options o{};
  o.size = sizeof o;
  o.node = node;
  o.priority = priority;
  return o;
}
word read(std::size_t i) {
  return quire::atomically([&] { return word{at(i)}; });
}

void run_loop() { REQUIRE_OK(quire_loop_run()); }

constexpr std::size_t most_long = 64;
enum place : std::size_t {
  counter,
  left,
  order,
  log_of_order,
  ticks,
  undone,
  asked,
  answered,
  opened,
  cancelled,
  own,
  done_long = own + 16,
  last = done_long + most_long
};

void count(std::uint64_t by) {
  at(counter) = at(counter) + by;
  at(left) = at(left) - 1;
  if (at(left) == 0) REQUIRE_OK(quire_loop_stop());
}

/// All nodes register, all run: each task once.
void exactly_once() {
  constexpr word mine = 200;
  const auto nodes = static_cast<word>(quire_nodes());
  if (quire_node() == 0) quire::atomically([&] { at(left) = mine * nodes; });
  barrier();
  for (word i = 0; i < mine; ++i) {
    const auto o = how(i % 3 == 0 ? static_cast<int>(i % nodes) : -1, static_cast<int>(i % 8));
    REQUIRE_OK(quire_task_register(count, i + 1, &o, nullptr));
  }
  run_loop();
  REQUIRE_EQUAL(read(counter), nodes * mine * (mine + 1) / 2);
  barrier();
}

void note_order(std::uint64_t which) {
  const word n = at(order);
  g_words[log_of_order * unit_words + n] = which;
  at(order) = n + 1;
  if (n + 1 == 24) REQUIRE_OK(quire_loop_stop());
}

/// By priority; of one priority in the order of registering.
void in_order() {
  if (quire_node() == 0) {
    quire::atomically([&] {
      for (word i = 0; i < 24; ++i) {
        const auto o = how(quire_nodes() - 1, static_cast<int>(7 - i % 8));
        REQUIRE_OK(quire_task_register(note_order, i, &o, nullptr));
      }
    });
  }
  barrier();
  run_loop();
  barrier();
  quire::atomically([&] {
    for (word i = 0; i < 24; ++i) REQUIRE_EQUAL(g_words[log_of_order * unit_words + i], 7 - i / 3 + 8 * (i % 3));
  });
  barrier();
}

void hop(std::uint64_t left_over) {
  at(own + static_cast<std::size_t>(quire_node()) % 16) = at(own + static_cast<std::size_t>(quire_node()) % 16) + 1;
  if (left_over == 0) {
    REQUIRE_OK(quire_loop_stop());
    return;
  }
  const auto o =
      how(static_cast<int>((static_cast<unsigned>(quire_node()) + 1) % static_cast<unsigned>(quire_nodes())));
  REQUIRE_OK(quire_task_register(hop, left_over - 1, &o, nullptr));
}

/// A task goes round all nodes.
void round_about() {
  if (quire_node() == 0)
    REQUIRE_OK(quire_task_register(hop, 5 * static_cast<word>(quire_nodes()) - 1, nullptr, nullptr));
  barrier();
  run_loop();
  barrier();
  word sum = 0;
  for (std::size_t i = 0; i < 16; ++i) sum += read(own + i);
  REQUIRE_EQUAL(sum, 5 * quire_nodes());
  barrier();
}

void tick(std::uint64_t) {
  at(ticks) = at(ticks) + 1;
  if (at(ticks) == 5) REQUIRE_OK(quire_loop_stop());
}
quire_task g_periodic{};

/// Again and again; and later.
void periodic() {
  const double begin = now_seconds();
  if (quire_node() == 0) {
    auto o = how(-1);
    o.period_ms = 5;
    o.delay_ms = 20;
    REQUIRE_OK(quire_task_register(tick, 0, &o, &g_periodic));
  }
  barrier();
  run_loop();
  REQUIRE(now_seconds() - begin >= 0.035);
  if (quire_node() == 0) {
    REQUIRE_OK(quire_task_cancel(g_periodic));
    REQUIRE_STATUS(quire_task_cancel(g_periodic), QUIRE_NOT_FOUND);
  }
  barrier();
}

void undo(std::uint64_t) {
  at(undone) = 77;
  quire_transaction_abort(QUIRE_BUSY);
}
void stop(std::uint64_t) { REQUIRE_OK(quire_loop_stop()); }

void undo_themselves() {
  if (quire_node() == 0) {
    auto o = how(0, 1);
    REQUIRE_OK(quire_task_register(undo, 0, &o, nullptr));
    o.priority = 6;
    REQUIRE_OK(quire_task_register(stop, 0, &o, nullptr));
  }
  barrier();
  run_loop();
  REQUIRE_EQUAL(read(undone), 0);
  barrier();
}

// ---- Tasks that run for long, or wait

void meet(std::uint64_t which) {
  g_signals[met + which] = 1;
  wait_for(met + 1 - which);
  at(left) = at(left) - 1;
  if (at(left) == 0) REQUIRE_OK(quire_loop_stop());
}

/// Of two tasks that any node may run, each waits for the other to be under way.
void side_by_side() {
  if (quire_nodes() == 1) return;
  if (quire_node() == 0) {
    quire::atomically([&] {
      at(left) = 2;
      for (word i = 0; i < 2; ++i) REQUIRE_OK(quire_task_register(meet, i, nullptr, nullptr));
    });
  }
  barrier();
  run_loop();
  barrier();
}

double computed_seconds() {
  timespec t{};
  REQUIRE(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::int64_t g_begun = 0;
void take_long(std::uint64_t which) {
  ++g_begun;
  const double end = computed_seconds() + 0.001;
  while (computed_seconds() < end) {
  }
  at(done_long + which) = 1;
}
/// When all have run.
void stop_behind(std::uint64_t count) {
  for (word i = 0; i < count; ++i) {
    if (at(done_long + i) == 0) quire_transaction_retry();
  }
  REQUIRE_OK(quire_loop_stop());
}

/// They take tasks of one queue, and of their own, that one node has registered. Each begins once: what others take
/// undoes nobody.
void do_not_undo_each_other() {
  const word count = std::min<word>(most_long, 8 * static_cast<word>(quire_nodes()));
  if (quire_node() == 0) {
    quire::atomically([&] {
      for (word i = 0; i < count; ++i) {
        const auto o = how(i % 4 == 0 ? static_cast<int>(i % static_cast<word>(quire_nodes())) : -1);
        REQUIRE_OK(quire_task_register(take_long, i, &o, nullptr));
      }
      const auto o = how(0, 7);
      REQUIRE_OK(quire_task_register(stop_behind, count, &o, nullptr));
    });
  }
  barrier();
  run_loop();
  std::int64_t begun = g_begun;
  REQUIRE_OK(quire_reduce_i64(&begun, 1, QUIRE_SUM));
  if (std::getenv("QUIRE_RESTART_EVERY") == nullptr) REQUIRE_EQUAL(begun, static_cast<std::int64_t>(count));
  for (word i = 0; i < count; ++i) REQUIRE_EQUAL(read(done_long + i), 1);
  barrier();
}

void small(std::uint64_t) { at(counter) = at(counter) + 1; }
void ask(std::uint64_t) { at(asked) = 1; }
void wait_for_answer(std::uint64_t) {
  if (at(answered) == 0) quire_transaction_retry();
  REQUIRE_OK(quire_loop_stop());
}
void answer(std::uint64_t) {
  if (at(asked) == 0) quire_transaction_retry();
  at(answered) = 1;
}

/// A task waits for what comes of one before it, with which it might be one transaction.
void wait_behind_others() {
  if (quire_nodes() == 1) return;
  if (quire_node() == 0) {
    quire::atomically([&] {
      const auto here = how(0), there = how(1);
      for (unsigned i = 0; i < 20; ++i) REQUIRE_OK(quire_task_register(small, 0, &here, nullptr));
      REQUIRE_OK(quire_task_register(ask, 0, &here, nullptr));
      REQUIRE_OK(quire_task_register(wait_for_answer, 0, &here, nullptr));
      REQUIRE_OK(quire_task_register(answer, 0, &there, nullptr));
    });
  }
  barrier();
  run_loop();
  barrier();
}

std::atomic<bool> g_waits{false};
void wait_to_be_opened(std::uint64_t) {
  g_waits = true;
  if (at(opened) == 0) quire_transaction_retry();
  REQUIRE_OK(quire_loop_stop());
}
void open(std::uint64_t) { at(opened) = 1; }

/// A task that waits does not keep its node from one that is more urgent.
void let_others_pass() {
  if (quire_node() == 0) {
    const auto here = how(0);
    REQUIRE_OK(quire_task_register(wait_to_be_opened, 0, &here, nullptr));
  }
  barrier();
  std::thread opener;
  if (quire_node() == 0) {
    opener = std::thread([] {
      const auto urgent = how(0, 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      REQUIRE_OK(quire_task_register(open, 0, &urgent, nullptr));
    });
  }
  run_loop();
  if (opener.joinable()) opener.join();
  std::int64_t waited = g_waits ? 1 : 0;
  REQUIRE_OK(quire_reduce_i64(&waited, 1, QUIRE_SUM));
  REQUIRE(waited != 0);
  barrier();
}

void run_until_cancelled(std::uint64_t) {
  g_signals[is_in] = 1;
  wait_for(goes_on);
  at(cancelled) = 1;
}

/// While it runs.
void cancel_what_runs() {
  if (quire_nodes() == 1) return;
  if (quire_node() == 0) {
    const auto there = how(1);
    quire_task one{};
    REQUIRE_OK(quire_task_register(run_until_cancelled, 0, &there, &one));
    wait_for(is_in);
    REQUIRE_OK(quire_task_cancel(one));
    REQUIRE_STATUS(quire_task_cancel(one), QUIRE_NOT_FOUND);
    REQUIRE_OK(quire_task_register(stop, 0, &there, nullptr));
    g_signals[goes_on] = 1;
  }
  run_loop();
  REQUIRE_EQUAL(read(cancelled), 0);
  barrier();
}

void refused() {
  REQUIRE_STATUS(quire_task_register(nullptr, 0, nullptr, nullptr), QUIRE_INVALID);
  auto o = how(quire_nodes());
  REQUIRE_STATUS(quire_task_register(stop, 0, &o, nullptr), QUIRE_INVALID);
  o = how(0, 8);
  REQUIRE_STATUS(quire_task_register(stop, 0, &o, nullptr), QUIRE_INVALID);
  o = how(0);
  o.size = 3;
  REQUIRE_STATUS(quire_task_register(stop, 0, &o, nullptr), QUIRE_INVALID);
  o = how(0);
  o.period_ms = ~std::uint64_t{0};
  REQUIRE_STATUS(quire_task_register(stop, 0, &o, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_task_cancel(quire_task{0}), QUIRE_INVALID);
  REQUIRE_STATUS(quire_task_cancel(quire_task{~0ull}), QUIRE_INVALID);
  quire::atomically([&] { REQUIRE_STATUS(quire_loop_run(), QUIRE_INVALID); });
  // As many as there may be, and one more.
  if (quire_node() == 0) {
    static std::array<quire_task, 4096> all;
    quire_task one{};
    for (std::size_t i = 0; i < all.size(); i += 64) {
      quire::atomically([&] {
        for (std::size_t k = i; k < i + 64; ++k) REQUIRE_OK(quire_task_register(stop, 0, nullptr, &all[k]));
      });
    }
    REQUIRE_STATUS(quire_task_register(stop, 0, nullptr, &one), QUIRE_LIMIT);
    for (std::size_t i = 0; i < all.size(); i += 64) {
      quire::atomically([&] {
        for (std::size_t k = i; k < i + 64; ++k) REQUIRE_OK(quire_task_cancel(all[k]));
      });
    }
  }
  barrier();
}

}  // namespace

int main() {
  return node_main([] {
    quire_region_options about = region_options(4096, QUIRE_PLACE_MODULO, 0);
    about.consistency = QUIRE_TRANSACTIONAL;
    g_words = shared_region<word>("loop", place::last * 4096, about);
    g_signals = shared_region<word>("signals", 4096, region_options(4096, QUIRE_PLACE_MODULO, 0));
    barrier();
    exactly_once();
    do_not_undo_each_other();
    side_by_side();
    wait_behind_others();
    let_others_pass();
    cancel_what_runs();
    in_order();
    round_about();
    periodic();
    undo_themselves();
    refused();
  });
}
