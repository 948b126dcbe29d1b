// SPDX-License-Identifier: BSD-3-Clause
// Contract: groups of threads. Several threads of all nodes, of some, different numbers of each; barriers with memory
// of both consistencies between them; arrays of all sizes, in private and in shared memory; two groups at a time; and
// what is refused.
#include <atomic>
#include <numeric>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr quire_group job{0};

/// Runs f(place, member number) on `count` threads of this node, which are members of the group.
void on_members(quire_group group, std::uint32_t count, const std::function<void(std::uint32_t, std::uint32_t)>& f) {
  std::uint32_t first = 0;
  REQUIRE_OK(quire_group_size(group, nullptr, &first));
  on_threads(static_cast<int>(count), [&](int i) {
    const auto place = static_cast<std::uint32_t>(i);
    REQUIRE_OK(quire_group_join(group, place));
    f(place, first + place);
    REQUIRE_OK(quire_group_leave(group));
  });
}

quire_group make(std::uint32_t threads) {
  quire_group group{};
  REQUIRE_OK(quire_group_create(threads, &group));
  REQUIRE(group.id != 0);
  return group;
}

std::uint32_t size_of(quire_group group) {
  std::uint32_t members = 0;
  REQUIRE_OK(quire_group_size(group, &members, nullptr));
  return members;
}

/// In each round another member writes a word, and all find it after the meeting.
void meetings_order_memory() {
  const auto threads = static_cast<std::uint32_t>(1 + quire_node() % 3);
  const quire_group group = make(threads);
  quire_region_options about{};
  about.size = sizeof about;
  about.consistency = QUIRE_RELEASE;
  auto* relaxed = shared_region<std::uint64_t>("group words", 65536, about);
  auto* strict = shared_object<std::uint64_t>("more group words", 4096);
  const std::uint32_t members = size_of(group);
  on_members(group, threads, [&](std::uint32_t, std::uint32_t me) {
    for (std::uint64_t round = 1; round <= 60; ++round) {
      if (round % members == me) relaxed[round] = strict[round] = round * 7;
      REQUIRE_OK(quire_group_wait(group));
      REQUIRE_EQUAL(relaxed[round], round * 7);
      REQUIRE_EQUAL(strict[round], round * 7);
      REQUIRE_EQUAL(relaxed[round - 1], (round - 1) * 7);
    }
  });
  REQUIRE_OK(quire_group_destroy(group));
}

