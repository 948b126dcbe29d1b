// SPDX-License-Identifier: BSD-3-Clause
// Contract: names for addresses, threads on other nodes, and arguments of calls that lie in shared memory themselves.
#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "node.hpp"

using namespace quire::test;

namespace {

void names() {
  const int self = quire_node(), nodes = quire_nodes();
  void* found = nullptr;
  // All publish, all find.
  const auto name_of = [](int node) { return "name " + std::to_string(node); };
  REQUIRE_OK(quire_publish(name_of(self).c_str(), reinterpret_cast<void*>(static_cast<std::uint64_t>(self) + 42)));
  for (int n = 0; n < nodes; ++n) {
    REQUIRE_OK(quire_lookup(name_of(n).c_str(), 10'000, &found));
    REQUIRE_EQUAL(reinterpret_cast<std::uint64_t>(found), n + 42);
  }
  // A name is taken once.
  auto* winners = shared_object<std::uint64_t>("winners");
  barrier();
  const auto status = quire_publish("the same", winners);
  std::uint64_t before;
  if (status == QUIRE_OK) REQUIRE_OK(quire_fetch_add(winners, 1, &before));
  REQUIRE(status == QUIRE_OK || status == QUIRE_EXISTS);
  barrier();
  REQUIRE_EQUAL(*winners, 1);
  REQUIRE_STATUS(quire_publish("the same", winners), QUIRE_EXISTS);
  // Waiting, not waiting, waiting in vain.
  REQUIRE_STATUS(quire_lookup("nobody", 0, &found), QUIRE_NOT_FOUND);
  const double begin = now_seconds();
  REQUIRE_STATUS(quire_lookup("nobody", 100, &found), QUIRE_TIMED_OUT);
  REQUIRE(now_seconds() - begin > 0.095 && now_seconds() - begin < 5);
  barrier();
  if (self == nodes - 1) {
    sleep_ms(100);
    REQUIRE_OK(quire_publish("late", winners));
  } else {
    on_threads(2, [&](int thread) {
      void* late = nullptr;
      REQUIRE_OK(quire_lookup("late", thread == 0 ? -1 : 10'000, &late));
      REQUIRE(late == winners);
    });
  }
  // A lookup that has given up does not disturb what comes later.
  barrier();
  if (self == 0) REQUIRE_OK(quire_publish("nobody", winners));
  REQUIRE_OK(quire_lookup("nobody", 10'000, &found));
  REQUIRE(found == winners);
  // Limits of a name.
  const std::string longest(63, 'a' + static_cast<char>(self % 20));
  REQUIRE_OK(quire_publish((longest.substr(0, 60) + std::to_string(100 + self)).c_str(), found));
  REQUIRE_STATUS(quire_publish(std::string(64, 'b').c_str(), found), QUIRE_INVALID);
  REQUIRE_STATUS(quire_publish("", found), QUIRE_INVALID);
  REQUIRE_STATUS(quire_publish(nullptr, found), QUIRE_INVALID);
  REQUIRE_STATUS(quire_lookup(nullptr, 0, &found), QUIRE_INVALID);
  REQUIRE_STATUS(quire_lookup("nobody", 0, nullptr), QUIRE_INVALID);
}

/// Runs on the node that its argument names, and answers with a block that it allocates there.
struct order {
  std::uint64_t node, factor, result;
};
void* obey(void* argument) {
  auto* o = static_cast<order*>(argument);
  REQUIRE_EQUAL(quire_node(), o->node);
  void* answer = nullptr;
  REQUIRE_OK(quire_malloc(sizeof(std::uint64_t), &answer));
  *static_cast<std::uint64_t*>(answer) = o->factor * 3;
  o->result = o->factor;
  return answer;
}

void threads_on_all_nodes() {
  const int nodes = quire_nodes();
  constexpr int each = 4;
  void* mine = nullptr;
  REQUIRE_OK(quire_calloc(static_cast<std::size_t>(nodes * each), sizeof(order), &mine));
  auto* my_orders = static_cast<order*>(mine);
  std::vector<quire_remote_thread> started(static_cast<std::size_t>(nodes * each));
  for (std::size_t i = 0; i < started.size(); ++i) {
    my_orders[i] = {i % static_cast<std::size_t>(nodes), i + 7, 0};
    REQUIRE_OK(quire_spawn(static_cast<int>(my_orders[i].node), obey, my_orders + i, &started[i]));
  }
  for (std::size_t i = 0; i < started.size(); ++i) {
    void* result = nullptr;
    REQUIRE_OK(quire_join(started[i], &result));
    REQUIRE_EQUAL(*static_cast<std::uint64_t*>(result), (i + 7) * 3);
    REQUIRE_EQUAL(my_orders[i].result, i + 7);
    REQUIRE_OK(quire_free(result));
    REQUIRE_STATUS(quire_join(started[i], &result), QUIRE_NOT_FOUND);
  }
  REQUIRE_OK(quire_free(mine));
}

void* count_down(void* argument) {
  const auto left = reinterpret_cast<std::uint64_t>(argument);
  if (left == 0) return nullptr;
  quire_remote_thread next{};
  REQUIRE_OK(quire_spawn((quire_node() + 1) % quire_nodes(), count_down, reinterpret_cast<void*>(left - 1), &next));
  void* below = nullptr;
  REQUIRE_OK(quire_join(next, &below));
  return reinterpret_cast<void*>(reinterpret_cast<std::uint64_t>(below) + 1);
}

void* wait_a_moment(void* argument) {
  sleep_ms(50);
  return argument;
}

void nested_and_passed_on() {
  // Threads that start threads, around all nodes.
  quire_remote_thread thread{};
  void* depth = nullptr;
  REQUIRE_OK(quire_spawn(quire_nodes() - 1, count_down, reinterpret_cast<void*>(9), &thread));
  REQUIRE_OK(quire_join(thread, &depth));
  REQUIRE_EQUAL(reinterpret_cast<std::uint64_t>(depth), 9);
  // Started by one node, awaited by another, once.
  struct shared {
    quire_remote_thread thread;
    std::uint64_t joined;
  };
  auto* all = shared_object<shared>("passed on");
  if (quire_node() == 0) REQUIRE_OK(quire_spawn(0, wait_a_moment, all, &all->thread));
  barrier();
  void* result = nullptr;
  const auto status = quire_join(all->thread, &result);
  std::uint64_t before;
  if (status == QUIRE_OK) {
    REQUIRE(result == all);
    REQUIRE_OK(quire_fetch_add(&all->joined, 1, &before));
  }
  REQUIRE(status == QUIRE_OK || status == QUIRE_NOT_FOUND);
  barrier();
  REQUIRE_EQUAL(all->joined, 1);
  // A function of a shared library; the result need not be asked for.
  auto* text = shared_object<char>("text", 64);
  if (quire_node() == 0) std::strcpy(text, "seven..");
  barrier();
  REQUIRE_OK(quire_spawn(0, reinterpret_cast<void* (*)(void*)>(::dlsym(RTLD_DEFAULT, "strlen")), text, &thread));
  REQUIRE_OK(quire_join(thread, &result));
  REQUIRE_EQUAL(reinterpret_cast<std::uint64_t>(result), 7);
  REQUIRE_OK(quire_spawn(0, wait_a_moment, nullptr, &thread));
  REQUIRE_OK(quire_join(thread, nullptr));
  // What cannot be.
  REQUIRE_STATUS(quire_spawn(quire_nodes(), wait_a_moment, nullptr, &thread), QUIRE_INVALID);
  REQUIRE_STATUS(quire_spawn(-1, wait_a_moment, nullptr, &thread), QUIRE_INVALID);
  REQUIRE_STATUS(quire_spawn(0, nullptr, nullptr, &thread), QUIRE_INVALID);
  REQUIRE_STATUS(quire_spawn(0, wait_a_moment, nullptr, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_spawn(0, reinterpret_cast<void* (*)(void*)>(text), nullptr, &thread), QUIRE_INVALID);
  REQUIRE_STATUS(quire_join(quire_remote_thread{0}, &result), QUIRE_INVALID);
  REQUIRE_STATUS(quire_join(quire_remote_thread{12345}, &result), QUIRE_NOT_FOUND);
}

struct page {
  alignas(4096) char bytes[4096];
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes);
  }
};

/// Results that the calls store, and strings and structures that they read, may lie on pages that are elsewhere.
void arguments_in_shared_memory() {
  const int self = quire_node();
  auto* all = shared_region<page>("arguments", 16 * 4096 * static_cast<std::uint64_t>(quire_nodes()),
                                  region_options(4096, QUIRE_PLACE_NODE, quire_nodes() - 1));
  if (self == quire_nodes() - 1)
    std::memset(static_cast<void*>(all), 1, 16 * 4096 * static_cast<std::size_t>(quire_nodes()));
  barrier();
  page* mine = all + 16 * self;  // each page absent at first on all nodes but one
  auto* pointer = mine[0].as<void*>();
  REQUIRE_OK(quire_malloc(64, pointer));
  REQUIRE_OK(quire_allocation_size(*pointer, mine[1].as<std::size_t>()));
  REQUIRE(*mine[1].as<std::size_t>() >= 64);
  std::snprintf(mine[2].bytes, 64, "shared name %d", self);
  barrier();
  page* next = all + 16 * ((self + 1) % quire_nodes());
  // The name stands on a page of the node before it.
  REQUIRE_OK(quire_publish(next[2].bytes, mine));
  barrier();
  REQUIRE_OK(quire_lookup(mine[2].bytes, 10'000, next[3].as<void*>()));
  REQUIRE(*next[3].as<void*>() == all + 16 * ((self + quire_nodes() - 1) % quire_nodes()));
  barrier();
  auto* numbers = next[4].as<quire_counters>();
  numbers->size = sizeof *numbers;
  barrier();
  mine[5].bytes[0] = 7;
  REQUIRE_OK(quire_counters_read(mine[4].as<quire_counters>()));
  auto* word = mine[6].as<std::uint64_t>();
  *word = 5;
  barrier();
  REQUIRE_OK(quire_fetch_add(word, 1, next[7].as<std::uint64_t>()));
  REQUIRE_EQUAL(*next[7].as<std::uint64_t>(), 5);
  *next[8].as<std::uint64_t>() = 6;
  REQUIRE_OK(quire_compare_exchange(word, next[8].as<std::uint64_t>(), 9, next[9].as<int>()));
  REQUIRE_EQUAL(*next[9].as<int>(), 1);
  barrier();
  auto* values = next[10].as<double>();
  for (int i = 0; i < 8; ++i) values[i] = self + i;
  barrier();
  REQUIRE_OK(quire_reduce_f64(mine[10].as<double>(), 8, QUIRE_SUM));
  const int sum = quire_nodes() * (quire_nodes() - 1) / 2;
  for (int i = 0; i < 8; ++i) REQUIRE(mine[10].as<double>()[i] == sum + i * quire_nodes());
  barrier();
  std::memset(next[11].bytes, self + 1, 64);
  barrier();
  REQUIRE_OK(quire_broadcast(mine[11].bytes, 64, 0));
  REQUIRE_EQUAL(mine[11].bytes[63], (quire_nodes() - 1) % quire_nodes() + 1);
  barrier();
  REQUIRE_OK(quire_mutex_create(next[12].as<quire_mutex>()));
  barrier();
  REQUIRE_OK(quire_mutex_lock(*mine[12].as<quire_mutex>()));
  REQUIRE_OK(quire_mutex_unlock(*mine[12].as<quire_mutex>()));
  auto* options = next[13].as<quire_region_options>();
  *options = region_options(4096, QUIRE_PLACE_BLOCK);
  barrier();
  REQUIRE_OK(quire_region_create(mine[13].as<quire_region_options>(), 4096, mine[14].as<quire_region>()));
  REQUIRE_OK(
      quire_region_range(*mine[14].as<quire_region>(), next[14].as<void*>() + 100, next[14].as<std::uint64_t>() + 200));
  REQUIRE_EQUAL(next[14].as<std::uint64_t>()[200], unit_at_least(4096));
  REQUIRE_OK(quire_spawn(0, wait_a_moment, nullptr, next[15].as<quire_remote_thread>()));
  barrier();
  REQUIRE_OK(quire_join(*mine[15].as<quire_remote_thread>(), mine[15].as<void*>() + 9));
}

}  // namespace

int main() {
  return node_main([] {
    section("names", names);
    section("threads on all nodes", threads_on_all_nodes);
    section("threads nested and passed on", nested_and_passed_on);
    section("arguments in shared memory", arguments_in_shared_memory);
  });
}
