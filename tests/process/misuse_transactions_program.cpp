// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong with transactions: calls that are refused, with a status (the whole); and, by the name of one, jobs
// that do not end well: "outside", "die", "endless", "turn", "faults". "stopped" ends well: a node that does not run is
// waited for.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string_view>

#include "node.hpp"
#include "transactional_words.hpp"

using namespace quire::test;

namespace {

void refused() {
  REQUIRE_STATUS(quire_atomically(nullptr, nullptr, nullptr), QUIRE_INVALID);
  quire_transaction_options odd{};
  odd.size = 3;
  REQUIRE_STATUS(quire_atomically([](void*) {}, nullptr, &odd), QUIRE_INVALID);
  REQUIRE_STATUS(quire_transaction_irrevocable(), QUIRE_INVALID);
  REQUIRE_STATUS(quire_on_commit([](void*) {}, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_on_abort([](void*) {}, nullptr), QUIRE_INVALID);
  // Whatever waits for other threads.
  quire_mutex lock{};
  quire_semaphore semaphore{};
  quire_event event{};
  quire_condition condition{};
  quire_remote_thread thread{};
  quire_region region{};
  REQUIRE_OK(quire_mutex_create(&lock));
  REQUIRE_OK(quire_semaphore_create(1, &semaphore));
  REQUIRE_OK(quire_event_create(&event));
  REQUIRE_OK(quire_condition_create(&condition));
  REQUIRE_OK(quire_spawn(
      quire_node(), [](void* same) { return same; }, nullptr, &thread));
  word* const plain = shared_object<word>("refused_plain");
  volatile word* const at = make_words("refused", 1);
  atomically([&] {
    (void)word{*at};
    REQUIRE_STATUS(quire_mutex_lock(lock), QUIRE_INVALID);
    REQUIRE(std::string_view(quire_last_error()).find("not within a transaction") != std::string_view::npos);
    REQUIRE_STATUS(quire_mutex_try_lock(lock), QUIRE_INVALID);
    REQUIRE_STATUS(quire_mutex_unlock(lock), QUIRE_INVALID);
    REQUIRE_STATUS(quire_semaphore_acquire(semaphore, -1), QUIRE_INVALID);
    REQUIRE_STATUS(quire_event_wait(event, -1), QUIRE_INVALID);
    REQUIRE_STATUS(quire_condition_wait(condition, lock, -1), QUIRE_INVALID);
    REQUIRE_STATUS(quire_barrier_wait(quire_barrier{0}), QUIRE_INVALID);
    REQUIRE_STATUS(quire_join(thread, nullptr), QUIRE_INVALID);
    REQUIRE_STATUS(quire_pin(plain, sizeof *plain, -1, nullptr), QUIRE_INVALID);
    REQUIRE_STATUS(quire_checkpoint("nowhere"), QUIRE_INVALID);
    void* found = nullptr;
    REQUIRE_STATUS(quire_lookup("what nobody publishes", -1, &found), QUIRE_INVALID);
    REQUIRE_OK(quire_lookup("refused_plain", -1, &found));
    REQUIRE(found == plain);
    REQUIRE_OK(quire_region_of(const_cast<word*>(at), &region));
    REQUIRE_STATUS(quire_region_destroy(region), QUIRE_INVALID);
    REQUIRE_STATUS(quire_end(), QUIRE_INVALID);
    REQUIRE_STATUS(quire_on_commit(nullptr, nullptr), QUIRE_INVALID);
  });
  REQUIRE_OK(quire_join(thread, nullptr));
  REQUIRE_OK(quire_mutex_lock(lock));
  REQUIRE_OK(quire_mutex_unlock(lock));
  REQUIRE_OK(quire_mutex_destroy(lock));
  word before = 0;
  REQUIRE_STATUS(quire_fetch_add(const_cast<word*>(at), 1, &before), QUIRE_UNSUPPORTED);
  REQUIRE_STATUS(quire_pin(const_cast<word*>(at), 8, 0, nullptr), QUIRE_UNSUPPORTED);
  quire_region_options about = transactional();
  for (const auto detector : {QUIRE_DETECT_USERFAULT_THREAD, QUIRE_DETECT_SCAN}) {
    about.detector = detector;
    REQUIRE(quire_region_create(&about, 1 << 20, &region) != QUIRE_OK);
  }
  barrier();
}

void write_outside() {
  volatile word* const at = make_words("outside", 1);
  if (quire_node() == 0) *at = 1;
  barrier();
}

/// Node 1 is in a body that does not end; nobody else can commit, if `irrevocable`.
void endless(bool irrevocable) {
  volatile word* const at = make_words("endless", 1);
  if (quire_node() == 1) {
    quire::atomically(
        [&] {
          while (*at == 0) continue;
        },
        {.irrevocable = irrevocable});
  }
  if (irrevocable) {
    sleep_ms(200);
    atomically([&] { own_unit(at, 0) = 1; });
  }
  barrier();
}

/// Node 1 faults in a body, for reasons of its own.
void faults() {
  volatile word* const at = make_words("faults", 1);
  if (quire_node() == 1) {
    atomically([&] {
      *at = 1;
      volatile word* nowhere = nullptr;
      asm volatile("" : "+r"(nowhere));
      *nowhere = 2;
    });
  }
  barrier();
}

bool is_stopped(word process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) return line.find('T') != std::string::npos;
  }
  return false;
}

/// By the token every node hears of each commit. Node 1 hears of nothing, so that node 0 waits when some have been
/// told: what it has to tell has a bound.
void stopped() {
  constexpr word times = 4000, at_most = 1200;
  volatile word* const at = make_words("stopped", 1);
  word* const process = shared_object<word>("stopped_process");
  if (quire_node() == 1) *process = static_cast<word>(::getpid());
  barrier();
  // Node 0 needs nothing from node 1 any more when that stops.
  const word other = *process;
  if (quire_node() == 0) atomically([&] { *at = 1; });
  barrier();
  if (quire_node() == 1) ::kill(::getpid(), SIGSTOP);
  if (quire_node() == 0) {
    while (!is_stopped(other)) sleep_ms(1);
    std::atomic<word> done{0};
    word when_it_went_on = times;
    std::thread watcher([&] {
      for (word before = times; done != times && when_it_went_on == times; sleep_ms(500)) {
        if (done == before) when_it_went_on = before;
        before = done;
      }
      ::kill(static_cast<pid_t>(other), SIGCONT);
    });
    for (done = 1; done < times; ++done) atomically([&] { *at = *at + 1; });
    watcher.join();
    if (when_it_went_on > at_most)
      fail(__FILE__, __LINE__, "%" PRIu64 " commits were made while a node was stopped", when_it_went_on);
  }
  barrier();
  atomically([&] { REQUIRE_EQUAL(word{*at}, times); });
  barrier();
}

/// A node dies in the middle of it all.
void die() {
  volatile word* const at = make_words("die", 8);
  for (int i = 0; i < 100'000; ++i) {
    atomically([&] {
      for (std::size_t p = 0; p < 8; ++p) own_unit(at, p) = own_unit(at, p) + 1;
    });
    if (i == 50 && quire_node() == quire_nodes() - 1) ::kill(::getpid(), SIGKILL);
  }
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE_OK(quire_start(nullptr));
  const std::string_view part = argc > 1 ? argv[1] : "refused";
  if (part == "refused") refused();
  if (part == "outside") write_outside();
  if (part == "die") die();
  if (part == "stopped") stopped();
  if (part == "endless") endless(false);
  if (part == "turn") endless(true);
  if (part == "faults") faults();
  REQUIRE_OK(quire_end());
  return 0;
}