void arrays() {
  const auto threads = static_cast<std::uint32_t>(1 + (quire_node() + 1) % 2);
  const quire_group group = make(threads);
  const std::uint32_t members = size_of(group);
  const std::size_t sizes[] = {0, 1, 8, 9, 1000, 4096, 4097, 300'000};
  auto* shared = shared_object<double>("group arrays", 5000 * 64);
  REQUIRE(members <= 64);
  on_members(group, threads, [&](std::uint32_t, std::uint32_t me) {
    for (const std::size_t size : sizes) {
      std::vector<double> reals(size);
      std::vector<std::int64_t> wholes(size);
      for (std::size_t i = 0; i < size; ++i) {
        reals[i] = static_cast<double>((me + 1) * (i + 1));
        wholes[i] = static_cast<std::int64_t>((me * 31 + i * 7) % 1000);
      }
      REQUIRE_OK(quire_group_reduce_f64(group, reals.data(), size, QUIRE_SUM));
      REQUIRE_OK(quire_group_reduce_i64(group, wholes.data(), size, QUIRE_MAX));
      const double factor = members * (members + 1) / 2.0;
      for (std::size_t i = 0; i < size; ++i) {
        REQUIRE(reals[i] == factor * static_cast<double>(i + 1));
        std::int64_t highest = 0;
        for (std::uint32_t m = 0; m < members; ++m)
          highest = std::max(highest, static_cast<std::int64_t>((m * 31 + i * 7) % 1000));
        REQUIRE_EQUAL(wholes[i], highest);
      }
      const auto root = static_cast<std::uint32_t>(size % members);
      std::vector<std::byte> bytes(size * 3 + 1, static_cast<std::byte>(me));
      REQUIRE_OK(quire_group_broadcast(group, bytes.data(), bytes.size(), root));
      for (const std::byte b : bytes) REQUIRE(b == static_cast<std::byte>(root));
    }
    // In shared memory, each member's beside the others'.
    double* const mine = shared + me * 5000;
    for (int i = 0; i < 5000; ++i) mine[i] = me;
    REQUIRE_OK(quire_group_reduce_f64(group, mine, 5000, QUIRE_SUM));
    for (int i = 0; i < 5000; ++i) REQUIRE(mine[i] == members * (members - 1) / 2.0);
  });
  REQUIRE_OK(quire_group_destroy(group));
}

/// Of odd nodes' threads two each; node 0 has none, if there is another one.
void some_nodes() {
  const bool in = quire_nodes() == 1 || quire_node() % 2 == 1;
  const quire_group group = make(in ? 2 : 0), other = make(2);
  REQUIRE_EQUAL(size_of(group), quire_nodes() == 1 ? 2 : quire_nodes() / 2 * 2);
  if (!in) REQUIRE_STATUS(quire_group_join(group, 0), QUIRE_INVALID);
  std::thread team([&] {
    if (in)
      on_members(group, 2, [&](std::uint32_t, std::uint32_t) {
        for (int i = 0; i < 200; ++i) REQUIRE_OK(quire_group_wait(group));
      });
  });
  on_members(other, 2, [&](std::uint32_t, std::uint32_t) {  // at the same time
    for (std::int64_t i = 0; i < 200; ++i) {
      std::int64_t sum = i;
      REQUIRE_OK(quire_group_reduce_i64(other, &sum, 1, QUIRE_SUM));
      REQUIRE_EQUAL(sum, i * 2 * quire_nodes());
    }
  });
  team.join();
  REQUIRE_OK(quire_group_destroy(group));
  REQUIRE_OK(quire_group_destroy(other));
  REQUIRE_STATUS(quire_group_size(group, nullptr, nullptr), QUIRE_NOT_FOUND);
  REQUIRE_STATUS(quire_group_wait(group), QUIRE_NOT_FOUND);
}

void of_the_job() {
  REQUIRE_EQUAL(size_of(job), quire_nodes());
  std::vector<double> values(10'000, 1.0);
  REQUIRE_OK(quire_group_reduce_f64(job, values.data(), values.size(), QUIRE_SUM));
  for (const double v : values) REQUIRE(v == quire_nodes());
  REQUIRE_OK(quire_group_wait(job));
  std::uint64_t here = quire_node() == quire_nodes() - 1 ? 5 : 0;
  REQUIRE_OK(quire_group_broadcast(job, &here, sizeof here, static_cast<std::uint32_t>(quire_nodes() - 1)));
  REQUIRE_EQUAL(here, 5);
}

void expect_said(const char* words) {
  const std::string said = quire_last_error();
  if (said.find(words) == std::string::npos) fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", words, said.c_str());
}

void refusals() {
  quire_group none{};
  REQUIRE_STATUS(quire_group_create(0, &none), QUIRE_INVALID);
  REQUIRE_STATUS(quire_group_create(1, quire_node() == 0 ? nullptr : &none), QUIRE_INVALID);
  expect_said("NULL on node 0");
  REQUIRE_STATUS(quire_group_create(60'000, &none), quire_nodes() > 1 ? QUIRE_LIMIT : QUIRE_OK);
  REQUIRE_STATUS(quire_group_destroy(job), QUIRE_INVALID);
  const quire_group group = make(2), mine{group.id + (quire_node() == 0 ? 0 : 1)};
  REQUIRE_STATUS(quire_group_wait(group), QUIRE_INVALID);
  expect_said("no member of group");
  REQUIRE_STATUS(quire_group_leave(group), QUIRE_INVALID);
  REQUIRE_STATUS(quire_group_join(group, 2), QUIRE_INVALID);
  expect_said("has no place 2 on this node");
  REQUIRE_STATUS(quire_group_join(job, 0), QUIRE_INVALID);
  REQUIRE_STATUS(quire_group_wait({12345}), QUIRE_INVALID);
  expect_said("no handle of a group");
  REQUIRE_STATUS(quire_group_reduce_f64(group, nullptr, 3, QUIRE_SUM), QUIRE_INVALID);
  if (quire_nodes() > 1) REQUIRE_STATUS(quire_group_destroy(mine), QUIRE_INVALID);
  REQUIRE_OK(quire_group_join(group, 1));
  REQUIRE_STATUS(quire_group_join(group, 0), QUIRE_INVALID);
  on_threads(1, [&](int) {
    REQUIRE_STATUS(quire_group_join(group, 1), QUIRE_EXISTS);
    expect_said("another thread has place 1");
  });
  REQUIRE_OK(quire_group_leave(group));
  // Calls that differ: all hear of it, and are together again.
  on_members(group, 2, [&](std::uint32_t, std::uint32_t me) {
    double values[20] = {};
    REQUIRE_STATUS(me == 1 ? quire_group_wait(group) : quire_group_reduce_f64(group, values, 20, QUIRE_SUM),
                   QUIRE_INVALID);
    expect_said("the calls of its threads differ");
    REQUIRE_OK(quire_group_wait(group));
    REQUIRE_STATUS(quire_group_reduce_f64(group, values, me == 0 ? 3 : 4, QUIRE_SUM), QUIRE_INVALID);
    REQUIRE_STATUS(quire_group_reduce_f64(group, values, 3, static_cast<quire_operation>(me == 0 ? 9 : 0)),
                   QUIRE_INVALID);
    REQUIRE_STATUS(quire_group_broadcast(group, values, 8, 1000), QUIRE_INVALID);
    REQUIRE_OK(quire_group_wait(group));
  });
  // Who waits when it is destroyed, waits for nobody.
  std::atomic<bool> joined{false};
  std::thread waits([&] {
    REQUIRE_OK(quire_group_join(group, 0));
    joined = true;
    REQUIRE_STATUS(quire_group_wait(group), QUIRE_NOT_FOUND);
  });
  while (!joined) sleep_ms(1);
  sleep_ms(20);
  REQUIRE_OK(quire_group_destroy(group));
  waits.join();
}

}  // namespace

int main() {
  REQUIRE_STATUS(quire_group_wait(job), QUIRE_NOT_STARTED);
  double value = 0;
  REQUIRE_STATUS(quire_group_reduce_f64(job, &value, 1, QUIRE_SUM), QUIRE_NOT_STARTED);
  REQUIRE_OK(quire_start(nullptr));
  meetings_order_memory();
  barrier();
  arrays();
  barrier();
  some_nodes();
  of_the_job();
  refusals();
  barrier();
  return quire_end() == QUIRE_OK ? 0 : 1;
}
