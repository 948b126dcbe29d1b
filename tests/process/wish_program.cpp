// SPDX-License-Identifier: BSD-3-Clause
// A node for the tests of `quire leave`: wish_program WHAT [LEAVERS]. Nodes take parts of some work, one by one; those
// that somebody wants to leave do so between two parts. Node 0 works on until LEAVERS have gone, and counts: each part
// was done once, by whoever it was.
#include <quire/leave.hpp>

#include <atomic>
#include <thread>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::uint64_t part_words = 64, page_words = 512;

struct board {
  std::uint64_t next, done;
  std::uint64_t asked, stop;  ///< a node was refused; the thread on it may end
  std::uint64_t over;         ///< node 0 has seen enough
  quire_mutex mutex;
};

void say(const char* text) {
  std::printf("%s\n", text);
  std::fflush(stdout);
}

/// Takes the next part, works on it, and says that it is done: pages go from node to node all the while.
void work(board& all, std::uint64_t* sums) {
  std::uint64_t part = 0, before = 0;
  REQUIRE_OK(quire_fetch_add(&all.next, 1, &part));
  std::uint64_t* const at = sums + part % 96 * page_words;
  REQUIRE_OK(quire_fetch_add(at + part % part_words, part + 1, &before));
  REQUIRE_OK(quire_fetch_add(&all.done, 1, &before));
}

void leave_when_possible() {
  while (!quire::leave()) sleep_ms(10);
  std::printf("node has left\n");
}

/// Of each part the sums have it once.
void count(const board& all, const std::uint64_t* sums) {
  std::uint64_t sum = 0;
  for (std::uint64_t page = 0; page < 96; ++page)
    for (std::uint64_t word = 0; word < part_words; ++word) sum += sums[page * page_words + word];
  REQUIRE_EQUAL(all.next, all.done);
  REQUIRE_EQUAL(sum, all.next * (all.next + 1) / 2);
}

/// A thread of node 1 that has a mutex.
void keep_mutex(board& all, std::atomic<bool>& has_it, std::atomic<bool>& ends) {
  REQUIRE_OK(quire_mutex_lock(all.mutex));
  has_it = true;
  while (!ends) sleep_ms(1);
  REQUIRE_OK(quire_mutex_unlock(all.mutex));
}

/// A thread of node 0 on node 1.
void* wait_for_stop(void* stop) {
  while (*static_cast<volatile std::uint64_t*>(stop) == 0) sleep_ms(1);
  return nullptr;
}

/// What keeps node 1 for now goes when it was told.
void be_refused(const std::string& what, board& all, std::atomic<bool>& ends) {
  if (what != "spawned" && what != "threads") return;
  REQUIRE(!quire::leave());  // with a mutex: after ten seconds
  all.asked = 1;
  ends = true;
}

void elastic(const std::string& what, int leavers) {
  auto& all = *shared_object<board>("board");
  auto* const sums =
      shared_region<std::uint64_t>("sums", 96 * page_words * 8, region_options(4096, QUIRE_PLACE_MODULO));
  if (quire_node() == 0) REQUIRE_OK(quire_mutex_create(&all.mutex));
  barrier();
  std::atomic<bool> has_it{false}, ends{false};
  std::thread other;
  if (what == "threads" && quire_node() == 1) {
    other = std::thread([&] { keep_mutex(all, has_it, ends); });
    while (!has_it) sleep_ms(1);
  }
  quire_remote_thread called{};
  bool runs = what == "spawned" && quire_node() == 0;
  if (runs) REQUIRE_OK(quire_spawn(1, wait_for_stop, &all.stop, &called));
  barrier();
  say("here");
  const bool dies = what == "dies";  // what such a node had would be lost: nobody works
  while (all.over == 0) {
    dies ? sleep_ms(1) : work(all, sums);
    if (runs && all.asked != 0) {
      all.stop = 1;
      REQUIRE_OK(quire_join(called, nullptr));
      runs = false;
    }
    if (quire_node() == 0 && quire_nodes_alive() <= quire_nodes() - leavers) all.over = 1;
    if (what == "deaf" || quire_leave_wanted() == 0) continue;
    if (dies) std::abort();
    be_refused(what, all, ends);
    if (other.joinable()) other.join();
    return leave_when_possible();
  }
  barrier();
  if (quire_node() != 0) return;
  if (!dies) count(all, sums);
  std::printf("all is there\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "elastic";
  REQUIRE_OK(quire_start(nullptr));
  REQUIRE_EQUAL(quire_leave_wanted(), 0);
  if (what == "release" || what == "ends") {
    auto about = region_options(4096, QUIRE_PLACE_MODULO);
    if (what == "release") about.consistency = QUIRE_RELEASE;
    (void)shared_region<std::uint64_t>("region", 1 << 16, about);
    barrier();
    say("here");
    if (what == "release" || quire_node() == 0) sleep_ms(30'000);  // the test ends it
  } else {
    elastic(what, argc > 2 ? std::atoi(argv[2]) : 0);
  }
  (void)quire_end();
  return 0;
}
