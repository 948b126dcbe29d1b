// SPDX-License-Identifier: BSD-3-Clause
// A node for the tests of quire_leave(): leave_program WHAT. Of a job that goes on without nodes, those from 1 on leave
// while the others use memory and locks; what they had written is there, and nobody hears of a death.
#include <quire/leave.h>
#include <setjmp.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::uint64_t page_words = 512, pages = 192;
std::atomic<int> g_deaths{0};

std::uint64_t value_at(std::uint64_t page, int lap) { return mix(page * 64 + static_cast<std::uint64_t>(lap)); }

/// Of the node's own share, in the order in which nodes take turns; in the second lap the shares are others.
template <class F>
void own_pages(int lap, int nodes, F f) {
  for (std::uint64_t page = 0; page < pages; ++page)
    if ((page + static_cast<std::uint64_t>(lap)) % static_cast<std::uint64_t>(nodes) ==
        static_cast<std::uint64_t>(quire_node()))
      f(page);
}

struct shared {
  quire_mutex mutexes[8];  ///< one of each node
  std::uint64_t counts[8];
  std::uint64_t left, unknown;
};

std::uint64_t* words_of(quire_placement placement, const char* name) {
  return shared_region<std::uint64_t>(name, pages * page_words * 8, region_options(4096, placement));
}

void add(shared& all, int which) {
  REQUIRE_OK(quire_mutex_lock(all.mutexes[which]));
  ++all.counts[which];
  REQUIRE_OK(quire_mutex_unlock(all.mutexes[which]));
}

void be_gone(int node) {
  for (const double until = now_seconds() + 30; quire_alive(node) != 0; sleep_ms(1))
    if (now_seconds() > until) fail(__FILE__, __LINE__, "node %d has not left", node);
}

/// All but node 0 leave, one after the other, each having written last what others need.
void leave_one_by_one() {
  const int nodes = quire_nodes(), self = quire_node();
  auto& all = *shared_object<shared>("shared");
  std::uint64_t* const words[] = {words_of(QUIRE_PLACE_MODULO, "modulo"), words_of(QUIRE_PLACE_BLOCK, "block")};
  REQUIRE_OK(quire_mutex_create(&all.mutexes[self]));
  barrier();
  for (int lap = 0; lap < 2; ++lap) {
    own_pages(lap, nodes, [&](std::uint64_t page) {
      if (page % 5 == 0) return;  // nobody uses it before the last lap
      for (auto* const w : words) w[page * page_words] = value_at(page, lap);
    });
    for (int i = 0; i < nodes; ++i) add(all, i);
    barrier();
  }
  for (int goes = nodes - 1; goes > 0; --goes) {
    if (self == goes) {
      if (goes == 1) sleep_ms(20);  // node 0 is alone in the barrier
      REQUIRE_OK(quire_leave());
      REQUIRE_STATUS(quire_barrier_wait(quire_barrier{0}), QUIRE_NOT_STARTED);
      std::printf("node %d has left\n", self);
      return;
    }
    be_gone(goes);
    REQUIRE_EQUAL(quire_nodes_alive(), goes);
    barrier();
    for (std::uint64_t page = 0; page < pages; ++page) {
      if (page % 5 == 0) continue;
      for (auto* const w : words) REQUIRE_EQUAL(w[page * page_words], value_at(page, 1));
    }
    for (int i = 0; i < nodes; ++i) add(all, i);
    quire_remote_thread thread{};
    REQUIRE_STATUS(quire_spawn(
                       goes, [](void* p) { return p; }, nullptr, &thread),
                   QUIRE_LOST);
    barrier();
  }
  std::uint64_t sum = 0;
  for (int i = 0; i < nodes; ++i) sum += all.counts[i];
  const auto n = static_cast<std::uint64_t>(nodes);
  REQUIRE_EQUAL(sum, 2 * n * n + n * (n * (n - 1) / 2));
  for (std::uint64_t page = 0; page < pages; page += 5)
    for (auto* const w : words) REQUIRE_EQUAL(w[page * page_words + 1]++, 0);
}

void add_left(shared& all, std::uint64_t added, std::uint64_t unknown) {
  REQUIRE_OK(quire_mutex_lock(all.mutexes[0]));
  all.left += added;
  all.unknown += unknown;
  REQUIRE_OK(quire_mutex_unlock(all.mutexes[0]));
}

/// A node leaves while threads of the others write what it has, count by atomic operations, and lock.
void leave_under_work() {
  const int self = quire_node(), nodes = quire_nodes();
  auto& all = *shared_object<shared>("shared");
  std::uint64_t* const words = words_of(QUIRE_PLACE_MODULO, "modulo");
  REQUIRE_OK(quire_mutex_create(&all.mutexes[self]));
  barrier();
  const bool replicas = std::getenv("LEAVE_REPLICAS") != nullptr;
  std::uint64_t added = 0, unknown = 0;
  const auto work = [&](random_numbers& draw) {
    const std::uint64_t page = draw.below(pages);
    std::uint64_t before = 0;
    const quire_status done = quire_fetch_add(words + page * page_words, 1, &before);
    if (done == QUIRE_PEER_LOST) ++unknown;  // with replicas
    REQUIRE_STATUS(done, done == QUIRE_PEER_LOST && replicas ? QUIRE_PEER_LOST : QUIRE_OK);
    words[page * page_words + 1 + static_cast<std::uint64_t>(self)] += 1;
    ++added;
    if (added % 16 == 0) add(all, static_cast<int>(draw.below(static_cast<std::uint64_t>(nodes))));
  };
  random_numbers draw(static_cast<std::uint64_t>(self) + 1);
  if (self != 0) {
    for (int i = 0; i < 200 * self; ++i) work(draw);
    add_left(all, added, unknown);
    REQUIRE_OK(quire_leave());
    return;
  }
  while (quire_nodes_alive() > 1) work(draw);
  std::uint64_t sum = 0, own = 0;
  for (std::uint64_t page = 0; page < pages; ++page) {
    sum += words[page * page_words];
    for (int n = 0; n < nodes; ++n) own += words[page * page_words + 1 + static_cast<std::uint64_t>(n)];
  }
  REQUIRE(sum <= all.left + added && sum + all.unknown + unknown >= all.left + added);
  REQUIRE_EQUAL(own, all.left + added);
}

