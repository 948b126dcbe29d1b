// SPDX-License-Identifier: BSD-3-Clause
// What stands on groups in the C++ API: teams and parallel loops, atomic operations on small objects and reals,
// channels, containers of many nodes.
#include <array>
#include <map>
#include <numeric>
#include <set>

#include <quire/containers.hpp>
#include <quire/quire.hpp>

#include "node.hpp"

using namespace quire::test;

namespace {

void parts() {
  for (const std::size_t n : {0, 1, 5, 16, 1000}) {
    for (const std::size_t count : {1, 2, 3, 7}) {
      std::size_t next = 0, least = n, most = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const auto part = quire::part_of(n, i, count);
        REQUIRE_EQUAL(part.first, next);
        next = part.last;
        least = std::min(least, part.size());
        most = std::max(most, part.size());
      }
      REQUIRE_EQUAL(next, n);
      REQUIRE(most - least <= 1);
    }
  }
}

void teams() {
  const auto threads = static_cast<unsigned>(1 + quire::node() % 3);
  const auto values = quire::from_node(0, [] { return quire::make_shared_array<std::uint64_t>(10'000); });
  {
    quire::team all(threads);
    REQUIRE_EQUAL(all.size(), quire::all_reduce(static_cast<int>(threads), quire::operation::sum));
    all.for_each(values.size(), [&](std::size_t i) { values[i] = i; });
    all.for_each(values.size(), [&](quire::index_range mine) {
      for (std::uint64_t& v : mine.of(values)) v += 1;
    });
    for (int times = 0; times < 20; ++times) {
      all.run([&](quire::member& me) {
        const auto mine = quire::my_part(values.size());
        REQUIRE(mine.first == me.my_part(values.size()).first);
        std::int64_t sum = 0;
        for (const std::uint64_t v : mine.of(values)) sum += static_cast<std::int64_t>(v);
        REQUIRE_EQUAL(me.sum(sum), 10'000 * 10'001 / 2);
        std::vector<float> reals(100, 0.5f);
        me.reduce(std::span(reals), quire::operation::sum);
        for (const float r : reals) REQUIRE(r == 0.5f * static_cast<float>(me.count()));
        std::vector<std::uint64_t> from(3000, me.number());
        me.broadcast_values(std::span(from), me.count() - 1);
        for (const auto f : from) REQUIRE_EQUAL(f, me.count() - 1);
        REQUIRE_EQUAL(me.broadcast(me.number() + 7, 0), 7);
        me.wait();
      });
    }
  }
  quire::parallel_for(
      values.size(), [&](std::size_t i) { values[i] *= 2; }, 2);
  for (std::size_t i = 0; i < values.size(); i += 97) REQUIRE_EQUAL(values[i], 2 * (i + 1));
  REQUIRE_EQUAL(
      quire::my_part(100).size(),
      quire::part_of(100, static_cast<std::size_t>(quire::node()), static_cast<std::size_t>(quire::nodes())).size());
  quire::barrier{}.arrive_and_wait();
}

void atomics() {
  struct shared {
    std::array<std::uint8_t, 8> bytes{};
    std::array<std::int16_t, 4> shorts{};
    std::array<std::uint32_t, 2> words{};
    double real = 0.25;
    float small = 1;
    char flag = 'a';
  };
  auto* all = quire::from_node(0, [] { return quire::new_object<shared>(); });
  constexpr int times = 50;
  quire::team team(2);
  team.run([&](quire::member& me) {
    for (int i = 0; i < times; ++i) {
      for (auto& b : all->bytes) quire::atomic_ref(b).fetch_add(1);
      quire::atomic_ref(all->shorts[3]).fetch_sub(3);
      quire::atomic_ref(all->words[1]).fetch_add(5);
      quire::atomic_ref(all->real).fetch_add(0.5);
      quire::atomic_ref(all->small).fetch_add(2.0f);
    }
    me.wait();
    const int n = times * static_cast<int>(me.count());
    for (auto& b : all->bytes) REQUIRE_EQUAL(quire::atomic_ref(b).load(), n % 256);
    REQUIRE_EQUAL(all->shorts[3], static_cast<std::int16_t>(-3 * n));
    REQUIRE_EQUAL(all->shorts[2], 0);
    REQUIRE_EQUAL(all->words[1], 5 * n);
    REQUIRE(all->real == 0.25 + 0.5 * n);
    REQUIRE(all->small == 1 + 2.0f * static_cast<float>(n));
    char expected = 'a';
    const bool won = quire::atomic_ref(all->flag).compare_exchange(expected, 'b');
    REQUIRE(expected == (won ? 'a' : 'b'));
    REQUIRE_EQUAL(me.sum(won ? 1 : 0), 1);
    const double before = quire::atomic_ref(all->real).update([](double r) { return r * 2; });
    REQUIRE(before > 0);
    char other = 'x';
    REQUIRE(!quire::atomic_ref(all->flag).compare_exchange(other, 'c') && other == 'b');
    me.wait();
    if (me.is_first()) REQUIRE(quire::atomic_ref(all->flag).exchange('z') == 'b' && all->flag == 'z');
  });
}

void channels() {
  struct task {
    int from = 0, number = 0;
  };
  const auto work = quire::from_node(0, [] { return quire::channel<task>::create(5); });
  const auto taken = quire::from_node(0, [] { return quire::make_shared_array<std::uint64_t>(1); });
  constexpr int each = 40;
  quire::team all(2);
  all.run([&](quire::member& me) {
    if (me.place() == 0) {
      for (int i = 0; i < each; ++i) REQUIRE(work.send({quire::node(), i}));
      if (quire::atomic_ref(taken[0]).fetch_add(1u << 16) >> 16 == static_cast<std::uint64_t>(quire::nodes()) - 1)
        work.close();  // the last sender
    } else {
      std::map<int, int> last;
      while (const auto t = work.receive()) {
        quire::atomic_ref(taken[0]).fetch_add(1);
        REQUIRE(!last.contains(t->from) || last[t->from] < t->number);  // in the order of their sender
        last[t->from] = t->number;
      }
    }
  });
  REQUIRE_EQUAL(taken[0] & 0xffff, static_cast<std::uint64_t>(each * quire::nodes()));
  REQUIRE(!work.send({}) && !work.try_send({}) && !work.try_receive() && work.size() == 0);
  quire::barrier{}.arrive_and_wait();
  if (quire::node() == 0) {
    auto small = quire::channel<int>::create(1);
    REQUIRE(small.try_send(3) && !small.try_send(4));
    REQUIRE_EQUAL(small.try_receive().value(), 3);
    small.destroy();
    bool refused = false;
    try {
      (void)quire::channel<int>::create(0);
    } catch (const quire::error& e) {
      refused = e.status() == QUIRE_INVALID;
    }
    REQUIRE(refused);
  }
}

void containers() {
  auto counts = quire::from_node(0, [] { return quire::sharded_map<std::uint64_t, std::int64_t>::create(); });
  auto list = quire::from_node(0, [] { return quire::sharded_vector<int>::create(); });
  constexpr std::uint64_t keys = 500;
  quire::team all(2);
  all.run([&](quire::member& me) {
    std::map<std::uint64_t, std::int64_t> mine;
    for (std::uint64_t k = 0; k < keys; ++k) mine[k] = static_cast<std::int64_t>(k);
    counts.merge(mine);
    for (std::uint64_t k = 0; k < keys; k += 7) counts.update(k, [](std::int64_t& v) { ++v; });
    counts.insert_or_assign(keys + me.number(), -1);
    list.push_back(static_cast<int>(me.number()));
    const std::array more{100, 101};
    list.append(more);
    me.wait();
    REQUIRE_EQUAL(counts.size(), keys + me.count());
    const auto n = static_cast<std::int64_t>(me.count());
    for (std::uint64_t k = me.number(); k < keys; k += 11)
      REQUIRE_EQUAL(counts.find(k).value(), n * static_cast<std::int64_t>(k) + (k % 7 == 0 ? n : 0));
    REQUIRE(!counts.find(1'000'000));
    std::int64_t seen = 0;
    counts.for_each_of(me, [&](std::uint64_t, std::int64_t) { ++seen; });
    REQUIRE_EQUAL(me.sum(seen), static_cast<std::int64_t>(keys) + n);
    REQUIRE_EQUAL(list.size(), 3 * me.count());
    REQUIRE_EQUAL(list.part(quire::node()).size(), 6);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < list.size(); ++i) sum += list[i] < 100 ? list[i] + 1 : 0;
    REQUIRE_EQUAL(sum, n * (n + 1) / 2);
  });
  if (quire::node() == 0) {
    counts.clear();
    REQUIRE_EQUAL(counts.size(), 0);
    counts.destroy();
    list.destroy();
  }
  quire::barrier{}.arrive_and_wait();
}

}  // namespace

int main() {
  parts();
  quire::session job;
  teams();
  atomics();
  channels();
  containers();
}
