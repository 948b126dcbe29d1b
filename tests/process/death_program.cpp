// SPDX-License-Identifier: BSD-3-Clause
// A node for death_test: death_program WHERE. All nodes print their pid and then do what WHERE says, for at most a
// minute; the test kills one of them meanwhile ("ends": they end well at once). Whoever comes to the end of it has not
// noticed: that is a failure.
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>

#include <quire/loop.h>
#include <quire/transaction.hpp>

#include "node.hpp"

using namespace quire::test;

namespace {

struct shared {
  quire_mutex mutex;
  quire_event event;
  quire_semaphore semaphore;
  quire_condition condition;
  quire_barrier barrier;
  std::uint64_t words[4096];
};

[[noreturn]] void not_noticed() { fail(__FILE__, __LINE__, "the death of a node was not noticed"); }

void compute(shared& s) {
  for (const double until = now_seconds() + 60; now_seconds() < until;)
    for (std::size_t i = 0; i < 4096; i += 512) std::atomic_ref(s.words[i]).fetch_add(1);
}
/// Touches nothing that is shared: only the service thread can notice.
void private_loop(shared&) {
  for (const double until = now_seconds() + 60; now_seconds() < until;) asm volatile("");
}
void at_barrier(shared& s) { static_cast<void>(quire_barrier_wait(s.barrier)); }  // for one more than there are
void at_job_barrier(shared&) {
  if (quire_node() == 0) sleep_ms(60'000);
  static_cast<void>(quire_barrier_wait(quire_barrier{0}));
}
void at_end(shared&) {
  if (quire_node() == 0) sleep_ms(60'000);
  static_cast<void>(quire_end());
}
void in_lock(shared& s) {
  static_cast<void>(quire_mutex_lock(s.mutex));  // one gets it, and keeps it
  sleep_ms(60'000);
}
void in_event(shared& s) { static_cast<void>(quire_event_wait(s.event, -1)); }
void in_semaphore(shared& s) { static_cast<void>(quire_semaphore_acquire(s.semaphore, -1)); }
void in_condition(shared& s) {
  REQUIRE_OK(quire_mutex_lock(s.mutex));
  static_cast<void>(quire_condition_wait(s.condition, s.mutex, -1));
}
void in_lookup(shared&) {
  void* found = nullptr;
  REQUIRE_STATUS(quire_lookup("what nobody publishes", -1, &found), QUIRE_PEER_LOST);
}
/// Each node has some regions, whose pages have homes on all nodes, makes another one and destroys the oldest. A limit
/// of 2 MiB lets not even those of this node stand.
void destroying(shared&) {
  std::array<quire_region, 4> mine{};
  for (const double until = now_seconds() + 60; now_seconds() < until;) {
    quire_region_options about = region_options(4096, QUIRE_PLACE_MODULO);
    about.consistency = quire_node() == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
    quire_status why = mine.back().id != 0 ? quire_region_destroy(mine.back()) : QUIRE_OK;
    std::rotate(mine.begin(), mine.end() - 1, mine.end());
    void* at = nullptr;
    const std::size_t bytes = std::size_t{1} << 20;
    if (why == QUIRE_OK) why = quire_region_create(&about, bytes, mine.data());
    if (why == QUIRE_OK) why = quire_region_range(mine[0], &at, nullptr);
    for (std::size_t i = 0; why == QUIRE_OK && i < bytes; i += 4096)
      static_cast<volatile std::byte*>(at)[i] = std::byte{1};
    REQUIRE(why == QUIRE_OK || why == QUIRE_PEER_LOST);
    if (why != QUIRE_OK) sleep_ms(60'000);
  }
}
void* sleeps(void* argument) {
  sleep_ms(60'000);
  return argument;
}
void in_join(shared&) {
  quire_remote_thread thread{};
  REQUIRE_OK(quire_spawn((quire_node() + 1) % quire_nodes(), sleeps, nullptr, &thread));
  static_cast<void>(quire_join(thread, nullptr));
}
/// The home of the words stands still, so that everybody else hangs in a fault.
void in_fault(shared& s) {
  if (quire_node() == 0) ::raise(SIGSTOP);
  sleep_ms(100);
  for (std::size_t i = 0; i < 4096; i += 512) std::atomic_ref(s.words[i]).fetch_add(1);
  sleep_ms(60'000);
}
/// Words in units of their own, in transactional memory.
constexpr std::size_t accounts = 16;
volatile std::uint64_t* g_accounts = nullptr;
volatile std::uint64_t& account(std::size_t i) { return g_accounts[512 * i]; }
void open_accounts() {
  quire_region_options about = region_options(4096, QUIRE_PLACE_MODULO);
  about.consistency = QUIRE_TRANSACTIONAL;
  g_accounts = shared_region<std::uint64_t>("accounts", accounts * 4096, about);
}
/// A bank: one thread of each node moves money, now and then so that nobody else commits meanwhile; one looks at all of
/// it.
void transactions(shared&) {
  open_accounts();
  std::thread([] {
    for (;;) {
      quire::atomically([] {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < accounts; ++i) sum += account(i);
        REQUIRE_EQUAL(sum, 0);
      });
    }
  }).detach();
  random_numbers random(static_cast<std::uint64_t>(quire_node()) + 1);
  for (const double until = now_seconds() + 60; now_seconds() < until;) {
    const std::size_t from = random.below(accounts), to = random.below(accounts);
    quire::atomically(
        [&] {
          account(from) = account(from) - 1;
          account(to) = account(to) + 1;
        },
        {.irrevocable = random.below(16) == 0});
  }
}
void in_retry(shared&) {
  open_accounts();
  quire::atomically([] {
    if (account(0) == 0) quire::retry();
  });
}
/// Node 1 lets nobody else commit.
void in_turn(shared&) {
  open_accounts();
  if (quire_node() != 1) sleep_ms(100);
  quire::atomically(
      [] {
        account(0) = 1;
        if (quire_node() == 1) sleep_ms(60'000);
      },
      {.irrevocable = quire_node() == 1});
}
/// No task comes.
void in_loop(shared&) { REQUIRE_OK(quire_loop_run()); }
void printing(shared&) {
  for (int line = 0; line < 6'000; ++line) {
    std::printf("line %d\n", line);
    sleep_ms(10);
  }
}
void reading_input(shared&) {
  char line[16];
  static_cast<void>(!std::fgets(line, sizeof line, stdin));
  sleep_ms(60'000);
}

// ---- Ends of some nodes while others wait. Node 2 does something else for long.
/// Node 0 ends, node 1 waits for all: neither can come.
void end_meets_barrier(shared&) {
  if (quire_node() == 2) sleep_ms(60'000);
  const quire_status got = quire_node() == 0 ? quire_end() : quire_barrier_wait(quire_barrier{0});
  std::printf("got %d\n", static_cast<int>(got));
  std::exit(got == QUIRE_INVALID ? 3 : 9);
}
/// Node 0 makes a checkpoint, node 1 reduces.
void checkpoint_meets_reduce(shared&) {
  if (quire_node() == 2) sleep_ms(60'000);
  double one = 1;
  const quire_status got = quire_node() == 0 ? quire_checkpoint("/tmp") : quire_reduce_f64(&one, 1, QUIRE_SUM);
  std::exit(got == QUIRE_INVALID ? 3 : 9);
}
/// After the end: one fails, the others have long to do.
void fails_after_end(shared&) {
  const bool fails = quire_node() == 1;
  REQUIRE_OK(quire_end());
  if (fails) ::_exit(3);
  sleep_ms(60'000);
}
/// After the end node 1 is stopped; the others wait for it no more, but the job does.
void stops_after_end(shared&) {
  const bool stops = quire_node() == 1;
  REQUIRE_OK(quire_end());
  if (stops) ::raise(SIGSTOP);
  std::exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(shared&)> places = {{"compute", compute},
                                                           {"private_loop", private_loop},
                                                           {"at_barrier", at_barrier},
                                                           {"at_job_barrier", at_job_barrier},
                                                           {"at_end", at_end},
                                                           {"in_lock", in_lock},
                                                           {"in_event", in_event},
                                                           {"in_semaphore", in_semaphore},
                                                           {"in_condition", in_condition},
                                                           {"in_lookup", in_lookup},
                                                           {"in_join", in_join},
                                                           {"in_fault", in_fault},
                                                           {"destroying", destroying},
                                                           {"transactions", transactions},
                                                           {"in_retry", in_retry},
                                                           {"in_turn", in_turn},
                                                           {"in_loop", in_loop},
                                                           {"end_meets_barrier", end_meets_barrier},
                                                           {"checkpoint_meets_reduce", checkpoint_meets_reduce},
                                                           {"fails_after_end", fails_after_end},
                                                           {"stops_after_end", stops_after_end},
                                                           {"printing", printing},
                                                           {"reading_input", reading_input}};
  const std::string where = argc > 1 ? argv[1] : "";
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  REQUIRE_OK(quire_start(nullptr));
  auto& s = *shared_object<shared>("shared");
  if (quire_node() == 0) {
    REQUIRE_OK(quire_mutex_create(&s.mutex));
    REQUIRE_OK(quire_event_create(&s.event));
    REQUIRE_OK(quire_semaphore_create(0, &s.semaphore));
    REQUIRE_OK(quire_condition_create(&s.condition));
    REQUIRE_OK(quire_barrier_create(static_cast<std::uint32_t>(quire_nodes() + 1), &s.barrier));
  }
  barrier();
  std::printf("node %d is %d\n", quire_node(), ::getpid());
  if (where == "ends") {
    REQUIRE_OK(quire_end());
    return 0;
  }
  if (where == "exit") {
    if (quire_node() == 1) return 0;  // without quire_end()
    sleep_ms(60'000);
  }
  if (where == "exit_with_5") {
    if (quire_node() == 1) ::_exit(5);
    sleep_ms(60'000);
  }
  if (places.contains(where)) places.at(where)(s);
  not_noticed();
}
