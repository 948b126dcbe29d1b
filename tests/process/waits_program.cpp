// SPDX-License-Identifier: BSD-3-Clause
// Programs that wait for ever, or until SIGUSR1, for waits_test. The first argument says how.
#include <signal.h>

#include <atomic>
#include <cstring>
#include <string_view>

#include "node.hpp"

using namespace quire::test;

namespace {

std::atomic<bool> may_go_on{false};

void say_ready() {
  std::printf("node %d waits\n", quire_node());
  std::fflush(stdout);
}

/// The classic: each node has one of two locks and wants the other.
void circle() {
  auto* locks = shared_object<quire_mutex>("locks", 2);
  if (quire_node() == 0)
    for (int i = 0; i < 2; ++i) REQUIRE_OK(quire_mutex_create(&locks[i]));
  barrier();
  if (quire_node() < 2) REQUIRE_OK(quire_mutex_lock(locks[quire_node()]));
  barrier();
  say_ready();
  if (quire_node() < 2) REQUIRE_OK(quire_mutex_lock(locks[1 - quire_node()]));
  sleep_ms(60'000);
}

/// The last node does not come to the barrier before SIGUSR1; others of its threads wait as well. Then all goes on.
void late() {
  auto* event = shared_object<quire_event>("event");
  if (quire_node() == 0) REQUIRE_OK(quire_event_create(event));
  barrier();
  std::thread other([&] { REQUIRE_OK(quire_event_wait(*event, -1)); });
  say_ready();
  while (quire_node() == quire_nodes() - 1 && !may_go_on) sleep_ms(5);
  barrier();
  REQUIRE_OK(quire_event_set(*event));
  other.join();
  std::printf("node %d goes on\n", quire_node());
}

/// Two threads of each node at the job's barrier; node 1 comes when node 0 has seen the mistake.
void two_threads() {
  auto* seen = shared_object<std::uint64_t>("seen");
  barrier();
  std::uint64_t value = 0;
  if (quire_node() == 0) {
    std::atomic<int> refused{0}, passed{0};
    on_threads(2, [&](int) {
      const auto status = quire_barrier_wait(quire_barrier{0});
      if (status == QUIRE_OK) {
        ++passed;
        return;
      }
      REQUIRE_STATUS(status, QUIRE_INVALID);
      REQUIRE(std::strstr(quire_last_error(), "one thread of a node") != nullptr);
      ++refused;
      REQUIRE_OK(quire_exchange(seen, 1, &value));  // only now does node 1 come
    });
    REQUIRE_EQUAL(refused.load(), 1);
    REQUIRE_EQUAL(passed.load(), 1);
  } else {
    for (std::uint64_t now = 0; now == 0; sleep_ms(1)) REQUIRE_OK(quire_fetch_add(seen, 0, &now));
    barrier();
  }
  barrier();
}

/// A member of node 1 ends without quire_group_leave(): all others wait for it, until SIGUSR1, when the group goes.
void ended_member() {
  quire_group group{};
  REQUIRE_OK(quire_group_create(2, &group));
  const auto member = [group](std::uint32_t place) {
    REQUIRE_OK(quire_group_join(group, place));
    REQUIRE_OK(quire_group_wait(group));
    if (quire_node() == 1 && place == 1) return;
    REQUIRE_STATUS(quire_group_wait(group), QUIRE_NOT_FOUND);
  };
  std::thread first(member, 0), second(member, 1);
  if (quire_node() == 1) second.join();
  say_ready();
  while (!may_go_on) sleep_ms(5);
  REQUIRE_OK(quire_group_destroy(group));
  first.join();
  if (second.joinable()) second.join();
  std::printf("node %d goes on\n", quire_node());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  ::signal(SIGUSR1, [](int) { may_go_on = true; });
  return node_main([how] {
    if (how == "circle") return circle();
    if (how == "late") return late();
    if (how == "two_threads") return two_threads();
    if (how == "ended_member") return ended_member();
    fail(__FILE__, __LINE__, "no such way to wait");
  });
}