/// What stays is said, and the node is a node as before.
void refused() {
  auto& all = *shared_object<shared>("shared");
  barrier();
  if (quire_node() == 0) REQUIRE_STATUS(quire_leave(), QUIRE_UNSUPPORTED);
  if (quire_node() == 1) {
    quire_semaphore semaphore{};
    REQUIRE_OK(quire_semaphore_create(1, &semaphore));
    REQUIRE_STATUS(quire_leave(), QUIRE_BUSY);
    REQUIRE_OK(quire_semaphore_destroy(semaphore));
    REQUIRE_OK(quire_mutex_create(&all.mutexes[1]));
  }
  quire_remote_thread thread{};
  if (quire_node() == 2)
    REQUIRE_OK(quire_spawn(
        1, [](void* p) { return p; }, &all, &thread));
  barrier();
  if (quire_node() == 1) REQUIRE_STATUS(quire_leave(), QUIRE_BUSY);
  barrier();
  if (quire_node() == 2) REQUIRE_OK(quire_join(thread, nullptr));
  barrier();
  if (quire_node() == 1) {
    REQUIRE_OK(quire_leave());
    return;
  }
  be_gone(1);
  add(all, 1);
}

thread_local sigjmp_buf t_back;
void on_bus(int) { ::siglongjmp(t_back, 1); }

bool is_lost(volatile std::uint64_t* word) {
  struct sigaction action {
  }, before{};
  action.sa_handler = on_bus;
  REQUIRE(::sigaction(SIGBUS, &action, &before) == 0);
  const bool lost = sigsetjmp(t_back, 1) != 0;
  if (!lost) (void)*word;
  REQUIRE(::sigaction(SIGBUS, &before, nullptr) == 0);
  return lost;
}

/// What node 2 had is lost with it, and stays so when the node that manages it leaves; but not from the handler.
void leave_after_death() {
  static std::atomic<int> in_handler{QUIRE_OK};
  const int self = quire_node();
  std::uint64_t* const word = words_of(QUIRE_PLACE_MODULO, "modulo") + page_words;  // node 1 manages it
  REQUIRE_OK(quire_on_failure([](int, void*) { in_handler = quire_leave(); }, nullptr));
  barrier();
  if (self == 2) *word = 1;
  barrier();
  if (self == 2) {
    sleep_ms(200);  // all have heard of the barrier
    REQUIRE(::raise(SIGKILL) == 0);
  }
  be_gone(2);
  REQUIRE(is_lost(word));
  if (self == 1) {
    for (const double until = now_seconds() + 30; in_handler == QUIRE_OK && now_seconds() < until;) sleep_ms(1);
    REQUIRE_STATUS(static_cast<quire_status>(in_handler.load()), QUIRE_INVALID);
    REQUIRE_OK(quire_leave());
    return;
  }
  be_gone(1);
  REQUIRE(is_lost(word));
  REQUIRE_OK(quire_end());
}

/// Who has left is none of the job's any more: that it ends well or not says nothing of the others.
int leave_and_fail(const std::string& who) {
  REQUIRE_OK(quire_on_failure([](int, void*) { ++g_deaths; }, nullptr));
  if (quire_node() == 1) {
    REQUIRE_OK(quire_leave());
    return who == "leaver_fails" ? 3 : 0;
  }
  be_gone(1);
  if (who == "stayer_dies") REQUIRE(::raise(SIGKILL) == 0);
  sleep_ms(300);  // the other one ends
  REQUIRE_OK(quire_end());
  REQUIRE_EQUAL(g_deaths.load(), 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "one_by_one";
  REQUIRE_OK(quire_start(nullptr));
  if (what == "ends") {  // a job that ends when a node is lost
    if (quire_node() == 1) REQUIRE_STATUS(quire_leave(), QUIRE_UNSUPPORTED);
    REQUIRE_OK(quire_end());
    return 0;
  }
  if (what == "after_death") {
    leave_after_death();
    return 0;
  }
  if (what == "leaver_fails" || what == "stayer_dies") return leave_and_fail(what);
  REQUIRE_OK(quire_on_failure([](int, void*) { ++g_deaths; }, nullptr));
  const int self = quire_node();
  what == "refused" ? refused() : what == "under_work" ? leave_under_work() : leave_one_by_one();
  if (self == 0) REQUIRE_EQUAL(quire_alive(1), 0);
  REQUIRE_STATUS(quire_end(), (what == "refused" && self != 1) || self == 0 ? QUIRE_OK : QUIRE_NOT_STARTED);
  REQUIRE_EQUAL(g_deaths.load(), 0);
  return 0;
}
